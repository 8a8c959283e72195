/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_KERNEL_H
#define LONGFAT_SHIM_KERNEL_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/bitops.h>
#include <linux/int_sqrt.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#define __init
#define __exit
#define __read_mostly
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_CLOSEST(a, b)	(((a) + (b) / 2) / (b))
#define BUILD_BUG_ON(cond)	((void)sizeof(char[1 - 2 * !!(cond)]))
#define static_assert(cond)	_Static_assert(cond, #cond)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, val)	((x) = (val))
#define IS_ENABLED(CONFIG_x)	0
/* As the kernel's, for every type; the sanitizer looks at the minus. */
#define abs(x)			((x) < 0 ? -(x) : (x))

/* What the kernel would complain of ends the program. */
#define WARN_ON_ONCE(cond) ({						\
	int warn_ = !!(cond);						\
	if (warn_) {							\
		fprintf(stderr, "%s:%d: WARN_ON(%s)\n", __FILE__,	\
			__LINE__, #cond);				\
		abort();						\
	}								\
	warn_; })

#define MSEC_PER_SEC	1000L
#define USEC_PER_MSEC	1000L
#define USEC_PER_SEC	1000000L
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define HZ		100
#define PAGE_SIZE	4096UL

static inline unsigned int jiffies_to_msecs(unsigned long j)
{
	return j * (MSEC_PER_SEC / HZ);
}

static inline int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	if (!size)
		return 0;
	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n < (int)size ? n : (int)size - 1;
}

#define sysfs_emit(buf, fmt, ...)	scnprintf(buf, PAGE_SIZE, fmt, __VA_ARGS__)

/* Nobody reads it, but it is formatted: what it points at must be there. */
#define pr_warn(fmt, ...) ({						\
	char log_[256];							\
	scnprintf(log_, sizeof(log_), pr_fmt(fmt), __VA_ARGS__); })

/* A number as the kernel reads one, also 0x and 0; a line end may follow. */
static inline int kstrtou32(const char *s, unsigned int base, u32 *out)
{
	unsigned long long value;
	char *end;

	s += *s == '+';
	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(s, &end, base);
	if (end == s || (*end && strcmp(end, "\n")))
		return -EINVAL;
	if (errno || value > U32_MAX)
		return -ERANGE;
	*out = value;
	return 0;
}

#endif /* LONGFAT_SHIM_KERNEL_H */
