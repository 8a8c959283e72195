// SPDX-License-Identifier: GPL-2.0
/*
 * How the first slow start ends: include/longfat/slow_start.h
 *
 * Sequence numbers are packets.  The sender always has a whole window in flight.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kunit/test.h>
#include <linux/module.h>
#include <net/tcp.h>

#include <longfat/slow_start.h>

#include "sample.h"
#include "sock.h"

#define START_RTT	100000U		/* microseconds */
#define START_NOW	(5 * NSEC_PER_SEC)

struct start {
	struct tcp_sock *tp;
	struct lf_slow_start ss;
};

static struct sock *start_sk(const struct start *s)
{
	return (struct sock *)s->tp;
}

/* @cwnd packets in flight, and what is acknowledged before belongs to no train. */
static void start_begin(struct kunit *test, struct start *s,
			enum lf_slow_start_way way, u32 cwnd)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, ~0U);

	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->tcp_clock_cache = START_NOW;
	tp->delivered = 1;
	tp->snd_nxt = cwnd;
	s->tp = tp;
	start_sk(s)->sk_pacing_status = SK_PACING_FQ;
	/* What another algorithm left behind does not matter. */
	memset(&s->ss, 0xff, sizeof(s->ss));
	lf_slow_start_begin(start_sk(s), &s->ss, way);
}

/*
 * An ACK for @n packets, the newest of which was acknowledged after @rtt_us.  Packets
 * left at the rate at which they are acknowledged: that is no train.
 */
static u32 start_ack(struct start *s, u32 n, u32 rtt_us)
{
	struct tcp_sock *tp = s->tp;

	tp->tcp_clock_cache += n * 10 * NSEC_PER_USEC;
	tp->rack.mstamp = div_u64(tp->tcp_clock_cache, NSEC_PER_USEC) + rtt_us;
	tp->rack.rtt_us = rtt_us;
	tp->snd_una += n;
	tp->delivered += n;
	lf_slow_start(start_sk(s), &s->ss, n);
	tp->snd_nxt = max(tp->snd_nxt, tp->snd_una + tcp_snd_cwnd(tp));
	return tcp_snd_cwnd(tp);
}

/* All up to @end is acknowledged, one by one. */
static u32 start_acks(struct start *s, u32 end, u32 rtt_us)
{
	while (before(s->tp->snd_una, end))
		start_ack(s, 1, rtt_us);
	return tcp_snd_cwnd(s->tp);
}

/*
 * All that is in flight is acknowledged: a round trip.  What its last ACK lets leave is not
 * in the next one, so let that one begin again, to count in powers of 2.
 */
static u32 start_round(struct start *s, u32 rtt_us)
{
	u32 w = start_acks(s, s->tp->snd_nxt, rtt_us);

	s->ss.round_end = s->tp->snd_nxt;
	return w;
}

/* --- RFC 9406 ------------------------------------------------------------ */

/* A round trip ends when what was sent at its beginning is acknowledged: windowEnd. */
static void start_rounds(struct kunit *test)
{
	struct start s;
	u32 i, end = 10;

	start_begin(test, &s, LF_HYSTART, 10);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, s.ss.round_end, 10U);
	KUNIT_EXPECT_EQ(test, s.ss.last_us, ~0U);
	KUNIT_EXPECT_EQ(test, s.ss.round_us, ~0U);
	for (i = 0; i < 6; i++) {
		KUNIT_EXPECT_EQ(test, s.ss.round_end, end);
		/* The least counts, and not that of its end. */
		start_ack(&s, 1, START_RTT + i);
		KUNIT_EXPECT_EQ(test, s.ss.round_us, START_RTT + i);
		start_ack(&s, 1, START_RTT - i);
		KUNIT_EXPECT_EQ(test, s.ss.round_us, START_RTT - i);
		start_acks(&s, end - 1, START_RTT + 1000);
		KUNIT_EXPECT_EQ(test, s.ss.round_us, START_RTT - i);
		KUNIT_EXPECT_EQ(test, s.ss.round_end, end);
		/* The last packet of it: windowEnd is the SND.NXT before that. */
		end = s.tp->snd_nxt;
		start_ack(&s, 1, START_RTT + 1000);
		KUNIT_EXPECT_EQ(test, s.ss.last_us, START_RTT - i);
		KUNIT_EXPECT_EQ(test, s.ss.round_us, ~0U);
		KUNIT_EXPECT_EQ(test, s.ss.samples, 0);
		KUNIT_EXPECT_EQ(test, s.ss.round_end, end);
		KUNIT_EXPECT_EQ(test, s.tp->snd_nxt, end + 2);
	}
}

/* A round trip of @base, and @n ACKs with @rtt_us of the next one. */
static void start_rise(struct kunit *test, struct start *s, u32 base, u32 rtt_us,
		       u32 n)
{
	start_begin(test, s, LF_HYSTART, 64);
	start_round(s, base);
	while (n--)
		start_ack(s, 1, rtt_us);
}

/* Eight RTTs make a minimum that says something: N_RTT_SAMPLE. */
static void start_filter(struct kunit *test)
{
	struct start s;
	u32 n;

	for (n = 1; n <= 7; n++) {
		start_rise(test, &s, START_RTT, 2 * START_RTT, n);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 128 + n);
	}
	start_rise(test, &s, START_RTT, 2 * START_RTT, 8);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
	KUNIT_EXPECT_EQ(test, s.ss.css_us, 2 * START_RTT);
	/* One of the eight that is as low as before, and it is none. */
	start_rise(test, &s, START_RTT, 2 * START_RTT, 7);
	start_ack(&s, 1, START_RTT);
	start_acks(&s, s.ss.round_end, 2 * START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	/* There is nothing to compare the first round trip with. */
	start_begin(test, &s, LF_HYSTART, 64);
	start_round(&s, 2 * START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	/* ACKs for two packets each: eight of them still. */
	start_rise(test, &s, START_RTT, 2 * START_RTT, 0);
	for (n = 1; n <= 8; n++) {
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		start_ack(&s, 2, 2 * START_RTT);
	}
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
}

/* RttThresh is an eighth of the last minimum, 4 ms at least, 16 ms at most. */
static void start_thresh(struct kunit *test)
{
	static const struct {
		u32 last_us, thresh_us;
	} all[] = {
		{ 1, 4000 }, { 1000, 4000 }, { 31999, 4000 }, { 32000, 4000 },
		{ 32008, 4001 }, { 40000, 5000 }, { 100000, 12500 },
		{ 127992, 15999 }, { 128000, 16000 }, { 136000, 16000 },
		{ 300000, 16000 }, { 10000000, 16000 }, { 60000000, 16000 },
	};
	struct start s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		u32 rtt_us = all[i].last_us + all[i].thresh_us;

		start_rise(test, &s, all[i].last_us, rtt_us - 1, 64);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		start_rise(test, &s, all[i].last_us, rtt_us, 64);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
		KUNIT_EXPECT_EQ(test, s.ss.css_us, rtt_us);
	}
}

/* In CSS the window grows by a quarter, whatever an ACK acknowledges at once. */
static void start_css_grows(struct kunit *test)
{
	static const u32 stretches[] = { 1, 2, 3, 4, 5, 7, 16 };
	struct start s;
	u32 i, acked, w;

	for (i = 0; i < ARRAY_SIZE(stretches); i++) {
		start_rise(test, &s, START_RTT, 2 * START_RTT, 8);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_CSS);
		/* The eighth already counts a quarter. */
		w = tcp_snd_cwnd(s.tp);
		KUNIT_EXPECT_EQ(test, w, 128U + 7);
		KUNIT_EXPECT_EQ(test, s.ss.owed, 1U);
		for (acked = 0; acked < 100; ) {
			acked += stretches[i];
			KUNIT_EXPECT_EQ(test, start_ack(&s, stretches[i],
							2 * START_RTT),
					w + (acked + 1) / 4);
		}
		KUNIT_EXPECT_EQ(test, s.ss.owed, (acked + 1) % 4);
	}
}

