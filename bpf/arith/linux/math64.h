/* SPDX-License-Identifier: GPL-2.0 */
/* BPF divides numbers of 64 bits, without a sign, and multiplies none of 128. */
#ifndef LONGFAT_ARITH_MATH64_H
#define LONGFAT_ARITH_MATH64_H

#include <linux/int_sqrt.h>
#include <linux/types.h>

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

/*
 * @a * @mul >> @shift, 0 < @shift <= 32, of which the lower 64 bits are kept.  In halves: the
 * product of the lower one is a number of 64 bits, and loses @shift of them.
 */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return ((a >> 32) * mul << (32 - shift)) + ((u64)(u32)a * mul >> shift);
}

#endif /* LONGFAT_ARITH_MATH64_H */
