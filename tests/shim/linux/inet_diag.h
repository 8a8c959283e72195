/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_INET_DIAG_H
#define LONGFAT_SHIM_INET_DIAG_H

#include <linux/types.h>

#define INET_DIAG_VEGASINFO	3

union tcp_cc_info {
	struct {
		u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
	} vegas;
	u32 words[5];
};

#endif /* LONGFAT_SHIM_INET_DIAG_H */
