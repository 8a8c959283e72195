// SPDX-License-Identifier: GPL-2.0
/*
 * One of the modules, tcp_*.c as it is, in a program, with a TCP sender around it that
 * does what the bytes of a fuzzer say: parameters, connections, round trips, losses,
 * marks, timeouts, undo, pauses, other packet sizes, other algorithms in between.
 *
 * MODULE is the file to include, STATE its struct, RULES what is true of it alone
 * (tests/fuzz/rules_*.h).  The sender keeps to what the kernel's core promises an
 * algorithm, and to nothing else: RTTs, windows and counters may be anything, also
 * what no path has; but no more than 2^30 bytes are in flight.
 *
 * After each call of a hook:
 *
 *	1 <= cwnd, and no more than the clamp, or than it was
 *	2 <= ssthresh
 *	an acknowledgment for n packets lets the window grow by n at most
 *	a pacing rate that was written is neither 0 nor "no limit", nor more than
 *	SO_MAX_PACING_RATE
 *	one acknowledgment for n packets is as good as n for one, but in the first
 *	slow start, which counts acknowledgments
 *	a parameter is one that its range has
 *	released, the socket's share of what is handed down at a time is TCP's own
 *
 * and at the end no memory is left.  The sanitizers see the rest.
 */
#include <stdint.h>

#define shim_stringify_(x)	#x
#define shim_stringify(x)	shim_stringify_(x)
#define KBUILD_MODNAME		shim_stringify(NAME)

#include MODULE

#include <linux/random.h>
#include <linux/slab.h>

/* What must be true; says what is not, and ends with a report. */
#define require(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		fprintf(stderr, "%s: %s: not true: %s: " fmt "\n",	\
			KBUILD_MODNAME, fuzz_step, #cond, __VA_ARGS__);	\
		abort();						\
	}								\
} while (0)

static const char *fuzz_step = "load";

/* A connection, and what surrounds it. */
struct sender {
	struct tcp_sock tp;
	struct net net;
	struct dst_entry dst;
	struct socket socket;
	u32 recovered;		/* delivered at which a loss event ends */
	bool undo;		/* what ->ssthresh took may be undone */
	bool initialised;	/* ->init was called */
};

static struct sock *sock_of(struct sender *s)
{
	return (struct sock *)&s->tp;
}

static const struct tcp_congestion_ops *ops_of(struct sender *s)
{
	return s->tp.inet_conn.icsk_ca_ops;
}

#include RULES

/* --- the fuzzer's bytes; zeroes when they are at their end --------------- */

struct bytes {
	const u8 *at;
	size_t left;
};

