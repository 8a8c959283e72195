/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_MATH64_H
#define LONGFAT_SHIM_MATH64_H

#include <linux/types.h>

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (__uint128_t)a * mul >> shift;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 mul, unsigned int shift)
{
	return (__uint128_t)a * mul >> shift;
}

#endif /* LONGFAT_SHIM_MATH64_H */
