// SPDX-License-Identifier: GPL-2.0
/* A socket option of its own, by a hook in the place of TCP's setsockopt. */
#include <linux/module.h>
#include <net/tcp.h>

#define OWN_RATE	23301

static unsigned long rate = 250000;
module_param(rate, ulong, 0644);
MODULE_PARM_DESC(rate, "bytes a second, where a program says nothing");

static struct proto hooked;

static int own_setsockopt(struct sock *sk, int level, int name, sockptr_t value, unsigned int length)
{
	u64 wanted;

	if (level != IPPROTO_TCP || name != OWN_RATE)
		return tcp_prot.setsockopt(sk, level, name, value, length);
	if (length != sizeof(wanted))
		return -EINVAL;
	if (copy_from_sockptr(&wanted, value, sizeof(wanted)))
		return -EFAULT;
	sk->sk_max_pacing_rate = wanted;
	return 0;
}

static void own_init(struct sock *sk)
{
	sk->sk_max_pacing_rate = rate;
	if (sk->sk_family == AF_INET)
		sk->sk_prot = &hooked;
}

static void own_release(struct sock *sk)
{
	if (sk->sk_prot == &hooked)
		sk->sk_prot = &tcp_prot;
}

static struct tcp_congestion_ops own __read_mostly = {
	.init		= own_init,
	.release	= own_release,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "own",
};

static int __init own_register(void)
{
	hooked = tcp_prot;
	hooked.setsockopt = own_setsockopt;
	return tcp_register_congestion_control(&own);
}

static void __exit own_unregister(void)
{
	tcp_unregister_congestion_control(&own);
}

module_init(own_register);
module_exit(own_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A rate that a program asks for");