/* After five round trips of CSS, the one in which it began included, it is over. */
static void start_css_rounds(struct kunit *test)
{
	struct start s;
	u32 i, w;

	start_rise(test, &s, START_RTT, 2 * START_RTT, 8);
	for (i = 1; i <= 5; i++) {
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
		KUNIT_EXPECT_EQ(test, s.ss.rounds, 6 - i);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh,
				(u32)TCP_INFINITE_SSTHRESH);
		start_acks(&s, s.ss.round_end, 2 * START_RTT);
	}
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
	w = tcp_snd_cwnd(s.tp);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, w);
	KUNIT_EXPECT_FALSE(test, tcp_in_slow_start(s.tp));
	/* A quarter in each: of the 120 packets left of the first, then of all. */
	KUNIT_EXPECT_GE(test, w, (135 + 120 / 4) * 625 / 256 - 3U);
	KUNIT_EXPECT_LE(test, w, (135 + 120 / 4) * 625 / 256 + 3U);
}

/* An RTT below that at which CSS began: no queue, and slow start goes on. */
static void start_resumes(struct kunit *test)
{
	u32 base = 2 * START_RTT, n, w;
	struct start s;

	/* As high as that: no. */
	start_rise(test, &s, START_RTT, base, 8);
	start_round(&s, base);
	start_round(&s, base);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);

	/* The round trip in which CSS began has its samples already. */
	start_rise(test, &s, START_RTT, base, 8);
	w = tcp_snd_cwnd(s.tp);
	start_ack(&s, 1, base - 1);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), w + 1);
	KUNIT_EXPECT_EQ(test, s.ss.last_us, START_RTT);

	/* In another one, eight are needed. */
	start_rise(test, &s, START_RTT, base, 8);
	start_acks(&s, s.ss.round_end, base);
	KUNIT_ASSERT_EQ(test, s.ss.samples, 0);
	for (n = 1; n <= 8; n++) {
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
		start_ack(&s, 1, base - 1);
	}
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	w = tcp_snd_cwnd(s.tp);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 5, base), w + 5);

	/* And CSS may come back, for another five round trips. */
	start_acks(&s, s.ss.round_end, base - 1);
	start_acks(&s, s.ss.round_end - 1, 2 * base);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_CSS);
	KUNIT_EXPECT_EQ(test, s.ss.rounds, 5);
	KUNIT_EXPECT_EQ(test, s.ss.css_us, 2 * base);
}

/* L = 8 packets for an ACK where nothing paces, no limit where fq or TCP does. */
static void start_burst(struct kunit *test)
{
	struct start s;

	start_begin(test, &s, LF_HYSTART, 100);
	start_sk(&s)->sk_pacing_status = SK_PACING_NONE;
	KUNIT_EXPECT_EQ(test, start_ack(&s, 7, START_RTT), 107U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 8, START_RTT), 115U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 9, START_RTT), 123U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 60, START_RTT), 131U);
	s.ss.stage = LF_SS_CSS;
	s.ss.css_us = START_RTT;
	s.ss.rounds = 2;
	KUNIT_EXPECT_EQ(test, start_ack(&s, 60, START_RTT), 133U);
	s.ss.stage = LF_SS_GROW;
	start_sk(&s)->sk_pacing_status = SK_PACING_NEEDED;
	KUNIT_EXPECT_EQ(test, start_ack(&s, 60, START_RTT), 193U);
	start_sk(&s)->sk_pacing_status = SK_PACING_FQ;
	KUNIT_EXPECT_EQ(test, start_ack(&s, 60, START_RTT), 253U);
}

/* --- RFC 3742 ------------------------------------------------------------ */

/* Above 100 packets a packet for each W / 50 acknowledged: 50 in a round trip. */
static void start_limited(struct kunit *test)
{
	struct start s;
	u32 w, acked, i;

	start_begin(test, &s, LF_LIMITED, 10);
	for (w = 10; w <= 100; w++)
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), w + 1);
	KUNIT_EXPECT_EQ(test, w, 101U);
	for (i = 0; i < 100; i++) {
		w = tcp_snd_cwnd(s.tp);
		for (acked = 0; acked < w; acked++)
			start_ack(&s, 1, START_RTT);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(s.tp) - w, 51U);
		KUNIT_EXPECT_GE(test, tcp_snd_cwnd(s.tp) - w, w < 200 ? 33U : 44U);
	}
	/* K = int(W / 50), and what is owed is not lost in stretch ACKs. */
	for (w = 101; w <= LF_WINDOW_MAX; w = lf_next_window(w, 400, 8)) {
		start_begin(test, &s, LF_LIMITED, w);
		for (i = 0; i < w / 50 - 1; i++)
			if (w < 4000)
				KUNIT_ASSERT_EQ(test, start_ack(&s, 1, 0), w);
		if (w < 4000)
			KUNIT_ASSERT_EQ(test, start_ack(&s, 1, 0), w + 1);
		start_begin(test, &s, LF_LIMITED, w);
		KUNIT_ASSERT_EQ(test, start_ack(&s, w / 50 * 7 + 1, 0), w + 7);
		KUNIT_ASSERT_EQ(test, s.ss.owed, 1U);
	}
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	/* What is owed of a large window is little at a small one, as after a pause. */
	start_begin(test, &s, LF_LIMITED, 20000);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 399, START_RTT), 20000U);
	tcp_snd_cwnd_set(s.tp, 150);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 151U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 30, START_RTT), 161U);
}

/* --- trains -------------------------------------------------------------- */

/*
 * An ACK for @n packets, @ns after the last one, for packets that left @sent_us after
 * those of the last one.
 */
static u32 start_train_ack(struct start *s, u32 n, u64 ns, u32 sent_us)
{
	struct tcp_sock *tp = s->tp;

	tp->tcp_clock_cache += ns;
	tp->rack.mstamp += sent_us;
	tp->rack.rtt_us = START_RTT;
	tp->snd_una += n;
	tp->delivered += n;
	lf_slow_start(start_sk(s), &s->ss, n);
	return tcp_snd_cwnd(tp);
}

/* Ten packets that left together, acknowledged in pairs, @ns for each packet. */
static void start_train(struct start *s, u32 ns)
{
	u32 i;

	for (i = 0; i < 5; i++)
		start_train_ack(s, 2, 2 * ns, 0);
}

