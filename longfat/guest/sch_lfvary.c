// SPDX-License-Identifier: GPL-2.0
/*
 * lfvary - a link whose rate, delay and loss change at given times, as a qdisc
 *
 *	insmod sch_lfvary.ko
 *	tc qdisc add dev eth0 root handle 1: lfvary
 *	tc qdisc add dev eth0 parent 1:1 handle 10: codel limit 1000
 *	echo NANOSECONDS >/sys/module/sch_lfvary/parameters/begin
 *
 * reads the file vary-eth0 of tc's working directory, which has a line per step:
 *
 *	AT RATE DELAY LOSS BYTES
 *
 * From AT on (ns after `begin`, of CLOCK_MONOTONIC) the link serves RATE bits of IP
 * packets a second (0: none, it is down; -1: all at once), and each of them then takes
 * DELAY ns and is lost with the probability LOSS / 2^32.  At AT itself it serves BYTES
 * more at once, if so many wait: that is how traces of packet deliveries are replayed.
 * The first line is at 0, and holds before `begin`, too.  A line "seed N" above it
 * seeds the losses.
 *
 * What is served is exact to the bit: a packet that is half sent when the rate changes
 * has its other half sent at the new one.  A time is whole nanoseconds, rounded down as
 * lflink's and netem's.  All steps are known beforehand, so when a
 * packet will have left is known as its first bit is sent, and a step costs nothing by
 * itself.  Until it has left it is in the child's queue.  Packets keep their order when
 * the delay falls.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel_read_file.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>
#include <net/pkt_sched.h>

#define ALL_AT_ONCE	(-1LL)
#define NEVER		U64_MAX
#define MOST_RATE	(1000LL * NSEC_PER_SEC)	/* a Tbit/s */
#define MOST_BYTES	(1U << 30)

struct step {
	u64 at;			/* ns after begin */
	s64 rate;		/* bits/s */
	u64 delay;		/* ns */
	u32 loss;		/* of 2^32 */
	u32 bytes;		/* served at once, at `at` */
};

struct vary {
	struct Qdisc *child;
	struct list_head list;
	struct Qdisc *sch;
	struct step *steps;
	unsigned int count;
	struct rnd_state random;
	struct qdisc_watchdog watchdog;

	/* The server.  `step` is the one in which it is at the time `free`. */
	bool serving;		/* the child's first packet, until `done` */
	bool idle;		/* it found none when it had served the last */
	unsigned int step;
	u64 free;		/* when it had served the last, ns */
	u32 credit;		/* bytes that are left of that step's, at its `at` */
	u64 done;		/* when it will have served the first, ns */
	unsigned int done_step;
	u32 done_credit;

	/* What has been served and is on the way. */
	struct sk_buff_head line;
	u64 last;		/* when the last of them arrives, ns */
};

static LIST_HEAD(all);
static DEFINE_SPINLOCK(all_lock);
static u64 begin;		/* ns, 0: not yet */

static u64 *arrives(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct qdisc_skb_cb) + sizeof(u64) > sizeof(skb->cb));
	return (u64 *)((char *)skb->cb + sizeof(struct qdisc_skb_cb));
}

/* When step @i begins, ns. */
static u64 begins(const struct vary *q, unsigned int i)
{
	if (i >= q->count || !begin)
		return i ? NEVER : 0;
	return begin + q->steps[i].at;
}

/*
 * The server takes @bits from the time @t on: when they are served, in `done` with the
 * step of that time and what is left of its bytes.  Bits times NSEC_PER_SEC fit 64 bits
 * up to a packet of a gigabyte; rate times a step's length is only taken where it is
 * less than these.
 */
static void serve(struct vary *q, u64 t, u64 bits)
{
	u64 left = bits * NSEC_PER_SEC, credit = q->credit;
	unsigned int i = q->step;

	/* Bytes of a step are gone if nothing took them at once. */
	if (!begin || t != begins(q, i))
		credit = 0;
	for (;; credit = q->steps[i].bytes) {
		u64 end = begins(q, i + 1), need = NEVER;
		s64 rate = q->steps[i].rate;

		if (end > t) {
			u64 now = min(left, credit * 8ULL * NSEC_PER_SEC);

			left -= now;
			credit -= div64_u64(now, 8ULL * NSEC_PER_SEC);
			if (rate == ALL_AT_ONCE || !left)
				need = 0;
			else if (rate)
				need = div64_u64(left, rate);
			if (need != NEVER && (end == NEVER || need <= end - t)) {
				q->done = t + need;
				q->done_step = i;
				q->done_credit = need ? 0 : credit;
				return;
			}
			if (end == NEVER) {
				q->done = NEVER;
				q->done_step = i;
				return;
			}
			if (rate)
				left -= (u64)rate * (end - t);
			t = end;
		}
		i++;
	}
}

