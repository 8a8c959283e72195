/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of an algorithm that is BPF.  A file foo.bpf.c includes tcp_foo.c and says
 * LF_HOOKS(foo) if these five are the algorithm's hooks, named as they are there.
 */
#ifndef LONGFAT_HOOKS_H
#define LONGFAT_HOOKS_H

#include <net/tcp.h>
#include <bpf/bpf_tracing.h>

/* A test may write down what the hooks see and do. */
#ifdef LF_RECORD
#include LF_RECORD
#else
#define lf_record_call(hook, sk, acked, call)	(call)
#define lf_record_value(hook, sk, call)		(call)
#endif

#ifdef LF_HAVE_TX_START
#define LF_HOOK_TX_START(algo)						\
SEC("struct_ops")							\
void BPF_PROG(lf_cwnd_event_tx_start, struct sock *sk)			\
{									\
	lf_record_call(TX_START, sk, 0, algo##_cwnd_event_tx_start(sk)); \
}
#define LF_OP_TX_START	.cwnd_event_tx_start = (void *)lf_cwnd_event_tx_start
#else
#define LF_HOOK_TX_START(algo)						\
SEC("struct_ops")							\
void BPF_PROG(lf_cwnd_event, struct sock *sk, int event)		\
{									\
	if (event == CA_EVENT_TX_START)					\
		lf_record_call(TX_START, sk, 0,				\
			       algo##_cwnd_event(sk, event));		\
}
#define LF_OP_TX_START	.cwnd_event = (void *)lf_cwnd_event
#endif

#define LF_HOOKS(algo)							\
SEC("struct_ops")							\
void BPF_PROG(lf_init, struct sock *sk)					\
{									\
	lf_record_call(INIT, sk, 0, algo##_init(sk));			\
}									\
									\
SEC("struct_ops")							\
void BPF_PROG(lf_cong_avoid, struct sock *sk, u32 ack, u32 acked)	\
{									\
	lf_record_call(CONG_AVOID, sk, acked,				\
		       algo##_cong_avoid(sk, ack, acked));		\
}									\
									\
SEC("struct_ops")							\
u32 BPF_PROG(lf_ssthresh, struct sock *sk)				\
{									\
	return lf_record_value(SSTHRESH, sk, algo##_ssthresh(sk));	\
}									\
									\
SEC("struct_ops")							\
u32 BPF_PROG(lf_undo_cwnd, struct sock *sk)				\
{									\
	return lf_record_value(UNDO_CWND, sk, algo##_undo_cwnd(sk));	\
}									\
									\
LF_HOOK_TX_START(algo)							\
									\
SEC(".struct_ops")							\
struct tcp_congestion_ops lf_##algo = {					\
	.init		= (void *)lf_init,				\
	.cong_avoid	= (void *)lf_cong_avoid,			\
	.ssthresh	= (void *)lf_ssthresh,				\
	.undo_cwnd	= (void *)lf_undo_cwnd,				\
	LF_OP_TX_START,							\
	.name		= #algo,					\
}

#endif /* LONGFAT_HOOKS_H */
