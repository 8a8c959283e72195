// SPDX-License-Identifier: GPL-2.0
/*
 * What an ACK costs: the entry points of congestion control, called as the stack
 * calls them, on a socket that has no peer.
 *
 * Each algorithm gets a TCP socket of its own, all set up alike: 100 ms, packets of
 * 1000 bytes, of which 10^6 are within TCP's largest window, a full window, pacing by
 * fq, and a clock that an ACK moves by as much as it would on that path.
 * Measured are the ACKs of one round trip, 65536 at most:
 *
 *	slow_start	from the window W up
 *	avoidance	ssthresh is W
 *	recovery	after a loss, one packet in 32 more is lost
 *	loss		a loss event that turns out to be spurious, without an ACK
 *
 * and an ACK is, in the order of tcp_ack() and tcp_write_xmit(), those that it has of
 *
 *	in_ack_event, pkts_acked, cong_control or (not in recovery) cong_avoid,
 *	min_tso_segs
 *
 * What comes before is not counted: ->init and as many ACKs, 16 at most.  Where they
 * are few, it is done again until they are 64, a batch.  Batches of all algorithms take
 * turns, so that a slow moment of the machine is everyone's.  Two are always there:
 *
 *	-	has no entry points; what it takes is the loop's
 *	core	what the core does for those without cong_control, who do not pay for
 *		it here: the pacing rate, and in recovery the proportional reduction
 *
 * Ticks are those of rdtsc.  Where an emulator counts instructions as time
 * (qemu -icount shift=0) they are instructions.
 *
 * It turns the kernel's jiffies while a batch runs, with interrupts off; so it
 * is for a machine with one CPU that does nothing else.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include <longfat/compat.h>
#include <longfat/control.h>

/* It has another name since there is accurate ECN. */
#ifndef TCP_ECN_OK
#define TCP_ECN_OK	TCP_ECN_MODE_RFC3168
#endif

static char *algorithms = "reno cubic";
module_param(algorithms, charp, 0444);
MODULE_PARM_DESC(algorithms, "congestion controls, with blanks between them");

static unsigned int rounds = 51;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "batches of each kind, 1 to 1001");

enum cost_phase {
	COST_SLOW_START, COST_AVOIDANCE, COST_RECOVERY, COST_LOSS, COST_PHASES
};

static const char * const cost_phases[] = {
	"slow_start", "avoidance", "recovery", "loss",
};

static const u32 cost_windows[] = { 10, 100, 1000, 10000, 100000, 1000000 };
static const u32 cost_acked[] = { 1, 2, 8, 64 };

#define COST_CELLS	(COST_PHASES * ARRAY_SIZE(cost_windows) * \
			 ARRAY_SIZE(cost_acked))

/* The path. */
static const u32 cost_rtt_us = 100000;
static const u32 cost_mss = 1000;

static const u32 cost_most = 65536;	/* ACKs of a round trip */
static const u32 cost_warm = 16;	/* ACKs before them, at most */
static const u32 cost_batch = 64;	/* ACKs of a batch, at least */
static const u32 cost_loss = 32;	/* one packet in so many, in recovery */

/* Time has 24 bits of fraction: 10^6 ACKs in a round trip are 0.1 us apart. */
#define COST_SHIFT	24

/* What is measured. */
struct cost_cell {
	enum cost_phase phase;
	u32 window, acked;	/* packets */
	u32 acks;		/* of a round trip */
	u32 times;		/* that it is done, for a batch */
};

struct cost_result {
	u32 low, median, high;	/* ticks of a batch, quartiles */
};

struct cost_algorithm {
	struct socket *sock;
	const struct tcp_congestion_ops *ops;	/* what it came with */
};

/* Where the clocks are, << COST_SHIFT, and the ACK at hand. */
struct cost_path {
	u64 us, jiffy;
	u64 us_step, jiffy_step;
	unsigned long since;	/* jiffies when the batch began */
	u32 to_lose;		/* packets until one is lost */
	u32 random;
	struct ack_sample sample;
	struct rate_sample rs;
};

