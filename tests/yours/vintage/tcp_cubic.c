// SPDX-License-Identifier: GPL-2.0
/* Has the name of one of the kernel's own, which it was copied from. */
#include <linux/module.h>
#include <net/tcp.h>

static struct tcp_congestion_ops mine __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "cubic",
};

static int __init mine_register(void)
{
	return tcp_register_congestion_control(&mine);
}

static void __exit mine_unregister(void)
{
	tcp_unregister_congestion_control(&mine);
}

module_init(mine_register);
module_exit(mine_unregister);
MODULE_LICENSE("GPL");
