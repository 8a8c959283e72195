/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which windows a test looks at: all of the small ones, then ever wider steps,
 * and random ones of every magnitude.  The random ones are the same each time.
 */
#ifndef LONGFAT_KUNIT_SAMPLE_H
#define LONGFAT_KUNIT_SAMPLE_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/types.h>

/* The largest window of interest: TCP cannot have more than 2^30 bytes out. */
#define LF_WINDOW_MAX	((u32)BIT(30))

/* After @w: the next window below @dense, then steps of 1/@fraction. */
static inline u32 lf_next_window(u32 w, u32 dense, u32 fraction)
{
	return w < dense ? w + 1 : w + max(w / fraction, 1U);
}

/* From 1 to 2^30, each power of two as likely as any other. */
static inline u32 lf_random_window(struct rnd_state *rnd)
{
	u32 shift = 2 + prandom_u32_state(rnd) % 30;

	return 1 + (prandom_u32_state(rnd) >> shift);
}

/* |@a - @b|: an expectation of at most so much between two numbers. */
static inline u64 lf_apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

#endif /* LONGFAT_KUNIT_SAMPLE_H */
