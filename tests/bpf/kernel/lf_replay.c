// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of an algorithm that was BPF, once more by what has its name in the kernel now: the
 * module, or BPF again.
 *
 *	insmod lf_replay.ko algorithm=ltcp
 *	dd if=CALLS of=/proc/lf_replay bs=1M	# struct lf_record, as many as there are
 *	cat /proc/lf_replay
 *
 * A call that does not do what it did is an error of write(), and /proc/lf_replay says what.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#define lf_min_rtt_of(tp)	((tp)->rtt_min.s[0].v)

#include "../replay.h"

static char *algorithm = "";
module_param(algorithm, charp, 0444);
MODULE_PARM_DESC(algorithm, "congestion control that does the calls again");

static struct socket *sock;
static struct lf_replay *replay;

/* dd writes a block after the other, and a record may begin in one and end in the next. */
static struct {
	struct lf_record record;
	size_t have;
} part;

static ssize_t lf_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	size_t done = 0, n;
	bool good;

	while (done < size) {
		n = min(sizeof(part.record) - part.have, size - done);
		if (copy_from_user((char *)&part.record + part.have, from + done, n))
			return -EFAULT;
		done += n;
		part.have += n;
		if (part.have < sizeof(part.record))
			break;
		part.have = 0;
		/* As the stack calls hooks: the socket is locked, and softirqs are off. */
		local_bh_disable();
		good = lf_redo(replay, &part.record);
		local_bh_enable();
		if (!good)
			return -EILSEQ;
	}
	return size;
}

static int lf_show(struct seq_file *m, void *v)
{
	u32 i;

	if (replay->wrong[0]) {
		seq_printf(m, "%s\n", replay->wrong);
		return 0;
	}
	seq_printf(m, "%u calls equal:", replay->calls);
	for (i = 0; i < LF_HOOK_COUNT; i++)
		seq_printf(m, " %s %u", lf_hooks[i], replay->counts[i]);
	seq_printf(m, ", %u connections\n", replay->used);
	return 0;
}

static int lf_open(struct inode *inode, struct file *file)
{
	return single_open(file, lf_show, NULL);
}

static const struct proc_ops lf_proc = {
	.proc_open = lf_open, .proc_write = lf_write,
	.proc_read = seq_read, .proc_lseek = seq_lseek, .proc_release = single_release,
};

static int __init lf_replay_init(void)
{
	int err = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);

	if (err)
		return err;
	err = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION,
				    KERNEL_SOCKPTR(algorithm), strlen(algorithm));
	if (err) {
		pr_err("no congestion control '%s'\n", algorithm);
		goto fail;
	}
	err = -ENOMEM;
	replay = vzalloc(sizeof(*replay));
	if (!replay)
		goto fail;
	replay->ops = inet_csk(sock->sk)->icsk_ca_ops;
	replay->tp = tcp_sk(sock->sk);
	if (proc_create("lf_replay", 0600, NULL, &lf_proc))
		return 0;
	vfree(replay);
fail:
	sock_release(sock);
	return err;
}

static void __exit lf_replay_exit(void)
{
	remove_proc_entry("lf_replay", NULL);
	/* It has the state of a recorded call; one that is connected would not be freed. */
	sock->sk->sk_state = TCP_CLOSE;
	sock_release(sock);
	vfree(replay);
}

module_init(lf_replay_init);
module_exit(lf_replay_exit);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Recorded calls of a congestion control's hooks, done again");
