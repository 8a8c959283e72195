// SPDX-License-Identifier: GPL-2.0
/*
 * lfgen - the traffic and the instruments of one experiment
 *
 *	lfgen PLAN > SAMPLES
 *
 * One single-threaded process holds both ends of every connection: it enters
 * each network namespace to make its sockets there, and then waits for them and
 * for its own deadlines in one epoll loop.  In virtual time that is what makes
 * the lab fast (no switch between processes, few wake-ups: a receiver waits
 * for SO_RCVLOWAT bytes and drops them in the kernel with MSG_TRUNC, the sender
 * sends a megabyte at a time, which is the same memory each time and is copied
 * nowhere) and exact (a deadline is met to the nanosecond).
 *
 * PLAN has a directive per line, written by longfat/run/plan.py; times are seconds from
 * the start, rates bytes per second:
 *
 *	end T			when the run is over
 *	sample T		interval of connection samples
 *	qsample T		interval of queue samples
 *	queue NETNS DEV		the bottleneck's root qdisc
 *	queuefile PATH		the same numbers in a file, as lflink.c has it
 *	link NETNS DEV		the root qdisc of the impaired hop, or of the way back
 *	begin PATH		a file that is told when T is 0, in ns of CLOCK_MONOTONIC
 *	tcp ID SRC DST ADDR PORT CC START STOP BYTES SNDBUF RCVBUF ON OFF
 *	udp ID SRC DST ADDR PORT RATE SIZE START STOP ON OFF
 *	objects ID SRC DST ADDR PORT CC START STOP HOW FILE
 *
 * Of objects, FILE has one a line.  HOW says what becomes of them:
 *
 *	new	TIME SIZE: then a connection of its own begins, for SIZE bytes
 *	kept	TIME SIZE: then SIZE bytes more are to be sent on the one connection
 *	asked	THINK REQUEST SIZE: so long after the object before it (the first: after
 *		the handshake) DST asks with REQUEST bytes, and SRC answers with SIZE
 *
 * A new one begins with 16 bytes of lfgen's own, which are part of it, and none is shorter.
 *
 * The virtual second reached is kept in the file $LFGEN_PROGRESS, if set.
 *
 * SAMPLES is a line per observation:
 *
 *	o SECONDS		the start, as CLOCK_MONOTONIC has it
 *	f T ID CWND SSTHRESH SRTT_US MIN_RTT_US RETRANS RECEIVED CE PACING STATE
 *	  DELIVERED		(one line; RECEIVED in bytes and in order, DELIVERED in
 *				packets as the sender knows, in any order)
 *	q T BACKLOG_BYTES BACKLOG_PACKETS DROPS PACKETS BYTES REQUEUES
 *	l T BACKLOG_BYTES BACKLOG_PACKETS DROPS PACKETS BYTES REQUEUES
 *	u T ID RECEIVED_BYTES
 *	d T ID SECONDS BYTES		an object, or a size-limited flow, is complete
 *	a ID NAME			the congestion control in use, asked back
 *	x MESSAGE			what went wrong (and exit status 1)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NSEC		1000000000LL
#define CHUNK		(1 << 20)	/* bytes sent at a time */
#define UDP_BATCH	32		/* datagrams per sendmmsg() */
#define AT_ONCE		(1 << 14)	/* bytes of an object that its receiver waits for */
#define NAME_LEN	32
#define MAX_FLOWS	4096

enum kind { TCP, UDP, NEW, KEPT, ASKED };

struct object {
	int64_t when;		/* ns; of those asked for: after the one before */
	uint64_t request, size;	/* bytes */
};

/* An object of its own connection begins with these, so that its receiver can time it. */
struct head {
	int64_t began;		/* ns */
	uint64_t size;		/* bytes, with this header */
};

/* What an epoll event points at. */
enum role { TIMER, LISTENER, SENDER, RECEIVER };
struct end {
	enum role role;
	struct flow *flow;
	int fd;
	int64_t began;		/* ns */
	uint64_t left;		/* bytes still to send, or ~0 */
	uint64_t got;		/* bytes received */
	int lowat;		/* bytes that a receiver of objects waits for */
	int answered;		/* objects that were asked for and are being sent */
	uint64_t size;
	struct head head;	/* first bytes of an object */
	size_t head_len;	/* how much of them was received */
};