/* The first ten packets tell how many the path holds: n RTT / t. */
static void start_first_train(struct kunit *test)
{
	/* 100 ms at 100 Mbit/s, 1 and 10 Gbit/s, 1500 bytes. */
	static const struct {
		u32 ns, target;
	} all[] = {
		{ 120000, 833 }, { 12000, 8333 }, { 1200, 83333 },
		{ 2000000, 50 }, { 100000, 1000 },
	};
	struct start s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		start_begin(test, &s, LF_TRAIN, 10);
		start_train(&s, all[i].ns);
		KUNIT_EXPECT_EQ(test, s.ss.target, all[i].target);
		/* One above the cap: the window stays in slow start there. */
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh,
				all[i].target + all[i].target / 16 + 1);
		KUNIT_EXPECT_EQ(test, s.ss.base_us, START_RTT);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 20U);
	}
	/* Six packets after the first ACK are enough, fewer are not. */
	start_begin(test, &s, LF_TRAIN, 10);
	start_train_ack(&s, 2, 100000, 0);
	start_train_ack(&s, 5, 500000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	start_train_ack(&s, 1, 100000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	/* All at once, a train of no length: no path is so fast. */
	start_begin(test, &s, LF_TRAIN, 10);
	start_train_ack(&s, 2, 0, 0);
	start_train_ack(&s, 30, 0, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 42U);
	/* Also ten of a short path: the next train is as a first one. */
	start_begin(test, &s, LF_TRAIN, 10);
	s.ss.base_us = 100;
	start_train_ack(&s, 2, 0, 0);
	start_train_ack(&s, 8, 0, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	start_train_ack(&s, 6, 600, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	/* TCP has no window for 2^20 packets. */
	for (i = 0; i < 2; i++) {
		start_begin(test, &s, LF_TRAIN, 10);
		start_train_ack(&s, 2, 100, 0);
		start_train_ack(&s, 8, 762 + i, 0);
		KUNIT_EXPECT_EQ(test, s.ss.target, i ? 1048492U : 0U);
	}
}

/* Packets that left over more than half of the time in which they came are none. */
static void start_train_apart(struct kunit *test)
{
	struct start s;
	u32 i;

	/* Eight packets in 800 us. */
	for (i = 0; i < 2; i++) {
		start_begin(test, &s, LF_TRAIN, 10);
		start_train_ack(&s, 2, 100000, 0);
		start_train_ack(&s, 8, 800000, 400 + i);
		KUNIT_EXPECT_EQ(test, s.ss.target, i ? 0U : 1000U);
	}
	/* Paced by the acknowledgments, however many. */
	start_begin(test, &s, LF_TRAIN, 10);
	for (i = 0; i < 500; i++)
		start_train_ack(&s, 1, 100000, 100);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	/* And the next ones that left together are one again. */
	start_train_ack(&s, 8, 8 * 50000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 2000U);
}

/*
 * The greatest target counts that two trains in sequence have; one below the window is known
 * to be wrong.
 */
static void start_train_greatest(struct kunit *test)
{
	struct start s;

	start_begin(test, &s, LF_TRAIN, 10);
	start_train(&s, 100000);
	KUNIT_ASSERT_EQ(test, s.ss.target, 1000U);
	start_train_ack(&s, 24, 24 * 200000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1063U);
	/* One train may be short because its first acknowledgment was late. */
	start_train_ack(&s, 24, 24 * 80000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	start_train_ack(&s, 24, 24 * 80000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1250U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1250U + 78 + 1);
	start_train_ack(&s, 24, 24 * 90000, 0);
	start_train_ack(&s, 24, 24 * 50000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1250U);
	/* Of two that are greater the lesser one. */
	start_train_ack(&s, 24, 24 * 62500, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1600U);
	/* One that came at once is as good as any for the next. */
	start_train_ack(&s, 24, 0, 0);
	start_train_ack(&s, 24, 0, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1600U);

	/* A later one is of as many packets as a quarter of the window, up to 24. */
	start_begin(test, &s, LF_TRAIN, 64);
	start_train(&s, 100000);
	KUNIT_ASSERT_EQ(test, s.ss.target, 1000U);
	start_train_ack(&s, 2, 1, 1000);
	start_train_ack(&s, 18, 18 * 50000, 0);
	start_train_ack(&s, 1, 1, 1000);
	start_train_ack(&s, 24, 24 * 50000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	start_train_ack(&s, 24, 24 * 50000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 2000U);

	/* Below the window, and at it. */
	start_begin(test, &s, LF_TRAIN, 1100);
	start_train(&s, 100000);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	start_begin(test, &s, LF_TRAIN, 992);
	start_train(&s, 100000);
	KUNIT_EXPECT_EQ(test, s.ss.target, 1000U);
	start_begin(test, &s, LF_TRAIN, 994);
	start_train(&s, 100000);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
}

/* At @cwnd with a target of 1600: 3/4 of it is 1200, 7/8 is 1400, the cap 1700. */
static void start_at_target(struct kunit *test, struct start *s, u32 cwnd)
{
	start_begin(test, s, LF_TRAIN, cwnd);
	s->ss.base_us = START_RTT;
	lf_train_aim(s->tp, &s->ss, 1600);
	KUNIT_ASSERT_EQ(test, s->tp->snd_ssthresh, 1701U);
}

/* Growth is 1 up to 3/4 of the target, 1/4 up to 7/8, 1/8 up to it, 1/16 above, 0 at the cap. */
static void start_train_growth(struct kunit *test)
{
	static const u32 stretches[] = { 1, 2, 3, 8, 45, 64 };
	struct start s;
	u32 i, w, acked, owed;

	for (i = 0; i < ARRAY_SIZE(stretches); i++) {
		u32 n = stretches[i];

		start_at_target(test, &s, 1000);
		for (w = 1000; w <= 1200; w += n)
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT),
					w + n);
		for (acked = 0; w + acked / 4 <= 1400;) {
			acked += n;
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT),
					w + acked / 4);
		}
		w += acked / 4;
		owed = acked % 4;
		for (acked = 0; w + (owed + acked) / 8 <= 1600;) {
			acked += n;
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT),
					w + (owed + acked) / 8);
		}
		w += (owed + acked) / 8;
		owed = (owed + acked) % 8;
		for (acked = n; w + (owed + acked) / 16 < 1700; acked += n)
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT),
					w + (owed + acked) / 16);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, start_ack(&s, n, START_RTT), 1700U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		for (acked = 0; acked < 1000; acked += n)
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT),
					1700U);
	}
	/* A raised target has quarters again: what is owed of sixteenths is less than one. */
	start_at_target(test, &s, 1650);
	start_ack(&s, 15, START_RTT);
	KUNIT_ASSERT_EQ(test, s.ss.owed, 15U);
	lf_train_aim(s.tp, &s.ss, 2000);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 1651U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 3, START_RTT), 1651U);
	/* One ACK for all of it does not pass the cap, from wherever. */
	for (w = 2; w <= 1700; w += 7) {
		start_at_target(test, &s, w);
		KUNIT_EXPECT_LE(test, start_ack(&s, 10000, START_RTT), 1700U);
		KUNIT_EXPECT_LE(test, start_ack(&s, 10000, START_RTT), 1700U);
	}
}

/* At the cap, in HOLD. */
static void start_at_cap(struct kunit *test, struct start *s)
{
	start_at_target(test, s, 1699);
	start_ack(s, 16, START_RTT);
	KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(s->tp), 1700U);
	KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_HOLD);
}

/* @n round trips at the cap, of RTTs @rtt_us, to the last packet but one. */
static void start_hold(struct start *s, u32 n, u32 rtt_us)
{
	while (n--) {
		start_acks(s, s->ss.round_end - 1, rtt_us);
		if (n)
			start_ack(s, 1, rtt_us);
	}
}

/* Behind a queue: a round trip with less, then an RTT without one.  Slow start is over. */
static void start_ours(struct kunit *test, struct start *s)
{
	u32 queue = s->ss.train, held = s->ss.owed, full, low, acked;

	if (s->ss.level == LF_ALARM_LEVEL_MAX) {
		KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_OVER);
		return;
	}
	KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_DRAIN);
	KUNIT_EXPECT_EQ(test, s->tp->snd_ssthresh, tcp_snd_cwnd(s->tp) + 1);
	/* In the first one they tell nothing. */
	start_hold(s, 1, s->ss.base_us);
	KUNIT_EXPECT_TRUE(test, s->ss.stage == LF_SS_DRAIN);
	start_ack(s, 1, queue);
	KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_ASK);
	start_ack(s, 1, queue - (queue - s->ss.base_us) / 8);
	KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_ASK);
	start_ack(s, 1, queue - (queue - s->ss.base_us) / 8 - 1);
	KUNIT_ASSERT_TRUE(test, s->ss.stage == LF_SS_RISE);
	full = s->tp->snd_ssthresh;
	KUNIT_EXPECT_EQ(test, full, max(lf_train_full(&s->ss, held, queue), 2U));
	/* Up to what the path holds, one for eight. */
	low = tcp_snd_cwnd(s->tp);
	for (acked = 0; tcp_in_slow_start(s->tp); acked++)
		KUNIT_ASSERT_EQ(test, start_ack(s, 1, s->ss.base_us),
				low + (acked + 1) / 8);
	KUNIT_EXPECT_EQ(test, acked, 8 * (full - low));
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s->tp), full);
	KUNIT_EXPECT_TRUE(test, s->ss.stage == LF_SS_OVER);
}

/*
 * The queue was our own, and the path holds 1000 packets.  Any stretch ends at them.  A loss
 * there is answered gently, and its undoing begins nothing; after a cut the kernel's goes on.
 */
static void start_rises(struct kunit *test)
{
	static const u32 stretches[] = { 1, 7, 8, 100, 1000, 100000 };
	struct start s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stretches); i++) {
		u32 n = stretches[i], sum;

		start_begin(test, &s, LF_TRAIN, 938);
		s.ss.stage = LF_SS_RISE;
		s.tp->snd_ssthresh = 1000;
		for (sum = n; sum < 62 * 8; sum += n) {
			KUNIT_ASSERT_EQ(test, start_ack(&s, n, START_RTT), 938 + sum / 8);
			KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_RISE);
		}
		KUNIT_EXPECT_EQ(test, start_ack(&s, n, START_RTT), 1000U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
	}
	for (i = 0; i < 2; i++) {
		start_begin(test, &s, LF_TRAIN, 938);
		s.ss.stage = LF_SS_RISE;
		s.tp->snd_ssthresh = 1000;
		if (i) {
			KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 938, 760),
					760U);
			s.tp->snd_ssthresh = 760;
			lf_slow_start_undo(start_sk(&s), &s.ss);
			KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 760U);
		} else {
			tcp_snd_cwnd_set(s.tp, 937);
			KUNIT_EXPECT_EQ(test, start_ack(&s, 8, START_RTT), 945U);
		}
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
	}
}

