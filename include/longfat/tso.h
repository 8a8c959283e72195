/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many packets TCP hands down as one burst.
 *
 * ->min_tso_segs answers with the fewest.  The kernel makes more of it where the pacing
 * rate carries more in 1/2^sk_pacing_shift s, or where the round trip is short.  Kernels
 * that have BBRv3 ask ->tso_segs instead, once for the same burst, and take its answer as
 * it is, up to sk_gso_max_segs.
 *
 * An algorithm "foo" writes foo_min_tso_segs(struct sock *), the fewest, then
 * LF_DEFINE_TSO_SEGS(foo), and LF_OPS_TSO_SEGS(foo) among its operations.  Where the
 * answer is the final one, the kernel's own part is done here, with the pacing rate that
 * foo_min_tso_segs() has set.
 */
#ifndef LONGFAT_TSO_H
#define LONGFAT_TSO_H

#include <net/tcp.h>
#include <longfat/pacing.h>

/**
 * lf_tso_segs - the burst that the kernel would choose
 * @sk:     the sender, with its pacing rate
 * @mss:    bytes of a packet; not 0
 * @fewest: packets
 *
 * Return: packets.
 */
static inline u32 lf_tso_segs(const struct sock *sk, u32 mss, u32 fewest)
{
	u64 bytes = READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift);
#ifdef LF_HAVE_TSO_RTT_LOG
	u32 most = READ_ONCE(sk->sk_gso_max_size);
	const struct net *net = sock_net(sk);
	u32 halvings = tcp_min_rtt(tcp_sk(sk)) >>
		       READ_ONCE(net->ipv4.sysctl_tcp_tso_rtt_log);

	if (halvings < BITS_PER_TYPE(most))
		bytes += most >> halvings;
#endif
	return max((u32)min_t(u64, bytes, lf_largest_burst(sk)) / mss, fewest);
}

#ifdef LF_HAVE_MIN_TSO_SEGS
#define LF_DEFINE_TSO_SEGS(algo)					\
static u32 algo##_tso_segs(struct sock *sk)				\
{									\
	return algo##_min_tso_segs(sk);					\
}

#define LF_OPS_TSO_SEGS(algo)	.min_tso_segs = algo##_tso_segs
#else
#define LF_DEFINE_TSO_SEGS(algo)					\
static u32 algo##_tso_segs(struct sock *sk, unsigned int mss_now)	\
{									\
	u32 fewest = algo##_min_tso_segs(sk);				\
									\
	return lf_tso_segs(sk, mss_now, fewest);			\
}

#define LF_OPS_TSO_SEGS(algo)	.tso_segs = algo##_tso_segs
#endif

#endif /* LONGFAT_TSO_H */
