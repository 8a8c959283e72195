/* SPDX-License-Identifier: GPL-2.0 */
/* BPF has no instruction that counts zeros. */
#ifndef LONGFAT_ARITH_BITOPS_H
#define LONGFAT_ARITH_BITOPS_H

#include <longfat/bounds.h>
#include <linux/types.h>

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))

/* The number of the highest bit that is set, from 1; 0: none is. */
LF_PURE __maybe_unused int fls64(u64 x)
{
	int n = 0, step;

	for (step = 32; step; step >>= 1) {
		if (x >> step) {
			x >>= step;
			n += step;
		}
	}
	return n + !!x;
}

static inline int fls(u32 x)
{
	return fls64(x);
}

#endif /* LONGFAT_ARITH_BITOPS_H */
