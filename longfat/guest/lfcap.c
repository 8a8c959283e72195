// SPDX-License-Identifier: GPL-2.0
/*
 * lfcap - write the packets of some devices into pcapng files, while a command runs.
 *
 *	lfcap SNAP FILE.pcapng NETNS DEV [NETNS DEV]... [FILE.pcapng ...] -- COMMAND...
 *
 * Each packet is kept with its first SNAP bytes, its length, its direction and the time in
 * nanoseconds (CLOCK_REALTIME) at which it was at the device: behind the queue of what leaves
 * it, before any of what comes in.  A file has an interface for each device, named "NETNS DEV".
 *
 * It begins before COMMAND and ends with it; what comes later is not kept.  The exit status is
 * COMMAND's.  What goes wrong is a line "x TEXT" on standard output, as of lfgen: also if the
 * kernel had no room for a packet.
 *
 * The sockets hold packets until they are taken, many at once, each few milliseconds: to wake
 * for each would cost more than the packet.  (A ring that the kernel shares with us would cost
 * less, but User-Mode Linux cannot map one.)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEVICES	256
#define TAKE_MS		5
#define ROOM		(64 << 20)	/* bytes, of a socket: 10 Gbit/s for 20 ms */
#define BATCH		64		/* packets */
#define MAX_SNAP	65536
#define BUFFER		(1 << 20)	/* of a file */

struct device {
	FILE		*file;
	const char	*path, *ns, *dev;
	uint32_t	interface;	/* its number in the file */
	int		fd;
};

static struct device devices[MAX_DEVICES];
static unsigned int count;
static uint64_t end = UINT64_MAX;	/* ns */
static uint32_t snap;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("x capture: ", stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	_exit(1);		/* the command ends with us */
}

/*
 * pcapng: blocks of words, each with its type and, at both ends, its length.
 */
#define SECTION		0x0a0d0d0a
#define INTERFACE	1
#define PACKET		6
#define IF_NAME		2
#define IF_TSRESOL	9
#define EPB_FLAGS	2

static uint32_t padded(uint32_t length)
{
	return (length + 3) & ~3u;
}

static void put(struct device *at, const void *data, uint32_t length)
{
	static const char zero[4];

	if (fwrite(data, 1, length, at->file) != length ||
	    fwrite(zero, 1, padded(length) - length, at->file) != padded(length) - length)
		die("%s: %m", at->path);
}

static void put_option(struct device *at, uint16_t code, const void *data, uint16_t length)
{
	put(at, (uint16_t[]){ code, length }, 4);
	put(at, data, length);
}

static void begin_file(struct device *at)
{
	/* magic, version 1.0, a section of unknown length */
	static const uint32_t section[] = {
		SECTION, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28
	};

	at->file = fopen(at->path, "we");
	if (!at->file)
		die("%s: %m", at->path);
	setvbuf(at->file, NULL, _IOFBF, BUFFER);
	put(at, section, sizeof(section));
}

static void put_interface(struct device *at)
{
	uint8_t nanoseconds = 9;
	uint32_t length;
	char name[128];

	snprintf(name, sizeof(name), "%s %s", at->ns, at->dev);
	length = 20 + 4 + padded(strlen(name)) + 8 + 4;
	put(at, (uint32_t[]){ INTERFACE, length, 1 /* Ethernet */, snap }, 16);
	put_option(at, IF_NAME, name, strlen(name));
	put_option(at, IF_TSRESOL, &nanoseconds, 1);
	put(at, (uint32_t[]){ 0, length }, 8);
}

static void put_packet(struct device *at, struct mmsghdr *packet)
{
	const struct sockaddr_ll *from = packet->msg_hdr.msg_name;
	uint32_t flags = from->sll_pkttype == PACKET_OUTGOING ? 2 : 1;
	uint32_t kept = packet->msg_len < snap ? packet->msg_len : snap;
	uint32_t length = 32 + padded(kept) + 8 + 4;
	uint32_t head[] = { PACKET, length, at->interface, 0, 0, kept, packet->msg_len };
	struct cmsghdr *stamp = CMSG_FIRSTHDR(&packet->msg_hdr);
	struct timespec t;
	uint64_t ns;

	if (!stamp || stamp->cmsg_type != SCM_TIMESTAMPNS)
		die("a packet of %s in %s has no time", at->dev, at->ns);
	memcpy(&t, CMSG_DATA(stamp), sizeof(t));
	ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (ns > end)
		return;
	head[3] = (uint32_t)(ns >> 32);
	head[4] = (uint32_t)ns;
	put(at, head, sizeof(head));
	put(at, packet->msg_hdr.msg_iov->iov_base, kept);
	put_option(at, EPB_FLAGS, &flags, 4);
	put(at, (uint32_t[]){ 0, length }, 8);
}

