/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HighSpeed TCP's response function, RFC 3649.
 *
 *	W <= 38		W += 1 per RTT		loss:  W -= W / 2	Reno
 *	W >  38		W += a(W) per RTT	loss:  W -= b(W) W
 *
 *	b(W) = 0.5 - 0.4 ln(W / 38) / ln(83000 / 38)
 *	a(W) = W^2 p(W) 2 b(W) / (2 - b(W)),  p(W) = 0.078 / W^1.2
 *
 *	W	38	118	1058	10661	84035	10^6	10^8
 *	a	1	2	8	30	71	358	14254
 *	b	0.5	0.44	0.33	0.21	0.10	0.07	0.07
 *
 * The RFC leaves two things open.  Between 38 and 41 packets the formula for a
 * is below 1; a is 1 there, since nothing here is slower than Reno.  The RFC
 * stops at 83000 packets; its formulas are continued.  From 147456 packets on b
 * is held at 0.070.  Otherwise a(W) would begin to fall a little later, and b
 * would be 0 at 567000 packets.  a(W) is made from the held b, so the response
 * function stays the RFC's, W = 0.119 p^-0.83, at any window.
 *
 * The functions are tabulated at eight windows in each octave (hstcp_table.h)
 * and interpolated: constant time, no search, no division.  The error is below
 * 0.1 % of a and 0.001 of b.  A growing window keeps the same a over a 64th of
 * an octave.  Both together keep a within 1 % of its formula everywhere.
 */
#ifndef LONGFAT_HSTCP_H
#define LONGFAT_HSTCP_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <longfat/bounds.h>
#include <longfat/growth.h>
#include <longfat/hstcp_table.h>

#define LF_HSTCP_LOW_WINDOW	38U
#define LF_HSTCP_B_SHIFT	16
#define LF_HSTCP_B_RENO		(1U << (LF_HSTCP_B_SHIFT - 1))

/* What holds while floor <= window < stop. */
struct lf_hstcp {
	u32	floor, stop;	/* packets */
	u32	a;		/* packets per round trip << LF_RATE_SHIFT */
};

/* Where window @w > 32 is in the table: @return + *@part / 2^*@bits. */
static inline u32 lf_hstcp_find(u32 w, u32 *part, u32 *bits)
{
	u32 octave = fls(w) - 1;

	*bits = octave - LF_HSTCP_NODES;
	*part = w & ((1U << *bits) - 1);
	return lf_index(((octave - LF_HSTCP_OCTAVE) << LF_HSTCP_NODES) +
			(w >> *bits) - (1U << LF_HSTCP_NODES),
			ARRAY_SIZE(lf_hstcp_table) - 1);
}

/**
 * lf_hstcp_a - growth in congestion avoidance
 * @w: congestion window, packets
 *
 * Return: packets per round trip << LF_RATE_SHIFT, RFC 3649 section 5; >= 1.
 * No overflow: the table's a is below 2^29, its steps below 2^25, part < 2^28.
 */
static inline u32 lf_hstcp_a(u32 w)
{
	u32 i, part, bits;
	u64 step;

	if (w <= LF_HSTCP_LOW_WINDOW)
		return LF_RATE_ONE;
	i = lf_hstcp_find(w, &part, &bits);
	step = lf_hstcp_table[i + 1].a - lf_hstcp_table[i].a;
	return max_t(u32, lf_hstcp_table[i].a + (step * part >> bits),
		     LF_RATE_ONE);
}

/**
 * lf_hstcp_b - what a loss takes
 * @w: congestion window, packets
 *
 * Return: share of the window << LF_HSTCP_B_SHIFT, RFC 3649 section 5; at most
 * one half.
 */
static inline u32 lf_hstcp_b(u32 w)
{
	u32 i, part, bits;
	u64 step;

	if (w <= LF_HSTCP_LOW_WINDOW)
		return LF_HSTCP_B_RENO;
	i = lf_hstcp_find(w, &part, &bits);
	step = lf_hstcp_table[i].b - lf_hstcp_table[i + 1].b;
	return lf_hstcp_table[i].b - (u32)(step * part >> bits);
}

/**
 * lf_hstcp_rule - the rule that holds at a window, and up to which window
 * @rule: filled in; a is taken in the middle of floor .. stop
 * @w:    congestion window, packets
 *
 * Up to 38 packets there is one rule, up to 127 each window has its own.
 */
static inline void lf_hstcp_rule(struct lf_hstcp *rule, u32 w)
{
	u32 octave = fls(w) - 1, size;

	if (w <= LF_HSTCP_LOW_WINDOW) {
		rule->floor = 0;
		rule->stop = LF_HSTCP_LOW_WINDOW + 1;
		rule->a = LF_RATE_ONE;
		return;
	}
	size = octave > 6 ? 1U << (octave - 6) : 1;
	rule->floor = w & ~(size - 1);
	rule->stop = min_t(u64, (u64)rule->floor + size, U32_MAX);
	rule->a = lf_hstcp_a(rule->floor + size / 2);
}

/**
 * lf_hstcp_decrease - the window after a loss event
 * @w: congestion window before it, packets
 *
 * Return: @w (1 - b(@w)), at least 2, and below @w unless @w is 2 or less.
 */
static inline u32 lf_hstcp_decrease(u32 w)
{
	u32 cut = (u64)w * lf_hstcp_b(w) >> LF_HSTCP_B_SHIFT;

	return max(w - cut, 2U);
}

#endif /* LONGFAT_HSTCP_H */