static struct cost_algorithm *cost_all;
static u32 cost_count;
static struct cost_cell cost_cells[COST_CELLS];
static u32 cost_cell_count;
static struct cost_result *cost_results;	/* [cell][algorithm] */

/* Nothing moves across it, neither way. */
static __always_inline u64 cost_ticks(void)
{
#ifdef __x86_64__
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : :
		     "memory");
	return (u64)high << 32 | low;
#else
	return get_cycles();
#endif
}

/* --- the stack's part ------------------------------------------------------ */

/* An ACK for @acked packets, and what it lets out. */
static __always_inline void cost_ack(struct sock *sk, struct cost_path *path,
				     u32 acked)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_congestion_ops *ops = icsk->icsk_ca_ops;
	bool recovery = icsk->icsk_ca_state == TCP_CA_Recovery;
	struct rate_sample *rs = &path->rs;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 lost = 0;

	path->us += path->us_step;
	path->jiffy += path->jiffy_step;
	jiffies = path->since + (unsigned long)(path->jiffy >> COST_SHIFT);
	tp->tcp_mstamp = path->us >> COST_SHIFT;
	tp->tcp_clock_cache = tp->tcp_mstamp * NSEC_PER_USEC;
	tp->rcv_tstamp = tcp_jiffies32;

	if (ops->in_ack_event)
		ops->in_ack_event(sk, recovery ?
				  CA_ACK_WIN_UPDATE | CA_ACK_SLOWPATH :
				  CA_ACK_WIN_UPDATE);

	/* What came takes up to 1 % of the round trip in some queue. */
	path->random = path->random * 1664525 + 1013904223;
	rs->rtt_us = cost_rtt_us + (path->random >> 22);
	tp->rack.rtt_us = rs->rtt_us;
	tp->rack.mstamp = tp->tcp_mstamp - rs->rtt_us;
	tp->srtt_us += (u32)rs->rtt_us - (tp->srtt_us >> 3);
	tp->snd_una += acked * cost_mss;
	tp->delivered += acked;
	tp->delivered_mstamp = tp->tcp_mstamp;
	if (recovery) {
		path->to_lose += acked;
		lost = path->to_lose / cost_loss;
		path->to_lose %= cost_loss;
		tp->lost += lost;
	}
	path->sample.rtt_us = rs->rtt_us;
	path->sample.pkts_acked = acked;
	path->sample.in_flight = tp->packets_out;
	if (ops->pkts_acked)
		ops->pkts_acked(sk, &path->sample);

	rs->prior_mstamp = tp->tcp_mstamp - rs->rtt_us;
	rs->prior_delivered = tp->delivered - tp->packets_out;
	rs->delivered = tp->packets_out;
	rs->interval_us = rs->rtt_us;
	rs->acked_sacked = acked;
	rs->losses = lost;
	rs->prior_in_flight = tp->packets_out;
	if (ops->cong_control)
#ifdef LF_HAVE_CONG_CONTROL_ACK
		ops->cong_control(sk, tp->snd_una, 0, rs);
#else
		ops->cong_control(sk, rs);
#endif
	else if (ops->cong_avoid && !recovery)
		ops->cong_avoid(sk, tp->snd_una, acked);

	if (ops->min_tso_segs)
		ops->min_tso_segs(sk);
	tp->packets_out = tcp_snd_cwnd(tp);
	tp->max_packets_out = tp->packets_out;
	tp->snd_nxt = tp->snd_una + tp->packets_out * cost_mss;
	tp->write_seq = tp->snd_nxt + BIT(20);
	tp->data_segs_out += acked;
	tp->lsndtime = tcp_jiffies32;
}

static void cost_set_state(struct sock *sk, u8 state)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (icsk->icsk_ca_ops->set_state)
		icsk->icsk_ca_ops->set_state(sk, state);
	icsk->icsk_ca_state = state;
}

