// SPDX-License-Identifier: GPL-2.0
/* The kernel's own Reno behind hooks that are BPF: what these cost by themselves. */
#include <net/tcp.h>
#include <bpf/bpf_tracing.h>

u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;

SEC("struct_ops")
u32 BPF_PROG(lf_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(lf_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(lf_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops lf_reno = {
	.ssthresh	= (void *)lf_ssthresh,
	.cong_avoid	= (void *)lf_cong_avoid,
	.undo_cwnd	= (void *)lf_undo_cwnd,
	.name		= "reno_by_bpf",
};

MODULE_LICENSE("GPL");