struct flow {
	enum kind kind;
	int id;
	char src[NAME_LEN], dst[NAME_LEN], addr[64], cc[NAME_LEN];
	int port, sndbuf, rcvbuf, size;
	int space;			/* of objects: the file of src; or -1 */
	int64_t start, stop, on, off;	/* ns */
	uint64_t bytes;			/* size limit, or 0 */
	double rate;
	struct object *objects;
	int nobjects, begun, completed;
	int64_t asked_at;		/* ns */
	uint64_t asked, due;		/* bytes until the end of a question, an object */
	struct end listener, sender, receiver;
	bool started, stopped, done, sending, shut;
	bool idle;			/* nothing waits to be sent */
	int64_t next;			/* next deadline, ns; INT64_MAX: none */
	uint64_t received;		/* by closed connections */
};

struct qdisc {
	char tag, ns[NAME_LEN], dev[NAME_LEN];
	char path[64];			/* or "" */
	int ifindex, fd;
};

static struct flow *flows[MAX_FLOWS];
static int nflows, epfd;
static int chunk;			/* a file of CHUNK bytes, in memory */
static struct qdisc queues[2];
static int nqueues;
static char begin_path[96];
static int64_t t_end, t_sample, t_qsample;
static struct timespec origin;
static bool replan;		/* a flow's next deadline has changed */
static char buffer[CHUNK];

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	printf("x ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

static int64_t ns_of(double seconds)
{
	if (!(seconds >= 0 && seconds < 1e9))
		die("plan: %g s is no time", seconds);
	return llround(seconds * NSEC);
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

static int open_space(const char *ns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("cannot enter namespace %s: %m", ns);
	return fd;
}

/* Enter a namespace, by its file if that is open (else -1). */
static void enter(const char *ns, int space)
{
	int fd = space < 0 ? open_space(ns) : space;

	if (setns(fd, CLONE_NEWNET))
		die("cannot enter namespace %s: %m", ns);
	if (space < 0)
		close(fd);
}

static void set_int(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("%s=%d: %m", what, value);
}

static void watch(struct end *end, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = end };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, end->fd, &ev))
		die("epoll_ctl: %m");
}

/*
 * A socket in namespace @ns with the flow's buffers, either bound to its
 * address and port or (!@bound) about to connect there.
 */
static int make_socket(struct flow *f, const char *ns, bool bound)
{
	int type = f->kind == UDP ? SOCK_DGRAM : SOCK_STREAM;
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_port = htons(f->port),
	};
	int fd;

	if (inet_pton(AF_INET, f->addr, &sa.sin_addr) != 1)
		die("%s is no IPv4 address", f->addr);
	enter(ns, bound ? -1 : f->space);
	fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %m");
	if (f->rcvbuf && f->kind != UDP)
		set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, f->rcvbuf, "rcvbuf");
	if (f->sndbuf && f->kind != UDP)
		set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, f->sndbuf, "sndbuf");
	if (bound) {
		set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1, "reuseaddr");
		if (bind(fd, (void *)&sa, sizeof(sa)))
			die("bind to port %d: %m", f->port);
		if (f->kind != UDP && listen(fd, 4096))
			die("listen: %m");
		return fd;
	}
	if (f->kind == UDP) {
		/*
		 * Two milliseconds of data, 4 to UDP_BATCH datagrams: little is
		 * left to send when the flow goes silent, and the buffer is what
		 * holds the sender back, not fq's flow limit, which drops.
		 */
		double burst = f->rate * 2e-3 / f->size;

		burst = burst < 4 ? 4 : burst > UDP_BATCH ? UDP_BATCH : burst;
		set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, (int)f->rate,
			"pacing rate");
		set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE,
			(int)(burst * (f->size + 1024)), "sndbuf");
	} else if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, f->cc,
			      strlen(f->cc))) {
		die("congestion control %s: %m (is its module loaded?)", f->cc);
	}
	if (connect(fd, (void *)&sa, sizeof(sa)) && errno != EINPROGRESS)
		die("connect to %s: %m", f->addr);
	return fd;
}

