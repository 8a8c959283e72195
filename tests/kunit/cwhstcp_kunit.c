// SPDX-License-Identifier: GPL-2.0
/*
 * CW-HSTCP: the arithmetic, the growth, the blocks and the hooks of tcp_cwhstcp.c,
 * which is made a part of this module so that its static functions can be called.
 */

#include "../../tcp_cwhstcp.c"

#include <kunit/test.h>
#include <linux/prandom.h>

#include "sample.h"
#include "sock.h"

#define CWHSTCP_MSS	1448
#define CWHSTCP_NOW	(7 * NSEC_PER_SEC)

/* In congestion avoidance at @cwnd, and with cwhstcp just selected. */
static struct tcp_sock *cwhstcp_test_sock(struct kunit *test, u32 cwnd,
					  u32 min_rtt_us)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, min_rtt_us);
	struct sock *sk = (struct sock *)tp;

	write_pnet(&sk->sk_net, &init_net);
	skb_queue_head_init(&sk->sk_write_queue);
	refcount_set(&sk->sk_wmem_alloc, 1);
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	sk->sk_pacing_rate = ~0UL;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_gso_max_size = 65536;
	sk->sk_gso_max_segs = 65535;
	tp->mss_cache = CWHSTCP_MSS;
	tp->srtt_us = min_rtt_us == ~0U ? 0 : min_rtt_us << 3;
	tp->tcp_clock_cache = CWHSTCP_NOW;
	tp->tcp_wstamp_ns = CWHSTCP_NOW;
	tp->write_seq = BIT(30);
	tp->snd_wnd = BIT(30);
	cwhstcp_init(sk);
	return tp;
}

/* The same with a parameter other than its default, which it has again after. */
static struct tcp_sock *cwhstcp_test_with(struct kunit *test, u32 cwnd,
					  u32 min_rtt_us, const char *name,
					  const char *val, const char *standard)
{
	struct tcp_sock *tp;

	lf_test_set(test, name, val, 0);
	tp = cwhstcp_test_sock(test, cwnd, min_rtt_us);
	lf_test_set(test, name, standard, 0);
	return tp;
}

/* By the paper's law: equal windows. */
static struct tcp_sock *cwhstcp_test_paper(struct kunit *test, u32 cwnd,
					   u32 min_rtt_us)
{
	return cwhstcp_test_with(test, cwnd, min_rtt_us, "rtt_exponent", "1",
				 "2");
}

static struct cwhstcp *cwhstcp_of(struct tcp_sock *tp)
{
	return inet_csk_ca((struct sock *)tp);
}

/* --- eta and k ----------------------------------------------------------- */

/* c RTT in 2^-20, and its square, cut off; from 40-digit decimal arithmetic. */
static const struct {
	u32 rtt_us, c, eta;
	u64 squared;
	u32 blocks;
} cwhstcp_factors[] = {
	{ 0, 10, 0, 0, 1 },
	{ 1, 1, 1, 0, 1 },
	{ 1, 100, 104, 0, 1 },
	{ 1000, 10, 10485, 104, 1 },
	{ 10000, 10, 104857, 10485, 1 },
	{ 60000, 10, 629145, 377487, 1 },
	{ 99999, 10, 1048565, 1048555, 1 },
	{ 100000, 10, 1048576, 1048576, 2 },
	{ 140000, 10, 1468006, 2055208, 2 },
	{ 200000, 5, 1048576, 1048576, 2 },
	{ 200000, 10, 2097152, 4194304, 3 },
	{ 200000, 20, 4194304, 16777216, 5 },
	{ 240000, 10, 2516582, 6039797, 3 },
	{ 1000000, 1, 1048576, 1048576, 2 },
	{ 1000000, 10, 10485760, 104857600, 11 },
	{ 1000000, 100, 104857600, 10485760000, 101 },
	{ 10000000, 100, 1048576000, 1048576000000, 1001 },
	/* Longer paths there are not: held at 20 s. */
	{ 20000000, 100, 2097152000, 4194304000000, 2001 },
	{ 20000001, 100, 2097152000, 4194304000000, 2001 },
	{ U32_MAX - 1, 100, 2097152000, 4194304000000, 2001 },
};

static void cwhstcp_eta_exact(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(cwhstcp_factors); i++) {
		u32 rtt = cwhstcp_factors[i].rtt_us, c = cwhstcp_factors[i].c;
		u32 c_rtt = cwhstcp_c_rtt(rtt, c);

		KUNIT_EXPECT_EQ(test, c_rtt, cwhstcp_factors[i].eta);
		KUNIT_EXPECT_EQ(test, cwhstcp_eta(c_rtt, false), c_rtt);
		/* The square of what was cut off is off by twice as much. */
		KUNIT_EXPECT_LE_MSG(test,
				    lf_apart(cwhstcp_eta(c_rtt, true),
					     cwhstcp_factors[i].squared),
				    2ULL + (c_rtt >> 19), "rtt %u c %u", rtt, c);
		KUNIT_EXPECT_EQ(test, cwhstcp_blocks(rtt, c),
				cwhstcp_factors[i].blocks);
	}
	/* No sample yet: as slow as Reno, and no blocks. */
	KUNIT_EXPECT_EQ(test, cwhstcp_c_rtt(~0U, 100), 0U);
	KUNIT_EXPECT_EQ(test, cwhstcp_blocks(~0U, 100), 1U);
}

/* c RTT cut off after 20 bits, for every RTT and c; longer is never less. */
static void cwhstcp_eta_everywhere(struct kunit *test)
{
	u32 c, rtt;

	for (c = 1; c <= 100; c++) {
		u32 last = 0, blocks = 1;

		for (rtt = 1; rtt <= cwhstcp_max_rtt_us;
		     rtt = lf_next_window(rtt, 300, 100)) {
			u32 c_rtt = cwhstcp_c_rtt(rtt, c);
			u32 k = cwhstcp_blocks(rtt, c);
			u64 exact = (u64)rtt * c << CWHSTCP_ETA_SHIFT;

			KUNIT_ASSERT_LE(test, c_rtt * 1000000ULL, exact);
			KUNIT_ASSERT_GT(test, (c_rtt + 1ULL) * 1000000, exact);
			KUNIT_ASSERT_GE(test, c_rtt, last);
			KUNIT_ASSERT_GE(test, cwhstcp_eta(c_rtt, true),
					cwhstcp_eta(last, true));
			KUNIT_ASSERT_LE(test, (k - 1) * 1000000ULL,
					(u64)rtt * c);
			KUNIT_ASSERT_GT(test, k * 1000000ULL, (u64)rtt * c);
			KUNIT_ASSERT_GE(test, k, blocks);
			last = c_rtt;
			blocks = k;
		}
	}
}

