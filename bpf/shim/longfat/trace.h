/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of an algorithm that is BPF: those of include/longfat/trace.h, through a ring
 * buffer to longfat-bpf trace.  Switched off, an event costs a load and a branch.  Whoever listens
 * says until when, again and again: so an end without a word is noticed.
 */
#ifndef LONGFAT_TRACE_H
#define LONGFAT_TRACE_H

#include <net/tcp.h>
#include <bpf/bpf_endian.h>
#include <longfat/about.h>

#define LF_TRACE_ARG(type, name)	, type name
#define LF_TRACE_ABOUT(type, name)	{ #name },

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} lf_events SEC(".maps");

struct lf_trace_about lf_trace __attribute__((section(".data.trace"), used)) = {
	.layout = LF_LAYOUT,
	.reasons = { LF_TRACE_REASONS },
	.fields = { LF_TRACE_FIELDS(LF_TRACE_ABOUT) },
};

/* IPv4 as mapped addresses; 16 bytes each, as words of the network's order. */
static inline void lf_trace_addresses(const struct sock *sk,
				      struct lf_trace_event *event)
{
	u32 *saddr = (u32 *)event->saddr, *daddr = (u32 *)event->daddr;

	/* A kernel without IPv6 has no such members. */
	if (sk->sk_family == AF_INET6 && bpf_core_field_exists(sk->sk_v6_daddr)) {
		__builtin_memcpy(saddr, &sk->sk_v6_rcv_saddr, 16);
		__builtin_memcpy(daddr, &sk->sk_v6_daddr, 16);
		return;
	}
	saddr[0] = 0;
	saddr[1] = 0;
	saddr[2] = bpf_htonl(0xffff);
	saddr[3] = sk->sk_rcv_saddr;
	daddr[0] = 0;
	daddr[1] = 0;
	daddr[2] = saddr[2];
	daddr[3] = sk->sk_daddr;
}

#define LF_TRACE_DEFINE(algo)						\
static inline bool __maybe_unused trace_##algo##_enabled(void)		\
{									\
	u64 until = READ_ONCE(lf_trace.until_ns);			\
									\
	if (until && bpf_ktime_get_ns() > until) {			\
		lf_trace.until_ns = 0;					\
		until = 0;						\
	}								\
	return until;							\
}									\
									\
static noinline __maybe_unused void					\
lf_trace_emit(const struct sock *sk, u8 reason, u32 cwnd,		\
	      const s64 *fields)					\
{									\
	const struct tcp_sock *tp = tcp_sk(sk);				\
	struct lf_trace_event *event;					\
	int i;								\
									\
	event = bpf_ringbuf_reserve(&lf_events, sizeof(*event), 0);	\
	if (!event) {							\
		__sync_fetch_and_add(&lf_trace.lost, 1);		\
		return;							\
	}								\
	event->when_ns = bpf_ktime_get_ns();				\
	lf_trace_addresses(sk, event);					\
	event->family = sk->sk_family;					\
	event->sport = sk->sk_num;					\
	event->dport = bpf_ntohs(sk->sk_dport);				\
	event->reason = reason;						\
	event->cwnd = cwnd;						\
	event->ssthresh = tp->snd_ssthresh;				\
	event->srtt_us = tp->srtt_us >> 3;				\
	event->min_rtt_us = tcp_min_rtt(tp);				\
	for (i = 0; i < LF_FIELDS_MAX; i++)				\
		event->fields[i] = fields[i];				\
	bpf_ringbuf_submit(event, 0);					\
}									\
									\
static inline void trace_##algo(const struct sock *sk, u8 reason, u32 cwnd \
				LF_TRACE_FIELDS(LF_TRACE_ARG))		\
{									\
	s64 fields[LF_FIELDS_MAX] = { LF_TRACE_FIELDS(LF_TRACE_VALUE) };	\
									\
	if (trace_##algo##_enabled())					\
		lf_trace_emit(sk, reason, cwnd, fields);		\
}

#define LF_TRACE_VALUE(type, name)	name,
/* One more macro, so that LF_TRACE_NAME is expanded before it is pasted. */
#define LF_TRACE_DEFINE_NAME(algo)	LF_TRACE_DEFINE(algo)
LF_TRACE_DEFINE_NAME(LF_TRACE_NAME)

#endif /* LONGFAT_TRACE_H */
