/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP sender as congestion control sees it: the fields that the algorithms read
 * and write, and the core's functions that they call.
 */
#ifndef LONGFAT_SHIM_TCP_H
#define LONGFAT_SHIM_TCP_H

#include <linux/inet_diag.h>
#include <linux/module.h>

#define AF_INET			2
#define TCP_CONG_NON_RESTRICTED	1
#define TCP_INIT_CWND		10
#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_CA_NAME_MAX		16
#define MAX_TCP_HEADER		320
#define RTAX_INITCWND		11
#define SOCK_NOSPACE		2
#define ICSK_CA_PRIV_SIZE	104
#define TCP_ECN_QUEUE_CWR	2
#define TCP_ECN_MODE_ACCECN	16

struct in6_addr {
	u8 bytes[16];
};

struct dst_entry {
	u32 initcwnd;
};

struct net {
	struct {
		u8 sysctl_tcp_slow_start_after_idle;
		u8 sysctl_tcp_min_tso_segs;
		u8 sysctl_tcp_tso_rtt_log;
		int sysctl_tcp_pacing_ss_ratio;
		int sysctl_tcp_pacing_ca_ratio;
	} ipv4;
};

/* For those who are in no other; as the kernel begins with. */
static struct net init_net = { .ipv4 = { 1, 2, 9, 200, 120 } };

typedef struct {
	int refs;
} refcount_t;

struct minmax {
	u32 v;
};

struct sk_buff {
	struct sk_buff *next;
};

struct sk_buff_head {
	struct sk_buff *first;
};

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT };

struct socket {
	unsigned long flags;
};

struct sock {
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	struct net *sk_net;
	struct dst_entry *sk_dst;
	struct socket *sk_socket;	/* NULL: nobody has accepted it */
	u32 sk_pacing_status;
	u32 sk_gso_max_size;
	u32 sk_rcv_saddr, sk_daddr;
	refcount_t sk_wmem_alloc;	/* 1: nothing */
	struct sk_buff_head sk_write_queue;
	u16 sk_gso_max_segs;
	u16 sk_family, sk_num, sk_dport;
	u8 sk_state, sk_pacing_shift;
};

enum tcp_ca_state {
	TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss
};

enum tcp_ca_event { CA_EVENT_TX_START };

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u32 icsk_rto;
	u8 icsk_ca_state;
	u8 icsk_retransmits;
	struct {
		u32 enabled;
	} icsk_mtup;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns;
	u64 first_tx_mstamp, delivered_mstamp;
	u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_ssthresh;
	u32 prior_cwnd, prior_ssthresh;
	u32 packets_out, lost_out, max_packets_out;
	u32 delivered, delivered_ce, lost, data_segs_out;
	u32 srtt_us, mss_cache, reordering, lsndtime;
	u32 snd_cwnd_used, snd_cwnd_stamp;
	u32 rate_delivered, rate_interval_us;
	u32 snd_una, snd_nxt, snd_wnd, write_seq;
	struct minmax rtt_min;
	struct {
		u64 mstamp;
		u32 rtt_us;
		u8 reo_wnd_steps;
	} rack;
	bool is_cwnd_limited, rate_app_limited, reord_seen, syn_data;
	u8 ecn_flags;
};

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, acked_sacked;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event_tx_start)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, u32 ack, int flag,
			     const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr,
			   union tcp_cc_info *info);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	u32 flags;
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
};

/* What the module registered. */
static const struct tcp_congestion_ops *registered[16];
static u32 registered_count;

static inline bool tcp_ecn_mode_accecn(const struct tcp_sock *tp)
{
	return tp->ecn_flags & TCP_ECN_MODE_ACCECN;
}

static inline int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	if (!ops->ssthresh || !ops->undo_cwnd ||
	    !(ops->cong_avoid || ops->cong_control))
		return -EINVAL;
	registered[registered_count++] = ops;
	return 0;
}

static inline void
tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
	registered_count--;
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

static inline struct net *sock_net(const struct sock *sk)
{
	return sk->sk_net;
}

