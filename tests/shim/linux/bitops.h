/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_BITOPS_H
#define LONGFAT_SHIM_BITOPS_H

#include <linux/types.h>

#define BIT(n)		(1UL << (n))
#define BITS_PER_TYPE(x)	(8 * sizeof(x))
#define BIT_ULL(n)	(1ULL << (n))
#define GENMASK_ULL(hi, lo)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

static inline int fls(u32 x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline bool test_bit(int n, const unsigned long *bits)
{
	return *bits >> n & 1;
}

#endif /* LONGFAT_SHIM_BITOPS_H */
