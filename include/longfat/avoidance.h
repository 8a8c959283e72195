/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all window-based algorithms here have in common.  The window grows only while it
 * is what limits the sender.  ss gets the round-trip times.
 */
#ifndef LONGFAT_AVOIDANCE_H
#define LONGFAT_AVOIDANCE_H

#include <linux/inet_diag.h>
#include <net/tcp.h>

#include <longfat/compat.h>
#include <longfat/slow_start.h>

/**
 * lf_avoidance - begin ->cong_avoid
 * @sk:    the sender
 * @ss:    how slow start ends; NULL: the kernel's slow start
 * @acked: packets newly acknowledged
 *
 * Slow start takes its part of @acked first.
 *
 * Return: packets with which the window is to grow in congestion avoidance, 0 if
 * it must not grow.
 */
static inline u32 lf_avoidance(struct sock *sk, struct lf_slow_start *ss,
			       u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return 0;
	if (tcp_in_slow_start(tp))
		acked = lf_slow_start(sk, ss, acked);
	return tcp_snd_cwnd(tp) < tp->snd_cwnd_clamp ? acked : 0;
}

/* Set the window that congestion avoidance computed. */
static inline void lf_set_cwnd(struct tcp_sock *tp, u32 w)
{
	tcp_snd_cwnd_set(tp, min(w, tp->snd_cwnd_clamp));
}

/* Set the window of an algorithm that has ->cong_control: at least 1, whatever the clamp. */
static inline void lf_set_window(struct sock *sk, u32 w)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, clamp_t(u32, w, 1, max(tp->snd_cwnd_clamp, 1U)));
}

/*
 * ->get_info.  Of other algorithms' blocks ss shows VEGASINFO only; its round-trip times
 * are true here.  ss reads without the socket lock: no value is made of two words.
 */
static size_t lf_get_info(struct sock *sk, u32 ext, int *attr,
			  union tcp_cc_info *info)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->vegas, 0, sizeof(info->vegas));
	info->vegas.tcpv_enabled = 1;
	info->vegas.tcpv_rtt = READ_ONCE(tp->srtt_us) >> 3;
	info->vegas.tcpv_minrtt = min_t(u32, tcp_min_rtt(tp), S32_MAX);
	*attr = INET_DIAG_VEGASINFO;
	return sizeof(info->vegas);
}

#endif /* LONGFAT_AVOIDANCE_H */