static int lfvary_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct vary *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);
	int ret = qdisc_enqueue(skb, q->child, to_free);

	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

/* The packet that has been served is lost, or on the way. */
static void leave(struct Qdisc *sch, struct sk_buff *skb)
{
	struct vary *q = qdisc_priv(sch);
	const struct step *step = &q->steps[q->step];

	if (step->loss && prandom_u32_state(&q->random) < step->loss) {
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		qdisc_qstats_drop(sch);
		kfree_skb(skb);
		return;
	}
	q->last = max(q->last, q->free + step->delay);
	*arrives(skb) = q->last;
	__skb_queue_tail(&q->line, skb);
}

static struct sk_buff *lfvary_dequeue(struct Qdisc *sch)
{
	struct vary *q = qdisc_priv(sch);
	u64 now = ktime_get_ns(), next;
	struct sk_buff *skb;

	while ((skb = q->child->ops->peek(q->child))) {
		if (!q->serving) {
			u64 from = q->idle ? now : q->free;

			/* Steps that went by while there was nothing to serve. */
			while (begins(q, q->step + 1) <= from) {
				q->step++;
				q->credit = q->steps[q->step].bytes;
			}
			serve(q, from, 8ULL * max_t(int, qdisc_pkt_len(skb) - ETH_HLEN, 1));
			q->serving = q->done != NEVER || begin;
		}
		if (q->done > now)
			break;
		skb = qdisc_dequeue_peeked(q->child);
		q->serving = false;
		q->idle = false;
		q->free = q->done;
		q->step = q->done_step;
		q->credit = q->done_credit;
		if (skb)
			leave(sch, skb);
	}
	if (!skb)
		q->idle = true;

	next = skb ? q->done : NEVER;
	skb = skb_peek(&q->line);
	if (skb && *arrives(skb) <= now) {
		__skb_unlink(skb, &q->line);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		qdisc_bstats_update(sch, skb);
		return skb;
	}
	if (skb)
		next = min(next, *arrives(skb));
	if (next != NEVER)
		qdisc_watchdog_schedule_ns(&q->watchdog, next);
	return NULL;
}

static void lfvary_reset(struct Qdisc *sch)
{
	struct vary *q = qdisc_priv(sch);

	qdisc_reset(q->child);
	__skb_queue_purge(&q->line);
	q->serving = false;
	q->idle = true;
	qdisc_watchdog_cancel(&q->watchdog);
}

/* --- the steps ------------------------------------------------------------- */

static int read_steps(struct vary *q, char *text, struct netlink_ext_ack *extack)
{
	unsigned int lines = 0, seed = 1;
	char *line, *p;

	for (p = text; *p; p++)
		lines += *p == '\n';
	q->steps = vzalloc(array_size(lines + 1, sizeof(*q->steps)));
	if (!q->steps)
		return -ENOMEM;
	while ((line = strsep(&text, "\n"))) {
		struct step *s = &q->steps[q->count];

		if (!*line || sscanf(line, "seed %u", &seed) == 1)
			continue;
		if (sscanf(line, "%llu %lld %llu %u %u", &s->at, &s->rate, &s->delay,
			   &s->loss, &s->bytes) != 5 ||
		    s->rate < ALL_AT_ONCE || s->rate > MOST_RATE || s->bytes > MOST_BYTES ||
		    (q->count ? s->at <= s[-1].at : s->at)) {
			pr_err("no step: \"%s\"\n", line);
			NL_SET_ERR_MSG(extack, "a line of its file is no step");
			return -EINVAL;
		}
		q->count++;
	}
	prandom_seed_state(&q->random, seed);
	q->credit = q->steps[0].bytes;
	if (q->count)
		return 0;
	NL_SET_ERR_MSG(extack, "its file has no step");
	return -EINVAL;
}

