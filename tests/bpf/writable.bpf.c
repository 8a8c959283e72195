// SPDX-License-Identifier: GPL-2.0
/*
 * A hook that writes a member of a sender: the kernel loads it if BPF may.
 *
 *	OF, MEMBER, TYPE	the structure, the member and its type
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct sock;

struct OF {
	TYPE MEMBER;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	char name[16];
};

SEC("struct_ops")
__u32 BPF_PROG(lf_ssthresh, struct OF *of)
{
	of->MEMBER = 1;
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops lf_writable = {
	.ssthresh = (void *)lf_ssthresh,
	.name = "lf_writable",
};

char lf_license[] SEC("license") = "GPL";
