/* SPDX-License-Identifier: GPL-2.0 */
/* ->get_info is none of BPF's hooks; it is compiled, and nothing calls it. */
#ifndef LONGFAT_BPF_INET_DIAG_H
#define LONGFAT_BPF_INET_DIAG_H

#include <linux/types.h>

#define INET_DIAG_VEGASINFO	3

union tcp_cc_info {
	struct {
		u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
	} vegas;
};

#endif /* LONGFAT_BPF_INET_DIAG_H */
