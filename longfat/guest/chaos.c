// SPDX-License-Identifier: GPL-2.0
/*
 * chaos - connections that everything happens to
 *
 *	chaos PLAN > SUMMARY
 *
 * One process holds both ends of every connection, as lfgen does.  A connection
 * carries a stream that is made from its number; at its end the receiver sends
 * back a hash of what it got, and the sender compares.  Meanwhile congestion
 * controls are switched, modules removed and loaded again, parameters written,
 * network namespaces made and dropped, allocations made to fail.  What happens
 * is drawn from the plan's seed, so in virtual time a run repeats.
 *
 * It waits in one epoll loop, edge-triggered, and never for time to pass in any
 * other way.
 *
 * PLAN has a directive per line, written by longfat/stress/chaos.py; times are seconds:
 *
 *	seed N
 *	end T DRAIN		no new connection after T; DRAIN more to complete
 *	path SRC DST ADDR PORT	namespaces, and DST's address
 *	cc NAME MODULE		to switch to; MODULE is - for one of the kernel's
 *	param MODULE KEY VALID	VALID as longfat/build/modules.py says it
 *	at T COMMAND		run by a shell; its failure is one of the run
 *	fault T FOR PERCENT	so many of the allocations that may not sleep fail
 *	set KEY VALUE		see struct knobs
 *	damage ID BYTE		of stream ID leaves changed, for a test that it is found
 *
 * SUMMARY: "KEY NUMBER" for each counter; "x MESSAGE" for each failure.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NSEC		1000000000LL
#define NEVER		INT64_MAX
#define CHUNK		65536
#define MAX_CONNS	65536
#define MAX_PATHS	512
#define MAX_NAMES	64
#define NAME_LEN	32
#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define DEFAULT		"/proc/sys/net/ipv4/tcp_congestion_control"

/* A stream begins with this. */
struct head {
	uint64_t id;
	uint64_t size;		/* bytes, with this header */
};

enum role { TIMER, LISTENER, SENDER, RECEIVER };

struct end {
	enum role role;
	int fd;
	struct path *path;
	struct conn *conn;	/* NULL: its header has not come yet */
	struct end *next;	/* of all receivers */
	uint64_t done;		/* bytes sent or received */
	uint64_t hash;
	int64_t due;		/* the next thing to do by the clock, ns */
	int64_t pause;		/* a receiver's, between reads; 0: none */
	uint8_t head[sizeof(struct head)];
	bool stalled;		/* reads nothing until it is due */
	bool answered;
};

struct conn {
	uint64_t id, size;
	struct end tx;
	struct path *path;
	int64_t next_switch;
	int64_t began;
	bool up, met, shut, aborted, over;
	uint64_t abort_at, again_at;	/* bytes; ~0: not */
	uint8_t reply[8];
	size_t reply_len;
};

struct path {
	char src[NAME_LEN], dst[NAME_LEN];
	struct sockaddr_storage addr;
	socklen_t addr_len;
	struct end listener;
	int space;		/* a namespace of its own that will go, or -1 */
	int64_t gone_at;
	int alive;		/* connections */
	bool gone;
};

struct cc {
	char name[NAME_LEN], module[NAME_LEN];
};

struct param {
	char module[NAME_LEN], key[NAME_LEN], valid[160];
};

struct timed {
	int64_t at, length;
	double percent;
	char *command;		/* NULL: a fault */
};

/* Shares are of connections; gaps are mean seconds, 0 for never. */
static struct knobs {
	double gap, at_once, short_bytes, long_bytes, long_share;
	double tiny_buffers, small_mss, slow_reader, stopped_reader, aborted;
	double reconnected, paced, clamped;
	double switch_gap, burst, fail_nth;
	double module_gap, param_gap, space_gap, default_gap;
} k;

static const struct {
	const char *name;
	double *value;
} knobs[] = {
	{ "gap", &k.gap }, { "at_once", &k.at_once },
	{ "short_bytes", &k.short_bytes }, { "long_bytes", &k.long_bytes },
	{ "long_share", &k.long_share }, { "tiny_buffers", &k.tiny_buffers },
	{ "small_mss", &k.small_mss }, { "slow_reader", &k.slow_reader },
	{ "stopped_reader", &k.stopped_reader }, { "aborted", &k.aborted },
	{ "reconnected", &k.reconnected }, { "paced", &k.paced },
	{ "clamped", &k.clamped }, { "switch_gap", &k.switch_gap },
	{ "burst", &k.burst }, { "fail_nth", &k.fail_nth },
	{ "module_gap", &k.module_gap }, { "param_gap", &k.param_gap },
	{ "space_gap", &k.space_gap }, { "default_gap", &k.default_gap },
	{ NULL, NULL }
};

static struct {
	unsigned long long connections, completed, aborted, refused, bytes;
	unsigned long long switches, loads, removals, in_use, parameters;
	unsigned long long refusals, namespaces, defaults, faults, commands;
	unsigned long long failures, digest, unfinished;
} count;

