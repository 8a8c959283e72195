// SPDX-License-Identifier: GPL-2.0
/*
 * LTCP: the arithmetic, the growth and the hooks of tcp_ltcp.c, which is made a
 * part of this module so that its static functions can be called.  Equation,
 * figure and section numbers are those of the LTCP paper, see there.
 */

#include "../../tcp_ltcp.c"

#include <kunit/test.h>

#include "sample.h"
#include "sock.h"

#define LTCP_WT		50	/* the paper's W_T and beta, in 1/1000 */
#define LTCP_BETA	150

static const u32 thresholds[] = { 2, LTCP_WT, 65535 };

/* Fig. 2 as printed, speedups times 100; layer 1 has none. */
static const struct {
	u32 k, w, claim, recover;
} fig2[] = {
	{  1,     0,    0,    0 },
	{  2,    50,  100,  100 },
	{  3,   200,  200,  667 },
	{  4,   500,  257, 1000 },
	{  5,  1000,  317, 1333 },
	{  6,  1750,  378, 1667 },
	{  7,  2800,  440, 2000 },
	{  8,  4200,  503, 2333 },
	{  9,  6000,  567, 2667 },
	{ 10,  8250,  631, 3000 },
	{ 11, 11000,  695, 3333 },
	{ 12, 14300,  760, 3667 },
	{ 13, 18200,  825, 4000 },
	{ 14, 22750,  890, 4333 },
	{ 15, 28000,  956, 4667 },
	{ 16, 34000, 1021, 5000 },
	{ 17, 40800, 1087, 5333 },
	{ 18, 48450, 1152, 5667 },
	{ 19, 57000, 1218, 6000 },
	{ 20, 66500, 1284, 6333 },
};

/* In congestion avoidance at @cwnd, and with ltcp just selected. */
static struct tcp_sock *ltcp_test_sock(struct kunit *test, u32 cwnd,
				       u32 min_rtt_us)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, min_rtt_us);

	ltcp_init((struct sock *)tp);
	return tp;
}

static struct ltcp *ltcp_of(struct tcp_sock *tp)
{
	return inet_csk_ca((struct sock *)tp);
}

/* The rate at window @w, packets per round trip << LF_RATE_SHIFT. */
static u32 ltcp_rate_at(u32 w, u32 wt, u32 k_r)
{
	struct ltcp ca = { .wt = wt, .k_r = k_r };

	ltcp_enter(&ca, w);
	return ca.rate;
}

/* --- layers -------------------------------------------------------------- */

/* Fig. 2, first columns: W_K for K = 1..20, and the layer begins there. */
static void ltcp_fig2_layers(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fig2); i++) {
		u32 k = fig2[i].k, w = fig2[i].w;

		KUNIT_EXPECT_EQ(test, k, (u32)i + 1);
		KUNIT_EXPECT_EQ(test, ltcp_layer_start(k, LTCP_WT), w);
		KUNIT_EXPECT_EQ(test, ltcp_layer_of(w, LTCP_WT), k);
		if (w)
			KUNIT_EXPECT_EQ(test, ltcp_layer_of(w - 1, LTCP_WT),
					k - 1);
	}
}

/*
 * Fig. 2, third column: Reno takes W_K - W_T round trips from W_T to W_K, LTCP
 * delta_k / k for each layer k on the way, in all (K-2)(K+3)/4 W_T, eq. 15.
 */
static void ltcp_fig2_claiming(struct kunit *test)
{
	u32 trips = 0;
	int i;

	for (i = 2; i < ARRAY_SIZE(fig2); i++) {
		u32 k = fig2[i].k, below = fig2[i - 1].w;
		u32 delta = ltcp_layer_start(k, LTCP_WT) -
			    ltcp_layer_start(k - 1, LTCP_WT);
		u32 rate = ltcp_rate_at(below + 1, LTCP_WT, LF_RATE_ONE);
		u32 reno = fig2[i].w - LTCP_WT;

		trips += (delta << LF_RATE_SHIFT) / rate;
		KUNIT_EXPECT_EQ(test, trips, (k - 2) * (k + 3) * LTCP_WT / 4);
		KUNIT_EXPECT_EQ_MSG(test, DIV_ROUND_CLOSEST(reno * 100, trips),
				    fig2[i].claim, "K %u", k);
	}
}

/*
 * Fig. 2, last column: after a loss at W_K Reno has W / 2 to win back at 1 per
 * round trip, LTCP beta W at the rate of the layer below, K - 1.  The decrease
 * is in whole packets: the printed figure is between that of our decrease and
 * of one packet more.  The paper's beta is constant, so one_layer is off.
 */
static void ltcp_fig2_recovery(struct kunit *test)
{
	int i;

	for (i = 1; i < ARRAY_SIZE(fig2); i++) {
		u32 w = fig2[i].w;
		u32 lost = w - ltcp_decrease(w, LTCP_WT, LTCP_BETA, false);
		u32 rate = ltcp_rate_at(w - 1, LTCP_WT, LF_RATE_ONE);
		u32 k = rate >> LF_RATE_SHIFT;

		KUNIT_EXPECT_EQ(test, k, fig2[i].k - 1);
		KUNIT_EXPECT_GE_MSG(test, w * k * 100 / 2 / lost + 1,
				    fig2[i].recover, "K %u", fig2[i].k);
		KUNIT_EXPECT_LE_MSG(test, w * k * 100 / 2 / (lost + 1),
				    fig2[i].recover, "K %u", fig2[i].k);
	}
}

/* Eq. 11 and 12 agree to beyond every window: W_{K+1} - W_K = W_T K(K+1)/2. */
static void ltcp_layer_starts(struct kunit *test)
{
	int t;
	u32 k;

	for (t = 0; t < ARRAY_SIZE(thresholds); t++) {
		u64 w = 0;

		for (k = 1; k <= ltcp_layer_max + 1; k++) {
			KUNIT_ASSERT_EQ(test, ltcp_layer_start(k, thresholds[t]),
					w);
			w += (u64)k * (k + 1) / 2 * thresholds[t];
		}
		/* So that the search never ends at its own upper bound. */
		KUNIT_EXPECT_GT(test, w, (u64)U32_MAX);
	}
}

