/* SPDX-License-Identifier: GPL-2.0 */
#include <math.h>

/*
 * delta is in its range, and becomes smaller by no more than eight of (2): the rate
 * grows by no more than that, however long it was since the last acknowledgment.
 */
static void rules_check(struct sender *s)
{
	const struct sabul *ca = inet_csk_ca(sock_of(s));

	/* Slow start is paced by a ratio that is not 0, as most have it. */
	s->net.ipv4.sysctl_tcp_pacing_ss_ratio =
		4 * s->net.ipv4.sysctl_tcp_min_tso_segs;
	if (ca->mode != SABUL_BY_RATE)
		return;
	require(ca->delta >= SABUL_MIN && ca->delta <= SABUL_MAX, "%llu",
		(unsigned long long)ca->delta);
}

static bool rules_counts_acks(const struct sender *s)
{
	return false;
}

static void rules_ssthresh(struct sender *s, u32 w, u32 cwnd)
{
}

/* The ceiling of rate mode is no window of slow start. */
static bool rules_undo_lowers(const struct sender *s)
{
	return true;
}

static struct sabul rules_was;

static void rules_before_control(const struct sender *s)
{
	rules_was = *(struct sabul *)inet_csk_ca((struct sock *)&s->tp);
}

static void rules_control(const struct sender *s, u32 cwnd, u32 acked)
{
	const struct sabul *ca = inet_csk_ca((struct sock *)&s->tp);
	double share, least, most = (double)cwnd + acked, rated;
	/* Also from the slowest rate there is, if the RTT has fallen. */
	double slowest = fmin(rules_was.delta, sabul_interval(sabul_rtt(&s->tp), 2));

	if (ca->mode != SABUL_BY_RATE) {
		/* Out of rate mode it comes down from the rate: the window there is a ceiling. */
		if (rules_was.mode == SABUL_BY_RATE) {
			/* Its window is by 2^-16 ns, of 8 at least. */
			rated = ldexp(s->tp.srtt_us * 125.0, SABUL_SHIFT) / slowest * (1 + 0x1p-18);
			most = fmax(most, rated * fmax((double)rules_was.mss / ca->mss, 1));
		}
		require(s->tp.snd_cwnd <= most, "cwnd %u, was %u, %u acknowledged",
			s->tp.snd_cwnd, cwnd, acked);
		return;
	}
	if (rules_was.mode != SABUL_BY_RATE || rules_was.mss != ca->mss)
		return;
	share = fmin(ldexp(ca->alpha, -SABUL_RATIO_SHIFT) * ca->k2 / 1e3, 0.5);
	least = slowest * pow(1 - share, sabul_catch_up) * 0.9999;
	require((double)ca->delta + 1 >= fmax(least, SABUL_MIN),
		"%llu, was %llu", (unsigned long long)ca->delta,
		(unsigned long long)rules_was.delta);
}
