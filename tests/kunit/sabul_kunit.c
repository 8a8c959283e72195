// SPDX-License-Identifier: GPL-2.0
/*
 * SABUL: the law against double precision, the intervals, the modes and the hooks of
 * tcp_sabul.c, which is made a part of this module so that its static functions
 * can be called.
 */

#include "../../tcp_sabul.c"

#include <kunit/test.h>

#include "sample.h"
#include "sabul_table.h"
#include "sock.h"

#define SABUL_MSS	1448
#define SABUL_T		20000	/* us */

static struct sabul *sabul_of(struct tcp_sock *tp)
{
	return inet_csk_ca((struct sock *)tp);
}

static u32 sabul_mode(struct tcp_sock *tp)
{
	return sabul_of(tp)->mode;
}

/* Nanoseconds, as delta has them. */
static u64 sabul_ns(u64 ns)
{
	return ns << SABUL_SHIFT;
}

/*
 * Just selected, in slow start at @cwnd, which ends by @slow_start; 100 ms; the clock does not
 * begin at 0.
 */
static struct tcp_sock *sabul_test_first(struct kunit *test, u32 cwnd,
					 const char *slow_start)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, 100000);
	struct sock *sk = (struct sock *)tp;

	sock_net_set(sk, &init_net);
	inet_csk(sk)->icsk_rto = HZ;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->srtt_us = 100000 << 3;
	tp->mss_cache = SABUL_MSS;
	tp->reordering = 3;
	tp->tcp_mstamp = U32_MAX - 50000ULL;
	tp->delivered = 1000;
	tp->snd_una = 1000;
	tp->snd_nxt = 1000;
	tp->packets_out = 2;
	tp->lsndtime = tcp_jiffies32;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	lf_test_set(test, "slow_start", slow_start, 0);
	sabul_init(sk);
	lf_test_set(test, "slow_start", "train", 0);
	return tp;
}

/* In the kernel's slow start. */
static struct tcp_sock *sabul_test_sock(struct kunit *test, u32 cwnd)
{
	return sabul_test_first(test, cwnd, "classic");
}

/* The same with a parameter other than its default, which it has again after. */
static struct tcp_sock *sabul_test_with(struct kunit *test, const char *name,
					const char *val, const char *standard)
{
	struct tcp_sock *tp;

	lf_test_set(test, name, val, 0);
	tp = sabul_test_sock(test, 100);
	lf_test_set(test, name, standard, 0);
	return tp;
}

/* In rate mode at @ns between packets, where growth is the law's. */
static void sabul_test_rate(struct tcp_sock *tp, u64 ns)
{
	struct sabul *ca = sabul_of(tp);

	tp->snd_ssthresh = 2;
	sabul_begin((struct sock *)tp);
	sabul_slow_start((struct sock *)tp, 0);
	ca->delta = sabul_ns(ns);
	ca->known = 0;
	sabul_apply((struct sock *)tp);
}

/*
 * @us later packets are delivered, @sent, which may leave a hole; @lost are found lost,
 * and as many were sent as both; what was delivered was sent when @newest had been.
 */
static void sabul_test_deliver(struct tcp_sock *tp, u32 us, u32 sent, u32 lost,
			       u32 newest)
{
	struct rate_sample rs = {
		.prior_mstamp = 1, .prior_delivered = newest,
		.acked_sacked = sent,
	};

	tp->tcp_mstamp += us;
	tp->data_segs_out += sent + lost;
	tp->delivered += sent;
	tp->lost += lost;
	tp->snd_nxt = tp->delivered;
	sabul_control((struct sock *)tp, &rs);
}

/* The same without a hole.  Sequence numbers count what had been delivered, too. */
static void sabul_test_ack(struct tcp_sock *tp, u32 us, u32 sent, u32 lost,
			   u32 newest)
{
	if (after(newest + 1, tp->snd_una))
		tp->snd_una = newest + 1;
	sabul_test_deliver(tp, us, sent, lost, newest);
}

/* An interval as it should be: the rate was used, @lost of its packets were lost. */
static void sabul_test_interval(struct tcp_sock *tp, u32 lost)
{
	u32 sent = div64_u64(sabul_ns(SABUL_T * 1000ULL), sabul_of(tp)->delta);

	sabul_test_ack(tp, SABUL_T, sent - min(sent, lost), lost,
		       tp->delivered - 1);
}

/* Losses of @n intervals, @lost each, are answered already; those of the next are not. */
static void sabul_test_held(struct kunit *test, struct tcp_sock *tp, u32 n,
			    u32 lost)
{
	struct sabul *ca = sabul_of(tp);
	u64 was = ca->delta;
	u32 i;

	for (i = 1; i <= n; i++) {
		sabul_test_interval(tp, lost);
		KUNIT_EXPECT_EQ_MSG(test, ca->delta, was, "interval %u", i);
	}
	sabul_test_interval(tp, lost);
	KUNIT_EXPECT_GT(test, ca->delta, was);
}

/* What must be true whatever happened. */
static void sabul_audit(struct kunit *test, struct tcp_sock *tp,
			const char *when)
{
	struct sabul *ca = sabul_of(tp);

	if (ca->mode == SABUL_BY_RATE) {
		KUNIT_ASSERT_GE_MSG(test, ca->delta, SABUL_MIN, "%s", when);
		KUNIT_ASSERT_LE_MSG(test, ca->delta, SABUL_MAX, "%s", when);
	}
	KUNIT_ASSERT_GE_MSG(test, tcp_snd_cwnd(tp), 1U, "%s", when);
	KUNIT_ASSERT_LE_MSG(test, tcp_snd_cwnd(tp), LF_WINDOW_MAX + 10, "%s",
			    when);
	KUNIT_ASSERT_GE_MSG(test, tp->snd_ssthresh, 2U, "%s", when);
	KUNIT_ASSERT_GT_MSG(test, ((struct sock *)tp)->sk_pacing_rate, 0UL,
			    "%s", when);
	KUNIT_ASSERT_LT_MSG(test, ((struct sock *)tp)->sk_pacing_rate, ~0UL,
			    "%s", when);
}

/* --- the law ------------------------------------------------------------- */

/* Millionths, as alpha is kept. */
static u32 sabul_ppm(u32 ppm)
{
	return div_u64((u64)ppm << SABUL_RATIO_SHIFT, 1000000);
}

/* Table 2's constants, growth as the paper has it. */
static void sabul_table2(struct sabul *ca, bool cap)
{
	memset(ca, 0, sizeof(*ca));
	ca->mode = SABUL_BY_RATE;
	ca->t_ms = 20;
	ca->alpha = sabul_ppm(1000);
	ca->k1 = 125;
	ca->k2 = 10000;
	ca->c = 2000;
	ca->b = 500;
	ca->d = 100;
	ca->v = 10;
	ca->cap = cap;
}

static void sabul_law(struct sabul *ca, u32 lost, u32 sent)
{
	u64 rho = sabul_ratio(lost, sent);

	if (rho < ca->alpha)
		sabul_increase(ca, rho, 1, 0);
	else
		sabul_decrease(ca, rho);
}

/* One update: within 10^-8 of double precision. */
static void sabul_law_single(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sabul_single); i++) {
		struct sabul ca;
		u64 after = sabul_single[i].after;

		sabul_table2(&ca, sabul_single[i].cap);
		ca.delta = sabul_single[i].before;
		sabul_law(&ca, sabul_single[i].lost, sabul_single[i].sent);
		KUNIT_EXPECT_LE_MSG(test, lf_apart(ca.delta, after),
				    div_u64(after, 100000000) + 1,
				    "%u: %llu, not %llu", i, ca.delta, after);
	}
}

/* The generator of tests/sabul_table.py. */
static u32 sabul_number(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/*
 * 10 kbit/s to 400 Gbit/s, 50000 updates, a quarter of an hour: within 10^-5, a
 * hundredth of 0.1 %.
 */
static void sabul_law_sequences(struct kunit *test)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(sabul_sequences); i++) {
		u64 start = sabul_sequences[i].start;
		u64 end = sabul_sequences[i].end;
		u32 state = sabul_sequences[i].seed;
		struct sabul ca;
		bool up = true;

		sabul_table2(&ca, sabul_sequences[i].cap);
		ca.delta = start;
		for (n = 0; n < SABUL_STEPS; n++) {
			u32 sent, lost;

			if (n % SABUL_BLOCK == 0)
				up = ca.delta > start;
			sent = 1 + sabul_number(&state) % 20000;
			if (up) {
				lost = sabul_number(&state) % 4 ? 0 :
					sent / 2000;
			} else {
				lost = sabul_number(&state) % (sent / 4 + 1);
				lost = min(sent, sent / 1000 + 1 + lost);
			}
			sabul_law(&ca, lost, sent);
		}
		KUNIT_EXPECT_LE_MSG(test, lf_apart(ca.delta, end),
				    div_u64(end, 100000),
				    "%u: %llu, not %llu", i, ca.delta, end);
	}
}

/* Neither end is left, whatever the parameters are. */
static void sabul_law_bounds(struct kunit *test)
{
	u32 alpha, k, i;

	for (alpha = 1; alpha <= 10000; alpha *= 10) {
		for (k = 1; k <= 50000; k = 2 * k + 1) {
			struct sabul ca;

			sabul_table2(&ca, false);
			ca.alpha = sabul_ppm(alpha);
			ca.k2 = k;
			ca.k1 = min(k, 1000U);
			ca.c = 10000;
			ca.strength = sabul_strongest;
			for (ca.delta = SABUL_MAX, i = 0; i < 100; i++) {
				u64 was = ca.delta;

				sabul_increase(&ca, 0, 1, 0);
				KUNIT_ASSERT_LE(test, ca.delta, was);
				KUNIT_ASSERT_GE(test, ca.delta, SABUL_MIN);
			}
			for (ca.delta = SABUL_MIN, i = 0; i < 100; i++) {
				u64 was = ca.delta;

				sabul_decrease(&ca, SABUL_RATIO_ONE);
				KUNIT_ASSERT_GE(test, ca.delta, was);
				KUNIT_ASSERT_LE(test, ca.delta, SABUL_MAX);
			}
			ca.delta = SABUL_MAX;
			sabul_decrease(&ca, SABUL_RATIO_ONE);
			KUNIT_ASSERT_EQ(test, ca.delta, SABUL_MAX);
		}
	}
}