static void ltcp_layer_holds(struct kunit *test, u32 w, u32 wt)
{
	u32 k = ltcp_layer_of(w, wt);

	KUNIT_ASSERT_GE_MSG(test, k, 1U, "w %u W_T %u", w, wt);
	KUNIT_ASSERT_LE_MSG(test, ltcp_layer_start(k, wt), (u64)w,
			    "w %u W_T %u", w, wt);
	KUNIT_ASSERT_GT_MSG(test, ltcp_layer_start(k + 1, wt), (u64)w,
			    "w %u W_T %u", w, wt);
}

/* W_K <= w < W_{K+1} for every window, at each boundary, and up to 2^32. */
static void ltcp_layer_bounds(struct kunit *test)
{
	struct rnd_state rnd;
	u32 w, k;
	int t, i;

	prandom_seed_state(&rnd, 11);
	for (t = 0; t < ARRAY_SIZE(thresholds); t++) {
		u32 wt = thresholds[t];

		for (w = 0; w <= LF_WINDOW_MAX;
		     w = lf_next_window(w, 100000, 2000))
			ltcp_layer_holds(test, w, wt);
		for (i = 0; i < 50000; i++)
			ltcp_layer_holds(test, lf_random_window(&rnd), wt);
		for (i = -1000; i <= 1000; i++)
			ltcp_layer_holds(test, (1U << 31) + i, wt);
		for (i = 0; i < 1000; i++)
			ltcp_layer_holds(test, U32_MAX - i, wt);
		for (k = 2; ltcp_layer_start(k, wt) <= U32_MAX; k++) {
			w = ltcp_layer_start(k, wt);
			KUNIT_ASSERT_EQ(test, ltcp_layer_of(w - 1, wt), k - 1);
			KUNIT_ASSERT_EQ(test, ltcp_layer_of(w, wt), k);
			KUNIT_ASSERT_EQ(test, ltcp_layer_of(w + 1, wt), k);
		}
	}
}

/*
 * The rules a window enters hold at it, and end where the layer ends; up to
 * W_T they are Reno's, above it the rate is K_R K.
 */
static void ltcp_rules_hold(struct kunit *test, u32 w, u32 wt, u32 k_r)
{
	struct ltcp ca = { .wt = wt, .k_r = k_r };
	u32 k = ltcp_layer_of(w, wt);

	ltcp_enter(&ca, w);
	KUNIT_ASSERT_EQ(test, ca.layer, k);
	KUNIT_ASSERT_LE(test, ca.floor, w);
	KUNIT_ASSERT_GT(test, ca.stop, w);
	if (w <= wt) {
		KUNIT_ASSERT_EQ(test, ca.rate, LF_RATE_ONE);
		KUNIT_ASSERT_EQ(test, ca.stop, wt + 1);
	} else {
		KUNIT_ASSERT_EQ(test, ca.rate, k * k_r);
		KUNIT_ASSERT_EQ(test, ca.stop, ltcp_layer_start(k + 1, wt));
		KUNIT_ASSERT_GT(test, ca.floor, wt);
		KUNIT_ASSERT_EQ(test, ltcp_layer_of(ca.floor, wt), k);
	}
}

/* As above at all windows; and the largest rate is held, it does not wrap. */
static void ltcp_enter_rules(struct kunit *test)
{
	u32 most = ltcp_k_r(S32_MAX, 1000, LTCP_ALPHA_1), w;
	int t;

	for (t = 0; t < ARRAY_SIZE(thresholds); t++) {
		for (w = 1; w <= LF_WINDOW_MAX;
		     w = lf_next_window(w, 70000, 1000)) {
			ltcp_rules_hold(test, w, thresholds[t], LF_RATE_ONE);
			ltcp_rules_hold(test, w, thresholds[t], 2525);
			ltcp_rules_hold(test, w, thresholds[t],
					1250 * LF_RATE_ONE);
		}
	}
	KUNIT_EXPECT_GT(test, most, U32_MAX / 2);
	KUNIT_EXPECT_EQ(test, ltcp_rate_at(LF_WINDOW_MAX, 2, most), U32_MAX);
}

/* --- decrease ------------------------------------------------------------ */

static void ltcp_keeps_layer(struct kunit *test, u32 w, u32 wt, u32 beta)
{
	u32 after = ltcp_decrease(w, wt, beta, true);

	KUNIT_ASSERT_GE_MSG(test, ltcp_layer_of(after, wt) + 1,
			    ltcp_layer_of(w, wt), "w %u W_T %u beta %u",
			    w, wt, beta);
}

static void ltcp_keeps_layers(struct kunit *test, u32 wt, u32 beta)
{
	struct rnd_state rnd;
	u32 k, w, i;

	prandom_seed_state(&rnd, 12);
	for (k = 2; ltcp_layer_start(k, wt) <= LF_WINDOW_MAX; k++) {
		w = ltcp_layer_start(k, wt);
		ltcp_keeps_layer(test, w - 1, wt, beta);
		ltcp_keeps_layer(test, w, wt, beta);
		ltcp_keeps_layer(test, w + 1, wt, beta);
	}
	for (w = 1; w <= 20000; w++)
		ltcp_keeps_layer(test, w, wt, beta);
	for (i = 0; i < 10000; i++)
		ltcp_keeps_layer(test, lf_random_window(&rnd), wt, beta);
}

/* One loss costs at most one layer, at any window, W_T and beta. */
static void ltcp_one_layer(struct kunit *test)
{
	static const u32 betas[] = { 1, 50, 143, LTCP_BETA, 300, 499, 500 };
	int t, b;

	for (t = 0; t < ARRAY_SIZE(thresholds); t++)
		for (b = 0; b < ARRAY_SIZE(betas); b++)
			ltcp_keeps_layers(test, thresholds[t], betas[b]);
}

/*
 * The paper's constant 0.15 keeps that rule up to K = 19 (section 3.1) and
 * breaks it at W_K above, with 10 and 100 Gbit/s at 100 ms among them (1500
 * byte packets: 83333 and 833333, K = 21 and 46).  So one_layer off is the
 * paper's, and on has something to do.
 */
