/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names for what the headers of include/longfat use, outside of it. */
#ifndef LONGFAT_ARITH_TYPES_H
#define LONGFAT_ARITH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
typedef unsigned long long u64, __u64;
typedef int32_t s32, __s32;
typedef long long s64, __s64;
typedef __uint128_t u128;
typedef __int128_t s128;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		(~0ULL)
#define S32_MAX		INT32_MAX
#define S32_MIN		INT32_MIN
#define likely(x)	(x)
#define unlikely(x)	(x)
#define noinline	__attribute__((noinline))
#define __maybe_unused	__attribute__((unused))

#endif /* LONGFAT_ARITH_TYPES_H */
