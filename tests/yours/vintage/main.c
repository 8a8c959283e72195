// SPDX-License-Identifier: GPL-2.0
/*
 * Wants -std=gnu99, is of two files, and warns although its Makefile has -Werror; of what it warns
 * of, the kernel makes two errors by name.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include "vintage.h"

#if __STDC_VERSION__ != 199901L
#error "only for -std=gnu99"
#endif

static struct tcp_congestion_ops vintage __read_mostly = {
	.ssthresh	= vintage_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "vintage",
};

static int __init vintage_register()
{
	int unused;

	pr_info("vintage: compiled on %s\n", __DATE__);
	return tcp_register_congestion_control(&vintage);
}

static void __exit vintage_unregister(void)
{
	tcp_unregister_congestion_control(&vintage);
}

module_init(vintage_register);
module_exit(vintage_unregister);
MODULE_LICENSE("GPL");
