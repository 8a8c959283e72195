// SPDX-License-Identifier: GPL-2.0
/*
 * gHSTCP: the statistics, the rules and the hooks of tcp_ghstcp.c, which is made
 * a part of this module so that its static functions can be called.
 *
 * The statistics are checked against a second, plain implementation: sums of the
 * samples as they are, in 128 bits.  It needs a 64-bit kernel.
 */

#include "../../tcp_ghstcp.c"

#include <kunit/test.h>

#include "sample.h"
#include "sock.h"

/* --- samples ------------------------------------------------------------- */

struct ghstcp_pair {
	u32 sent, rtt;		/* microseconds */
};

/*
 * Windows of samples as one flow had them on the path of the paper's Fig. 4, in
 * the lab, rule=refined: 200 Mbit/s, 44 ms, 137 packets of buffer, no time
 * stamps, BDP 733 packets of 1500 bytes.  Departure times less the first one.
 * At 0.68 s, W = 783, just out of slow start:
 */
static const struct ghstcp_pair ghstcp_after_slow_start[] = {
	{ 0, 46561 }, { 941, 46519 }, { 1781, 46519 }, { 2620, 46521 },
	{ 3461, 46520 }, { 4301, 46519 }, { 5141, 46519 }, { 5981, 46520 },
	{ 6821, 46519 }, { 7661, 46519 }, { 8501, 46519 }, { 9340, 46521 },
	{ 10181, 46520 }, { 11021, 46520 }, { 11861, 46519 }, { 12701, 46520 },
	{ 13541, 46519 }, { 14381, 46519 }, { 15221, 46519 }, { 16060, 46521 },
	{ 16901, 46520 }, { 17741, 46519 }, { 18581, 46519 }, { 19421, 46520 },
	{ 20261, 46519 }, { 21101, 46519 }, { 21941, 46519 }, { 22780, 46521 },
	{ 23621, 46519 }, { 24461, 46519 }, { 25301, 46519 }, { 26140, 46521 },
	{ 26981, 46520 }, { 27821, 46520 }, { 28661, 46519 }, { 29501, 46520 },
	{ 30241, 46620 }, { 31081, 46620 }, { 31920, 46620 }, { 32760, 46621 },
	{ 33601, 46619 }, { 34441, 46619 }, { 35280, 46620 }, { 36120, 46621 },
	{ 36961, 46619 }, { 37801, 46619 }, { 38640, 46620 }, { 39480, 46621 },
	{ 40321, 46619 }, { 41161, 46619 }, { 42000, 46620 }, { 42841, 46620 },
	{ 43620, 46621 }, { 44460, 46621 }, { 45301, 46620 }, { 46140, 46620 },
};

/* At 5.11 s, W = 676, below the BDP: the sawtooth of delayed acknowledgments. */
static const struct ghstcp_pair ghstcp_below[] = {
	{ 0, 45140 }, { 2039, 44120 }, { 3300, 44120 }, { 3300, 44840 },
	{ 4054, 44806 }, { 5341, 44240 }, { 6652, 44120 }, { 6652, 44840 },
	{ 7371, 44841 }, { 9160, 44120 }, { 10180, 44120 }, { 10180, 44840 },
	{ 11259, 44541 }, { 12760, 44060 }, { 12760, 44780 }, { 13720, 44540 },
	{ 14320, 44660 }, { 15400, 44300 }, { 15400, 45020 }, { 16360, 44780 },
	{ 16960, 44901 }, { 18041, 44539 }, { 19000, 44300 }, { 19000, 45020 },
	{ 20561, 44180 }, { 20561, 44899 }, { 21521, 44659 }, { 22120, 44780 },
	{ 23201, 44420 }, { 24160, 44181 }, { 24160, 44901 }, { 24761, 45019 },
	{ 25841, 44659 }, { 26801, 44419 }, { 26801, 45140 }, { 28481, 44179 },
	{ 28481, 44899 }, { 29440, 44660 }, { 30041, 44779 }, { 31001, 44539 },
	{ 31001, 45260 }, { 32080, 44900 }, { 32561, 45139 }, { 33640, 44780 },
	{ 34601, 44539 }, { 34601, 45259 }, { 36280, 44301 }, { 36280, 45020 },
	{ 37241, 44779 }, { 37840, 44900 }, { 38719, 44741 }, { 40101, 44180 },
	{ 40101, 44900 }, { 41061, 44660 }, { 42500, 44060 }, { 42500, 44780 },
	{ 43461, 44539 }, { 44060, 44660 }, { 45020, 44420 },
};

/* At 5.83 s, W = 770, at the knee: the same, and the queue begins to build up. */
static const struct ghstcp_pair ghstcp_knee[] = {
	{ 0, 44640 }, { 0, 45360 }, { 1080, 45000 }, { 1080, 45720 },
	{ 2640, 44880 }, { 2640, 45600 }, { 3720, 45240 }, { 4187, 45493 },
	{ 5280, 45120 }, { 6360, 44760 }, { 6360, 45480 }, { 7800, 44760 },
	{ 7800, 45480 }, { 8880, 45120 }, { 8880, 45840 }, { 10440, 45000 },
	{ 10440, 45720 }, { 11520, 45360 }, { 11987, 45613 }, { 12960, 45360 },
	{ 14160, 44880 }, { 14160, 45600 }, { 15720, 44760 }, { 15720, 45480 },
	{ 16800, 45120 }, { 16800, 45840 }, { 18360, 45000 }, { 18360, 45720 },
	{ 19440, 45360 }, { 19906, 45614 }, { 20880, 45360 }, { 21960, 45000 },
	{ 21960, 45720 }, { 23520, 44880 }, { 23520, 45600 }, { 24600, 45240 },
	{ 24600, 45960 }, { 26160, 45120 }, { 26160, 45840 }, { 27240, 45480 },
	{ 27706, 45734 }, { 28800, 45360 }, { 29880, 45000 }, { 29880, 45720 },
	{ 31440, 44880 }, { 31440, 45600 }, { 32520, 45240 }, { 32520, 45960 },
	{ 33960, 45240 }, { 33960, 45960 }, { 35160, 45480 }, { 35626, 45734 },
	{ 36600, 45480 }, { 37680, 45120 }, { 37680, 45840 }, { 39240, 45000 },
	{ 39240, 45720 }, { 40320, 45360 }, { 40320, 46080 }, { 41880, 45240 },
	{ 41880, 45960 }, { 42960, 45600 }, { 43426, 45854 }, { 44520, 45480 },
};

/* At 10.02 s, W = 866, in Reno mode with the buffer almost full. */
static const struct ghstcp_pair ghstcp_above[] = {
	{ 0, 50760 }, { 0, 51600 }, { 1560, 50880 }, { 1560, 51720 },
	{ 2640, 51480 }, { 4200, 50760 }, { 4200, 51600 }, { 5280, 51360 },
	{ 5750, 51730 }, { 6840, 51480 }, { 7920, 51240 }, { 8390, 51610 },
	{ 9480, 51360 }, { 10560, 51120 }, { 11030, 51490 }, { 12120, 51240 },
	{ 13200, 51000 }, { 13200, 51840 }, { 14760, 51120 }, { 15840, 50880 },
	{ 15840, 51720 }, { 17400, 51000 }, { 18480, 50760 }, { 18480, 51600 },
	{ 20040, 50880 }, { 20040, 51720 }, { 21120, 51480 }, { 22680, 50760 },
	{ 22680, 51600 }, { 23760, 51360 }, { 25200, 50760 }, { 25200, 51600 },
	{ 26280, 51360 }, { 26750, 51730 }, { 27840, 51480 }, { 28920, 51240 },
	{ 29389, 51611 }, { 30480, 51360 }, { 31560, 51120 }, { 32030, 51490 },
	{ 33120, 51240 }, { 34200, 51000 }, { 34200, 51840 }, { 35760, 51120 },
	{ 36840, 50880 }, { 36840, 51720 }, { 38400, 51000 }, { 38400, 51840 },
	{ 39480, 51600 }, { 41040, 50880 }, { 41040, 51720 }, { 42120, 51480 },
	{ 43680, 50760 }, { 43680, 51600 }, { 44760, 51360 }, { 45230, 51730 },
	{ 46320, 51480 }, { 47400, 51240 }, { 47870, 51610 }, { 48960, 51360 },
	{ 50040, 51120 }, { 50509, 51491 },
};

#define GHSTCP_SERIES	128

struct ghstcp_series {
	u32 n;
	struct ghstcp_pair p[GHSTCP_SERIES];
};

enum ghstcp_kind {
	GHSTCP_CONSTANT, GHSTCP_NOISE, GHSTCP_RAMP, GHSTCP_RAMP_NOISE,
	GHSTCP_FALL, GHSTCP_STEP, GHSTCP_SAWTOOTH, GHSTCP_ALTERNATE,
	GHSTCP_FIRST_HIGH, GHSTCP_FIRST_LOW, GHSTCP_KINDS
};

/* About normal, in 0..@amp, around @amp / 2, standard deviation 0.144 @amp. */
static u32 ghstcp_noise(struct rnd_state *rnd, u32 amp)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		sum += prandom_u32_state(rnd);
	return sum / 4 * (amp + 1ULL) >> 32;
}

/* Sample @i of @n, above the base. */
static u32 ghstcp_shape(enum ghstcp_kind kind, u32 i, u32 n, u32 amp,
			struct rnd_state *rnd)
{
	u32 ramp = (u64)amp * i / (n - 1);

	switch (kind) {
	case GHSTCP_NOISE:
		return ghstcp_noise(rnd, amp);
	case GHSTCP_RAMP:
		return ramp;
	case GHSTCP_RAMP_NOISE:
		return ramp / 2 + ghstcp_noise(rnd, amp / 2);
	case GHSTCP_FALL:
		return amp - ramp;
	case GHSTCP_STEP:
		return i < n / 2 ? 0 : amp;
	case GHSTCP_SAWTOOTH:
		return (u64)amp * (i % 8) / 7;
	case GHSTCP_ALTERNATE:
		return i & 1 ? amp : 0;
	case GHSTCP_FIRST_HIGH:
		return i ? 0 : amp;
	case GHSTCP_FIRST_LOW:
		return i ? amp : 0;
	default:
		return 0;
	}
}

static void ghstcp_make(struct ghstcp_series *s, enum ghstcp_kind kind, u32 n,
			u32 base, u32 amp, u32 start, u32 gap,
			struct rnd_state *rnd)
{
	u32 i;

	s->n = n;
	for (i = 0; i < n; i++) {
		s->p[i].sent = start + i * gap;
		s->p[i].rtt = base + ghstcp_shape(kind, i, n, amp, rnd);
	}
}

static struct ghstcp_series *ghstcp_series(struct kunit *test)
{
	struct ghstcp_series *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	return s;
}