/* A round trip at the cap, then one whose RTTs are 1/64 above the least: full. */
static void start_confirmed(struct kunit *test)
{
	u32 queue = START_RTT / 64;
	struct start s;

	start_at_cap(test, &s);
	/* In the first one they tell nothing: those packets left before. */
	start_hold(&s, 1, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_TELL);
	start_hold(&s, 1, START_RTT + queue);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_TELL);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 1700U);
	KUNIT_EXPECT_EQ(test, s.ss.round_us, START_RTT + queue);
	/* 1700 * 64/65. */
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT + queue), 1673U - 1673 / 16);
	start_ours(test, &s);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 1673U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1673U);
	KUNIT_EXPECT_FALSE(test, tcp_in_slow_start(s.tp));
}

/* One RTT of the second round trip is less: the target was too low, a quarter more. */
static void start_refuted(struct kunit *test)
{
	u32 queue = START_RTT / 64, i, n, target = 1600, cap = 1700;
	struct start s;

	start_at_cap(test, &s);
	for (i = 1; i <= 3; i++) {
		start_hold(&s, 1, START_RTT + queue);
		start_ack(&s, 1, START_RTT + queue);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_TELL);
		/* Also the very last one. */
		start_hold(&s, 1, START_RTT + queue);
		start_ack(&s, 4, START_RTT + queue - 1);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, (u32)s.ss.tries, i);
		if (i == 3)
			break;
		target += target / 4;
		KUNIT_EXPECT_EQ(test, s.ss.target, target);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh,
				target + target / 16 + 1);
		KUNIT_EXPECT_GT(test, tcp_snd_cwnd(s.tp), cap);
		cap = target + target / 16;
		for (n = 0; n < 8000 && s.ss.stage == LF_SS_GROW; n++)
			start_ack(&s, 1, START_RTT);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), cap);
	}
	/* The third was no better: no trains, and the window doubles. */
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), cap + 4);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 50, START_RTT), cap + 54);
	start_train_ack(&s, 2, 1, 1000);
	start_train_ack(&s, 500, 500 * 10000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
}

/* The window at the end is what the path holds, W RTT_min / RTT. */
static void start_full(struct kunit *test)
{
	struct start s;
	u32 rtt;

	start_at_cap(test, &s);
	start_hold(&s, 2, 2 * START_RTT);
	start_ack(&s, 1, 150000);
	start_ours(test, &s);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 1700U * 10 / 15);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1700U * 10 / 15);
	for (rtt = START_RTT; rtt < LF_RTT_MOST; rtt += rtt / 9) {
		KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, 1700, rtt),
				clamp_t(u32, div_u64(1700ULL * START_RTT, rtt), 850, 1700));
	}
	/* Windows and times of any size. */
	s.ss.base_us = LF_RTT_MOST;
	KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, BIT(30), LF_RTT_MOST),
			(u32)BIT(30));
	s.ss.base_us = LF_RTT_MOST / 2;
	KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, BIT(30), LF_RTT_MOST),
			(u32)BIT(29));
	s.ss.base_us = 1;
	KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, 1000, LF_RTT_MOST), 500U);
	KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, 3, LF_RTT_MOST), 2U);
	KUNIT_EXPECT_EQ(test, lf_train_full(&s.ss, 1, LF_RTT_MOST), 1U);
}

/* --- alarms -------------------------------------------------------------- */

/* Of each level: the RTTs of which so many in sequence are an alarm. */
static u32 start_alarm_us(u32 base_us, u32 level)
{
	return base_us + (max(base_us / 16, 500U) << level);
}

static u32 start_alarm_rtts(u32 level)
{
	return level ? 8 : 4;
}

/* And those which round trips behind it have to have, and how many. */
static u32 start_told_us(u32 base_us, u32 level)
{
	return start_alarm_us(base_us, level ? level - 1 : 0);
}

static u32 start_told_rounds(u32 level)
{
	return level ? 2 + level : 3;
}

/* RTTs in sequence stop the window; one that is less begins anew. */
static void start_alarm(struct kunit *test)
{
	static const u32 bases[] = { 100, 7999, 8000, START_RTT, 60000000 };
	u32 i, level, n, high, w, una;
	struct start s;

	for (i = 0; i < 4 * ARRAY_SIZE(bases); i++) {
		u32 base = bases[i / 4];

		level = i % 4;
		high = start_alarm_us(base, level);
		start_begin(test, &s, LF_TRAIN, 100);
		s.ss.level = level;
		start_ack(&s, 1, base);
		for (n = 1; n < start_alarm_rtts(level); n++)
			start_ack(&s, 1, high);
		start_ack(&s, 1, high - 1);
		for (n = 1; n < start_alarm_rtts(level); n++)
			start_ack(&s, 1, high);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		w = tcp_snd_cwnd(s.tp);
		KUNIT_EXPECT_EQ(test, w, 100 + 2 * start_alarm_rtts(level));
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, high), w);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		una = s.tp->snd_una;
		/* All RTTs of the round trips after the next one. */
		high = start_told_us(base, level);
		n = start_told_rounds(level) + 1;
		start_hold(&s, n, high);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_TELL);
		KUNIT_EXPECT_LE(test, lf_apart(s.tp->snd_una - una, n * w),
				2ULL * n);
		start_ack(&s, 1, high);
		start_ours(test, &s);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), lf_train_full(&s.ss, w, high));
	}
}

/*
 * The queue stays with less than the path holds, so it is none, or not ours: slow start goes on,
 * with the RTT that there is and a target as much higher.  Three times, then it is over.
 */
static void start_longer(struct kunit *test)
{
	u32 rtt = START_RTT, target = 1600, i;
	struct start s;

	start_at_cap(test, &s);
	for (i = 1; i <= LF_ALARM_LEVEL_MAX + 1; i++) {
		u32 w = tcp_snd_cwnd(s.tp), less, before = rtt;

		rtt += rtt / 4;
		start_hold(&s, 2, rtt);
		less = start_ack(&s, 1, rtt);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == (i <= LF_ALARM_LEVEL_MAX ? LF_SS_DRAIN :
						       LF_SS_OVER));
		if (i > LF_ALARM_LEVEL_MAX)
			break;
		KUNIT_EXPECT_LT(test, less, w * 4 / 5);
		start_hold(&s, 2, rtt);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_ASK);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), less);
		start_ack(&s, 4, rtt);
		target = div_u64((u64)target * rtt, before);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, s.ss.base_us, rtt);
		KUNIT_EXPECT_EQ(test, (u32)s.ss.level, i);
		KUNIT_EXPECT_EQ(test, s.ss.target, target);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, target + target / 16 + 1);
		KUNIT_EXPECT_GT(test, tcp_snd_cwnd(s.tp), less);
		while (s.ss.stage == LF_SS_GROW)
			start_ack(&s, 1, rtt);
	}
	/* Without a target there is none behind it, nor after a cut or an undo in between. */
	for (i = 0; i < 4; i++) {
		start_begin(test, &s, LF_TRAIN, 1000);
		s.ss.base_us = START_RTT;
		lf_train_hold(s.tp, &s.ss, 1000);
		s.ss.stage = LF_SS_TELL;
		s.ss.rounds = 1;
		start_hold(&s, 1, 2 * START_RTT);
		start_ack(&s, 1, 2 * START_RTT);
		start_hold(&s, 2, 2 * START_RTT);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_ASK);
		if (i == 1)
			tcp_snd_cwnd_set(s.tp, 10);
		/* Also with a window that has not come down to ssthresh yet. */
		if (i == 3)
			tcp_snd_cwnd_set(s.tp, 600);
		if (i >= 2) {
			KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 465, 400),
					400U);
			s.tp->snd_ssthresh = 400;
			lf_slow_start_undo(start_sk(&s), &s.ss);
		} else {
			start_ack(&s, 1, 2 * START_RTT);
		}
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
		KUNIT_EXPECT_EQ(test, s.ss.train, 0U);
	}
}