static void drop(struct end *end)
{
	if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
}

static void read_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (fd >= 0 && getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len))
		die("TCP_INFO: %m");
}

static void complete(struct flow *f, int64_t began, uint64_t size)
{
	int64_t t = now_ns();

	printf("d %.9f %d %.9f %llu\n", (double)t / NSEC, f->id,
	       (double)(t - began) / NSEC, (unsigned long long)size);
}

static void report_cc(struct flow *f, int fd)
{
	char name[NAME_LEN] = "";
	socklen_t len = sizeof(name) - 1;

	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		die("reading the congestion control: %m");
	printf("a %d %s\n", f->id, name);
}

static void start_sender(struct flow *f, struct end *end, uint64_t bytes)
{
	end->role = SENDER;
	end->flow = f;
	end->fd = make_socket(f, f->src, false);
	end->left = bytes ? bytes : ~0ULL;
	end->size = bytes;
	end->began = now_ns();
	watch(end, EPOLLOUT | EPOLLET | (f->kind == ASKED ? EPOLLIN : 0));
}

/*
 * Datagrams are of one size and nobody reads them: a filter refuses each, and the
 * socket counts that.  To wake for every one would cost more than all the rest.
 */
static void count_drops(int fd)
{
	struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &refuse };

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		       sizeof(program)))
		die("filter: %m");
}

static unsigned int read_drops(int fd)
{
	unsigned int info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		die("SO_MEMINFO: %m");
	return info[SK_MEMINFO_DROPS];
}

static void start_listener(struct flow *f)
{
	struct end *end = f->kind == UDP ? &f->receiver : &f->listener;

	end->role = f->kind == UDP ? RECEIVER : LISTENER;
	end->flow = f;
	end->fd = make_socket(f, f->dst, true);
	if (f->kind == UDP)
		count_drops(end->fd);
	else
		watch(end, EPOLLIN);
	if (f->kind == NEW) {
		/* Each connection has that of its listener; the end of an object wakes, too. */
		set_int(end->fd, SOL_SOCKET, SO_RCVLOWAT, AT_ONCE, "rcvlowat");
		f->space = open_space(f->src);
	}
}

/* The next object is asked for so long after @t as it says, if there is one. */
static void ask_after(struct flow *f, int64_t t)
{
	if (f->begun == f->nobjects)
		die("flow %d: all %d objects were asked for before its end", f->id,
		    f->nobjects);
	f->next = t + f->objects[f->begun].when;
	if (f->next > f->stop)
		f->next = f->stop;
	replan = true;
}

/* So many @bytes are to come, at least: wake for all of them, or for a large part. */
static void wait_for(struct end *end, uint64_t bytes)
{
	int lowat = bytes < AT_ONCE ? bytes : AT_ONCE;

	if (lowat != end->lowat)
		set_int(end->fd, SOL_SOCKET, SO_RCVLOWAT, lowat, "rcvlowat");
	end->lowat = lowat;
}

/* Objects of one connection that have arrived whole, in the order in which they began. */
static void on_objects(struct flow *f)
{
	while (f->completed < f->begun && f->receiver.got >= f->due) {
		struct object *o = &f->objects[f->completed++];

		complete(f, f->kind == ASKED ? f->asked_at : o->when, o->size);
		if (f->completed < f->nobjects)
			f->due += f->objects[f->completed].size;
		if (f->kind == ASKED && !f->stopped)
			ask_after(f, now_ns());
	}
	if (f->receiver.got < f->due)
		wait_for(&f->receiver, f->due - f->receiver.got);
}