static void ghstcp_take(struct ghstcp_window *w, const struct ghstcp_series *s)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < s->n; i++)
		ghstcp_sample(w, s->p[i].sent, s->p[i].rtt);
}

/* --- the reference ------------------------------------------------------- */

/* The sum of RTT, and n times the centred sums of squares and products. */
struct ghstcp_exact {
	u64 n, sum;
	u128 sxx, sdd;
	s128 sxd;
};

/* Departure times count from the first one, their clock wraps. */
static void ghstcp_exactly(struct ghstcp_exact *e,
			   const struct ghstcp_series *s)
{
	u64 x = 0, d = 0;
	u32 i;

	*e = (struct ghstcp_exact) { .n = s->n };
	for (i = 0; i < s->n; i++) {
		u64 sent = s->p[i].sent - s->p[0].sent, rtt = s->p[i].rtt;

		x += rtt;
		d += sent;
		e->sxx += rtt * rtt;
		e->sdd += sent * sent;
		e->sxd += rtt * sent;
	}
	e->sum = x;
	e->sxx = e->sxx * s->n - (u128)x * x;
	e->sdd = e->sdd * s->n - (u128)d * d;
	e->sxd = e->sxd * s->n - (s128)x * d;
}

/* @a 2^@bits / @b, cut off; @b < 2^127. */
static u64 ghstcp_divide(u128 a, u128 b, int bits)
{
	u64 quotient = 0;
	u128 rest = 0;
	int i;

	for (i = 127 + bits; i >= 0; i--) {
		rest <<= 1;
		if (i >= bits)
			rest |= a >> (i - bits) & 1;
		quotient <<= 1;
		if (rest >= b) {
			rest -= b;
			quotient |= 1;
		}
	}
	return quotient;
}

/* Pearson's r squared in 2^-32; 0 where one of the two does not vary. */
static u64 ghstcp_exact_r2(const struct ghstcp_exact *e)
{
	if (!e->sxx || !e->sdd)
		return 0;
	return ghstcp_divide((u128)(e->sxd * e->sxd), e->sxx * e->sdd, 32);
}

/* About the mean, us^2, of a line's degrees of freedom. */
static u64 ghstcp_exact_total(const struct ghstcp_exact *e)
{
	return ghstcp_divide(e->sxx, e->n * (e->n - 2), 0);
}

/* About the line through the samples, us^2. */
static u64 ghstcp_exact_variance(const struct ghstcp_exact *e)
{
	if (!e->sdd)
		return ghstcp_exact_total(e);
	return ghstcp_divide(e->sxx * e->sdd - (u128)(e->sxd * e->sxd),
			     e->sdd * (e->n * (e->n - 2)), 0);
}

/* Student's t, one-sided 95 %, as the tables have it, in 1/1000. */
static const struct {
	u32 df, t;
} student[] = {
	{ 6, 1943 }, { 7, 1895 }, { 8, 1860 }, { 9, 1833 }, { 10, 1812 },
	{ 12, 1782 }, { 15, 1753 }, { 20, 1725 }, { 30, 1697 }, { 40, 1684 },
	{ 60, 1671 }, { 120, 1658 },
};

/*
 * Is RTT rising, by t = r sqrt((n - 2) / (1 - r^2)) above @t / 1000, with its
 * square taken as @permille of what it is?
 */
static bool ghstcp_exact_rising(const struct ghstcp_exact *e, u32 t,
				u32 permille)
{
	u64 r2 = ghstcp_exact_r2(e);
	u128 have = (u128)r2 * (e->n - 2);
	u128 need = (u128)(BIT_ULL(32) - r2) * t * t;

	return e->sxd > 0 && have * 1000 * 1000 * 1000 > need * permille;
}

/*
 * Average within a microsecond.  r^2 within two units of its fixed point and
 * 0.1 %, or, where RTT hardly varies at all, by less than 10 us, within 2^-11.
 * Variance within 0.2 % of what it is without the line: within 1 % where a line
 * explains no more than 80 %, which is any window without a ramp far above its
 * noise.
 */
static void ghstcp_agree(struct kunit *test, const struct ghstcp_series *s)
{
	struct ghstcp_window w;
	struct ghstcp_stats out;
	struct ghstcp_exact e;
	u64 r2, total, variance, slack;
	int i;

	ghstcp_take(&w, s);
	out = ghstcp_stats(&w);
	ghstcp_exactly(&e, s);
	r2 = ghstcp_exact_r2(&e);
	total = ghstcp_exact_total(&e);
	variance = ghstcp_exact_variance(&e);
	slack = total < 100 ? BIT(21) : BIT(17) + (r2 >> 10);
	KUNIT_ASSERT_EQ(test, w.n, s->n);
	KUNIT_ASSERT_LT(test, lf_apart(out.rtt_us * e.n, e.sum), e.n);
	KUNIT_ASSERT_LE_MSG(test, lf_apart((u64)out.r2 << 16, r2), slack,
			    "n %u rtt %u", s->n, out.rtt_us);
	KUNIT_ASSERT_EQ(test, out.falling, e.sxd < 0);
	KUNIT_ASSERT_LE_MSG(test, lf_apart(out.variance, variance),
			    1 + total / 500,
			    "n %u rtt %u: %llu, not %llu", s->n, out.rtt_us,
			    out.variance, variance);
	for (i = 0; i < ARRAY_SIZE(student); i++) {
		if (student[i].df + 2 != s->n)
			continue;
		if (ghstcp_exact_rising(&e, student[i].t, 1030))
			KUNIT_ASSERT_TRUE(test, ghstcp_rising(&out, s->n));
		else if (!ghstcp_exact_rising(&e, student[i].t, 970))
			KUNIT_ASSERT_FALSE(test, ghstcp_rising(&out, s->n));
	}
}

/* --- statistics ---------------------------------------------------------- */

/* Every kind of series, packets at once and over 16 seconds. */
static void ghstcp_agree_all(struct kunit *test, struct ghstcp_series *s, u32 n,
			     u32 base, u32 amp, struct rnd_state *rnd)
{
	static const u32 gaps[] = { 0, 1, 690, 15625, 131071 };
	int g, kind;

	for (g = 0; g < ARRAY_SIZE(gaps); g++)
		for (kind = 0; kind < GHSTCP_KINDS; kind++) {
			ghstcp_make(s, kind, n, base, amp, 0xfffff000, gaps[g],
				    rnd);
			ghstcp_agree(test, s);
		}
}

/*
 * Windows of 8 to 128 samples, RTTs of 1 us to 10 s, next to no variation to all
 * there can be.
 */
static void ghstcp_stats_generated(struct kunit *test)
{
	static const u32 counts[] = {
		8, 9, 10, 11, 12, 14, 17, 22, 32, 42, 62, 100, 122, 128,
	};
	static const u32 bases[] = { 1, 30, 1000, 44000, 1000000, 9000000 };
	static const u32 amps[] = { 1, 2, 7, 100, 3000, 50000, 999999 };
	struct ghstcp_series *s = ghstcp_series(test);
	struct rnd_state rnd;
	int c, b, a;

	prandom_seed_state(&rnd, 41);
	for (c = 0; c < ARRAY_SIZE(counts); c++)
		for (b = 0; b < ARRAY_SIZE(bases); b++)
			for (a = 0; a < ARRAY_SIZE(amps); a++)
				ghstcp_agree_all(test, s, counts[c], bases[b],
						 amps[a], &rnd);
}

/* The same for random ones of every magnitude. */
static void ghstcp_stats_random(struct kunit *test)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 42);
	for (i = 0; i < 10000; i++) {
		u32 n = 8 + prandom_u32_state(&rnd) % 121;
		u32 base = 1 + lf_random_window(&rnd) % 5000000;
		u32 amp = lf_random_window(&rnd) % 5000000;
		u32 gap = lf_random_window(&rnd) % (ghstcp_max_span_us / n);

		ghstcp_make(s, i % GHSTCP_KINDS, n, base, amp,
			    prandom_u32_state(&rnd), gap, &rnd);
		ghstcp_agree(test, s);
	}
}

/* The largest of all sums: 128 samples of 1 us and 10 s over 2^24 us. */
static void ghstcp_stats_extreme(struct kunit *test)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct rnd_state rnd;
	u32 kind, n, i;

	prandom_seed_state(&rnd, 43);
	for (kind = 0; kind < GHSTCP_KINDS; kind++)
		for (n = 8; n <= 128; n += 8) {
			u32 gap = ghstcp_max_span_us / (n - 1);

			ghstcp_make(s, kind, n, 1, ghstcp_max_rtt_us - 1, 5,
				    gap, &rnd);
			ghstcp_agree(test, s);
			/* All but the first, half, the last one at the end. */
			for (i = 1; i < n; i++)
				s->p[i].sent = 5 + ghstcp_max_span_us;
			ghstcp_agree(test, s);
			for (i = 1; i < n / 2; i++)
				s->p[i].sent = 5;
			ghstcp_agree(test, s);
			for (i = 1; i < n - 1; i++)
				s->p[i].sent = 5;
			ghstcp_agree(test, s);
			ghstcp_make(s, kind, n, ghstcp_max_rtt_us, 0, 5, gap,
				    &rnd);
			ghstcp_agree(test, s);
		}
}

/* Nothing that is constant correlates, or varies; the reference agrees. */
static void ghstcp_stats_constant(struct kunit *test)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct ghstcp_window w;
	struct ghstcp_stats out;
	u32 rtt;

	for (rtt = 1; rtt <= ghstcp_max_rtt_us; rtt = rtt * 2 + 1) {
		ghstcp_make(s, GHSTCP_CONSTANT, 64, rtt, 0, 1000, 700, NULL);
		ghstcp_take(&w, s);
		out = ghstcp_stats(&w);
		KUNIT_EXPECT_EQ(test, out.rtt_us, rtt);
		KUNIT_EXPECT_EQ(test, out.variance, 0ULL);
		KUNIT_EXPECT_EQ(test, out.r2, 0U);
		KUNIT_EXPECT_FALSE(test, ghstcp_rising(&out, 64));
	}
}

/* A line explains a ramp whole, whichever way, and only one way is rising. */
static void ghstcp_stats_line(struct kunit *test)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct ghstcp_window w;
	struct ghstcp_stats out;
	u32 n;

	for (n = 8; n <= 128; n++) {
		ghstcp_make(s, GHSTCP_RAMP, n, 44000, 100 * (n - 1), 0, 690,
			    NULL);
		ghstcp_take(&w, s);
		out = ghstcp_stats(&w);
		KUNIT_EXPECT_GE(test, out.r2, GHSTCP_R_ONE - 2);
		KUNIT_EXPECT_FALSE(test, out.falling);
		KUNIT_EXPECT_TRUE(test, ghstcp_rising(&out, n));

		ghstcp_make(s, GHSTCP_FALL, n, 44000, 100 * (n - 1), 0, 690,
			    NULL);
		ghstcp_take(&w, s);
		out = ghstcp_stats(&w);
		KUNIT_EXPECT_GE(test, out.r2, GHSTCP_R_ONE - 2);
		KUNIT_EXPECT_TRUE(test, out.falling);
		KUNIT_EXPECT_FALSE(test, ghstcp_rising(&out, n));
	}
}