static u32 take(struct bytes *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static u32 take32(struct bytes *in)
{
	u32 x = take(in);

	x |= take(in) << 8;
	x |= take(in) << 16;
	return x | take(in) << 24;
}

/* From 0 to 2^@bits - 1, each power of two as likely as any other: two bytes. */
static u32 take_size(struct bytes *in, u32 bits)
{
	u32 shift = take(in) % (bits + 1), x = take(in);

	return shift > 8 ? (256 + x) << (shift - 9) : x & ((1U << shift) - 1);
}

/* The kernel has no less than 48 bytes with 40 of options. */
static u32 take_mss(struct bytes *in)
{
	return 8 + take_size(in, 15);
}

/* --- hooks, and what they must leave ------------------------------------- */

struct before {
	u32 cwnd, ssthresh;
	unsigned long rate;
};

static struct before look(struct sender *s)
{
	return (struct before){ s->tp.snd_cwnd, s->tp.snd_ssthresh,
				sock_of(s)->sk_pacing_rate };
}

static void check(struct sender *s, const struct before *was, const char *step)
{
	struct tcp_sock *tp = &s->tp;
	struct sock *sk = sock_of(s);
	unsigned long most = sk->sk_max_pacing_rate;

	fuzz_step = step;
	require((s32)tp->snd_cwnd >= 1, "cwnd %u", tp->snd_cwnd);
	require(tp->snd_cwnd <= max(was->cwnd, tp->snd_cwnd_clamp),
		"cwnd %u, was %u, clamp %u", tp->snd_cwnd, was->cwnd,
		tp->snd_cwnd_clamp);
	require(tp->snd_ssthresh >= 2, "ssthresh %u", tp->snd_ssthresh);
	require(sk->sk_gso_max_segs >= 1, "%u", sk->sk_gso_max_segs);
	require(sk->sk_pacing_shift < 32, "%u", sk->sk_pacing_shift);
	if (sk->sk_pacing_rate != was->rate) {
		require(sk->sk_pacing_rate >= min(most, 1UL),
			"pacing %lu, at most %lu", sk->sk_pacing_rate, most);
		require(sk->sk_pacing_rate <= most,
			"pacing %lu, at most %lu", sk->sk_pacing_rate, most);
		require(sk->sk_pacing_rate != ~0UL, "pacing %lu",
			sk->sk_pacing_rate);
	}
	rules_check(s);
}

static void call_init(struct sender *s)
{
	struct before was = look(s);

	/* As tcp_init_congestion_control(): nothing from before is undone after it. */
	s->tp.prior_ssthresh = 0;
	if (ops_of(s)->init)
		ops_of(s)->init(sock_of(s));
	s->initialised = true;
	check(s, &was, "init");
}

static void call_release(struct sender *s)
{
	struct before was = look(s);

	if (ops_of(s)->release)
		ops_of(s)->release(sock_of(s));
	check(s, &was, "release");
	/* What the next algorithm finds is TCP's own, nobody else sets it here. */
	require(sock_of(s)->sk_pacing_shift == 10, "%u",
		sock_of(s)->sk_pacing_shift);
}

static void call_set_state(struct sender *s, u8 state)
{
	struct before was = look(s);

	if (ops_of(s)->set_state)
		ops_of(s)->set_state(sock_of(s), state);
	s->tp.inet_conn.icsk_ca_state = state;
	check(s, &was, "set_state");
}

static void call_ssthresh(struct sender *s)
{
	struct before was = look(s);
	u32 w = ops_of(s)->ssthresh(sock_of(s));

	fuzz_step = "ssthresh";
	require(w >= 2, "%u for cwnd %u", w, was.cwnd);
	rules_ssthresh(s, w, was.cwnd);
	s->tp.snd_ssthresh = w;
	check(s, &was, "ssthresh");
}

static void call_undo(struct sender *s)
{
	struct before was = look(s);
	u32 w = ops_of(s)->undo_cwnd(sock_of(s));

	fuzz_step = "undo";
	require((s32)w >= 1, "%u", w);
	require(w >= min(was.cwnd, s->tp.snd_cwnd_clamp) || rules_undo_lowers(s),
		"%u for cwnd %u", w, was.cwnd);
	require(w <= max3(was.cwnd, s->tp.prior_cwnd, s->tp.snd_cwnd_clamp),
		"%u for cwnd %u, before the loss %u", w, was.cwnd,
		s->tp.prior_cwnd);
	tcp_snd_cwnd_set(&s->tp, w);
	was.cwnd = w;
	check(s, &was, "undo");
}

static void call_tx_start(struct sender *s)
{
	struct before was = look(s);

	if (ops_of(s)->cwnd_event_tx_start)
		ops_of(s)->cwnd_event_tx_start(sock_of(s));
	check(s, &was, "tx_start");
}

static void call_min_tso_segs(struct sender *s)
{
	const struct tcp_sock *tp = &s->tp;
	struct before was = look(s);
	u64 edt = tp->tcp_wstamp_ns;
	bool limited = tp->is_cwnd_limited;
	u32 pacing = sock_of(s)->sk_pacing_status;

	if (!ops_of(s)->min_tso_segs)
		return;
	ops_of(s)->min_tso_segs(sock_of(s));
	check(s, &was, "min_tso_segs");
	/* When it leaves, who paces, and what limits, is TCP's. */
	require(tp->tcp_wstamp_ns == edt, "%llu, was %llu",
		(unsigned long long)tp->tcp_wstamp_ns, (unsigned long long)edt);
	require(tp->is_cwnd_limited == limited, "was %u", limited);
	require(sock_of(s)->sk_pacing_status == pacing, "was %u", pacing);
}

/* The same state, acknowledged packet by packet: the window that it comes to. */
static u32 one_by_one(const struct sender *s, u32 acked)
{
	struct sender other = *s;

	while (acked--)
		ops_of(&other)->cong_avoid(sock_of(&other), other.tp.snd_una, 1);
	return other.tp.snd_cwnd;
}

static void call_cong_avoid(struct sender *s, u32 acked)
{
	struct before was = look(s);
	bool starting = rules_counts_acks(s);
	u32 exact = 0, least = was.cwnd;

	/* Those have no memory of their own, or could not be copied. */
	if (acked <= 64 && s->tp.is_cwnd_limited && !starting)
		exact = one_by_one(s, acked);
	ops_of(s)->cong_avoid(sock_of(s), s->tp.snd_una, acked);
	check(s, &was, "cong_avoid");
	require(s->tp.snd_cwnd <= (u64)was.cwnd + acked,
		"cwnd %u, was %u, %u acknowledged", s->tp.snd_cwnd, was.cwnd,
		acked);
	/* The end of the first slow start; while a queue is asked of, ssthresh is next to it. */
	if (starting && !rules_counts_acks(s))
		least /= 2;
	else if (starting && s->tp.snd_ssthresh == s->tp.snd_cwnd + 1)
		least = least / 2 - least / 16;
	require(s->tp.snd_cwnd >= min(least, s->tp.snd_cwnd_clamp),
		"cwnd %u, was %u", s->tp.snd_cwnd, was.cwnd);
	require(!exact || s->tp.snd_cwnd == exact,
		"cwnd %u, was %u, %u acknowledged, %u one by one",
		s->tp.snd_cwnd, was.cwnd, acked, exact);
}

static void call_cong_control(struct sender *s, const struct rate_sample *rs)
{
	struct before was = look(s);

	rules_before_control(s);
	ops_of(s)->cong_control(sock_of(s), s->tp.snd_una, 0, rs);
	check(s, &was, "cong_control");
	rules_control(s, was.cwnd, rs->acked_sacked);
}

static void call_get_info(struct sender *s, u32 ext)
{
	union tcp_cc_info info;
	int attr = 0;

	fuzz_step = "get_info";
	memset(&info, 0xff, sizeof(info));
	if (ops_of(s)->get_info(sock_of(s), ext, &attr, &info)) {
		require(attr == INET_DIAG_VEGASINFO, "%d", attr);
		require(info.vegas.tcpv_minrtt <= S32_MAX, "%u",
			info.vegas.tcpv_minrtt);
	}
}

/* --- the core ------------------------------------------------------------ */

static void wait_us(struct sender *s, u64 us)
{
	s->tp.tcp_clock_cache += us * NSEC_PER_USEC;
	s->tp.tcp_mstamp = s->tp.tcp_clock_cache / NSEC_PER_USEC;
}

/* @n packets, or what the window has room for, leave. */
static void do_send(struct sender *s, u32 n)
{
	struct inet_connection_sock *icsk = &s->tp.inet_conn;
	struct tcp_sock *tp = &s->tp;
	struct sock *sk = sock_of(s);
	u32 room, idle = tcp_jiffies32 - tp->lsndtime;
	u64 late;

	/* For those without ->cong_control the core restarts after idle. */
	if (!ops_of(s)->cong_control && !tp->packets_out &&
	    s->net.ipv4.sysctl_tcp_slow_start_after_idle &&
	    (s32)idle > (s32)icsk->icsk_rto) {
		u32 w = tp->snd_cwnd, least = min(tp->snd_cwnd, 10U);

		tp->snd_ssthresh = max(tp->snd_ssthresh, w / 2 + w / 4);
		tp->snd_ssthresh = max(tp->snd_ssthresh, 2U);
		for (; idle > icsk->icsk_rto && w > least; w /= 2)
			idle -= icsk->icsk_rto;
		tcp_snd_cwnd_set(tp, max(w, least));
	}
	call_min_tso_segs(s);
	room = tp->snd_cwnd - min(tp->snd_cwnd, tcp_packets_in_flight(tp));
	/* No window of a receiver is more than 2^30 bytes. */
	n = min(n, BIT(30) / tp->mss_cache - min(BIT(30) / tp->mss_cache,
						 tp->packets_out));
	tp->is_cwnd_limited = n >= room;
	n = min(n, room);
	/* How much of the window was used since when, of a timeout at the most. */
	if (tcp_is_cwnd_limited(sk)) {
		tp->snd_cwnd_used = 0;
		tp->snd_cwnd_stamp = tcp_jiffies32;
	} else {
		tp->snd_cwnd_used = max(tp->snd_cwnd_used, tp->packets_out + n);
	}
	if (!n)
		return;
	if (!tcp_packets_in_flight(tp))
		call_tx_start(s);
	tp->lsndtime = tcp_jiffies32;
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, tp->tcp_clock_cache);
	if (sk->sk_pacing_status != SK_PACING_NONE && sk->sk_pacing_rate &&
	    sk->sk_pacing_rate != ~0UL && tp->data_segs_out >= 10) {
		late = (u64)tp->mss_cache * NSEC_PER_SEC / sk->sk_pacing_rate;
		tp->tcp_wstamp_ns += late;
	}
	tp->packets_out += n;
	tp->max_packets_out = max(tp->packets_out, tp->max_packets_out);
	tp->data_segs_out += n;
	tp->snd_nxt += n * tp->mss_cache;
	if (before(tp->write_seq, tp->snd_nxt))
		tp->write_seq = tp->snd_nxt;
}

