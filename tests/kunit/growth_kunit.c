// SPDX-License-Identifier: GPL-2.0
/*
 * Exact growth of the congestion window: include/longfat/growth.h
 */

#include <kunit/test.h>
#include <linux/module.h>

#include <longfat/growth.h>

#include "sample.h"

/*
 * Packets per round trip: Reno, K_R K as LTCP has it at 120 ms for K = 2, 10,
 * 21 and 46, odd ones, and more than any window can take.
 */
static const u32 rates[] = {
	LF_RATE_ONE, 2 * 2525, 10 * 2525, 21 * 2525, 46 * 2525,
	LF_RATE_ONE + 1, 1500, 1000 * LF_RATE_ONE + 1023, S32_MAX, U32_MAX,
};

struct growth {
	u32 window;
	u64 credit;
};

/* One call; the window never reaches a stop, so all of @acked is used. */
static void grow(struct kunit *test, struct growth *g, u32 acked, u32 rate)
{
	u32 left = lf_grow(&g->window, &g->credit, acked, rate, U32_MAX);

	KUNIT_ASSERT_EQ(test, left, 0U);
}

/* Compare one call for n with n calls for one, n = 1..64. */
static void growth_same_in_batches(struct kunit *test, struct growth start,
				   u32 rate)
{
	struct growth one = start;
	u32 n;

	for (n = 1; n <= 64; n++) {
		struct growth batch = start;

		grow(test, &one, 1, rate);
		grow(test, &batch, n, rate);
		KUNIT_ASSERT_EQ_MSG(test, batch.window, one.window,
				    "w %u credit %llu rate %u acked %u",
				    start.window, start.credit, rate, n);
		KUNIT_ASSERT_EQ_MSG(test, batch.credit, one.credit,
				    "w %u credit %llu rate %u acked %u",
				    start.window, start.credit, rate, n);
	}
}

/* One ACK for n packets gives window and credit of n ACKs for one packet. */
static void growth_batch(struct kunit *test)
{
	struct rnd_state rnd;
	struct growth start;
	u32 w;
	int r, i;

	prandom_seed_state(&rnd, 1);
	for (r = 0; r < ARRAY_SIZE(rates); r++) {
		for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 80, 16)) {
			start.window = w;
			start.credit = 0;
			growth_same_in_batches(test, start, rates[r]);
			start.credit = ((u64)w << LF_RATE_SHIFT) - 1;
			growth_same_in_batches(test, start, rates[r]);
		}
		for (i = 0; i < 500; i++) {
			start.window = lf_random_window(&rnd);
			start.credit = (u64)prandom_u32_state(&rnd) <<
				       prandom_u32_state(&rnd) % 11;
			growth_same_in_batches(test, start, rates[r]);
		}
	}
}

/* As before for random rates, and for a whole round trip in a single ACK. */
static void growth_batch_round_trip(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 2);
	for (i = 0; i < 3000; i++) {
		u32 rate = LF_RATE_ONE + (prandom_u32_state(&rnd) >>
					  prandom_u32_state(&rnd) % 22);
		u32 w = 1 + lf_random_window(&rnd) % 3000, n;
		struct growth one = { .window = w }, batch = one;

		growth_same_in_batches(test, one, rate);
		for (n = 0; n < w; n++)
			grow(test, &one, 1, rate);
		grow(test, &batch, w, rate);
		KUNIT_ASSERT_EQ_MSG(test, batch.window, one.window,
				    "w %u rate %u", w, rate);
		KUNIT_ASSERT_EQ_MSG(test, batch.credit, one.credit,
				    "w %u rate %u", w, rate);
	}
}

/*
 * Nothing is lost or made up: above the cap, credit before plus acked * rate is
 * credit after plus the price of each packet grown, W + (W + 1) + ...
 */
static void growth_conserves(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 200000; i++) {
		u32 w = lf_random_window(&rnd);
		u32 rate = LF_RATE_ONE + (u32)(prandom_u32_state(&rnd) %
				(((u64)w << LF_RATE_SHIFT) - LF_RATE_ONE + 1));
		u32 acked = 1 + lf_random_window(&rnd) % min(2 * w, 10000U);
		u64 had = prandom_u32_state(&rnd) % ((u64)w << LF_RATE_SHIFT);
		struct growth g = { .window = w, .credit = had };
		u64 grown, price;

		if (w <= rate >> LF_RATE_SHIFT)
			continue;
		grow(test, &g, acked, rate);
		grown = g.window - w;
		price = (grown * w + grown * (grown - 1) / 2) << LF_RATE_SHIFT;
		KUNIT_ASSERT_EQ_MSG(test, had + (u64)acked * rate,
				    g.credit + price,
				    "w %u rate %u acked %u", w, rate, acked);
		KUNIT_ASSERT_LT(test, g.credit,
				(u64)g.window << LF_RATE_SHIFT);
	}
}