/* Growth never stops: smallest gains, longest and shortest interval. */
static void sabul_law_never_stuck(struct kunit *test)
{
	struct sabul ca;
	u64 was;

	sabul_table2(&ca, true);
	ca.k2 = 1;
	ca.probe = 6;
	/* 2^-30 ns is 10^-10 of 8 ns; the smallest step is 10^-6 / 64. */
	ca.delta = SABUL_MIN + sabul_ns(1);
	ca.known = ca.delta;
	was = ca.delta;
	sabul_increase(&ca, 0, 1, 0);
	KUNIT_EXPECT_LT(test, ca.delta, was);
	KUNIT_EXPECT_GE(test, was - ca.delta, div_u64(was, 64 * 1100000));
}

/* What c, b and d take: times down to 12 us, shares below; as the paper without. */
static void sabul_law_cap(struct kunit *test)
{
	static const struct {
		u64 ns;
		u32 ms, share;	/* c: what it is as paper, and 1/share with the cap */
	} all[] = {
		{ 1000000, 2000, 500 }, { 120000, 2000, 60 }, { 12000, 2000, 6 },
		{ 6000, 2000, 6 }, { 1200, 2000, 6 }, { 30, 2000, 6 },
	};
	struct sabul ca;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		u64 ns = sabul_ns(all[i].ns);

		sabul_table2(&ca, false);
		ca.delta = ns;
		KUNIT_EXPECT_EQ(test, sabul_step(&ca, ca.c), sabul_ns(2000));
		KUNIT_EXPECT_EQ(test, sabul_step(&ca, ca.b), sabul_ns(500));
		ca.cap = 1;
		KUNIT_EXPECT_LE(test, lf_apart(sabul_step(&ca, ca.c),
					       div_u64(ns, all[i].share)),
				div_u64(ns, 1000000));
		KUNIT_EXPECT_LE(test, lf_apart(sabul_step(&ca, ca.b),
					       div_u64(ns, 4 * all[i].share)),
				div_u64(ns, 1000000));
		KUNIT_EXPECT_LE(test, lf_apart(sabul_step(&ca, ca.d),
					       div_u64(ns, 20 * all[i].share)),
				div_u64(ns, 1000000));
	}
}

/*
 * Growth is the law's up to halfway back; from there a sixteenth of it or half a
 * packet in T, twice that after each four seconds.
 */
static void sabul_law_probing(struct kunit *test)
{
	struct sabul ca;
	u64 ns = sabul_ns(12000), law, less;
	u32 i;

	sabul_table2(&ca, true);
	ca.probe = 4;
	ca.delta = ns;
	sabul_decrease(&ca, ca.alpha + 1ULL);
	/* 14 us; 13 us is halfway. */
	KUNIT_EXPECT_LE(test, lf_apart(ca.delta, sabul_ns(14000)), 100000ULL);
	KUNIT_EXPECT_LE(test, lf_apart(ca.known, sabul_ns(13000)), 100000ULL);
	for (i = 0; ca.delta > ca.known; i++)
		sabul_increase(&ca, 0, 1, 0);
	/* 1 % each. */
	KUNIT_EXPECT_EQ(test, i, 8U);
	law = div_u64(ca.delta, 100);
	for (i = 0; i < 5; i++) {
		u64 was = ca.delta;

		law = div_u64(was, 100);
		less = min(law, div_u64(law << i, 16));
		sabul_increase(&ca, 0, 1, 0);
		KUNIT_EXPECT_LE(test, lf_apart(was - ca.delta, less),
				div_u64(less, 1000) + 1);
		ca.delta = was;
		ca.probed_ms = 4000 * (i + 1);
	}
	/* However long the interval is, no more than the law's. */
	ca.delta = BIT_ULL(60) + 1;
	ca.probed_ms = 16000;
	law = div_u64(ca.delta, 100);
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, law, 0), law);
	/* A slow flow grows by half a packet in T: 1 / 400 at 100 us. */
	ca.delta = sabul_ns(100000);
	ca.known = ca.delta;
	ca.probed_ms = 1000;
	sabul_increase(&ca, 0, 1, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca.delta, sabul_ns(99750)),
			sabul_ns(1));
	/* But by 1 / 512 in the first second. */
	ca.delta = sabul_ns(100000);
	ca.probed_ms = 980;
	sabul_increase(&ca, 0, 1, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca.delta, sabul_ns(99804)), sabul_ns(1));
	/* And never faster than the law: at 2 ms half a packet is 5 %. */
	ca.delta = sabul_ns(2000000);
	ca.known = SABUL_MAX;
	sabul_increase(&ca, 0, 1, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca.delta, sabul_ns(1980000)),
			sabul_ns(1));
	/* The longest interval, the longest T. */
	ca.delta = SABUL_MAX;
	ca.t_ms = 1000;
	sabul_increase(&ca, 0, 1, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca.delta,
				       SABUL_MAX - div_u64(SABUL_MAX, 100)),
			sabul_ns(10));
}

/* Where an overflow is known later than ten T: by the square of that, and by fours. */
static void sabul_law_probing_late(struct kunit *test)
{
	struct sabul ca;
	u64 half = sabul_ns(250);

	sabul_table2(&ca, true);
	ca.probe = 4;
	/* Half a packet of 100 us in T is 250 ns; the law's sixteenth is less than that. */
	ca.delta = sabul_ns(100000);
	ca.probed_ms = 1000;
	KUNIT_EXPECT_LE(test, lf_apart(sabul_probing(&ca, sabul_ns(1000), 200), half), 10000ULL);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_probing(&ca, sabul_ns(1000), 400), half / 4),
			10000ULL);
	/* A sixteenth of the law is the least. */
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), 4000), sabul_ns(100));
	/* It doubles after four seconds, or four round trips. */
	ca.probed_ms = 4000;
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), 1000), sabul_ns(200));
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), 1001), sabul_ns(100));
	ca.probed_ms = 8000;
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), 2000), sabul_ns(200));
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), 2001), sabul_ns(100));
	/* The longest there can be; the largest square. */
	KUNIT_EXPECT_EQ(test, sabul_probing(&ca, sabul_ns(1600), U32_MAX / 8000), sabul_ns(100));
	ca.t_ms = 1000;
	ca.delta = sabul_ns(100000000);
	ca.probed_ms = 1000;
	half = sabul_ns(5000000);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_probing(&ca, sabul_ns(10000000), 10000), half),
			sabul_ns(1));
	KUNIT_EXPECT_LE(test, lf_apart(sabul_probing(&ca, sabul_ns(10000000), 20000), half / 4),
			sabul_ns(1));
}

/* --- intervals ----------------------------------------------------------- */

/* 20 ms without loss: 1 % shorter, and the pacing rate with it. */
static void sabul_interval_growth(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);

	sabul_test_rate(tp, 120000);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 12066666UL);
	/* Not before T, however many acknowledgments. */
	sabul_test_ack(tp, SABUL_T - 1, 170, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	sabul_test_ack(tp, 1, 2, 0, tp->delivered - 1);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(118800)), 10000ULL);
	KUNIT_EXPECT_LE(test, lf_apart(sk->sk_pacing_rate, 12188552ULL), 1ULL);
	/* 2 x 100 ms / 118.8 us, and ten. */
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2 * 841U + 10);
	sabul_audit(test, tp, "growth");
}

/* Above SO_MAX_PACING_RATE growth would not be seen; up to it all of it is reached. */
static void sabul_interval_held(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u32 i, slower = 0;

	sabul_test_rate(tp, 120000);
	/* An interval of 100 us. */
	sk->sk_max_pacing_rate = SABUL_MSS * 10000UL;
	for (i = 0; i < 100; i++)
		sabul_test_interval(tp, 0);
	/* The longest of its intervals is no longer, and nearly as long. */
	KUNIT_EXPECT_LE(test, ca->delta + ca->delta / 16, sabul_ns(100000));
	KUNIT_EXPECT_GE(test, ca->delta + ca->delta / 16, sabul_ns(98500));
	for (i = 0; i < 100; i++) {
		tp->data_segs_out++;
		sabul_min_tso_segs(sk);
		KUNIT_ASSERT_EQ(test, sk->sk_pacing_rate, sk->sk_max_pacing_rate);
	}
	/* So what is lost there is felt at the first answer, not after many. */
	sabul_test_interval(tp, 2);
	for (i = 0; i < 100; i++) {
		tp->data_segs_out++;
		sabul_min_tso_segs(sk);
		slower += sk->sk_pacing_rate < sk->sk_max_pacing_rate;
	}
	KUNIT_EXPECT_GT(test, slower, 5U);
}

