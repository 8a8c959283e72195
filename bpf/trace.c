// SPDX-License-Identifier: GPL-2.0
/* Events of an algorithm, as the module's trace event is printed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "longfat-bpf.h"

/* So long the algorithm goes on writing events behind the last sign of life of a reader. */
#define LEASE_NS	5000000000ull
#define POLL_MS		200

static volatile sig_atomic_t over;

static void end(int signal)
{
	over = 1;
}

static uint64_t since_boot_ns(void)
{
	struct timespec now;

	/* That of bpf_ktime_get_ns(). */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static const char *reason_name(const struct lf_trace_about *about, uint32_t value)
{
	size_t i;

	for (i = 0; i < LF_REASONS_MAX && about->reasons[i].name[0]; i++)
		if (about->reasons[i].value == value)
			return about->reasons[i].name;
	return "?";
}

struct tracing {
	const char *name;
	const struct lf_trace_about *about;
	bool begun;
};

/* One line.  What a trace that was killed has left is not of now. */
static int show(void *context, void *data, size_t size)
{
	const struct tracing *t = context;
	const struct lf_trace_event *e = data;
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	size_t i;

	if (!t->begun)
		return 0;
	inet_ntop(AF_INET6, e->saddr, from, sizeof(from));
	inet_ntop(AF_INET6, e->daddr, to, sizeof(to));
	printf("%llu.%06llu: longfat:%s: src=[%s]:%u dest=[%s]:%u reason=%s cwnd=%u ssthresh=%u srtt_us=%u min_rtt_us=%u",
	       (unsigned long long)e->when_ns / 1000000000,
	       (unsigned long long)e->when_ns / 1000 % 1000000, t->name,
	       from, e->sport, to, e->dport, reason_name(t->about, e->reason),
	       e->cwnd, e->ssthresh, e->srtt_us, e->min_rtt_us);
	for (i = 0; i < LF_FIELDS_MAX && t->about->fields[i].name[0]; i++)
		printf(" %s=%lld", t->about->fields[i].name,
		       (long long)e->fields[i]);
	putchar('\n');
	return 0;
}

static void listen_until(struct lf_trace_about *about, uint64_t ns)
{
	__atomic_store_n(&about->until_ns, ns, __ATOMIC_RELAXED);
}

int trace(const char *name)
{
	struct sigaction action = { .sa_handler = end };
	struct tracing t = { .name = name };
	struct lf_trace_about *about;
	struct ring_buffer *ring;
	int fd, directory;
	size_t size;

	if (!loaded(name))
		return complain("%s is not loaded as BPF", name);
	directory = open(pin(name, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (flock(directory, LOCK_EX | LOCK_NB))
		return complain("%s is traced already, by another longfat-bpf",
				name);
	about = mapped(name, "trace", &size);
	if (!about)
		return 1;
	t.about = about;
	fd = opened(name, "events");
	ring = fd < 0 ? NULL : ring_buffer__new(fd, show, &t, NULL);
	if (!ring)
		return complain("%s: its events: %s", name, strerror(errno));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	listen_until(about, 0);
	ring_buffer__consume(ring);
	t.begun = true;
	about->lost = 0;
	fputs("longfat-bpf: tracing; end with Ctrl-C\n", stderr);
	while (!over && loaded(name)) {
		listen_until(about, since_boot_ns() + LEASE_NS);
		ring_buffer__poll(ring, POLL_MS);
	}
	listen_until(about, 0);
	ring_buffer__consume(ring);
	if (about->lost)
		complain("%u events were lost: they came faster than they are printed",
			 about->lost);
	return ferror(stdout) || fflush(stdout);
}
