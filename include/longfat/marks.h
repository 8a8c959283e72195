/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which mark is another one.  The receiver echoes a mark until new data brings it CWR
 * (RFC 3168).  The kernel sends that for what begins a loss event and for nothing else
 * in it, so a mark that comes in Recovery would be echoed until that is over.  Here who
 * answers a mark asks for CWR, and what is echoed until data is acknowledged that was
 * sent after the answer is the same mark.
 */
#ifndef LONGFAT_MARKS_H
#define LONGFAT_MARKS_H

#include <net/tcp.h>

#ifdef LF_HAVE_QUEUE_CWR
#include <net/tcp_ecn.h>
#else
/* CWR with the next new data.  Once tcp_input.c kept this for itself. */
static inline void tcp_ecn_queue_cwr(struct tcp_sock *tp)
{
	if (tp->ecn_flags & TCP_ECN_OK)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}
#endif

/* No mark was answered yet: where its echo ends. */
static inline u32 lf_no_echo(const struct sock *sk)
{
	return tcp_sk(sk)->snd_una - 1;
}

/* One is answered now; the sequence number of the data that brings CWR. */
static inline u32 lf_answer_mark(struct sock *sk)
{
	tcp_ecn_queue_cwr(tcp_sk(sk));
	return tcp_sk(sk)->snd_nxt;
}

/* Is what is echoed now answered?  For each acknowledgment. */
static inline bool lf_echoed(const struct sock *sk, u32 *echo_end)
{
	if (!after(tcp_sk(sk)->snd_una, *echo_end))
		return true;
	/* It must not seem to be ahead again when sequence numbers wrap. */
	*echo_end = lf_no_echo(sk);
	return false;
}

#endif /* LONGFAT_MARKS_H */