/* A packet is found lost: recovery begins. */
static void cost_lose(struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;
	struct tcp_sock *tp = tcp_sk(sk);

	tp->lost++;
	tp->prior_ssthresh = tp->snd_ssthresh;
	tp->high_seq = tp->snd_nxt;
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->snd_cwnd_cnt = 0;
	tp->prr_delivered = 0;
	tp->prr_out = 0;
	tp->snd_ssthresh = tp->prior_cwnd / 2;
	if (ops->ssthresh)
		tp->snd_ssthresh = ops->ssthresh(sk);
	cost_set_state(sk, TCP_CA_Recovery);
	if (!ops->cong_control)
		tcp_snd_cwnd_set(tp, min(tp->snd_ssthresh, tp->prior_cwnd));
}

/* It was not. */
static void cost_undo(struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;
	struct tcp_sock *tp = tcp_sk(sk);

	if (ops->undo_cwnd)
		tcp_snd_cwnd_set(tp, ops->undo_cwnd(sk));
	tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
	if (ops->cwnd_event)
		ops->cwnd_event(sk, CA_EVENT_COMPLETE_CWR);
	cost_set_state(sk, TCP_CA_Open);
}

/* --- two that are no algorithms --------------------------------------------- */

/* As tcp_cwnd_reduction() and tcp_update_pacing_rate(). */
static void cost_core_control(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 out = tp->packets_out, cwnd;
	u64 rate;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery) {
		s32 send = tp->snd_ssthresh - out;

		tp->prr_delivered += rs->acked_sacked;
		if (send < 0)
			send = div_u64((u64)tp->snd_ssthresh * tp->prr_delivered +
				       tp->prior_cwnd - 1, tp->prior_cwnd) -
			       tp->prr_out;
		else
			send = min_t(s32, send, rs->acked_sacked + 1);
		tp->prr_out += max(send, 0);
		tcp_snd_cwnd_set(tp, max(out - rs->acked_sacked + max(send, 0),
					 1U));
	}
	cwnd = tcp_snd_cwnd(tp);
	rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);
	rate *= cwnd < tp->snd_ssthresh / 2 ?
		READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ss_ratio) :
		READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_pacing_ca_ratio);
	rate *= max(cwnd, out);
	if (tp->srtt_us)
		do_div(rate, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate,
		   min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

LF_DEFINE_CONG_CONTROL(cost_core)

static const struct tcp_congestion_ops cost_always[] = {
	{ .name = "-" },
	{ .name = "core", .cong_control = cost_core_cong_control },
};

/* --- a batch --------------------------------------------------------------- */

/* A connection at @window that selects its algorithm now. */
static void cost_begin(struct sock *sk, const struct cost_cell *cell)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (icsk->icsk_ca_ops->release)
		icsk->icsk_ca_ops->release(sk);
	memset(icsk->icsk_ca_priv, 0, sizeof(icsk->icsk_ca_priv));
	icsk->icsk_ca_state = TCP_CA_Open;
	icsk->icsk_rto = HZ / 4;
	sk->sk_pacing_status = SK_PACING_FQ;
	sk->sk_pacing_rate = ~0UL;
	sk->sk_gso_max_size = 65536;
	sk->sk_gso_max_segs = 65535;
	sk->sk_pacing_shift = 10;
	tp->mss_cache = cost_mss;
	tp->srtt_us = (cost_rtt_us + 500) << 3;
	minmax_reset(&tp->rtt_min, tcp_jiffies32, cost_rtt_us);
	tcp_snd_cwnd_set(tp, cell->window);
	tp->snd_cwnd_clamp = U32_MAX / 2;
	tp->snd_cwnd_cnt = 0;
	tp->snd_ssthresh = cell->phase == COST_SLOW_START ?
			   TCP_INFINITE_SSTHRESH : cell->window;
	tp->is_cwnd_limited = 1;
	tp->packets_out = cell->window;
	tp->max_packets_out = cell->window;
	tp->snd_una = 1;
	tp->snd_nxt = tp->snd_una + cell->window * cost_mss;
	tp->write_seq = tp->snd_nxt + BIT(20);
	tp->snd_wnd = BIT(30);
	tp->delivered = BIT(24);
	tp->data_segs_out = tp->delivered + cell->window;
	tp->lost = 0;
	tp->delivered_ce = 0;
	tp->reordering = 3;
	tp->rate_app_limited = 0;
	tp->rate_delivered = cell->window;
	tp->rate_interval_us = cost_rtt_us;
	tp->app_limited = 0;
	tp->lsndtime = tcp_jiffies32;
	tp->ecn_flags = TCP_ECN_OK;
	if (icsk->icsk_ca_ops->init)
		icsk->icsk_ca_ops->init(sk);
}

