/* SPDX-License-Identifier: GPL-2.0 */
/* A test repeats, so what is random is the same each time. */
#ifndef LONGFAT_SHIM_RANDOM_H
#define LONGFAT_SHIM_RANDOM_H

#include <linux/prandom.h>

static struct rnd_state shim_random;

static inline u32 get_random_u32(void)
{
	return prandom_u32_state(&shim_random);
}

#endif /* LONGFAT_SHIM_RANDOM_H */