/* A loss event begins: recovery, CWR or, after a timeout, Loss. */
static void do_reduce(struct sender *s, u8 state)
{
	struct tcp_sock *tp = &s->tp;
	u8 now = tp->inet_conn.icsk_ca_state;

	if (state == TCP_CA_Loss) {
		if (now <= TCP_CA_Disorder || !before(tp->delivered, s->recovered)) {
			tp->prior_ssthresh = tp->snd_ssthresh;
			tp->prior_cwnd = tp->snd_cwnd;
			call_ssthresh(s);
			s->undo = true;
		}
		tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	} else {
		if (now >= state)
			return;
		tp->prior_ssthresh = now < TCP_CA_CWR ? tp->snd_ssthresh : 0;
		s->undo = state == TCP_CA_Recovery;
		if (now < TCP_CA_CWR) {
			tp->prior_cwnd = tp->snd_cwnd;
			call_ssthresh(s);
		}
	}
	s->recovered = tp->delivered + tp->packets_out;
	call_set_state(s, state);
}

/* It is over. */
static void do_open(struct sender *s)
{
	struct tcp_sock *tp = &s->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (!ops_of(s)->cong_control && state != TCP_CA_Loss && state >= TCP_CA_CWR)
		tcp_snd_cwnd_set(tp, max(min(tp->snd_ssthresh, tp->snd_cwnd_clamp), 1U));
	call_set_state(s, TCP_CA_Open);
}

