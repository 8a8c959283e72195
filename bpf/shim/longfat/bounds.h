/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF verifier's half of include/longfat/bounds.h, which says what these are for. */
#ifndef LONGFAT_BOUNDS_H
#define LONGFAT_BOUNDS_H

#include <linux/types.h>

/* The compiler neither knows what @x is from here on, nor uses another copy of it. */
#define lf_opaque(x)	asm volatile("" : "+r"(x))

/* Global functions are verified by themselves, for all arguments. */
#define LF_PURE			__attribute__((__noinline__))

#define lf_while(most, cond)						\
	for (u32 lf_round_ = 0; lf_round_ < (most) && (cond); lf_round_++)

#define lf_do(most)		{ u32 lf_left_ = (most); do
#define lf_again(cond)		while (--lf_left_ && (cond)); }

/* 0, but a map may hold anything. */
volatile u32 lf_zero;

#define lf_unknown(x)		((x) + lf_zero)

#define lf_index(index, size) ({					\
	u64 index_ = (index);						\
	lf_opaque(index_);						\
	index_ < (size) ? index_ : (size) - 1; })

#define lf_divide(a, b) ({						\
	s64 a_ = (a);							\
	a_ < 0 ? -(s64)((u64)-a_ / (b)) : (s64)((u64)a_ / (b)); })

/*
 * k rounds, the first of which costs w << LF_RATE_SHIFT and each one more 1 << LF_RATE_SHIFT
 * more, cost k w + k (k - 1) / 2 in all, and k w + k^2 / 2 is a bit more than that.  So
 *
 *	k = sqrt(w^2 + 2 c) - w,	c = credit >> LF_RATE_SHIFT
 *
 * rounded down is never too many, and at most one too few.  One round or none, which is all but
 * a few calls, is left to the loop.  c < 2^53; a sum above 2^64 counts as w^2.
 */
#define lf_leap(window, credit, need, stop) do {			\
	u64 w_ = *(window), c_ = *(credit) >> LF_RATE_SHIFT, k_;	\
									\
	if (c_ >= 2 * w_) {						\
		k_ = int_sqrt64(max(w_ * w_ + 2 * c_, w_ * w_)) - w_;	\
		k_ = min_t(u64, k_, (stop) - w_ - 1);			\
		*(credit) -= k_ * (need) +				\
			     (k_ * (k_ - 1) / 2 << LF_RATE_SHIFT);	\
		*(window) += k_;					\
		(need) += k_ << LF_RATE_SHIFT;				\
	}								\
} while (0)

#endif /* LONGFAT_BOUNDS_H */
