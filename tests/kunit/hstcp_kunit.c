// SPDX-License-Identifier: GPL-2.0
/*
 * HighSpeed TCP's response function: include/longfat/hstcp.h.  How far it is
 * from the formulas in real numbers is for tests/unit/test_hstcp.py.
 */

#include <kunit/test.h>
#include <linux/module.h>

#include <longfat/hstcp.h>

#include "sample.h"

/*
 * RFC 3649, appendix B, as printed: the windows at which a is the next whole
 * number, and 100 b there.
 */
static const struct {
	u32 w, a, b;
} rfc3649[] = {
	{    38,  1, 50 }, {   118,  2, 44 }, {   221,  3, 41 }, {   347,  4, 38 },
	{   495,  5, 37 }, {   663,  6, 35 }, {   851,  7, 34 }, {  1058,  8, 33 },
	{  1284,  9, 32 }, {  1529, 10, 31 }, {  1793, 11, 30 }, {  2076, 12, 29 },
	{  2378, 13, 28 }, {  2699, 14, 28 }, {  3039, 15, 27 }, {  3399, 16, 27 },
	{  3778, 17, 26 }, {  4177, 18, 26 }, {  4596, 19, 25 }, {  5036, 20, 25 },
	{  5497, 21, 24 }, {  5979, 22, 24 }, {  6483, 23, 23 }, {  7009, 24, 23 },
	{  7558, 25, 22 }, {  8130, 26, 22 }, {  8726, 27, 22 }, {  9346, 28, 21 },
	{  9991, 29, 21 }, { 10661, 30, 21 }, { 11358, 31, 20 }, { 12082, 32, 20 },
	{ 12834, 33, 20 }, { 13614, 34, 19 }, { 14424, 35, 19 }, { 15265, 36, 19 },
	{ 16137, 37, 19 }, { 17042, 38, 18 }, { 17981, 39, 18 }, { 18955, 40, 18 },
	{ 19965, 41, 17 }, { 21013, 42, 17 }, { 22101, 43, 17 }, { 23230, 44, 17 },
	{ 24402, 45, 16 }, { 25618, 46, 16 }, { 26881, 47, 16 }, { 28193, 48, 16 },
	{ 29557, 49, 15 }, { 30975, 50, 15 }, { 32450, 51, 15 }, { 33986, 52, 15 },
	{ 35586, 53, 14 }, { 37253, 54, 14 }, { 38992, 55, 14 }, { 40808, 56, 14 },
	{ 42707, 57, 13 }, { 44694, 58, 13 }, { 46776, 59, 13 }, { 48961, 60, 13 },
	{ 51258, 61, 13 }, { 53677, 62, 12 }, { 56230, 63, 12 }, { 58932, 64, 12 },
	{ 61799, 65, 12 }, { 64851, 66, 11 }, { 68113, 67, 11 }, { 71617, 68, 11 },
	{ 75401, 69, 10 }, { 79517, 70, 10 }, { 84035, 71, 10 }, { 89053, 72, 10 },
	{ 94717, 73,  9 },
};

/* CW-HSTCP, Table 1. */
static const struct {
	u32 w, a;
} table1[] = {
	{ 38, 1 }, { 118, 2 }, { 221, 3 }, { 347, 4 }, { 84035, 71 },
};

/* Every window up to 2^16, a 1000th more each to 2^32 - 1, then 0. */
static u32 hstcp_next(u32 w)
{
	u32 next = lf_next_window(w, BIT(16), 1000);

	if (next > w)
		return next;
	return w < U32_MAX ? U32_MAX : 0;
}

/* --- a and b ------------------------------------------------------------- */

/* a at a row's window is the row's, cut off as it was there; b is rounded. */
static void hstcp_rfc_table(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(rfc3649), 73);
	for (i = 0; i < ARRAY_SIZE(rfc3649); i++) {
		u32 w = rfc3649[i].w;
		u32 b = lf_hstcp_b(w) * 10000ULL >> LF_HSTCP_B_SHIFT;

		KUNIT_EXPECT_EQ_MSG(test, lf_hstcp_a(w) >> LF_RATE_SHIFT,
				    rfc3649[i].a, "w %u", w);
		/* 0.005 for two decimals, 0.0001 for what b was cut by. */
		KUNIT_EXPECT_LE_MSG(test, lf_apart(b, rfc3649[i].b * 100), 51ULL,
				    "w %u", w);
	}
}

static void hstcp_cwhstcp_table(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(table1); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    lf_hstcp_a(table1[i].w) >> LF_RATE_SHIFT,
				    table1[i].a, "w %u", table1[i].w);
}

