// SPDX-License-Identifier: GPL-2.0
/* An algorithm in BPF that writes where it may not. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct sock {};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

SEC("struct_ops")
__u32 BPF_PROG(mine_ssthresh, struct sock *sk)
{
	*(__u32 *)sk = 0;
	return 2;
}

SEC("struct_ops")
void BPF_PROG(mine_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(mine_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops mine = {
	.ssthresh	= (void *)mine_ssthresh,
	.cong_avoid	= (void *)mine_cong_avoid,
	.undo_cwnd	= (void *)mine_undo_cwnd,
	.name		= "refused",
};

char LICENSE[] SEC("license") = "GPL";
