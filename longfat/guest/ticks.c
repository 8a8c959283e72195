// SPDX-License-Identifier: GPL-2.0
/*
 * How often the processor's counter ticks in a second, measured over 0.2 s.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t ticks(void)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
#else
	return 0;
#endif
}

/* The counter and the clock at once: of several readings the one that took least. */
static void both(uint64_t *count, uint64_t *ns)
{
	uint64_t best = ~0ULL;
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t before = ticks(), after;
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = ticks();
		if (after - before < best) {
			best = after - before;
			*count = before + best / 2;
			*ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
		}
	}
}

int main(void)
{
	struct timespec wait = { .tv_nsec = 200000000 };
	uint64_t c0, c1, t0, t1;

	both(&c0, &t0);
	nanosleep(&wait, NULL);
	both(&c1, &t1);
	printf("%.0f\n", 1e9 * (c1 - c0) / (t1 - t0));
	return 0;
}
