/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing by the kernel: fq where it is the qdisc, else TCP's own timer.
 *
 * After each transmission TCP reads sk_pacing_rate and moves the departure of the
 * next packet, tp->tcp_wstamp_ns, by it.  ->cong_avoid cannot set the rate: right
 * afterwards the core sets its own, 120 % of a window per round trip (200 % in slow
 * start).  ->min_tso_segs can.  The kernel calls it after that, each time before it hands
 * down what it may, new data or old, whether an acknowledgment, the pacing timer or the
 * application is the cause.  That is one burst where TCP paces itself; under fq it is what
 * sk_pacing_shift allows, of several bursts at one rate.
 */
#ifndef LONGFAT_PACING_H
#define LONGFAT_PACING_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/tcp.h>

/* sk_pacing_shift of a new socket: TCP hands down 1/2^10 s of data at a time. */
#define LF_PACING_SHIFT		10

/* Ask TCP to pace this connection itself, unless fq does already. */
static inline void lf_need_pacing(struct sock *sk)
{
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

/**
 * lf_window_rate - the rate that sends one window in one round trip
 * @window:  packets
 * @mss:     bytes
 * @srtt_us: smoothed round-trip time as in struct tcp_sock, us << 3; not 0
 *
 * No overflow: a window is at most 2^30 bytes, and is held below 2^40 here.
 *
 * Return: bytes per second.
 */
static inline u64 lf_window_rate(u32 window, u32 mss, u32 srtt_us)
{
	u64 bytes = min_t(u64, (u64)window * mss, BIT_ULL(40));

	return div_u64(bytes * (USEC_PER_SEC << 3), srtt_us);
}

/*
 * Pace at @rate bytes per second, from 1 to ~0UL - 1: 0 and ~0UL both turn pacing off.  Where
 * a long has 32 bits, ~0UL is 34 Gbit/s.  Only SO_MAX_PACING_RATE of 0 turns it off, as with the
 * kernel's own algorithms.
 */
static inline void lf_set_pacing_rate(struct sock *sk, u64 rate)
{
	rate = min_t(u64, clamp_t(u64, rate, 1, ~0UL - 1), READ_ONCE(sk->sk_max_pacing_rate));
	WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/*
 * The largest burst that the kernel sends as one, bytes of payload.  sk_gso_max_size of
 * older kernels includes the room for headers, that of newer ones does not; here
 * the room is subtracted in any case.
 */
static inline u32 lf_largest_burst(const struct sock *sk)
{
	u32 size = READ_ONCE(sk->sk_gso_max_size);

	return size > MAX_TCP_HEADER ? size - 1 - MAX_TCP_HEADER : 0;
}

#endif /* LONGFAT_PACING_H */
