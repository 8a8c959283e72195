/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP sender as the algorithms see it, for BPF.
 *
 * The structures have the kernel's names and the members that are used.  Where a member
 * is in the kernel that loads the program, libbpf finds out there (CO-RE): so no
 * kernel's headers are needed to build it.
 */
#ifndef LONGFAT_BPF_TCP_H
#define LONGFAT_BPF_TCP_H

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define AF_INET6		10
#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_CA_NAME_MAX		16
#define ICSK_CA_PRIV_SIZE	sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	u8 bytes[16];
};

struct sock_common {
	u32 skc_daddr, skc_rcv_saddr;
	u16 skc_dport, skc_num, skc_family;
	u8 skc_state;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u32 sk_pacing_status;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state:5;
	u64 icsk_ca_priv[13];
};

struct minmax_sample {
	u32 t, v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	u64 mstamp;
	u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp, tcp_clock_cache;
	u32 snd_cwnd, snd_cwnd_clamp, snd_ssthresh;
	u32 prior_ssthresh;
	u32 lost_out, max_packets_out;
	u32 delivered;
	u64 first_tx_mstamp, delivered_mstamp;
	u32 srtt_us, mss_cache;
	u32 snd_una, snd_nxt;
	struct minmax rtt_min;
	struct tcp_rack rack;
	u8 is_cwnd_limited:1;
};

#pragma clang attribute pop

enum { SK_PACING_NONE };

enum { TCP_SYN_SENT = 2 };

enum tcp_ca_state {
	TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss
};

/* Its values are the same in every kernel that calls ->cwnd_event with this one. */
enum tcp_ca_event { CA_EVENT_TX_START };

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
#ifdef LF_HAVE_TX_START
	void (*cwnd_event_tx_start)(struct sock *sk);
#else
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr,
			   union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
	u32 flags;
	void (*init)(struct sock *sk);
};

#define sk_daddr	__sk_common.skc_daddr
#define sk_rcv_saddr	__sk_common.skc_rcv_saddr
#define sk_dport	__sk_common.skc_dport
#define sk_num		__sk_common.skc_num
#define sk_family	__sk_common.skc_family
#define sk_state	__sk_common.skc_state
#define sk_v6_daddr	__sk_common.skc_v6_daddr
#define sk_v6_rcv_saddr	__sk_common.skc_v6_rcv_saddr

/* The kernel's own. */
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static inline int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	return 0;
}

static inline void
tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
}

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static inline void *inet_csk_ca(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_priv;
}

/* Sequence numbers that wrap. */
static inline bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

#define after(a, b)	before(b, a)

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 val)
{
	tp->snd_cwnd = val;
}

static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tcp_snd_cwnd(tp) < tp->snd_ssthresh;
}

static inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tcp_in_slow_start(tp) &&
	       tcp_snd_cwnd(tp) < 2 * tp->max_packets_out;
}

#endif /* LONGFAT_BPF_TCP_H */