static void ghstcp_recorded(struct kunit *test, const struct ghstcp_pair *p,
			    u32 n, bool rising)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct ghstcp_window w;
	struct ghstcp_stats out;

	s->n = n;
	memcpy(s->p, p, n * sizeof(*p));
	ghstcp_agree(test, s);
	ghstcp_take(&w, s);
	out = ghstcp_stats(&w);
	KUNIT_EXPECT_EQ(test, ghstcp_rising(&out, n), rising);
}

/* Recorded windows: statistics as the reference, and the trend as it was. */
static void ghstcp_stats_recorded(struct kunit *test)
{
	ghstcp_recorded(test, ghstcp_after_slow_start,
			ARRAY_SIZE(ghstcp_after_slow_start), true);
	ghstcp_recorded(test, ghstcp_below, ARRAY_SIZE(ghstcp_below), false);
	ghstcp_recorded(test, ghstcp_knee, ARRAY_SIZE(ghstcp_knee), true);
	ghstcp_recorded(test, ghstcp_above, ARRAY_SIZE(ghstcp_above), false);
}

/*
 * An RTT above 10 s counts as 10 s; a packet sent before the first, behind a
 * retransmission, as sent with it; one sent 2^24 us later or more, as then.
 */
static void ghstcp_stats_clamps(struct kunit *test)
{
	struct ghstcp_window w = {}, as = {};
	int i;

	for (i = 0; i < 64; i++) {
		u32 off = i & 1 ? 1 : i << 20;

		ghstcp_sample(&w, 70000 - off, S32_MAX - i);
		ghstcp_sample(&as, 70000, ghstcp_max_rtt_us);
	}
	KUNIT_EXPECT_EQ(test, memcmp(&w, &as, sizeof(w)), 0);
	for (i = 0; i < 64; i++) {
		ghstcp_sample(&w, 70000 + ((16 + i) << 20), 1);
		ghstcp_sample(&as, 70000 + ghstcp_max_span_us, 1);
	}
	KUNIT_EXPECT_EQ(test, memcmp(&w, &as, sizeof(w)), 0);
}

/* --- the t-test ---------------------------------------------------------- */

/* Within 1 % of the tables, of t and not of its square; it only falls. */
static void ghstcp_t_quantiles(struct kunit *test)
{
	u32 df;
	int i;

	for (i = 0; i < ARRAY_SIZE(student); i++) {
		u64 t2 = ghstcp_t2(student[i].df) * 1000ULL;
		u64 want = student[i].t * student[i].t;

		KUNIT_EXPECT_GE_MSG(test, t2 * 10000, want * 99 * 99, "df %u",
				    student[i].df);
		KUNIT_EXPECT_LE_MSG(test, t2 * 10000, want * 101 * 101,
				    "df %u", student[i].df);
	}
	for (df = 7; df <= 126; df++)
		KUNIT_EXPECT_LE(test, ghstcp_t2(df), ghstcp_t2(df - 1));
	/* That of the normal distribution, 1.645, is the limit. */
	KUNIT_EXPECT_GE(test, ghstcp_t2(126), 1645 * 1645 / 1000U);
}

/* Noise in windows of @n: how many of 10000 rise, with @ramp on top. */
static u32 ghstcp_rising_windows(struct kunit *test, u32 n, u32 amp, s32 ramp)
{
	struct ghstcp_series *s = ghstcp_series(test);
	struct ghstcp_window w;
	struct ghstcp_stats out;
	struct rnd_state rnd;
	u32 rising = 0, i, k;

	prandom_seed_state(&rnd, 44 + n);
	for (i = 0; i < 10000; i++) {
		ghstcp_make(s, GHSTCP_NOISE, n, 44000, amp, i << 16, 690,
			    &rnd);
		for (k = 0; k < n; k++)
			s->p[k].rtt += ramp * (s32)k / (s32)n;
		ghstcp_take(&w, s);
		out = ghstcp_stats(&w);
		rising += ghstcp_rising(&out, n);
	}
	return rising;
}

/* White noise rises in 5 % of all windows, within 1.5 %, however many samples. */
static void ghstcp_t_false_positives(struct kunit *test)
{
	static const u32 counts[] = { 8, 12, 30, 64, 128 };
	int c;

	for (c = 0; c < ARRAY_SIZE(counts); c++) {
		u32 n = counts[c], rising;

		rising = ghstcp_rising_windows(test, n, 2000, 0);
		KUNIT_EXPECT_LE_MSG(test, lf_apart(rising, 500), 150ULL,
				    "n %u: %u", n, rising);
	}
}

/*
 * A ramp of two standard deviations of the noise is seen in 99 % of windows of
 * 64 samples, the same ramp downwards never.
 */
static void ghstcp_t_power(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ghstcp_rising_windows(test, 64, 2000, 577),
			9900U);
	KUNIT_EXPECT_EQ(test, ghstcp_rising_windows(test, 64, 2000, -577), 0U);
}

/* --- the rule ------------------------------------------------------------ */

static void ghstcp_zone(struct kunit *test, u32 above, u32 min, u64 variance,
			enum ghstcp_mode flat, enum ghstcp_mode rising)
{
	KUNIT_ASSERT_EQ_MSG(test, ghstcp_refined(min + above, min, variance,
						 false), flat,
			    "above %u variance %llu", above, variance);
	KUNIT_ASSERT_EQ_MSG(test, ghstcp_refined(min + above, min, variance,
						 true), rising,
			    "above %u variance %llu", above, variance);
}

/*
 * RTT < min + 2 std: HSTCP mode; RTT >= min + 4 std: Reno mode; between them
 * the trend's.  Exactly, at any min; std^2 need not be a square.
 */
static void ghstcp_rule_zones(struct kunit *test)
{
	static const u32 mins[] = { 1, 44000, 1000000 };
	u64 std;
	int m;

	for (m = 0; m < ARRAY_SIZE(mins); m++)
		for (std = 1; std < 2250000;
		     std = lf_next_window(std, 200, 50)) {
			u64 v = std * std;
			u32 min = mins[m];

			ghstcp_zone(test, 0, min, v, GHSTCP_HSTCP,
				    GHSTCP_HSTCP);
			ghstcp_zone(test, 2 * std - 1, min, v, GHSTCP_HSTCP,
				    GHSTCP_HSTCP);
			ghstcp_zone(test, 2 * std, min, v, GHSTCP_HSTCP,
				    GHSTCP_RENO);
			ghstcp_zone(test, 2 * std, min, v + 1, GHSTCP_HSTCP,
				    GHSTCP_HSTCP);
			ghstcp_zone(test, 4 * std - 1, min, v, GHSTCP_HSTCP,
				    GHSTCP_RENO);
			ghstcp_zone(test, 4 * std, min, v, GHSTCP_RENO,
				    GHSTCP_RENO);
			ghstcp_zone(test, 4 * std, min, v + 1, GHSTCP_HSTCP,
				    GHSTCP_RENO);
		}
}

/* The minimum itself, and less, is HSTCP mode; the rest does not overflow. */
static void ghstcp_rule_edges(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ghstcp_refined(44000, 44000, 0, true),
			GHSTCP_HSTCP);
	KUNIT_EXPECT_EQ(test, ghstcp_refined(43999, 44000, 1, true),
			GHSTCP_HSTCP);
	KUNIT_EXPECT_EQ(test, ghstcp_refined(1, ~0U, 1, true), GHSTCP_HSTCP);
	ghstcp_zone(test, 1, 44000, 0, GHSTCP_RENO, GHSTCP_RENO);
	ghstcp_zone(test, 9999999, 1, BIT_ULL(48), GHSTCP_HSTCP, GHSTCP_HSTCP);
	ghstcp_zone(test, 9999999, 1, 1, GHSTCP_RENO, GHSTCP_RENO);
}

/*
 * The average of the windows, and at least one packet's share of the RTT, or
 * 1/1024 of it; never 0, however short the path.
 */
static void ghstcp_rule_variance(struct kunit *test)
{
	u32 w;

	KUNIT_EXPECT_EQ(test, ghstcp_variance(10 * 250000, 10, 44000, 770),
			250000ULL);
	KUNIT_EXPECT_EQ(test, ghstcp_variance(65535 * BIT_ULL(45), 65535, 1, 1),
			BIT_ULL(45));
	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 1000, 4)) {
		u64 least = 44000 / min(w, 1024U), none, quiet;

		none = ghstcp_variance(0, 0, 44000, w);
		quiet = ghstcp_variance(5, 5, 44000, w);
		KUNIT_ASSERT_GE(test, none, least * least);
		KUNIT_ASSERT_LE(test, none, (least + 1) * (least + 1));
		KUNIT_ASSERT_EQ(test, quiet, none);
	}
	KUNIT_EXPECT_EQ(test, ghstcp_variance(0, 0, 1, 2000), 1ULL);
	KUNIT_EXPECT_EQ(test, ghstcp_variance(0, 0, 999, 0), 1000000ULL);
	KUNIT_EXPECT_EQ(test, ghstcp_variance(0, 0, 1000, 2000), 1ULL);
	/* One packet in 10 s of RTT: 10^14, which leaves the rule room for 16. */
	KUNIT_EXPECT_LE(test, lf_apart(ghstcp_variance(0, 0, 10000000, 1),
				       100000000000000ULL), 20000001ULL);
}

/* --- a connection -------------------------------------------------------- */

/* In congestion avoidance at @cwnd, and with ghstcp just selected. */
static struct tcp_sock *ghstcp_test_sock(struct kunit *test, u32 cwnd)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, 44000);

	ghstcp_init((struct sock *)tp);
	return tp;
}

static struct ghstcp *ghstcp_of(struct tcp_sock *tp)
{
	return inet_csk_ca((struct sock *)tp);
}

/* What its acknowledgments say. */
struct ghstcp_path {
	struct tcp_sock *tp;
	struct rnd_state rnd;
	u64 now;		/* us */
	u32 every;		/* us from ACK to ACK */
	u32 acks;		/* in a round trip */
	u32 base, noise;	/* of the RTT, us; the noise is ghstcp_noise() */
	s32 slope;		/* us more for each ACK */
	bool no_sack;
};