static void ltcp_one_layer_off(struct kunit *test)
{
	u32 k, w;

	for (w = 1; w < ltcp_layer_start(20, LTCP_WT); w++) {
		u32 after = ltcp_decrease(w, LTCP_WT, LTCP_BETA, false);

		KUNIT_ASSERT_GE_MSG(test, ltcp_layer_of(after, LTCP_WT) + 1,
				    ltcp_layer_of(w, LTCP_WT), "w %u", w);
		KUNIT_ASSERT_EQ_MSG(test, after,
				    ltcp_decrease(w, LTCP_WT, LTCP_BETA, true),
				    "w %u", w);
	}
	for (k = 20; ltcp_layer_start(k, LTCP_WT) <= LF_WINDOW_MAX; k++) {
		u32 after;

		w = ltcp_layer_start(k, LTCP_WT);
		after = ltcp_decrease(w, LTCP_WT, LTCP_BETA, false);
		KUNIT_ASSERT_LT_MSG(test, ltcp_layer_of(after, LTCP_WT), k - 1,
				    "K %u", k);
		KUNIT_ASSERT_EQ(test, after, w - w * 3ULL / 20);
		/* With the rule, W_K (1 - 3/(K+1)) is W_{K-1} exactly. */
		after = ltcp_decrease(w, LTCP_WT, LTCP_BETA, true);
		KUNIT_ASSERT_EQ(test, after, ltcp_layer_start(k - 1, LTCP_WT));
	}
	KUNIT_EXPECT_EQ(test, ltcp_layer_of(83333, LTCP_WT), 21U);
	KUNIT_EXPECT_EQ(test, ltcp_layer_of(833333, LTCP_WT), 46U);
}

static void ltcp_decrease_holds(struct kunit *test, u32 w, u32 wt, u32 beta)
{
	u32 on = ltcp_decrease(w, wt, beta, true);
	u32 off = ltcp_decrease(w, wt, beta, false);

	KUNIT_ASSERT_GE_MSG(test, off, 2U, "w %u W_T %u beta %u", w, wt, beta);
	KUNIT_ASSERT_GE_MSG(test, off, w / 2, "w %u W_T %u beta %u",
			    w, wt, beta);
	KUNIT_ASSERT_GE_MSG(test, on, off, "w %u W_T %u beta %u", w, wt, beta);
	if (w > 2)
		KUNIT_ASSERT_LT_MSG(test, on, w, "w %u W_T %u beta %u",
				    w, wt, beta);
}

/*
 * The target is never below 2 nor below half, it is below what the window was
 * wherever that is possible, and the one-layer rule never takes more away.
 */
static void ltcp_decrease_sane(struct kunit *test)
{
	struct rnd_state rnd;
	u32 w, wt;
	int t, i;

	prandom_seed_state(&rnd, 13);
	for (t = 0; t < ARRAY_SIZE(thresholds); t++) {
		wt = thresholds[t];
		for (w = 1; w <= LF_WINDOW_MAX;
		     w = lf_next_window(w, 200000, 4000)) {
			ltcp_decrease_holds(test, w, wt, 1);
			ltcp_decrease_holds(test, w, wt, LTCP_BETA);
			ltcp_decrease_holds(test, w, wt, 500);
		}
		for (i = 0; i < 50000; i++)
			ltcp_decrease_holds(test, lf_random_window(&rnd), wt,
					    1 + prandom_u32_state(&rnd) % 500);
		ltcp_decrease_holds(test, LF_WINDOW_MAX, wt, LTCP_BETA);
	}
}

/* Up to W_T half is lost, as in Reno, above it 0.15, both rounded up. */
static void ltcp_decrease_amount(struct kunit *test)
{
	u32 w;

	KUNIT_EXPECT_EQ(test, ltcp_decrease(1, 50, 150, true), 2U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(2, 50, 150, true), 2U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(3, 50, 150, true), 2U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(10, 50, 150, true), 5U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(50, 50, 150, true), 25U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(51, 50, 150, true), 44U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(1000, 50, 150, true), 850U);
	KUNIT_EXPECT_EQ(test, ltcp_decrease(66500, 50, 150, false), 56525U);
	/* A constant 0.15 of 2^30 does not overflow: 2^30 - floor(.15 2^30). */
	KUNIT_EXPECT_EQ(test, ltcp_decrease(1U << 30, 50, 150, false),
			912680551U);

	for (w = 3; w <= 50; w++)
		KUNIT_EXPECT_EQ(test, ltcp_decrease(w, 50, 150, true),
				(w + 1) / 2);
	for (w = 51; w < 57000; w++)
		KUNIT_ASSERT_EQ(test, ltcp_decrease(w, 50, 150, true),
				(w * 85 + 99) / 100);
}

/* --- K_R ----------------------------------------------------------------- */

/* The largest r with r^3 <= x, at random x and around perfect cubes. */
static void ltcp_cbrt_exact(struct kunit *test)
{
	struct rnd_state rnd;
	int i;
	u64 r;

	prandom_seed_state(&rnd, 14);
	for (i = 0; i < 200000; i++) {
		u64 x = (u64)prandom_u32_state(&rnd) << 29;

		x = (x ^ prandom_u32_state(&rnd)) >>
		    prandom_u32_state(&rnd) % 61;
		r = ltcp_cbrt(x);
		KUNIT_ASSERT_LE_MSG(test, r * r * r, x, "x %llu", x);
		KUNIT_ASSERT_GT_MSG(test, (r + 1) * (r + 1) * (r + 1), x,
				    "x %llu", x);
	}
	KUNIT_EXPECT_EQ(test, ltcp_cbrt(0), 0U);
	for (r = 1; r < 1ULL << 20; r += 1 + r / 300) {
		KUNIT_ASSERT_EQ(test, ltcp_cbrt(r * r * r - 1), r - 1);
		KUNIT_ASSERT_EQ(test, ltcp_cbrt(r * r * r), r);
		KUNIT_ASSERT_EQ(test, ltcp_cbrt(r * r * r + 1), max(r, 1ULL));
	}
	KUNIT_EXPECT_EQ(test, ltcp_cbrt(1ULL << 60), 1U << 20);
	KUNIT_EXPECT_EQ(test, ltcp_cbrt(1ULL << 61), 1321122U);
}

