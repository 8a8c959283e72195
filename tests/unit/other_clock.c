// SPDX-License-Identifier: GPL-2.0
/*
 * For LD_PRELOAD: the wall clock of a program is CLOCK_OFF seconds off, which may be negative.
 * Clocks that only count are right.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *off = getenv("CLOCK_OFF");
	int status = syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_REALTIME && off)
		now->tv_sec += atol(off);
	return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec at;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &at);
	now->tv_sec = at.tv_sec;
	now->tv_usec = at.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *to)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	if (to)
		*to = at.tv_sec;
	return at.tv_sec;
}