static void ghstcp_path(struct ghstcp_path *p, struct tcp_sock *tp)
{
	*p = (struct ghstcp_path) {
		.tp = tp, .now = 1000000, .every = 1000, .acks = 44,
		.base = 44000, .noise = 2000,
	};
	prandom_seed_state(&p->rnd, 45);
	tp->srtt_us = 44000 << 3;
	tp->snd_nxt = tp->snd_una + p->acks;
}

static void ghstcp_ack_rtt(struct ghstcp_path *p, s32 rtt_us)
{
	p->now += p->every;
	p->tp->tcp_mstamp = p->now;
	p->tp->snd_una++;
	/* Without a sample all of it stays as it was. */
	if (rtt_us >= 0 && p->no_sack) {
		p->tp->delivered_mstamp = p->now;
		p->tp->first_tx_mstamp = p->now - rtt_us;
	} else if (rtt_us >= 0) {
		p->tp->rack.rtt_us = rtt_us;
		p->tp->rack.mstamp = p->now - rtt_us;
	}
	ghstcp_take_rtt((struct sock *)p->tp);
	p->tp->snd_nxt = p->tp->snd_una + p->acks;
}

static void ghstcp_acks(struct ghstcp_path *p, u32 count)
{
	for (; count; count--) {
		ghstcp_ack_rtt(p, p->base + ghstcp_noise(&p->rnd, p->noise));
		p->base += p->slope;
	}
}

/*
 * Until so many windows have ended: the ACK that ends one is the first of the
 * next.  In a forced mode there are none, and enough ACKs for them.
 */
static void ghstcp_windows(struct ghstcp_path *p, u32 count)
{
	const struct ghstcp *ca = inet_csk_ca((struct sock *)p->tp);
	u32 left = (count + 1) * p->acks;

	for (; count && left; left--) {
		u32 n = ca->window.n;

		ghstcp_acks(p, 1);
		count -= n > 1 && ca->window.n == 1;
	}
}

static u32 ghstcp_mode(struct tcp_sock *tp)
{
	return ghstcp_of(tp)->mode;
}

/* What a round trip of congestion avoidance adds. */
static u32 ghstcp_gain(struct tcp_sock *tp)
{
	u32 w = tcp_snd_cwnd(tp), gained;

	ghstcp_of(tp)->credit = 0;
	/* This ACK has no RTT. */
	tp->rack.rtt_us = 0;
	ghstcp_cong_avoid((struct sock *)tp, 0, w);
	gained = tcp_snd_cwnd(tp) - w;
	tcp_snd_cwnd_set(tp, w);
	return gained;
}

/* Standard deviation of the path's noise. */
static u32 ghstcp_std(const struct ghstcp_path *p)
{
	return p->noise * 144 / 1000;
}

/*
 * The refined rule end to end: noise alone is HSTCP mode, a queue far above it
 * Reno mode, though it no longer rises; when it is gone, HSTCP mode again.
 */
static void ghstcp_conn_refined(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp_path p;
	int i;

	ghstcp_path(&p, tp);
	for (i = 0; i < 50; i++) {
		ghstcp_windows(&p, 1);
		KUNIT_ASSERT_EQ_MSG(test, ghstcp_mode(tp), GHSTCP_HSTCP,
				    "window %d", i);
	}
	/* The smallest of 50 averages is a little less than their average. */
	KUNIT_EXPECT_LT(test, ghstcp_of(tp)->min_us, 45000U);
	KUNIT_EXPECT_GT(test, ghstcp_of(tp)->min_us,
			45000U - ghstcp_std(&p));

	p.base += ghstcp_std(&p);
	ghstcp_windows(&p, 5);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
	p.base += 5 * ghstcp_std(&p);
	for (i = 0; i < 50; i++) {
		ghstcp_windows(&p, 1);
		if (i)
			KUNIT_ASSERT_EQ_MSG(test, ghstcp_mode(tp), GHSTCP_RENO,
					    "window %d", i);
	}
	p.base -= 6 * ghstcp_std(&p);
	ghstcp_windows(&p, 2);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
}

/* Between the thresholds a rising RTT is Reno mode, a falling one is not. */
static void ghstcp_conn_between(struct kunit *test)
{
	s32 slope;

	for (slope = -10; slope <= 10; slope += 20) {
		struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
		struct ghstcp_path p;

		ghstcp_path(&p, tp);
		ghstcp_windows(&p, 50);
		/* Its middle is three standard deviations up. */
		p.base += 3 * ghstcp_std(&p) - slope * 22;
		p.slope = slope;
		ghstcp_windows(&p, 1);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp),
				slope > 0 ? GHSTCP_RENO : GHSTCP_HSTCP);
	}
}

/*
 * The original rule asks the trend alone: Reno mode while a queue builds up, but
 * HSTCP mode with a queue that stands, which is how it oscillates.
 */
static void ghstcp_conn_trend(struct kunit *test)
{
	struct tcp_sock *tp;
	struct ghstcp_path p;

	lf_test_set(test, "rule", "trend", 0);
	tp = ghstcp_test_sock(test, 1000);
	lf_test_set(test, "rule", "refined", 0);
	ghstcp_path(&p, tp);
	p.slope = 50;
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	p.slope = 0;
	p.noise = 0;
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
	p.slope = 50;
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	p.slope = -50;
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
}

/* A switch changes growth at once: a(W) per round trip, 1, and a(W) again. */
static void ghstcp_conn_switch(struct kunit *test)
{
	static const u32 windows[] = { 1000, 10000, 1000000, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *tp = ghstcp_test_sock(test, windows[i]);
		u32 a = lf_hstcp_a(windows[i]) >> LF_RATE_SHIFT;
		struct ghstcp_path p;

		ghstcp_path(&p, tp);
		ghstcp_windows(&p, 20);
		KUNIT_EXPECT_LE(test, lf_apart(ghstcp_gain(tp), a),
				a / 100 + 1ULL);
		p.base += 10 * ghstcp_std(&p);
		ghstcp_windows(&p, 2);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
		KUNIT_EXPECT_EQ(test, ghstcp_gain(tp), 1U);
		p.base -= 10 * ghstcp_std(&p);
		ghstcp_windows(&p, 2);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
		KUNIT_EXPECT_LE(test, lf_apart(ghstcp_gain(tp), a),
				a / 100 + 1ULL);
	}
}

/* A forced mode is for ever, whatever RTT does, also after a loss undone. */
static void ghstcp_conn_forced(struct kunit *test)
{
	static const char * const names[] = { "hstcp", "reno" };
	int i, k;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		u32 mode = i ? GHSTCP_RENO : GHSTCP_HSTCP;
		u32 a = i ? 1 : lf_hstcp_a(10000) >> LF_RATE_SHIFT;
		struct tcp_sock *tp;
		struct ghstcp_path p;

		lf_test_set(test, "mode", names[i], 0);
		tp = ghstcp_test_sock(test, 10000);
		lf_test_set(test, "mode", "auto", 0);
		ghstcp_path(&p, tp);
		for (k = 0; k < 40; k++) {
			p.base = k & 1 ? 44000 : 64000;
			p.slope = k % 3 * 50;
			ghstcp_windows(&p, 2);
			KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), mode);
			KUNIT_ASSERT_LE(test, lf_apart(ghstcp_gain(tp), a),
					1ULL);
			if (k % 10 != 9)
				continue;
			tp->prior_cwnd = tcp_snd_cwnd(tp);
			tp->snd_ssthresh = ghstcp_ssthresh((struct sock *)tp);
			KUNIT_ASSERT_EQ(test, tp->snd_ssthresh,
					lf_hstcp_decrease(10000));
			KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), mode);
			ghstcp_undo_cwnd((struct sock *)tp);
			KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), mode);
		}
	}
}

/* --- sampling ------------------------------------------------------------ */

/*
 * At most one sample in a 64th of the smoothed RTT, at most 128 in a window,
 * however many acknowledgments there are.
 */
static void ghstcp_sampling_most(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 100000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u32 i;

	ghstcp_path(&p, tp);
	p.acks = 44000;
	p.every = 1;
	tp->snd_nxt = tp->snd_una + p.acks;
	ghstcp_acks(&p, 43999);
	KUNIT_EXPECT_GE(test, ca->window.n, 63U);
	KUNIT_EXPECT_LE(test, ca->window.n, 65U);

	/* The smoothed RTT is far too small: the window fills up, no more. */
	p.every = 10;
	tp->srtt_us = 100 << 3;
	for (i = 0; i < 70 && ca->window.n > 3; i++)
		ghstcp_acks(&p, 1);
	KUNIT_EXPECT_LE(test, ca->window.n, 3U);
	ghstcp_acks(&p, 43922);
	KUNIT_EXPECT_EQ(test, ca->window.n, ghstcp_max_samples);
}

/* A window with fewer than 8 samples goes on into the next. */
static void ghstcp_sampling_least(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 4);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u32 i;

	ghstcp_path(&p, tp);
	p.acks = 3;
	p.every = 15000;
	tp->snd_nxt = tp->snd_una + p.acks;
	for (i = 1; i <= ghstcp_min_samples; i++) {
		ghstcp_acks(&p, 1);
		KUNIT_EXPECT_EQ(test, ca->window.n, i);
		KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
	}
	ghstcp_acks(&p, 1);
	KUNIT_EXPECT_EQ(test, ca->window.n, 1U);
	KUNIT_EXPECT_NE(test, ca->min_us, ~0U);
}

/* No RTT, 0 or less, is no sample, and ends no window. */
static void ghstcp_sampling_none(struct kunit *test)
{
	static const s32 none[] = { -1, 0, S32_MIN };
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp), before;
	struct ghstcp_path p;
	u32 i, k;

	ghstcp_path(&p, tp);
	for (i = 0; i < 100; i++) {
		ghstcp_acks(&p, 1);
		before = *ca;
		for (k = 0; k < ARRAY_SIZE(none); k++)
			ghstcp_ack_rtt(&p, none[k]);
		KUNIT_ASSERT_EQ(test, memcmp(ca, &before, sizeof(before)), 0);
	}
}

/* A sample is the RTT that was measured and the time before now by it. */
static void ghstcp_sampling_what(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp_window want = {};
	struct ghstcp_path p;
	u32 i;

	ghstcp_path(&p, tp);
	for (i = 0; i < 40; i++) {
		u32 rtt = 44000 + ghstcp_noise(&p.rnd, 20000);

		ghstcp_ack_rtt(&p, rtt);
		ghstcp_sample(&want, p.now - rtt, rtt);
	}
	KUNIT_EXPECT_EQ(test, want.n, 40U);
	KUNIT_EXPECT_EQ(test, memcmp(&ghstcp_of(tp)->window, &want,
				     sizeof(want)), 0);
}