/* max(1, (rtt / ref)^alpha) times 10^5, from 40-digit decimal arithmetic. */
static const struct {
	u32 rtt_us, ref_us;
	u64 k_r[4];		/* alpha = 0, 1/3, 1/2, 1 */
} exact_k_r[] = {
	{ 1, 8000, { 100000, 100000, 100000, 100000 } },
	{ 7999, 8000, { 100000, 100000, 100000, 100000 } },
	{ 8000, 8000, { 100000, 100000, 100000, 100000 } },
	{ 8100, 8000, { 100000, 100415, 100623, 101250 } },
	{ 10000, 8000, { 100000, 107722, 111803, 125000 } },
	{ 16000, 8000, { 100000, 125992, 141421, 200000 } },
	{ 50000, 8000, { 100000, 184202, 250000, 625000 } },
	{ 100000, 8000, { 100000, 232079, 353553, 1250000 } },
	{ 120000, 8000, { 100000, 246621, 387298, 1500000 } },
	{ 250000, 8000, { 100000, 314980, 559017, 3125000 } },
	{ 1000000, 8000, { 100000, 500000, 1118034, 12500000 } },
	{ 10000000, 8000, { 100000, 1077217, 3535534, 125000000 } },
	{ 2147483647, 8000, { 100000, 6450796, 51810757, 26843545588ULL } },
	{ 10000000, 1000, { 100000, 2154435, 10000000, 1000000000 } },
	{ 2147483647, 1000, { 100000, 12901592, 146542951, 214748364700ULL } },
	{ 120000, 1000000, { 100000, 100000, 100000, 100000 } },
	{ 10000000, 1000000, { 100000, 215443, 316228, 1000000 } },
	{ 2147483647, 1000000, { 100000, 1290159, 4634095, 214748365 } },
};

/* K_R is the exact value less at most one unit of its fixed point, 1/1024. */
static void ltcp_k_r_exact(struct kunit *test)
{
	int i, alpha;

	for (i = 0; i < ARRAY_SIZE(exact_k_r); i++) {
		u32 rtt = exact_k_r[i].rtt_us, ref = exact_k_r[i].ref_us;

		for (alpha = LTCP_ALPHA_0; alpha <= LTCP_ALPHA_1; alpha++) {
			u64 want = exact_k_r[i].k_r[alpha] << LF_RATE_SHIFT;
			u64 got = ltcp_k_r(rtt, ref, alpha) * 100000ULL;

			/* LF_RATE_ONE: the table's last digit is rounded. */
			KUNIT_EXPECT_LE_MSG(test, got, want + LF_RATE_ONE,
					    "rtt %u ref %u alpha %d",
					    rtt, ref, alpha);
			KUNIT_EXPECT_GT_MSG(test, got + 100000 + LF_RATE_ONE,
					    want, "rtt %u ref %u alpha %d",
					    rtt, ref, alpha);
		}
	}
	/* The header's own example: 2.466 at 120 ms, within 0.1 %. */
	KUNIT_EXPECT_GE(test, ltcp_k_r(120000, 8000, LTCP_ALPHA_1_3), 2523U);
	KUNIT_EXPECT_LE(test, ltcp_k_r(120000, 8000, LTCP_ALPHA_1_3), 2527U);
}

static void ltcp_k_r_edge(struct kunit *test, u32 ref, enum ltcp_alpha alpha)
{
	u32 most = ltcp_k_r(S32_MAX, ref, alpha), rtt;

	KUNIT_EXPECT_EQ(test, ltcp_k_r(ref, ref, alpha), LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, ltcp_k_r(~0U, ref, alpha), LF_RATE_ONE);
	for (rtt = 0; rtt < ref; rtt += 1 + ref / 1000)
		KUNIT_ASSERT_EQ(test, ltcp_k_r(rtt, ref, alpha), LF_RATE_ONE);
	KUNIT_EXPECT_EQ(test, ltcp_k_r(1U << 31, ref, alpha), most);
	KUNIT_EXPECT_EQ(test, ltcp_k_r(~0U - 1, ref, alpha), most);
}

/* Exactly 1 at the reference, below it, and without a sample; past 2^31 too. */
static void ltcp_k_r_edges(struct kunit *test)
{
	int alpha;

	for (alpha = LTCP_ALPHA_0; alpha <= LTCP_ALPHA_1; alpha++) {
		ltcp_k_r_edge(test, 1000, alpha);
		ltcp_k_r_edge(test, 8000, alpha);
		ltcp_k_r_edge(test, 1000000, alpha);
	}
}

/* A longer path never has a smaller K_R, nor has a larger exponent. */
static void ltcp_k_r_monotone(struct kunit *test)
{
	static const u32 refs[] = { 1000, 8000, 1000000 };
	u32 rtt;
	int i, alpha;

	for (i = 0; i < ARRAY_SIZE(refs); i++) {
		u32 last[4] = {};

		for (rtt = 1; rtt < U32_MAX / 2 + 1;
		     rtt = lf_next_window(rtt, 20000, 1000))
			for (alpha = LTCP_ALPHA_0; alpha <= LTCP_ALPHA_1;
			     alpha++) {
				u32 k_r = ltcp_k_r(rtt, refs[i], alpha);

				KUNIT_ASSERT_GE_MSG(test, k_r, last[alpha],
						    "rtt %u", rtt);
				if (alpha)
					KUNIT_ASSERT_GE_MSG(test, k_r,
							    last[alpha - 1],
							    "rtt %u", rtt);
				last[alpha] = k_r;
			}
	}
}

/* --- growth -------------------------------------------------------------- */

/* Fig. 2, third column, by really growing from W_T to W_K, within 2 %. */
static void ltcp_fig2_claiming_grown(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, LTCP_WT + 1, 1000);
	u32 w = LTCP_WT + 1, trips = 0;
	int i;

	KUNIT_ASSERT_EQ(test, ltcp_of(tp)->k_r, LF_RATE_ONE);
	for (i = 2; i < ARRAY_SIZE(fig2); i++) {
		u32 speedup;

		for (; w < fig2[i].w; trips++)
			w = ltcp_grow((struct sock *)tp, w, w);
		speedup = (fig2[i].w - LTCP_WT) * 100 / trips;
		KUNIT_EXPECT_GE_MSG(test, speedup, fig2[i].claim * 98 / 100,
				    "K %u", fig2[i].k);
		KUNIT_EXPECT_LE_MSG(test, speedup, fig2[i].claim * 102 / 100,
				    "K %u", fig2[i].k);
	}
}

/* The state of @ca at window @w: growth rules and what is owed. */
static void ltcp_test_at(struct ltcp *ca, u32 w, u32 wt, u32 k_r, u64 credit)
{
	ca->wt = wt;
	ca->k_r = k_r;
	ca->credit = credit;
	ltcp_enter(ca, w);
}