/* With a target, and where few packets are in flight, no alarm is of level 0. */
static void start_alarm_levels(struct kunit *test)
{
	struct start s;
	u32 i, n, w;

	for (i = 0; i < 2; i++) {
		u32 high = start_alarm_us(START_RTT, 1);

		start_begin(test, &s, LF_TRAIN, i ? 500 : 20);
		start_ack(&s, 1, START_RTT);
		if (i)
			lf_train_aim(s.tp, &s.ss, 1600);
		for (n = 0; n < 30; n++)
			start_ack(&s, 1, high - 1);
		for (n = 0; n < 7; n++)
			start_ack(&s, 1, high);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		w = tcp_snd_cwnd(s.tp);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, high), w);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		/* A false one: the next is of the level above. */
		start_hold(&s, 2, START_RTT);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, (u32)s.ss.level, 2U);
	}
	/* At 63 packets and at 64. */
	for (i = 63; i <= 64; i++) {
		start_begin(test, &s, LF_TRAIN, i);
		s.tp->snd_cwnd_clamp = i;
		start_ack(&s, 1, START_RTT);
		for (n = 0; n < 4; n++)
			start_ack(&s, 1, start_alarm_us(START_RTT, 0));
		KUNIT_EXPECT_TRUE(test, s.ss.stage ==
				  (i < 64 ? LF_SS_GROW : LF_SS_HOLD));
	}
}

/* Each false alarm raises the level, up to half of the RTT. */
static void start_false_alarms(struct kunit *test)
{
	static const u8 levels[] = { 0, 1, 2, 3, 3, 3 };
	struct start s;
	u32 i, n, high, w;

	start_begin(test, &s, LF_TRAIN, 100);
	start_ack(&s, 1, START_RTT);
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		KUNIT_ASSERT_EQ(test, (u32)s.ss.level, (u32)levels[i]);
		high = start_alarm_us(START_RTT, levels[i]);
		KUNIT_ASSERT_LE(test, high, START_RTT * 3 / 2);
		for (n = 0; n < 50; n++)
			start_ack(&s, 1, high - 1);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_GROW);
		for (n = 0; n < start_alarm_rtts(levels[i]); n++)
			start_ack(&s, 1, high);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		high = start_told_us(START_RTT, levels[i]);
		start_hold(&s, start_told_rounds(levels[i]) + 1, high);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_TELL);
		KUNIT_EXPECT_EQ(test, s.ss.rounds, 1);
		w = tcp_snd_cwnd(s.tp);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 3, high - 1), w + 3);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, (u32)s.ss.tries, 0U);
	}
	KUNIT_EXPECT_EQ(test, START_RTT + START_RTT / 2,
			start_alarm_us(START_RTT, LF_ALARM_LEVEL_MAX));
}

/* --- loss and its undoing ------------------------------------------------ */

/* Slow start has doubled the window since the lost packet left: half of it. */
static void start_halves(struct kunit *test)
{
	static const enum lf_slow_start_way ways[] = {
		LF_TRAIN, LF_HYSTART, LF_LIMITED,
	};
	struct start s;
	u32 i, w;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 100, 4)) {
			start_begin(test, &s, ways[i], w);
			KUNIT_EXPECT_EQ(test,
					lf_slow_start_loss(start_sk(&s), &s.ss, w,
							   w + 7),
					max(w / 2, 2U));
			KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
			/* The next one is not slow start's. */
			KUNIT_EXPECT_EQ(test,
					lf_slow_start_loss(start_sk(&s), &s.ss, w,
							   w + 7), w + 7);
			kunit_kfree(test, s.tp);
		}
	/* In CSS. */
	start_rise(test, &s, START_RTT, 2 * START_RTT, 8);
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			450U);
	/* Never less than the algorithm's own decrease leaves, if that is less. */
	start_begin(test, &s, LF_LIMITED, 900);
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 440),
			440U);
}

/* A cut while it is asked whose queue it is: the RTT with it is no train's target. */
static void start_cut_asked(struct kunit *test)
{
	struct start s;
	u32 asked;

	for (asked = 0; asked < 2; asked++) {
		start_at_cap(test, &s);
		start_hold(&s, 2, 2 * START_RTT);
		start_ack(&s, 1, 2 * START_RTT);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_DRAIN);
		if (asked) {
			start_hold(&s, 1, 2 * START_RTT);
			start_ack(&s, 1, 2 * START_RTT);
			KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_ASK);
		}
		tcp_snd_cwnd_set(s.tp, 400);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 401U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, s.ss.target, 1600U);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1701U);
		/* What came before it is no train's first packet, and one train is not two. */
		start_train_ack(&s, 1, 24 * 50000, 0);
		start_train_ack(&s, 24, 24 * 50000, 0);
		KUNIT_EXPECT_EQ(test, s.ss.target, 1600U);
		start_train_ack(&s, 24, 24 * 50000, 0);
		KUNIT_EXPECT_EQ(test, s.ss.target, 2000U);
	}
}

/* Behind an alarm: half of twice the window that there was when the lost packet left. */
static void start_halves_behind_alarm(struct kunit *test)
{
	static const struct {
		u32 acked, w;
	} all[] = { { 0, 450 }, { 300, 600 }, { 450, 675 }, { 900, 899 } };
	struct start s;
	u32 i, mss;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (mss = 1; mss < 9000; mss += 1447) {
			start_begin(test, &s, LF_TRAIN, 900);
			s.tp->mss_cache = mss;
			s.ss.stage = LF_SS_HOLD;
			s.ss.round_end = s.tp->snd_una + 900 * mss;
			s.tp->snd_una += all[i].acked * mss;
			KUNIT_EXPECT_EQ(test,
					lf_slow_start_loss(start_sk(&s), &s.ss,
							   900, 899),
					all[i].w);
		}
	/* An MSS that is not known; a round trip that is over: what is lost left with 900. */
	start_begin(test, &s, LF_TRAIN, 900);
	s.ss.stage = LF_SS_HOLD;
	s.ss.round_end = s.tp->snd_una - 10;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			899U);
}

/* Not where it did not double: near a target, or far below and without a queue. */
static void start_gentle(struct kunit *test)
{
	struct start s;

	/* Far below the target, with a queue. */
	start_at_target(test, &s, 900);
	s.tp->rack.rtt_us = START_RTT + START_RTT / 32;
	s.tp->lost_out = 1;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			450U);
	/* And without. */
	start_at_target(test, &s, 900);
	s.tp->rack.rtt_us = START_RTT + START_RTT / 32 - 1;
	s.tp->lost_out = 1;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			899U);
	/* Nor is a mark, which tells of a queue. */
	start_at_target(test, &s, 900);
	s.tp->rack.rtt_us = START_RTT;
	s.tp->lost_out = 0;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			450U);
	/* Two packets at once are no such loss: a policer has no queue. */
	start_at_target(test, &s, 900);
	s.tp->rack.rtt_us = START_RTT;
	s.tp->lost_out = 2;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			450U);
	/* Without a target that says nothing. */
	start_begin(test, &s, LF_TRAIN, 900);
	start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 901, 900),
			450U);
	/* At 3/4 of the target, and above. */
	start_at_target(test, &s, 1200);
	s.tp->rack.rtt_us = 2 * START_RTT;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 1200, 1199),
			600U);
	start_at_target(test, &s, 1201);
	s.tp->rack.rtt_us = 2 * START_RTT;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 1201, 1199),
			1199U);
	/* The window has been the same for a round trip. */
	start_begin(test, &s, LF_TRAIN, 900);
	s.ss.stage = LF_SS_TELL;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			899U);
}

/* A spurious loss: slow start goes on, with a new round trip. */
static void start_undone(struct kunit *test)
{
	static const enum lf_slow_start_way ways[] = {
		LF_TRAIN, LF_HYSTART, LF_LIMITED,
	};
	struct lf_slow_start over;
	struct start s;
	u32 i, w;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		start_begin(test, &s, ways[i], 64);
		start_round(&s, START_RTT);
		start_ack(&s, 3, START_RTT);
		lf_slow_start_loss(start_sk(&s), &s.ss, 128, 100);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_OVER);
		/* Also where ssthresh is not back yet. */
		s.tp->snd_ssthresh = 64;
		lf_slow_start_undo(start_sk(&s), &s.ss);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_TRUE(test, s.ss.way == ways[i]);
		KUNIT_EXPECT_EQ(test, s.ss.round_us, ~0U);
		KUNIT_EXPECT_EQ(test, s.ss.round_end, s.tp->snd_nxt);
		KUNIT_EXPECT_EQ(test, (u32)s.ss.lost, 0U);
		s.tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
		w = tcp_snd_cwnd(s.tp);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 8, START_RTT),
				ways[i] == LF_LIMITED ? w + 4 : w + 8);

		/* Two losses: the second is not slow start's, nor its undoing. */
		lf_slow_start_loss(start_sk(&s), &s.ss, 128, 100);
		lf_slow_start_loss(start_sk(&s), &s.ss, 128, 100);
		over = s.ss;
		lf_slow_start_undo(start_sk(&s), &s.ss);
		KUNIT_EXPECT_EQ(test, memcmp(&over, &s.ss, sizeof(over)), 0);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
	}
	/* No loss at all. */
	start_at_cap(test, &s);
	over = s.ss;
	lf_slow_start_undo(start_sk(&s), &s.ss);
	KUNIT_EXPECT_EQ(test, memcmp(&over, &s.ss, sizeof(over)), 0);
}