/* Without SACK the samples are the same, and an ACK that delivers nothing has none. */
static void ghstcp_sampling_no_sack(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp_path p;
	u32 i, n;

	ghstcp_path(&p, tp);
	p.no_sack = true;
	for (i = 0; i < 20; i++) {
		ghstcp_windows(&p, 1);
		KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
	}
	KUNIT_EXPECT_LT(test, lf_apart(ghstcp_of(tp)->min_us, 45000), ghstcp_std(&p));
	n = ghstcp_of(tp)->window.n;
	ghstcp_ack_rtt(&p, -1);
	KUNIT_EXPECT_EQ(test, (u32)ghstcp_of(tp)->window.n, n);
	p.base += 10 * ghstcp_std(&p);
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
}

/* In slow start, CWR, recovery and after a timeout RTT says other things. */
static void ghstcp_sampling_avoidance(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct inet_connection_sock *icsk = inet_csk((struct sock *)tp);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u32 state;

	ghstcp_path(&p, tp);
	for (state = TCP_CA_Open; state <= TCP_CA_Loss; state++) {
		icsk->icsk_ca_state = TCP_CA_Open;
		ghstcp_acks(&p, 20);
		KUNIT_EXPECT_GE(test, ca->window.n, 20U);
		icsk->icsk_ca_state = state;
		ghstcp_acks(&p, 10);
		if (state < TCP_CA_CWR)
			KUNIT_EXPECT_GE(test, ca->window.n, 30U);
		else
			KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
		ghstcp_of(tp)->window.n = 0;
	}
	icsk->icsk_ca_state = TCP_CA_Open;
	ghstcp_acks(&p, 20);
	tp->snd_ssthresh = 2000;
	ghstcp_acks(&p, 100);
	KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
	KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
}

/*
 * Clock and sequence numbers wrap, wherever they are: the same acknowledgments,
 * the same state.
 */
static void ghstcp_sampling_wraps(struct kunit *test)
{
	static const u64 clocks[] = {
		1000000, S32_MAX - 30000, U32_MAX - 30000, BIT_ULL(40) - 30000,
	};
	struct ghstcp_stats first = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
		struct ghstcp *ca = ghstcp_of(tp);
		struct ghstcp_stats out;
		struct ghstcp_path p;

		tp->snd_una = i ? -60U : 0;
		ghstcp_path(&p, tp);
		p.now = clocks[i];
		ghstcp_windows(&p, 3);
		ghstcp_acks(&p, 20);
		out = ghstcp_stats(&ca->window);
		KUNIT_EXPECT_EQ(test, ca->windows, 3);
		KUNIT_EXPECT_NE(test, out.variance, 0ULL);
		if (!i)
			first = out;
		KUNIT_EXPECT_EQ(test, out.variance, first.variance);
		KUNIT_EXPECT_EQ(test, out.r2, first.r2);
		KUNIT_EXPECT_EQ(test, out.rtt_us, first.rtt_us);
	}
}

/* Variance of a cycle as the rule will see it. */
static u64 ghstcp_cycle(const struct ghstcp *ca)
{
	return ghstcp_variance(ca->var_sum, ca->windows, 1, 1000000);
}

/*
 * 10^6 samples in one cycle, in the shortest windows there are: the variance is
 * that of the noise within 1 %, and no counter has wrapped.
 */
static void ghstcp_cycle_long(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp_series *s = ghstcp_series(test);
	struct ghstcp *ca = ghstcp_of(tp);
	u32 windows = 0, checked = 0, i;
	struct ghstcp_path p;
	u64 sum = 0;

	ghstcp_path(&p, tp);
	p.acks = ghstcp_min_samples;
	p.every = 5500;
	tp->snd_nxt = tp->snd_una + p.acks;
	for (i = 0; i < 1000000; i++) {
		struct ghstcp_exact e;
		u32 rtt = p.base + ghstcp_noise(&p.rnd, p.noise);

		if (ca->window.n == 1)
			s->n = 1;
		ghstcp_ack_rtt(&p, rtt);
		/* A mirror of the window; the ACK that ends one begins one. */
		if (ca->window.n == 1 && s->n >= ghstcp_min_samples) {
			ghstcp_exactly(&e, s);
			sum += ghstcp_exact_variance(&e);
			windows++;
			s->n = 0;
		}
		s->p[s->n].sent = p.now - rtt;
		s->p[s->n++].rtt = rtt;
		if (windows >= 1000 && windows % 1000 == 0) {
			KUNIT_ASSERT_LE_MSG(test,
					    lf_apart(ghstcp_cycle(ca) * windows,
						     sum) * 100, sum * 5,
					    "%u windows", windows);
			checked++;
		}
	}
	KUNIT_EXPECT_GE(test, windows, 110000U);
	KUNIT_EXPECT_GT(test, checked, 100U);
	KUNIT_EXPECT_LE_MSG(test, lf_apart(ghstcp_cycle(ca) * windows, sum) *
			    100, sum, "%llu, not %llu", ghstcp_cycle(ca),
			    div_u64(sum, windows));
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
}

/* The same with the largest variance there is: RTTs of 1 us and 10 s in turns. */
static void ghstcp_cycle_extreme(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u64 want = 0;
	u32 i;

	ghstcp_path(&p, tp);
	p.acks = ghstcp_min_samples;
	p.every = 2000000;
	tp->snd_nxt = tp->snd_una + p.acks;
	for (i = 0; i < 1000000; i++) {
		ghstcp_ack_rtt(&p, i & 1 ? 1 : ghstcp_max_rtt_us);
		if (i == 1000)
			want = ghstcp_cycle(ca);
		if (i > 1000)
			KUNIT_ASSERT_LE_MSG(test, lf_apart(ghstcp_cycle(ca),
							   want) * 100,
					    want, "%u", i);
	}
	KUNIT_EXPECT_GT(test, want, BIT_ULL(43));
}

/*
 * A loss event ends the cycle: min is forgotten, and the deviation of the last
 * cycle fades as that of the next comes in, but does not vanish at once.
 */
static void ghstcp_cycle_ends(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u64 noisy;
	u32 i;

	ghstcp_path(&p, tp);
	ghstcp_windows(&p, 100);
	noisy = ghstcp_cycle(ca);
	KUNIT_EXPECT_LE(test, lf_apart(int_sqrt64(noisy), ghstcp_std(&p)),
			ghstcp_std(&p) / 20ULL);
	p.base += 20 * ghstcp_std(&p);
	ghstcp_windows(&p, 2);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	noisy = ghstcp_cycle(ca);

	ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
	KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
	KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
	KUNIT_EXPECT_LE(test, lf_apart(ghstcp_cycle(ca), noisy), 1ULL);
	/* A path without noise now: 8 windows of the last cycle, i of this. */
	p.noise = 0;
	for (i = 1; i <= 50; i++) {
		ghstcp_windows(&p, 1);
		KUNIT_ASSERT_LE_MSG(test, lf_apart(ghstcp_cycle(ca) *
						   (ghstcp_carry + i),
						   noisy * ghstcp_carry) * 100,
				    noisy * ghstcp_carry, "window %u", i);
	}
}

/* Windows in Reno mode, with the queue in them, add nothing to the deviation. */
static void ghstcp_cycle_reno(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u64 before;

	ghstcp_path(&p, tp);
	ghstcp_windows(&p, 20);
	p.base += 20 * ghstcp_std(&p);
	ghstcp_windows(&p, 2);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	before = ghstcp_cycle(ca);
	p.noise *= 10;
	p.base += 20 * ghstcp_std(&p);
	ghstcp_windows(&p, 20);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	KUNIT_EXPECT_EQ(test, ghstcp_cycle(ca), before);
	/* In HSTCP mode the same noise counts. */
	p.base = 35000;
	ghstcp_windows(&p, 20);
	KUNIT_EXPECT_GT(test, ghstcp_cycle(ca), 2 * before);
}

/* A cycle that ends before it has so many windows leaves what it has. */
static void ghstcp_cycle_short(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct ghstcp_path p;
	u32 i;

	ghstcp_path(&p, tp);
	for (i = 0; i < 10; i++)
		ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ca->windows, 0);
	ghstcp_windows(&p, 3);
	for (i = 0; i < 10; i++)
		ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ca->windows, 3);
	ghstcp_windows(&p, 20);
	for (i = 0; i < 10; i++)
		ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ca->windows, ghstcp_carry);
}

/* --- hooks --------------------------------------------------------------- */

/* The rule of growth that holds in HSTCP mode at @w. */
static void ghstcp_expect_rule(struct kunit *test, struct tcp_sock *tp, u32 w)
{
	struct lf_hstcp rule;

	lf_hstcp_rule(&rule, w);
	KUNIT_ASSERT_EQ_MSG(test, memcmp(&ghstcp_of(tp)->growth, &rule,
					 sizeof(rule)), 0, "w %u", w);
}

/* init takes parameters and window, whatever was there before. */
static void ghstcp_hook_init(struct kunit *test)
{
	static const u32 windows[] = { 1, 2, 10, 38, 39, 66500, 1U << 30 };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct tcp_sock *tp = ghstcp_test_sock(test, windows[i]);
		struct ghstcp *ca = ghstcp_of(tp), first = *ca;

		KUNIT_EXPECT_EQ(test, (u32)ca->param_mode, GHSTCP_AUTO);
		KUNIT_EXPECT_EQ(test, (u32)ca->param_rule, GHSTCP_REFINED);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
		KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
		KUNIT_EXPECT_EQ(test, ca->credit, 0ULL);
		KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
		KUNIT_EXPECT_EQ(test, ca->windows, 0);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), windows[i]);
		ghstcp_expect_rule(test, tp, windows[i]);

		/* What another algorithm left behind does not matter. */
		memset(ca, 0xff, sizeof(*ca));
		ghstcp_init((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, memcmp(ca, &first, sizeof(first)), 0);
	}
}

/*
 * A lost SYN calls ssthresh, and an answer to it undo, before init was: on
 * zeroed private data.  A target and a window as good as any, and no crash;
 * each hook may be the first, and init then starts anew.
 */
static void ghstcp_hook_before_init(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 10);
	struct ghstcp *ca = ghstcp_of(tp), fresh = *ca;
	struct sock *sk = (struct sock *)tp;
	struct ghstcp_path p;
	u32 w, first;

	ghstcp_path(&p, tp);
	for (w = 1; w <= 100; w++)
		for (first = 0; first < 5; first++) {
			memset(ca, 0, sizeof(*ca));
			tcp_snd_cwnd_set(tp, w);
			tp->prior_cwnd = w;
			if (first == 1)
				ghstcp_tx_start(sk);
			if (first == 2)
				ghstcp_acks(&p, 1);
			if (first == 3)
				KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd(sk), w);
			if (first == 4)
				ghstcp_cong_avoid(sk, 0, 1);
			tcp_snd_cwnd_set(tp, w);
			tp->snd_ssthresh = ghstcp_ssthresh(sk);
			KUNIT_EXPECT_GE(test, tp->snd_ssthresh, 2U);
			KUNIT_EXPECT_LE(test, tp->snd_ssthresh, max(w, 2U));
			tcp_snd_cwnd_set(tp, 1);
			/* Nothing was sent that the window could limit. */
			tp->is_cwnd_limited = 0;
			ghstcp_cong_avoid(sk, 0, 2);
			KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
			KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd(sk), w);
			KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
			tp->is_cwnd_limited = 1;
			tp->snd_ssthresh = 0;
		}
	tcp_snd_cwnd_set(tp, 10);
	ghstcp_init(sk);
	/* Its acknowledgments have moved on. */
	fresh.slow.round_end = tp->snd_nxt;
	KUNIT_EXPECT_EQ(test, memcmp(ca, &fresh, sizeof(fresh)), 0);
}