/* Ticks of one round trip. */
static u64 cost_once(struct sock *sk, const struct cost_cell *cell)
{
	u64 step_us = (u64)cost_rtt_us * cell->acked << COST_SHIFT;
	u32 warm = min(cell->acks, cost_warm), i;
	struct cost_path path = { .random = 1 };
	unsigned long flags;
	u64 begin, end;

	local_irq_save(flags);
	path.since = jiffies;
	path.us = (u64)USEC_PER_SEC * 1000 << COST_SHIFT;
	path.us_step = div_u64(step_us, cell->window);
	path.jiffy_step = div_u64(path.us_step * HZ, USEC_PER_SEC);
	tcp_sk(sk)->tcp_mstamp = path.us >> COST_SHIFT;
	cost_begin(sk, cell);
	for (i = 0; i < warm; i++)
		cost_ack(sk, &path, cell->acked);
	if (cell->phase == COST_LOSS) {
		begin = cost_ticks();
		cost_lose(sk);
		cost_undo(sk);
		end = cost_ticks();
	} else {
		if (cell->phase == COST_RECOVERY)
			cost_lose(sk);
		begin = cost_ticks();
		for (i = 0; i < cell->acks; i++)
			cost_ack(sk, &path, cell->acked);
		end = cost_ticks();
	}
	jiffies = path.since;
	local_irq_restore(flags);
	return end - begin;
}

/* Ticks of a batch. */
static u64 cost_run(struct sock *sk, const struct cost_cell *cell)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < cell->times; i++)
		sum += cost_once(sk, cell);
	return sum;
}

static int cost_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static int cost_measure(u32 c, u32 *ticks)
{
	const struct cost_cell *cell = &cost_cells[c];
	u32 round, i;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < cost_count; i++) {
			/* Each is the first of a round now and then. */
			u32 turn = (i + round) % cost_count;
			u64 took = cost_run(cost_all[turn].sock->sk, cell);

			if (took > U32_MAX) {
				pr_err("a batch took %llu ticks: this machine stood still, measure again\n",
				       took);
				return -ERANGE;
			}
			ticks[turn * rounds + round] = took;
		}
		cond_resched();
	}
	for (i = 0; i < cost_count; i++) {
		struct cost_result *out = &cost_results[c * cost_count + i];
		u32 *mine = ticks + i * rounds;

		sort(mine, rounds, sizeof(*mine), cost_compare, NULL);
		out->low = mine[rounds / 4];
		out->median = mine[rounds / 2];
		out->high = mine[rounds - 1 - rounds / 4];
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------- */

/* More than a window is never acknowledged; a loss event is one, whatever follows. */
static void cost_choose(void)
{
	u32 p, w, a;

	for (p = 0; p < COST_PHASES; p++) {
		for (w = 0; w < ARRAY_SIZE(cost_windows); w++) {
			for (a = 0; a < ARRAY_SIZE(cost_acked); a++) {
				struct cost_cell *cell =
					&cost_cells[cost_cell_count];

				cell->phase = p;
				cell->window = cost_windows[w];
				cell->acked = cost_acked[a];
				if (cell->acked > cell->window ||
				    (p == COST_LOSS && cell->acked > 1))
					continue;
				cell->acks = p == COST_LOSS ? 1 :
					min(cell->window / cell->acked,
					    cost_most);
				cell->times = DIV_ROUND_UP(cost_batch,
							   cell->acks);
				cost_cell_count++;
			}
		}
	}
}

static int cost_open(struct cost_algorithm *one, const char *name)
{
	int err = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
				   &one->sock);
	u32 i;

	if (err) {
		one->sock = NULL;
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(cost_always); i++) {
		if (strcmp(name, cost_always[i].name))
			continue;
		one->ops = inet_csk(one->sock->sk)->icsk_ca_ops;
		inet_csk(one->sock->sk)->icsk_ca_ops = &cost_always[i];
		return 0;
	}
	err = one->sock->ops->setsockopt(one->sock, SOL_TCP, TCP_CONGESTION,
					 KERNEL_SOCKPTR((void *)name),
					 strlen(name));
	if (err)
		pr_err("no congestion control %s: load its module\n", name);
	return err;
}

