// SPDX-License-Identifier: GPL-2.0
/*
 * lflink - the whole path between senders and a receiver, as network devices
 *
 *	insmod lflink.ko rate=125000000 limit=500 delay=100000000,50000000
 *
 * makes lf0, which is the receiver's, and lf1 and lf2, one for each sender; each is
 * then moved into its namespace, where it has an address:
 *
 *	lf1 10.1.0.2 --+   rate (bytes/s), limit (packets)
 *	               +----------------------------------- lf0 10.0.0.2
 *	lf2 10.1.1.2 --+   delay (ns), on the way back to each sender
 *
 * The path is that of veth devices around a router with netem, to the packet and to
 * the nanosecond: the bottleneck counts a packet until its last bit has left, and
 * drops what comes when it holds `limit`.  But here a packet crosses one device and
 * not four, and waits for one timer, with nothing copied.
 *
 * /sys/module/lflink/parameters/queue says of the bottleneck, as a qdisc would:
 *
 *	BACKLOG_BYTES BACKLOG_PACKETS DROPS PACKETS BYTES
 *
 * where the last two have left, and bytes are with Ethernet's header.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/prefetch.h>

#define MOST 256

static unsigned long long rate;
module_param(rate, ullong, 0444);
MODULE_PARM_DESC(rate, "of the bottleneck, bytes/s, without Ethernet's header");

static unsigned int limit;
module_param(limit, uint, 0444);
MODULE_PARM_DESC(limit, "of the bottleneck, packets");

static unsigned long long delay[MOST];
static unsigned int ports;
module_param_array(delay, ullong, &ports, 0444);
MODULE_PARM_DESC(delay, "of each sender, on the way back to it, ns");

/* Packets in order, each with the time at which it leaves. */
struct pipe {
	spinlock_t lock;	/* all of this */
	struct sk_buff_head queue;
	struct hrtimer timer;
	bool busy;		/* the timer runs, or its function does */
	u64 last;		/* when the last packet of the queue leaves, ns */
	u32 backlog;		/* bytes */
};

struct port {
	struct pipe back;	/* what this device's owner receives; unused in lf0 */
	u64 delay;		/* ns */
};

static struct net_device *devices[1 + MOST];

/* The bottleneck, and what it did. */
static struct pipe ahead;
static u64 sent_packets, sent_bytes;
static u32 drops;

static u64 *leaves(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(u64) > sizeof(skb->cb));
	return (u64 *)skb->cb;
}

/*
 * When a packet is delivered it was not looked at for a round trip, and is in no cache:
 * fetch what the next ones need while this one is dealt with.
 */
static void fetch_next(struct sk_buff_head *queue)
{
	struct sk_buff *next = skb_peek(queue), *second;

	if (!next)
		return;
	second = skb_peek_next(next, queue);
	if (!second)
		return;
	prefetch(second->next);
	prefetch((char *)second->next + 64);
	prefetch((char *)second->next + 128);
	prefetch((char *)second->next + 192);
	prefetch(second->data);
	prefetch(skb_shinfo(second));
}

/* Hand over what has left by now, and wait for the next. */
static enum hrtimer_restart deliver(struct hrtimer *timer)
{
	struct pipe *pipe = container_of(timer, struct pipe, timer);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	spin_lock(&pipe->lock);
	while ((skb = skb_peek(&pipe->queue)) && *leaves(skb) <= now) {
		u32 len = skb->len + ETH_HLEN;

		__skb_unlink(skb, &pipe->queue);
		pipe->backlog -= len;
		if (pipe == &ahead) {
			sent_packets++;
			sent_bytes += len;
		}
		fetch_next(&pipe->queue);
		spin_unlock(&pipe->lock);
		netif_receive_skb(skb);
		spin_lock(&pipe->lock);
	}
	pipe->busy = skb;
	if (skb)
		hrtimer_start(timer, ns_to_ktime(*leaves(skb)), HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&pipe->lock);
	return HRTIMER_NORESTART;
}