/* What is not used does not grow: sender, receiver or window were the limit. */
static void sabul_interval_unused(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u32 i;

	sabul_test_rate(tp, 120000);
	for (i = 0; i < 45; i++)
		sabul_test_ack(tp, SABUL_T, 80, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	/* Nor where nothing was sent, and no division by that. */
	sabul_test_ack(tp, SABUL_T, 0, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	/* Losses count all the same. */
	sabul_test_ack(tp, SABUL_T, 79, 1, tp->delivered - 1);
	KUNIT_EXPECT_GT(test, ca->delta, sabul_ns(122000));
	/* A slow one that sends what it may: a packet in six T. */
	sabul_test_rate(tp, 50000000);
	tp->srtt_us = 800000 << 3;
	ca->delta = sabul_ns(120000000);
	sabul_test_ack(tp, 6 * SABUL_T, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_LT(test, ca->delta, sabul_ns(120000000));
}

/*
 * A trickle: a timeout after it began slow start begins again, halfway to the window that is
 * used, and so on, to the initial one; the way back is to three quarters of the rate.  What is
 * used is not given up.
 */
static void sabul_interval_trickle(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct socket socket = { .flags = 0 };
	struct sabul *ca = sabul_of(tp);
	u32 i;

	sk->sk_socket = &socket;
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	sabul_test_rate(tp, 120000);
	tp->snd_cwnd_used = 100;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ / 2;
	sabul_test_ack(tp, SABUL_T, 20, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	/* 833 packets in 100 ms, and 100: 466. */
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
	sabul_test_ack(tp, SABUL_T, 20, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 466U);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 625U);
	KUNIT_EXPECT_EQ(test, tp->snd_cwnd_used, 0U);
	/* Once for a timeout. */
	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 1;
	sabul_test_ack(tp, SABUL_T, 20, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 466U);
	for (i = 0; i < 20; i++) {
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		sabul_test_ack(tp, 10 * SABUL_T, 1, 0, tp->delivered - 1);
	}
	KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), TCP_INIT_CWND + 1U);
	KUNIT_EXPECT_GE(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
	/* Back in seven round trips. */
	tp->is_cwnd_limited = 1;
	for (i = 0; i < 7 && sabul_mode(tp) == SABUL_START; i++)
		sabul_test_ack(tp, 100000, tcp_snd_cwnd(tp), 0, tp->delivered - 1);
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, sabul_window(sk), 625U);
	/* What was used in that timeout stays, if less is used now. */
	sabul_test_rate(tp, 120000);
	tp->snd_cwnd_used = 833;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
	sabul_test_ack(tp, SABUL_T, 20, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	/* As the kernel's own, only where pauses count. */
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
	sabul_test_ack(tp, SABUL_T, 20, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	sk->sk_socket = NULL;
}

/*
 * First trap: an overflow seen over ten intervals is one decrease; what is lost of
 * the packets sent after it is another, after ten T at the earliest.
 */
static void sabul_overflow_once(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u32 mark, i;
	u64 once;

	sabul_test_rate(tp, 120000);
	sabul_test_ack(tp, SABUL_T, 160, 7, tp->delivered - 1);
	once = ca->delta;
	/* 4.2 % lost: k1 of that, and c. */
	KUNIT_EXPECT_LE(test, lf_apart(once, sabul_ns(122614)), sabul_ns(5));
	mark = tp->delivered;
	for (i = 0; i < 9; i++)
		sabul_test_ack(tp, SABUL_T, 160, 7, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, once);
	/* A round trip later than ten T: still the same. */
	for (i = 0; i < 5; i++)
		sabul_test_ack(tp, SABUL_T, 160, 7, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, once);
	/* Up to three packets late are losses found. */
	sabul_test_ack(tp, SABUL_T, 160, 7, mark + 2);
	KUNIT_EXPECT_EQ(test, ca->delta, once);
	sabul_test_ack(tp, SABUL_T, 160, 7, mark + 3);
	KUNIT_EXPECT_GT(test, ca->delta, once + sabul_ns(2000));
	sabul_audit(test, tp, "once");
}

/* Ten T, also where the round trip is shorter. */
static void sabul_overflow_rest(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);

	sabul_test_rate(tp, 120000);
	sabul_test_interval(tp, 5);
	sabul_test_held(test, tp, 9, 5);
}

/* An answer that does not help is followed by a stronger one, to a sixth of delta. */
static void sabul_overflow_strength(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u64 before, step;
	u32 i, j;

	sabul_test_rate(tp, 120000);
	for (i = 0; i < 12; i++) {
		before = ca->delta;
		sabul_test_ack(tp, SABUL_T, 159, 1, tp->delivered - 1);
		/* 0.6 % lost: k1 of what is above alpha, and the step. */
		step = ca->delta - before - sabul_share(before, 125,
			sabul_ratio(1, 160) - ca->alpha);
		KUNIT_EXPECT_LE_MSG(test,
				    lf_apart(step, min(sabul_ns(2000 << i),
						       div_u64(before, 6))),
				    (u64)sabul_ns(1), "answer %u", i);
		for (j = 0; j < 9; j++)
			sabul_test_interval(tp, 1);
	}
	sabul_audit(test, tp, "strength");
	/* After twenty T and more each is half as strong, down to c. */
	for (i = ca->strength; i; i--) {
		for (j = 0; j < 20; j++)
			sabul_test_interval(tp, 0);
		sabul_test_interval(tp, 1);
		KUNIT_EXPECT_EQ(test, (u32)ca->strength, i - 1);
	}
	for (j = 0; j < 20; j++)
		sabul_test_interval(tp, 0);
	before = ca->delta;
	sabul_test_ack(tp, SABUL_T, 159, 1, tp->delivered - 1);
	step = ca->delta - before - sabul_share(before, 125,
		sabul_ratio(1, 160) - ca->alpha);
	KUNIT_EXPECT_LE(test, lf_apart(step, sabul_ns(2000)), (u64)sabul_ns(1));
}

/*
 * For forty T what is lost was sent before the last answer; then losses count again, and for
 * @n T there is none.  Returns what had been delivered when that answer was.
 */
static u32 sabul_test_late(struct tcp_sock *tp, u32 n)
{
	u32 mark = tp->delivered, i;

	for (i = 0; i < 40; i++)
		sabul_test_ack(tp, SABUL_T, 159, 1, mark - 1);
	sabul_test_ack(tp, 0, 1, 0, mark + 10);
	for (i = 0; i < n; i++)
		sabul_test_ack(tp, SABUL_T, 80, 0, mark + 20);
	return mark;
}

/*
 * A round trip of forty T.  An answer is soon by when losses count again; it begins from the
 * rate of delivery then, but not below half its own.
 */
static void sabul_overflow_late(struct kunit *test)
{
	static const struct {
		u32 rtt_us, delivered, ns;
	} all[] = {
		{ 800000, 5000, 160000 }, { 800000, 1000, 240000 }, { 800000, 7000, 120000 },
		{ 400001, 2500, 160000 }, { 400000, 2500, 120000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct tcp_sock *tp = sabul_test_sock(test, 100);
		struct sabul *ca = sabul_of(tp);
		u32 mark;
		u64 step;

		tp->srtt_us = all[i].rtt_us << 3;
		sabul_test_rate(tp, 120000);
		sabul_test_ack(tp, SABUL_T, 159, 1, tp->delivered - 1);
		/* Nine T after losses count again is soon. */
		mark = sabul_test_late(tp, 8);
		tp->rate_interval_us = all[i].rtt_us;
		tp->rate_delivered = all[i].delivered;
		ca->delta = sabul_ns(120000);
		sabul_test_ack(tp, SABUL_T, 159, 1, mark + 30);
		KUNIT_EXPECT_EQ(test, (u32)ca->strength, 1U);
		step = sabul_share(sabul_ns(all[i].ns), 125, sabul_ratio(1, 160) - ca->alpha);
		KUNIT_EXPECT_LE_MSG(test, lf_apart(ca->delta, sabul_ns(all[i].ns + 4000) + step),
				    (u64)sabul_ns(50), "case %u", i);
		/* Ten T after is not: half as strong. */
		mark = sabul_test_late(tp, 9);
		sabul_test_ack(tp, SABUL_T, 159, 1, mark + 30);
		KUNIT_EXPECT_EQ(test, (u32)ca->strength, 0U);
		sabul_audit(test, tp, "late");
	}
}

/* After an outage the mean RTT is old: what is slow by the RTT goes by the newest packet's. */
static void sabul_after_outage(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);

	KUNIT_EXPECT_EQ(test, sabul_rtt(tp), 100000U);
	tp->srtt_us = 40000000U << 3;
	sabul_test_rate(tp, 4000000000ULL);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(4000000000ULL));
	tp->rack.rtt_us = 40000;
	KUNIT_EXPECT_EQ(test, sabul_rtt(tp), 40000U);
	sabul_apply((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(20000000));
	/* A newest packet that waited longer than the mean is no reason. */
	tp->srtt_us = 30000 << 3;
	KUNIT_EXPECT_EQ(test, sabul_rtt(tp), 30000U);
	/* Growth beyond the last overflow, too: a sixteenth of the law's, or half a packet in T. */
	tp->srtt_us = 800000 << 3;
	tp->rack.rtt_us = 0;
	sabul_test_rate(tp, 100000);
	ca->probe = 4;
	ca->known = ca->delta;
	ca->probed_ms = 1000;
	sabul_test_interval(tp, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(100000) - sabul_ns(1000) / 16),
			(u64)sabul_ns(1));
	sabul_test_rate(tp, 100000);
	tp->rack.rtt_us = 40000;
	ca->known = ca->delta;
	ca->probed_ms = 1000;
	sabul_test_interval(tp, 0);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(99750)), (u64)sabul_ns(1));
}

/* Second trap: growth goes on in loss-free intervals of the same round trip. */
static void sabul_overflow_grows(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u64 once;
	u32 mark;

	sabul_test_rate(tp, 120000);
	sabul_test_interval(tp, 7);
	once = ca->delta;
	mark = tp->delivered;
	sabul_test_ack(tp, SABUL_T, 160, 0, mark - 1);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, once - div_u64(once, 100)),
			10000ULL);
	/* Not in the next one, in which packets were lost that do not count. */
	once = ca->delta;
	sabul_test_ack(tp, SABUL_T, 160, 1, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, once);
	KUNIT_EXPECT_TRUE(test, ca->waiting);
}