/* Up to 38 packets it is Reno, exactly. */
static void hstcp_reno(struct kunit *test)
{
	u32 w;

	for (w = 1; w <= 38; w++) {
		struct lf_hstcp rule;

		lf_hstcp_rule(&rule, w);
		KUNIT_EXPECT_EQ(test, rule.a, LF_RATE_ONE);
		KUNIT_EXPECT_EQ(test, lf_hstcp_a(w), LF_RATE_ONE);
		KUNIT_EXPECT_EQ(test, lf_hstcp_b(w), BIT(LF_HSTCP_B_SHIFT - 1));
		KUNIT_EXPECT_EQ(test, lf_hstcp_decrease(w),
				max(w - w / 2, 2U));
	}
}

/*
 * A larger window never grows more slowly, nor loses a larger share; never
 * slower than Reno, never more than half.
 */
static void hstcp_monotone(struct kunit *test)
{
	u32 a = LF_RATE_ONE, b = LF_HSTCP_B_RENO, rule_a = LF_RATE_ONE, w;

	for (w = 1; w; w = hstcp_next(w)) {
		struct lf_hstcp rule;

		lf_hstcp_rule(&rule, w);
		KUNIT_ASSERT_GE_MSG(test, lf_hstcp_a(w), a, "w %u", w);
		KUNIT_ASSERT_GE_MSG(test, rule.a, rule_a, "w %u", w);
		KUNIT_ASSERT_LE_MSG(test, lf_hstcp_b(w), b, "w %u", w);
		a = lf_hstcp_a(w);
		b = lf_hstcp_b(w);
		rule_a = rule.a;
	}
	/* It goes on growing beyond the RFC's 83000, and b is held. */
	KUNIT_EXPECT_GT(test, a, 1000 * LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, b, lf_hstcp_b(147456));
	KUNIT_EXPECT_LT(test, b, lf_hstcp_b(83000));
}

/* --- rules --------------------------------------------------------------- */

/* A rule holds at the window it was made for, and is that of its floor. */
static void hstcp_rule_covers(struct kunit *test)
{
	u32 w;

	for (w = 1; w; w = hstcp_next(w)) {
		struct lf_hstcp rule, first, last;

		lf_hstcp_rule(&rule, w);
		KUNIT_ASSERT_LE_MSG(test, rule.floor, w, "w %u", w);
		if (w < U32_MAX)
			KUNIT_ASSERT_GT_MSG(test, rule.stop, w, "w %u", w);
		lf_hstcp_rule(&first, max(rule.floor, 1U));
		lf_hstcp_rule(&last, rule.stop - 1);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(&rule, &first, sizeof(rule)),
				    0, "w %u", w);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(&rule, &last, sizeof(rule)),
				    0, "w %u", w);
	}
}

/*
 * From 0 to 2^32 - 1 each rule begins where the last one ends; none is wider
 * than a 64th of its window, and its a is that of one of its windows.
 */
static void hstcp_rules_tile(struct kunit *test)
{
	u32 w = 0, a = LF_RATE_ONE, count;

	for (count = 0; w < U32_MAX; count++) {
		struct lf_hstcp rule;

		lf_hstcp_rule(&rule, max(w, 1U));
		KUNIT_ASSERT_EQ(test, rule.floor, w);
		KUNIT_ASSERT_GT(test, rule.stop, w);
		if (w)
			KUNIT_ASSERT_LE_MSG(test, rule.stop - w,
					    max(w / 64, 1U), "w %u", w);
		KUNIT_ASSERT_GE_MSG(test, rule.a, a, "w %u", w);
		KUNIT_ASSERT_GE_MSG(test, rule.a, lf_hstcp_a(w), "w %u", w);
		KUNIT_ASSERT_LE_MSG(test, rule.a, lf_hstcp_a(rule.stop - 1),
				    "w %u", w);
		a = rule.a;
		w = rule.stop;
	}
	KUNIT_EXPECT_EQ(test, w, U32_MAX);
	KUNIT_EXPECT_LT(test, count, 2000U);
}

/* --- decrease ------------------------------------------------------------ */

static void hstcp_decrease_holds(struct kunit *test, u32 w)
{
	u32 after = lf_hstcp_decrease(w);
	u64 share = (u64)w * lf_hstcp_b(w), lost = w - after;

	KUNIT_ASSERT_GE_MSG(test, after, 2U, "w %u", w);
	if (w <= 3)
		return;
	KUNIT_ASSERT_LT_MSG(test, after, w, "w %u", w);
	/* W b, cut off to whole packets. */
	KUNIT_ASSERT_LE_MSG(test, lost << LF_HSTCP_B_SHIFT, share, "w %u", w);
	KUNIT_ASSERT_GT_MSG(test, (lost + 1) << LF_HSTCP_B_SHIFT, share,
			    "w %u", w);
}