/* The packet's way is @pipe, and it leaves at @when; the lock is held. */
static void enqueue(struct pipe *pipe, struct sk_buff *skb, u32 len, u64 when)
{
	*leaves(skb) = when;
	pipe->last = when;
	pipe->backlog += len;
	__skb_queue_tail(&pipe->queue, skb);
	if (pipe->busy)
		return;
	pipe->busy = true;
	hrtimer_start(&pipe->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

/* Of a sender: through the bottleneck. */
static bool send_ahead(struct sk_buff *skb, u32 len)
{
	u64 begins = ktime_get_ns();
	bool room;

	spin_lock_bh(&ahead.lock);
	room = skb_queue_len(&ahead.queue) < limit;
	if (room) {
		if (!skb_queue_empty(&ahead.queue))
			begins = max(begins, ahead.last);
		enqueue(&ahead, skb, len,
			begins + div64_u64((u64)(len - ETH_HLEN) * NSEC_PER_SEC, rate));
	} else {
		drops++;
	}
	spin_unlock_bh(&ahead.lock);
	return room;
}

static void send_back(struct sk_buff *skb, u32 len, struct port *port)
{
	struct pipe *back = &port->back;

	spin_lock_bh(&back->lock);
	enqueue(back, skb, len, ktime_get_ns() + port->delay);
	spin_unlock_bh(&back->lock);
}

/* For whom a packet of the receiver is, NULL: nobody. */
static struct net_device *owner_of(struct sk_buff *skb)
{
	unsigned int third = ntohl(ip_hdr(skb)->daddr) >> 8 & 0xff;

	return third < ports ? devices[1 + third] : NULL;
}

static netdev_tx_t lflink_xmit(struct sk_buff *skb, struct net_device *dev)
{
	bool forward = dev != devices[0];
	struct net_device *to = NULL;
	u32 len = skb->len;

	/* What IPv6 asks its neighbours takes no room. */
	if (skb->protocol == htons(ETH_P_IP))
		to = forward ? devices[0] : owner_of(skb);

	/* It leaves its socket and its namespace now, while it is in the cache. */
	skb_orphan(skb);
	if (!to || __dev_forward_skb(to, skb) != NET_RX_SUCCESS) {
		if (!to)
			kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	if (!forward)
		send_back(skb, len, netdev_priv(to));
	else if (!send_ahead(skb, len))
		kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops lflink_ops = {
	.ndo_start_xmit = lflink_xmit,
};

static void lflink_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &lflink_ops;
	/* All have the address 0, so that nobody has to ask for it. */
	dev->flags |= IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	dev->max_mtu = ETH_MAX_MTU;
}

static void pipe_begin(struct pipe *pipe)
{
	spin_lock_init(&pipe->lock);
	__skb_queue_head_init(&pipe->queue);
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(&pipe->timer, deliver, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&pipe->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	pipe->timer.function = deliver;
#endif
}

static void pipe_end(struct pipe *pipe)
{
	hrtimer_cancel(&pipe->timer);
	__skb_queue_purge(&pipe->queue);
}

static int queue_get(char *buffer, const struct kernel_param *kp)
{
	int len;

	spin_lock_bh(&ahead.lock);
	len = sprintf(buffer, "%u %u %u %llu %llu\n", ahead.backlog,
		      skb_queue_len(&ahead.queue), drops, sent_packets, sent_bytes);
	spin_unlock_bh(&ahead.lock);
	return len;
}

static const struct kernel_param_ops queue_ops = { .get = queue_get };
module_param_cb(queue, &queue_ops, NULL, 0444);
MODULE_PARM_DESC(queue, "backlog (bytes, packets), drops, and what has left (packets, bytes)");

/* The devices may be in any namespace, or back from one that is gone. */
static void lflink_unregister(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		unregister_netdev(devices[i]);
	pipe_end(&ahead);
	for (i = 0; i < count; i++) {
		pipe_end(&((struct port *)netdev_priv(devices[i]))->back);
		free_netdev(devices[i]);
	}
}

static int __init lflink_register(void)
{
	unsigned int i;
	int err;

	if (!rate || !limit || !ports) {
		pr_err("rate, limit and delay are needed, and may not be 0\n");
		return -EINVAL;
	}
	pipe_begin(&ahead);
	for (i = 0; i <= ports; i++) {
		struct net_device *dev = alloc_netdev(sizeof(struct port), "lf%d",
						      NET_NAME_ENUM, lflink_setup);
		struct port *port;

		err = -ENOMEM;
		if (!dev)
			goto failed;
		port = netdev_priv(dev);
		pipe_begin(&port->back);
		port->delay = i ? delay[i - 1] : 0;
		devices[i] = dev;
		err = register_netdev(dev);
		if (err) {
			free_netdev(dev);
			goto failed;
		}
	}
	return 0;
failed:
	lflink_unregister(i);
	return err;
}

static void __exit lflink_exit(void)
{
	lflink_unregister(1 + ports);
}

module_init(lflink_register);
module_exit(lflink_exit);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A path between senders and a receiver, in one pass");