/* --- growth -------------------------------------------------------------- */

/* The paper's Table 1. */
static const struct {
	u32 w, a;
} cwhstcp_table1[] = {
	{ 38, 1 }, { 118, 2 }, { 221, 3 }, { 347, 4 }, { 84035, 71 },
};

/*
 * Table 1's a(w) at c RTT = 1, within half a packet as it is rounded; twice that
 * at 200 ms, five times at 1 s with c = 5, four times if squared; and at 60 ms
 * 0.6 of it, or Reno's 1 where that is less.
 */
static void cwhstcp_rate_table1(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(cwhstcp_table1); i++) {
		u32 a = lf_hstcp_a(cwhstcp_table1[i].w), want;
		u32 two = cwhstcp_c_rtt(200000, 10);

		KUNIT_EXPECT_EQ(test, (a + LF_RATE_ONE / 2) >> LF_RATE_SHIFT,
				cwhstcp_table1[i].a);
		KUNIT_EXPECT_EQ(test, cwhstcp_rate(a, cwhstcp_c_rtt(100000, 10)),
				a);
		KUNIT_EXPECT_EQ(test, cwhstcp_rate(a, two), 2 * a);
		KUNIT_EXPECT_EQ(test, cwhstcp_rate(a, cwhstcp_eta(two, true)),
				4 * a);
		KUNIT_EXPECT_EQ(test, cwhstcp_rate(a, cwhstcp_c_rtt(1000000, 5)),
				5 * a);
		want = max(a * 3 / 5, LF_RATE_ONE);
		KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_rate(a,
							    cwhstcp_c_rtt(60000, 10)),
					       want), 1ULL);
	}
}

/* Never below Reno, never wrapped: what would be above 2^32 is held there. */
static void cwhstcp_rate_bounds(struct kunit *test)
{
	static const u32 rtts[] = {
		0, 1, 50, 1000, 60000, 200000, 1000000, 10000000, U32_MAX - 1,
		U32_MAX
	};
	u32 w, r, c, s;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 100, 10))
		for (r = 0; r < ARRAY_SIZE(rtts); r++)
			for (c = 1; c <= 100; c += 33)
				for (s = 0; s <= 1; s++) {
					u64 eta = cwhstcp_eta(cwhstcp_c_rtt(rtts[r], c), s);
					u64 a = lf_hstcp_a(w);
					u32 rate = cwhstcp_rate(a, eta);
					u64 exact = (a * (eta >> 32) << 12) +
						    (a * (u32)eta >> CWHSTCP_ETA_SHIFT);

					KUNIT_ASSERT_GE(test, rate,
							LF_RATE_ONE);
					KUNIT_ASSERT_EQ(test, rate,
							clamp(exact, 1024ULL,
							      (u64)U32_MAX));
				}
	KUNIT_EXPECT_EQ(test, cwhstcp_rate(lf_hstcp_a(U32_MAX),
					   cwhstcp_eta(cwhstcp_c_rtt(20000000, 100), true)),
			U32_MAX);
}

/* What @trips round trips of congestion avoidance make of the window. */
static u32 cwhstcp_trips(struct tcp_sock *tp, u32 trips)
{
	for (; trips; trips--)
		cwhstcp_cong_avoid((struct sock *)tp, 0, tcp_snd_cwnd(tp));
	return tcp_snd_cwnd(tp);
}

/*
 * The paper's example: flows of 100 and 200 ms at the same window have the same
 * window 200 ms later, and after ten seconds of it; so has one of 50 ms, whose
 * eta a(w) is not Reno's 1 here.
 */
static void cwhstcp_grow_equal(struct kunit *test)
{
	static const u32 windows[] = { 350, 1000, 5000, 20000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *a, *b, *c;
		u32 w, n;

		a = cwhstcp_test_paper(test, windows[i], 50000);
		b = cwhstcp_test_paper(test, windows[i], 100000);
		c = cwhstcp_test_paper(test, windows[i], 200000);
		for (n = 0; n < 50; n++) {
			w = cwhstcp_trips(c, 1);
			KUNIT_ASSERT_LE(test, lf_apart(cwhstcp_trips(b, 2), w),
					1 + (w - windows[i]) / 100);
			KUNIT_ASSERT_LE(test, lf_apart(cwhstcp_trips(a, 4), w),
					1 + (w - windows[i]) / 100);
		}
		KUNIT_EXPECT_GT(test, w, windows[i] + 50 * 2 * 3);
	}
}

/*
 * The default: windows in proportion to the RTT, which is equal throughput, stay so,
 * in growth and after a loss.
 */
static void cwhstcp_throughput_equal(struct kunit *test)
{
	static const u32 windows[] = { 400, 1000, 5000, 20000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *tp[3];
		u32 w, n, k;

		for (k = 0; k < 3; k++)
			tp[k] = cwhstcp_test_sock(test, windows[i] << k,
						  50000 << k);
		for (n = 0; n < 50; n++) {
			w = cwhstcp_trips(tp[2], 1);
			KUNIT_ASSERT_LE(test, lf_apart(2 * cwhstcp_trips(tp[1], 2), w),
					4 + (w - 4 * windows[i]) / 50);
			KUNIT_ASSERT_LE(test, lf_apart(4 * cwhstcp_trips(tp[0], 4), w),
					4 + (w - 4 * windows[i]) / 50);
		}
		/* 2^2 a(V) each 200 ms, a of half the window. */
		KUNIT_EXPECT_GE(test, w, 4 * windows[i] +
				(50 * 4 * lf_hstcp_a(2 * windows[i]) >>
				 LF_RATE_SHIFT));
		for (k = 0; k < 3; k++)
			tcp_snd_cwnd_set(tp[k], windows[i] << k);
		w = cwhstcp_ssthresh((struct sock *)tp[2]);
		KUNIT_EXPECT_LE(test, lf_apart(w, 2 * lf_hstcp_decrease(2 * windows[i])),
				4ULL);
		for (k = 0; k < 2; k++)
			KUNIT_EXPECT_LE(test,
					lf_apart(w, cwhstcp_ssthresh((struct sock *)tp[k])
						    << (2 - k)),
					8ULL);
	}
}

