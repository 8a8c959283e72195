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

/* A quotient of more than 64 bits is a fault on x86, and one here. */
static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 div)
{
	__uint128_t quotient = (__uint128_t)a * mul / div;

	if (quotient >> 64)
		__builtin_trap();
	return quotient;
}

#endif /* LONGFAT_SHIM_MATH64_H */
