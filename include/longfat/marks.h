/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When does an ECN echo report new congestion, rather than one we already answered?
 *
 * The receiver echoes a mark until new data brings it CWR (RFC 3168).  The kernel sends
 * CWR only for the mark that begins a loss event.  So it would leave a mark that comes
 * in Recovery echoed until Recovery ends.  Here the algorithm that answers a mark asks
 * for CWR.  Until data is acknowledged that was sent after the answer, every echo is of
 * the same mark.
 */
#ifndef LONGFAT_MARKS_H
#define LONGFAT_MARKS_H

#include <net/tcp.h>

#ifdef LF_HAVE_QUEUE_CWR
#include <net/tcp_ecn.h>
#else
/* Send CWR with the next new data.  Older kernels keep this inside tcp_input.c. */
static inline void tcp_ecn_queue_cwr(struct tcp_sock *tp)
{
#ifdef TCP_ECN_OK
	if (tp->ecn_flags & TCP_ECN_OK)
#else /* one of several modes, as in 6.15 to 6.17 */
	if (tcp_ecn_mode_rfc3168(tp))
#endif
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}
#endif

/*
 * Does tp->delivered_ce count every marked packet?  AccECN's receiver says how many there
 * were (since 6.18), RFC 3168's only that there was one.
 */
static inline bool lf_marks_are_exact(const struct tcp_sock *tp)
{
#ifdef LF_HAVE_ACCECN
	return tcp_ecn_mode_accecn(tp);
#else
	return false;
#endif
}

/* The end of the echo while no mark was answered yet: already passed. */
static inline u32 lf_no_echo(const struct sock *sk)
{
	return tcp_sk(sk)->snd_una - 1;
}

/* A mark is answered now.  Returns where its echo ends: the data that brings CWR. */
static inline u32 lf_answer_mark(struct sock *sk)
{
	tcp_ecn_queue_cwr(tcp_sk(sk));
	return tcp_sk(sk)->snd_nxt;
}

/* Is the mark that is echoed now one that was answered?  For each acknowledgment. */
static inline bool lf_echoed(const struct sock *sk, u32 *echo_end)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Selected before connect() chose sequence numbers it may lie anywhere. */
	if (!after(tp->snd_una, *echo_end) && !after(*echo_end, tp->snd_nxt))
		return true;
	/* It must not seem to be ahead when sequence numbers wrap. */
	*echo_end = lf_no_echo(sk);
	return false;
}

#endif /* LONGFAT_MARKS_H */
