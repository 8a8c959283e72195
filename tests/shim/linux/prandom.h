/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_PRANDOM_H
#define LONGFAT_SHIM_PRANDOM_H

#include <linux/types.h>

/* As large as the kernel's. */
struct rnd_state {
	u64 s;
	u64 unused;
};

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	state->s = seed;
}

/* Marsaglia's xorshift of a Weyl sequence: any seed will do. */
static inline u32 prandom_u32_state(struct rnd_state *state)
{
	u64 x = state->s += 0x9e3779b97f4a7c15ULL;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return (x * 0x2545f4914f6cdd1dULL) >> 32;
}

#endif /* LONGFAT_SHIM_PRANDOM_H */