static void on_accept(struct end *listener)
{
	struct flow *f = listener->flow;
	struct end *end = &f->receiver;
	int lowat = f->rcvbuf ? f->rcvbuf / 8 : CHUNK;

	if (f->kind == NEW)
		end = zalloc(sizeof(*end));
	end->role = RECEIVER;
	end->flow = f;
	end->fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (end->fd < 0)
		die("accept: %m");
	if (f->kind == TCP)
		set_int(end->fd, SOL_SOCKET, SO_RCVLOWAT,
			lowat < CHUNK ? lowat : CHUNK, "rcvlowat");
	if (f->kind == KEPT || f->kind == ASKED)
		wait_for(end, f->due);
	watch(end, EPOLLIN);
	if (f->kind == ASKED)
		ask_after(f, now_ns());
}

static void on_readable(struct end *end)
{
	struct flow *f = end->flow;
	ssize_t n;

	while (f->kind == NEW && end->head_len < sizeof(end->head)) {
		n = recv(end->fd, (char *)&end->head + end->head_len,
			 sizeof(end->head) - end->head_len, 0);
		if (n <= 0)
			break;
		end->head_len += n;
		end->got += n;
	}
	/* All there is; what comes after is another event, as is the end of all but an object. */
	do {
		n = recv(end->fd, NULL, 64 * CHUNK, MSG_TRUNC);
		if (n > 0)
			end->got += n;
	} while (n > 0 && f->kind == NEW && end->got == end->head.size);
	if (n > 0 && (f->kind == KEPT || f->kind == ASKED))
		on_objects(f);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	/* End of the stream, or a reset by a sender that was stopped. */
	f->received += end->got;
	drop(end);
	if (f->kind == NEW) {
		if (end->got == end->head.size)
			complete(f, end->head.began, end->head.size);
		free(end);
	} else {
		end->got = 0;
		if (f->bytes && !f->done && n == 0) {
			f->done = true;
			complete(f, f->sender.began, f->bytes);
		}
	}
}

static void on_writable(struct end *end)
{
	struct flow *f = end->flow;
	size_t want;
	ssize_t n;

	if (f->kind == TCP && !f->sending)
		return;
	while (end->left) {
		want = end->left < CHUNK ? end->left : CHUNK;
		if (f->kind == NEW && end->left == end->size)
			memcpy(buffer, &(struct head){ end->began, end->size },
			       sizeof(struct head));
		/*
		 * sendfile() hands TCP 64 kB at a time, and what is first in an
		 * empty queue leaves as it comes.
		 */
		if (f->kind != TCP || f->idle) {
			n = send(end->fd, buffer, want, MSG_NOSIGNAL);
			if (n > 0)
				f->idle = false;
		} else {
			off_t at = 0;

			n = sendfile(end->fd, chunk, &at, want);
		}
		if (n < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return;
			die("flow %d: send: %m", f->id);
		}
		if (end->left != ~0ULL)
			end->left -= n;
		/* The buffer is full, and there will be an event when it is not. */
		if ((size_t)n < want)
			return;
	}
	if (f->kind == NEW) {
		drop(end);
		free(end);
	} else if (f->kind == TCP && !f->shut) {
		/* Once: each call is an event on the socket, another one here. */
		f->shut = true;
		shutdown(end->fd, SHUT_WR);
	}
}

/* What asks for objects has come to the sender. */
static void on_request(struct end *end)
{
	struct flow *f = end->flow;
	ssize_t n = recv(end->fd, NULL, CHUNK, MSG_TRUNC);

	if (n > 0)
		end->got += n;
	while (f->begun > end->answered && end->got >= f->asked) {
		end->left += f->objects[end->answered++].size;
		if (end->answered < f->nobjects)
			f->asked += f->objects[end->answered].request;
	}
	on_writable(end);
}

static void udp_send(struct flow *f)
{
	static struct mmsghdr msgs[UDP_BATCH];
	struct iovec iov = { .iov_base = buffer, .iov_len = f->size };
	int i;

	for (i = 0; i < UDP_BATCH; i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov,
						   .msg_iovlen = 1 };
	while (f->sending)
		if (sendmmsg(f->sender.fd, msgs, UDP_BATCH, 0) < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return;
			if (errno == ENOBUFS || errno == ECONNREFUSED)
				continue;
			die("udp send: %m");
		}
}