/* @trips round trips from @w, in ACKs for @bunch packets each. */
static void growth_trips(struct kunit *test, u32 w, u32 rate, u32 trips,
			 u32 bunch)
{
	u64 want = (u64)trips * rate, got, slack;
	u64 whole = (rate >> LF_RATE_SHIFT) + 2;
	struct growth g = { .window = w };
	u32 i;

	/* Below 4 rates is the cap's; and not what would take seconds. */
	if ((u64)w << LF_RATE_SHIFT < 4ULL * rate || w / bunch > 20000 / trips ||
	    whole > 5000000 / trips)
		return;
	for (i = 0; i < trips; i++) {
		u32 left = g.window;

		while (left) {
			u32 n = min(left, bunch);

			grow(test, &g, n, rate);
			left -= n;
		}
	}
	got = (u64)(g.window - w) << LF_RATE_SHIFT;
	slack = div64_u64(trips * whole * whole << LF_RATE_SHIFT, 2 * w) +
		LF_RATE_ONE;
	KUNIT_ASSERT_LE_MSG(test, got, want, "w %u rate %u trips %u by %u",
			    w, rate, trips, bunch);
	KUNIT_ASSERT_GT_MSG(test, got + slack, want,
			    "w %u rate %u trips %u by %u",
			    w, rate, trips, bunch);
}

/*
 * Over whole round trips the window grows by rate, less than one packet short
 * and never above.  On top of the packet, r^2 / 2W for each round trip: a
 * window that grows while the W packets of one round trip are acknowledged
 * makes the last of them count for less than the first, as in Reno.
 */
static void growth_per_round_trip(struct kunit *test)
{
	static const u32 bunches[] = { 1, 2, 7, 64, S32_MAX };
	int r, b;
	u32 w;

	for (r = 0; r < ARRAY_SIZE(rates); r++) {
		for (b = 0; b < ARRAY_SIZE(bunches); b++) {
			for (w = 1; w <= LF_WINDOW_MAX;
			     w = lf_next_window(w, 8, 2)) {
				growth_trips(test, w, rates[r], 1, bunches[b]);
				growth_trips(test, w, rates[r], 10, bunches[b]);
				growth_trips(test, w, rates[r], 100,
					     bunches[b]);
			}
		}
	}
}

/* Reno at 2^30, the slowest growth there is: 10^4 round trips, 10^4 packets. */
static void growth_never_stuck(struct kunit *test)
{
	struct growth g;
	u32 i, bits;

	for (bits = 20; bits <= 30; bits++) {
		g.window = BIT(bits);
		g.credit = 0;
		for (i = 0; i < 10000; i++)
			grow(test, &g, g.window, LF_RATE_ONE);
		/* The credit of one packet is still owed, to 10^4 / 2^bits. */
		KUNIT_ASSERT_GE(test, g.window, BIT(bits) + 9950);
		KUNIT_ASSERT_LE(test, g.window, BIT(bits) + 10000);
	}

	/* One packet at a time: not one gain is rounded away. */
	g.window = BIT(30);
	g.credit = 0;
	for (i = 1; i <= 1000000; i++)
		grow(test, &g, 1, LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, g.credit, 1000000ULL << LF_RATE_SHIFT);
	g.window = BIT(20);
	g.credit = 0;
	for (i = 1; i < BIT(20); i++)
		grow(test, &g, 1, LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, g.window, BIT(20));
	grow(test, &g, 1, LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, g.window, BIT(20) + 1);
	KUNIT_EXPECT_EQ(test, g.credit, 0ULL);
}

/*
 * At most one packet per packet acknowledged, whatever the rate and however
 * absurd the credit, and exactly that while the window is below the rate.
 */