/* No RTT yet: the window itself.  No overflow.  Who grows as Reno does loses half. */
static void cwhstcp_reference_bounds(struct kunit *test)
{
	struct tcp_sock *tp;
	u32 w;

	KUNIT_EXPECT_EQ(test, cwhstcp_reference(1000, 0), 1000U);
	KUNIT_EXPECT_EQ(test, cwhstcp_reference(1000, 1U << CWHSTCP_ETA_SHIFT), 1000U);
	KUNIT_EXPECT_EQ(test, cwhstcp_reference(1000, (1U << CWHSTCP_ETA_SHIFT) / 4),
			4000U);
	KUNIT_EXPECT_EQ(test, cwhstcp_reference(BIT(30), 1), U32_MAX);
	KUNIT_EXPECT_EQ(test, cwhstcp_reference(BIT(30), U32_MAX), BIT(18));
	tp = cwhstcp_test_sock(test, 10, 10000);
	/* Each window is reached without growth in between, as by slow start. */
	for (w = 2; w <= LF_WINDOW_MAX; w = lf_next_window(w, 300, 100)) {
		u32 after, half = max(w - w / 2, 2U);

		tcp_snd_cwnd_set(tp, w);
		after = cwhstcp_ssthresh((struct sock *)tp);
		KUNIT_ASSERT_GE(test, after, 2U);
		KUNIT_ASSERT_LE(test, after, w);
		if (w > 3)
			KUNIT_ASSERT_LT(test, after, w);
		/* 10 ms: a(V) / 100 is more than 1 from some 15000 packets on. */
		if (w < 10000)
			KUNIT_ASSERT_EQ(test, after, half);
		if (w > 30000 && w < 100000)
			KUNIT_ASSERT_GT(test, after, lf_hstcp_decrease(w));
	}
}

/* A round trip adds eta a(w) within one packet, in ACKs of any size. */
static void cwhstcp_grow_rate(struct kunit *test)
{
	static const u32 bunches[] = { 1, 2, 64, U32_MAX };
	static const u32 rtts[] = { 20000, 60000, 100000, 240000 };
	u32 w, b, r;

	for (r = 0; r < ARRAY_SIZE(rtts); r++) {
		struct tcp_sock *tp = cwhstcp_test_paper(test, 10, rtts[r]);

		for (b = 0; b < ARRAY_SIZE(bunches); b++)
			for (w = 1; w <= LF_WINDOW_MAX;
			     w = lf_next_window(w, 60, 3)) {
				u32 left = w, low, high, got;

				if (w / bunches[b] > 20000)
					break;
				tcp_snd_cwnd_set(tp, w);
				cwhstcp_of(tp)->credit = 0;
				while (left) {
					u32 n = min(left, bunches[b]);

					cwhstcp_cong_avoid((struct sock *)tp,
							   0, n);
					left -= n;
				}
				got = (tcp_snd_cwnd(tp) - w) << LF_RATE_SHIFT;
				low = cwhstcp_rate(lf_hstcp_a(w),
						   cwhstcp_of(tp)->c_rtt);
				high = cwhstcp_rate(lf_hstcp_a(tcp_snd_cwnd(tp)),
						    cwhstcp_of(tp)->c_rtt);
				low = min(low, w << LF_RATE_SHIFT);
				/* Growing, the window is more than w: r^2/2w. */
				KUNIT_ASSERT_GE_MSG(test, got + low / 50 +
						    LF_RATE_ONE * 2, low,
						    "w %u rtt %u by %u", w,
						    rtts[r], bunches[b]);
				KUNIT_ASSERT_LE_MSG(test, got,
						    high + high / 50 +
						    LF_RATE_ONE,
						    "w %u rtt %u by %u", w,
						    rtts[r], bunches[b]);
			}
	}
}

/* One ACK for n packets is n ACKs for one: window, credit and rule. */
static void cwhstcp_grow_batch(struct kunit *test)
{
	static const u32 rtts[] = { 1000, 60000, 200000, 3000000 };
	struct rnd_state rnd;
	u32 r, i, n;

	prandom_seed_state(&rnd, 51);
	for (r = 0; r < 2 * ARRAY_SIZE(rtts); r++) {
		const char *exponent = r & 1 ? "2" : "1";
		struct tcp_sock *a, *b;

		a = cwhstcp_test_with(test, 10, rtts[r / 2], "rtt_exponent",
				      exponent, "2");
		b = cwhstcp_test_with(test, 10, rtts[r / 2], "rtt_exponent",
				      exponent, "2");
		for (i = 0; i < 2000; i++) {
			u32 acked = 1 + prandom_u32_state(&rnd) % 300;
			u32 w = i < 500 ? 1 + i : lf_random_window(&rnd);
			u64 credit = prandom_u32_state(&rnd) % w;

			tcp_snd_cwnd_set(a, w);
			tcp_snd_cwnd_set(b, w);
			cwhstcp_of(a)->credit = credit;
			cwhstcp_of(b)->credit = credit;
			cwhstcp_cong_avoid((struct sock *)a, 0, acked);
			for (n = 0; n < acked; n++)
				cwhstcp_cong_avoid((struct sock *)b, 0, 1);
			KUNIT_ASSERT_EQ_MSG(test, tcp_snd_cwnd(a),
					    tcp_snd_cwnd(b),
					    "w %u acked %u rtt %u", w, acked,
					    rtts[r / 2]);
			KUNIT_ASSERT_EQ(test, cwhstcp_of(a)->credit,
					cwhstcp_of(b)->credit);
		}
	}
}