/* It was spurious. */
static void do_undo(struct sender *s)
{
	struct tcp_sock *tp = &s->tp;

	if (!s->undo)
		return;
	s->undo = false;
	tp->lost_out = 0;
	if (tp->prior_ssthresh) {
		call_undo(s);
		tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
	}
	if (tp->inet_conn.icsk_ca_state >= TCP_CA_Recovery)
		call_set_state(s, TCP_CA_Open);
}

static void do_lose(struct sender *s, u32 n)
{
	n = min(n, s->tp.packets_out - s->tp.lost_out);
	s->tp.lost_out += n;
	s->tp.lost += n;
}

static void take_rtt(struct sender *s, u32 rtt_us)
{
	struct tcp_sock *tp = &s->tp;
	u32 was = tp->srtt_us >> 3;

	/* 2^29 us: srtt_us is eight times as much. */
	rtt_us = clamp(rtt_us, 1U, (1U << 29) - 1);
	tp->srtt_us = max(was ? tp->srtt_us - was + rtt_us : rtt_us << 3, 8U);
	tp->rtt_min.v = min(tp->rtt_min.v, rtt_us);
}

/* How an acknowledgment comes. */
struct ack {
	u32 acked, lost, marked;
	s32 rtt_us;
	u32 behind;		/* packets delivered since that one was sent */
	u32 interval_us;	/* of the rate sample; 0: none */
	u64 sent;		/* TCP clock, us; 0: an RTT ago */
};

