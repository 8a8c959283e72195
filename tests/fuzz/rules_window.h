/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing beyond what is true of all: the window is all that there is. */
static void rules_check(struct sender *s)
{
}

/*
 * The first slow start ends by RTTs, of which each acknowledgment has one.  Before ->init
 * it is not known which one it will be.
 */
static bool rules_counts_acks(const struct sender *s)
{
	const struct STATE *ca = inet_csk_ca((struct sock *)&s->tp);

	return tcp_in_slow_start(&s->tp) &&
	       (!s->initialised || ca->slow.stage != LF_SS_OVER);
}

/* A loss event takes something wherever that is possible, and never adds. */
static void rules_ssthresh(struct sender *s, u32 w, u32 cwnd)
{
	require(w < max(cwnd, 3U), "%u for cwnd %u", w, cwnd);
}

static bool rules_undo_lowers(const struct sender *s)
{
	return false;
}

static void rules_before_control(const struct sender *s)
{
}

static void rules_control(const struct sender *s, u32 cwnd, u32 acked)
{
}
