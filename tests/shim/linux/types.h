/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names for what the headers of include/longfat use, in a program. */
#ifndef LONGFAT_SHIM_TYPES_H
#define LONGFAT_SHIM_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX		UINT32_MAX
#define S32_MAX		INT32_MAX
#define likely(x)	(x)
#define unlikely(x)	(x)

#endif /* LONGFAT_SHIM_TYPES_H */
