/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that a test can withhold, and counts. */
#ifndef LONGFAT_SHIM_SLAB_H
#define LONGFAT_SHIM_SLAB_H

#include <stdlib.h>

#include <linux/types.h>

typedef int gfp_t;

#define GFP_ATOMIC	0
#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define __GFP_ACCOUNT	0

static bool slab_empty;
static long slab_objects;

static inline void *kzalloc(size_t size, gfp_t flags)
{
	if (slab_empty)
		return NULL;
	slab_objects++;
	return calloc(1, size);
}

static inline void kfree(void *object)
{
	slab_objects -= !!object;
	free(object);
}

#endif /* LONGFAT_SHIM_SLAB_H */
