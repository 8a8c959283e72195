/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Restart after idle, and unused windows: what RFC 2861 does with a window that was
 * not used.  The kernel leaves both to algorithms that have ->cong_control.  A window is
 * unused in part while the application or the receiver is the limit.
 *
 * The kernel announces the start of sending, CA_EVENT_TX_START, with the first burst.  By
 * then that has its size, but not yet the gap after it.  So algorithms restart at that
 * event, which sets the gap, and make the burst a small one before it, see lf_after_idle().
 */
#ifndef LONGFAT_IDLE_H
#define LONGFAT_IDLE_H

#include <net/tcp.h>
#include <longfat/pacing.h>

/* The initial window of this path, packets: RFC 2861 restarts with it. */
static inline u32 lf_initial_window(struct sock *sk)
{
	const struct dst_entry *dst;
	u32 w;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	w = dst ? dst_metric(dst, RTAX_INITCWND) : 0;
	rcu_read_unlock();
	return w ? w : TCP_INIT_CWND;
}

/**
 * lf_idle - is a pause over that was longer than the retransmission timeout?
 * @sk:        the sender
 * @restarted: kept by the algorithm: the last transmission before the last pause that
 *	       counted, so that each pause counts once; to begin with, any time but
 *	       tp->lsndtime
 *
 * Return: the pause's length in timeouts, 0 for no such pause.
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

/**
 * lf_restart_window - the window after a pause, RFC 2861
 * @sk:        the sender, with new data and nothing in flight
 * @restarted: as for lf_idle()
 * @window:    before the pause, packets
 *
 * It is halved for each timeout that passed, down to an initial window.
 *
 * Return: packets; 0 if there was no such pause.
 */
static inline u32 lf_restart_window(struct sock *sk, u32 *restarted, u32 window)
{
	u32 halves = min(lf_idle(sk, restarted), 31U);

	return halves ? max(window >> halves, min(window, lf_initial_window(sk))) : 0;
}

/**
 * lf_after_idle - is the next burst the first one after a pause?
 * @sk:        the sender
 * @restarted: as lf_idle() has left it
 *
 * For ->min_tso_segs.  If it is, the rate becomes that of an initial window per round trip,
 * by which the kernel makes a small burst.
 *
 * Return: whether it is; then the burst is to be the kernel's.
 */
static inline bool lf_after_idle(struct sock *sk, u32 restarted)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->srtt_us || !lf_idle(sk, &restarted))
		return false;
	lf_set_pacing_rate(sk, lf_window_rate(lf_initial_window(sk),
					      tp->mss_cache, tp->srtt_us));
	return true;
}

/**
 * lf_unused_window - was a part of the window not used for a retransmission timeout?
 * @sk: the sender, with an acknowledgment while the window is not what limits it
 *
 * RFC 2861 section 3, as in tcp_cwnd_application_limited().  The kernel counts for all
 * algorithms what is used.  If the timeout is over, the next one begins here.
 *
 * Return: the new window, packets: halfway to what was used, or to the initial window
 * if that is more; 0 if the window stays.
 */
static inline u32 lf_unused_window(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp), used;

	if ((s32)(tcp_jiffies32 - tp->snd_cwnd_stamp) < (s32)inet_csk(sk)->icsk_rto ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle))
		return 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	/* Limited by its send buffer, or closed: not by application or receiver. */
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open || !sk->sk_socket ||
	    test_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		return 0;
	used = max(tp->snd_cwnd_used, lf_initial_window(sk));
	tp->snd_cwnd_used = 0;
	return used < cwnd ? (cwnd + used) / 2 : 0;
}

#endif /* LONGFAT_IDLE_H */