static int lfvary_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct vary *q = qdisc_priv(sch);
	char name[IFNAMSIZ + 8];
	void *text = NULL;
	ssize_t size;
	char *whole;
	int err;

	q->child = &noop_qdisc;
	q->sch = sch;
	q->idle = true;
	INIT_LIST_HEAD(&q->list);
	__skb_queue_head_init(&q->line);
	qdisc_watchdog_init(&q->watchdog, sch);
	snprintf(name, sizeof(name), "vary-%s", qdisc_dev(sch)->name);
	size = kernel_read_file_from_path(name, 0, &text, INT_MAX, NULL, READING_UNKNOWN);
	if (size < 0) {
		NL_SET_ERR_MSG(extack, "its file cannot be read");
		return size;
	}
	whole = kvmalloc(size + 1, GFP_KERNEL);
	if (whole) {
		memcpy(whole, text, size);
		whole[size] = '\0';
	}
	vfree(text);
	if (!whole)
		return -ENOMEM;
	err = read_steps(q, whole, extack);
	kvfree(whole);
	if (err)
		return err;
	q->child = qdisc_create_dflt(sch->dev_queue, &pfifo_qdisc_ops,
				     TC_H_MAKE(sch->handle, 1), extack);
	if (!q->child) {
		q->child = &noop_qdisc;
		return -ENOMEM;
	}
	qdisc_hash_add(q->child, true);
	spin_lock_bh(&all_lock);
	list_add(&q->list, &all);
	spin_unlock_bh(&all_lock);
	return 0;
}

static void lfvary_destroy(struct Qdisc *sch)
{
	struct vary *q = qdisc_priv(sch);

	spin_lock_bh(&all_lock);
	list_del_init(&q->list);
	spin_unlock_bh(&all_lock);
	qdisc_watchdog_cancel(&q->watchdog);
	__skb_queue_purge(&q->line);
	vfree(q->steps);
	qdisc_put(q->child);
}

/* What waits for a link that is down at first waits for a step that now has a time. */
static int set_begin(const char *value, const struct kernel_param *kp)
{
	struct vary *q;
	int err;

	spin_lock_bh(&all_lock);
	err = kstrtou64(value, 0, &begin);
	if (!err)
		list_for_each_entry(q, &all, list)
			qdisc_watchdog_schedule_ns(&q->watchdog, begin);
	spin_unlock_bh(&all_lock);
	return err;
}

static const struct kernel_param_ops begin_ops = { .set = set_begin };
module_param_cb(begin, &begin_ops, NULL, 0200);
MODULE_PARM_DESC(begin, "the time 0 of all steps, ns of CLOCK_MONOTONIC");

/* --- its only class, in which the queue is --------------------------------- */

static int lfvary_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct vary *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ? new : &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *lfvary_leaf(struct Qdisc *sch, unsigned long class)
{
	struct vary *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long lfvary_find(struct Qdisc *sch, u32 classid)
{
	return TC_H_MIN(classid) == 1;
}

static void lfvary_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop && walker->count++ >= walker->skip &&
	    walker->fn(sch, 1, walker) < 0)
		walker->stop = 1;
}

static int lfvary_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			     struct tcmsg *tc)
{
	struct vary *q = qdisc_priv(sch);

	tc->tcm_handle |= TC_H_MIN(1);
	tc->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops lfvary_class_ops = {
	.graft	= lfvary_graft,
	.leaf	= lfvary_leaf,
	.find	= lfvary_find,
	.walk	= lfvary_walk,
	.dump	= lfvary_dump_class,
};

static struct Qdisc_ops lfvary_ops = {
	.cl_ops		= &lfvary_class_ops,
	.id		= "lfvary",
	.priv_size	= sizeof(struct vary),
	.enqueue	= lfvary_enqueue,
	.dequeue	= lfvary_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= lfvary_init,
	.reset		= lfvary_reset,
	.destroy	= lfvary_destroy,
	.owner		= THIS_MODULE,
};

static int __init lfvary_register(void)
{
	return register_qdisc(&lfvary_ops);
}

static void __exit lfvary_unregister(void)
{
	unregister_qdisc(&lfvary_ops);
}

module_init(lfvary_register);
module_exit(lfvary_unregister);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A link that changes at given times");
