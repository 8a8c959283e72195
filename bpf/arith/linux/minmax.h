/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_ARITH_MINMAX_H
#define LONGFAT_ARITH_MINMAX_H

#include <linux/types.h>

#define min_t(type, a, b) ({						\
	type a_ = (a);							\
	type b_ = (b);							\
	a_ < b_ ? a_ : b_; })
#define max_t(type, a, b) ({						\
	type a_ = (a);							\
	type b_ = (b);							\
	a_ > b_ ? a_ : b_; })
#define min(a, b)	min_t(__auto_type, a, b)
#define max(a, b)	max_t(__auto_type, a, b)
#define clamp_t(type, x, lo, hi)	min_t(type, max_t(type, x, lo), hi)
#define clamp(x, lo, hi)		min(max(x, lo), hi)
#define min3(a, b, c)	min(min(a, b), c)
#define max3(a, b, c)	max(max(a, b), c)

#endif /* LONGFAT_ARITH_MINMAX_H */