static inline void sock_net_set(struct sock *sk, struct net *net)
{
	sk->sk_net = net;
}

#define write_pnet(at, net)	(*(at) = (net))

static inline void minmax_reset(struct minmax *m, u32 when, u32 value)
{
	m->v = value;
}

static inline void refcount_set(refcount_t *r, int refs)
{
	r->refs = refs;
}

static inline struct sk_buff *alloc_skb(size_t size, int flags)
{
	return calloc(1, sizeof(struct sk_buff) + size);
}

static inline void kfree_skb(struct sk_buff *skb)
{
	free(skb);
}

static inline void skb_queue_head_init(struct sk_buff_head *queue)
{
	queue->first = NULL;
}

/* No queue here has more than one. */
static inline void __skb_queue_tail(struct sk_buff_head *queue,
				    struct sk_buff *skb)
{
	queue->first = skb;
}

static inline void __skb_unlink(struct sk_buff *skb, struct sk_buff_head *queue)
{
	queue->first = NULL;
}

static inline void rcu_read_lock(void)
{
}

static inline void rcu_read_unlock(void)
{
}

static inline struct dst_entry *__sk_dst_get(const struct sock *sk)
{
	return sk->sk_dst;
}

static inline u32 dst_metric(const struct dst_entry *dst, int metric)
{
	return metric == RTAX_INITCWND ? dst->initcwnd : 0;
}

static inline void ipv6_addr_set_v4mapped(u32 addr, struct in6_addr *mapped)
{
	memset(mapped, 0, sizeof(*mapped));
	memset(mapped->bytes + 10, 0xff, 2);
	memcpy(mapped->bytes + 12, &addr, sizeof(addr));
}

/* Sequence numbers and counters that wrap. */
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
	WARN_ON_ONCE((s32)val <= 0);
	tp->snd_cwnd = val;
}

static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tcp_snd_cwnd(tp) < tp->snd_ssthresh;
}

static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	return state == TCP_CA_CWR || state == TCP_CA_Recovery;
}

static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_in_cwnd_reduction(sk))
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2));
}

static inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.v;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->lost_out;
}

static inline u32 tcp_wnd_end(const struct tcp_sock *tp)
{
	return tp->snd_una + tp->snd_wnd;
}

static inline struct sk_buff *tcp_send_head(const struct sock *sk)
{
	return sk->sk_write_queue.first;
}

static inline int sk_wmem_alloc_get(const struct sock *sk)
{
	return sk->sk_wmem_alloc.refs - 1;
}

static inline void sk_pacing_shift_update(struct sock *sk, u8 shift)
{
	sk->sk_pacing_shift = shift;
}

/* In jiffies, of the same clock. */
#define tcp_jiffies32	((u32)(tp->tcp_mstamp / (USEC_PER_SEC / HZ)))

#define cmpxchg(at, old, new) ({					\
	__typeof__(*(at)) was_ = *(at);					\
	if (was_ == (old))						\
		*(at) = (new);						\
	was_; })

static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->is_cwnd_limited ||
	       (tcp_in_slow_start(tp) &&
		tcp_snd_cwnd(tp) < 2ULL * tp->max_packets_out);
}

/* One packet for each acknowledged, up to ssthresh; the rest is returned. */
static inline u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 w = min_t(u64, (u64)tcp_snd_cwnd(tp) + acked, tp->snd_ssthresh);

	acked -= w - tcp_snd_cwnd(tp);
	tcp_snd_cwnd_set(tp, min(w, tp->snd_cwnd_clamp));
	return acked;
}

/* Whole packets only: exact where a window's worth is acknowledged one by one. */
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	for (tp->snd_cwnd_cnt += acked; tp->snd_cwnd_cnt >= tp->snd_cwnd;) {
		tp->snd_cwnd_cnt -= tp->snd_cwnd;
		tcp_snd_cwnd_set(tp, min(tp->snd_cwnd + 1, tp->snd_cwnd_clamp));
	}
}

static inline u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

#endif /* LONGFAT_SHIM_TCP_H */
