/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_BPF_KERNEL_H
#define LONGFAT_BPF_KERNEL_H

#include <linux/bitops.h>
#include <linux/int_sqrt.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define __init
#define __exit
#define __read_mostly
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define BUILD_BUG_ON(cond)	((void)sizeof(char[1 - 2 * !!(cond)]))
#define NSEC_PER_USEC		1000L
#define abs(x)			((x) < 0 ? -(x) : (x))
#define memset			__builtin_memset

#endif /* LONGFAT_BPF_KERNEL_H */
