/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exact additive growth of the congestion window.
 *
 * A flow that grows by r packets per round trip gains r / W for every packet
 * acknowledged at window W.  The kernel's tcp_cong_avoid_ai() divides first and
 * counts afterwards: one packet per floor(W / r) acknowledged.  For small W / r
 * that is off by up to half.  It also takes a whole stretch ACK at the window at
 * which the ACK began.  Here the gain is kept as credit, in units of 1/W packet:
 *
 *	every packet acknowledged	credit += r
 *	while credit >= W		credit -= W, W += 1
 *
 * The credits spent are W, W+1, W+2, ... however the acknowledgments are
 * bunched.  So one ACK for n packets gives exactly what n ACKs for one packet
 * give.  The ordinary path has no division.  What is left over is carried,
 * never dropped.
 */
#ifndef LONGFAT_GROWTH_H
#define LONGFAT_GROWTH_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <longfat/bounds.h>

/*
 * Rates are packets per round trip in fixed point, 10 bits of fraction: steps
 * of 0.1 % at the lowest useful rate, 1, and up to four million.
 */
#define LF_RATE_SHIFT	10
#define LF_RATE_ONE	(1U << LF_RATE_SHIFT)

/**
 * lf_grow - grow a window by @rate packets per round trip
 * @window: congestion window, packets; >= 1, updated
 * @credit: growth not yet given, in 2^-LF_RATE_SHIFT / @window packets; updated
 * @acked:  packets newly acknowledged, < 2^31
 * @rate:   packets per round trip << LF_RATE_SHIFT
 * @stop:   the window at which the rate changes, > *@window, or U32_MAX
 *
 * Never grows faster than slow start, one packet per packet acknowledged.
 * No overflow: credit < 2^42 before, acked * rate < 2^63.
 * The loop runs once for each packet that the window grows.
 *
 * Return: packets of @acked not used, because the window reached @stop first;
 * the caller chooses the next rate and calls again.
 */
static inline u32 lf_grow(u32 *window, u64 *credit, u32 acked, u32 rate,
			  u32 stop)
{
	u64 left, need;
	u32 capped;

	/* A window below @rate grows by the cap: one for each packet acknowledged. */
	capped = rate >> LF_RATE_SHIFT;
	if (unlikely(*window <= capped)) {
		u32 n = min3(acked, capped + 1 - *window, stop - *window);

		*window += n;
		acked -= n;
		if (!acked || *window >= stop)
			return acked;
	}

	need = (u64)*window << LF_RATE_SHIFT;
	/* A window cut since the last call must not turn credit into a burst. */
	*credit = min(*credit, need - 1) + (u64)acked * rate;
	lf_leap(window, credit, need, stop);
	lf_while(2, *credit >= need) {
		*credit -= need;
		need += LF_RATE_ONE;
		if (++*window >= stop) {
			/* Whole packets after the one that crossed @stop. */
			left = div64_u64(*credit, rate);
			*credit -= left * rate;
			return left;
		}
	}
	return 0;
}

#endif /* LONGFAT_GROWTH_H */