/* Slow start is the kernel's: a packet per packet, and nothing is owed. */
static void ghstcp_hook_slow_start(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 10);
	struct ghstcp *ca = ghstcp_of(tp), before = *ca;

	tp->snd_ssthresh = 1000;
	ghstcp_cong_avoid((struct sock *)tp, 0, 5);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 15U);
	ghstcp_cong_avoid((struct sock *)tp, 0, 900);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 915U);
	KUNIT_EXPECT_EQ(test, memcmp(ca, &before, sizeof(before)), 0);

	/* Only what slow start has left over grows by a(W). */
	ghstcp_cong_avoid((struct sock *)tp, 0, 85 + 64);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	ghstcp_expect_rule(test, tp, 1000);
	KUNIT_EXPECT_EQ(test, ca->credit, 64ULL * ca->growth.a);
}

/* How the first one ends is of include/longfat/slow_start.h. */
static void ghstcp_hook_first_slow_start(struct kunit *test)
{
	lf_test_first_slow_start(test, &ghstcp, ghstcp_test_sock(test, 10));
}

/* In the first slow start, as @tp is in it. */
static void ghstcp_start(struct ghstcp_path *p, struct tcp_sock *tp)
{
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	ghstcp_init((struct sock *)tp);
	ghstcp_path(p, tp);
}

/*
 * What slow start knows and the samples have the same place: samples begin after it, and
 * from nothing; no ACK, event or pause of before counts as one.
 */
static void ghstcp_samples_after_slow_start(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct sock *sk = (struct sock *)tp;
	struct ghstcp_path p;
	struct ghstcp before;

	ghstcp_start(&p, tp);
	ghstcp_cong_avoid(sk, 0, 5);
	before = *ca;
	ghstcp_acks(&p, 200);
	ghstcp_tx_start(sk);
	KUNIT_EXPECT_TRUE(test, ca->starting);
	KUNIT_EXPECT_EQ(test, memcmp(&ca->slow, &before.slow,
				     sizeof(ca->slow)), 0);
	KUNIT_EXPECT_EQ(test, ca->min_us, ~0U);
	KUNIT_EXPECT_EQ(test, ca->var_sum, 0ULL);

	/* It is over, by what it knows or by a loss in it; in recovery still none. */
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->snd_ssthresh = ghstcp_ssthresh(sk);
	tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	ghstcp_acks(&p, 200);
	KUNIT_EXPECT_TRUE(test, ca->starting);
	KUNIT_EXPECT_TRUE(test, ca->slow.lost);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
	ghstcp_acks(&p, 1);
	KUNIT_EXPECT_FALSE(test, ca->starting);
	KUNIT_EXPECT_EQ(test, ca->window.n, 1U);
	KUNIT_EXPECT_EQ(test, ca->window.sum_x, 0);
	KUNIT_EXPECT_EQ(test, ca->window.sum_xx, 0);
	ghstcp_windows(&p, 2);
	KUNIT_EXPECT_NE(test, ca->min_us, ~0U);

	/* A loss in a later slow start, and its undoing, begin the samples anew. */
	tp->snd_ssthresh = 2 * tcp_snd_cwnd(tp);
	/* As slow start's state they would be that of one in which a loss halves. */
	memset(&ca->window, 0x05, sizeof(ca->window));
	KUNIT_EXPECT_EQ(test, ghstcp_ssthresh(sk),
			lf_hstcp_decrease(tcp_snd_cwnd(tp)));
	KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
	ghstcp_undo_cwnd(sk);
	before = *ca;
	memset(&before.window, 0, sizeof(before.window));
	KUNIT_EXPECT_EQ(test, memcmp(ca, &before, sizeof(before)), 0);

	/* Its own end: the ACK that ends it is no sample, the next one is. */
	ghstcp_start(&p, tp);
	ca->slow.stage = LF_SS_OVER;
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
	ghstcp_acks(&p, 1);
	KUNIT_EXPECT_FALSE(test, ca->starting);
	KUNIT_EXPECT_EQ(test, ca->window.n, 1U);

	/* A slow start after that, after a timeout say, is the kernel's. */
	tp->snd_ssthresh = 2000;
	tcp_snd_cwnd_set(tp, 1000);
	ghstcp_acks(&p, 5);
	KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
	tp->rack.rtt_us = 44000;
	memset(&ca->window, 0xff, sizeof(ca->window));
	before = *ca;
	memset(&before.window, 0, sizeof(before.window));
	ghstcp_cong_avoid(sk, 0, 100);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1100U);
	KUNIT_EXPECT_EQ(test, memcmp(ca, &before, sizeof(before)), 0);
}

/*
 * A loss in the first slow start that turns out to be none when samples are taken already.
 * What slow start knew is gone, so it begins again, as it was chosen; the samples are no part
 * of it.
 */
static void ghstcp_undo_after_samples(struct kunit *test)
{
	/* The last time with a target, of which ssthresh is what is left. */
	static const char * const ways[] = {
		"hystart++", "limited", "classic", "train", "train",
	};
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	struct ghstcp *ca = ghstcp_of(tp);
	struct sock *sk = (struct sock *)tp;
	struct ghstcp_path p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		bool classic = !strcmp(ways[i], "classic");
		bool aimed = i == ARRAY_SIZE(ways) - 1;
		struct lf_slow_start fresh;

		lf_test_set(test, "slow_start", ways[i], 0);
		tcp_snd_cwnd_set(tp, 900);
		ghstcp_start(&p, tp);
		lf_slow_start_begin(sk, &fresh, ca->slow.way);
		if (aimed)
			lf_train_aim(tp, &ca->slow, 1600);
		tp->prior_cwnd = 900;
		tp->prior_ssthresh = tp->snd_ssthresh;
		KUNIT_ASSERT_EQ(test, tp->prior_ssthresh,
				aimed ? 1701U : (u32)TCP_INFINITE_SSTHRESH);
		tp->snd_ssthresh = ghstcp_ssthresh(sk);
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
		ghstcp_windows(&p, 2);
		ghstcp_acks(&p, 20);
		KUNIT_ASSERT_FALSE(test, ca->starting);
		KUNIT_ASSERT_GT(test, ca->window.n, 10U);

		KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd(sk), 900U);
		tcp_snd_cwnd_set(tp, 900);
		/* As the kernel does. */
		tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, tp->prior_ssthresh);
		KUNIT_EXPECT_TRUE(test, ca->starting == !classic);
		fresh.round_end = tp->snd_nxt;
		if (!classic)
			KUNIT_EXPECT_EQ_MSG(test, memcmp(&ca->slow, &fresh,
							 sizeof(fresh)), 0,
					    "%s", ways[i]);
		else
			KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
		/* At 900 packets limited grows by one for 18; this ACK has no RTT. */
		tp->rack.rtt_us = 0;
		ghstcp_cong_avoid(sk, 0, 18);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp),
				strcmp(ways[i], "limited") ? 918U : 901U);
		tcp_snd_cwnd_set(tp, 900);
		KUNIT_EXPECT_EQ(test, ghstcp_ssthresh(sk),
				classic ? lf_hstcp_decrease(900) : 450U);
		/* And a loss of congestion avoidance that is none begins no slow start. */
		tp->snd_ssthresh = 450;
		tcp_snd_cwnd_set(tp, 450);
		tp->prior_ssthresh = 450;
		ghstcp_windows(&p, 2);
		ghstcp_ssthresh(sk);
		ghstcp_undo_cwnd(sk);
		KUNIT_EXPECT_FALSE(test, ca->starting);
	}
}

/* While it was asked whose queue it is ssthresh was next to the window: that bounds nothing. */
static void ghstcp_start_undone_asking(struct kunit *test)
{
	u32 stage;

	for (stage = LF_SS_GROW; stage <= LF_SS_RISE; stage++) {
		struct tcp_sock *tp = ghstcp_test_sock(test, 900);
		bool asking = stage == LF_SS_DRAIN || stage == LF_SS_ASK;
		struct sock *sk = (struct sock *)tp;
		struct ghstcp *ca = ghstcp_of(tp);
		struct ghstcp_path p;

		ghstcp_start(&p, tp);
		ca->slow.stage = stage;
		ca->slow.base_us = 100000;
		tp->snd_ssthresh = 901;
		tp->prior_cwnd = 900;
		tp->snd_ssthresh = ghstcp_ssthresh(sk);
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
		ghstcp_windows(&p, 2);
		KUNIT_ASSERT_FALSE(test, ca->starting);
		ghstcp_undo_cwnd(sk);
		KUNIT_EXPECT_TRUE(test, ca->starting == (stage != LF_SS_RISE));
		KUNIT_EXPECT_TRUE(test, (tp->snd_ssthresh == TCP_INFINITE_SSTHRESH) == asking);
	}
}

/* Growth only while the window is what limits, and never past the clamp. */
static void ghstcp_hook_limits(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 1000);
	int i;

	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 1000;
	ghstcp_cong_avoid((struct sock *)tp, 0, 1000);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1000U);
	KUNIT_EXPECT_EQ(test, ghstcp_of(tp)->credit, 0ULL);

	tp->is_cwnd_limited = 1;
	tp->snd_cwnd_clamp = 1005;
	for (i = 0; i < 10; i++) {
		ghstcp_cong_avoid((struct sock *)tp, 0, 1000);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1005U);
	}
}

/* The state of @tp at window @w, with @credit owed. */
static void ghstcp_test_at(struct tcp_sock *tp, u32 w, u32 mode, u64 credit)
{
	struct ghstcp *ca = ghstcp_of(tp);

	tcp_snd_cwnd_set(tp, w);
	ca->mode = mode;
	ca->credit = credit;
	ghstcp_enter(ca, w);
}

