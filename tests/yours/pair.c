// SPDX-License-Identifier: GPL-2.0
/* Two names, neither of them the file's, and four plain parameters. */
#include <linux/module.h>
#include <net/tcp.h>

static int beta = 512;		/* of 1024 */
static unsigned int most[2] = { 0, 0 };
static bool gentle;
static char *note = "none";
module_param(beta, int, 0644);
MODULE_PARM_DESC(beta, "decrease, of 1024");
module_param_array(most, uint, NULL, 0444);
MODULE_PARM_DESC(most, "windows of both names are at most so long, 0: any");
module_param(gentle, bool, 0644);
module_param(note, charp, 0);

/* Made of beta once, as tcp_cubic does: a later write to beta has no effect. */
static u32 keep __read_mostly;

static void pair_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 bound = most[inet_csk(sk)->icsk_ca_ops->name[5] == '2'];

	tcp_reno_cong_avoid(sk, ack, acked);
	if (bound && tp->snd_cwnd > bound)
		tp->snd_cwnd = bound;
}

static u32 pair_ssthresh(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd * keep / 1024, 2U);
}

static struct tcp_congestion_ops first __read_mostly = {
	.ssthresh	= pair_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= pair_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "half",
};

/* Its name is in no string of the source. */
static struct tcp_congestion_ops second __read_mostly;

static int __init pair_register(void)
{
	int ret;

	keep = gentle ? 1024 : beta;
	pr_info("pair: keeps %u, note is '%s'\n", keep, note);
	ret = tcp_register_congestion_control(&first);
	if (ret)
		return ret;
	second = first;
	snprintf(second.name, sizeof(second.name), "%s-%d", first.name, 2);
	ret = tcp_register_congestion_control(&second);
	if (ret)
		tcp_unregister_congestion_control(&first);
	return ret;
}

static void __exit pair_unregister(void)
{
	tcp_unregister_congestion_control(&second);
	tcp_unregister_congestion_control(&first);
}

module_init(pair_register);
module_exit(pair_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno under two names");
