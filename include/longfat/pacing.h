/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing by the kernel: fq where it is the qdisc, else TCP's own timer.
 *
 * After each transmission TCP reads sk_pacing_rate and moves the departure of the
 * next packet, tp->tcp_wstamp_ns, by it.  ->cong_avoid cannot set the rate: right
 * afterwards the core sets its own, 120 % of a window per round trip (200 % in slow
 * start).  ->min_tso_segs can.  The kernel calls it after that and before each
 * transmission, of new data or old, whether an acknowledgment, the pacing timer or
 * the application is the cause.
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

/*
 * Let packets wait in TCP even if fq is the qdisc.  A burst that waits in TCP can still
 * grow, or be put off; fq takes packets as it gets them.  fq claims pacing back when it
 * makes a flow for the connection, which may happen again after a pause.  Since 6.7 it
 * also does so with each packet that it lets pass at once.  So call this before each
 * transmission.
 *
 * Return: whether it was fq's.
 */
static inline bool lf_pace_in_tcp(struct sock *sk)
{
	u32 was = READ_ONCE(sk->sk_pacing_status);

	if (was != SK_PACING_NEEDED)
		WRITE_ONCE(sk->sk_pacing_status, SK_PACING_NEEDED);
	return was == SK_PACING_FQ;
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

/* Pace at @rate bytes per second; at least 1, because 0 would turn pacing off. */
static inline void lf_set_pacing_rate(struct sock *sk, u64 rate)
{
	rate = min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate));
	WRITE_ONCE(sk->sk_pacing_rate, max_t(u64, rate, 1));
}

/*
 * The largest burst that the kernel sends as one, packets.  sk_gso_max_size of
 * older kernels includes the room for headers, that of newer ones does not; here
 * the room is subtracted in any case.
 */
static inline u32 lf_largest_burst(const struct sock *sk)
{
	u32 size = READ_ONCE(sk->sk_gso_max_size);
	u32 mss = max(tcp_sk(sk)->mss_cache, 1U);

	if (size <= MAX_TCP_HEADER)
		return 1;
	return clamp_t(u32, (size - 1 - MAX_TCP_HEADER) / mss, 1,
		       READ_ONCE(sk->sk_gso_max_segs));
}

/*
 * Let the next packet leave at @edt_ns of TCP's clock, or now if that has
 * passed.  Packets that fq still holds leave first.
 */
static inline void lf_depart_at(struct sock *sk, u64 edt_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (sk_wmem_alloc_get(sk))
		edt_ns = max(edt_ns, tp->tcp_wstamp_ns);
	tp->tcp_wstamp_ns = edt_ns;
}

#endif /* LONGFAT_PACING_H */
