/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An algorithm is written for the newest kernel and knows no other.  This header
 * makes older kernels look like it.  include/longfat/probe.mk finds what differs.
 */
#ifndef LONGFAT_COMPAT_H
#define LONGFAT_COMPAT_H

#include <net/tcp.h>

#ifndef LF_HAVE_SND_CWND
/* Before 5.19, without a backport: the window is a plain field. */
static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 val)
{
	WARN_ON_ONCE((int)val <= 0);
	tp->snd_cwnd = val;
}
#endif

/*
 * CA_EVENT_TX_START, the first transmission with nothing in flight.  Since 7.1
 * it has a hook of its own and no longer reaches ->cwnd_event.  An algorithm
 * "foo" writes foo_tx_start(struct sock *), then LF_DEFINE_TX_START(foo), and
 * LF_OPS_TX_START(foo) among its operations.
 */
#ifdef LF_HAVE_TX_START
#define LF_DEFINE_TX_START(algo)					\
static void algo##_cwnd_event_tx_start(struct sock *sk)			\
{									\
	algo##_tx_start(sk);						\
}

#define LF_OPS_TX_START(algo)	.cwnd_event_tx_start = algo##_cwnd_event_tx_start
#else
#define LF_DEFINE_TX_START(algo)					\
static void algo##_cwnd_event(struct sock *sk, enum tcp_ca_event event)	\
{									\
	if (event == CA_EVENT_TX_START)					\
		algo##_tx_start(sk);					\
}

#define LF_OPS_TX_START(algo)	.cwnd_event = algo##_cwnd_event
#endif

#endif /* LONGFAT_COMPAT_H */