static void growth_capped(struct kunit *test)
{
	struct rnd_state rnd;
	struct growth g;
	int i;

	prandom_seed_state(&rnd, 4);
	for (i = 0; i < 200000; i++) {
		u32 w = lf_random_window(&rnd);
		u32 acked = 1 + prandom_u32_state(&rnd) % 128;
		u32 rate = max_t(u32, LF_RATE_ONE, prandom_u32_state(&rnd) >>
				 prandom_u32_state(&rnd) % 22);

		g.window = w;
		g.credit = ((u64)prandom_u32_state(&rnd) << 10) >>
			   prandom_u32_state(&rnd) % 42;
		grow(test, &g, acked, rate);
		KUNIT_ASSERT_LE_MSG(test, g.window - w, acked,
				    "w %u rate %u", w, rate);
		if ((u64)w + acked <= rate >> LF_RATE_SHIFT)
			KUNIT_ASSERT_EQ_MSG(test, g.window - w, acked,
					    "w %u rate %u", w, rate);
	}
}

/* What a large window was owed is not a burst at a small one: one packet. */
static void growth_no_burst(struct kunit *test)
{
	u32 from, to;

	for (from = 64; from <= LF_WINDOW_MAX; from = from * 2)
		for (to = 2; to < from; to = to * 2) {
			struct growth g = {
				.window = to,
				.credit = ((u64)from << LF_RATE_SHIFT) - 1,
			};

			grow(test, &g, 1, LF_RATE_ONE);
			KUNIT_ASSERT_EQ(test, g.window, to + 1);
			/* The next one is earned in full. */
			grow(test, &g, to - 1, LF_RATE_ONE);
			KUNIT_ASSERT_EQ(test, g.window, to + 1);
			KUNIT_ASSERT_LT(test, g.credit,
					(u64)g.window << LF_RATE_SHIFT);
		}
}

/*
 * The window halts at the stop, and what is handed back is what n calls for one
 * packet had not used when they got there, with the same credit.
 */
static void growth_stops(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 5);
	for (i = 0; i < 100000; i++) {
		u32 w = lf_random_window(&rnd);
		u32 stop = w + 1 + prandom_u32_state(&rnd) % 40;
		u32 rate = max_t(u32, LF_RATE_ONE, prandom_u32_state(&rnd) >>
				 prandom_u32_state(&rnd) % 22);
		u32 acked = 1 + prandom_u32_state(&rnd) % 200, used = 0, left;
		struct growth one = {
			.window = w,
			.credit = ((u64)w << LF_RATE_SHIFT) - 1,
		};
		struct growth batch = one;

		left = lf_grow(&batch.window, &batch.credit, acked, rate, stop);
		while (used < acked && one.window < stop) {
			u32 back = lf_grow(&one.window, &one.credit, 1, rate,
					   stop);

			KUNIT_ASSERT_EQ(test, back, 0U);
			used++;
		}
		KUNIT_ASSERT_LE(test, batch.window, stop);
		KUNIT_ASSERT_EQ_MSG(test, left, acked - used,
				    "w %u stop %u rate %u acked %u",
				    w, stop, rate, acked);
		KUNIT_ASSERT_EQ(test, batch.window, one.window);
		KUNIT_ASSERT_EQ(test, batch.credit, one.credit);
	}
}

/* The documented extremes at once: 2^31 - 1 packets at the largest rate. */
static void growth_no_overflow(struct kunit *test)
{
	struct growth g = { .window = BIT(30), .credit = BIT_ULL(42) };
	u32 left;

	/* Rate 2^22 packets at 2^30: 2^31 packets are two round trips. */
	left = lf_grow(&g.window, &g.credit, S32_MAX, U32_MAX, U32_MAX);
	KUNIT_EXPECT_EQ(test, left, 0U);
	KUNIT_EXPECT_LE(test, g.window, BIT(30) + BIT(23) + 1);
	KUNIT_EXPECT_GE(test, g.window, BIT(30) + BIT(23) - BIT(16));

	/* Credit is clamped before it is added to. */
	g.window = 1;
	g.credit = U64_MAX;
	grow(test, &g, 1, LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, g.window, 2U);
}

static struct kunit_case growth_cases[] = {
	KUNIT_CASE(growth_batch),
	KUNIT_CASE(growth_batch_round_trip),
	KUNIT_CASE(growth_conserves),
	KUNIT_CASE(growth_per_round_trip),
	KUNIT_CASE(growth_never_stuck),
	KUNIT_CASE(growth_capped),
	KUNIT_CASE(growth_no_burst),
	KUNIT_CASE(growth_stops),
	KUNIT_CASE(growth_no_overflow),
	{}
};

static struct kunit_suite growth_suite = {
	.name = "longfat_growth",
	.test_cases = growth_cases,
};

kunit_test_suites(&growth_suite);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of exact window growth");