/* once=N: every interval with loss is answered, and each eleven losses. */
static void sabul_overflow_exact(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_with(test, "once", "N", "Y");
	struct sabul *ca = sabul_of(tp);
	u32 mark = tp->delivered, i;
	u64 was;

	sabul_test_rate(tp, 120000);
	for (i = 0; i < 10; i++) {
		was = ca->delta;
		sabul_test_ack(tp, SABUL_T, 160, 7, mark - 1);
		KUNIT_EXPECT_GE(test, ca->delta, was + sabul_ns(2000));
	}
	/* Twelve losses in an ACK: b, and counting begins again. */
	was = ca->delta;
	sabul_test_ack(tp, SABUL_T / 2, 80, 12, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was + sabul_ns(500));
	sabul_test_ack(tp, 1, 80, 10, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was + sabul_ns(500));
	sabul_test_ack(tp, 1, 0, 1, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was + sabul_ns(1000));
	/* A full queue of our own right after that, too. */
	sabul_test_ack(tp, SABUL_T, 160, 7, mark - 1);
	sabul_set_state((struct sock *)tp, TCP_CA_CWR);
	was = ca->delta;
	sabul_test_ack(tp, SABUL_T, 160, 0, mark - 1);
	KUNIT_EXPECT_GE(test, ca->delta, was + sabul_ns(2000));
}

/* More than V losses are not left for the interval's end; once in it. */
static void sabul_overflow_fast(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u64 was = sabul_ns(120000);

	sabul_test_rate(tp, 120000);
	sabul_test_ack(tp, 1000, 10, 10, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was);
	sabul_test_ack(tp, 1000, 10, 1, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was + sabul_ns(500));
	sabul_test_ack(tp, 1000, 10, 90, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, was + sabul_ns(500));
	sabul_test_ack(tp, SABUL_T, 100, 0, tp->delivered - 1);
	KUNIT_EXPECT_GT(test, ca->delta, was + sabul_ns(2500));
	KUNIT_EXPECT_TRUE(test, ca->waiting);
}

/*
 * Acknowledgments that come in clumps of 21 ms: what is left of T is not held against
 * the rate.
 */
static void sabul_interval_clumps(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);
	u32 i;

	sabul_test_rate(tp, 12000);
	for (i = 0; i < 40; i++) {
		u64 was = ca->delta;
		u32 sent = div64_u64(sabul_ns(21000000), was);

		sabul_test_ack(tp, 21000, sent, 0, tp->delivered - 1);
		KUNIT_EXPECT_LT_MSG(test, ca->delta, was, "%u", i);
	}
}

/* rho = alpha: d, and not c; below alpha it grows, at less than 1 %. */
static void sabul_interval_alpha(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);

	sabul_test_rate(tp, 12000);
	ca->cap = 0;
	sabul_test_ack(tp, SABUL_T, 3998, 2, tp->delivered - 1);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(11940)),
			sabul_ns(1));
	sabul_test_ack(tp, SABUL_T, 1999, 2, tp->delivered - 1);
	KUNIT_EXPECT_LT(test, ca->delta, sabul_ns(11940));
	ca->delta = sabul_ns(12000);
	sabul_test_ack(tp, SABUL_T, 1998, 2, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(12100));
	KUNIT_EXPECT_TRUE(test, ca->waiting);
	sabul_test_rate(tp, 12000);
	ca->cap = 0;
	ca->alpha = sabul_ppm(1953);
	/* 2 of 1024 are 1953.125 millionths, and alpha is not above. */
	sabul_test_ack(tp, SABUL_T, 1022, 2, tp->delivered - 1);
	KUNIT_EXPECT_GE(test, ca->delta, sabul_ns(14000));
}

/* --- modes --------------------------------------------------------------- */

/* Slow start is the kernel's; the first loss ends it with what was delivered. */
static void sabul_start_by_loss(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);

	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	/* 100 packets of 1448 bytes in 100 ms, twice; a 16th of that time goes by. */
	sabul_test_ack(tp, 6249, 90, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 2896000UL);
	sabul_test_ack(tp, 1, 10, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 200U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 5792000UL);
	/* Limited by the application: no growth, no change of mode. */
	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 20;
	sabul_test_ack(tp, 1000, 100, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 200U);
	/* 150 packets in the last 100 ms: 667 us, then c. */
	tp->rate_delivered = 150;
	tp->rate_interval_us = 100000;
	sabul_test_ack(tp, 1000, 10, 3, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(668667)),
			sabul_ns(2));
	KUNIT_EXPECT_TRUE(test, ca->waiting);
	/* Growth is the law's from there. */
	KUNIT_EXPECT_EQ(test, ca->known, 0ULL);
	/* Its other losses are not another overflow. */
	sabul_test_ack(tp, SABUL_T, 20, 50, tp->delivered - 100);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(668667)),
			sabul_ns(2));
	sabul_audit(test, tp, "start");
}

/* A delivery rate of few packets, or none, is not believed. */
static void sabul_start_rates(struct kunit *test)
{
	static const struct {
		s32 delivered;
		u32 us;
		u64 ns;		/* delta after it, but for c */
	} all[] = {
		{ 0, 0, 1000000 }, { 100, 100000, 1000000 },
		{ 80, 100000, 1250000 }, { 1, 300000, 2000000 },
		{ 1000, 100000, 1000000 }, { 1, U32_MAX, 2000000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct tcp_sock *tp = sabul_test_sock(test, 100);

		tp->rate_delivered = all[i].delivered;
		tp->rate_interval_us = all[i].us;
		sabul_test_ack(tp, 1000, 0, 1, tp->delivered - 1);
		KUNIT_EXPECT_LE(test, lf_apart(sabul_of(tp)->delta,
					       sabul_ns(all[i].ns + 2000)),
				sabul_ns(5));
	}
}

/* At ssthresh slow start is over without a loss: the window in each RTT. */
static void sabul_start_by_ssthresh(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sabul *ca = sabul_of(tp);

	tp->snd_ssthresh = 150;
	sabul_test_ack(tp, 1000, 100, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 150U);
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(666667)),
			sabul_ns(2));
	KUNIT_EXPECT_FALSE(test, ca->waiting);
	/* No RTT yet: it waits for one. */
	tp = sabul_test_sock(test, 100);
	tp->srtt_us = 0;
	tp->snd_ssthresh = 50;
	sabul_test_ack(tp, 1000, 1, 1, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
}

/*
 * The first slow start is of include/longfat/slow_start.h, until that ends it, a loss or a
 * timeout does.  Nothing else writes where its state is.
 */
static void sabul_first_slow_start(struct kunit *test)
{
	static const struct {
		const char *slow_start;
		u32 w;		/* of 900 packets, when 18 more are acknowledged */
	} all[] = {
		{ "limited", 901 }, { "hystart++", 918 }, { "train", 918 },
	};
	u32 i;

	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct tcp_sock *tp = sabul_test_first(test, 900, all[i].slow_start);
		struct sock *sk = (struct sock *)tp;
		struct sabul *ca = sabul_of(tp);
		struct lf_slow_start was;

		KUNIT_ASSERT_EQ(test, sabul_mode(tp), SABUL_FIRST);
		/* Other packets, and nothing to take back. */
		was = ca->slow;
		tp->mss_cache = 2 * SABUL_MSS;
		sabul_test_ack(tp, 1000, 0, 0, tp->delivered - 1);
		sabul_undo_cwnd(sk);
		KUNIT_EXPECT_EQ(test, memcmp(&ca->slow, &was, sizeof(was)), 0);
		sabul_test_ack(tp, 1000, 18, 0, tp->delivered - 1);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), all[i].w);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_FIRST);
		/* A pause does not end it. */
		tp->packets_out = 0;
		tp->lsndtime = tcp_jiffies32 - 60 * HZ;
		sabul_tx_start(sk);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_FIRST);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
		sabul_audit(test, tp, "first");

		/* The path is full: 1000 packets in 100 ms, and slow growth from there. */
		tcp_snd_cwnd_set(tp, 1000);
		ca->slow.stage = LF_SS_OVER;
		tp->snd_ssthresh = 1000;
		sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
		KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(100000)), sabul_ns(1));
		KUNIT_EXPECT_EQ(test, ca->known, ca->delta);
		KUNIT_EXPECT_FALSE(test, ca->waiting);
		KUNIT_EXPECT_EQ(test, ca->mark, ca->newest);
		/* The first overflow: 800 packets in 100 ms were delivered, then c.  No other. */
		tp->rate_delivered = 800;
		tp->rate_interval_us = 100000;
		sabul_test_interval(tp, 5);
		KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(127000)), sabul_ns(500));
		KUNIT_EXPECT_FALSE(test, ca->found);

		/* A timeout ends it, and was in vain. */
		tp = sabul_test_first(test, 900, all[i].slow_start);
		sk = (struct sock *)tp;
		ca = sabul_of(tp);
		was = ca->slow;
		tp->prior_cwnd = 900;
		tp->packets_out = 0;
		tp->snd_ssthresh = sabul_ssthresh(sk);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 450U);
		tcp_snd_cwnd_set(tp, 1);
		sabul_set_state(sk, TCP_CA_Loss);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
		KUNIT_EXPECT_EQ(test, ca->mark, tp->delivered);
		KUNIT_EXPECT_EQ(test, sabul_undo_cwnd(sk), 900U);
		tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_FIRST);
		was.round_end = tp->snd_nxt;
		was.stage = LF_SS_GROW;
		KUNIT_EXPECT_EQ(test, memcmp(&ca->slow, &was, sizeof(was)), 0);

		/* So does a mark, or a loss, and no growth is known to be safe. */
		inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
		sabul_set_state(sk, TCP_CA_CWR);
		sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
		KUNIT_EXPECT_TRUE(test, ca->waiting);
		KUNIT_EXPECT_EQ(test, ca->known, 0ULL);
		sabul_audit(test, tp, "marked");
	}
}