static void sample_flow(struct flow *f, double t)
{
	struct tcp_info out, in;

	if (f->kind == UDP)
		printf("u %.9f %d %llu\n", t, f->id,
		       (unsigned long long)read_drops(f->receiver.fd) * f->size);
	/* The last sample of a flow that stops is at its stop. */
	if (f->kind != TCP || !f->started || f->stopped)
		return;
	read_info(f->sender.fd, &out);
	read_info(f->receiver.fd, &in);
	printf("f %.9f %d %u %u %u %u %u %llu %u %llu %u %u\n", t, f->id,
	       out.tcpi_snd_cwnd, out.tcpi_snd_ssthresh, out.tcpi_rtt,
	       out.tcpi_min_rtt, out.tcpi_total_retrans,
	       (unsigned long long)(f->receiver.fd >= 0 ?
				    in.tcpi_bytes_received : f->received),
	       out.tcpi_delivered_ce,
	       (unsigned long long)out.tcpi_pacing_rate, out.tcpi_ca_state,
	       out.tcpi_delivered);
}

static void stop_flow(struct flow *f)
{
	struct linger hard = { .l_onoff = 1 };

	sample_flow(f, (double)f->stop / NSEC);
	f->stopped = true;
	f->sending = false;
	f->next = INT64_MAX;
	if (f->kind != UDP && f->sender.fd >= 0) {
		setsockopt(f->sender.fd, SOL_SOCKET, SO_LINGER, &hard,
			   sizeof(hard));
		drop(&f->sender);
	}
}

/* Begin the one connection of objects that come later. */
static void keep(struct flow *f)
{
	start_sender(f, &f->sender, 0);
	f->sender.left = 0;
	report_cc(f, f->sender.fd);
	f->started = true;
}

/* Whatever of @f is due at @t; sets its next deadline. */
static void act(struct flow *f, int64_t t)
{
	struct object *o;

	if (t >= f->stop)
		return stop_flow(f);
	switch (f->kind) {
	case TCP:
		f->sending = f->idle = !f->sending;
		f->next = f->off ? f->next + (f->sending ? f->on : f->off) :
			f->stop;
		if (!f->started) {
			start_sender(f, &f->sender, f->bytes);
			report_cc(f, f->sender.fd);
			f->started = true;
		} else if (f->sending && f->sender.fd >= 0) {
			on_writable(&f->sender);
		}
		break;
	case UDP:
		if (!f->started) {
			f->sender.role = SENDER;
			f->sender.flow = f;
			f->sender.fd = make_socket(f, f->src, false);
			f->started = true;
			watch(&f->sender, EPOLLOUT | EPOLLET);
		}
		f->sending = !f->sending;
		f->next = f->off ? f->next + (f->sending ? f->on : f->off) :
			f->stop;
		if (f->sending)
			udp_send(f);
		break;
	case NEW:
		o = &f->objects[f->begun++];
		start_sender(f, zalloc(sizeof(struct end)), o->size);
		f->next = f->begun < f->nobjects ? f->objects[f->begun].when : f->stop;
		break;
	case KEPT:
		if (f->started) {
			f->sender.left += f->objects[f->begun++].size;
			on_writable(&f->sender);
		} else {
			keep(f);
		}
		f->next = f->begun < f->nobjects ? f->objects[f->begun].when : f->stop;
		break;
	case ASKED:
		if (f->started) {
			o = &f->objects[f->begun++];
			f->asked_at = now_ns();
			if (send(f->receiver.fd, buffer, o->request, MSG_NOSIGNAL) !=
			    (ssize_t)o->request)
				die("flow %d: a request of %llu bytes: %m", f->id,
				    (unsigned long long)o->request);
		} else {
			keep(f);
		}
		/* Until it has come. */
		f->next = f->stop;
		break;
	}
	if (f->next > f->stop)
		f->next = f->stop;
}