static void do_ack(struct sender *s, const struct ack *a)
{
	struct tcp_sock *tp = &s->tp;
	u32 acked = min(a->acked, tp->packets_out), in_flight;
	u8 *state = &tp->inet_conn.icsk_ca_state;
	struct rate_sample rs = {
		.prior_mstamp = a->interval_us,
		.prior_delivered = tp->delivered - a->behind,
	};

	tp->packets_out -= acked;
	tp->lost_out = min(tp->lost_out, tp->packets_out);
	tp->snd_una += acked * tp->mss_cache;
	tp->delivered += acked;
	tp->delivered_ce += min(a->marked, acked);
	if (acked && a->rtt_us > 0)
		take_rtt(s, a->rtt_us);
	/* RACK's is of any size; 0: there is no SACK. */
	if (acked) {
		tp->rack.rtt_us = a->rtt_us;
		tp->rack.mstamp = a->sent ? : tp->tcp_mstamp - (u32)a->rtt_us;
		/* What the rate sampler has, with SACK or without. */
		tp->first_tx_mstamp = tp->rack.mstamp;
		tp->delivered_mstamp = tp->tcp_mstamp;
	}
	do_lose(s, a->lost);
	if (*state >= TCP_CA_CWR && !before(tp->delivered, s->recovered))
		do_open(s);
	if (a->lost)
		do_reduce(s, TCP_CA_Recovery);
	else if (a->marked)
		do_reduce(s, TCP_CA_CWR);
	if (a->interval_us) {
		tp->rate_interval_us = a->interval_us;
		tp->rate_delivered = acked + a->behind;
	}
	rs.acked_sacked = acked;
	if (ops_of(s)->cong_control) {
		call_cong_control(s, &rs);
	} else if (*state == TCP_CA_CWR || *state == TCP_CA_Recovery) {
		/* Proportional rate reduction, roughly. */
		in_flight = tcp_packets_in_flight(tp);
		tcp_snd_cwnd_set(tp, max(min(tp->snd_cwnd,
					     in_flight + (acked + 1) / 2), 1U));
	} else if (acked) {
		call_cong_avoid(s, acked);
	}
}

/* All of the window leaves and comes back in ACKs for @stretch packets. */
static void do_round(struct sender *s, u32 stretch, u32 rtt_us, u32 rounds)
{
	struct ack a = { .rtt_us = rtt_us, .interval_us = rtt_us };
	u32 acks;

	while (rounds--) {
		do_send(s, U32_MAX);
		a.sent = s->tp.tcp_mstamp;
		wait_us(s, rtt_us);
		a.acked = max(stretch, s->tp.packets_out / 16);
		for (acks = 0; s->tp.packets_out && acks < 16; acks++) {
			a.behind = s->tp.packets_out;
			do_ack(s, &a);
			wait_us(s, rtt_us / 16);
		}
	}
}