static void drain(struct device *at)
{
	static char data[BATCH][MAX_SNAP], control[BATCH][CMSG_SPACE(sizeof(struct timespec))];
	static struct sockaddr_ll from[BATCH];
	static struct mmsghdr packets[BATCH];
	static struct iovec iov[BATCH];
	int i, n;

	do {
		for (i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){ data[i], snap };
			packets[i].msg_hdr = (struct msghdr){
				.msg_name = &from[i], .msg_namelen = sizeof(from[i]),
				.msg_iov = &iov[i], .msg_iovlen = 1,
				.msg_control = control[i], .msg_controllen = sizeof(control[i]),
			};
		}
		n = recvmmsg(at->fd, packets, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
		if (n < 0 && errno != EAGAIN)
			die("%s in namespace %s: %m", at->dev, at->ns);
		for (i = 0; i < n; i++)
			put_packet(at, &packets[i]);
	} while (n == BATCH);
}

static void open_device(struct device *at)
{
	struct sockaddr_ll where = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	int room = ROOM, yes = 1;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", at->ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("cannot enter namespace %s: %m", at->ns);
	close(fd);
	where.sll_ifindex = if_nametoindex(at->dev);
	/* Without a protocol it sees nothing before all is there. */
	at->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (!where.sll_ifindex || at->fd < 0)
		die("no device %s in namespace %s", at->dev, at->ns);
	if (setsockopt(at->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(at->fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) ||
	    bind(at->fd, (void *)&where, sizeof(where)))
		die("%s in namespace %s: %m", at->dev, at->ns);
}

static void close_device(struct device *at)
{
	struct tpacket_stats stats;
	socklen_t length = sizeof(stats);

	if (getsockopt(at->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length))
		die("PACKET_STATISTICS: %m");
	if (stats.tp_drops)
		die("%u packets of %s in %s found no room: this kernel does not keep up",
		    stats.tp_drops, at->dev, at->ns);
	if (fflush(at->file))
		die("%s: %m", at->path);
}

/* What there is to capture, up to "--"; returns the command. */
static char **arguments(char **word)
{
	struct device last = { 0 };

	while (*word && strcmp(*word, "--")) {
		if (strstr(*word, ".pcapng")) {
			last = (struct device){ .path = *word++ };
			begin_file(&last);
			continue;
		}
		if (!last.file || !word[1] || count == MAX_DEVICES)
			die("%s: no device of a file, or too many", *word);
		last.ns = *word++;
		last.dev = *word++;
		devices[count++] = last;
		put_interface(&last);
		last.interface++;
	}
	if (!*word || !word[1] || !count)
		die("usage: lfcap SNAP FILE.pcapng NETNS DEV... -- COMMAND...");
	return word + 1;
}

int main(int argc, char **argv)
{
	struct timespec now;
	struct pollfd ended;
	sigset_t child;
	int home, status;
	unsigned int i;
	char **command;
	pid_t pid;

	snap = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	if (snap < 1 || snap > MAX_SNAP)
		die("usage: lfcap SNAP FILE.pcapng NETNS DEV... -- COMMAND...");
	command = arguments(argv + 2);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	/* The command has its own namespace to be in; only the sockets stay in theirs. */
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < count; i++)
		open_device(&devices[i]);
	if (home < 0 || setns(home, CLONE_NEWNET))
		die("cannot leave a namespace: %m");
	ended = (struct pollfd){ .fd = signalfd(-1, &child, SFD_CLOEXEC), .events = POLLIN };
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_UNBLOCK, &child, NULL);
		execv(command[0], command);
		die("%s: %m", command[0]);
	}
	while (!poll(&ended, 1, TAKE_MS)) {
		for (i = 0; i < count; i++)
			drain(&devices[i]);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	end = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid: %m");
	for (i = 0; i < count; i++) {
		drain(&devices[i]);
		close_device(&devices[i]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
