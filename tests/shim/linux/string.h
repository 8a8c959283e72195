/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_STRING_H
#define LONGFAT_SHIM_STRING_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define strscpy(to, from, size)	snprintf(to, size, "%s", from)

/* Which of @n names @val is, a line end aside. */
static inline int __sysfs_match_string(const char * const *names, size_t n,
				       const char *val)
{
	size_t i, len = strlen(val);

	if (len && val[len - 1] == '\n')
		len--;
	for (i = 0; i < n; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], val, len))
			return i;
	return -EINVAL;
}

#endif /* LONGFAT_SHIM_STRING_H */