/* Never more than a packet for a packet, on the longest path with c = 100. */
static void cwhstcp_grow_capped(struct kunit *test)
{
	struct tcp_sock *tp;
	struct rnd_state rnd;
	int i;

	tp = cwhstcp_test_with(test, 10, 10000000, "c", "100", "10");
	prandom_seed_state(&rnd, 52);
	for (i = 0; i < 20000; i++) {
		u32 w = lf_random_window(&rnd), now;
		u32 acked = 1 + prandom_u32_state(&rnd) % 200;

		tcp_snd_cwnd_set(tp, w);
		cwhstcp_cong_avoid((struct sock *)tp, 0, acked);
		now = tcp_snd_cwnd(tp);
		KUNIT_ASSERT_GE(test, now, w);
		KUNIT_ASSERT_LE_MSG(test, now - w, acked, "w %u", w);
		/* And as much as that while the rate is above the window. */
		if (now < cwhstcp_of(tp)->rate >> (LF_RATE_SHIFT + 1))
			KUNIT_ASSERT_EQ_MSG(test, now - w, acked, "w %u", w);
	}
}

/* Large windows and the smallest eta: Reno's packet per round trip for ever. */
static void cwhstcp_grow_never_stuck(struct kunit *test)
{
	u32 bits, i;

	for (bits = 10; bits <= 30; bits += 4) {
		struct tcp_sock *tp;

		tp = cwhstcp_test_with(test, BIT(bits), 1, "c", "1", "10");
		KUNIT_ASSERT_EQ(test, cwhstcp_of(tp)->rate, LF_RATE_ONE);
		for (i = 0; i < 10000; i++)
			cwhstcp_trips(tp, 1);
		KUNIT_EXPECT_GE(test, tcp_snd_cwnd(tp) - BIT(bits) + 1, 10000U);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp) - BIT(bits), 10000U);
	}
}

/* --- blocks and pacing --------------------------------------------------- */

/* k blocks are a window and k - 1 are not, for each k up to the window. */
static void cwhstcp_block_sizes(struct kunit *test)
{
	u32 w, k;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 200, 20))
		for (k = 1; k <= min(w, 2001U); k += 1 + k / 20) {
			u64 block = cwhstcp_block(w, k);

			KUNIT_ASSERT_GE(test, block * k, (u64)w);
			KUNIT_ASSERT_LT(test, (block - 1) * k, (u64)w);
		}
	/* Fig. 4: "if (k > cwnd) k = cwnd"; then a block is a packet. */
	KUNIT_EXPECT_EQ(test, cwhstcp_block(7, 7), 1U);
	KUNIT_EXPECT_EQ(test, cwhstcp_block(U32_MAX, 2), 1U << 31);
}

/* W mss / srtt within one byte per second; the extremes do not wrap. */
static void cwhstcp_window_rates(struct kunit *test)
{
	static const u32 segments[] = { 1, 88, 536, 1448, 8948, 65483 };
	u32 w, m, rtt;
	u64 last;

	for (m = 0; m < ARRAY_SIZE(segments); m++)
		for (rtt = 1; rtt < BIT(29);
		     rtt = lf_next_window(rtt, 10, 2))
			for (w = 1, last = 0; w <= LF_WINDOW_MAX;
			     w = lf_next_window(w, 10, 2)) {
				u64 bytes = (u64)w * segments[m];
				u64 rate = lf_window_rate(w, segments[m],
							  rtt << 3);

				KUNIT_ASSERT_GE(test, rate, last);
				last = rate;
				if (bytes > BIT_ULL(40))
					continue;
				KUNIT_ASSERT_LE(test, rate * rtt,
						bytes * 1000000);
				KUNIT_ASSERT_GT(test, (rate + 1) * rtt,
						bytes * 1000000);
			}
	/* 100 packets in 100 ms. */
	KUNIT_EXPECT_EQ(test, lf_window_rate(100, 1448, 800000), 1448000ULL);
	KUNIT_EXPECT_EQ(test, lf_window_rate(LF_WINDOW_MAX, 65483, 1),
			8000000ULL << 40);
}

/* Never 0 or ~0UL, which are unpaced, and never more than the user wants. */
static void cwhstcp_rate_written(struct kunit *test)
{
	struct sock *sk;

	sk = (struct sock *)cwhstcp_test_sock(test, 10, 100000);
	lf_set_pacing_rate(sk, 0);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1UL);
	lf_set_pacing_rate(sk, 123456789);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 123456789UL);
	lf_set_pacing_rate(sk, U64_MAX);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, ~0UL - 1);
	sk->sk_max_pacing_rate = 1000;
	lf_set_pacing_rate(sk, 1001);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
	lf_set_pacing_rate(sk, 999);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 999UL);
	/* SO_MAX_PACING_RATE of 0 is no pacing, as with the kernel's own; 1 byte/s would stall. */
	sk->sk_max_pacing_rate = 0;
	lf_set_pacing_rate(sk, 999);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 0UL);
}

/* 64 KB less headers; a device without GSO has no bursts. */
static void cwhstcp_largest_bursts(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_sock(test, 10, 100000);
	struct sock *sk = (struct sock *)tp;

	KUNIT_EXPECT_LE(test, lf_largest_burst(sk), 65536U);
	KUNIT_EXPECT_GE(test, lf_largest_burst(sk), 44U * CWHSTCP_MSS);
	sk->sk_gso_max_size = MAX_TCP_HEADER + 1500;
	KUNIT_EXPECT_EQ(test, lf_largest_burst(sk), 1499U);
	sk->sk_gso_max_size = MAX_TCP_HEADER;
	KUNIT_EXPECT_EQ(test, lf_largest_burst(sk), 0U);
	sk->sk_gso_max_size = 0;
	KUNIT_EXPECT_EQ(test, lf_largest_burst(sk), 0U);
	/* Big TCP. */
	sk->sk_gso_max_size = 524280;
	KUNIT_EXPECT_GE(test, lf_largest_burst(sk), 361U * CWHSTCP_MSS);
}

/*
 * What the kernel does: asks how much, sends it, and waits for as long as that takes at
 * the pacing rate, less by half of it at most if it comes late.
 */
static u32 cwhstcp_send(struct tcp_sock *tp, u32 packets)
{
	struct sock *sk = (struct sock *)tp;
	u64 wait, late;
	u32 burst;

	if (!packets || tp->tcp_wstamp_ns > tp->tcp_clock_cache)
		return 0;
	burst = min(cwhstcp_min_tso_segs(sk), packets);
	late = tp->tcp_clock_cache - tp->tcp_wstamp_ns;
	wait = div64_u64((u64)burst * CWHSTCP_MSS * NSEC_PER_SEC,
			 sk->sk_pacing_rate);
	tp->packets_out += burst;
	tp->tcp_wstamp_ns = tp->tcp_clock_cache + wait - min(wait / 2, late);
	return burst;
}

