/* SPDX-License-Identifier: GPL-2.0 */
/* Square roots, as the kernel's: the largest r with r^2 <= x. */
#ifndef LONGFAT_ARITH_INT_SQRT_H
#define LONGFAT_ARITH_INT_SQRT_H

#include <longfat/bounds.h>
#include <linux/bitops.h>
#include <linux/types.h>

LF_PURE __maybe_unused u32 int_sqrt64(u64 x)
{
	u64 r = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--)
		if ((r | BIT_ULL(bit)) * (r | BIT_ULL(bit)) <= x)
			r |= BIT_ULL(bit);
	return r;
}

static inline unsigned long int_sqrt(unsigned long x)
{
	return int_sqrt64(x);
}

#endif /* LONGFAT_ARITH_INT_SQRT_H */