static void show_progress(int64_t t)
{
	static int fd = -1;
	static int64_t shown = -1;
	char text[32];
	int n;

	if (t / NSEC == shown)
		return;
	if (shown < 0 && getenv("LFGEN_PROGRESS"))
		fd = open(getenv("LFGEN_PROGRESS"),
			  O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	shown = t / NSEC;
	n = snprintf(text, sizeof(text), "%lld\n", (long long)shown);
	if (fd >= 0 && pwrite(fd, text, n, 0) != n)
		die("writing the progress: %m");
}

/* --- the queue's statistics, by rtnetlink -------------------------------- */

static void open_qdisc(struct qdisc *q)
{
	if (*q->path) {
		q->fd = open(q->path, O_RDONLY | O_CLOEXEC);
		if (q->fd < 0)
			die("%s: %m", q->path);
		return;
	}
	enter(q->ns, -1);
	q->ifindex = if_nametoindex(q->dev);
	q->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (!q->ifindex || q->fd < 0)
		die("no device %s in namespace %s", q->dev, q->ns);
}

static struct rtattr *find(struct rtattr *rta, int len, int type)
{
	for (; RTA_OK(rta, len); rta = RTA_NEXT(rta, len))
		if ((rta->rta_type & NLA_TYPE_MASK) == type)
			return rta;
	return NULL;
}

static void *payload(struct rtattr *nest, int type, void *to, size_t size)
{
	struct rtattr *rta = nest ? find(RTA_DATA(nest), RTA_PAYLOAD(nest),
					 type) : NULL;

	memset(to, 0, size);
	if (rta)
		memcpy(to, RTA_DATA(rta),
		       RTA_PAYLOAD(rta) < size ? RTA_PAYLOAD(rta) : size);
	return to;
}

static void print_qdisc(struct qdisc *q, double t, struct nlmsghdr *h)
{
	struct tcmsg *tc = NLMSG_DATA(h);
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	struct rtattr *stats;

	stats = find(TCA_RTA(tc), TCA_PAYLOAD(h), TCA_STATS2);
	payload(stats, TCA_STATS_BASIC, &basic, sizeof(basic));
	payload(stats, TCA_STATS_QUEUE, &queue, sizeof(queue));
	printf("%c %.9f %u %u %u %u %llu %u\n", q->tag, t, queue.backlog,
	       queue.qlen, queue.drops, basic.packets,
	       (unsigned long long)basic.bytes, queue.requeues);
}

static void sample_qdisc(struct qdisc *q, double t)
{
	struct {
		struct nlmsghdr h;
		struct tcmsg tc;
	} req = {
		.h.nlmsg_len = sizeof(req),
		.h.nlmsg_type = RTM_GETQDISC,
		/* Without ECHO a single qdisc is told to listeners only. */
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO,
		.tc.tcm_family = AF_UNSPEC,
		.tc.tcm_ifindex = q->ifindex,
		.tc.tcm_parent = TC_H_ROOT,
	};
	struct nlmsghdr *h = (void *)buffer;
	char said[128];
	ssize_t n;

	if (*q->path) {
		n = pread(q->fd, said, sizeof(said), 0);
		if (n <= 0)
			die("reading %s: %m", q->path);
		printf("%c %.9f %.*s 0\n", q->tag, t, (int)n - 1, said);
		return;
	}
	if (send(q->fd, &req, sizeof(req), 0) < 0)
		die("asking for the queue: %m");
	n = recv(q->fd, buffer, 16384, 0);
	if (n < 0 || !NLMSG_OK(h, n) || h->nlmsg_type != RTM_NEWQDISC)
		die("no root qdisc on %s in %s", q->dev, q->ns);
	print_qdisc(q, t, h);
}

/* --- the plan ------------------------------------------------------------- */

static struct flow *new_flow(enum kind kind)
{
	struct flow *f = zalloc(sizeof(*f));

	if (nflows == MAX_FLOWS)
		die("more than %d flows", MAX_FLOWS);
	f->kind = kind;
	f->listener.fd = f->sender.fd = f->receiver.fd = f->space = -1;
	flows[nflows++] = f;
	return f;
}

static void expect(int got, int want, const char *line)
{
	if (got != want)
		die("plan: cannot read: %s", line);
}

/* Of a flow that is known to be of kind NEW, KEPT or ASKED. */
static void read_objects(struct flow *f, const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long request, size;
	int room = 0;
	double when;

	if (!file)
		die("%s: %m", path);
	for (;;) {
		int got = f->kind == ASKED ?
			fscanf(file, "%lf %llu %llu", &when, &request, &size) :
			fscanf(file, "%lf %llu", &when, &size);

		if (got == EOF)
			break;
		if (got != (f->kind == ASKED ? 3 : 2))
			die("%s: object %d is none", path, f->nobjects + 1);
		if (f->nobjects == room) {
			room = room ? 2 * room : 64;
			f->objects = realloc(f->objects, room * sizeof(*f->objects));
			if (!f->objects)
				die("out of memory");
		}
		f->objects[f->nobjects++] = (struct object){
			.when = ns_of(when),
			.request = f->kind == ASKED ? request : 0,
			.size = size,
		};
	}
	fclose(file);
	if (!f->nobjects)
		die("%s: no objects", path);
}

static void read_line(char *line)
{
	double start, stop, on = 0, off = 0;
	unsigned long long bytes;
	char word[16], how[8], path[64];
	struct flow *f;
	int skip;

	if (sscanf(line, "%15s %n", word, &skip) < 1)
		return;
	line += skip;
	if (!strcmp(word, "end")) {
		t_end = ns_of(atof(line));
	} else if (!strcmp(word, "sample")) {
		t_sample = ns_of(atof(line));
	} else if (!strcmp(word, "qsample")) {
		t_qsample = ns_of(atof(line));
	} else if (!strcmp(word, "queue") || !strcmp(word, "link")) {
		struct qdisc *q = &queues[nqueues++];

		if (nqueues > 2)
			die("plan: too many queues");
		q->tag = word[0];
		expect(sscanf(line, "%31s %31s", q->ns, q->dev), 2, line);
	} else if (!strcmp(word, "queuefile")) {
		struct qdisc *q = &queues[nqueues++];

		if (nqueues > 2)
			die("plan: too many queues");
		q->tag = 'q';
		expect(sscanf(line, "%63s", q->path), 1, line);
	} else if (!strcmp(word, "begin")) {
		expect(sscanf(line, "%95s", begin_path), 1, line);
	} else if (!strcmp(word, "tcp")) {
		f = new_flow(TCP);
		expect(sscanf(line, "%d %31s %31s %63s %d %31s %lf %lf %llu %d %d %lf %lf",
			      &f->id, f->src, f->dst, f->addr, &f->port, f->cc,
			      &start, &stop, &bytes, &f->sndbuf, &f->rcvbuf,
			      &on, &off),
		       13, line);
		f->bytes = bytes;
		goto times;
	} else if (!strcmp(word, "udp")) {
		f = new_flow(UDP);
		expect(sscanf(line, "%d %31s %31s %63s %d %lf %d %lf %lf %lf %lf",
			      &f->id, f->src, f->dst, f->addr, &f->port,
			      &f->rate, &f->size, &start, &stop, &on, &off),
		       11, line);
		goto times;
	} else if (!strcmp(word, "objects")) {
		f = new_flow(NEW);
		expect(sscanf(line, "%d %31s %31s %63s %d %31s %lf %lf %7s %63s",
			      &f->id, f->src, f->dst, f->addr, &f->port, f->cc,
			      &start, &stop, how, path),
		       10, line);
		f->kind = !strcmp(how, "new") ? NEW : !strcmp(how, "kept") ? KEPT : ASKED;
		read_objects(f, path);
		f->asked = f->objects[0].request;
		f->due = f->objects[0].size;
		if (f->kind == NEW)
			start = (double)f->objects[0].when / NSEC;
		goto times;
	} else {
		die("plan: unknown directive %s", word);
	}
	return;
times:
	f->start = f->next = ns_of(start);
	f->stop = ns_of(stop);
	f->on = ns_of(on);
	f->off = ns_of(off);
}

static void read_plan(const char *path)
{
	static char line[512];
	FILE *file = fopen(path, "r");

	if (!file)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		read_line(line);
	}
	fclose(file);
	if (!t_end || !t_sample || !t_qsample)
		die("plan: end, sample and qsample are needed");
}