/* What was measured before the loss holds after its undoing: the cap, and its hold. */
static void start_undone_at_target(struct kunit *test)
{
	struct start s;

	start_at_target(test, &s, 1000);
	s.tp->rack.rtt_us = 2 * START_RTT;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 1000, 999),
			500U);
	s.tp->snd_ssthresh = 500;
	s.tp->prior_ssthresh = 1701;
	lf_slow_start_undo(start_sk(&s), &s.ss);
	/* The kernel does, and takes back the CWR: where what was before is more. */
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 500U);
	s.tp->snd_ssthresh = s.tp->prior_ssthresh;
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1701U);
	while (tcp_snd_cwnd(s.tp) < 1700)
		start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	KUNIT_EXPECT_TRUE(test, tcp_in_slow_start(s.tp));
	/* The held window is not owed. */
	lf_slow_start_loss(start_sk(&s), &s.ss, 1000, 999);
	lf_slow_start_undo(start_sk(&s), &s.ss);
	tcp_snd_cwnd_set(s.tp, 1300);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 1300U);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 3, START_RTT), 1301U);
}

/* A loss in congestion avoidance is none of slow start, whatever an undo has left. */
static void start_loss_elsewhere(struct kunit *test)
{
	struct start s;

	start_begin(test, &s, LF_TRAIN, 900);
	s.tp->snd_ssthresh = 900;
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 900, 899),
			899U);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
	KUNIT_EXPECT_EQ(test, (u32)s.ss.lost, 0U);
}

/* A window that was cut while it was held tells nothing: growth goes on. */
static void start_cut(struct kunit *test)
{
	struct start s;

	start_at_cap(test, &s);
	tcp_snd_cwnd_set(s.tp, 10);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, 2 * START_RTT), 11U);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, s.ss.owed, 0U);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 1701U);
	/* And where RTTs tell already. */
	start_at_cap(test, &s);
	start_hold(&s, 2, START_RTT + START_RTT / 32);
	KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_TELL);
	tcp_snd_cwnd_set(s.tp, 100);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, 2 * START_RTT), 101U);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
}

/* After an undo the window may be above the target.  It is held there, and not lowered. */
static void start_above_target(struct kunit *test)
{
	u32 i, queue = START_RTT / 64;
	struct start s;

	for (i = 1; i <= 3; i++) {
		start_at_target(test, &s, 1000);
		s.ss.tries = i - 1;
		tcp_snd_cwnd_set(s.tp, 5000);
		s.tp->snd_ssthresh = 9000;
		s.tp->snd_nxt = s.tp->snd_una + 5000;
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 5000U);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_HOLD);
		start_hold(&s, 1, START_RTT);
		start_ack(&s, 1, START_RTT);
		KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_TELL);
		/* No queue: the target was too low. */
		KUNIT_EXPECT_EQ(test, start_ack(&s, 4, START_RTT + queue - 1),
				i < 3 ? 5000U : 5004U);
		KUNIT_EXPECT_EQ(test, s.ss.target, i < 3 ? 2000U : 0U);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh,
				i < 3 ? 5001U : (u32)TCP_INFINITE_SSTHRESH);
	}
	/* Where there is a queue the path is full. */
	start_at_target(test, &s, 1000);
	lf_slow_start_loss(start_sk(&s), &s.ss, 1000, 999);
	s.tp->snd_ssthresh = 999;
	tcp_snd_cwnd_set(s.tp, 5000);
	lf_slow_start_undo(start_sk(&s), &s.ss);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 5001U);
	s.tp->snd_nxt = s.tp->snd_una + 5000;
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 5000U);
	start_hold(&s, 2, START_RTT + queue);
	/* 5000 * 64/65. */
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT + queue), 4923U - 4923 / 16);
	start_ours(test, &s);
}

/* No alarm below a window of 16, however long the RTT is high. */
static void start_low_window(struct kunit *test)
{
	struct start s;
	u32 i;

	start_begin(test, &s, LF_TRAIN, 2);
	start_ack(&s, 1, START_RTT);
	s.tp->snd_cwnd_clamp = LF_LOW_WINDOW - 1;
	for (i = 0; i < 300; i++)
		start_ack(&s, 1, 2 * START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	s.tp->snd_cwnd_clamp = LF_LOW_WINDOW;
	for (i = 0; i < 9; i++)
		start_ack(&s, 1, 2 * START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
}

/* A round that began so long ago that sequence numbers have wrapped is over. */
static void start_stale(struct kunit *test)
{
	struct start s;

	start_at_cap(test, &s);
	s.ss.round_end = s.tp->snd_nxt + BIT(30);
	start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_TELL);
	start_begin(test, &s, LF_HYSTART, 10);
	s.ss.round_end = s.tp->snd_nxt + BIT(30);
	start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_EQ(test, s.ss.last_us, START_RTT);
}

/*
 * ACKs for 16 packets each, as where the way back lets every eighth through.  The first flight
 * has one ACK and is no train.  Then the RTT has to tell, with fewer RTTs than eight in a round
 * trip, and with one in each.
 */
static void start_thinned(struct kunit *test)
{
	u32 high = start_alarm_us(START_RTT, 1), i, w;
	struct start s;

	start_begin(test, &s, LF_TRAIN, 10);
	start_train_ack(&s, 10, 600000, 0);
	KUNIT_EXPECT_EQ(test, s.ss.target, 0U);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 20U);

	start_begin(test, &s, LF_TRAIN, 48);
	s.ss.level = 1;
	start_ack(&s, 16, START_RTT);
	for (i = 0; i < 7; i++)
		start_ack(&s, 16, high);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	w = tcp_snd_cwnd(s.tp);
	KUNIT_EXPECT_EQ(test, w, 48U + 8 * 16);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 16, high), w);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	for (i = 0; i < 3; i++) {
		start_ack(&s, s.tp->snd_nxt - s.tp->snd_una, high);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_TELL);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), w);
	}
	start_ack(&s, s.tp->snd_nxt - s.tp->snd_una, high);
	start_ours(test, &s);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), lf_train_full(&s.ss, w, high));
	/* RFC 9406 asks for eight in one round trip: below 128 packets it says nothing. */
	start_begin(test, &s, LF_HYSTART, 32);
	for (i = 0; i < 5; i++) {
		start_ack(&s, 16, START_RTT << i);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	}
}

/*
 * An ACK of which RACK takes no RTT, as for a packet that was sent twice, leaves the last one
 * there.  That may make an alarm, which the next RTT refutes, and no less of a window.
 */
static void start_rtt_again(struct kunit *test)
{
	struct start s;
	u32 i, w;

	start_begin(test, &s, LF_TRAIN, 64);
	start_round(&s, START_RTT);
	w = tcp_snd_cwnd(s.tp);
	s.tp->rack.rtt_us = 2 * START_RTT;
	for (i = 0; i < 4; i++) {
		s.tp->snd_una++;
		lf_slow_start(start_sk(&s), &s.ss, 1);
	}
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), w + 3);
	start_hold(&s, 2, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	KUNIT_EXPECT_GT(test, tcp_snd_cwnd(s.tp), w + 3);
}

/*
 * An RTT of nothing while the window is held: it grows as the kernel's, up to ssthresh, which
 * is the cap and a packet more.  There slow start is over.
 */
static void start_rtt_missing_at_cap(struct kunit *test)
{
	struct start s;

	start_at_cap(test, &s);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1000, 0), 1701U);
	KUNIT_EXPECT_FALSE(test, tcp_in_slow_start(s.tp));
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss, 1701,
						 1500), 1500U);
}

/*
 * Until slow start is over on a path that holds @bdp packets: an RTT is as long as the queue
 * of the window before makes it.  Returns its round trips.
 */
