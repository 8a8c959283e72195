/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before an algorithm: what that calls of the kernel, in BPF.  A kernel before 5.13 lets BPF
 * call nothing of it, but has a verifier, which is older than any that is asked otherwise.
 */
#ifndef LONGFAT_TEST_OWN_RENO_BPF_H
#define LONGFAT_TEST_OWN_RENO_BPF_H

#include <net/tcp.h>

struct tcp_sock___reno {
	u32 prior_cwnd;
} __attribute__((preserve_access_index));

static inline u32 own_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 cwnd = min(tp->snd_cwnd + acked, tp->snd_ssthresh);

	acked -= cwnd - tp->snd_cwnd;
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
	return acked;
}

static inline u32 own_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, ((struct tcp_sock___reno *)sk)->prior_cwnd);
}

#define tcp_slow_start		own_slow_start
#define tcp_reno_undo_cwnd	own_undo_cwnd

#endif /* LONGFAT_TEST_OWN_RENO_BPF_H */
