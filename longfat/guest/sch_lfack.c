// SPDX-License-Identifier: GPL-2.0
/*
 * lfack - a receiver that does not acknowledge as it should, as a qdisc of its device
 *
 *	insmod sch_lfack.ko every=100,0 ahead=0,30000 silent=0,1
 *	tc qdisc add dev eth0 root lfack
 *
 * Each number is of one sender: the first of 10.1.0.0/24, the second of 10.1.1.0/24.  The
 * receiver's own kernel is honest.  What it says to that sender is changed on its way out:
 *
 *	every	ACK division: an acknowledgment for each so many bytes, of which the last is
 *		the one that was to be sent
 *	ahead	acknowledgments for what has not arrived: so many bytes behind the last one that
 *		has, at most half of what the connection has received so far.  Gaps are
 *		acknowledged, too, so the sender hears of no loss, and SACK blocks are left out
 *	silent	no ECN echo: the sender hears of no mark (RFC 3168)
 *
 * A sender that says again what was acknowledged does not believe it.  The connection is honest
 * then, but for gaps, and what it has received is counted anew.
 *
 * Only what has an IPv4 header without options is changed.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/tcp.h>
#include <linux/vmalloc.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>

#define MOST		256	/* senders */
#define BUCKETS		16384	/* of connections; a power of two */
#define PIECES		65536	/* of an acknowledgment */

static unsigned int every[MOST], ahead[MOST], silent[MOST];
static unsigned int of_every, of_ahead, of_silent;

module_param_array(every, uint, &of_every, 0444);
MODULE_PARM_DESC(every, "for each sender: an acknowledgment for each so many bytes; 0: as it is");
module_param_array(ahead, uint, &of_ahead, 0444);
MODULE_PARM_DESC(ahead, "for each sender: so many bytes that have not arrived; 0: none");
module_param_array(silent, uint, &of_silent, 0444);
MODULE_PARM_DESC(silent, "for each sender: 1: no ECN echo");

/* A connection as this side sees it. */
struct connection {
	struct hlist_node node;
	__be32 peer;
	__be32 ports;		/* the peer's first */
	u32 said;		/* the last acknowledgment */
	u32 arrived;		/* behind the last byte that has arrived */
	u32 bytes;		/* that have, since it was last believed */
};

struct lfack {
	struct packet_type tap;
	spinlock_t lock;		/* of the connections */
	struct hlist_head *buckets;	/* they stay: a run has an end */
};

/* Whose rules are those of this address; false: nobody's. */
static bool sender(__be32 address, unsigned int *i)
{
	*i = ntohl(address) >> 8 & 0xff;
	return ntohl(address) >> 16 == (10 << 8 | 1);
}

static struct hlist_head *bucket(struct lfack *q, __be32 peer, __be32 ports)
{
	u32 hash = jhash_2words((__force u32)peer, (__force u32)ports, 0);

	return &q->buckets[hash & (BUCKETS - 1)];
}

static struct connection *known(struct lfack *q, __be32 peer, __be32 ports)
{
	struct connection *c;

	hlist_for_each_entry(c, bucket(q, peer, ports), node)
		if (c->peer == peer && c->ports == ports)
			return c;
	return NULL;
}

/* A connection begins, perhaps with the ports of an older one. */
static struct connection *begin(struct lfack *q, __be32 peer, __be32 ports, u32 from)
{
	struct connection *c = known(q, peer, ports);

	if (!c) {
		c = kzalloc(sizeof(*c), GFP_ATOMIC);
		if (!c)
			return NULL;
		c->peer = peer;
		c->ports = ports;
		hlist_add_head(&c->node, bucket(q, peer, ports));
	}
	c->said = from;
	c->arrived = from;
	c->bytes = 0;
	return c;
}

/* The two ports as one, the first one given first. */
static __be32 both(__be16 first, __be16 second)
{
	return htonl((u32)ntohs(first) << 16 | ntohs(second));
}

/* The TCP header of a packet whose data are in one piece up to its end; NULL: it has none. */
static struct tcphdr *tcp_of(struct sk_buff *skb)
{
	int at = skb_network_offset(skb);
	struct iphdr *ip;
	struct tcphdr *th;

	if (skb->protocol != htons(ETH_P_IP) || !pskb_may_pull(skb, at + sizeof(*ip) + sizeof(*th)))
		return NULL;
	ip = ip_hdr(skb);
	if (ip->protocol != IPPROTO_TCP || ip->ihl != 5)
		return NULL;
	th = (struct tcphdr *)(ip + 1);
	if (!pskb_may_pull(skb, at + sizeof(*ip) + 4 * th->doff))
		return NULL;
	return (struct tcphdr *)(ip_hdr(skb) + 1);
}

/* Bytes of the stream that a packet has. */
static u32 length(const struct sk_buff *skb, const struct tcphdr *th)
{
	return ntohs(ip_hdr(skb)->tot_len) - sizeof(struct iphdr) - 4 * th->doff;
}