static struct conn *conns[MAX_CONNS];
static int nconns, alive, epfd, home;
static struct end *receivers;
static struct path *paths[MAX_PATHS];
static int npaths, nfixed;
static struct cc ccs[MAX_NAMES];
static struct param params[MAX_NAMES];
static struct timed *timed;
static bool removed[MAX_NAMES];		/* by cc: its module is not loaded */
static int nccs, nparams, ntimed, next_timed;
static int64_t t_end, t_drain, fault_end = NEVER, fault_last = -NSEC * 3600;
static uint64_t rng = 1, damaged = ~0ULL, damaged_at;
static struct timespec origin;
static uint8_t buffer[CHUNK], pattern[CHUNK];

/* A line of the summary that makes the run one that did not hold. */
static void __attribute__((format(printf, 1, 0))) say_wrong(const char *fmt, va_list ap)
{
	printf("x ");
	vprintf(fmt, ap);
	printf("\n");
}

static void __attribute__((format(printf, 1, 2))) fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_wrong(fmt, ap);
	va_end(ap);
	count.failures++;
}

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_wrong(fmt, ap);
	va_end(ap);
	fflush(stdout);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - origin.tv_sec) * NSEC + t.tv_nsec - origin.tv_nsec;
}

static void *zalloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory");
	return p;
}

/* xorshift64* and splitmix64: repeatable, which is all that is asked of them. */
static uint64_t draw(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return rng * 0x2545f4914f6cdd1dULL;
}

static double uniform(void)
{
	return (draw() >> 11) * 0x1p-53;
}

static bool chance(double p)
{
	return uniform() < p;
}

/* From 0 to @n - 1. */
static int below(int n)
{
	return draw() % n;
}

static int64_t gap(double mean)
{
	return mean > 0 ? 1 + llround(-mean * log1p(-uniform()) * NSEC) : NEVER / 2;
}

static uint64_t word_of(uint64_t id, uint64_t n)
{
	uint64_t z = id * 0x9e3779b97f4a7c15ULL + n * 0xbf58476d1ce4e5b9ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* The @len bytes from @at on of stream @conn. */
static void fill(struct conn *conn, uint64_t at, uint8_t *to, size_t len)
{
	struct head head = { conn->id, conn->size };
	size_t i;

	for (i = 0; i < len; i++, at++) {
		if (at < sizeof(head))
			to[i] = ((uint8_t *)&head)[at];
		else
			to[i] = word_of(conn->id, at / 8) >> at % 8 * 8;
	}
}

/* Change what of these bytes of stream @conn is to be; twice leaves them as they were. */
static void damage(struct conn *conn, uint64_t at, uint8_t *bytes, size_t len)
{
	if (conn->id == damaged && damaged_at - at < len)
		bytes[damaged_at - at] ^= 1;
}

/* FNV-1a */
static uint64_t hash_of(uint64_t hash, const uint8_t *p, size_t len)
{
	while (len--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

/*
 * Whether this is no time for a FIN: one for which there is no memory is never sent
 * (tcp_send_fin()), and its connection stays for ever.
 */
static bool no_fin(struct end *end)
{
	if (fault_end == NEVER)
		return false;
	end->due = fault_end;
	return true;
}

/* Allocations fail, or did so recently: any call may say so. */
static bool faulty(int64_t t)
{
	return t < fault_last + 30 * NSEC;
}

static bool enter_fd(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		die("cannot enter a network namespace: %m");
	return true;
}

static void enter(const char *ns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("no namespace %s: %m", ns);
	enter_fd(fd);
	close(fd);
}

static void enter_path(struct path *p, const char *ns)
{
	if (p->space >= 0)
		enter_fd(p->space);
	else
		enter(ns);
}

static int write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, len) < 0)
		err = errno;
	close(fd);
	return err;
}

static int put(const char *path, const char *text)
{
	return write_file(path, text, strlen(text));
}

static bool get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static void watch(struct end *end, uint32_t events)
{
	struct epoll_event ev = { .events = events | EPOLLET, .data.ptr = end };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, end->fd, &ev))
		die("epoll_ctl: %m");
}

static void drop(struct end *end)
{
	if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
	end->due = NEVER;
}

static void reset(struct end *end)
{
	struct linger hard = { .l_onoff = 1 };

	if (end->fd >= 0)
		setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	drop(end);
}

static void option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

static int cc_of(int fd)
{
	char name[NAME_LEN] = "";
	socklen_t len = sizeof(name) - 1;
	int i;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		return -1;
	/* What dctcp becomes where there is no ECN. */
	name[strcspn(name, "-")] *= !!strcmp(name, "dctcp-reno");
	for (i = 0; i < nccs; i++)
		if (!strcmp(ccs[i].name, name))
			return i;
	return -1;
}

/* Let the @n-th next allocation of this task fail; 0: none.  What was left. */
static int fail_nth(int n)
{
	static int fd = -2;
	char text[16];
	ssize_t len;
	int left;

	if (fd == -2)
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return n;
	len = pread(fd, text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	left = atoi(text);
	len = snprintf(text, sizeof(text), "%d", n);
	if (pwrite(fd, text, len, 0) != len)
		die("fail-nth: %m");
	return left;
}

static void switch_one(int fd, int64_t t)
{
	int i = below(nccs), err = 0;
	bool nth = chance(k.fail_nth) && fault_end == NEVER;
	struct tcp_info info;
	char block[256];
	socklen_t len;

	/* The call's own allocations may sleep. */
	if (nth) {
		put(FAILSLAB "ignore-gfp-wait", "0");
		fail_nth(1 + below(3));
	}
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, ccs[i].name,
		       strlen(ccs[i].name)))
		err = errno;
	if (nth) {
		if (!fail_nth(0)) {
			count.faults++;
			fault_last = t;
		}
		put(FAILSLAB "ignore-gfp-wait", "1");
	}
	count.switches++;
	if (err && !(err == ENOENT && removed[i]) &&
	    !(err == ENOMEM && faulty(t)))
		fail("switch to %s: %s", ccs[i].name, strerror(err));
	if (!err && !removed[i] && cc_of(fd) != i)
		fail("%s was set, and it is not what the socket has", ccs[i].name);
	len = sizeof(info);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	if (!info.tcpi_snd_cwnd)
		fail("%s: a window of 0", ccs[i].name);
	len = sizeof(block);
	getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, block, &len);
}