static u32 start_path(struct start *s, u32 bdp)
{
	u32 rounds = 0, rtt, end;

	while (s->ss.stage != LF_SS_OVER && rounds++ < 100) {
		end = s->tp->snd_nxt;
		rtt = max(START_RTT, div_u64((u64)START_RTT *
					     (end - s->tp->snd_una), bdp));
		while (before(s->tp->snd_una, end))
			start_ack(s, 1, rtt);
	}
	return rounds;
}

/*
 * Packets of another size in the middle of slow start.  Smaller ones: the path holds more of
 * them than the target, which is refuted.  Larger ones: it holds fewer, which the RTT tells.
 */
static void start_mss(struct kunit *test)
{
	struct start s;
	u32 w;

	start_at_target(test, &s, 1000);
	KUNIT_EXPECT_LE(test, start_path(&s, 9600), 25U);
	w = tcp_snd_cwnd(s.tp);
	KUNIT_EXPECT_GE(test, w, 9600U);
	KUNIT_EXPECT_LE(test, w, 9600U * 17 / 16 + 1);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, w);

	start_at_target(test, &s, 100);
	KUNIT_EXPECT_LE(test, start_path(&s, 267), 10U);
	w = tcp_snd_cwnd(s.tp);
	KUNIT_EXPECT_GE(test, w, 267U);
	KUNIT_EXPECT_LE(test, w, 267U * 17 / 16 + 1);
	KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, w);

	/* A loss behind an alarm: bytes of old packets, an MSS of new ones. */
	for (w = 1; w <= 10; w++) {
		start_begin(test, &s, LF_TRAIN, 900);
		s.tp->mss_cache = 300 * w;
		s.ss.stage = LF_SS_HOLD;
		s.ss.round_end = s.tp->snd_una + 900 * 1500;
		KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &s.ss,
							 900, 850),
				min(w <= 5 ? 450 : 900 - 450 * 5 / w, 850U));
	}
}

/*
 * Another algorithm is selected in slow start.  ssthresh is what the path holds and a
 * sixteenth, in packets, which is true for any of them: it goes up to there, and its first
 * loss is as any other.  Nothing measured: it has a first slow start of its own.
 */
static void start_handed_over(struct kunit *test)
{
	enum lf_slow_start_way way;
	struct lf_slow_start next;
	struct start s;
	u32 i;

	for (way = LF_TRAIN; way <= LF_CLASSIC; way++) {
		start_begin(test, &s, LF_TRAIN, 10);
		lf_slow_start_begin(start_sk(&s), &next, way);
		KUNIT_EXPECT_TRUE(test, (next.stage == LF_SS_GROW) ==
				  (way != LF_CLASSIC));
		start_train(&s, 100000);
		KUNIT_ASSERT_EQ(test, s.tp->snd_ssthresh, 1063U);
		lf_slow_start_begin(start_sk(&s), &next, way);
		KUNIT_EXPECT_TRUE(test, next.stage == LF_SS_OVER);
		for (i = 20; i < 1063; i++) {
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(s.tp), i);
			lf_slow_start(start_sk(&s), &next, 1);
		}
		KUNIT_EXPECT_FALSE(test, tcp_in_slow_start(s.tp));
		KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(&s), &next,
							 1063, 900), 900U);
	}
}

/* --- where it is the kernel's -------------------------------------------- */

/* As tcp_slow_start(), in what it returns too, and the alarm of no RTT. */
static void start_by_kernel(struct kunit *test, struct start *s, bool use)
{
	struct tcp_sock *tp = lf_test_sock(test, 10, ~0U);
	u32 i;

	tp->snd_ssthresh = s->tp->snd_ssthresh;
	KUNIT_EXPECT_TRUE(test, s->ss.stage == LF_SS_OVER);
	for (i = 1; i <= 45; i++) {
		s->tp->rack.rtt_us = START_RTT * i;
		s->tp->delivered += i;
		s->tp->snd_una += i;
		KUNIT_EXPECT_EQ(test, lf_slow_start(start_sk(s),
						    use ? &s->ss : NULL, i),
				tcp_slow_start(tp, i));
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s->tp), tcp_snd_cwnd(tp));
		if (!tcp_in_slow_start(tp))
			break;
	}
	KUNIT_EXPECT_TRUE(test, s->ss.stage == LF_SS_OVER);
	KUNIT_EXPECT_EQ(test, s->tp->snd_ssthresh, tp->snd_ssthresh);
	/* A loss, and its undoing, are the algorithm's. */
	KUNIT_EXPECT_EQ(test, lf_slow_start_loss(start_sk(s), &s->ss, 900, 899),
			899U);
	lf_slow_start_undo(start_sk(s), &s->ss);
	KUNIT_EXPECT_TRUE(test, s->ss.stage == LF_SS_OVER);
}

/* classic, one that knows its ssthresh, and none at all. */
static void start_classic(struct kunit *test)
{
	enum lf_slow_start_way way;
	struct start s;

	start_begin(test, &s, LF_CLASSIC, 10);
	start_by_kernel(test, &s, true);
	KUNIT_EXPECT_GT(test, tcp_snd_cwnd(s.tp), 1000U);
	for (way = LF_TRAIN; way <= LF_CLASSIC; way++) {
		start_begin(test, &s, way, 10);
		s.tp->snd_ssthresh = 123;
		lf_slow_start_begin(start_sk(&s), &s.ss, way);
		KUNIT_EXPECT_TRUE(test, s.ss.way == way);
		start_by_kernel(test, &s, true);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 123U);
	}
	start_begin(test, &s, LF_CLASSIC, 10);
	start_by_kernel(test, &s, false);
}

/* --- bad input ----------------------------------------------------------- */

/* Without SACK there is no RTT: the window doubles until a loss, in any way. */
static void start_no_rtt(struct kunit *test)
{
	struct start s;
	u32 i;

	for (i = 0; i < 2; i++) {
		start_begin(test, &s, i ? LF_HYSTART : LF_TRAIN, 10);
		start_round(&s, 0);
		start_round(&s, 0);
		KUNIT_EXPECT_EQ(test, start_round(&s, 0), 80U);
		start_train(&s, 1000);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 90U);
	}
}

/* One that has none says nothing of the others. */
static void start_rtt_missing(struct kunit *test)
{
	struct start s;

	start_begin(test, &s, LF_TRAIN, 64);
	start_round(&s, START_RTT);
	start_ack(&s, 1, 0);
	KUNIT_EXPECT_EQ(test, s.ss.base_us, START_RTT);
	start_round(&s, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
}

/* Paths with an RTT of nothing and of a minute: growth goes on. */
static void start_any_rtt(struct kunit *test)
{
	static const u32 rtts[] = {
		1, 31, 33, 1000, 60000000, LF_RTT_MOST, S32_MAX, ~0U - 1, ~0U,
	};
	struct start s;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rtts); i++) {
		start_begin(test, &s, i & 1 ? LF_HYSTART : LF_TRAIN, 10);
		start_round(&s, rtts[i / 2]);
		start_round(&s, rtts[i / 2]);
		KUNIT_EXPECT_EQ(test, start_round(&s, rtts[i / 2]), 80U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	}
	/* At the cap of a path of a few microseconds the same RTT is no queue. */
	start_begin(test, &s, LF_TRAIN, 1699);
	s.ss.base_us = 20;
	lf_train_aim(s.tp, &s.ss, 1600);
	start_ack(&s, 16, 20);
	KUNIT_ASSERT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	start_hold(&s, 2, 20);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
}