static void tell_begin(void)
{
	FILE *file = fopen(begin_path, "w");

	if (!file || fprintf(file, "%lld\n", (long long)origin.tv_sec * NSEC) < 0 ||
	    fclose(file))
		die("%s: %m", begin_path);
}

static void dispatch(struct end *end, uint32_t events)
{
	switch (end->role) {
	case TIMER:
		break;
	case LISTENER:
		on_accept(end);
		break;
	case RECEIVER:
		on_readable(end);
		break;
	case SENDER:
		if (end->flow->kind == UDP)
			udp_send(end->flow);
		else if (end->flow->kind == ASKED && events & EPOLLIN)
			on_request(end);
		else if (events & (EPOLLERR | EPOLLHUP) &&
			 !(events & EPOLLOUT))
			die("flow %d: connection lost", end->flow->id);
		else
			on_writable(end);
		break;
	}
}

int main(int argc, char **argv)
{
	int64_t next_sample = 0, next_qsample = 0, due;
	struct epoll_event events[64];
	struct end timer = { .role = TIMER };
	int i, n;

	if (argc != 2) {
		fprintf(stderr, "usage: lfgen PLAN > SAMPLES\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	read_plan(argv[1]);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (epfd < 0 || timer.fd < 0)
		die("epoll or timerfd: %m");
	chunk = memfd_create("chunk", MFD_CLOEXEC);
	if (chunk < 0 || write(chunk, buffer, CHUNK) != CHUNK)
		die("a file in memory: %m");
	signal(SIGPIPE, SIG_IGN);
	watch(&timer, EPOLLIN | EPOLLET);
	for (i = 0; i < nqueues; i++)
		open_qdisc(&queues[i]);
	for (i = 0; i < nflows; i++)
		start_listener(flows[i]);
	/*
	 * Whatever the network's set-up took, a run begins at a full second of the
	 * clock, and so between the same two ticks.
	 */
	clock_gettime(CLOCK_MONOTONIC, &origin);
	origin = (struct timespec){ .tv_sec = origin.tv_sec + 1 };
	if (*begin_path)
		tell_begin();
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &origin, NULL);
	printf("o %lld.%09ld\n", (long long)origin.tv_sec, origin.tv_nsec);

	for (;;) {
		int64_t t = now_ns();
		struct itimerspec when = { 0 };
		bool waiting = true;

		replan = false;

		/* Stops before the last sample, so that a sample ends the run. */
		for (i = 0; i < nflows; i++)
			while (flows[i]->next <= t && flows[i]->next < t_end)
				act(flows[i], flows[i]->next);
		if (t >= next_qsample) {
			for (i = 0; i < nqueues; i++)
				sample_qdisc(&queues[i], (double)next_qsample / NSEC);
			next_qsample += t_qsample;
		}
		if (t >= next_sample) {
			for (i = 0; i < nflows; i++)
				sample_flow(flows[i], (double)next_sample / NSEC);
			next_sample += t_sample;
			show_progress(t);
		}
		if (t >= t_end)
			break;
		due = t_end;
		if (next_sample < due)
			due = next_sample;
		if (next_qsample < due)
			due = next_qsample;
		for (i = 0; i < nflows; i++)
			if (flows[i]->next < due)
				due = flows[i]->next;
		if (due <= t)
			continue;
		due += origin.tv_sec * NSEC + origin.tv_nsec;
		when.it_value.tv_sec = due / NSEC;
		when.it_value.tv_nsec = due % NSEC;
		timerfd_settime(timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
		/* A system call costs more than a packet: none but what must be. */
		while (waiting) {
			n = epoll_wait(epfd, events, 64, -1);
			for (i = 0; i < n; i++) {
				struct end *end = events[i].data.ptr;

				if (end->role == TIMER)
					waiting = false;
				else
					dispatch(end, events[i].events);
			}
			waiting = waiting && !replan;
		}
	}
	fflush(stdout);
	return ferror(stdout) ? 1 : 0;
}
