/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The restart after a pause, which the kernel leaves to those who have
 * ->cong_control.  It says that sending starts, CA_EVENT_TX_START, when the first
 * burst has its size already.  So lf_idle() is asked before each transmission, in
 * ->min_tso_segs, and for an MTU probe, which comes without that, with the event.
 */
#ifndef LONGFAT_IDLE_H
#define LONGFAT_IDLE_H

#include <net/tcp.h>

/**
 * lf_idle - is a pause over that was longer than the retransmission timeout?
 * @sk:        the sender
 * @restarted: the algorithm's own, the last transmission before the last pause that
 *	       counted, so that each does once; any time but tp->lsndtime when
 *	       it is set up
 *
 * Return: timeouts that it was long, 0 for no such pause.
 */
static inline u32 lf_idle(const struct sock *sk, u32 *restarted)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rto = max(inet_csk(sk)->icsk_rto, 1U);
	u32 idle = tcp_jiffies32 - tp->lsndtime;

	if (tp->packets_out || idle <= rto || tp->lsndtime == *restarted ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle))
		return 0;
	*restarted = tp->lsndtime;
	return idle / rto;
}

#endif /* LONGFAT_IDLE_H */