/* A timeout: one packet, slow start to half; again while it lasts. */
static void sabul_timeout(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;

	sabul_test_rate(tp, 120000);
	tp->packets_out = 833;
	tp->lost_out = 833;
	tp->lost += 833;
	tp->snd_ssthresh = sabul_ssthresh(sk);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 416U);
	tcp_snd_cwnd_set(tp, 1);
	sabul_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
	/* One packet of 1448 bytes in 100 ms, twice. */
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 28960UL);
	sabul_audit(test, tp, "timeout");
	/* All of that is accounted for: slow start, by what is delivered. */
	sabul_test_ack(tp, 100000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2U);
	tp->snd_ssthresh = sabul_ssthresh(sk);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 2U);
	tcp_snd_cwnd_set(tp, 1);
	sabul_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
	sabul_audit(test, tp, "timeout again");
}

/*
 * A timeout in Recovery, with nearly all in flight: half of what the rate is now;
 * what is found lost of the packets before it, and their marks, do not end slow start.
 */
static void sabul_timeout_in_flight(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u32 i;

	sabul_test_rate(tp, 60000);
	tp->snd_ssthresh = sabul_ssthresh(sk);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 833U);
	/* The rate is half of that since. */
	sabul_test_rate(tp, 120000);
	tp->snd_ssthresh = 833;
	tp->packets_out = 833;
	tp->lost_out = 33;
	tp->lost += 33;
	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	sabul_set_state(sk, TCP_CA_Loss);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Loss;
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 416U);
	/* What was sent before is acknowledged, lost or marked. */
	tp->delivered_ce++;
	sabul_test_ack(tp, 1000, 3, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	/* The head's retransmission is: the others are found lost now. */
	sabul_test_ack(tp, 100000, 1, 600, tp->delivered - 3);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	tp->packets_out = 0;
	tp->lost_out = 0;
	for (i = 0; i < 800; i++)
		sabul_test_ack(tp, 100, 1, 1, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_GE(test, ca->delta, sabul_ns(240000));
	KUNIT_EXPECT_LE(test, ca->delta, sabul_ns(241000));
	sabul_audit(test, tp, "timeout in Recovery");

	/* Later losses do end it. */
	sabul_test_rate(tp, 120000);
	tp->snd_ssthresh = 416;
	tp->packets_out = 833;
	tp->lost_out = 833;
	tcp_snd_cwnd_set(tp, 1);
	sabul_set_state(sk, TCP_CA_Loss);
	sabul_test_ack(tp, 100000, 1, 30, tp->delivered);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
	sabul_test_ack(tp, 100000, 2, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	sabul_test_ack(tp, 100000, 2, 1, tp->delivered);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
}

/*
 * The mark before a timeout is echoed until CWR is there, which new data brings: it does
 * not end slow start, and is not answered when the kernel does that.  Another one is.
 */
static void sabul_timeout_marked(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u32 i;

	sabul_test_rate(tp, 120000);
	tp->packets_out = 833;
	tp->lost_out = 833;
	tp->snd_ssthresh = sabul_ssthresh(sk);
	tcp_snd_cwnd_set(tp, 1);
	sabul_set_state(sk, TCP_CA_Loss);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Loss;
	/* The first retransmission, and others. */
	KUNIT_EXPECT_EQ(test, ca->mark, tp->delivered);
	for (i = 2; i < 20; i++) {
		tp->delivered_ce++;
		sabul_test_deliver(tp, 50000, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), i);
	}
	/* All of before is acknowledged: it begins CWR for the echo. */
	inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
	tp->delivered_ce++;
	tp->snd_ssthresh = sabul_ssthresh(sk);
	sabul_set_state(sk, TCP_CA_CWR);
	sabul_test_deliver(tp, 50000, 1, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_interval(100000, 19));
	tp->delivered_ce++;
	sabul_test_ack(tp, SABUL_T, 4, 0, tp->delivered);
	KUNIT_EXPECT_GT(test, ca->delta,
			sabul_interval(100000, 19) + sabul_ns(1999));
	sabul_audit(test, tp, "timeout, marked");
}

/* A path that became narrower is no congestion. */
static void sabul_narrower_path(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);

	sabul_test_rate(tp, 120000);
	tp->packets_out = 800;
	tp->lost_out = 100;
	tp->lost += 100;
	sabul_ssthresh(sk);
	sabul_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	sabul_test_interval(tp, 0);
	KUNIT_EXPECT_LT(test, ca->delta, sabul_ns(120000));
}

/* Marks: a decrease in each round trip in which there are any, also in Recovery. */
static void sabul_marks(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u32 mark;
	u64 was;

	sabul_test_rate(tp, 120000);
	tp->delivered_ce++;
	sabul_ssthresh(sk);
	sabul_set_state(sk, TCP_CA_CWR);
	sabul_test_interval(tp, 0);
	was = ca->delta;
	KUNIT_EXPECT_LE(test, lf_apart(was, sabul_ns(122000)), sabul_ns(1));
	mark = tp->delivered;
	/* The rest of that round trip: the mark's echo, and it grows. */
	tp->delivered_ce += 100;
	sabul_test_ack(tp, SABUL_T, 160, 0, mark - 1);
	KUNIT_EXPECT_LT(test, ca->delta, was);
	/* The next one. */
	was = ca->delta;
	tp->delivered_ce++;
	sabul_test_ack(tp, SABUL_T, 160, 0, mark);
	KUNIT_EXPECT_GT(test, ca->delta, was + sabul_ns(1999));
	/* In slow start it ends that. */
	tp = sabul_test_sock(test, 100);
	tp->delivered_ce++;
	sabul_test_ack(tp, 1000, 10, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
}

/*
 * Recovery, in which the kernel asks for no CWR: a mark counts once, also when it ends,
 * and its receiver is told, after which the next one counts.
 */
static void sabul_marks_in_recovery(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u64 was;
	u32 i;

	tp->ecn_flags = LF_TEST_ECN;
	sabul_test_rate(tp, 120000);
	sabul_ssthresh(sk);
	sabul_set_state(sk, TCP_CA_Recovery);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	tp->delivered_ce++;
	sabul_test_deliver(tp, SABUL_T, 160, 0, tp->delivered);
	was = ca->delta;
	KUNIT_EXPECT_LE(test, lf_apart(was, sabul_ns(122000)), sabul_ns(1));
	KUNIT_EXPECT_TRUE(test, tp->ecn_flags & TCP_ECN_QUEUE_CWR);
	for (i = 0; i < 30; i++) {
		tp->delivered_ce++;
		sabul_test_deliver(tp, SABUL_T, 160, 0, tp->delivered);
		KUNIT_EXPECT_LE_MSG(test, ca->delta, was, "interval %u", i);
		was = ca->delta;
	}
	/* It is over with what was sent before the answer. */
	tp->snd_una = ca->echo_end;
	inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
	tp->delivered_ce++;
	sabul_ssthresh(sk);
	sabul_set_state(sk, TCP_CA_CWR);
	sabul_test_deliver(tp, SABUL_T, 160, 0, tp->delivered);
	KUNIT_EXPECT_LE(test, ca->delta, was);
	tp->delivered_ce++;
	sabul_test_ack(tp, SABUL_T, 160, 0, tp->delivered);
	KUNIT_EXPECT_GT(test, ca->delta, was + sabul_ns(1000));
	sabul_audit(test, tp, "marks in Recovery");
}

/* It was asked whose queue there is, or the window rose to what the path holds: as ghstcp. */
static void sabul_undone_asking(struct kunit *test)
{
	u32 stage;

	for (stage = LF_SS_GROW; stage <= LF_SS_RISE; stage++) {
		struct tcp_sock *tp = sabul_test_first(test, 900, "train");
		bool asking = stage == LF_SS_DRAIN || stage == LF_SS_ASK;
		struct sock *sk = (struct sock *)tp;

		sabul_of(tp)->slow.stage = stage;
		tp->snd_ssthresh = 901;
		tp->prior_cwnd = 900;
		tp->snd_ssthresh = sabul_ssthresh(sk);
		sabul_test_interval(tp, 5);
		KUNIT_ASSERT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
		sabul_undo_cwnd(sk);
		KUNIT_EXPECT_EQ(test, sabul_mode(tp),
				stage == LF_SS_RISE ? SABUL_START : SABUL_FIRST);
		KUNIT_EXPECT_TRUE(test, (tp->snd_ssthresh == TCP_INFINITE_SSTHRESH) == asking);
	}
}

/* A spurious event: rate, mode and window as before; once. */
static void sabul_undone(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	struct sabul *ca = sabul_of(tp);
	u32 cwnd;
	u64 was;

	sabul_test_rate(tp, 120000);
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	sabul_ssthresh(sk);
	sabul_test_interval(tp, 5);
	KUNIT_EXPECT_GT(test, ca->delta, sabul_ns(120000));
	tcp_snd_cwnd_set(tp, sabul_undo_cwnd(sk));
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	KUNIT_EXPECT_FALSE(test, ca->waiting);
	/* What was not lost does not count later. */
	was = ca->delta;
	sabul_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->delta, was);
	/* Growth is the law's: nothing was lost at that rate. */
	KUNIT_EXPECT_EQ(test, ca->known, 0ULL);
	/*
	 * Before it was answered: nothing to restore, and no answer comes; what was
	 * sent in that interval still was, a packet of it that is lost is one of 164.
	 */
	sabul_test_rate(tp, 120000);
	sabul_ssthresh(sk);
	sabul_test_ack(tp, SABUL_T - 1000, 158, 5, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	sabul_undo_cwnd(sk);
	sabul_test_ack(tp, 1000, 0, 1, tp->delivered - 1);
	KUNIT_EXPECT_LE(test, lf_apart(ca->delta, sabul_ns(122076)),
			sabul_ns(5));
	/* A mark of that interval counts as well. */
	sabul_test_rate(tp, 120000);
	tp->delivered_ce++;
	sabul_ssthresh(sk);
	sabul_test_ack(tp, 1000, 10, 5, tp->delivered);
	sabul_undo_cwnd(sk);
	sabul_test_ack(tp, SABUL_T, 160, 0, tp->delivered);
	KUNIT_EXPECT_GE(test, ca->delta, sabul_ns(122000));

	/* A timeout that was none. */
	sabul_test_rate(tp, 120000);
	sabul_ssthresh(sk);
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->packets_out = 5;
	tp->lost_out = 5;
	tcp_snd_cwnd_set(tp, 1);
	sabul_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	tcp_snd_cwnd_set(tp, sabul_undo_cwnd(sk));
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, ca->delta, sabul_ns(120000));
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2 * 833U + 10);
	sabul_audit(test, tp, "undo");

	/* Packets got another size in the event, and then it was answered: as another path's. */
	sabul_test_rate(tp, 120000);
	tp->prior_cwnd = 5000;
	sabul_ssthresh(sk);
	tp->mss_cache = 2 * SABUL_MSS;
	sabul_test_interval(tp, 5);
	was = ca->delta;
	KUNIT_EXPECT_GT(test, was, 2 * sabul_ns(120000));
	cwnd = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_EQ(test, sabul_undo_cwnd(sk), cwnd);
	KUNIT_EXPECT_EQ(test, ca->delta, was);

	/* Selected in Recovery: what was before that is not known. */
	tp = sabul_test_sock(test, 100);
	sk = (struct sock *)tp;
	tp->prior_cwnd = 200;
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	sabul_test_ack(tp, 1000, 10, 1, tp->delivered - 1);
	was = sabul_of(tp)->delta;
	tcp_snd_cwnd_set(tp, sabul_undo_cwnd(sk));
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, sabul_of(tp)->delta, was);
	sabul_test_interval(tp, 0);
	KUNIT_EXPECT_LT(test, sabul_of(tp)->delta, was);

	/* Slow start goes on with its window, and not with the ceiling. */
	tp = sabul_test_sock(test, 100);
	sk = (struct sock *)tp;
	tp->prior_cwnd = 100;
	sabul_ssthresh(sk);
	sabul_test_ack(tp, 1000, 10, 1, tp->delivered - 1);
	KUNIT_EXPECT_GT(test, tcp_snd_cwnd(tp), 200U);
	tcp_snd_cwnd_set(tp, sabul_undo_cwnd(sk));
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 100U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 2896000UL);
}