/* A new connection. */
static void do_establish(struct sender *s, struct bytes *in)
{
	u32 kind = take(in), state = s->tp.inet_conn.icsk_ca_state;
	struct tcp_sock *tp = &s->tp;
	struct sock *sk = sock_of(s);
	bool early = kind & 128;
	u32 base = take32(in), cwnd, ssthresh;

	call_release(s);
	memset(tp->inet_conn.icsk_ca_priv, 0,
	       sizeof(tp->inet_conn.icsk_ca_priv));
	s->initialised = false;
	s->undo = false;
	/* Counters that are anywhere: they begin at 0, but may wrap. */
	tp->delivered = base;
	tp->delivered_ce = base;
	tp->lost = base;
	tp->data_segs_out = kind & 1 ? base : 0;
	tp->syn_data = !!(kind & 2);
	tp->snd_una = base;
	tp->snd_nxt = base;
	tp->write_seq = base;
	tp->snd_wnd = take_size(in, 30);
	tp->packets_out = 0;
	tp->lost_out = 0;
	tp->max_packets_out = 0;
	tp->snd_cwnd_used = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->reordering = 3;
	tp->reord_seen = false;
	tp->rate_delivered = 0;
	tp->rate_interval_us = 0;
	tp->prior_cwnd = 0;
	tp->prior_ssthresh = 0;
	tp->snd_cwnd_clamp = kind & 4 ? 1 + take_size(in, 20) : U32_MAX;
	tp->snd_cwnd = clamp(kind & 8 ? take_size(in, 10) : 10U, 1U,
			     tp->snd_cwnd_clamp);
	tp->snd_ssthresh = kind & 16 ? max(take_size(in, 20), 2U) :
				       TCP_INFINITE_SSTHRESH;
	tp->mss_cache = take_mss(in);
	tp->inet_conn.icsk_mtup.enabled = 0;
	tp->rack.rtt_us = 0;
	tp->srtt_us = 0;
	tp->rtt_min.v = ~0U;
	tp->lsndtime = tcp_jiffies32;
	sk->sk_pacing_status = SK_PACING_NONE;
	sk->sk_pacing_rate = ~0UL;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = 10;
	sk->sk_gso_max_segs = 65535;
	sk->sk_gso_max_size = 65536;
	if (state)
		call_set_state(s, TCP_CA_Open);
	sk->sk_state = TCP_SYN_SENT;
	cwnd = tp->snd_cwnd;
	ssthresh = tp->snd_ssthresh;
	/* Selected after connect(). */
	if (early)
		call_init(s);
	/* A SYN that is lost, or one with data that is answered, comes before. */
	if (kind & 32)
		do_reduce(s, TCP_CA_Loss);
	if (kind & 64) {
		take_rtt(s, 1 + take_size(in, 28));
		if (ops_of(s)->cong_control) {
			struct rate_sample rs = { .acked_sacked = 1 };

			tp->delivered++;
			call_cong_control(s, &rs);
			tp->delivered -= kind >> 7;
		} else {
			call_cong_avoid(s, 1);
		}
		tp->inet_conn.icsk_ca_state = TCP_CA_Open;
	}
	sk->sk_state = TCP_ESTABLISHED;
	if (!early) {
		call_init(s);
		return;
	}
	/* What the handshake took the kernel gives back, and ->init is not asked again. */
	call_set_state(s, TCP_CA_Open);
	tcp_snd_cwnd_set(tp, cwnd);
	tp->snd_ssthresh = ssthresh;
}

/* Another algorithm had the connection for a while, and this one gets it back. */
static void do_switch(struct sender *s, struct bytes *in)
{
	struct tcp_sock *tp = &s->tp;
	u32 n;

	call_release(s);
	if (take(in) & 1)
		call_release(s);
	memset(tp->inet_conn.icsk_ca_priv, 0,
	       sizeof(tp->inet_conn.icsk_ca_priv));
	tcp_snd_cwnd_set(tp, clamp(take_size(in, 30), 1U, tp->snd_cwnd_clamp));
	tp->snd_ssthresh = max(take_size(in, 31), 2U);
	n = take_size(in, 32);
	tp->delivered += n;
	tp->data_segs_out += n;
	tp->inet_conn.icsk_ca_ops = registered[take(in) % registered_count];
	call_init(s);
}

