/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_TCP_ECN_H
#define LONGFAT_SHIM_TCP_ECN_H

#include <net/tcp.h>

/* Marks are RFC 3168's here. */
static inline void tcp_ecn_queue_cwr(struct tcp_sock *tp)
{
	tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

#endif /* LONGFAT_SHIM_TCP_ECN_H */
