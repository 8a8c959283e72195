// SPDX-License-Identifier: GPL-2.0
/* Warnings: a function that is not static, a variable without a use; and no description. */
#include <linux/module.h>
#include <net/tcp.h>

void loud_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	int unused;

	WARN_ON_ONCE(!acked);
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops loud __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= loud_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "loud",
};

static int __init loud_register(void)
{
	return tcp_register_congestion_control(&loud);
}

static void __exit loud_unregister(void)
{
	tcp_unregister_congestion_control(&loud);
}

module_init(loud_register);
module_exit(loud_unregister);
MODULE_LICENSE("GPL");