/* n packets in one ACK and in n, n = 1..64, from @w with @credit owed. */
static void ghstcp_same_in_batches(struct kunit *test, struct tcp_sock *batch,
				   struct tcp_sock *one, u32 w, u32 mode,
				   u64 credit)
{
	u32 n;

	ghstcp_test_at(one, w, mode, credit);
	for (n = 1; n <= 64; n++) {
		ghstcp_test_at(batch, w, mode, credit);
		ghstcp_cong_avoid((struct sock *)batch, 0, n);
		ghstcp_cong_avoid((struct sock *)one, 0, 1);
		KUNIT_ASSERT_EQ_MSG(test, tcp_snd_cwnd(batch),
				    tcp_snd_cwnd(one), "w %u acked %u", w, n);
		KUNIT_ASSERT_EQ_MSG(test, ghstcp_of(batch)->credit,
				    ghstcp_of(one)->credit, "w %u acked %u",
				    w, n);
		KUNIT_ASSERT_LE_MSG(test, tcp_snd_cwnd(batch), w + n, "w %u",
				    w);
	}
}

/* acked = 64 is 64 times acked = 1, in both modes, at any window. */
static void ghstcp_hook_batch(struct kunit *test)
{
	struct tcp_sock *batch = ghstcp_test_sock(test, 10);
	struct tcp_sock *one = ghstcp_test_sock(test, 10);
	struct rnd_state rnd;
	u32 w, i, mode;

	prandom_seed_state(&rnd, 46);
	for (mode = GHSTCP_HSTCP; mode <= GHSTCP_RENO; mode++) {
		for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 200, 8)) {
			u64 most = ((u64)w << LF_RATE_SHIFT) - 1;

			ghstcp_same_in_batches(test, batch, one, w, mode, 0);
			ghstcp_same_in_batches(test, batch, one, w, mode,
					       most);
		}
		for (i = 0; i < 1000; i++)
			ghstcp_same_in_batches(test, batch, one,
					       lf_random_window(&rnd), mode,
					       prandom_u32_state(&rnd));
	}
}

/*
 * W packets acknowledged are a(W) more in HSTCP mode, within 1 %, and one in
 * Reno mode; in ACKs of any size, at windows up to 2^30.
 */
static void ghstcp_hook_rate(struct kunit *test)
{
	static const u32 windows[] = {
		118, 500, 1058, 5000, 10661, 84035, 1000000, 1U << 26, 1U << 30,
	};
	static const u32 bunches[] = { 1, 2, 64, S32_MAX };
	struct tcp_sock *tp = ghstcp_test_sock(test, 10);
	u32 i, b, mode;

	for (i = 0; i < ARRAY_SIZE(windows) * ARRAY_SIZE(bunches) * 2; i++) {
		u32 w = windows[i / 8], left = w, a;
		u64 got;

		b = bunches[i % 8 / 2];
		mode = i & 1 ? GHSTCP_RENO : GHSTCP_HSTCP;
		if (w / b > 200000)
			continue;
		a = mode == GHSTCP_RENO ? LF_RATE_ONE : lf_hstcp_a(w);
		ghstcp_test_at(tp, w, mode, 0);
		while (left) {
			u32 n = min(left, b);

			ghstcp_cong_avoid((struct sock *)tp, 0, n);
			left -= n;
		}
		/* With what is still owed, for a is no whole number. */
		got = ((u64)(tcp_snd_cwnd(tp) - w) << LF_RATE_SHIFT) +
		      div_u64(ghstcp_of(tp)->credit, tcp_snd_cwnd(tp));
		KUNIT_EXPECT_LE_MSG(test, lf_apart(got, a) * 100, (u64)a,
				    "w %u by %u mode %u: %llu, not %u", w, b,
				    mode, got, a);
	}
}

/* The smallest windows: they grow, they can lose, they stay valid. */
static void ghstcp_hook_small_windows(struct kunit *test)
{
	u32 w;

	for (w = 1; w <= 2; w++) {
		struct tcp_sock *tp = ghstcp_test_sock(test, w);
		struct ghstcp_path p;

		ghstcp_path(&p, tp);
		p.every = 20000;
		p.acks = w;
		ghstcp_acks(&p, 100);
		KUNIT_EXPECT_EQ(test, ghstcp_ssthresh((struct sock *)tp), 2U);
		/* Reno down here: W packets acknowledged are one packet. */
		ghstcp_cong_avoid((struct sock *)tp, 0, w);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), w + 1);
		ghstcp_tx_start((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd((struct sock *)tp),
				w + 1);
		ghstcp_cong_avoid((struct sock *)tp, 0, 10000);
		KUNIT_EXPECT_GT(test, tcp_snd_cwnd(tp), 100U);
	}
}

/*
 * A loss leaves the window itself to the kernel, returns W (1 - b(W)) in both
 * modes, 2 or more, and drops what was owed; growth goes on in HSTCP mode.
 */
static void ghstcp_hook_ssthresh(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 10);
	struct ghstcp *ca = ghstcp_of(tp);
	u32 w;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		u32 target;

		ghstcp_test_at(tp, w, w & 1, ((u64)w << LF_RATE_SHIFT) - 1);
		target = ghstcp_ssthresh((struct sock *)tp);
		KUNIT_ASSERT_GE_MSG(test, target, 2U, "w %u", w);
		KUNIT_ASSERT_EQ(test, target, lf_hstcp_decrease(w));
		KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), w);
		KUNIT_ASSERT_EQ(test, ca->credit, 0ULL);
		KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
		ghstcp_expect_rule(test, tp, target);

		/* No burst: the first packet has to be earned. */
		tcp_snd_cwnd_set(tp, target);
		ghstcp_cong_avoid((struct sock *)tp, 0, 1);
		if (target > 1)
			KUNIT_ASSERT_EQ_MSG(test, tcp_snd_cwnd(tp), target,
					    "w %u", w);
	}
}

/* A spurious loss never was: window, owed growth, mode and min come back. */
static void ghstcp_hook_undo(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 10);
	struct ghstcp *ca = ghstcp_of(tp), before;
	u32 w;

	for (w = 2; w <= LF_WINDOW_MAX; w = lf_next_window(w, 20000, 500)) {
		tp->prior_cwnd = w;
		ghstcp_test_at(tp, w, w & 1, ((u64)w << LF_RATE_SHIFT) - 1);
		ca->min_us = 44000 + (w & 7);
		before = *ca;
		tp->snd_ssthresh = ghstcp_ssthresh((struct sock *)tp);
		/* The kernel is anywhere on the way down, or at a timeout's 1. */
		tcp_snd_cwnd_set(tp, w & 2 ? tp->snd_ssthresh : 1);
		KUNIT_ASSERT_EQ(test, ghstcp_undo_cwnd((struct sock *)tp), w);
		KUNIT_ASSERT_EQ(test, ghstcp_mode(tp), w & 1);
		KUNIT_ASSERT_EQ(test, ca->min_us, before.min_us);
		KUNIT_ASSERT_EQ(test, memcmp(&ca->growth, &before.growth,
					     sizeof(ca->growth)), 0);
		KUNIT_ASSERT_EQ_MSG(test, ca->credit, before.credit, "w %u",
				    w);
	}
}

/* As before in a connection that really is in Reno mode: it stays there. */
static void ghstcp_hook_undo_reno(struct kunit *test)
{
	struct tcp_sock *tp = ghstcp_test_sock(test, 10000);
	struct ghstcp_path p;
	u32 min;

	ghstcp_path(&p, tp);
	ghstcp_windows(&p, 20);
	p.base += 10 * ghstcp_std(&p);
	ghstcp_windows(&p, 2);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
	min = ghstcp_of(tp)->min_us;

	tp->prior_cwnd = 10000;
	tp->snd_ssthresh = ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_GT(test, ghstcp_gain(tp), 1U);
	ghstcp_acks(&p, 5);
	KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd((struct sock *)tp), 10000U);
	KUNIT_EXPECT_EQ(test, ghstcp_gain(tp), 1U);
	KUNIT_EXPECT_EQ(test, ghstcp_of(tp)->window.n, 0U);
	KUNIT_EXPECT_EQ(test, ghstcp_of(tp)->min_us, min);
	ghstcp_windows(&p, 5);
	KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_RENO);
}

/*
 * The loss of a SYN may be found spurious after init, which forgot it: there is
 * nothing to bring back, and a forced mode stays.
 */
static void ghstcp_hook_undo_first(struct kunit *test)
{
	struct tcp_sock *tp;
	u32 mode;

	for (mode = GHSTCP_HSTCP; mode <= GHSTCP_RENO; mode++) {
		if (mode == GHSTCP_RENO)
			lf_test_set(test, "mode", "reno", 0);
		tp = ghstcp_test_sock(test, 10000);
		lf_test_set(test, "mode", "auto", 0);
		tp->prior_cwnd = 10000;
		KUNIT_EXPECT_EQ(test, ghstcp_undo_cwnd((struct sock *)tp),
				10000U);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), mode);
		KUNIT_EXPECT_EQ(test, ghstcp_of(tp)->min_us, ~0U);
		KUNIT_EXPECT_EQ(test, ghstcp_gain(tp) == 1,
				mode == GHSTCP_RENO);
	}
}

/*
 * After idle the window may be far lower: the rule follows, nothing bursts, and
 * no window of samples reaches over the silence, however long it was.
 */
static void ghstcp_hook_tx_start(struct kunit *test)
{
	static const u32 windows[] = { 60000, 1000000, 1U << 30 };
	struct tcp_sock *tp;
	struct ghstcp *ca;
	struct ghstcp_path p;
	u64 idle;
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		u32 w = windows[i], low = w / 1000;

		tp = ghstcp_test_sock(test, w);
		ca = ghstcp_of(tp);
		ca->credit = ((u64)w << LF_RATE_SHIFT) - 1;
		tcp_snd_cwnd_set(tp, low);
		ghstcp_tx_start((struct sock *)tp);
		ghstcp_expect_rule(test, tp, low);
		ghstcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), low + 1);
		ghstcp_cong_avoid((struct sock *)tp, 0, 1);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), low + 1);

		/* Growth alone notices, too, should no event ever come. */
		tcp_snd_cwnd_set(tp, w);
		ghstcp_cong_avoid((struct sock *)tp, 0, 1);
		ghstcp_expect_rule(test, tp, w);
		tcp_snd_cwnd_set(tp, low);
		ghstcp_cong_avoid((struct sock *)tp, 0, 1);
		ghstcp_expect_rule(test, tp, low);
	}
	for (idle = 1000000; idle < BIT_ULL(34); idle *= 3) {
		tp = ghstcp_test_sock(test, 1000);
		ca = ghstcp_of(tp);
		ghstcp_path(&p, tp);
		ghstcp_windows(&p, 10);
		ghstcp_acks(&p, 10);
		p.now += idle;
		ghstcp_tx_start((struct sock *)tp);
		KUNIT_EXPECT_EQ(test, ca->window.n, 0U);
		KUNIT_EXPECT_EQ(test, ghstcp_mode(tp), GHSTCP_HSTCP);
		ghstcp_acks(&p, 20);
		KUNIT_EXPECT_EQ_MSG(test, ca->window.n, 20U, "%llu us", idle);
	}
}