static void storm(int fd, int64_t t)
{
	int n = 1 + (chance(0.1) ? below((int)k.burst) : 0);

	while (n--)
		switch_one(fd, t);
}

/* --- connections ---------------------------------------------------------- */

static void over(struct conn *conn)
{
	if (conn->over)
		return;
	conn->over = true;
	conn->next_switch = NEVER;
	conn->path->alive--;
	alive--;
	drop(&conn->tx);
}

static int option_of(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, level, name, &value, &len);
	return value;
}

/* What TCP says of a socket, for a reader who has to find out why nothing moves. */
static const char *state_of(int fd, char *text, size_t size)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	int unread = -1;
	size_t used;

	if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return "no socket";
	ioctl(fd, FIONREAD, &unread);
	snprintf(text, size, "state %u, ca %u, cwnd %u, unacked %u, lost %u, retrans %u",
		 info.tcpi_state, info.tcpi_ca_state, info.tcpi_snd_cwnd,
		 info.tcpi_unacked, info.tcpi_lost, info.tcpi_retrans);
	used = strlen(text);
	snprintf(text + used, size - used, ", backoff %u, probes %u, rto %u ms, not sent %u",
		 info.tcpi_backoff, info.tcpi_probes, info.tcpi_rto / 1000,
		 info.tcpi_notsent_bytes);
	used = strlen(text);
	snprintf(text + used, size - used, ", window %u, pacing %llu, ms since sent %u",
		 info.tcpi_snd_wnd, (unsigned long long)info.tcpi_pacing_rate,
		 info.tcpi_last_data_sent);
	used = strlen(text);
	snprintf(text + used, size - used, ", acknowledged %u, received %u",
		 info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
	used = strlen(text);
	snprintf(text + used, size - used, ", unread %d, buffer %d, clamp %d", unread,
		 option_of(fd, SOL_SOCKET, SO_RCVBUF),
		 option_of(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP));
	used = strlen(text);
	snprintf(text + used, size - used, ", threshold %u, packets of %u",
		 info.tcpi_rcv_ssthresh, info.tcpi_rcv_mss);
	return text;
}

static struct end *receiver_of(const struct conn *conn)
{
	struct end *end;

	for (end = receivers; end && end->conn != conn; end = end->next)
		;
	return end;
}

static void lost(struct conn *conn, const char *what)
{
	int cc = conn->tx.fd >= 0 ? cc_of(conn->tx.fd) : -1;
	struct end *end = receiver_of(conn);
	char sender[512], receiver[512];

	fail("connection %llu of %s, %.3f to %.3f s, %llu of %llu bytes, %s: %s",
	     (unsigned long long)conn->id, conn->path->src,
	     (double)conn->began / NSEC, (double)now_ns() / NSEC,
	     (unsigned long long)conn->tx.done,
	     (unsigned long long)conn->size, cc < 0 ? "?" : ccs[cc].name, what);
	printf("x   sender: %s\n", state_of(conn->tx.fd, sender, sizeof(sender)));
	if (end)
		printf("x   receiver of %llu bytes: %s\n", (unsigned long long)end->done,
		       state_of(end->fd, receiver, sizeof(receiver)));
	over(conn);
}

static void abort_conn(struct conn *conn)
{
	count.aborted++;
	conn->aborted = true;
	reset(&conn->tx);
	over(conn);
}

static struct conn *new_conn(struct path *p, int64_t t)
{
	struct conn *conn = zalloc(sizeof(*conn));
	double mean = chance(k.long_share) ? k.long_bytes : k.short_bytes;

	if (nconns == MAX_CONNS)
		die("more than %d connections", MAX_CONNS);
	conn->id = nconns;
	conn->path = p;
	conn->size = sizeof(struct head) - mean * log1p(-uniform());
	conn->began = t;
	conn->abort_at = chance(k.aborted) ? uniform() * conn->size : ~0ULL;
	conn->again_at = chance(k.reconnected) ? uniform() * conn->size : ~0ULL;
	conn->next_switch = t + gap(k.switch_gap);
	conn->tx = (struct end){ .role = SENDER, .fd = -1, .due = NEVER,
				 .conn = conn, .path = p,
				 .hash = 0xcbf29ce484222325ULL };
	conns[nconns++] = conn;
	count.connections++;
	p->alive++;
	alive++;
	return conn;
}

static void refuse(struct conn *conn)
{
	count.refused++;
	conn->aborted = true;
	over(conn);
}

