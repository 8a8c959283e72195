/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ->cong_control, which got two more arguments in 6.10.  An algorithm "foo" writes
 * foo_control(struct sock *, const struct rate_sample *), then
 * LF_DEFINE_CONG_CONTROL(foo), and foo_cong_control is the hook.
 *
 * An algorithm that has it sets the pacing rate, too, which the core does for others.
 */
#ifndef LONGFAT_CONTROL_H
#define LONGFAT_CONTROL_H

#include <net/tcp.h>

#ifdef LF_HAVE_CONG_CONTROL_ACK
#define LF_DEFINE_CONG_CONTROL(algo)					\
static void algo##_cong_control(struct sock *sk, u32 ack, int flag,	\
				const struct rate_sample *rs)		\
{									\
	algo##_control(sk, rs);						\
}
#else
#define LF_DEFINE_CONG_CONTROL(algo)					\
static void algo##_cong_control(struct sock *sk,			\
				const struct rate_sample *rs)		\
{									\
	algo##_control(sk, rs);						\
}
#endif

/*
 * The kernel's ratio of pacing, percent of a window per round trip; 0: no pacing.  @doubles:
 * of a slow start of which the end is not near.
 */
static inline u32 lf_pacing_ratio(const struct sock *sk, bool doubles)
{
	return doubles ? READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ss_ratio) :
			 READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ca_ratio);
}

#endif /* LONGFAT_CONTROL_H */
