// SPDX-License-Identifier: GPL-2.0
/*
 * lforder - count what arrives at a device out of order, while a command runs.
 *
 *	lforder NETNS DEV INTERVAL FILE COMMAND...
 *
 * Each INTERVAL seconds, and once before and after COMMAND, FILE gets a line
 * "r T PACKETS": the clock (CLOCK_MONOTONIC, seconds), and the packets that have
 * arrived behind a later one of their flow.  The exit status is COMMAND's.  What
 * goes wrong is a line "x TEXT" on standard output, as of lfgen.
 *
 * Linux counts the IPv4 identification of a connected socket up by one for each
 * packet, and one that is sent again has a new one.  So a packet whose number is
 * below that of one before it, of the same source address and ports, arrives
 * behind a later one.  Of TCP that is said of data only: what is sent without a
 * socket, a reset or the end of a connection, has the number 0.
 *
 * The filter of a packet socket sees every packet and keeps the highest number of
 * each flow.  It takes what is behind, so the socket's statistics have the count,
 * and refuses all others, which costs neither a copy nor a wake-up.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("x ", stdout);
	vprintf(format, args);
	putchar('\n');
	exit(1);
}

#define ORDER_FLOWS	65536

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), \
			    .off = (o), .imm = (i) })
#define LOAD(size, at)		INSN(BPF_LD | BPF_ABS | (size), 0, 0, 0, at)
#define MOVE(to, from)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define MOVE_IMM(to, value)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define ALU(op, to, from)	INSN(BPF_ALU64 | (op) | BPF_X, to, from, 0, 0)
#define ALU_IMM(op, to, value)	INSN(BPF_ALU64 | (op) | BPF_K, to, 0, 0, value)
#define JUMP(op, a, b, by)	INSN(BPF_JMP | (op) | BPF_X, a, b, by, 0)
#define JUMP_IMM(op, a, v, by)	INSN(BPF_JMP | (op) | BPF_K, a, 0, by, v)
#define READ(to, base, at)	INSN(BPF_LDX | BPF_MEM | BPF_W, to, base, at, 0)
#define WRITE(base, at, from)	INSN(BPF_STX | BPF_MEM | BPF_W, base, from, at, 0)
#define CALL(function)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* One instruction in two places. */
#define MAP(to, fd)	INSN(BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, fd)
#define MAP_REST	INSN(0, 0, 0, 0, 0)

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int order_filter(void)
{
	enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };
	enum { FLOW = -8, ID = -12 };			/* on the stack */
	enum { DATA = 11, FIRST = 31, NONE = 40, BEHIND = 42 };	/* labels */
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_LRU_HASH,
		.key_size = 8,
		.value_size = 4,
		.max_entries = ORDER_FLOWS,
	};
	union bpf_attr load = { 0 };
	int flows_fd, fd;

	/* Kernels before 5.11 count a map as locked memory. */
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	flows_fd = bpf(BPF_MAP_CREATE, &map);
	if (flows_fd < 0)
		die("counting what is reordered: BPF map: %m");

	/* Offsets are those of IP without options, which nobody here sends. */
	struct bpf_insn program[] = {
		MOVE(R6, R1),			/* where LOAD wants it */
		LOAD(BPF_B, 9),			/* protocol */
		[2] = JUMP_IMM(BPF_JEQ, R0, IPPROTO_UDP, DATA - 3),
		[3] = JUMP_IMM(BPF_JNE, R0, IPPROTO_TCP, NONE - 4),
		LOAD(BPF_B, 32),		/* words of TCP's header << 4 */
		ALU_IMM(BPF_RSH, R0, 2),
		ALU_IMM(BPF_AND, R0, 0x3c),
		MOVE(R7, R0),
		ALU_IMM(BPF_ADD, R7, 20),
		LOAD(BPF_H, 2),			/* length of all */
		[10] = JUMP(BPF_JLE, R0, R7, NONE - 11),
		[DATA] = LOAD(BPF_W, 12),	/* source address */
		WRITE(FP, FLOW, R0),
		LOAD(BPF_W, 20),		/* both ports */
		WRITE(FP, FLOW + 4, R0),
		LOAD(BPF_H, 4),			/* identification */
		MOVE(R7, R0),
		MAP(R1, flows_fd),
		MAP_REST,
		MOVE(R2, FP),
		ALU_IMM(BPF_ADD, R2, FLOW),
		CALL(BPF_FUNC_map_lookup_elem),
		[22] = JUMP_IMM(BPF_JEQ, R0, 0, FIRST - 23),
		READ(R1, R0, 0),		/* the highest so far */
		MOVE(R2, R7),
		ALU(BPF_SUB, R2, R1),
		ALU_IMM(BPF_AND, R2, 0xffff),
		[27] = JUMP_IMM(BPF_JGT, R2, 0x7fff, BEHIND - 28),
		WRITE(R0, 0, R7),
		MOVE_IMM(R0, 0),
		EXIT,
		[FIRST] = WRITE(FP, ID, R7),
		MAP(R1, flows_fd),
		MAP_REST,
		MOVE(R2, FP),
		ALU_IMM(BPF_ADD, R2, FLOW),
		MOVE(R3, FP),
		ALU_IMM(BPF_ADD, R3, ID),
		MOVE_IMM(R4, BPF_ANY),
		CALL(BPF_FUNC_map_update_elem),
		[NONE] = MOVE_IMM(R0, 0),
		EXIT,
		[BEHIND] = MOVE_IMM(R0, 1),
		EXIT,
	};

	load.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	load.insns = (uintptr_t)program;
	load.insn_cnt = ARRAY_SIZE(program);
	load.license = (uintptr_t)"GPL";
	fd = bpf(BPF_PROG_LOAD, &load);
	if (fd < 0)
		die("counting what is reordered: BPF program: %m");
	return fd;
}