/* A pause: the initial window and slow start, to three quarters of the rate. */
static void sabul_idle(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;

	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	sabul_test_rate(tp, 120000);
	tp->packets_out = 0;
	tp->lsndtime = tcp_jiffies32 - HZ;
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	/* Something in flight is no pause. */
	tp->packets_out = 1;
	tp->lsndtime = tcp_jiffies32 - 60 * HZ;
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	/* The first burst is of an initial window's rate: 10 packets in 100 ms. */
	tp->packets_out = 0;
	sabul_min_tso_segs(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2 * 833U + 10);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 144800UL);
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 833 - 833U / 4);
	/* What was before is not let out. */
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 289600UL);
	/* Not again for the same pause. */
	tcp_snd_cwnd_set(tp, 15);
	sabul_apply(sk);
	sabul_min_tso_segs(sk);
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 15U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 434400UL);
	sabul_audit(test, tp, "idle");
	/* Nor does the next one take from what was come back to: 625 packets. */
	sabul_test_ack(tp, 100000, 610, 0, tp->delivered - 1);
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_EQ(test, sabul_window(sk), 625U);
	tp->lsndtime = tcp_jiffies32 - 20 * HZ;
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 625U);
	/* A shorter pause takes less: a half for each timeout. */
	inet_csk(sk)->icsk_rto = HZ;
	sabul_test_rate(tp, 120000);
	tp->lsndtime = tcp_jiffies32 - 5 * HZ / 2;
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 833U / 4);
	tp->lsndtime = tcp_jiffies32 - 60 * HZ;
	/* Selected in a pause, with a window that another one left. */
	sabul_release(sk);
	tcp_snd_cwnd_set(tp, 20000);
	tp->snd_ssthresh = 20000;
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_START);
	sabul_tx_start(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 20000U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 289600UL);
}

/* In slow start too, a window that is not used shrinks, once for each timeout. */
static void sabul_start_unused(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 20000);
	struct sock *sk = (struct sock *)tp;
	struct socket socket = { .flags = 0 };
	u32 i;

	sk->sk_socket = &socket;
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 1;
	tp->snd_cwnd_used = 1;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ + 2;
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 20000U);
	for (i = 0; i < 3; i++) {
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
		KUNIT_EXPECT_EQ(test, tp->snd_cwnd_used, 0U);
		sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	}
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2508U);
	/* The first of them was to be come back to. */
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 2508UL * SABUL_MSS * 10 * 2);
	for (i = 0; i < 30; i++) {
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	}
	KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), TCP_INIT_CWND + 1U);
	/* What is used stays; as the kernel's own, only where pauses count. */
	tcp_snd_cwnd_set(tp, 1000);
	tp->snd_cwnd_used = 1000;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
	sabul_test_ack(tp, 1000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	sk->sk_socket = NULL;
}

/* --- hooks --------------------------------------------------------------- */

/* A lost SYN, an answer to a SYN with data, a release: on zeroed state. */
static void sabul_hook_before_init(struct kunit *test)
{
	struct tcp_sock *tp = lf_test_sock(test, 10, ~0U);
	struct sock *sk = (struct sock *)tp;
	u32 w;

	sock_net_set(sk, &init_net);
	sk->sk_pacing_rate = 12345;
	sk->sk_pacing_shift = 7;
	for (w = 1; w < 20; w++) {
		tcp_snd_cwnd_set(tp, w);
		KUNIT_EXPECT_EQ(test, sabul_ssthresh(sk), max(w / 2, 2U));
		sabul_set_state(sk, TCP_CA_Loss);
		sabul_set_state(sk, TCP_CA_CWR);
		sabul_test_ack(tp, SABUL_T, 1, 1, 0);
		sabul_min_tso_segs(sk);
		KUNIT_EXPECT_EQ(test, sabul_undo_cwnd(sk), w);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), w);
	}
	sabul_release(sk);
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 12345UL);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 7);
}

/* Selected after connect(), and the SYN is lost, or was: the first slow start is to come. */
static void sabul_hook_syn_lost(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_first(test, 10, "train");
	struct sock *sk = (struct sock *)tp;

	sk->sk_state = TCP_SYN_SENT;
	tp->snd_ssthresh = 5;
	sabul_init(sk);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	lf_test_lost_syn(&sabul_ops, tp);
	sabul_test_ack(tp, 100000, 10, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->mode, (u32)SABUL_FIRST);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->slow.stage, (u32)LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 20U);
}

/*
 * A SYN that the sender's own queue refuses is no congestion, nor what the answer to one says.
 * Selected before the first sequence number is known, a mark is none that was answered.
 */
static void sabul_hook_before_connect(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_first(test, 10, "train");
	struct sock *sk = (struct sock *)tp;

	sk->sk_state = TCP_SYN_SENT;
	tp->snd_una = 0;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	sabul_init(sk);
	tp->snd_una = 0xa0000000;
	tp->snd_nxt = tp->snd_una;
	sabul_set_state(sk, TCP_CA_CWR);
	tp->snd_ssthresh = 5;
	sabul_test_deliver(tp, 100000, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->mode, (u32)SABUL_FIRST);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	sk->sk_state = TCP_ESTABLISHED;
	sabul_set_state(sk, TCP_CA_Open);
	sabul_test_deliver(tp, 100000, 10, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->mode, (u32)SABUL_FIRST);
	tp->snd_nxt = tp->snd_una;
	KUNIT_EXPECT_FALSE(test, lf_echoed(sk, &sabul_of(tp)->echo_end));
}

/*
 * Who comes after finds a window, not a ceiling; who came before may have left one.
 * Selected again, nothing is old.
 */
static void sabul_hook_switch(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;

	sabul_test_rate(tp, 120000);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 2 * 833U + 10);
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 833U);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 2U);
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 833U);
	/* In Recovery the answer to this loss stays. */
	sabul_init(sk);
	sabul_test_rate(tp, 120000);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	tp->snd_ssthresh = 416;
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 833U);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 416U);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
	tp->snd_ssthresh = 833;
	/* Without a loss nothing is known; after one, growth beyond this rate is slow. */
	tcp_snd_cwnd_set(tp, 100);
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, sabul_of(tp)->known, 0ULL);
	tp->lost = 1;
	tp->data_segs_out = 0;
	sabul_init(sk);
	/* It was a SYN that was lost. */
	KUNIT_EXPECT_EQ(test, sabul_of(tp)->known, 0ULL);
	tp->data_segs_out = 1000;
	/* A mark tells the same. */
	tp->lost = 0;
	tp->delivered_ce = 1;
	sabul_init(sk);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_of(tp)->known, sabul_ns(1000000)),
			sabul_ns(1));
	tp->delivered_ce = 0;
	tp->lost = 1;
	sabul_init(sk);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_of(tp)->known, sabul_ns(1000000)),
			sabul_ns(1));
	/* How strong answers were is not known.  The next is the strongest: 128 us of 1 ms. */
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->strength, 6U);
	/* The paper's law has no strength. */
	lf_test_set(test, "once", "N", 0);
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->strength, 0U);
	lf_test_set(test, "once", "Y", 0);
	/* At 1 Gbit/s c is a sixth by itself, and at the slowest rates 2^12 c have to do. */
	tcp_snd_cwnd_set(tp, 8333);
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->strength, 0U);
	tcp_snd_cwnd_set(tp, 1);
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, (u32)sabul_of(tp)->strength, 12U);
	tcp_snd_cwnd_set(tp, 100);
	tp->snd_ssthresh = 833;
	sabul_init(sk);
	/* Nor does slow start go beyond it, where who came before had no ssthresh. */
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 100U);
	sabul_release(sk);
	/* In congestion avoidance, over the end of every counter. */
	tp->delivered = U32_MAX - 10;
	tp->lost = U32_MAX - 3;
	tp->data_segs_out = U32_MAX - 20;
	tp->snd_ssthresh = 80;
	tcp_snd_cwnd_set(tp, 100);
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NEEDED);
	sabul_test_ack(tp, 1000, 50, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, sabul_mode(tp), SABUL_BY_RATE);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_of(tp)->delta, sabul_ns(1000000)),
			sabul_ns(1));
	sabul_test_ack(tp, SABUL_T, 15, 5, tp->delivered - 1);
	KUNIT_EXPECT_GT(test, sabul_of(tp)->delta, sabul_ns(1000000));
	/* (1), and a sixth for the losses that it does not know. */
	KUNIT_EXPECT_LT(test, sabul_of(tp)->delta,
			sabul_ns(1050000 + 1000000 / 6));
	sabul_audit(test, tp, "switch");
}