/* What comes in: how far the stream has arrived, whatever the kernel does with it. */
static int lfack_heard(struct sk_buff *skb, struct net_device *dev, struct packet_type *tap,
		       struct net_device *orig)
{
	struct lfack *q = tap->af_packet_priv;
	const struct tcphdr *th;
	struct connection *c;
	__be32 peer, ports;
	unsigned int i;
	u32 from, end;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	th = tcp_of(skb);
	if (!th || !sender(ip_hdr(skb)->saddr, &i))
		goto out;
	peer = ip_hdr(skb)->saddr;
	ports = both(th->source, th->dest);
	from = ntohl(th->seq) + th->syn;
	end = from + length(skb, th) + th->fin;
	spin_lock(&q->lock);
	c = th->syn ? begin(q, peer, ports, from) : known(q, peer, ports);
	/* It says again what was acknowledged, also of gaps. */
	if (c && end != from && before(from, c->arrived))
		c->bytes = 0;
	if (c && after(end, c->arrived)) {
		c->bytes += min(end - c->arrived, U32_MAX - c->bytes);
		c->arrived = end;
	}
	spin_unlock(&q->lock);
out:
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/* Two bytes of the TCP header's options become padding. */
static void without_sack(struct tcphdr *th)
{
	u8 *option = (u8 *)(th + 1), *end = (u8 *)th + 4 * th->doff;

	while (option < end && *option != TCPOPT_EOL) {
		u8 size = 1;

		if (*option != TCPOPT_NOP) {
			if (option + 1 == end || option[1] < 2 || option + option[1] > end)
				return;
			size = option[1];
			if (*option == TCPOPT_SACK)
				memset(option, TCPOPT_NOP, size);
		}
		option += size;
	}
}

static void sum(struct sk_buff *skb, struct tcphdr *th)
{
	const struct iphdr *ip = ip_hdr(skb);
	int size = ntohs(ip->tot_len) - sizeof(*ip);

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return;		/* of the addresses alone so far */
	th->check = 0;
	th->check = tcp_v4_check(size, ip->saddr, ip->daddr, csum_partial(th, size, 0));
}

/* An acknowledgment of less, before the one in @skb. */
static void divide(struct sk_buff *skb, struct Qdisc *sch, u32 from, u32 to, u32 step)
{
	u32 said;

	if (to - from > step * (u64)PIECES)
		from = to - step * PIECES;
	for (said = from + step; before(said, to); said += step) {
		struct sk_buff *piece = skb_copy(skb, GFP_ATOMIC);
		struct tcphdr *th;

		if (!piece)
			return;
		qdisc_skb_cb(piece)->pkt_len = piece->len;
		th = (struct tcphdr *)(ip_hdr(piece) + 1);
		th->ack_seq = htonl(said);
		sum(piece, th);
		qdisc_enqueue_tail(piece, sch);
	}
}

/* Say something else, and perhaps more than once. */
static void change(struct sk_buff *skb, struct Qdisc *sch, struct tcphdr *th, unsigned int i)
{
	struct lfack *q = qdisc_priv(sch);
	__be32 peer = ip_hdr(skb)->daddr, ports = both(th->dest, th->source);
	u32 said = ntohl(th->ack_seq), last;
	struct connection *c;

	spin_lock(&q->lock);
	c = known(q, peer, ports);
	if (!c) {
		spin_unlock(&q->lock);
		return;
	}
	if (ahead[i]) {
		u32 more = c->arrived + min(ahead[i], c->bytes / 2);

		said = after(more, c->said) ? more : c->said;
		without_sack(th);
	}
	last = c->said;
	if (after(said, last))
		c->said = said;
	spin_unlock(&q->lock);
	th->ack_seq = htonl(said);
	if (silent[i])
		th->ece = 0;
	sum(skb, th);
	if (every[i] && after(said, last) && !length(skb, th))
		divide(skb, sch, last, said, every[i]);
}

static int lfack_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct tcphdr *th = NULL;
	unsigned int i;

	if (!skb_is_gso(skb) && !skb_ensure_writable(skb, skb_headlen(skb)))
		th = tcp_of(skb);
	if (th && th->ack && !th->syn && !th->rst && sender(ip_hdr(skb)->daddr, &i))
		change(skb, sch, th, i);
	return qdisc_enqueue_tail(skb, sch);
}

static int lfack_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct lfack *q = qdisc_priv(sch);

	q->buckets = vzalloc(array_size(BUCKETS, sizeof(*q->buckets)));
	if (!q->buckets)
		return -ENOMEM;
	spin_lock_init(&q->lock);
	q->tap = (struct packet_type){
		.type = htons(ETH_P_IP),
		.dev = qdisc_dev(sch),
		.func = lfack_heard,
		.af_packet_priv = q,
	};
	dev_add_pack(&q->tap);
	return 0;
}

static void lfack_destroy(struct Qdisc *sch)
{
	struct lfack *q = qdisc_priv(sch);
	struct hlist_node *next;
	struct connection *c;
	unsigned int i;

	if (!q->buckets)
		return;
	dev_remove_pack(&q->tap);
	for (i = 0; i < BUCKETS; i++)
		hlist_for_each_entry_safe(c, next, &q->buckets[i], node)
			kfree(c);
	vfree(q->buckets);
}

static struct Qdisc_ops lfack_ops = {
	.id		= "lfack",
	.priv_size	= sizeof(struct lfack),
	.enqueue	= lfack_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= lfack_init,
	.reset		= qdisc_reset_queue,
	.destroy	= lfack_destroy,
	.owner		= THIS_MODULE,
};

static int __init lfack_register(void)
{
	return register_qdisc(&lfack_ops);
}

static void __exit lfack_unregister(void)
{
	unregister_qdisc(&lfack_ops);
}

module_init(lfack_register);
module_exit(lfack_unregister);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A receiver that does not acknowledge as it should");
