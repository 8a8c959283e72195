/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One trace event for each algorithm, all of one shape: longfat:<algorithm>.
 *
 * Every event says which connection (ports and addresses, as the kernel's own
 * tcp:tcp_probe), why it was emitted, the congestion window, the slow start
 * threshold and the smoothed and minimum round-trip time; the algorithm's own
 * fields follow.  An algorithm defines, before it includes this header:
 *
 *	#define LF_TRACE_NAME		foo
 *	#define LF_TRACE_REASONS	{ FOO_LOSS, "loss" }, { FOO_IDLE, "idle" }
 *	#define LF_TRACE_FIELDS(F)	F(u32, layer) F(u32, rate)
 *
 * and calls trace_foo(sk, reason, cwnd, layer, rate).  Switched off, an event costs a
 * no-op.
 *
 * The tracing core reads this header several times over, hence its guard.
 */
#ifndef LONGFAT_TRACE_ONCE
#define LONGFAT_TRACE_ONCE

#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

/* Both ends of a connection, IPv4 as mapped addresses; 16 bytes each. */
static inline void lf_trace_addresses(const struct sock *sk, u8 *saddr,
				      u8 *daddr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		memcpy(saddr, &sk->sk_v6_rcv_saddr, sizeof(struct in6_addr));
		memcpy(daddr, &sk->sk_v6_daddr, sizeof(struct in6_addr));
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, (struct in6_addr *)saddr);
	ipv6_addr_set_v4mapped(sk->sk_daddr, (struct in6_addr *)daddr);
}
#endif /* LONGFAT_TRACE_ONCE */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM longfat

#if !defined(LONGFAT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LONGFAT_TRACE_H

#include <linux/tracepoint.h>

#define LF_TRACE_ARG(type, name)	, type name
#define LF_TRACE_VALUE(type, name)	, name
#define LF_TRACE_SLOT(type, name)	__field(type, name)
#define LF_TRACE_KEEP(type, name)	__entry->name = name;
#define LF_TRACE_FORMAT(type, name)	" " #name "=%lld"
#define LF_TRACE_SHOW(type, name)	, (long long)__entry->name

/* One more macro, so that LF_TRACE_NAME is expanded before it is pasted. */
#define LF_TRACE_EVENT(name, proto, args, tstruct, assign, print)	\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

LF_TRACE_EVENT(LF_TRACE_NAME,

	TP_PROTO(const struct sock *sk, u8 reason, u32 cwnd
		 LF_TRACE_FIELDS(LF_TRACE_ARG)),

	TP_ARGS(sk, reason, cwnd LF_TRACE_FIELDS(LF_TRACE_VALUE)),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct in6_addr))
		__array(__u8, daddr, sizeof(struct in6_addr))
		__field(__u16, family)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u8, reason)
		__field(__u32, cwnd)
		__field(__u32, ssthresh)
		__field(__u32, srtt_us)
		__field(__u32, min_rtt_us)
		LF_TRACE_FIELDS(LF_TRACE_SLOT)
	),

	TP_fast_assign(
		const struct tcp_sock *tp = tcp_sk(sk);

		__entry->family = sk->sk_family;
		__entry->sport = sk->sk_num;
		__entry->dport = ntohs(sk->sk_dport);
		lf_trace_addresses(sk, __entry->saddr, __entry->daddr);
		__entry->reason = reason;
		__entry->cwnd = cwnd;
		__entry->ssthresh = tp->snd_ssthresh;
		__entry->srtt_us = tp->srtt_us >> 3;
		__entry->min_rtt_us = tcp_min_rtt(tp);
		LF_TRACE_FIELDS(LF_TRACE_KEEP)
	),

	TP_printk("src=[%pI6c]:%u dest=[%pI6c]:%u reason=%s cwnd=%u ssthresh=%u srtt_us=%u min_rtt_us=%u"
		  LF_TRACE_FIELDS(LF_TRACE_FORMAT),
		  __entry->saddr, __entry->sport,
		  __entry->daddr, __entry->dport,
		  __print_symbolic(__entry->reason, LF_TRACE_REASONS),
		  __entry->cwnd, __entry->ssthresh,
		  __entry->srtt_us, __entry->min_rtt_us
		  LF_TRACE_FIELDS(LF_TRACE_SHOW))
);

#endif /* LONGFAT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH longfat
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