static void do_param(struct bytes *in)
{
	const struct kernel_param *kp;
	const struct lf_param *p;
	char text[12], shown[PAGE_SIZE];
	u32 was, len = 0, kind;
	int err;

	if (!THIS_MODULE->num_kp)
		return;
	fuzz_step = "parameter";
	kp = &THIS_MODULE->kp[take(in) % THIS_MODULE->num_kp];
	p = kp->arg;
	was = p->value;
	kind = take(in) % 4;
	if (kind == 0) {
		for (len = take(in) % sizeof(text); len; len--)
			text[sizeof(text) - 1 - len] = take(in);
		len = sizeof(text) - 1;
		text[len] = 0;
		err = kp->ops->set(text, kp);
	} else {
		u32 x = kind == 1 ? take32(in) : kind == 2 ? p->max : p->min;

		if (p->choices)
			snprintf(text, sizeof(text), "%.11s",
				 p->choices[x % (p->max + 1)]);
		else
			snprintf(text, sizeof(text), "%u",
				 kind == 1 && p->max - p->min + 1 ?
				 p->min + x % (p->max - p->min + 1) : x);
		err = kp->ops->set(text, kp);
		require(!err, "%s=%s: %d", kp->name, text, err);
	}
	require(p->value >= p->min && p->value <= p->max, "%s=%u", kp->name,
		p->value);
	require(!err || p->value == was, "%s=%u, was %u", kp->name, p->value,
		was);
	require(kp->ops->get(shown, kp) > 0, "%s", kp->name);
}

/* Larger packets as MTU probing makes them, or a path that became narrower. */
static void do_mtu(struct sender *s, struct bytes *in)
{
	struct tcp_sock *tp = &s->tp;
	u32 mss = take_mss(in);
	u64 w;

	if (mss > tp->mss_cache) {
		tp->inet_conn.icsk_mtup.enabled = 1;
		w = (u64)tp->snd_cwnd * tp->mss_cache / mss;
		tcp_snd_cwnd_set(tp, max(w, 1ULL));
	} else if (tp->packets_out) {
		do_lose(s, take(in));
		if (tp->inet_conn.icsk_ca_state != TCP_CA_Loss) {
			tp->prior_ssthresh = 0;
			s->undo = false;
			s->recovered = tp->delivered + tp->packets_out;
			call_set_state(s, TCP_CA_Loss);
		}
	}
	tp->mss_cache = mss;
}

/* What an application or an administrator can set. */
static void do_settings(struct sender *s, struct bytes *in)
{
	struct sock *sk = sock_of(s);
	u32 what = take(in);

	s->net.ipv4.sysctl_tcp_slow_start_after_idle = what & 1;
	s->net.ipv4.sysctl_tcp_min_tso_segs = 1 + take(in) % 255;
	s->dst.initcwnd = what & 2 ? take_size(in, 16) : 0;
	sk->sk_dst = what & 4 ? &s->dst : NULL;
	sk->sk_max_pacing_rate = what & 8 ? take_size(in, 32) : ~0UL;
	sk->sk_pacing_rate = min(sk->sk_pacing_rate, sk->sk_max_pacing_rate);
	if (what & 16) {
		sk->sk_gso_max_segs = 1 + take_size(in, 15);
		sk->sk_gso_max_size = take_size(in, 19);
	}
	if (what & 32)
		sk->sk_pacing_status = take(in) % 3;
	refcount_set(&sk->sk_wmem_alloc, what & 64 ? 1000 : 1);
	slab_empty = what & 128;
}

static void do_path(struct sender *s, struct bytes *in)
{
	static struct sk_buff waiting;
	struct tcp_sock *tp = &s->tp;
	u32 what = take(in);

	tp->inet_conn.icsk_rto = 1 + take_size(in, 14);
	tp->reordering = max(take_size(in, 9), 1U);
	tp->reord_seen = what & 1;
	tp->rack.reo_wnd_steps = max(what >> 1 & 127, 1U);
	tp->rate_app_limited = what & 2;
	s->socket.flags = what & 16 ? BIT(SOCK_NOSPACE) : 0;
	sock_of(s)->sk_socket = what & 32 ? NULL : &s->socket;
	/* The minimum is one of the last minutes. */
	if (what & 4 && tp->srtt_us)
		tp->rtt_min.v = max(tp->srtt_us >> 3, 1U);
	tp->snd_wnd = take_size(in, 30);
	tp->write_seq = tp->snd_nxt + take_size(in, 30);
	sock_of(s)->sk_write_queue.first = what & 8 ? &waiting : NULL;
}

