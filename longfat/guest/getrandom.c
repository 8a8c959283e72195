// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the virtual-time kernel's process, in place of libc's: the
 * kernel fills its random pool from getrandom(), which would make every run
 * different.  The seed comes from $LF_SEED.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

ssize_t getrandom(void *buf, size_t len, unsigned int flags);

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t state;
	unsigned char *p = buf;
	size_t i;

	(void)flags;
	if (!state) {
		const char *seed = getenv("LF_SEED");

		state = 0x9e3779b97f4a7c15ULL * (1 + (seed ? strtoull(seed, NULL, 10) : 0));
	}
	for (i = 0; i < len; i++) {
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		p[i] = (state * 0x2545f4914f6cdd1dULL) >> 56;
	}
	return len;
}
