// SPDX-License-Identifier: GPL-2.0
#include <net/tcp.h>
#include "vintage.h"

u32 vintage_ssthresh(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1U, VINTAGE_LEAST);
}