/* What growth may depend on and lead to. */
static void ltcp_same(struct kunit *test, struct tcp_sock *a, u32 wa,
		      struct tcp_sock *b, u32 wb, u32 from, u32 acked)
{
	struct ltcp *ca = ltcp_of(a), *cb = ltcp_of(b);

	KUNIT_ASSERT_EQ_MSG(test, wa, wb, "w %u W_T %u k_r %u acked %u",
			    from, ca->wt, ca->k_r, acked);
	KUNIT_ASSERT_EQ_MSG(test, ca->credit, cb->credit,
			    "w %u W_T %u k_r %u acked %u",
			    from, ca->wt, ca->k_r, acked);
	/* Rules are taken when needed, so look at those that hold next. */
	ltcp_follow((struct sock *)a, wa, LTCP_LAYER);
	ltcp_follow((struct sock *)b, wb, LTCP_LAYER);
	KUNIT_ASSERT_EQ(test, ca->layer, cb->layer);
	KUNIT_ASSERT_EQ(test, ca->floor, cb->floor);
	KUNIT_ASSERT_EQ(test, ca->stop, cb->stop);
	KUNIT_ASSERT_EQ(test, ca->rate, cb->rate);
}

static const u32 test_k_rs[] = {
	LF_RATE_ONE, 2525, 1250 * LF_RATE_ONE, U32_MAX / 2,
};

/* Two sockets: one takes an ACK for all, the other one for each packet. */
struct ltcp_pair {
	struct tcp_sock *batch, *one;
	u32 crossings;
};

/* n packets in one ACK and in n, n = 1..64, from @w with @credit owed. */
static void ltcp_same_in_batches(struct kunit *test, struct ltcp_pair *p, u32 w,
				 u32 wt, u32 k_r, u64 credit)
{
	u32 n, batch, one = w;

	ltcp_test_at(ltcp_of(p->one), w, wt, k_r, credit);
	for (n = 1; n <= 64; n++) {
		ltcp_test_at(ltcp_of(p->batch), w, wt, k_r, credit);
		batch = ltcp_grow((struct sock *)p->batch, w, n);
		one = ltcp_grow((struct sock *)p->one, one, 1);
		ltcp_same(test, p->batch, batch, p->one, one, w, n);
	}
	if (ltcp_layer_of(one, wt) > ltcp_layer_of(w, wt))
		p->crossings++;
}

static void ltcp_grow_batch_near(struct kunit *test, struct ltcp_pair *p,
				 u32 start, u32 wt, u32 k_r)
{
	static const u32 offsets[] = { 0, 1, 2, 7, 33, 64 };
	int o;

	for (o = 0; o < ARRAY_SIZE(offsets); o++) {
		u32 w = start > offsets[o] ? start - offsets[o] : 1;
		u64 most = ((u64)w << LF_RATE_SHIFT) - 1;

		ltcp_same_in_batches(test, p, w, wt, k_r, 0);
		ltcp_same_in_batches(test, p, w, wt, k_r, most / 2);
		ltcp_same_in_batches(test, p, w, wt, k_r, most);
	}
}

/*
 * One ACK for n packets is n ACKs for one, n = 1..64, window and credit, from
 * windows within 64 packets of the layer boundaries and across them, and from
 * random ones.
 */
static void ltcp_grow_batch(struct kunit *test)
{
	struct ltcp_pair p = {
		.batch = ltcp_test_sock(test, 10, 120000),
		.one = ltcp_test_sock(test, 10, 120000),
	};
	struct rnd_state rnd;
	int t, r, i;
	u32 k;

	prandom_seed_state(&rnd, 16);
	for (t = 0; t < ARRAY_SIZE(thresholds); t++) {
		for (r = 0; r < ARRAY_SIZE(test_k_rs); r++) {
			u32 wt = thresholds[t], k_r = test_k_rs[r];

			for (k = 2; ltcp_layer_start(k, wt) <= LF_WINDOW_MAX;
			     k += 1 + k / 8)
				ltcp_grow_batch_near(test, &p,
						     ltcp_layer_start(k, wt),
						     wt, k_r);
			for (i = 0; i < 1000; i++)
				ltcp_same_in_batches(test, &p,
						     lf_random_window(&rnd),
						     wt, k_r,
						     prandom_u32_state(&rnd));
		}
	}
	/* Crossing is what this is about. */
	KUNIT_EXPECT_GT(test, p.crossings, 500U);
}

/* As before for three round trips in one ACK, over several layers at once. */
static void ltcp_grow_batch_round_trip(struct kunit *test)
{
	struct tcp_sock *a = ltcp_test_sock(test, 10, 120000);
	struct tcp_sock *b = ltcp_test_sock(test, 10, 120000);
	u32 layers = 0, w, n;
	int r;

	for (r = 0; r < ARRAY_SIZE(test_k_rs); r++) {
		for (w = 1; w <= 20000; w = lf_next_window(w, 60, 10)) {
			u32 wa, wb = w;

			ltcp_test_at(ltcp_of(a), w, 2, test_k_rs[r], 0);
			ltcp_test_at(ltcp_of(b), w, 2, test_k_rs[r], 0);
			wa = ltcp_grow((struct sock *)a, w, 3 * w);
			for (n = 0; n < 3 * w; n++)
				wb = ltcp_grow((struct sock *)b, wb, 1);
			ltcp_same(test, a, wa, b, wb, w, 3 * w);
			layers = max(layers, ltcp_layer_of(wa, 2) -
					     ltcp_layer_of(w, 2));
		}
	}
	KUNIT_EXPECT_GT(test, layers, 5U);
}

/* A round trip of @tp from @w, in ACKs for @bunch packets. */
static u32 ltcp_round_trip(struct tcp_sock *tp, u32 w, u32 bunch)
{
	u32 left = w;

	while (left) {
		u32 n = min(left, bunch);

		w = ltcp_grow((struct sock *)tp, w, n);
		left -= n;
	}
	return w;
}

/*
 * A round trip adds K_R K within one packet, 1 up to W_T, in ACKs of any size.
 * On top r^2 / 2W as for Reno, see growth_kunit.c: a quarter packet at W_T.
 */