/*
 * A window that may all leave at once, in small steps of time: k blocks, RTT / k from
 * beginning to beginning within 10 %, none larger, in less than the RTT altogether.
 */
static void cwhstcp_blocks_of_window(struct kunit *test)
{
	static const struct {
		u32 w, rtt_us, k;
	} paths[] = {
		{ 3, 200000, 3 }, { 7, 200000, 3 }, { 10, 200000, 3 },
		{ 60, 200000, 3 }, { 99, 200000, 3 }, { 131, 200000, 3 },
		{ 2, 200000, 3 }, { 1, 200000, 3 }, { 90, 100000, 2 },
		{ 11, 1000000, 11 }, { 400, 1000000, 11 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		u32 w = paths[i].w, rtt_us = paths[i].rtt_us, k = paths[i].k;
		u32 block = (w + k - 1) / k, left = w, blocks = 0, n;
		struct tcp_sock *tp = cwhstcp_test_sock(test, w, rtt_us);
		u64 gap = (u64)rtt_us * NSEC_PER_USEC / k, last = 0, wait;

		for (; tp->tcp_clock_cache < CWHSTCP_NOW + rtt_us * 1000ULL;
		     tp->tcp_clock_cache += 20 * NSEC_PER_USEC) {
			n = cwhstcp_send(tp, left);
			if (!n)
				continue;
			KUNIT_EXPECT_EQ(test, n, min(block, left));
			wait = tp->tcp_clock_cache - last;
			if (blocks)
				KUNIT_EXPECT_LE_MSG(test, lf_apart(wait, gap),
						    gap / 10, "w %u k %u", w, k);
			left -= n;
			last = tp->tcp_clock_cache;
			blocks++;
		}
		KUNIT_EXPECT_EQ(test, left, 0U);
		KUNIT_EXPECT_EQ(test, blocks, (w + block - 1) / block);
	}
}

/* k blocks, of the largest burst exactly: one packet more and there are none. */
static void cwhstcp_block_largest(struct kunit *test)
{
	u32 segs = READ_ONCE(init_net.ipv4.sysctl_tcp_min_tso_segs);
	struct tcp_sock *tp = cwhstcp_test_sock(test, 60, 200000);
	struct sock *sk = (struct sock *)tp;

	sk->sk_gso_max_size = MAX_TCP_HEADER + 1 + 20 * CWHSTCP_MSS;
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), 20U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate,
			60 * CWHSTCP_MSS * 5 / 16 * 17UL);
	sk->sk_pacing_rate = 4711;
	sk->sk_gso_max_size--;
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), segs);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 4711UL);
	/* Windows of which the product with k or the MSS has more than 32 bits. */
	sk->sk_gso_max_size = 65536;
	tcp_snd_cwnd_set(tp, LF_WINDOW_MAX);
	tp->mss_cache = 65483;
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), segs);
	tcp_snd_cwnd_set(tp, BIT(16));
	tp->mss_cache = BIT(16);
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), segs);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 4711UL);
}

/*
 * Where there are no blocks the kernel's pacing stays as it is: slow start, one block a
 * round trip, no RTT, a loss, a timeout or an ECN mark, blocks above the kernel's
 * largest burst, and a user who wants less than a window per RTT.
 */
static void cwhstcp_paced_by_kernel(struct kunit *test)
{
	u32 segs = READ_ONCE(init_net.ipv4.sysctl_tcp_min_tso_segs);
	struct tcp_sock *all[] = {
		cwhstcp_test_sock(test, 60, 200000),
		cwhstcp_test_sock(test, 40, 99999),
		cwhstcp_test_sock(test, 60, ~0U),
		cwhstcp_test_sock(test, 60, 200000),
		cwhstcp_test_sock(test, 60, 200000),
		cwhstcp_test_sock(test, 60, 200000),
		cwhstcp_test_sock(test, 60, 200000),
		cwhstcp_test_sock(test, 1600, 200000),
		cwhstcp_test_with(test, 60, 200000, "pacing", "off", "block"),
	};
	int i;

	all[0]->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	((struct sock *)all[3])->sk_max_pacing_rate = 60 * CWHSTCP_MSS * 5;
	inet_csk((struct sock *)all[4])->icsk_ca_state = TCP_CA_CWR;
	inet_csk((struct sock *)all[5])->icsk_ca_state = TCP_CA_Recovery;
	inet_csk((struct sock *)all[6])->icsk_ca_state = TCP_CA_Loss;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct sock *sk = (struct sock *)all[i];

		sk->sk_pacing_rate = 4711;
		KUNIT_EXPECT_EQ_MSG(test, cwhstcp_min_tso_segs(sk), segs,
				    "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, sk->sk_pacing_rate, 4711UL, "%d", i);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_status,
				i == ARRAY_SIZE(all) - 1 ? SK_PACING_NONE :
							   SK_PACING_NEEDED);
	}
}

/* pacing=smooth: single packets, always, at the kernel's rate. */
static void cwhstcp_paced_singly(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_with(test, 16, 200000, "pacing",
						"smooth", "block");
	struct sock *sk = (struct sock *)tp;

	sk->sk_pacing_rate = 4711;
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), 1U);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	KUNIT_EXPECT_EQ(test, cwhstcp_min_tso_segs(sk), 1U);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 4711UL);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NEEDED);
}

/* It is a question: nothing is written but the pacing rate. */
static void cwhstcp_question(struct kunit *test)
{
	static const char * const pacing[] = { "block", "smooth", "off" };
	struct tcp_sock *was = kunit_kzalloc(test, sizeof(*was), GFP_KERNEL);
	u32 state, w;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, was);
	for (i = 0; i < ARRAY_SIZE(pacing); i++)
		for (state = TCP_CA_Open; state <= TCP_CA_Loss; state++)
			for (w = 1; w < 400; w += 1 + w / 4) {
				struct tcp_sock *tp;
				struct sock *sk;

				tp = cwhstcp_test_with(test, w, 200000, "pacing",
						       pacing[i], "block");
				sk = (struct sock *)tp;
				inet_csk(sk)->icsk_ca_state = state;
				sk->sk_pacing_status = SK_PACING_FQ;
				tp->is_cwnd_limited = 0;
				memcpy(was, tp, sizeof(*was));
				KUNIT_ASSERT_GE(test, cwhstcp_min_tso_segs(sk),
						1U);
				((struct sock *)was)->sk_pacing_rate =
					sk->sk_pacing_rate;
				KUNIT_ASSERT_EQ_MSG(test,
						    memcmp(was, tp, sizeof(*was)),
						    0, "w %u, state %u, %s", w,
						    state, pacing[i]);
			}
}

