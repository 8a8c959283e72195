/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing beyond what is true of all: the window is all that there is. */
static void rules_check(struct sender *s)
{
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
