/* SPDX-License-Identifier: GPL-2.0 */
/* For bpf/shim/longfat/hooks.h: writes each call into a ring buffer. */
#ifndef LONGFAT_TEST_RECORD_BPF_H
#define LONGFAT_TEST_RECORD_BPF_H

#include "record.h"

struct tcp_sock___record {
	u32 prior_cwnd;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} lf_records SEC(".maps");

#define prior_cwnd_of(tp)	(((struct tcp_sock___record *)(tp))->prior_cwnd)

static noinline void lf_sender_of(struct lf_sender *at, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	at->tcp_mstamp = tp->tcp_mstamp;
	at->tcp_clock_cache = tp->tcp_clock_cache;
	at->snd_cwnd = tp->snd_cwnd;
	at->snd_cwnd_clamp = tp->snd_cwnd_clamp;
	at->snd_ssthresh = tp->snd_ssthresh;
	at->prior_cwnd = prior_cwnd_of(tp);
	at->prior_ssthresh = tp->prior_ssthresh;
	at->lost_out = tp->lost_out;
	at->max_packets_out = tp->max_packets_out;
	at->delivered = tp->delivered;
	at->srtt_us = tp->srtt_us;
	at->mss_cache = tp->mss_cache;
	at->snd_una = tp->snd_una;
	at->snd_nxt = tp->snd_nxt;
	at->rack_mstamp = tp->rack.mstamp;
	at->rack_rtt_us = tp->rack.rtt_us;
	at->min_rtt_us = tcp_min_rtt(tp);
	at->pacing_status = sk->sk_pacing_status;
	at->tcp_state = sk->sk_state;
	at->ca_state = inet_csk(sk)->icsk_ca_state;
	at->is_cwnd_limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

static inline void lf_state_of(u64 *at, struct sock *sk)
{
	const u64 *state = inet_csk_ca(sk);
	int i;

#pragma unroll
	for (i = 0; i < 13; i++)
		at[i] = state[i];
}

/* One connection at a time records: its socket's lock keeps its calls apart. */
struct lf_record lf_this_call;

static inline void lf_record_begin(u32 hook, struct sock *sk, u32 acked)
{
	struct lf_record *r = &lf_this_call;

	r->sk = (u64)sk;
	r->hook = hook;
	r->acked = acked;
	lf_sender_of(&r->before, sk);
	lf_state_of(r->state, sk);
}

static inline void lf_record_end(struct sock *sk, u32 value)
{
	struct lf_record *r = &lf_this_call;

	r->value = value;
	r->cwnd = tcp_sk(sk)->snd_cwnd;
	r->ssthresh = tcp_sk(sk)->snd_ssthresh;
	lf_state_of(r->state_after, sk);
	bpf_ringbuf_output(&lf_records, r, sizeof(*r), 0);
}

#define lf_record_call(hook, sk, acked, call) do {			\
	lf_record_begin(LF_HOOK_##hook, sk, acked);			\
	call;								\
	lf_record_end(sk, 0);						\
} while (0)

#define lf_record_value(hook, sk, call) ({				\
	u32 value_;							\
									\
	lf_record_begin(LF_HOOK_##hook, sk, 0);				\
	value_ = call;							\
	lf_record_end(sk, value_);					\
	value_; })

#endif /* LONGFAT_TEST_RECORD_BPF_H */