/* --- hooks --------------------------------------------------------------- */

/* init takes parameters, minimum RTT and window, whatever was there before. */
static void cwhstcp_hook_init(struct kunit *test)
{
	static const u32 windows[] = { 1, 2, 10, 38, 39, 66500, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *tp = cwhstcp_test_sock(test, windows[i],
							240000);
		struct cwhstcp *ca = cwhstcp_of(tp), first = *ca;

		KUNIT_EXPECT_EQ(test, ca->c, 10);
		KUNIT_EXPECT_TRUE(test, ca->param_rtt == CWHSTCP_RTT_SMOOTHED);
		KUNIT_EXPECT_TRUE(test, ca->squared);
		KUNIT_EXPECT_TRUE(test, ca->pacing == CWHSTCP_BLOCK);
		KUNIT_EXPECT_EQ(test, ca->rtt_us, 240000U);
		KUNIT_EXPECT_EQ(test, ca->c_rtt, 2516582U);
		KUNIT_EXPECT_EQ(test, ca->blocks, 3U);
		KUNIT_EXPECT_EQ(test, ca->credit, 0ULL);
		KUNIT_EXPECT_LE(test, ca->rule.floor, windows[i]);
		KUNIT_EXPECT_GT(test, ca->rule.stop, windows[i]);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), windows[i]);

		/* What another algorithm left behind does not matter. */
		memset(ca, 0xff, sizeof(*ca));
		cwhstcp_init((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, memcmp(ca, &first, sizeof(first)), 0);
	}
}

/* fq paces already where it does; release twice, and without init, is one. */
static void cwhstcp_hook_release(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_sock(test, 60, 200000);
	struct sock *sk = (struct sock *)tp;

	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NEEDED);
	sk->sk_pacing_status = SK_PACING_FQ;
	cwhstcp_init(sk);
	cwhstcp_release(sk);
	cwhstcp_release(sk);
	memset(cwhstcp_of(tp), 0, sizeof(struct cwhstcp));
	cwhstcp_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_FQ);
}

/* The kernel's is changed for single packets, and given back; a driver's own stays. */
static void cwhstcp_hook_shift(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_with(test, 60, 200000, "pacing",
						"smooth", "block");
	struct sock *sk = (struct sock *)tp;

	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, cwhstcp_smooth_shift);
	cwhstcp_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, LF_PACING_SHIFT);

	/* A driver's, set before and set after. */
	lf_test_set(test, "pacing", "smooth", 0);
	sk->sk_pacing_shift = 7;
	cwhstcp_init(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 7);
	cwhstcp_release(sk);
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	cwhstcp_init(sk);
	sk->sk_pacing_shift = 8;
	cwhstcp_release(sk);
	lf_test_set(test, "pacing", "block", 0);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, 8);

	/* Blocks need none. */
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	cwhstcp_init(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, LF_PACING_SHIFT);
	sk->sk_pacing_shift = cwhstcp_smooth_shift;
	cwhstcp_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, cwhstcp_smooth_shift);
}

/*
 * A lost SYN calls ssthresh, and an answer to it undo, before init was: on
 * zeroed private data.  A target and a window as good as any, and nothing that a
 * release would have to take back, which does not come where there was no init.
 */
static void cwhstcp_hook_before_init(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_with(test, 10, 120000, "pacing",
						"smooth", "block");
	struct cwhstcp *ca = cwhstcp_of(tp), zero = {};
	struct sock *sk = (struct sock *)tp;
	u32 w;

	cwhstcp_release(sk);
	memset(ca, 0, sizeof(*ca));
	sk->sk_pacing_status = SK_PACING_NONE;
	lf_test_set(test, "pacing", "smooth", 0);
	for (w = 1; w <= 100; w++) {
		tcp_snd_cwnd_set(tp, w);
		tp->prior_cwnd = w;
		KUNIT_EXPECT_GE(test, cwhstcp_min_tso_segs(sk), 1U);
		tp->snd_ssthresh = cwhstcp_ssthresh(sk);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, lf_hstcp_decrease(w));
		tcp_snd_cwnd_set(tp, 1);
		cwhstcp_cong_avoid(sk, 0, 2);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
		KUNIT_EXPECT_EQ(test, cwhstcp_undo_cwnd(sk), w);
		KUNIT_EXPECT_EQ(test, memcmp(ca, &zero, sizeof(zero)), 0);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NONE);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, LF_PACING_SHIFT);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, ~0UL);
	}
	cwhstcp_init(sk);
	lf_test_set(test, "pacing", "block", 0);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NEEDED);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_shift, cwhstcp_smooth_shift);
}

/* Slow start is the kernel's: a packet per packet, nothing owed. */
static void cwhstcp_hook_slow_start(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_sock(test, 10, 200000);
	struct cwhstcp *ca = cwhstcp_of(tp);
	u32 rate;

	tp->snd_ssthresh = 1000;
	cwhstcp_cong_avoid((struct sock *)tp, 0, 5);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 15U);
	cwhstcp_cong_avoid((struct sock *)tp, 0, 900);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 915U);
	KUNIT_EXPECT_EQ(test, ca->credit, 0ULL);

	/* Only what slow start has left over grows by (c RTT)^2 a(w / c RTT). */
	cwhstcp_cong_avoid((struct sock *)tp, 0, 85 + 4);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	rate = ca->rate;
	KUNIT_EXPECT_LE(test, lf_apart(rate, 4 * lf_hstcp_a(500)),
			rate / 100ULL);
	KUNIT_EXPECT_EQ(test, ca->credit, 4ULL * rate);
}

/* How the first one ends is of include/longfat/slow_start.h. */
static void cwhstcp_hook_first_slow_start(struct kunit *test)
{
	lf_test_first_slow_start(test, &cwhstcp,
				 cwhstcp_test_sock(test, 10, 200000));
}

