// SPDX-License-Identifier: GPL-2.0
/* A WARN in cong_avoid, which only a run comes to. */
#include <linux/module.h>
#include <net/tcp.h>

static void warns_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	WARN_ONCE(tcp_sk(sk)->snd_cwnd > 20, "a window of %u\n", tcp_sk(sk)->snd_cwnd);
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops warns __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= warns_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "warns",
};

static int __init warns_register(void)
{
	return tcp_register_congestion_control(&warns);
}

static void __exit warns_unregister(void)
{
	tcp_unregister_congestion_control(&warns);
}

module_init(warns_register);
module_exit(warns_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("warns");