/*
 * fq that is gone is told by departures that are eight bursts ahead: of 1/1024 s each, or of a
 * packet if that takes longer.
 */
static void sabul_hook_fq_gone(struct kunit *test)
{
	static const struct {
		u32 packet_us, ahead_us, status;
	} cases[] = {
		{ 120, 0, SK_PACING_FQ }, { 120, 7800, SK_PACING_FQ },
		{ 120, 7820, SK_PACING_NEEDED },
		{ 10000, 79000, SK_PACING_FQ }, { 10000, 81000, SK_PACING_NEEDED },
	};
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	u32 i;

	tp->tcp_clock_cache = NSEC_PER_SEC;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		sk->sk_pacing_status = SK_PACING_FQ;
		tp->tcp_wstamp_ns = tp->tcp_clock_cache;
		sabul_test_rate(tp, cases[i].packet_us * 1000ULL);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_FQ);
		tp->tcp_wstamp_ns += cases[i].ahead_us * (u64)NSEC_PER_USEC;
		sabul_apply(sk);
		KUNIT_EXPECT_EQ_MSG(test, (u32)sk->sk_pacing_status, cases[i].status, "%u", i);
	}
	/* Without pacing there was no fq. */
	sk->sk_pacing_status = SK_PACING_NONE;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NONE);
}

/* The rate in bytes stays when packets have another size. */
static void sabul_hook_mtu_probe(struct kunit *test)
{
	static const u32 sizes[] = { 2896, 724, 1448, 8948, 48, 65535, 1448 };
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	unsigned long rate;
	u32 i;

	sabul_test_rate(tp, 120000);
	rate = sk->sk_pacing_rate;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		tp->mss_cache = sizes[i];
		sabul_test_ack(tp, 1, 0, 0, tp->delivered - 1);
		sabul_apply(sk);
		KUNIT_EXPECT_LE(test, lf_apart(rate, sk->sk_pacing_rate),
				rate / 1000000 + 2ULL);
	}
	KUNIT_EXPECT_EQ(test, sabul_of(tp)->known, 0ULL);
	/* From the longest interval of the smallest packets: no overflow. */
	sabul_rescale(sabul_of(tp), 1);
	sabul_of(tp)->delta = SABUL_MAX;
	sabul_rescale(sabul_of(tp), U16_MAX);
	KUNIT_EXPECT_LE(test, lf_apart(sabul_of(tp)->delta, SABUL_MAX),
			(u64)U16_MAX);
	tp->mss_cache = 0;
	sabul_test_ack(tp, SABUL_T, 0, 0, tp->delivered - 1);
	sabul_audit(test, tp, "no packets");
}

/* The clamp holds; SO_MAX_PACING_RATE holds; the RTT bounds the slowest rate. */
static void sabul_hook_limits(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	u32 i;

	tp->snd_cwnd_clamp = 50;
	sabul_test_rate(tp, 120000);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 50U);
	sk->sk_max_pacing_rate = 1000;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
	sk->sk_max_pacing_rate = ~0UL;
	tp->snd_cwnd_clamp = U32_MAX;
	/* Nearly everything is lost for two minutes: two packets in each 100 ms. */
	for (i = 0; i < 1000; i++)
		sabul_test_ack(tp, 6 * SABUL_T, 3, 90, tp->delivered);
	KUNIT_EXPECT_EQ(test, sabul_of(tp)->delta, sabul_ns(50000000));
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 28960UL);
	sabul_audit(test, tp, "much lost");
}

/* Every delta at every RTT: windows and rates as they should be. */
static void sabul_hook_rates(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	u64 ns;
	u32 us;

	for (ns = 8; ns < 4000000000ULL; ns = ns * 3 / 2) {
		for (us = 1; us < U32_MAX / 16; us *= 10) {
			tp->srtt_us = us << 3;
			sabul_of(tp)->mode = SABUL_BY_RATE;
			sabul_of(tp)->delta = sabul_ns(ns);
			sabul_apply((struct sock *)tp);
			sabul_audit(test, tp, "rates");
			if (us >= 1000 && ns * 4 < us * 1000ULL &&
			    us * 1000ULL / ns < BIT(28))
				KUNIT_ASSERT_LE(test,
						lf_apart(tcp_snd_cwnd(tp) - 10,
							 2 * (us * 1000ULL / ns)),
						3ULL);
		}
	}
}

/*
 * Intervals are 15/16 to 17/16 of delta, and delta on average.  What may wait in the
 * device is the kernel's from 8 ms on, at any rate, and who comes after finds that.
 */
static void sabul_hook_uneven(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	u64 least = U64_MAX, most = 0, sum = 0, ns;
	u32 i;

	minmax_reset(&tp->rtt_min, 0, 8000);
	init_net.ipv4.sysctl_tcp_min_tso_segs = 2;
	sabul_test_rate(tp, 1200);
	for (i = 0; i < 10000; i++) {
		tp->data_segs_out += 1 + i % 3;
		tp->tcp_clock_cache += 240000;
		KUNIT_ASSERT_EQ(test, sabul_min_tso_segs(sk), 1U);
		ns = div_u64(1448 * (u64)NSEC_PER_SEC, sk->sk_pacing_rate);
		least = min(least, ns);
		most = max(most, ns);
		sum += ns;
	}
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, LF_PACING_SHIFT);
	KUNIT_EXPECT_LE(test, lf_apart(div_u64(sum, 10000), 1200), 5ULL);
	KUNIT_EXPECT_LE(test, lf_apart(least, 1125), 2ULL);
	KUNIT_EXPECT_LE(test, lf_apart(most, 1275), 2ULL);
	/* The bounds; and slow start is the kernel's. */
	sabul_of(tp)->delta = SABUL_MIN;
	sabul_min_tso_segs(sk);
	sabul_audit(test, tp, "shortest");
	sabul_of(tp)->delta = SABUL_MAX;
	sabul_min_tso_segs(sk);
	sabul_audit(test, tp, "longest");
	sabul_enter(sk, SABUL_START, SABUL_INIT);
	ns = sk->sk_pacing_rate;
	sabul_min_tso_segs(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, ns);
	/* 0.1 ms: 1/2^17 s. */
	minmax_reset(&tp->rtt_min, 0, 100);
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 17);
	/* A driver's own stays, and is left to who comes after. */
	sk->sk_pacing_shift = 8;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 8);
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 8);
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	sabul_init(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 17);
	sabul_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, LF_PACING_SHIFT);
}

/* What comes before each transmission is a question: the answer, and the pacing rate. */
static void sabul_only_answers(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100), *was;
	struct sock *sk = (struct sock *)tp;
	unsigned long rate;
	u32 i, changed = 0;

	was = kunit_kzalloc(test, sizeof(*was), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, was);
	sabul_test_rate(tp, 12000);
	tp->packets_out = 100;
	for (i = 0; i < 101; i++) {
		tp->data_segs_out++;
		/* The last time after a pause. */
		if (i == 100) {
			tp->packets_out = 0;
			tp->lsndtime = tcp_jiffies32 - 10 * HZ;
		}
		memcpy(was, tp, sizeof(*was));
		KUNIT_EXPECT_EQ(test, sabul_min_tso_segs(sk), 1U);
		rate = sk->sk_pacing_rate;
		changed += rate != ((struct sock *)was)->sk_pacing_rate;
		((struct sock *)was)->sk_pacing_rate = rate;
		KUNIT_ASSERT_EQ(test, memcmp(was, tp, sizeof(*was)), 0);
	}
	KUNIT_EXPECT_GT(test, changed, 50U);
}

/* Slow start's rate is the kernel's, by its ratio; 0 is no pacing, below SO_MAX_PACING_RATE. */
static void sabul_hook_ratio(struct kunit *test)
{
	struct tcp_sock *tp = sabul_test_sock(test, 100);
	struct sock *sk = (struct sock *)tp;
	int was = init_net.ipv4.sysctl_tcp_pacing_ss_ratio;

	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = 150;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 2172000UL);
	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = 0;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, ~0UL - 1);
	sk->sk_max_pacing_rate = 1000;
	sabul_apply(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = was;
}

