/* SPDX-License-Identifier: GPL-2.0 */
/* And the names that linux/bpf.h and libbpf's headers want. */
#ifndef LONGFAT_BPF_TYPES_H
#define LONGFAT_BPF_TYPES_H

#include_next <linux/types.h>

typedef int16_t __s16;
typedef u16 __be16;
typedef u32 __be32, __wsum;
typedef u64 __aligned_u64 __attribute__((aligned(8)));

#endif /* LONGFAT_BPF_TYPES_H */