/* A clock that jumped, in one RTT or in those of a round trip. */
static void start_clock(struct kunit *test)
{
	struct start s;
	u32 i, w;

	for (i = 0; i < 2; i++) {
		start_begin(test, &s, i ? LF_HYSTART : LF_TRAIN, 64);
		start_round(&s, START_RTT);
		start_ack(&s, 1, ~0U);
		start_ack(&s, 1, ~0U - 100);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 130U);
		KUNIT_EXPECT_EQ(test, start_round(&s, START_RTT), 260U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	}
	/* After a round trip of such the right RTT is a lower one. */
	for (i = 0; i < 2; i++) {
		start_begin(test, &s, i ? LF_HYSTART : LF_TRAIN, 64);
		start_round(&s, ~0U - 1);
		start_round(&s, START_RTT);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
		KUNIT_EXPECT_EQ(test, start_round(&s, START_RTT), 512U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	}
	/* An RTT of next to nothing once: all others are a queue, until half of it is no less. */
	start_begin(test, &s, LF_TRAIN, 64);
	start_round(&s, START_RTT);
	start_ack(&s, 1, 1);
	for (i = 0; i < 8; i++)
		start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_HOLD);
	w = tcp_snd_cwnd(s.tp);
	start_hold(&s, 4, START_RTT);
	KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), w / 2 - w / 2 / 16);
	start_hold(&s, 2, START_RTT);
	start_ack(&s, 1, START_RTT);
	KUNIT_EXPECT_EQ(test, s.ss.base_us, START_RTT);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
	/* Time that stands still, and that goes back between two ACKs. */
	start_begin(test, &s, LF_TRAIN, 10);
	for (i = 0; i < 20; i++)
		start_train_ack(&s, 2, i & 1 ? 0 : -1000ULL, i & 1 ? 0 : -1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 50U);
	KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_GROW);
}

/* snd_cwnd_clamp holds, and the largest window there is stays one. */
static void start_clamped(struct kunit *test)
{
	enum lf_slow_start_way way;
	struct start s;
	u32 i;

	for (way = LF_TRAIN; way <= LF_CLASSIC; way++) {
		start_begin(test, &s, way, 90);
		s.tp->snd_cwnd_clamp = 97;
		for (i = 0; i < 50; i++)
			KUNIT_EXPECT_LE(test, start_ack(&s, 9, START_RTT), 97U);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(s.tp), 97U);
		/* A window of one packet, and what it ends with. */
		start_begin(test, &s, way, 1);
		s.tp->snd_cwnd_clamp = 1;
		for (i = 0; i < 50 && tcp_in_slow_start(s.tp); i++)
			KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT +
							i * START_RTT), 1U);
		KUNIT_EXPECT_GE(test, s.tp->snd_ssthresh, 2U);
		KUNIT_EXPECT_TRUE(test, (s.ss.stage == LF_SS_OVER) ==
				  (way == LF_CLASSIC));
		start_begin(test, &s, LF_TRAIN, 1);
		s.ss.base_us = START_RTT;
		s.ss.stage = LF_SS_TELL;
		s.ss.rounds = 1;
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, 2 * START_RTT), 1U);
		start_ack(&s, 1, START_RTT);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 1U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_RISE);
		KUNIT_EXPECT_EQ(test, s.tp->snd_ssthresh, 2U);
		KUNIT_EXPECT_EQ(test, start_ack(&s, 1, START_RTT), 2U);
		KUNIT_EXPECT_TRUE(test, s.ss.stage == LF_SS_OVER);
		start_begin(test, &s, way, TCP_INFINITE_SSTHRESH - 10);
		KUNIT_EXPECT_LE(test, start_ack(&s, BIT(20), START_RTT),
				(u32)TCP_INFINITE_SSTHRESH);
	}
}

/* Whatever comes: from ACK to ACK a window that grows by what is acknowledged. */
static void start_anything(struct kunit *test)
{
	enum lf_slow_start_way way;
	struct rnd_state rnd;
	struct start s;
	u32 i, k;

	prandom_seed_state(&rnd, 25);
	for (k = 0; k < 600; k++) {
		way = k % 3;
		start_begin(test, &s, way, 2 + lf_random_window(&rnd));
		start_sk(&s)->sk_pacing_status = k % 2;
		s.tp->delivered = prandom_u32_state(&rnd);
		s.tp->snd_una = prandom_u32_state(&rnd);
		s.tp->snd_nxt = s.tp->snd_una + tcp_snd_cwnd(s.tp);
		if (k % 5 == 0)
			s.tp->snd_cwnd_clamp = tcp_snd_cwnd(s.tp) +
					       prandom_u32_state(&rnd) % 1000;
		lf_slow_start_begin(start_sk(&s), &s.ss, way);
		for (i = 0; i < 300; i++) {
			u32 w = tcp_snd_cwnd(s.tp), n, now;
			u32 rtt = prandom_u32_state(&rnd) >>
				  prandom_u32_state(&rnd) % 32;

			if (k % 7)
				rtt = 100000 + rtt % 30000;
			n = 1 + lf_random_window(&rnd) % 4000;
			s.tp->tcp_clock_cache += prandom_u32_state(&rnd) >>
						 prandom_u32_state(&rnd) % 32;
			s.tp->rack.mstamp += prandom_u32_state(&rnd) >>
					     prandom_u32_state(&rnd) % 32;
			s.tp->rack.rtt_us = rtt;
			s.tp->snd_una += n;
			s.tp->delivered += n;
			lf_slow_start(start_sk(&s), &s.ss, n);
			now = tcp_snd_cwnd(s.tp);
			KUNIT_ASSERT_LE(test, (u64)now, (u64)w + n);
			KUNIT_ASSERT_LE(test, now, s.tp->snd_cwnd_clamp);
			KUNIT_ASSERT_GE(test, now, 2U);
			KUNIT_ASSERT_GE(test, s.tp->snd_ssthresh, 2U);
			KUNIT_ASSERT_LE(test, (u32)s.ss.tries, LF_TRAIN_TRIES);
			if (s.ss.stage == LF_SS_OVER)
				break;
			if (s.ss.stage != LF_SS_DRAIN)
				KUNIT_ASSERT_GE(test, now, w);
			if (way == LF_TRAIN && s.ss.target && rtt)
				KUNIT_ASSERT_LE(test, now,
						s.tp->snd_ssthresh - 1);
			s.tp->snd_nxt = s.tp->snd_una + now;
			if (!tcp_in_slow_start(s.tp))
				break;
		}
		kunit_kfree(test, s.tp);
	}
}

static struct kunit_case start_hystart_cases[] = {
	KUNIT_CASE(start_rounds),
	KUNIT_CASE(start_filter),
	KUNIT_CASE(start_thresh),
	KUNIT_CASE(start_css_grows),
	KUNIT_CASE(start_css_rounds),
	KUNIT_CASE(start_resumes),
	KUNIT_CASE(start_burst),
	{}
};

static struct kunit_case start_train_cases[] = {
	KUNIT_CASE(start_first_train),
	KUNIT_CASE(start_train_apart),
	KUNIT_CASE(start_train_greatest),
	KUNIT_CASE(start_train_growth),
	KUNIT_CASE(start_rises),
	KUNIT_CASE(start_confirmed),
	KUNIT_CASE(start_refuted),
	KUNIT_CASE(start_full),
	KUNIT_CASE(start_alarm),
	KUNIT_CASE(start_alarm_levels),
	KUNIT_CASE(start_false_alarms),
	KUNIT_CASE(start_longer),
	{}
};

static struct kunit_case start_common_cases[] = {
	KUNIT_CASE(start_limited),
	KUNIT_CASE(start_halves),
	KUNIT_CASE(start_halves_behind_alarm),
	KUNIT_CASE(start_gentle),
	KUNIT_CASE(start_undone),
	KUNIT_CASE(start_undone_at_target),
	KUNIT_CASE(start_loss_elsewhere),
	KUNIT_CASE(start_cut),
	KUNIT_CASE(start_cut_asked),
	KUNIT_CASE(start_above_target),
	KUNIT_CASE(start_low_window),
	KUNIT_CASE(start_stale),
	KUNIT_CASE(start_classic),
	KUNIT_CASE(start_no_rtt),
	KUNIT_CASE(start_rtt_missing),
	KUNIT_CASE(start_rtt_missing_at_cap),
	KUNIT_CASE(start_rtt_again),
	KUNIT_CASE(start_thinned),
	KUNIT_CASE(start_mss),
	KUNIT_CASE(start_handed_over),
	KUNIT_CASE(start_any_rtt),
	KUNIT_CASE(start_clock),
	KUNIT_CASE(start_clamped),
	KUNIT_CASE(start_anything),
	{}
};

static struct kunit_suite start_hystart_suite = {
	.name = "longfat_slow_start_hystart",
	.test_cases = start_hystart_cases,
};

static struct kunit_suite start_train_suite = {
	.name = "longfat_slow_start_train",
	.test_cases = start_train_cases,
};

static struct kunit_suite start_common_suite = {
	.name = "longfat_slow_start",
	.test_cases = start_common_cases,
};

kunit_test_suites(&start_hystart_suite, &start_train_suite,
		  &start_common_suite);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how the first slow start ends");