static void start_conn(struct path *p, int64_t t)
{
	struct conn *conn = new_conn(p, t);
	int family = p->addr.ss_family, fd;

	enter_path(p, p->src);
	fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		if (!faulty(t))
			fail("socket: %m");
		return refuse(conn);
	}
	conn->tx.fd = fd;
	if (chance(k.tiny_buffers))
		option(fd, SOL_SOCKET, SO_SNDBUF, 1 + below(20000));
	if (chance(k.small_mss))
		option(fd, IPPROTO_TCP, TCP_MAXSEG, 88 + below(1300));
	if (chance(k.paced) || p->space >= 0)
		option(fd, SOL_SOCKET, SO_MAX_PACING_RATE, 20000 + below(2000000));
	if (chance(0.5))
		option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	storm(fd, t);
	watch(&conn->tx, EPOLLIN | EPOLLOUT);
	if (connect(fd, (void *)&p->addr, p->addr_len) && errno != EINPROGRESS)
		refuse(conn);
}

/* The same socket again, for another stream: TCP's disconnect. */
static void reconnect(struct conn *old, int64_t t)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct path *p = old->path;
	int fd = old->tx.fd;
	struct conn *conn;

	if (connect(fd, &none, sizeof(none)))
		fail("disconnect: %m");
	count.aborted++;
	old->aborted = true;
	epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
	old->tx.fd = -1;
	over(old);
	conn = new_conn(p, t);
	conn->tx.fd = fd;
	storm(fd, t);
	watch(&conn->tx, EPOLLIN | EPOLLOUT);
	enter_path(p, p->src);
	if (connect(fd, (void *)&p->addr, p->addr_len) && errno != EINPROGRESS)
		refuse(conn);
}

/*
 * Is error @err none of an established connection?  The other side drops a request when
 * it cannot send its SYN-ACK again, on a link that is down or without memory
 * (reqsk_timer_handler()); who has got the first SYN-ACK learns that by a reset.
 */
static bool never_was(const struct conn *conn, int err)
{
	return !conn->up || (err == ECONNRESET && !conn->met);
}

/* The receiver's answer, and the end of the connection. */
static void read_reply(struct conn *conn)
{
	uint64_t theirs;
	ssize_t n;

	do {
		n = recv(conn->tx.fd, conn->reply + conn->reply_len,
			 sizeof(conn->reply) - conn->reply_len, 0);
		if (n > 0)
			conn->reply_len += n;
	} while (n > 0 && conn->reply_len < sizeof(conn->reply));
	if (conn->reply_len < sizeof(conn->reply)) {
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (never_was(conn, n ? errno : 0))
			return refuse(conn);
		return lost(conn, n ? strerror(errno) : "no answer");
	}
	memcpy(&theirs, conn->reply, sizeof(theirs));
	if (conn->tx.done != conn->size || theirs != conn->tx.hash)
		return lost(conn, "other data arrived than was sent");
	count.completed++;
	count.bytes += conn->size;
	count.digest ^= conn->tx.hash;
	over(conn);
}

static void on_sender(struct end *end, int64_t t)
{
	struct conn *conn = end->conn;
	size_t want, turns;
	ssize_t n;

	if (conn->over)
		return;
	end->due = NEVER;
	for (turns = 0; end->done < conn->size; turns++) {
		if (end->done >= conn->abort_at)
			return abort_conn(conn);
		if (end->done >= conn->again_at)
			return reconnect(conn, t);
		want = conn->size - end->done;
		if (want > CHUNK)
			want = CHUNK;
		fill(conn, end->done, buffer, want);
		damage(conn, end->done, buffer, want);
		n = send(end->fd, buffer, want, MSG_NOSIGNAL);
		damage(conn, end->done, buffer, want);
		if (n < 0) {
			/* ENOTCONN: the connection is not made yet, or was refused. */
			if (errno == ENOMEM || errno == ENOBUFS ||
			    (errno == EAGAIN && faulty(t))) {
				end->due = t + NSEC;
				return;
			}
			if (errno == EAGAIN || errno == EINTR ||
			    (errno == ENOTCONN && !conn->up))
				return;
			if (never_was(conn, errno))
				return refuse(conn);
			return lost(conn, strerror(errno));
		}
		conn->up = true;
		end->hash = hash_of(end->hash, buffer, n);
		end->done += n;
	}
	if (!conn->shut) {
		if (no_fin(end))
			return;
		conn->shut = true;
		shutdown(end->fd, SHUT_WR);
	}
	read_reply(conn);
}

/* Not without window scaling, where the kernel stands still: docs/stress.md, "What was found". */
static void clamp(int fd, int window)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	if (info.tcpi_options & TCPI_OPT_WSCALE)
		option(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, window);
}

static void on_accept(struct end *listener, int64_t t)
{
	struct end *end;
	int fd;

	for (;;) {
		fd = accept4(listener->fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EAGAIN || errno == ECONNABORTED)
				return;
			if (faulty(t)) {
				listener->due = t + NSEC / 10;
				return;
			}
			die("accept: %m");
		}
		end = zalloc(sizeof(*end));
		end->role = RECEIVER;
		end->fd = fd;
		end->path = listener->path;
		end->due = NEVER;
		end->hash = 0xcbf29ce484222325ULL;
		end->next = receivers;
		receivers = end;
		if (chance(k.tiny_buffers))
			option(fd, SOL_SOCKET, SO_RCVBUF, 1 + below(10000));
		if (chance(k.clamped))
			clamp(fd, 1 + below(5000));
		if (chance(k.slow_reader))
			end->pause = 1 + below(20) * NSEC / 1000;
		if (chance(k.stopped_reader)) {
			end->stalled = true;
			end->due = t + gap(2);
		}
		watch(end, EPOLLIN);
	}
}