static void do_step(struct sender *s, struct bytes *in)
{
	struct ack a = { 0 };
	u32 n;

	switch (take(in) % 16) {
	case 0:
		do_send(s, take_size(in, 24));
		break;
	case 1:
	case 2:
		n = take(in);
		a.acked = take_size(in, 16);
		a.rtt_us = n & 1 ? (s32)(take_size(in, 31) - 1) : 1 + take(in) * 999;
		a.lost = n & 2 ? take_size(in, 20) : 0;
		a.marked = n & 4 ? take_size(in, 16) : 0;
		a.behind = n & 8 ? take_size(in, 20) : s->tp.packets_out;
		a.interval_us = n & 16 ? take_size(in, 31) : max(a.rtt_us, 1);
		wait_us(s, take_size(in, 28));
		do_ack(s, &a);
		break;
	case 3:
	case 4:
	case 5:
		n = 1 + take(in) % 8;
		a.acked = 1 + take_size(in, 7);
		do_round(s, a.acked, 1 + take_size(in, 24), n);
		break;
	case 6:
		if (s->tp.packets_out) {
			do_lose(s, take_size(in, 30));
			do_reduce(s, TCP_CA_Loss);
		}
		break;
	case 7:
		if (s->tp.packets_out) {
			do_lose(s, 1 + take_size(in, 12));
			do_reduce(s, TCP_CA_Recovery);
		}
		break;
	case 8:
		/* Without a mark: the queue of this host. */
		do_reduce(s, TCP_CA_CWR);
		break;
	case 9:
		do_undo(s);
		break;
	case 10:
		wait_us(s, take_size(in, 32));
		do_send(s, 1 + take(in));
		break;
	case 11:
		do_mtu(s, in);
		break;
	case 12:
		do_switch(s, in);
		break;
	case 13:
		n = take(in);
		if (n < 32)
			do_establish(s, in);
		else if (n < 96)
			do_param(in);
		else
			call_get_info(s, n);
		break;
	case 14:
		do_settings(s, in);
		break;
	case 15:
		do_path(s, in);
		break;
	}
}

/* What libFuzzer calls. */
int fuzz_one(const u8 *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

int fuzz_one(const u8 *data, size_t size)
{
	static u32 defaults[ARRAY_SIZE(shim_params)];
	struct bytes in = { data, size };
	struct sender s = { 0 };
	u32 i, steps = 0;

	if (!registered_count) {
		fuzz_step = "load";
		require(!THIS_MODULE->init(), "%u registered", registered_count);
		for (i = 0; i < THIS_MODULE->num_kp; i++)
			defaults[i] = ((struct lf_param *)THIS_MODULE->kp[i].arg)->value;
	}
	/* Each input begins with the same world. */
	for (i = 0; i < THIS_MODULE->num_kp; i++)
		((struct lf_param *)THIS_MODULE->kp[i].arg)->value = defaults[i];
	shim_random.s = 1;
	slab_empty = false;
	s.net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	s.net.ipv4.sysctl_tcp_min_tso_segs = 2;
	sock_of(&s)->sk_family = AF_INET;
	sock_net_set(sock_of(&s), &s.net);
	sock_of(&s)->sk_gso_max_segs = 65535;
	sock_of(&s)->sk_pacing_shift = 10;
	s.tp.tcp_clock_cache = 4294000000000ULL;
	s.tp.tcp_mstamp = s.tp.tcp_clock_cache / NSEC_PER_USEC;
	s.tp.inet_conn.icsk_rto = 20;
	s.tp.inet_conn.icsk_ca_ops = registered[take(&in) % registered_count];
	s.tp.snd_cwnd = 10;
	s.tp.snd_cwnd_clamp = U32_MAX;
	s.tp.snd_ssthresh = TCP_INFINITE_SSTHRESH;
	s.tp.rtt_min.v = ~0U;
	do_establish(&s, &in);
	while (in.left && steps++ < 256)
		do_step(&s, &in);
	call_release(&s);
	call_release(&s);
	fuzz_step = "end";
	require(!slab_objects, "%ld left in memory", slab_objects);
	return 0;
}
