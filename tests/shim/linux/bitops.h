/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_BITOPS_H
#define LONGFAT_SHIM_BITOPS_H

#include <linux/types.h>

static inline int fls(u32 x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* LONGFAT_SHIM_BITOPS_H */