static void ltcp_grow_rate(struct kunit *test)
{
	static const u32 bunches[] = { 1, 2, 64, S32_MAX };
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	u32 k_r = ltcp_of(tp)->k_r, w, now;
	u64 grown;
	int b;

	KUNIT_ASSERT_EQ(test, k_r, 2525U);
	for (b = 0; b < ARRAY_SIZE(bunches); b++) {
		for (w = 1; w <= LF_WINDOW_MAX;
		     w = lf_next_window(w, 300, 10)) {
			if (w / bunches[b] > 100000)
				break;
			ltcp_test_at(ltcp_of(tp), w, LTCP_WT, k_r, 0);
			now = ltcp_round_trip(tp, w, bunches[b]);
			grown = (u64)(now - w) << LF_RATE_SHIFT;
			KUNIT_ASSERT_GE_MSG(test, grown + LF_RATE_ONE * 5 / 4,
					    ltcp_rate_at(w, LTCP_WT, k_r),
					    "w %u by %u", w, bunches[b]);
			KUNIT_ASSERT_LE_MSG(test, grown,
					    ltcp_rate_at(now, LTCP_WT, k_r),
					    "w %u by %u", w, bunches[b]);
		}
	}
}

static void ltcp_keeps_growing(struct kunit *test, u32 start, u32 wt)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 1000);
	u32 w = start, i;
	u64 want = 0;

	KUNIT_ASSERT_EQ(test, ltcp_of(tp)->k_r, LF_RATE_ONE);
	ltcp_test_at(ltcp_of(tp), w, wt, LF_RATE_ONE, 0);
	for (i = 0; i < 10000; i++) {
		want += ltcp_layer_of(w, wt);
		w = ltcp_round_trip(tp, w, S32_MAX);
	}
	KUNIT_EXPECT_GE_MSG(test, w - start + 2 + want / 1000, want,
			    "w %u W_T %u", start, wt);
	KUNIT_EXPECT_LE_MSG(test, w - start, want + 2 + want / 1000,
			    "w %u W_T %u", start, wt);
}

/*
 * Large windows at the smallest K_R, 1: over 10^4 round trips the window still
 * grows by K each, within 0.1 %.  Nothing is rounded to a halt.
 */
static void ltcp_grow_never_stuck(struct kunit *test)
{
	u32 bits;

	for (bits = 20; bits <= 30; bits += 2) {
		ltcp_keeps_growing(test, BIT(bits), LTCP_WT);
		ltcp_keeps_growing(test, BIT(bits), 65535);
	}
}

/* Never more than one packet per packet acknowledged, however long the path. */
static void ltcp_grow_capped(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 15);
	for (i = 0; i < 100000; i++) {
		u32 w = lf_random_window(&rnd);
		u32 acked = 1 + prandom_u32_state(&rnd) % 200, now;

		ltcp_test_at(ltcp_of(tp), w, thresholds[i % 3],
			     test_k_rs[prandom_u32_state(&rnd) % 4],
			     prandom_u32_state(&rnd));
		now = ltcp_grow((struct sock *)tp, w, acked);
		KUNIT_ASSERT_GE(test, now, w);
		KUNIT_ASSERT_LE_MSG(test, now - w, acked, "w %u", w);
	}
}

/* --- hooks --------------------------------------------------------------- */

/* init takes parameters, minimum RTT and window, whatever was there before. */
static void ltcp_hook_init(struct kunit *test)
{
	static const u32 windows[] = { 1, 2, 10, 50, 51, 66500, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *tp = ltcp_test_sock(test, windows[i], 120000);
		struct ltcp *ca = ltcp_of(tp), first = *ca;

		KUNIT_EXPECT_EQ(test, ca->wt, 50U);
		KUNIT_EXPECT_EQ(test, ca->beta, 150);
		KUNIT_EXPECT_EQ(test, ca->rtt_ref_us, 8000U);
		KUNIT_EXPECT_EQ(test, ca->alpha, LTCP_ALPHA_1_3);
		KUNIT_EXPECT_EQ(test, ca->one_layer, 1);
		KUNIT_EXPECT_EQ(test, ca->min_rtt_us, 120000U);
		KUNIT_EXPECT_EQ(test, ca->k_r, 2525U);
		KUNIT_EXPECT_EQ(test, ca->credit, 0ULL);
		KUNIT_EXPECT_EQ(test, ca->layer,
				ltcp_layer_of(windows[i], 50));
		KUNIT_EXPECT_LE(test, ca->floor, windows[i]);
		KUNIT_EXPECT_GT(test, ca->stop, windows[i]);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), windows[i]);

		/* What another algorithm left behind does not matter. */
		memset(ca, 0xff, sizeof(*ca));
		ltcp_init((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, memcmp(ca, &first, sizeof(first)), 0);
	}
}

/*
 * A lost SYN calls ssthresh, and an answer to it undo, before init was: on
 * zeroed private data.  A target and a window as good as any, and no crash;
 * init then starts anew.
 */
static void ltcp_hook_before_init(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	struct ltcp *ca = ltcp_of(tp), fresh = *ca;
	u32 w;

	for (w = 1; w <= 100; w++) {
		memset(ca, 0, sizeof(*ca));
		tcp_snd_cwnd_set(tp, w);
		tp->prior_cwnd = w;
		ltcp_tx_start((struct sock *)tp);
		tp->snd_ssthresh = ltcp_ssthresh((struct sock *)tp);
		KUNIT_EXPECT_GE(test, tp->snd_ssthresh, 2U);
		KUNIT_EXPECT_LE(test, tp->snd_ssthresh, max(w, 2U));
		tcp_snd_cwnd_set(tp, 1);
		/* Nothing was sent yet that the window could have limited. */
		tp->is_cwnd_limited = 0;
		ltcp_cong_avoid((struct sock *)tp, 0, 2);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
		KUNIT_EXPECT_EQ(test, ltcp_undo_cwnd((struct sock *)tp), w);
	}
	tcp_snd_cwnd_set(tp, 10);
	ltcp_init((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, memcmp(ca, &fresh, sizeof(fresh)), 0);
}

/* Slow start is the kernel's: a packet per packet, nothing owed, no layers. */
static void ltcp_hook_slow_start(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	struct ltcp *ca = ltcp_of(tp), before = *ca;

	tp->snd_ssthresh = 1000;
	ltcp_cong_avoid((struct sock *)tp, 0, 5);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 15U);
	ltcp_cong_avoid((struct sock *)tp, 0, 900);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 915U);
	KUNIT_EXPECT_EQ(test, memcmp(ca, &before, sizeof(before)), 0);

	/* Only what slow start has left over grows by the layer's rate. */
	ltcp_cong_avoid((struct sock *)tp, 0, 85 + 64);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	KUNIT_EXPECT_EQ(test, ca->layer, 5U);
	KUNIT_EXPECT_EQ(test, ca->rate, 5 * 2525U);
	KUNIT_EXPECT_EQ(test, ca->credit, 64 * 5 * 2525ULL);
}