/* Growth only while the window is what limits, and never past the clamp. */
static void cwhstcp_hook_limits(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_sock(test, 1000, 200000);
	int i;

	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 1000;
	cwhstcp_cong_avoid((struct sock *)tp, 0, 1000);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	KUNIT_EXPECT_EQ(test, cwhstcp_of(tp)->credit, 0ULL);

	tp->is_cwnd_limited = 1;
	tp->snd_cwnd_clamp = 1005;
	for (i = 0; i < 10; i++) {
		cwhstcp_cong_avoid((struct sock *)tp, 0, 1000);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1005U);
	}
}

/* eta and k follow the minimum RTT, up and down; 0 us is not divided by. */
static void cwhstcp_hook_rtt(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_paper(test, 10000, ~0U);
	struct cwhstcp *ca = cwhstcp_of(tp);
	u32 a = lf_hstcp_a(10000) >> LF_RATE_SHIFT, w;

	/* No sample yet: Reno. */
	KUNIT_EXPECT_EQ(test, ca->rate, LF_RATE_ONE);
	KUNIT_EXPECT_LE(test, cwhstcp_trips(tp, 1), 10001U);
	minmax_reset(&tp->rtt_min, 0, 200000);
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(tp, 1) - w, 2 * a), 2ULL);
	KUNIT_EXPECT_EQ(test, ca->blocks, 3U);
	minmax_reset(&tp->rtt_min, 0, 50000);
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(tp, 1) - w, a / 2), 2ULL);
	KUNIT_EXPECT_EQ(test, ca->blocks, 1U);
	minmax_reset(&tp->rtt_min, 0, 0);
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_LE(test, cwhstcp_trips(tp, 1), w + 1);
	KUNIT_EXPECT_EQ(test, ca->rate, LF_RATE_ONE);

	/* The smoothed RTT has a queue in it; that of min has not. */
	lf_test_set(test, "rtt_exponent", "1", 0);
	tp = cwhstcp_test_with(test, 10000, 100000, "rtt", "smoothed", "min");
	lf_test_set(test, "rtt_exponent", "2", 0);
	tp->srtt_us = 300000 << 3;
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(tp, 1) - w, 3 * a), 2ULL);
	KUNIT_EXPECT_EQ(test, cwhstcp_of(tp)->blocks, 4U);
	tp = cwhstcp_test_paper(test, 10000, 100000);
	tp->srtt_us = 300000 << 3;
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(tp, 1) - w, a), 2ULL);
}

/*
 * eta goes by the smoothed RTT if that is off by more than a 64th, up or down, and until
 * then not at all; the minimum it follows at once.  By default equal throughput is
 * equal growth of V, queue or none.
 */
static void cwhstcp_hook_smoothed(struct kunit *test)
{
	static const u32 rtts[] = { 101562, 98438, 100000, 101563, 98000 };
	struct tcp_sock *tp = cwhstcp_test_sock(test, 10000, 100000);
	struct cwhstcp *ca = cwhstcp_of(tp);
	u32 a = lf_hstcp_a(5000) >> LF_RATE_SHIFT, i, w;

	for (i = 0; i < 3; i++) {
		tp->srtt_us = rtts[i] << 3;
		cwhstcp_trips(tp, 1);
		KUNIT_EXPECT_EQ(test, ca->rtt_us, 100000U);
	}
	for (; i < ARRAY_SIZE(rtts); i++) {
		tp->srtt_us = rtts[i] << 3;
		cwhstcp_trips(tp, 1);
		KUNIT_EXPECT_EQ(test, ca->rtt_us, rtts[i]);
		KUNIT_EXPECT_EQ(test, ca->c_rtt, cwhstcp_c_rtt(rtts[i], 10));
	}
	/* 100 ms of queue: the window of half of it, four times over. */
	tp->srtt_us = 200000 << 3;
	tcp_snd_cwnd_set(tp, 10000);
	w = cwhstcp_trips(tp, 1) - 10000;
	KUNIT_EXPECT_LE(test, lf_apart(w, 4 * a), 4ULL);

	tp = cwhstcp_test_paper(test, 10000, 100000);
	minmax_reset(&tp->rtt_min, 0, 99999);
	cwhstcp_trips(tp, 1);
	KUNIT_EXPECT_EQ(test, cwhstcp_of(tp)->rtt_us, 99999U);
}

/*
 * Any window from 1 to 2^30: a loss asks for W - b(W) W, at least 2, owes no
 * growth, and the window itself is the kernel's.
 */
static void cwhstcp_hook_ssthresh(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_paper(test, 10, 200000);
	struct cwhstcp *ca = cwhstcp_of(tp);
	u32 w;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		u32 target;

		tcp_snd_cwnd_set(tp, w);
		ca->credit = ((u64)w << LF_RATE_SHIFT) - 1;
		target = cwhstcp_ssthresh((struct sock *)tp);
		KUNIT_ASSERT_GE_MSG(test, target, 2U, "w %u", w);
		KUNIT_ASSERT_EQ(test, target, lf_hstcp_decrease(w));
		KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), w);
		KUNIT_ASSERT_EQ(test, ca->credit, 0ULL);

		/* No burst: the first packet has to be earned. */
		tcp_snd_cwnd_set(tp, target);
		cwhstcp_cong_avoid((struct sock *)tp, 0, 1);
		if (target > 5)
			KUNIT_ASSERT_EQ_MSG(test, tcp_snd_cwnd(tp), target,
					    "w %u", w);
	}
}

/* A spurious loss never was: window, owed growth and rule come back. */
static void cwhstcp_hook_undo(struct kunit *test)
{
	struct tcp_sock *tp = cwhstcp_test_sock(test, 10, 200000);
	struct cwhstcp *ca = cwhstcp_of(tp), before;
	u32 w;

	for (w = 2; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		tcp_snd_cwnd_set(tp, w);
		tp->prior_cwnd = w;
		ca->credit = ((u64)w << LF_RATE_SHIFT) - 1;
		cwhstcp_enter(ca, w);
		before = *ca;
		tp->snd_ssthresh = cwhstcp_ssthresh((struct sock *)tp);
		/* The kernel is anywhere on the way down, or at a timeout's 1. */
		tcp_snd_cwnd_set(tp, w & 1 ? tp->snd_ssthresh : 1);
		KUNIT_ASSERT_EQ(test, cwhstcp_undo_cwnd((struct sock *)tp), w);
		KUNIT_ASSERT_EQ(test, ca->credit, before.credit);
		before.prior_credit = ca->prior_credit;
		KUNIT_ASSERT_EQ_MSG(test, memcmp(ca, &before, sizeof(before)),
				    0, "w %u", w);
	}
}