static int open_order(const char *ns, const char *dev)
{
	struct sockaddr_ll where = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
	};
	int fd, filter = order_filter();
	char path[128];

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("cannot enter namespace %s: %m", ns);
	close(fd);
	where.sll_ifindex = if_nametoindex(dev);
	/* Without a protocol it sees nothing before the filter is there. */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!where.sll_ifindex || fd < 0)
		die("no device %s in namespace %s", dev, ns);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)))
		die("counting what is reordered: filter: %m");
	if (bind(fd, (void *)&where, sizeof(where)))
		die("watching %s in namespace %s: %m", dev, ns);
	return fd;
}

static void sample(int fd, FILE *out)
{
	static unsigned long long reordered;
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);
	struct timespec now;

	/* Also those for which the socket had no room: nobody reads them. */
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		die("PACKET_STATISTICS: %m");
	reordered += stats.tp_packets;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(out, "r %lld.%09ld %llu\n", (long long)now.tv_sec, now.tv_nsec,
		reordered);
}

int main(int argc, char **argv)
{
	struct timespec interval;
	double seconds;
	sigset_t child;
	int fd, home, status;
	FILE *out;
	pid_t pid;

	if (argc < 6)
		die("usage: lforder NETNS DEV INTERVAL FILE COMMAND...");
	seconds = atof(argv[3]);
	if (!(seconds >= 1e-3 && seconds < 1e6))
		die("%s s is no interval", argv[3]);
	interval.tv_sec = (time_t)seconds;
	interval.tv_nsec = (long)((seconds - (double)interval.tv_sec) * 1e9);
	out = fopen(argv[4], "we");
	if (!out)
		die("%s: %m", argv[4]);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	/* The command has its own namespace to be in; only the socket stays in this one. */
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	fd = open_order(argv[1], argv[2]);
	if (home < 0 || setns(home, CLONE_NEWNET))
		die("cannot leave namespace %s: %m", argv[1]);
	sample(fd, out);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		sigprocmask(SIG_UNBLOCK, &child, NULL);
		execv(argv[5], argv + 5);
		die("%s: %m", argv[5]);
	}
	while (sigtimedwait(&child, NULL, &interval) < 0)
		sample(fd, out);
	sample(fd, out);
	if (fclose(out) || waitpid(pid, &status, 0) != pid)
		die("%s: %m", argv[4]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