static void cost_free(void)
{
	u32 i;

	for (i = 0; cost_all && i < cost_count; i++) {
		struct socket *sock = cost_all[i].sock;

		if (!sock)
			continue;
		tcp_sk(sock->sk)->packets_out = 0;
		if (cost_all[i].ops)
			inet_csk(sock->sk)->icsk_ca_ops = cost_all[i].ops;
		sock_release(sock);
	}
	kfree(cost_all);
	kvfree(cost_results);
}

static int cost_open_all(void)
{
	char *names = kasprintf(GFP_KERNEL, "- core %s", algorithms), *rest, *name;
	u32 room = 1;
	int err = 0;

	if (!names)
		return -ENOMEM;
	for (rest = names; *rest; rest++)
		room += *rest == ' ';
	cost_all = kcalloc(room, sizeof(*cost_all), GFP_KERNEL);
	if (!cost_all)
		err = -ENOMEM;
	rest = names;
	while (!err && (name = strsep(&rest, " ")))
		if (*name)
			err = cost_open(&cost_all[cost_count++], name);
	kfree(names);
	return err;
}

static int cost_show(struct seq_file *m, void *v)
{
	u32 c, i;

	for (c = 0; c < cost_cell_count; c++) {
		for (i = 0; i < cost_count; i++) {
			const struct cost_cell *cell = &cost_cells[c];
			const struct cost_result *out =
				&cost_results[c * cost_count + i];
			const struct tcp_congestion_ops *ops =
				inet_csk(cost_all[i].sock->sk)->icsk_ca_ops;

			seq_printf(m, "%s %s %u %u %u %u %u %u %u\n",
				   ops->name, cost_phases[cell->phase],
				   cell->window, cell->acked,
				   cell->acks * cell->times, out->low,
				   out->median, out->high, !!ops->cong_control);
		}
	}
	return 0;
}

static int __init cost_init(void)
{
	u32 *ticks = NULL, c;
	int err;

	if (num_online_cpus() > 1) {
		pr_err("%u CPUs are on line: it turns jiffies, and needs to be alone; boot with maxcpus=1\n",
		       num_online_cpus());
		return -EBUSY;
	}
	if (!rounds || rounds > 1001) {
		pr_err("rounds=%u refused: valid is 1 to 1001\n", rounds);
		return -ERANGE;
	}
	cost_choose();
	err = cost_open_all();
	if (err)
		goto fail;
	err = -ENOMEM;
	ticks = kvmalloc_array(cost_count * rounds, sizeof(*ticks), GFP_KERNEL);
	cost_results = kvcalloc(cost_count * cost_cell_count,
				sizeof(*cost_results), GFP_KERNEL);
	if (!ticks || !cost_results)
		goto fail;
	for (c = 0; c < cost_cell_count; c++) {
		err = cost_measure(c, ticks);
		if (err)
			goto fail;
	}
	err = -ENOMEM;
	if (!proc_create_single("longfat_ack_cost", 0444, NULL, cost_show))
		goto fail;
	kvfree(ticks);
	return 0;

fail:
	kvfree(ticks);
	cost_free();
	return err;
}

static void __exit cost_exit(void)
{
	remove_proc_entry("longfat_ack_cost", NULL);
	cost_free();
}

module_init(cost_init);
module_exit(cost_exit);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What an ACK costs in each congestion control");