/* After idle the window may be far lower: the rule follows, nothing bursts. */
static void cwhstcp_hook_idle(struct kunit *test)
{
	static const u32 windows[] = { 60000, 1000000, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		u32 w = windows[i], low = w / 1000;
		struct tcp_sock *tp = cwhstcp_test_sock(test, w, 100000);
		struct cwhstcp *ca = cwhstcp_of(tp);

		ca->credit = ((u64)w << LF_RATE_SHIFT) - 1;
		tcp_snd_cwnd_set(tp, low);
		cwhstcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), low + 1);
		KUNIT_EXPECT_LE(test, ca->rule.floor, low);
		KUNIT_EXPECT_GT(test, ca->rule.stop, low);
		cwhstcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), low + 1);
	}
}

static void cwhstcp_hook_get_info(struct kunit *test)
{
	lf_test_get_info(test);
}

static void cwhstcp_hook_registered(struct kunit *test)
{
	lf_test_registered(test, &cwhstcp, "cwhstcp", sizeof(struct cwhstcp));
}

/* --- parameters ---------------------------------------------------------- */

static const struct lf_test_params cwhstcp_params[] = {
	{ "c", { "1", "100", "10\n" }, "0", "101" },
	{ "rtt", { "smoothed", "min\n" } },
	{ "rtt_exponent", { "1", "2\n" }, "0", "3" },
	{ "pacing", { "smooth", "off", "block\n" } },
	{ "slow_start", { "hystart++", "limited", "classic", "train\n" } },
};

static void cwhstcp_params_checked(struct kunit *test)
{
	lf_test_params_checked(test, cwhstcp_params,
			       ARRAY_SIZE(cwhstcp_params));
}

/* A connection keeps the parameters it started with; the next has new ones. */
static void cwhstcp_params_taken(struct kunit *test)
{
	struct tcp_sock *old = cwhstcp_test_paper(test, 1000, 100000), *new;
	u32 a = lf_hstcp_a(1000) >> LF_RATE_SHIFT;

	lf_test_set(test, "rtt_exponent", "1", 0);
	new = cwhstcp_test_with(test, 1000, 100000, "c", "20", "10");
	lf_test_set(test, "rtt_exponent", "2", 0);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(old, 1), 1000 + a), 1ULL);
	KUNIT_EXPECT_LE(test, lf_apart(cwhstcp_trips(new, 1), 1000 + 2 * a),
			1ULL);
}

static struct kunit_case cwhstcp_arithmetic_cases[] = {
	KUNIT_CASE(cwhstcp_eta_exact),
	KUNIT_CASE(cwhstcp_eta_everywhere),
	KUNIT_CASE(cwhstcp_rate_table1),
	KUNIT_CASE(cwhstcp_rate_bounds),
	KUNIT_CASE(cwhstcp_block_sizes),
	{}
};

static struct kunit_case cwhstcp_growth_cases[] = {
	KUNIT_CASE(cwhstcp_grow_equal),
	KUNIT_CASE(cwhstcp_throughput_equal),
	KUNIT_CASE(cwhstcp_reference_bounds),
	KUNIT_CASE(cwhstcp_grow_rate),
	KUNIT_CASE(cwhstcp_grow_batch),
	KUNIT_CASE(cwhstcp_grow_capped),
	KUNIT_CASE(cwhstcp_grow_never_stuck),
	{}
};

static struct kunit_case cwhstcp_pacing_cases[] = {
	KUNIT_CASE(cwhstcp_window_rates),
	KUNIT_CASE(cwhstcp_rate_written),
	KUNIT_CASE(cwhstcp_largest_bursts),
	KUNIT_CASE(cwhstcp_blocks_of_window),
	KUNIT_CASE(cwhstcp_block_largest),
	KUNIT_CASE(cwhstcp_paced_by_kernel),
	KUNIT_CASE(cwhstcp_paced_singly),
	KUNIT_CASE(cwhstcp_question),
	{}
};

static struct kunit_case cwhstcp_hook_cases[] = {
	KUNIT_CASE(cwhstcp_hook_init),
	KUNIT_CASE(cwhstcp_hook_release),
	KUNIT_CASE(cwhstcp_hook_shift),
	KUNIT_CASE(cwhstcp_hook_before_init),
	KUNIT_CASE(cwhstcp_hook_slow_start),
	KUNIT_CASE(cwhstcp_hook_first_slow_start),
	KUNIT_CASE(cwhstcp_hook_limits),
	KUNIT_CASE(cwhstcp_hook_rtt),
	KUNIT_CASE(cwhstcp_hook_smoothed),
	KUNIT_CASE(cwhstcp_hook_ssthresh),
	KUNIT_CASE(cwhstcp_hook_undo),
	KUNIT_CASE(cwhstcp_hook_idle),
	KUNIT_CASE(cwhstcp_hook_get_info),
	KUNIT_CASE(cwhstcp_hook_registered),
	{}
};

static struct kunit_case cwhstcp_param_cases[] = {
	KUNIT_CASE(cwhstcp_params_checked),
	KUNIT_CASE(cwhstcp_params_taken),
	{}
};

static struct kunit_suite cwhstcp_arithmetic = {
	.name = "cwhstcp_arithmetic",
	.test_cases = cwhstcp_arithmetic_cases,
};

static struct kunit_suite cwhstcp_growth = {
	.name = "cwhstcp_growth",
	.test_cases = cwhstcp_growth_cases,
};

static struct kunit_suite cwhstcp_pacing = {
	.name = "cwhstcp_pacing",
	.test_cases = cwhstcp_pacing_cases,
};

static struct kunit_suite cwhstcp_hooks = {
	.name = "cwhstcp_hooks",
	.test_cases = cwhstcp_hook_cases,
};

static struct kunit_suite cwhstcp_parameters = {
	.name = "cwhstcp_params",
	.test_cases = cwhstcp_param_cases,
};

kunit_test_suites(&cwhstcp_arithmetic, &cwhstcp_growth, &cwhstcp_pacing,
		  &cwhstcp_hooks, &cwhstcp_parameters);