/* Whose stream this is; false: its first bytes are of none. */
static bool identify(struct end *end)
{
	struct head head;

	memcpy(&head, end->head, sizeof(head));
	if (head.id >= (uint64_t)nconns || conns[head.id]->size != head.size)
		return false;
	end->conn = conns[head.id];
	end->conn->met = true;
	return true;
}

static void on_receiver(struct end *end, int64_t t)
{
	ssize_t n, i;

	if (end->fd < 0 || end->answered || (end->stalled && t < end->due))
		return;
	if (end->pause && t < end->due && end->due != NEVER)
		return;
	end->stalled = false;
	end->due = NEVER;
	for (;;) {
		n = recv(end->fd, buffer, end->pause ? 1 + below(4000) : CHUNK, 0);
		if (n <= 0)
			break;
		for (i = 0; end->done + i < sizeof(end->head) && i < n; i++)
			end->head[end->done + i] = buffer[i];
		end->hash = hash_of(end->hash, buffer, n);
		if (!end->conn && end->done + n >= sizeof(end->head) &&
		    !identify(end)) {
			fail("a stream begins with nonsense");
			return reset(end);
		}
		if (end->conn) {
			fill(end->conn, end->done, pattern, n);
			if (end->done >= sizeof(end->head) &&
			    memcmp(pattern, buffer, n)) {
				lost(end->conn, "received other bytes than were sent");
				return reset(end);
			}
		}
		end->done += n;
		if (end->pause) {
			end->due = t + end->pause;
			return;
		}
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 && (errno == ENOMEM || errno == ENOBUFS)) {
		end->due = t + NSEC;
		return;
	}
	if (end->conn && !end->conn->aborted && !end->conn->over) {
		if (n < 0)
			return lost(end->conn, strerror(errno));
		if (end->done != end->conn->size)
			return lost(end->conn, "the stream ended early");
	}
	if (!n && no_fin(end))
		return;
	if (!n && send(end->fd, &end->hash, sizeof(end->hash), MSG_NOSIGNAL) !=
	    sizeof(end->hash) && end->conn && !end->conn->over)
		fail("the answer could not be sent: %m");
	/* It stays until the answer is there: an orphan may give up. */
	if (n || !end->conn || end->conn->over)
		drop(end);
	else
		shutdown(end->fd, SHUT_WR);
	end->answered = true;
}

static void free_receivers(void)
{
	struct end **at = &receivers, *end;

	while ((end = *at)) {
		/* The reset of one that was given up may be lost on the way. */
		if (end->conn && end->conn->over)
			drop(end);
		if (end->fd >= 0) {
			at = &end->next;
			continue;
		}
		*at = end->next;
		free(end);
	}
}

static void listen_on(struct path *p, int64_t t)
{
	struct end *end = &p->listener;
	int fd;

	end->role = LISTENER;
	end->path = p;
	end->due = NEVER;
	enter_path(p, p->dst);
	fd = socket(p->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %m");
	end->fd = fd;
	option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (void *)&p->addr, p->addr_len))
		die("bind in %s: %m", p->dst);
	switch_one(fd, t);
	if (listen(fd, 512))
		die("listen: %m");
	watch(end, EPOLLIN);
}

/* --- what happens to them -------------------------------------------------- */

/* A namespace that has nothing but its loopback device, and one connection or two. */
static void make_space(int64_t t)
{
	struct sockaddr_in *sa;
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct path *p;
	int fd, i;

	/* What it takes is to be there: sockets and their ports too. */
	if (npaths == MAX_PATHS || fault_end != NEVER)
		return;
	p = zalloc(sizeof(*p));
	if (unshare(CLONE_NEWNET))
		die("unshare: %m");
	p->space = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->space < 0 || fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("the loopback device of a new namespace: %m");
	close(fd);
	sa = (void *)&p->addr;
	sa->sin_family = AF_INET;
	sa->sin_port = htons(5000);
	sa->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->addr_len = sizeof(*sa);
	p->gone_at = t + gap(3);
	paths[npaths++] = p;
	count.namespaces++;
	listen_on(p, t);
	for (i = 1 + below(2); i; i--)
		start_conn(p, t);
}

static void drop_space(struct path *p)
{
	struct end *end;
	int i;

	for (i = 0; i < nconns; i++)
		if (conns[i]->path == p && !conns[i]->over)
			abort_conn(conns[i]);
	for (end = receivers; end; end = end->next)
		if (end->path == p)
			reset(end);
	drop(&p->listener);
	close(p->space);
	p->gone = true;
	p->gone_at = NEVER;
}

