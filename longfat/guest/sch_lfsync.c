// SPDX-License-Identifier: GPL-2.0
/*
 * lfsync - a FIFO of which an overflow takes a packet of each flow, as a qdisc
 *
 *	insmod sch_lfsync.ko again=NANOSECONDS
 *	ip link set dev eth0 txqueuelen 100
 *	tc qdisc add dev eth0 parent 1:1 handle 10: lfsync
 *
 * It holds as many packets as the device's txqueuelen says, as a pfifo does that is told
 * nothing.  A packet that finds it full is dropped.  That is an overflow, and whoever
 * has not lost a packet in it loses the next that comes, though there is room.  After
 * `again` the overflow is over, and a packet that finds the queue full begins another.
 *
 * So all flows lose at the same times, as models of synchronised losses have it.  Behind
 * a FIFO a flow with few packets escapes most overflows.
 *
 * A flow is an IPv4 address and a port at both ends, and a protocol.  What is not IPv4
 * is only dropped if the queue is full.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <net/flow_dissector.h>
#include <net/pkt_sched.h>

struct name {
	__be32 from, to, ports;
	u32 protocol;
};

/* A flow that has lost a packet in this overflow. */
struct flow {
	struct hlist_node node;
	struct name name;
};

struct sync {
	u32 limit;		/* packets */
	bool overflow;		/* there was one */
	u64 since;		/* ... and the last began then, ns */
	DECLARE_HASHTABLE(flows, 8);
};

static ulong again = 200 * NSEC_PER_MSEC;
module_param(again, ulong, 0444);
MODULE_PARM_DESC(again, "how long an overflow lasts, nanoseconds");

static void forget(struct sync *q)
{
	struct hlist_node *next;
	struct flow *flow;
	int bucket;

	hash_for_each_safe(q->flows, bucket, next, flow, node) {
		hash_del(&flow->node);
		kfree(flow);
	}
}

static bool named(struct sk_buff *skb, struct name *name)
{
	struct flow_keys keys;

	if (!skb_flow_dissect_flow_keys(skb, &keys, 0) ||
	    keys.basic.n_proto != htons(ETH_P_IP))
		return false;
	name->from = keys.addrs.v4addrs.src;
	name->to = keys.addrs.v4addrs.dst;
	name->ports = keys.ports.ports;
	name->protocol = keys.basic.ip_proto;
	return true;
}

/* Whether this is the first packet that its flow loses in this overflow, if it does. */
static bool first(struct sync *q, struct sk_buff *skb)
{
	struct flow *flow;
	struct name name;
	u32 hash;

	if (!named(skb, &name))
		return false;
	hash = jhash(&name, sizeof(name), 0);
	hash_for_each_possible(q->flows, flow, node, hash)
		if (!memcmp(&flow->name, &name, sizeof(name)))
			return false;
	flow = kmalloc(sizeof(*flow), GFP_ATOMIC);
	if (!flow)
		return false;
	flow->name = name;
	hash_add(q->flows, &flow->node, hash);
	return true;
}

static int lfsync_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sync *q = qdisc_priv(sch);
	bool full = sch->q.qlen >= q->limit;
	u64 now = ktime_get_ns();

	if (q->overflow && now - q->since >= again) {
		q->overflow = false;
		forget(q);
	}
	if (full && !q->overflow) {
		q->overflow = true;
		q->since = now;
	}
	if (q->overflow && (first(q, skb) || full))
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static int lfsync_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct sync *q = qdisc_priv(sch);

	hash_init(q->flows);
	q->limit = qdisc_dev(sch)->tx_queue_len;
	if (q->limit)
		return 0;
	NL_SET_ERR_MSG(extack, "its device's txqueuelen is 0");
	return -EINVAL;
}

static void lfsync_reset(struct Qdisc *sch)
{
	struct sync *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	q->overflow = false;
	forget(q);
}

static void lfsync_destroy(struct Qdisc *sch)
{
	forget(qdisc_priv(sch));
}

static struct Qdisc_ops lfsync_ops = {
	.id		= "lfsync",
	.priv_size	= sizeof(struct sync),
	.enqueue	= lfsync_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= lfsync_init,
	.reset		= lfsync_reset,
	.destroy	= lfsync_destroy,
	.owner		= THIS_MODULE,
};

static int __init lfsync_register(void)
{
	return register_qdisc(&lfsync_ops);
}

static void __exit lfsync_unregister(void)
{
	unregister_qdisc(&lfsync_ops);
}

module_init(lfsync_register);
module_exit(lfsync_unregister);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A FIFO of which an overflow takes a packet of each flow");