/*
 * At least 2 are left, fewer than before wherever that is possible, W (1 - b)
 * within a packet; and who had more has more.
 */
static void hstcp_decrease_sane(struct kunit *test)
{
	u32 last = 0, w;

	for (w = 1; w; w = hstcp_next(w)) {
		hstcp_decrease_holds(test, w);
		KUNIT_ASSERT_GE_MSG(test, lf_hstcp_decrease(w), last,
				    "w %u", w);
		last = lf_hstcp_decrease(w);
	}
	KUNIT_EXPECT_EQ(test, lf_hstcp_decrease(1), 2U);
	KUNIT_EXPECT_EQ(test, lf_hstcp_decrease(2), 2U);
	KUNIT_EXPECT_EQ(test, lf_hstcp_decrease(3), 2U);
}

/* W (1 - b) for b as printed, which has two decimals. */
static void hstcp_decrease_rfc(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rfc3649); i++) {
		u32 w = rfc3649[i].w;
		u32 want = w * (100 - rfc3649[i].b) / 100;

		KUNIT_EXPECT_LE_MSG(test, lf_apart(lf_hstcp_decrease(w), want),
				    w * 51 / 10000 + 2ULL, "w %u", w);
	}
}

/* --- growth -------------------------------------------------------------- */

struct growth {
	u32 window;
	u64 credit;
	struct lf_hstcp rule;
	u32 rules;		/* taken */
};

/* As an algorithm uses it: the rule of the window, and the next at its end. */
static void hstcp_grow(struct growth *g, u32 acked)
{
	do {
		if (g->window < g->rule.floor || g->window >= g->rule.stop) {
			lf_hstcp_rule(&g->rule, g->window);
			g->rules++;
		}
		acked = lf_grow(&g->window, &g->credit, acked, g->rule.a,
				g->rule.stop);
	} while (acked);
}

static void hstcp_same(struct kunit *test, const struct growth *batch,
		       const struct growth *one, u32 from, u32 acked)
{
	KUNIT_ASSERT_EQ_MSG(test, batch->window, one->window, "w %u acked %u",
			    from, acked);
	KUNIT_ASSERT_EQ_MSG(test, batch->credit, one->credit, "w %u acked %u",
			    from, acked);
}

/* n packets in one ACK and in n, n = 1..64; the rules that it took. */
static u32 hstcp_same_in_batches(struct kunit *test, u32 w, u64 credit)
{
	struct growth one = { .window = w, .credit = credit };
	u32 n;

	for (n = 1; n <= 64; n++) {
		struct growth batch = { .window = w, .credit = credit };

		hstcp_grow(&one, 1);
		hstcp_grow(&batch, n);
		hstcp_same(test, &batch, &one, w, n);
	}
	return one.rules;
}

/*
 * One ACK for n packets is n ACKs for one, window and credit, from below each
 * rule's end, and from random windows.
 */
static void hstcp_grow_batch(struct kunit *test)
{
	u32 crossed = 0, w, i;
	struct lf_hstcp rule;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 31);
	for (w = 1; w <= LF_WINDOW_MAX; w = rule.stop) {
		u32 before;

		lf_hstcp_rule(&rule, w);
		for (before = 1; before <= min(rule.stop - 1, 3U); before++) {
			u32 from = rule.stop - before;
			u64 most = ((u64)from << LF_RATE_SHIFT) - 1;

			crossed += hstcp_same_in_batches(test, from, 0) > 1;
			crossed += hstcp_same_in_batches(test, from, most) > 1;
		}
	}
	/* Crossing is what this is about. */
	KUNIT_EXPECT_GT(test, crossed, 1000U);
	for (i = 0; i < 2000; i++) {
		w = lf_random_window(&rnd);
		hstcp_same_in_batches(test, w, prandom_u32_state(&rnd));
	}
}

/* As before for three round trips in one ACK, over several rules at once. */
static void hstcp_grow_batch_round_trip(struct kunit *test)
{
	u32 most = 0, w, n;

	for (w = 1; w <= 100000; w = lf_next_window(w, 60, 10)) {
		struct growth one = { .window = w }, batch = one;

		for (n = 0; n < 3 * w; n++)
			hstcp_grow(&one, 1);
		hstcp_grow(&batch, 3 * w);
		hstcp_same(test, &batch, &one, w, 3 * w);
		most = max(most, batch.rules);
	}
	KUNIT_EXPECT_GE(test, most, 5U);
}