/* How the first one ends is of include/longfat/slow_start.h. */
static void ltcp_hook_first_slow_start(struct kunit *test)
{
	lf_test_first_slow_start(test, &ltcp, ltcp_test_sock(test, 10, 120000));
}

/* Growth only while the window is what limits, and never past the clamp. */
static void ltcp_hook_limits(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 1000, 120000);
	int i;

	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 1000;
	ltcp_cong_avoid((struct sock *)tp, 0, 1000);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	KUNIT_EXPECT_EQ(test, ltcp_of(tp)->credit, 0ULL);

	tp->is_cwnd_limited = 1;
	tp->snd_cwnd_clamp = 1005;
	for (i = 0; i < 10; i++) {
		ltcp_cong_avoid((struct sock *)tp, 0, 1000);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1005U);
	}
}

/* A round trip of the hook adds K_R K, and K_R follows the minimum RTT. */
static void ltcp_hook_cong_avoid(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10000, ~0U);
	struct ltcp *ca = ltcp_of(tp);
	u32 i, w;

	/* K = 10; no sample yet: K_R is 1. */
	KUNIT_EXPECT_EQ(test, ca->k_r, LF_RATE_ONE);
	for (i = 0; i < 10000; i++)
		ltcp_cong_avoid((struct sock *)tp, 0, 1);
	w = tcp_snd_cwnd(tp);
	KUNIT_EXPECT_GE(test, w, 10009U);
	KUNIT_EXPECT_LE(test, w, 10010U);

	minmax_reset(&tp->rtt_min, 0, 120000);
	ltcp_cong_avoid((struct sock *)tp, 0, w);
	KUNIT_EXPECT_EQ(test, ca->k_r, 2525U);
	KUNIT_EXPECT_EQ(test, ca->rate, 10 * 2525U);
	KUNIT_EXPECT_GE(test, tcp_snd_cwnd(tp) - w, 24U);
	KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp) - w, 25U);

	/* A path may become shorter, or the old minimum expire. */
	minmax_reset(&tp->rtt_min, 0, 8000);
	ltcp_cong_avoid((struct sock *)tp, 0, 1);
	KUNIT_EXPECT_EQ(test, ca->k_r, LF_RATE_ONE);
	/* Zero, which a clock may give, is not divided by. */
	minmax_reset(&tp->rtt_min, 0, 0);
	ltcp_cong_avoid((struct sock *)tp, 0, 1);
	KUNIT_EXPECT_EQ(test, ca->k_r, LF_RATE_ONE);
}

/* The smallest windows: they grow, they can lose, they stay valid. */
static void ltcp_hook_small_windows(struct kunit *test)
{
	u32 w;

	for (w = 1; w <= 2; w++) {
		struct tcp_sock *tp = ltcp_test_sock(test, w, 120000);

		KUNIT_EXPECT_EQ(test, ltcp_ssthresh((struct sock *)tp), 2U);
		/* Reno down here: W packets acknowledged are one packet. */
		ltcp_cong_avoid((struct sock *)tp, 0, w);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), w + 1);
		ltcp_tx_start((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, ltcp_undo_cwnd((struct sock *)tp), w + 1);
		ltcp_cong_avoid((struct sock *)tp, 0, 10000);
		KUNIT_EXPECT_GT(test, tcp_snd_cwnd(tp), 60U);
	}
}

/*
 * A loss leaves the window itself to the kernel, returns a target of 2 or more,
 * and drops what was owed: growth after it starts from nothing.
 */
static void ltcp_hook_ssthresh(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	struct ltcp *ca = ltcp_of(tp);
	u32 w;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		u32 target;

		tcp_snd_cwnd_set(tp, w);
		ltcp_test_at(ca, w, LTCP_WT, ca->k_r,
			     ((u64)w << LF_RATE_SHIFT) - 1);
		target = ltcp_ssthresh((struct sock *)tp);
		KUNIT_ASSERT_GE_MSG(test, target, 2U, "w %u", w);
		KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), w);
		KUNIT_ASSERT_EQ(test, ca->credit, 0ULL);
		KUNIT_ASSERT_EQ(test, ca->layer,
				ltcp_layer_of(target, LTCP_WT));

		/* No burst: the first packet has to be earned. */
		tcp_snd_cwnd_set(tp, target);
		ltcp_cong_avoid((struct sock *)tp, 0, 1);
		if (target > 5)
			KUNIT_ASSERT_EQ_MSG(test, tcp_snd_cwnd(tp), target,
					    "w %u", w);
	}
}

/* A spurious loss never was: window, owed growth and rules come back. */
static void ltcp_hook_undo(struct kunit *test)
{
	struct tcp_sock *tp = ltcp_test_sock(test, 10, 120000);
	struct ltcp *ca = ltcp_of(tp), before;
	u32 w;

	for (w = 2; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		tcp_snd_cwnd_set(tp, w);
		tp->prior_cwnd = w;
		ltcp_test_at(ca, w, LTCP_WT, ca->k_r,
			     ((u64)w << LF_RATE_SHIFT) - 1);
		before = *ca;
		tp->snd_ssthresh = ltcp_ssthresh((struct sock *)tp);
		/* The kernel is anywhere on the way down, or at a timeout's 1. */
		tcp_snd_cwnd_set(tp, w & 1 ? tp->snd_ssthresh : 1);
		KUNIT_ASSERT_EQ(test, ltcp_undo_cwnd((struct sock *)tp), w);
		KUNIT_ASSERT_EQ(test, ca->credit, before.credit);
		before.prior_credit = ca->prior_credit;
		KUNIT_ASSERT_EQ_MSG(test, memcmp(ca, &before, sizeof(before)),
				    0, "w %u", w);
	}
}