/* Any sequence of events: nothing is 0, nothing overflows. */
static void sabul_hook_fuzz(struct kunit *test)
{
	struct rnd_state rnd;
	u32 run, step;

	prandom_seed_state(&rnd, 6);
	for (run = 0; run < 300; run++) {
		struct tcp_sock *tp = sabul_test_sock(test,
					lf_random_window(&rnd) % 100000 + 1);
		struct sock *sk = (struct sock *)tp;

		sabul_of(tp)->once = run & 1;
		sabul_of(tp)->cap = run >> 1 & 1;
		sabul_of(tp)->probe = run % 7;
		/* The law's at both ends of their ranges, too. */
		if (run & 4) {
			struct sabul *ca = sabul_of(tp);
			bool high = run & 8;

			ca->t_ms = high ? 1000 : 1;
			ca->alpha = sabul_ppm(high ? 10000 : 1);
			ca->k1 = run & 16 ? 1000 : 1;
			ca->k2 = run & 32 ? 50000 : 1;
			ca->c = run & 16 ? 10000 : 1;
			ca->v = high ? 255 : 1;
			ca->strength = sabul_strongest;
			ca->probed_ms = 60000;
		}
		for (step = 0; step < 400; step++) {
			u32 what = prandom_u32_state(&rnd) % 64;
			u32 k = prandom_u32_state(&rnd) % 1000;
			u32 us = prandom_u32_state(&rnd) >> (what % 32);
			const char *when = "ack";

			tp->is_cwnd_limited = what & 1;
			tp->rate_delivered = k;
			tp->rate_interval_us = us;
			tp->prior_cwnd = tcp_snd_cwnd(tp);
			if (what < 36) {
				sabul_test_ack(tp, us, k, 0, tp->delivered - k);
			} else if (what < 48) {
				when = "loss";
				if (what & 1)
					tp->snd_ssthresh = sabul_ssthresh(sk);
				sabul_test_ack(tp, us % 50000, k, k * what,
					       tp->delivered);
			} else if (what < 50) {
				when = "timeout";
				tp->lost += k;
				tp->snd_ssthresh = sabul_ssthresh(sk);
				tcp_snd_cwnd_set(tp,
						 tcp_packets_in_flight(tp) + 1);
				sabul_set_state(sk, TCP_CA_Loss);
			} else if (what < 52) {
				when = "mark";
				tp->delivered_ce += what & 1;
				tp->snd_ssthresh = sabul_ssthresh(sk);
				sabul_set_state(sk, TCP_CA_CWR);
			} else if (what < 55) {
				when = "undo";
				tcp_snd_cwnd_set(tp, sabul_undo_cwnd(sk));
			} else if (what < 57) {
				when = "idle";
				tp->packets_out = 0;
				tp->lsndtime = tcp_jiffies32 - k * HZ;
				sabul_min_tso_segs(sk);
				sabul_tx_start(sk);
				tp->packets_out = 2;
			} else if (what < 59) {
				when = "probe";
				tp->mss_cache = 48 + us % 9000;
				sabul_test_ack(tp, us, k, 0, tp->delivered - k);
			} else if (what < 61) {
				when = "rtt";
				tp->srtt_us = max(us, 1U);
				minmax_reset(&tp->rtt_min, 0, us >> 4);
			} else {
				when = "clamp";
				tp->snd_cwnd_clamp = what & 1 ? U32_MAX : k + 1;
				sabul_test_ack(tp, us, k, 0, tp->delivered - k);
			}
			sabul_audit(test, tp, when);
		}
		kunit_kfree(test, tp);
	}
}

static void sabul_hook_get_info(struct kunit *test)
{
	lf_test_get_info(test);
}

static void sabul_hook_registered(struct kunit *test)
{
	lf_test_registered(test, &sabul_ops, "sabul", sizeof(struct sabul));
	lf_test_tx_start(test, &sabul_ops);
}

static const struct lf_test_params sabul_params[] = {
	{ "t", { "1", "1000", "20" }, "0", "1001" },
	{ "alpha", { "1", "10000", "1000" }, "0", "10001" },
	{ "k1", { "1", "1000", "125" }, "0", "1001" },
	{ "k2", { "1", "50000", "10000" }, "0", "50001" },
	{ "c", { "1", "10000", "2000" }, "0", "10001" },
	{ "b", { "1", "10000", "500" }, "0", "10001" },
	{ "d", { "1", "10000", "100" }, "0", "10001" },
	{ "v", { "1", "255", "10" }, "0", "256" },
	{ "probe", { "0", "6", "4" }, NULL, NULL },
	{ "cap", { "N", "Y" } },
	{ "once", { "N", "Y" } },
	{ "slow_start", { "hystart++", "limited", "classic", "train" } },
};

static void sabul_params_checked(struct kunit *test)
{
	lf_test_params_checked(test, sabul_params, ARRAY_SIZE(sabul_params));
	lf_test_set(test, "probe", "7", -ERANGE);
}

/* Parameters hold for the life of a connection. */
static void sabul_params_taken(struct kunit *test)
{
	static const struct {
		const char *name, *val, *standard;
	} all[] = {
		{ "t", "50", "20" }, { "alpha", "5000", "1000" },
		{ "k1", "250", "125" }, { "k2", "5000", "10000" },
		{ "c", "3000", "2000" }, { "b", "700", "500" },
		{ "d", "300", "100" }, { "v", "20", "10" },
		{ "probe", "2", "4" }, { "cap", "N", "Y" },
		{ "once", "N", "Y" },
	};
	struct tcp_sock *old = sabul_test_sock(test, 100);
	struct sabul *was = sabul_of(old), *ca;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		lf_test_set(test, all[i].name, all[i].val, 0);
	ca = sabul_of(sabul_test_sock(test, 100));
	for (i = 0; i < ARRAY_SIZE(all); i++)
		lf_test_set(test, all[i].name, all[i].standard, 0);
	KUNIT_EXPECT_EQ(test, ca->t_ms, 50);
	KUNIT_EXPECT_EQ(test, ca->alpha, sabul_ppm(5000));
	KUNIT_EXPECT_EQ(test, ca->k1, 250);
	KUNIT_EXPECT_EQ(test, ca->k2, 5000);
	KUNIT_EXPECT_EQ(test, ca->c, 3000);
	KUNIT_EXPECT_EQ(test, ca->b, 700);
	KUNIT_EXPECT_EQ(test, ca->d, 300);
	KUNIT_EXPECT_EQ(test, ca->v, 20);
	KUNIT_EXPECT_TRUE(test, ca->probe == 2);
	KUNIT_EXPECT_FALSE(test, ca->cap);
	KUNIT_EXPECT_FALSE(test, ca->once);
	KUNIT_EXPECT_EQ(test, was->t_ms, 20);
	KUNIT_EXPECT_TRUE(test, was->cap);
	KUNIT_EXPECT_TRUE(test, was->once);
}

static struct kunit_case sabul_law_cases[] = {
	KUNIT_CASE(sabul_law_single),
	KUNIT_CASE(sabul_law_sequences),
	KUNIT_CASE(sabul_law_bounds),
	KUNIT_CASE(sabul_law_never_stuck),
	KUNIT_CASE(sabul_law_cap),
	KUNIT_CASE(sabul_law_probing),
	KUNIT_CASE(sabul_law_probing_late),
	{}
};

static struct kunit_case sabul_interval_cases[] = {
	KUNIT_CASE(sabul_interval_growth),
	KUNIT_CASE(sabul_interval_clumps),
	KUNIT_CASE(sabul_interval_held),
	KUNIT_CASE(sabul_interval_unused),
	KUNIT_CASE(sabul_interval_trickle),
	KUNIT_CASE(sabul_interval_alpha),
	KUNIT_CASE(sabul_overflow_once),
	KUNIT_CASE(sabul_overflow_rest),
	KUNIT_CASE(sabul_overflow_strength),
	KUNIT_CASE(sabul_overflow_late),
	KUNIT_CASE(sabul_after_outage),
	KUNIT_CASE(sabul_overflow_grows),
	KUNIT_CASE(sabul_overflow_exact),
	KUNIT_CASE(sabul_overflow_fast),
	{}
};

static struct kunit_case sabul_hook_cases[] = {
	KUNIT_CASE(sabul_start_by_loss),
	KUNIT_CASE(sabul_start_rates),
	KUNIT_CASE(sabul_start_by_ssthresh),
	KUNIT_CASE(sabul_first_slow_start),
	KUNIT_CASE(sabul_start_unused),
	KUNIT_CASE(sabul_timeout),
	KUNIT_CASE(sabul_timeout_in_flight),
	KUNIT_CASE(sabul_timeout_marked),
	KUNIT_CASE(sabul_narrower_path),
	KUNIT_CASE(sabul_marks),
	KUNIT_CASE(sabul_marks_in_recovery),
	KUNIT_CASE(sabul_undone),
	KUNIT_CASE(sabul_undone_asking),
	KUNIT_CASE(sabul_idle),
	KUNIT_CASE(sabul_hook_before_init),
	KUNIT_CASE(sabul_hook_syn_lost),
	KUNIT_CASE(sabul_hook_before_connect),
	KUNIT_CASE(sabul_hook_fq_gone),
	KUNIT_CASE(sabul_hook_switch),
	KUNIT_CASE(sabul_hook_mtu_probe),
	KUNIT_CASE(sabul_hook_limits),
	KUNIT_CASE(sabul_hook_rates),
	KUNIT_CASE(sabul_hook_uneven),
	KUNIT_CASE(sabul_hook_ratio),
	KUNIT_CASE(sabul_only_answers),
	KUNIT_CASE(sabul_hook_fuzz),
	KUNIT_CASE(sabul_hook_get_info),
	KUNIT_CASE(sabul_hook_registered),
	{}
};

static struct kunit_case sabul_params_cases[] = {
	KUNIT_CASE(sabul_params_checked),
	KUNIT_CASE(sabul_params_taken),
	{}
};

static struct kunit_suite sabul_law_suite = {
	.name = "sabul_law",
	.test_cases = sabul_law_cases,
};

static struct kunit_suite sabul_intervals = {
	.name = "sabul_intervals",
	.test_cases = sabul_interval_cases,
};

static struct kunit_suite sabul_hook_suite = {
	.name = "sabul_hooks",
	.test_cases = sabul_hook_cases,
};

static struct kunit_suite sabul_parameters = {
	.name = "sabul_params",
	.test_cases = sabul_params_cases,
};

kunit_test_suites(&sabul_law_suite, &sabul_intervals, &sabul_hook_suite,
		  &sabul_parameters);