/* Whether @fd uses @module; with @evict it does no more. */
static int uses(int fd, const char *module, bool evict)
{
	int cc = fd >= 0 ? cc_of(fd) : -1;

	if (cc < 0 || strcmp(ccs[cc].module, module))
		return 0;
	return !evict || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static int users(const char *module, bool evict)
{
	struct end *end;
	int i, found = 0;

	for (i = 0; i < nconns; i++)
		found += uses(conns[i]->tx.fd, module, evict);
	for (end = receivers; end; end = end->next)
		found += uses(end->fd, module, evict);
	for (i = 0; i < npaths; i++)
		found += uses(paths[i]->listener.fd, module, evict);
	return found;
}

static void load(const char *module)
{
	char file[64];
	int fd, i;

	snprintf(file, sizeof(file), "%s.ko", module);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die("loading %s: %m", file);
	close(fd);
	count.loads++;
	for (i = 0; i < nccs; i++)
		if (!strcmp(ccs[i].module, module))
			removed[i] = false;
}

/* Loads a module that is out, or tries to take one out that may be in use. */
static void play_module(bool only_load)
{
	int i, j = below(nccs);

	for (i = 0; i < nccs; i++, j = (j + 1) % nccs)
		if (ccs[j].module[0] != '-' && (removed[j] || !only_load))
			break;
	if (i == nccs)
		return;
	if (removed[j])
		return load(ccs[j].module);
	/* Those that wait to be accepted, and defaults, may still hold it. */
	i = users(ccs[j].module, chance(0.5));
	if (syscall(SYS_delete_module, ccs[j].module, O_NONBLOCK)) {
		if (errno != EWOULDBLOCK)
			fail("removing %s: %m", ccs[j].module);
		count.in_use++;
		return;
	}
	count.removals++;
	if (i)
		fail("%s was removed with %d sockets that use it", ccs[j].module, i);
	for (i = 0; i < nccs; i++)
		if (!strcmp(ccs[i].module, ccs[j].module))
			removed[i] = true;
}

/* A good value, or (false) one that must be refused. */
static bool value_of(const struct param *p, char *to, size_t size)
{
	static const char * const garbage[] = {
		"-1", "99999999999999999999", "nonsense", "\n", "1.5", "0x", " ",
	};
	unsigned long long low, high;
	bool good = chance(0.7);
	char words[160], *word, *save;
	int n = 0;

	if (sscanf(p->valid, "%llu to %llu", &low, &high) == 2) {
		if (good)
			low += draw() % (high - low + 1);
		else if (chance(0.3))
			low = high + 1 + below(1000);
		else
			goto bad;
		snprintf(to, size, "%llu", low);
		return good;
	}
	if (good) {
		snprintf(words, sizeof(words), "%s", p->valid);
		for (word = strtok_r(words, ", ", &save); word;
		     word = strtok_r(NULL, ", ", &save))
			if (!below(++n))
				snprintf(to, size, "%s", word);
		return true;
	}
bad:
	if (chance(0.1)) {
		memset(to, '9', size - 1);
		to[size - 1] = '\0';
	} else {
		snprintf(to, size, "%s", garbage[below(7)]);
	}
	return false;
}

static void write_param(void)
{
	const struct param *p = &params[below(nparams)];
	char path[128], before[64], after[64], value[2048];
	bool good = value_of(p, value, sizeof(value));
	int err;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", p->module,
		 p->key);
	if (!get(path, before, sizeof(before)))
		return;		/* its module is out */
	err = put(path, value);
	if (!get(path, after, sizeof(after)))
		return fail("%s cannot be read", path);
	if (good) {
		count.parameters++;
		if (err || (strcmp(p->valid, "on, off") && strcmp(after, value)))
			fail("%s: %s, which is valid, left %s: %s", path, value,
			     after, strerror(err));
	} else {
		count.refusals++;
		if ((err != EINVAL && err != ERANGE) || strcmp(before, after))
			fail("%s: %.40s, which is not valid, made %s of %s: %s", path,
			     value, after, before, strerror(err));
	}
}

/*
 * What new sockets of the first namespace, and namespaces made in it, begin with.
 * Another namespace is refused a restricted one, but the kernel then forgets to let
 * go of its module (tcp_set_default_congestion_control), which stays for ever.
 */
static void play_default(int i)
{
	int err;

	enter_fd(home);
	err = put(DEFAULT, ccs[i].name);
	count.defaults++;
	if (err && !(err == ENOENT && removed[i]))
		fail("default %s: %s", ccs[i].name, strerror(err));
}

static void set_fault(double percent, int64_t t)
{
	static unsigned long long left;
	char text[32];

	if (percent > 0) {
		snprintf(text, sizeof(text), "%d", (int)ceil(percent));
		left = 1000000000;
		put(FAILSLAB "times", "1000000000");
		if (put(FAILSLAB "probability", text))
			die("no " FAILSLAB ": %m");
		return;
	}
	put(FAILSLAB "probability", "0");
	if (get(FAILSLAB "times", text, sizeof(text)) && left)
		count.faults += left - strtoull(text, NULL, 10);
	left = 0;
	/* For fail-nth there must be a time left. */
	put(FAILSLAB "times", "-1");
	fault_last = t;
}

static void act(struct timed *what, int64_t t)
{
	int status;

	if (!what->command) {
		set_fault(what->percent, t);
		fault_end = t + what->length;
		fault_last = fault_end;
		return;
	}
	/* The shell's own allocations are to succeed. */
	if (fault_end != NEVER) {
		set_fault(0, t);
		fault_end = NEVER;
	}
	fflush(stdout);
	enter_fd(home);
	status = system(what->command);
	count.commands++;
	if (status)
		fail("at %.3f s: status %d of %s", (double)what->at / NSEC, status,
		     what->command);
}