/* a at windows of every magnitude, from 40-digit arithmetic, in 1/1000. */
static const struct {
	u32 w, a;
} exact_a[] = {
	{ 38, 1000 }, { 50, 1146 }, { 100, 1804 }, { 118, 2009 },
	{ 500, 5048 }, { 1058, 8024 }, { 5000, 19962 }, { 10661, 30053 },
	{ 50000, 60526 }, { 84035, 71069 }, { 147456, 77438 }, { 1000000, 358117 },
	{ 10000000, 2259564 }, { 100000000, 14256887 }, { 1073741824, 95223600 },
};

/*
 * A round trip adds a, within 1 %, in ACKs of any size, with what is owed after
 * it, for a is no whole number; less a (a - 1) / 2W, because the window that pays
 * for a packet has the packets before it.
 */
static void hstcp_grow_rate(struct kunit *test)
{
	static const u32 bunches[] = { 1, 2, 64, S32_MAX };
	int i, b;

	for (i = 0; i < ARRAY_SIZE(exact_a); i++) {
		u32 w = exact_a[i].w;
		u64 a = exact_a[i].a;
		u64 want = a - div_u64(div_u64(a * (a - 1000), 2000), w);

		for (b = 0; b < ARRAY_SIZE(bunches); b++) {
			struct growth g = { .window = w };
			u32 left = w;
			u64 got;

			if (w / bunches[b] > 200000)
				continue;
			while (left) {
				u32 n = min(left, bunches[b]);

				hstcp_grow(&g, n);
				left -= n;
			}
			got = (g.window - w) * 1000ULL +
			      (div_u64(g.credit * 1000, g.window) >>
			       LF_RATE_SHIFT);
			KUNIT_EXPECT_LE_MSG(test, lf_apart(got, want) * 100,
					    want, "w %u by %u: %llu, not %llu",
					    w, bunches[b], got, want);
		}
	}
}

/*
 * From row to row of the RFC's table, in round trips: a is between that of the
 * one and of the other.
 */
static void hstcp_grow_rows(struct kunit *test)
{
	struct growth g = { .window = rfc3649[0].w };
	int i;

	for (i = 1; i < ARRAY_SIZE(rfc3649); i++) {
		u32 way = rfc3649[i].w - g.window, trips = 0;

		for (; g.window < rfc3649[i].w; trips++)
			hstcp_grow(&g, g.window);
		KUNIT_EXPECT_GE_MSG(test, trips + 1, way / (rfc3649[i].a + 1),
				    "w %u", rfc3649[i].w);
		KUNIT_EXPECT_LE_MSG(test, trips, way / rfc3649[i - 1].a + 2,
				    "w %u", rfc3649[i].w);
	}
}

/*
 * Growth goes from rule to rule until all packets are used: with a gap between
 * them it would not end, and a hung machine tells nobody why.
 */
static int hstcp_needs_rules(struct kunit_suite *suite)
{
	u32 w;

	for (w = 1; w && w < U32_MAX; w = hstcp_next(w)) {
		struct lf_hstcp rule;

		lf_hstcp_rule(&rule, w);
		if (w < rule.floor || w >= rule.stop || !rule.a)
			return -EINVAL;
	}
	return 0;
}

static struct kunit_case hstcp_function_cases[] = {
	KUNIT_CASE(hstcp_rfc_table),
	KUNIT_CASE(hstcp_cwhstcp_table),
	KUNIT_CASE(hstcp_reno),
	KUNIT_CASE(hstcp_monotone),
	KUNIT_CASE(hstcp_rule_covers),
	KUNIT_CASE(hstcp_rules_tile),
	KUNIT_CASE(hstcp_decrease_sane),
	KUNIT_CASE(hstcp_decrease_rfc),
	{}
};

static struct kunit_case hstcp_growth_cases[] = {
	KUNIT_CASE(hstcp_grow_batch),
	KUNIT_CASE(hstcp_grow_batch_round_trip),
	KUNIT_CASE(hstcp_grow_rate),
	KUNIT_CASE(hstcp_grow_rows),
	{}
};

static struct kunit_suite hstcp_function = {
	.name = "longfat_hstcp",
	.test_cases = hstcp_function_cases,
};

static struct kunit_suite hstcp_growth = {
	.name = "longfat_hstcp_growth",
	.suite_init = hstcp_needs_rules,
	.test_cases = hstcp_growth_cases,
};

kunit_test_suites(&hstcp_function, &hstcp_growth);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of HighSpeed TCP's response function");
