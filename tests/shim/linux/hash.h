/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_HASH_H
#define LONGFAT_SHIM_HASH_H

#include <linux/types.h>

/* Multiplicative hashing: the upper bits of the product. */
static inline u32 hash_32(u32 val, unsigned int bits)
{
	return val * 0x61c88647U >> (32 - bits);
}

#endif /* LONGFAT_SHIM_HASH_H */