/* --- the plan ------------------------------------------------------------- */

static int64_t ns_of(double seconds)
{
	if (!(seconds >= 0 && seconds < 1e9))
		die("plan: %g s is no time", seconds);
	return llround(seconds * NSEC);
}

static void read_path(const char *line)
{
	struct path *p = zalloc(sizeof(*p));
	struct sockaddr_in6 *v6 = (void *)&p->addr;
	struct sockaddr_in *v4 = (void *)&p->addr;
	char addr[64];
	int port;

	if (sscanf(line, "%31s %31s %63s %d", p->src, p->dst, addr, &port) != 4)
		die("plan: cannot read: %s", line);
	if (inet_pton(AF_INET, addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		p->addr_len = sizeof(*v4);
	} else if (inet_pton(AF_INET6, addr, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		p->addr_len = sizeof(*v6);
	} else {
		die("%s is no address", addr);
	}
	p->space = -1;
	p->gone_at = NEVER;
	if (npaths == MAX_PATHS)
		die("plan: more than %d paths", MAX_PATHS);
	paths[npaths++] = p;
	nfixed = npaths;
}

static struct timed *new_timed(double at)
{
	timed = realloc(timed, (ntimed + 1) * sizeof(*timed));
	if (!timed)
		die("out of memory");
	timed[ntimed] = (struct timed){ .at = ns_of(at) };
	return &timed[ntimed++];
}

static void read_line(char *line)
{
	char word[16], key[32];
	struct timed *what;
	double a, b, c;
	int skip = 0;
	size_t i;

	if (sscanf(line, "%15s %n", word, &skip) < 1)
		return;
	line += skip;
	if (!strcmp(word, "seed")) {
		rng = 0x9e3779b97f4a7c15ULL * (1 + strtoull(line, NULL, 10)) | 1;
	} else if (!strcmp(word, "end") && sscanf(line, "%lf %lf", &a, &b) == 2) {
		t_end = ns_of(a);
		t_drain = ns_of(b);
	} else if (!strcmp(word, "path")) {
		read_path(line);
	} else if (!strcmp(word, "damage") && sscanf(line, "%lf %lf", &a, &b) == 2) {
		damaged = a;
		damaged_at = b;
	} else if (!strcmp(word, "cc") && nccs < MAX_NAMES &&
		   sscanf(line, "%31s %31s", ccs[nccs].name, ccs[nccs].module) == 2) {
		nccs++;
	} else if (!strcmp(word, "param") && nparams < MAX_NAMES &&
		   sscanf(line, "%31s %31s %159[^\n]", params[nparams].module,
			  params[nparams].key, params[nparams].valid) == 3) {
		nparams++;
	} else if (!strcmp(word, "at") && sscanf(line, "%lf %n", &a, &skip) == 1) {
		what = new_timed(a);
		what->command = strdup(line + skip);
	} else if (!strcmp(word, "fault") &&
		   sscanf(line, "%lf %lf %lf", &a, &b, &c) == 3) {
		what = new_timed(a);
		what->length = ns_of(b);
		what->percent = c;
	} else if (!strcmp(word, "set") && sscanf(line, "%31s %lf", key, &a) == 2) {
		for (i = 0; knobs[i].name; i++)
			if (!strcmp(knobs[i].name, key)) {
				*knobs[i].value = a;
				return;
			}
		die("plan: no knob %s", key);
	} else {
		die("plan: cannot read: %s %s", word, line);
	}
}

static void read_plan(const char *path)
{
	static char line[1024];
	FILE *file = fopen(path, "r");

	if (!file)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		read_line(line);
	}
	fclose(file);
	if (!t_end || !nfixed || !nccs)
		die("plan: end, path and cc are needed");
}

static void dispatch(struct end *end, int64_t t)
{
	if (end->fd < 0)
		return;
	if (end->role == LISTENER)
		on_accept(end, t);
	else if (end->role == SENDER)
		on_sender(end, t);
	else if (end->role == RECEIVER)
		on_receiver(end, t);
}

static int64_t soonest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Everything that is due; the next time that something will be. */
static int64_t turn(int64_t t)
{
	static int64_t next_conn, next_module = -1, next_param, next_space;
	static int64_t next_default;
	int64_t due = t < t_end ? t_end : t_end + t_drain;
	struct end *end;
	int i, n = nconns;

	if (next_module < 0) {
		next_module = gap(k.module_gap);
		next_param = gap(k.param_gap);
		next_space = gap(k.space_gap);
		next_default = gap(k.default_gap);
	}
	for (; next_timed < ntimed && timed[next_timed].at <= t; next_timed++)
		act(&timed[next_timed], t);
	if (t >= fault_end) {
		set_fault(0, t);
		fault_end = NEVER;
	}
	if (t < t_end) {
		if (t >= next_conn) {
			next_conn = t + gap(k.gap);
			if (alive < k.at_once)
				start_conn(paths[below(nfixed)], t);
		}
		if (t >= next_module) {
			next_module = t + gap(k.module_gap);
			play_module(false);
		}
		if (nparams && t >= next_param) {
			next_param = t + gap(k.param_gap);
			write_param();
		}
		if (t >= next_space) {
			next_space = t + gap(k.space_gap);
			make_space(t);
		}
		if (t >= next_default) {
			next_default = t + gap(k.default_gap);
			play_default(below(nccs));
		}
		due = soonest(soonest(next_conn, next_module), due);
		due = soonest(soonest(next_param, next_space), due);
		due = soonest(next_default, due);
	}
	for (i = 0; i < n; i++) {
		struct conn *conn = conns[i];

		if (conn->over)
			continue;
		if (t >= conn->next_switch) {
			conn->next_switch = t + gap(k.switch_gap);
			storm(conn->tx.fd, t);
		}
		if (t >= conn->tx.due)
			on_sender(&conn->tx, t);
		due = soonest(soonest(conn->next_switch, conn->tx.due), due);
	}
	for (end = receivers; end; end = end->next) {
		if (t >= end->due)
			on_receiver(end, t);
		due = soonest(end->due, due);
	}
	for (i = 0; i < npaths; i++) {
		struct path *p = paths[i];

		if (t >= p->listener.due) {
			p->listener.due = NEVER;
			on_accept(&p->listener, t);
		}
		/* Some go with what is alive in them, others when that is done. */
		if (p->space >= 0 && !p->gone && (t >= p->gone_at || !p->alive))
			drop_space(p);
		due = soonest(soonest(p->listener.due, p->gone_at), due);
	}
	free_receivers();
	if (next_timed < ntimed)
		due = soonest(due, timed[next_timed].at);
	return soonest(due, fault_end);
}

/*
 * Did data come in the last tenth of the time that was left to complete?  Megabytes
 * through a window of a packet take hours.
 */
static bool moves(const struct conn *conn)
{
	struct end *end = receiver_of(conn);
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (!end || getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return false;
	return 10LL * info.tcpi_last_data_recv < t_drain / (NSEC / 1000);
}

static void finish(void)
{
	int i;

	for (i = 0; i < nconns; i++) {
		if (conns[i]->over)
			continue;
		if (moves(conns[i])) {
			count.unfinished++;
			over(conns[i]);
		} else {
			lost(conns[i], "not done in time");
		}
	}
	for (i = 0; i < npaths; i++)
		drop(&paths[i]->listener);
	while (receivers) {
		reset(receivers);
		free_receivers();
	}
	for (i = 0; i < nccs; i++)
		if (removed[i])
			load(ccs[i].module);
	enter_fd(home);
	if (put(DEFAULT, "reno"))
		fail("reno cannot be the default again: %m");
	printf("connections %llu\ncompleted %llu\naborted %llu\nrefused %llu\n",
	       count.connections, count.completed, count.aborted, count.refused);
	printf("unfinished %llu\n", count.unfinished);
	printf("bytes %llu\nswitches %llu\nmodule_loads %llu\n", count.bytes,
	       count.switches, count.loads);
	printf("module_removals %llu\nremovals_refused %llu\n", count.removals,
	       count.in_use);
	printf("parameter_writes %llu\nparameters_refused %llu\n", count.parameters,
	       count.refusals);
	printf("namespaces %llu\ndefaults %llu\nfailed_allocations %llu\n",
	       count.namespaces, count.defaults, count.faults);
	printf("commands %llu\nfailures %llu\ndigest %llu\n", count.commands,
	       count.failures, count.digest);
}

int main(int argc, char **argv)
{
	struct end timer = { .role = TIMER };
	struct epoll_event events[64];
	int64_t t, due;
	int i, n;

	if (argc != 2) {
		fprintf(stderr, "usage: chaos PLAN > SUMMARY\n");
		return 2;
	}
	read_plan(argv[1]);
	home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (home < 0 || epfd < 0 || timer.fd < 0)
		die("namespace, epoll or timerfd: %m");
	watch(&timer, EPOLLIN);
	/* Where there is no fault injection the plan has no faults. */
	put(FAILSLAB "verbose", "0");
	put(FAILSLAB "ignore-gfp-wait", "1");
	put(FAILSLAB "times", "-1");
	for (i = 0; i < npaths; i++)
		listen_on(paths[i], 0);
	clock_gettime(CLOCK_MONOTONIC, &origin);
	for (;;) {
		struct itimerspec when = { 0 };
		bool waiting = true;

		t = now_ns();
		due = turn(t);
		if ((t >= t_end && !alive && next_timed == ntimed) ||
		    t >= t_end + t_drain)
			break;
		if (due <= t)
			due = t + 1;
		due += origin.tv_sec * NSEC + origin.tv_nsec;
		when.it_value.tv_sec = due / NSEC;
		when.it_value.tv_nsec = due % NSEC;
		timerfd_settime(timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
		while (waiting) {
			n = epoll_wait(epfd, events, 64, -1);
			t = now_ns();
			for (i = 0; i < n; i++) {
				struct end *end = events[i].data.ptr;

				dispatch(end, t);
				/* What an event leaves for later is due by the clock. */
				waiting &= end->role != TIMER && end->due == NEVER;
			}
		}
	}
	finish();
	fflush(stdout);
	return ferror(stdout) || count.failures ? 1 : 0;
}