static void ghstcp_hook_get_info(struct kunit *test)
{
	lf_test_get_info(test);
}

static void ghstcp_hook_registered(struct kunit *test)
{
	lf_test_registered(test, &ghstcp, "ghstcp", sizeof(struct ghstcp));
	lf_test_tx_start(test, &ghstcp);
}

/* The last trace event, and how many there were of each reason. */
struct ghstcp_event {
	u32 count[GHSTCP_UNDO + 1], bad;
	u32 cwnd, mode, rtt_us, min_us, std_us;
	s32 r_permille;
};

static void ghstcp_probe(void *data, const struct sock *sk, u8 reason, u32 cwnd,
			 u32 mode, u32 rtt_us, u32 min_us, u32 std_us,
			 u32 low_us, u32 high_us, s32 r_permille)
{
	struct ghstcp_event *e = data;

	if (reason > GHSTCP_UNDO || r_permille < -1000 || r_permille > 1000)
		e->bad++;
	else
		e->count[reason]++;
	/* 0: no window has ended yet. */
	if (low_us != (min_us ? min_us + 2 * std_us : 0) ||
	    high_us != (min_us ? min_us + 4 * std_us : 0))
		e->bad++;
	e->cwnd = cwnd;
	e->mode = mode;
	e->rtt_us = rtt_us;
	e->min_us = min_us;
	e->std_us = std_us;
	e->r_permille = r_permille;
}

/* Each event is traced once, with its reason, and the numbers that made it. */
static void ghstcp_hook_trace(struct kunit *test)
{
	struct ghstcp_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct tcp_sock *tp;
	struct ghstcp_path p;
	u32 min;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, e);
	KUNIT_ASSERT_EQ(test, register_trace_ghstcp(ghstcp_probe, e), 0);
	tp = ghstcp_test_sock(test, 1000);
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_INIT], 1U);
	KUNIT_EXPECT_EQ(test, e->cwnd, 1000U);
	KUNIT_EXPECT_EQ(test, e->mode, GHSTCP_HSTCP);
	KUNIT_EXPECT_EQ(test, e->min_us, 0U);
	KUNIT_EXPECT_EQ(test, e->std_us, 0U);
	ghstcp_path(&p, tp);
	ghstcp_windows(&p, 30);
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_TO_RENO], 0U);

	p.slope = 50;
	ghstcp_windows(&p, 2);
	p.slope = 0;
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_TO_RENO], 1U);
	KUNIT_EXPECT_EQ(test, e->mode, GHSTCP_RENO);
	KUNIT_EXPECT_EQ(test, e->min_us, ghstcp_of(tp)->min_us);
	KUNIT_EXPECT_GT(test, e->rtt_us, e->min_us + 2 * e->std_us);
	KUNIT_EXPECT_LE(test, lf_apart(e->std_us, ghstcp_std(&p)),
			ghstcp_std(&p) / 10ULL);
	KUNIT_EXPECT_GT(test, e->r_permille, 500);

	p.slope = -50;
	ghstcp_windows(&p, 3);
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_TO_HSTCP], 1U);
	KUNIT_EXPECT_EQ(test, e->mode, GHSTCP_HSTCP);
	KUNIT_EXPECT_LT(test, e->r_permille, -500);

	/* A decrease tells of the cycle that it ends. */
	min = ghstcp_of(tp)->min_us;
	tp->prior_cwnd = 1000;
	tp->snd_ssthresh = ghstcp_ssthresh((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_DECREASE], 1U);
	KUNIT_EXPECT_EQ(test, e->cwnd, lf_hstcp_decrease(1000));
	KUNIT_EXPECT_EQ(test, e->min_us, min);
	KUNIT_EXPECT_GT(test, e->std_us, 0U);
	tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
	ghstcp_undo_cwnd((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, e->count[GHSTCP_UNDO], 1U);
	KUNIT_EXPECT_EQ(test, e->cwnd, 1000U);
	KUNIT_EXPECT_EQ(test, e->bad, 0U);
	unregister_trace_ghstcp(ghstcp_probe, e);
	tracepoint_synchronize_unregister();
}

/* --- parameters ---------------------------------------------------------- */

static const struct lf_test_params ghstcp_params[] = {
	{ "mode", { "hstcp", "reno", "auto\n" } },
	{ "rule", { "trend", "refined\n" } },
	{ "slow_start", { "hystart++", "limited", "classic", "train\n" } },
};

static void ghstcp_params_checked(struct kunit *test)
{
	lf_test_params_checked(test, ghstcp_params, ARRAY_SIZE(ghstcp_params));
}

/* A connection keeps the parameters it started with; the next has new ones. */
static void ghstcp_params_taken(struct kunit *test)
{
	struct tcp_sock *old = ghstcp_test_sock(test, 10000), *new;

	lf_test_set(test, "mode", "reno", 0);
	lf_test_set(test, "rule", "trend", 0);
	new = ghstcp_test_sock(test, 10000);
	KUNIT_EXPECT_GT(test, ghstcp_gain(old), 20U);
	KUNIT_EXPECT_EQ(test, ghstcp_gain(new), 1U);
	KUNIT_EXPECT_EQ(test, (u32)ghstcp_of(old)->param_rule, GHSTCP_REFINED);
	KUNIT_EXPECT_EQ(test, (u32)ghstcp_of(new)->param_rule, GHSTCP_TREND);
	lf_test_set(test, "mode", "auto", 0);
	lf_test_set(test, "rule", "refined", 0);
	KUNIT_EXPECT_EQ(test, ghstcp_gain(new), 1U);
}

/*
 * Growth goes from rule to rule until all packets are used: with a gap between
 * them it would not end, and a hung machine tells nobody why.
 */
static int ghstcp_needs_rules(struct kunit_suite *suite)
{
	struct ghstcp ca = {};
	u32 w;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 1000, 100))
		for (ca.mode = 0;; ca.mode = 1) {
			ghstcp_enter(&ca, w);
			if (w < ca.growth.floor || w >= ca.growth.stop ||
			    !ca.growth.a)
				return -EINVAL;
			if (ca.mode)
				break;
		}
	return 0;
}

static struct kunit_case ghstcp_stats_cases[] = {
	KUNIT_CASE(ghstcp_stats_generated),
	KUNIT_CASE(ghstcp_stats_random),
	KUNIT_CASE(ghstcp_stats_extreme),
	KUNIT_CASE(ghstcp_stats_constant),
	KUNIT_CASE(ghstcp_stats_line),
	KUNIT_CASE(ghstcp_stats_recorded),
	KUNIT_CASE(ghstcp_stats_clamps),
	KUNIT_CASE(ghstcp_t_quantiles),
	KUNIT_CASE(ghstcp_t_false_positives),
	KUNIT_CASE(ghstcp_t_power),
	{}
};

static struct kunit_case ghstcp_rule_cases[] = {
	KUNIT_CASE(ghstcp_rule_zones),
	KUNIT_CASE(ghstcp_rule_edges),
	KUNIT_CASE(ghstcp_rule_variance),
	KUNIT_CASE(ghstcp_conn_refined),
	KUNIT_CASE(ghstcp_conn_between),
	KUNIT_CASE(ghstcp_conn_trend),
	KUNIT_CASE(ghstcp_conn_switch),
	KUNIT_CASE(ghstcp_conn_forced),
	{}
};

static struct kunit_case ghstcp_sampling_cases[] = {
	KUNIT_CASE(ghstcp_sampling_most),
	KUNIT_CASE(ghstcp_sampling_least),
	KUNIT_CASE(ghstcp_sampling_none),
	KUNIT_CASE(ghstcp_sampling_what),
	KUNIT_CASE(ghstcp_sampling_no_sack),
	KUNIT_CASE(ghstcp_sampling_avoidance),
	KUNIT_CASE(ghstcp_sampling_wraps),
	KUNIT_CASE(ghstcp_cycle_long),
	KUNIT_CASE(ghstcp_cycle_extreme),
	KUNIT_CASE(ghstcp_cycle_ends),
	KUNIT_CASE(ghstcp_cycle_reno),
	KUNIT_CASE(ghstcp_cycle_short),
	{}
};

static struct kunit_case ghstcp_hook_cases[] = {
	KUNIT_CASE(ghstcp_hook_init),
	KUNIT_CASE(ghstcp_hook_before_init),
	KUNIT_CASE(ghstcp_hook_slow_start),
	KUNIT_CASE(ghstcp_hook_first_slow_start),
	KUNIT_CASE(ghstcp_samples_after_slow_start),
	KUNIT_CASE(ghstcp_start_undone_asking),
	KUNIT_CASE(ghstcp_undo_after_samples),
	KUNIT_CASE(ghstcp_hook_limits),
	KUNIT_CASE(ghstcp_hook_batch),
	KUNIT_CASE(ghstcp_hook_rate),
	KUNIT_CASE(ghstcp_hook_small_windows),
	KUNIT_CASE(ghstcp_hook_ssthresh),
	KUNIT_CASE(ghstcp_hook_undo),
	KUNIT_CASE(ghstcp_hook_undo_reno),
	KUNIT_CASE(ghstcp_hook_undo_first),
	KUNIT_CASE(ghstcp_hook_tx_start),
	KUNIT_CASE(ghstcp_hook_get_info),
	KUNIT_CASE(ghstcp_hook_registered),
	KUNIT_CASE(ghstcp_hook_trace),
	{}
};

static struct kunit_case ghstcp_param_cases[] = {
	KUNIT_CASE(ghstcp_params_checked),
	KUNIT_CASE(ghstcp_params_taken),
	{}
};

static struct kunit_suite ghstcp_statistics = {
	.name = "ghstcp_statistics",
	.test_cases = ghstcp_stats_cases,
};

static struct kunit_suite ghstcp_rules = {
	.name = "ghstcp_rules",
	.suite_init = ghstcp_needs_rules,
	.test_cases = ghstcp_rule_cases,
};

static struct kunit_suite ghstcp_sampling = {
	.name = "ghstcp_sampling",
	.suite_init = ghstcp_needs_rules,
	.test_cases = ghstcp_sampling_cases,
};

static struct kunit_suite ghstcp_hooks = {
	.name = "ghstcp_hooks",
	.suite_init = ghstcp_needs_rules,
	.test_cases = ghstcp_hook_cases,
};

static struct kunit_suite ghstcp_parameters = {
	.name = "ghstcp_params",
	.suite_init = ghstcp_needs_rules,
	.test_cases = ghstcp_param_cases,
};

kunit_test_suites(&ghstcp_statistics, &ghstcp_rules, &ghstcp_sampling,
		  &ghstcp_hooks, &ghstcp_parameters);