/* After idle the window may be far lower: the layer follows, nothing bursts. */
static void ltcp_hook_tx_start(struct kunit *test)
{
	static const u32 windows[] = { 60000, 1000000, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		u32 w = windows[i], low = w / 1000;
		struct tcp_sock *tp = ltcp_test_sock(test, w, 120000);
		struct ltcp *ca = ltcp_of(tp);

		ca->credit = ((u64)w << LF_RATE_SHIFT) - 1;
		tcp_snd_cwnd_set(tp, low);
		ltcp_tx_start((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, ca->layer, ltcp_layer_of(low, LTCP_WT));
		KUNIT_EXPECT_EQ(test, ca->rate,
				ltcp_rate_at(low, LTCP_WT, ca->k_r));
		KUNIT_EXPECT_LE(test, ca->floor, low);
		KUNIT_EXPECT_GT(test, ca->stop, low);
		ltcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), low + 1);
		ltcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), low + 1);

		/* Growth alone notices, too, should no event ever come. */
		tcp_snd_cwnd_set(tp, w);
		ltcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_EQ(test, ca->layer, ltcp_layer_of(w, LTCP_WT));
	}
}

static void ltcp_hook_get_info(struct kunit *test)
{
	lf_test_get_info(test);
}

static void ltcp_hook_registered(struct kunit *test)
{
	lf_test_registered(test, &ltcp, "ltcp", sizeof(struct ltcp));
	lf_test_tx_start(test, &ltcp);
}

/* --- parameters ---------------------------------------------------------- */

static const struct lf_test_params ltcp_params[] = {
	{ "window_threshold", { "2", "65535", "50\n" }, "1", "65536" },
	{ "beta", { "1", "500", "150\n" }, "0", "501" },
	{ "rtt_ref_us", { "1000", "1000000", "8000\n" }, "999", "1000001" },
	{ "rtt_alpha", { "0", "1/2", "1", "1/3\n" } },
	{ "one_layer", { "0", "N", "1", "Y\n" } },
	{ "slow_start", { "hystart++", "limited", "classic", "train\n" } },
};

static void ltcp_params_checked(struct kunit *test)
{
	lf_test_params_checked(test, ltcp_params, ARRAY_SIZE(ltcp_params));
}

/* A connection keeps the parameters it started with; the next has new ones. */
static void ltcp_params_taken(struct kunit *test)
{
	struct tcp_sock *old = ltcp_test_sock(test, 1000, 120000), *new;

	lf_test_set(test, "window_threshold", "500", 0);
	new = ltcp_test_sock(test, 1000, 120000);
	lf_test_set(test, "window_threshold", "50", 0);
	ltcp_cong_avoid((struct sock *)old, 0, 1);
	ltcp_cong_avoid((struct sock *)new, 0, 1);
	KUNIT_EXPECT_EQ(test, ltcp_of(old)->layer, 5U);
	KUNIT_EXPECT_EQ(test, ltcp_of(new)->layer, 2U);
}

/*
 * Growth passes from layer to layer until all packets are used: where the
 * bounds are wrong it may not end, and a hung machine tells nobody why.
 */
static int ltcp_needs_layers(struct kunit_suite *suite)
{
	u32 k, w;

	for (k = 2; ltcp_layer_start(k, LTCP_WT) <= LF_WINDOW_MAX; k++) {
		w = ltcp_layer_start(k, LTCP_WT);
		if (ltcp_layer_of(w, LTCP_WT) != k ||
		    ltcp_layer_of(w - 1, LTCP_WT) != k - 1)
			return -EINVAL;
	}
	return 0;
}

static struct kunit_case ltcp_arithmetic_cases[] = {
	KUNIT_CASE(ltcp_fig2_layers),
	KUNIT_CASE(ltcp_fig2_claiming),
	KUNIT_CASE(ltcp_fig2_recovery),
	KUNIT_CASE(ltcp_layer_starts),
	KUNIT_CASE(ltcp_layer_bounds),
	KUNIT_CASE(ltcp_enter_rules),
	KUNIT_CASE(ltcp_one_layer),
	KUNIT_CASE(ltcp_one_layer_off),
	KUNIT_CASE(ltcp_decrease_sane),
	KUNIT_CASE(ltcp_decrease_amount),
	KUNIT_CASE(ltcp_cbrt_exact),
	KUNIT_CASE(ltcp_k_r_exact),
	KUNIT_CASE(ltcp_k_r_edges),
	KUNIT_CASE(ltcp_k_r_monotone),
	{}
};

static struct kunit_case ltcp_growth_cases[] = {
	KUNIT_CASE(ltcp_fig2_claiming_grown),
	KUNIT_CASE(ltcp_grow_batch),
	KUNIT_CASE(ltcp_grow_batch_round_trip),
	KUNIT_CASE(ltcp_grow_rate),
	KUNIT_CASE(ltcp_grow_never_stuck),
	KUNIT_CASE(ltcp_grow_capped),
	{}
};

static struct kunit_case ltcp_hook_cases[] = {
	KUNIT_CASE(ltcp_hook_init),
	KUNIT_CASE(ltcp_hook_before_init),
	KUNIT_CASE(ltcp_hook_slow_start),
	KUNIT_CASE(ltcp_hook_first_slow_start),
	KUNIT_CASE(ltcp_hook_limits),
	KUNIT_CASE(ltcp_hook_cong_avoid),
	KUNIT_CASE(ltcp_hook_small_windows),
	KUNIT_CASE(ltcp_hook_ssthresh),
	KUNIT_CASE(ltcp_hook_undo),
	KUNIT_CASE(ltcp_hook_tx_start),
	KUNIT_CASE(ltcp_hook_get_info),
	KUNIT_CASE(ltcp_hook_registered),
	{}
};

static struct kunit_case ltcp_param_cases[] = {
	KUNIT_CASE(ltcp_params_checked),
	KUNIT_CASE(ltcp_params_taken),
	{}
};

static struct kunit_suite ltcp_arithmetic = {
	.name = "ltcp_arithmetic",
	.test_cases = ltcp_arithmetic_cases,
};

static struct kunit_suite ltcp_growth = {
	.name = "ltcp_growth",
	.suite_init = ltcp_needs_layers,
	.test_cases = ltcp_growth_cases,
};

static struct kunit_suite ltcp_hooks = {
	.name = "ltcp_hooks",
	.suite_init = ltcp_needs_layers,
	.test_cases = ltcp_hook_cases,
};

static struct kunit_suite ltcp_parameters = {
	.name = "ltcp_params",
	.suite_init = ltcp_needs_layers,
	.test_cases = ltcp_param_cases,
};

kunit_test_suites(&ltcp_arithmetic, &ltcp_growth, &ltcp_hooks,
		  &ltcp_parameters);
