// SPDX-License-Identifier: GPL-2.0
/*
 * Composite: the dealing, the economy, the window and the hooks of
 * tcp_composite.c, which is made a part of this module so that its static
 * functions can be called, and its allocations made to fail.
 */

/* As in tcp_composite.c, and before what it includes. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>

/* 0: there is memory.  N: only every Nth allocation gets none. */
static u32 composite_test_fail;

static void *composite_test_zalloc(size_t size, gfp_t flags)
{
	static u32 count;

	if (composite_test_fail && !(++count % composite_test_fail))
		return NULL;
	return kzalloc(size, flags);
}

/* Another module has this name; "*": each of ours. */
static const char *composite_test_taken;

static int composite_test_register(struct tcp_congestion_ops *ops)
{
	if (composite_test_taken && (*composite_test_taken == '*' ||
				     !strcmp(ops->name, composite_test_taken)))
		return -EEXIST;
	return tcp_register_congestion_control(ops);
}

#undef kzalloc
#define kzalloc(size, flags)	composite_test_zalloc(size, flags)
#define tcp_register_congestion_control(ops) composite_test_register(ops)
#include "../../tcp_composite.c"
#undef tcp_register_congestion_control
#undef kzalloc

/* docs/composite.md says what a connection takes: this, and that for each stream. */
static_assert(sizeof(struct composite_book) == 56);
static_assert(sizeof(struct composite_stream) == 12);

#include "sample.h"
#include "sock.h"

#define COMPOSITE_SEED	"1"

static struct composite *composite_of(struct tcp_sock *tp)
{
	return inet_csk_ca((struct sock *)tp);
}

static void composite_test_release(void *tp)
{
	composite_release(tp);
}

/*
 * Limited by its window of @cwnd, 100 ms, composite_ops[@which] selected, and not its
 * first algorithm.
 */
static struct tcp_sock *composite_test_sock(struct kunit *test, u32 cwnd,
					    u32 which)
{
	struct tcp_sock *tp = lf_test_sock(test, cwnd, 100000);
	struct sock *sk = (struct sock *)tp;

	sock_net_set(sk, &init_net);
	inet_csk(sk)->icsk_ca_ops = &composite_ops[which];
	inet_csk(sk)->icsk_rto = HZ;
	sk->sk_max_pacing_rate = ~0UL;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->srtt_us = 100000 << 3;
	tp->mss_cache = 1448;
	tp->data_segs_out = 1;
	tp->lsndtime = tcp_jiffies32;
	sk->sk_gso_max_segs = 65535;
	sk->sk_gso_max_size = 65536;
	sk->sk_pacing_shift = LF_PACING_SHIFT;
	lf_test_set(test, "seed", COMPOSITE_SEED, 0);
	composite_init(sk);
	lf_test_set(test, "seed", "0", 0);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, composite_test_release,
						  tp));
	return tp;
}

/* The same with @n streams, in congestion avoidance. */
static struct tcp_sock *composite_test_streams(struct kunit *test, u32 cwnd,
					       u32 n)
{
	struct tcp_sock *tp;
	struct composite *ca;
	char text[8];
	u32 i;

	scnprintf(text, sizeof(text), "%u", n);
	lf_test_set(test, "streams", text, 0);
	tp = composite_test_sock(test, cwnd, 0);
	lf_test_set(test, "streams", "8", 0);
	ca = composite_of(tp);
	tp->snd_ssthresh = max(cwnd, 2U);
	KUNIT_ASSERT_EQ(test, ca->n, n);
	for (i = 0; i < n; i++) {
		struct composite_stream *s = composite_stream(ca, i);

		composite_count(ca, s, -1);
		s->ssthresh = 2;
		composite_count(ca, s, 1);
	}
	return tp;
}

/* Its state, where only that is of interest. */
static struct composite *composite_test_book(struct kunit *test, u32 n)
{
	return composite_of(composite_test_streams(test, 10, n));
}

/*
 * An ACK that delivers @acked packets, the last one sent when @sent had been
 * delivered; one that delivers none says nothing of that.  Sequence numbers count what
 * had been delivered when a packet was sent.
 */
static void composite_test_ack(struct tcp_sock *tp, u32 acked, u32 lost,
			       u32 sent)
{
	struct rate_sample rs = {
		.prior_mstamp = !!acked, .prior_delivered = sent,
	};

	tp->delivered += acked;
	tp->lost += lost;
	if (acked && after(sent + 1, tp->snd_una))
		tp->snd_una = sent + 1;
	tp->snd_nxt = tp->delivered;
	composite_control((struct sock *)tp, &rs);
}

/* A loss event begins, as tcp_init_cwnd_reduction() and tcp_enter_loss() have it. */
static void composite_test_event(struct tcp_sock *tp)
{
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->prior_ssthresh = tp->snd_ssthresh;
	composite_ssthresh((struct sock *)tp);
}

/*
 * As an ACK that echoes a mark of its last packet, in @state; in Open, it begins CWR.
 * The kernel counts marks after that if it is @old, before 5.18.
 */
static void composite_test_mark(struct tcp_sock *tp, u8 state, u32 sent,
				bool old)
{
	struct sock *sk = (struct sock *)tp;

	tp->delivered_ce += !old;
	if (state == TCP_CA_Open) {
		/* The packet of the ACK is counted by then. */
		tp->delivered++;
		if (after(sent + 1, tp->snd_una))
			tp->snd_una = sent + 1;
		state = TCP_CA_CWR;
		composite_test_event(tp);
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
		composite_set_state(sk, state);
		tp->delivered--;
	}
	inet_csk(sk)->icsk_ca_state = state;
	tp->delivered_ce += old;
	composite_test_ack(tp, 1, 0, sent);
}

/* How many streams have less than @w packets? */
static u32 composite_test_below(struct tcp_sock *tp, u32 w)
{
	struct composite *ca = composite_of(tp);
	u32 i, count = 0;

	for (i = 0; i < ca->n; i++)
		count += composite_stream(ca, i)->cwnd < w;
	return count;
}

/* The books are in order. */
static void composite_audit(struct kunit *test, struct tcp_sock *tp,
			    const char *when)
{
	struct composite *ca = composite_of(tp);
	u32 sum = 0, slow = 0, i;

	for (i = 0; i < ca->n; i++) {
		struct composite_stream *s = composite_stream(ca, i);

		KUNIT_ASSERT_GE_MSG(test, s->ssthresh, 2U, "%s", when);
		sum += s->cwnd;
		slow += s->cwnd < s->ssthresh;
	}
	KUNIT_ASSERT_EQ_MSG(test, ca->sum, sum, "%s", when);
	KUNIT_ASSERT_EQ_MSG(test, ca->slow, slow, "%s", when);
	KUNIT_ASSERT_GE_MSG(test, tcp_snd_cwnd(tp), 1U, "%s", when);
	KUNIT_ASSERT_GE_MSG(test, tp->snd_ssthresh, 2U, "%s", when);
	KUNIT_ASSERT_GT_MSG(test, ((struct sock *)tp)->sk_pacing_rate, 0UL,
			    "%s", when);
}

/* --- distribution -------------------------------------------------------- */

/* Every stream gets its part, whatever N, of turns and of losses. */
static void composite_deals_evenly(struct kunit *test)
{
	static const u8 all[] = { 2, 3, 4, 5, 8, 16, 31, 32, 64 };
	u32 count[COMPOSITE_MAX], a, i, loss;

	for (a = 0; a < ARRAY_SIZE(all); a++) {
		struct composite *ca = composite_test_book(test, all[a]);

		for (loss = 0; loss <= 1; loss++) {
			memset(count, 0, sizeof(count));
			for (i = 0; i < all[a] * 1000; i++)
				count[loss ? composite_deal(ca) :
				      composite_draw(ca)]++;
			/* Six standard deviations of 1000. */
			for (i = 0; i < all[a]; i++)
				KUNIT_EXPECT_LE(test, lf_apart(count[i], 1000),
						190ULL);
		}
	}
}

/* A stream that rests gets a loss where it is drawn twice: 3 of 8, (3/8)^2 of the losses. */
static void composite_deals_to_others(struct kunit *test)
{
	struct composite *ca = composite_test_book(test, 8);
	u32 rests = 0, i;

	ca->resting = 1;
	for (i = 0; i < 3; i++)
		composite_stream(ca, i)->rest_end = ca->sent + 1;
	for (i = 3; i < 8; i++)
		composite_stream(ca, i)->rest_end = ca->sent;
	for (i = 0; i < 64000; i++)
		rests += composite_deal(ca) < 3;
	KUNIT_EXPECT_LE(test, lf_apart(rests, 9000), 600ULL);
}

/* The same seed, the same dealing; another one, another. */
static void composite_seed(struct kunit *test)
{
	struct composite *a = composite_test_book(test, 64);
	struct composite *b = composite_test_book(test, 64);
	u32 same = 0, i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, composite_draw(a), composite_draw(b));
	b->dealing = 2;
	for (i = 0; i < 1000; i++)
		same += composite_draw(a) == composite_draw(b);
	KUNIT_EXPECT_LT(test, same, 100U);
}

/* --- the economy --------------------------------------------------------- */

/* Round trips of successes: in each the streams have one packet more, on average. */
static void composite_round_trip(struct kunit *test)
{
	static const u8 all[] = { 1, 2, 7, 16, 64 };
	u32 a, i, round;

	for (a = 0; a < ARRAY_SIZE(all); a++) {
		u32 n = all[a];
		struct tcp_sock *tp = composite_test_streams(test, 10 * n, n);
		struct composite *ca = composite_of(tp);

		for (round = 0; round < 100; round++)
			composite_successes((struct sock *)tp, ca->sum);
		/* Six standard deviations of 100 turns. */
		KUNIT_EXPECT_LE(test, lf_apart(ca->sum, 110 * n), n > 1 ? 4ULL * n : 0);
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_LE(test, lf_apart(composite_stream(ca, i)->cwnd,
						       110), n > 1 ? 60ULL : 0);
	}
}

/* Slow start: twice as much after one round trip. */
static void composite_slow_start(struct kunit *test)
{
	u32 which;

	for (which = 1; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp = composite_test_sock(test, 640, which);
		struct composite *ca = composite_of(tp);

		KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
		composite_successes((struct sock *)tp, 640);
		KUNIT_EXPECT_EQ(test, ca->sum, 1280U);
		composite_successes((struct sock *)tp, 1280);
		KUNIT_EXPECT_EQ(test, ca->sum, 2560U);
	}
}

/* In the last round trip of a slow start by trains, @w packets, to its last ACK. */
static void composite_test_tell(struct tcp_sock *tp, u32 w)
{
	struct lf_slow_start *slow = &composite_of(tp)->book->slow;

	lf_slow_start_begin((struct sock *)tp, slow, LF_TRAIN);
	slow->stage = LF_SS_TELL;
	slow->rounds = 1;
	slow->base_us = 100000;
	tp->snd_una = tp->delivered - w;
	slow->round_end = tp->delivered;
	tp->rack.rtt_us = 200000;
}

/* It is their own queue: it goes with less. */
static void composite_test_ours(struct tcp_sock *tp)
{
	struct lf_slow_start *slow = &composite_of(tp)->book->slow;

	tp->rack.rtt_us = 100000;
	composite_test_ack(tp, 1, 0, slow->round_end);
	composite_test_ack(tp, 1, 0, tp->snd_una + 1);
}

/* Slow start ends for all streams together, and their sum is the window told. */
static void composite_start_ends(struct kunit *test)
{
	u32 which, i, k;

	for (which = 1; which < ARRAY_SIZE(composite_ops); which++)
		for (k = 0; k < 3; k++) {
			struct tcp_sock *tp = composite_test_sock(test, 6400,
								  which);
			struct composite *ca = composite_of(tp);
			struct lf_slow_start *slow = &ca->book->slow;
			struct composite_stream *s;
			u32 w = 6400, want, least;

			KUNIT_EXPECT_TRUE(test, slow->way == LF_TRAIN);
			KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_GROW);
			/* Also unequal ones, and one that left before. */
			if (k) {
				s = composite_stream(ca, 0);
				composite_count(ca, s, -1);
				s->cwnd *= 3;
				if (k == 2)
					s->ssthresh = s->cwnd / 2;
				composite_count(ca, s, 1);
				w = ca->sum;
				tcp_snd_cwnd_set(tp, w);
			}
			composite_test_tell(tp, w);
			/* What acknowledges nothing is not taken for one. */
			tp->rack.rtt_us = 1;
			composite_test_ack(tp, 0, 0, tp->snd_una);
			tp->rack.rtt_us = 200000;
			/* The window stays until its last ACK. */
			composite_test_ack(tp, 10, 0, tp->snd_una);
			KUNIT_EXPECT_EQ(test, ca->sum, w);
			KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_TELL);
			want = lf_train_full(slow, w, 200000);
			composite_test_ack(tp, 10, 0, slow->round_end);
			/* All of them have less while it is asked whose queue it is. */
			KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_DRAIN);
			KUNIT_EXPECT_EQ(test, ca->sum, want - want / 16);
			composite_audit(test, tp, "slow start asks");
			composite_test_ours(tp);
			KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_RISE);
			KUNIT_EXPECT_EQ(test, want, w / 2);
			KUNIT_EXPECT_EQ(test, ca->sum, want - want / 16);
			KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, want);
			/* Each has a part of what they may go up to. */
			for (i = 0; i < ca->n; i++) {
				s = composite_stream(ca, i);
				KUNIT_EXPECT_LE(test, s->cwnd, s->ssthresh);
				least = want / (ca->n + (k ? 2 : 0));
				if (!i && k)
					least *= 3;
				/* Parts are made three times: two for each. */
				KUNIT_EXPECT_LE(test, lf_apart(s->ssthresh, least),
						2ULL * 3);
			}
			composite_audit(test, tp, "slow start ended");
			/* Together they go up to it, by one for eight. */
			for (i = 0; ca->slow && slow->stage == LF_SS_RISE; i++) {
				KUNIT_ASSERT_LE(test, lf_apart(ca->sum, want - want / 16 +
							       i * (want / 10) / 8), 1ULL);
				tcp_snd_cwnd_set(tp, ca->sum);
				composite_test_ack(tp, want / 10, 0, tp->snd_una + 1);
			}
			KUNIT_EXPECT_LE(test, lf_apart(i, 5), 1ULL);
			for (i = 0; !k && i < ca->n; i++) {
				s = composite_stream(ca, i);
				KUNIT_EXPECT_LE(test, lf_apart(s->cwnd, s->ssthresh), 2ULL);
			}
			for (i = 0; ca->slow && i < 20; i++)
				composite_successes((struct sock *)tp, ca->sum);
			KUNIT_EXPECT_EQ(test, ca->slow, 0U);
			KUNIT_EXPECT_GE(test, ca->sum + ca->n, want);
			KUNIT_EXPECT_LE(test, ca->sum, want + i * ca->n);
			/* Congestion avoidance: a packet for each, and one of a turn before. */
			want = ca->sum;
			composite_successes((struct sock *)tp, want);
			KUNIT_EXPECT_LE(test, ca->sum, want + ca->n + 1);
		}
}

/* Fewer packets than streams are left: some have none, as at the beginning. */
static void composite_start_ends_small(struct kunit *test)
{
	struct composite_stream *s;
	u32 which, w, i, want;

	for (which = 1; which < ARRAY_SIZE(composite_ops); which++)
		for (w = 1; w <= 130; w++) {
			struct tcp_sock *tp = composite_test_sock(test, w,
								  which);

			composite_test_tell(tp, 1);
			composite_test_ack(tp, 1, 0, tp->snd_una + 1);
			composite_test_ours(tp);
			want = min(max(w / 2, 2U), w);
			KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, want - want / 16);
			want = max(want, 2U);
			KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, want);
			/* Or all have what they may go up to already. */
			if (!composite_of(tp)->slow)
				continue;
			tcp_snd_cwnd_set(tp, composite_of(tp)->sum);
			composite_test_ack(tp, 8 * want, 0, tp->snd_una + 1);
			KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, want);
			for (i = 0; i < composite_of(tp)->n; i++) {
				s = composite_stream(composite_of(tp), i);
				KUNIT_EXPECT_LE(test, s->ssthresh, s->cwnd + 2);
			}
			composite_audit(test, tp, "slow start of few ended");
		}
}

/* While it goes on, successes are as many packets as the sum may grow. */
static void composite_start_grows(struct kunit *test)
{
	static const struct {
		const char *name;
		u32 grown;
	} all[] = {
		{ "train", 640 }, { "hystart++", 640 }, { "limited", 53 },
		{ "classic", 640 },
	};
	u32 which, i, n;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (which = 1; which < ARRAY_SIZE(composite_ops); which++) {
			struct tcp_sock *tp;
			struct composite *ca;

			lf_test_set(test, "slow_start", all[i].name, 0);
			tp = composite_test_sock(test, 640, which);
			/* A connection keeps what it began with. */
			lf_test_set(test, "slow_start", i ? "train" : "classic",
				    0);
			ca = composite_of(tp);
			tp->rack.rtt_us = 100000;
			for (n = 0; n < 640; n += 10)
				composite_test_ack(tp, 10, 0, tp->delivered);
			/* 640 / 12 at first, less later. */
			KUNIT_EXPECT_LE(test, ca->sum, 640 + all[i].grown);
			KUNIT_EXPECT_GE(test, ca->sum, 640 + all[i].grown -
					(all[i].grown < 640 ? 6 : 0));
			composite_audit(test, tp, "slow start");
		}
	lf_test_set(test, "slow_start", "train", 0);
}

/*
 * A target: near it the sum grows by a quarter, at the cap not at all, and pacing is no
 * longer that of a window that doubles.
 */
static void composite_start_aims(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 1300, 2);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	struct lf_slow_start *slow = &ca->book->slow;
	u64 doubling = composite_rate(sk);
	u32 w;

	slow->base_us = 100000;
	lf_train_aim(tp, slow, 1600);
	KUNIT_EXPECT_LT(test, composite_rate(sk), doubling);
	lf_train_aim(tp, slow, 2600);
	KUNIT_EXPECT_EQ(test, composite_rate(sk), doubling);
	lf_train_aim(tp, slow, 1600);
	tp->rack.rtt_us = 100000;
	composite_test_ack(tp, 100, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, 1325U);
	/* All turns that end in one acknowledgment, rounded down. */
	composite_test_ack(tp, 10000, 0, tp->delivered);
	KUNIT_EXPECT_LE(test, lf_apart(ca->sum, 1700), 1ULL);
	w = ca->sum;
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_HOLD);
	slow->round_end = tp->snd_una + 100000;
	tcp_snd_cwnd_set(tp, w);
	composite_test_ack(tp, 100, 0, tp->snd_una);
	KUNIT_EXPECT_EQ(test, ca->sum, w);
	composite_audit(test, tp, "at the cap");
}

/* A pause, and larger packets, are not the end of it: ssthresh is the cap, and no stream's. */
static void composite_start_goes_on(struct kunit *test)
{
	u8 sysctl = init_net.ipv4.sysctl_tcp_slow_start_after_idle;
	struct tcp_sock *tp = composite_test_sock(test, 1300, 2);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	u32 i;

	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	ca->book->slow.base_us = 100000;
	lf_train_aim(tp, &ca->book->slow, 1600);
	KUNIT_ASSERT_LT(test, tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	tp->lsndtime = tcp_jiffies32 - 5 * HZ / 2;
	composite_tx_start(sk);
	KUNIT_ASSERT_LT(test, ca->sum, 1300U);
	inet_csk(sk)->icsk_mtup.enabled = 1;
	tp->mss_cache = 2 * ca->mss;
	composite_rescale(sk);
	for (i = 0; i < ca->n; i++)
		KUNIT_EXPECT_GE(test, composite_stream(ca, i)->ssthresh,
				(u32)TCP_INFINITE_SSTHRESH);
	KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
	KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_GROW);
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = sysctl;
}

/* A loss event in slow start ends it for all streams, and each of them halves, once. */
static void composite_start_lost_by_all(struct kunit *test)
{
	u32 which, i;

	for (which = 1; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp = composite_test_sock(test, 6400, which);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;

		tp->rack.rtt_us = 100000;
		tp->lost_out = 3;
		tp->lost += 3;
		composite_test_event(tp);
		composite_set_state(sk, TCP_CA_Recovery);
		KUNIT_EXPECT_EQ(test, ca->sum, 3200U);
		KUNIT_EXPECT_EQ(test, ca->slow, 0U);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 3200U);
		KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_OVER);
		/* What was sent before is of the same event. */
		inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
		for (i = 0; i < 100; i++)
			composite_test_ack(tp, 1, 1, tp->delivered - 3000);
		KUNIT_EXPECT_EQ(test, ca->sum, 3200U);
		composite_audit(test, tp, "a loss ends slow start");
		composite_undo_cwnd(sk);
		KUNIT_EXPECT_EQ(test, ca->sum, 6400U);
		KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
		KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_GROW);
	}
}

/* Where half of a stream's window is rounded down, the last streams back off all the same. */
static void composite_start_lost_odd(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 80, 3);
	struct composite *ca = composite_of(tp);
	u32 i;

	tp->rack.rtt_us = 100000;
	tp->lost_out = 3;
	tp->lost += 3;
	composite_test_event(tp);
	composite_set_state((struct sock *)tp, TCP_CA_Recovery);
	KUNIT_EXPECT_EQ(test, ca->sum, 40U);
	for (i = 0; i < ca->n; i++)
		KUNIT_EXPECT_TRUE(test, composite_rests(ca, composite_stream(ca, i)));
	composite_audit(test, tp, "streams of five packets lose");
}

/*
 * At the target, or behind it, what is lost tells no more than the streams that it is dealt to;
 * far below, with one packet lost and no queue, it does not end slow start.  Nor does what our
 * own queue dropped.
 */
static void composite_start_lost_by_one(struct kunit *test)
{
	static const struct {
		u32 target, lost;
		bool over;
	} all[] = {
		{ 6400, 1, true }, { 20000, 1, false }, { 20000, 2, true }, { 20000, 0, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct tcp_sock *tp = composite_test_sock(test, 6400, 2);
		struct composite *ca = composite_of(tp);
		struct lf_slow_start *slow = &ca->book->slow;
		struct sock *sk = (struct sock *)tp;
		u32 halved;

		slow->base_us = 100000;
		/* Also where the path has a queue of its own. */
		tp->rack.rtt_us = all[i].lost ? 100000 : 120000;
		lf_train_aim(tp, slow, all[i].target);
		tp->lost_out = all[i].lost;
		tp->lost += all[i].lost;
		composite_test_event(tp);
		composite_set_state(sk, all[i].lost ? TCP_CA_Recovery : TCP_CA_CWR);
		halved = all[i].lost > 1 ? ca->n : 1;
		KUNIT_EXPECT_EQ(test, ca->sum, 6400 - halved * 400);
		KUNIT_EXPECT_EQ(test, ca->slow, all[i].over ? 0 : ca->n - 1);
		KUNIT_EXPECT_EQ(test, slow->stage == LF_SS_OVER, all[i].over);
		composite_audit(test, tp, "a loss in slow start");
	}
}

/* Losses that begin no event are dealt, and slow start goes on. */
static void composite_start_loses(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 640, 2);
	struct composite *ca = composite_of(tp);

	tp->rack.rtt_us = 100000;
	composite_test_ack(tp, 0, 1, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, 640U - 40);
	KUNIT_EXPECT_EQ(test, ca->slow, ca->n - 1);
	KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_GROW);
	composite_audit(test, tp, "a loss in slow start");
	/* What is left of it ends for the others, and the one that has left. */
	tcp_snd_cwnd_set(tp, 600);
	composite_test_tell(tp, 1);
	composite_test_ack(tp, 1, 0, tp->snd_una + 1);
	composite_test_ours(tp);
	KUNIT_EXPECT_EQ(test, ca->sum, 300U - 300 / 16);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 300U);
	tcp_snd_cwnd_set(tp, ca->sum);
	composite_test_ack(tp, 8 * 300, 0, tp->snd_una + 1);
	KUNIT_EXPECT_EQ(test, ca->sum, 300U);
	KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_OVER);
	composite_audit(test, tp, "slow start ended after a loss");
	/* A path that became shorter while it was asked: the streams have what it holds. */
	tp = composite_test_sock(test, 640, 2);
	ca = composite_of(tp);
	composite_test_tell(tp, 1);
	tp->rack.rtt_us = 120000;
	composite_test_ack(tp, 1, 0, tp->snd_una + 1);
	KUNIT_EXPECT_EQ(test, ca->sum, 533U - 533 / 16);
	ca->book->slow.base_us = 90000;
	composite_test_ours(tp);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 480U);
	KUNIT_EXPECT_EQ(test, ca->sum, 480U);
	composite_audit(test, tp, "a shorter path");
	/* When all have left, a slow start that comes is not the first. */
	tp = composite_test_sock(test, 640, 2);
	composite_test_ack(tp, 0, 200, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->slow, 0U);
	KUNIT_EXPECT_TRUE(test, composite_of(tp)->book->slow.stage == LF_SS_OVER);
}

/*
 * A loss after one that did not end slow start finds the kernel's ssthresh at W.  As long as most
 * streams are in slow start, it is one of slow start all the same.
 */
static void composite_start_loses_again(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct tcp_sock *tp = composite_test_sock(test, 640, 2);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;
		u32 in_all = 640 - 40, backed_off = i ? 4 : 1;

		tp->rack.rtt_us = 100000;
		while (ca->n - ca->slow < backed_off) {
			ca->resting = 0;
			composite_losses(sk, 1, COMPOSITE_LOST);
		}
		in_all = ca->sum;
		tcp_snd_cwnd_set(tp, in_all);
		KUNIT_ASSERT_FALSE(test, tcp_in_slow_start(tp));
		ca->resting = 0;
		tp->lost_out = 3;
		tp->lost += 3;
		composite_test_event(tp);
		KUNIT_EXPECT_EQ(test, ca->sum < in_all, !i);
		if (!i)
			KUNIT_EXPECT_LE(test, lf_apart(ca->sum, in_all / 2), 1ULL);
		composite_audit(test, tp, "a loss after one");
	}
}

/*
 * Undone when a stream has left before, or on the way to what the path holds: the windows come
 * back, and no slow start without an end.
 */
static void composite_start_undone_late(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 640, 2);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	u32 sum, i;

	tp->rack.rtt_us = 100000;
	composite_losses(sk, 1, COMPOSITE_LOST);
	KUNIT_ASSERT_EQ(test, ca->slow, ca->n - 1);
	ca->resting = 0;
	sum = ca->sum;
	tp->lost_out = 3;
	tp->lost += 3;
	tp->prior_ssthresh = tp->snd_ssthresh;
	composite_test_event(tp);
	KUNIT_ASSERT_LT(test, ca->sum, sum);
	tp->snd_ssthresh = ca->sum;
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->sum, sum);
	KUNIT_EXPECT_TRUE(test, ca->book->slow.stage == LF_SS_OVER);
	KUNIT_EXPECT_LT(test, tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	/* A pause, with an ssthresh of the kernel's that is none: theirs stays. */
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tcp_snd_cwnd_set(tp, sum);
	composite_resize(ca, sum / 2, TCP_INFINITE_SSTHRESH, false);
	for (i = 0; i < ca->n; i++)
		KUNIT_EXPECT_LT(test, composite_stream(ca, i)->ssthresh,
				(u32)TCP_INFINITE_SSTHRESH);

	tp = composite_test_sock(test, 640, 2);
	ca = composite_of(tp);
	sk = (struct sock *)tp;
	composite_test_tell(tp, 640);
	composite_test_ack(tp, 10, 0, ca->book->slow.round_end);
	composite_test_ours(tp);
	KUNIT_ASSERT_TRUE(test, ca->book->slow.stage == LF_SS_RISE);
	KUNIT_ASSERT_EQ(test, ca->slow, ca->n);
	sum = ca->sum;
	tp->lost_out = 3;
	tp->lost += 3;
	composite_test_event(tp);
	composite_set_state(sk, TCP_CA_Recovery);
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->sum, sum);
	for (sum = 0, i = 0; i < ca->n; i++)
		sum += composite_stream(ca, i)->ssthresh;
	KUNIT_EXPECT_LE(test, sum, 640U / 2);
	composite_audit(test, tp, "undone");
}

/*
 * One packet is lost and no queue is there, so slow start goes on; then all back off in the same
 * event.  When it was spurious the first slow start goes on, too.
 */
static void composite_start_one_undone(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 640, 2);
	struct composite *ca = composite_of(tp);
	struct lf_slow_start *slow = &ca->book->slow;
	struct sock *sk = (struct sock *)tp;

	slow->base_us = 100000;
	tp->rack.rtt_us = 100000;
	lf_train_aim(tp, slow, 20000);
	tp->lost_out = 1;
	tp->lost++;
	composite_test_event(tp);
	composite_set_state(sk, TCP_CA_Recovery);
	KUNIT_ASSERT_TRUE(test, slow->stage == LF_SS_GROW);
	composite_losses(sk, 200, COMPOSITE_LOST);
	KUNIT_ASSERT_EQ(test, ca->slow, 0U);
	KUNIT_ASSERT_TRUE(test, slow->stage == LF_SS_OVER);
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->sum, 640U);
	KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_GROW);
	KUNIT_EXPECT_EQ(test, slow->target, 20000U);
	composite_audit(test, tp, "undone");
}

/*
 * When all have backed off, or after a timeout, a slow start that comes is not the first;
 * unless that was spurious.
 */
static void composite_start_undone(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 640, 2);
	struct composite *ca = composite_of(tp);
	struct lf_slow_start *slow = &ca->book->slow;
	struct sock *sk = (struct sock *)tp;

	composite_test_mark(tp, TCP_CA_Open, tp->delivered, false);
	KUNIT_EXPECT_EQ(test, ca->slow, 0U);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_OVER);
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_GROW);
	composite_audit(test, tp, "undone");

	/* A timeout of one stream: the window is a packet. */
	composite_test_event(tp);
	composite_losses(sk, 1, COMPOSITE_TIMEOUT);
	KUNIT_EXPECT_GT(test, ca->slow, 0U);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_OVER);
	/* The undoing of a later event is not that of this one. */
	composite_test_event(tp);
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_OVER);
	/* What is over stays so for each loss after it. */
	composite_losses(sk, 100, COMPOSITE_LOST);
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_OVER);
	composite_audit(test, tp, "over");

	/* Nor of one that ended it for all. */
	tp = composite_test_sock(test, 640, 2);
	tp->lost += 3;
	composite_test_event(tp);
	composite_set_state((struct sock *)tp, TCP_CA_Recovery);
	composite_test_event(tp);
	composite_undo_cwnd((struct sock *)tp);
	slow = &composite_of(tp)->book->slow;
	KUNIT_EXPECT_TRUE(test, slow->stage == LF_SS_OVER);
}

/* Stretch ACKs: the same streams in the end, however successes are bunched. */
static void composite_stretch(struct kunit *test)
{
	struct rnd_state rnd;
	u32 n, i;

	prandom_seed_state(&rnd, 1);
	for (n = 1; n <= 64; n *= 4) {
		struct tcp_sock *one, *many;
		u32 left = 200000;

		one = composite_test_streams(test, 400, n);
		many = composite_test_streams(test, 400, n);
		for (i = 0; i < left; i++)
			composite_successes((struct sock *)one, 1);
		while (left) {
			u32 k = 1 + prandom_u32_state(&rnd) % 50;

			k = min(k, left);
			composite_successes((struct sock *)many, k);
			left -= k;
		}
		for (i = 0; i < n; i++) {
			struct composite_stream *a, *b;

			a = composite_stream(composite_of(one), i);
			b = composite_stream(composite_of(many), i);
			KUNIT_ASSERT_EQ(test, a->cwnd, b->cwnd);
		}
		KUNIT_EXPECT_EQ(test, composite_of(one)->turn, composite_of(many)->turn);
		KUNIT_EXPECT_GT(test, composite_of(one)->sum, 400U);
		composite_audit(test, many, "stretch");
	}
}

/* A stream that rests does not grow, and the others do. */
static void composite_rests_only(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 64, 16);
	struct composite *ca = composite_of(tp);

	composite_lose((struct sock *)tp, 7, COMPOSITE_LOST);
	composite_lose((struct sock *)tp, 9, COMPOSITE_TIMEOUT);
	composite_successes((struct sock *)tp, 1000);
	KUNIT_EXPECT_EQ(test, composite_stream(ca, 7)->cwnd, 2U);
	KUNIT_EXPECT_EQ(test, composite_stream(ca, 9)->cwnd, 1U);
	KUNIT_EXPECT_EQ(test, composite_test_below(tp, 5), 2U);
	composite_audit(test, tp, "rests");
}

/*
 * Most ACKs only count.  Whoever has each looked at has the same windows after each, losses,
 * pauses and undo included.
 */
static void composite_quiet_is_exact(struct kunit *test)
{
	struct rnd_state rnd;
	u32 n, i, quiet;

	prandom_seed_state(&rnd, 4);
	for (n = 1; n <= 64; n *= 4) {
		struct tcp_sock *tp[2];
		u32 at;

		for (at = 0; at < 2; at++)
			tp[at] = composite_test_streams(test, 30 * n, n);
		for (quiet = 0, i = 0; i < 20000; i++) {
			u32 k = 1 + prandom_u32_state(&rnd) % 4;
			u32 what = prandom_u32_state(&rnd) % 1000;

			quiet += k < composite_of(tp[0])->quiet;
			for (at = 0; at < 2; at++) {
				struct sock *sk = (struct sock *)tp[at];
				u32 sent = tp[at]->delivered - 20 * n;

				composite_test_ack(tp[at], k, what < 3 ? what : 0,
						   sent);
				if (what == 3) {
					composite_test_event(tp[at]);
					tp[at]->lost += 2;
					composite_set_state(sk, TCP_CA_Recovery);
				}
				if (what == 4)
					tcp_snd_cwnd_set(tp[at],
							 composite_undo_cwnd(sk));
				if (at)
					composite_of(tp[1])->quiet = 0;
			}
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp[0]),
					tcp_snd_cwnd(tp[1]));
			KUNIT_ASSERT_EQ(test, composite_of(tp[0])->sum,
					composite_of(tp[1])->sum);
			KUNIT_ASSERT_EQ(test, composite_of(tp[0])->merged,
					composite_of(tp[1])->merged);
		}
		/* Not only where nothing is quiet. */
		KUNIT_EXPECT_GT(test, quiet, 2000U);
	}
}

/* The same in the first slow start, where most ACKs let one stream grow. */
static void composite_grows_is_exact(struct kunit *test)
{
	struct rnd_state rnd;
	u32 which, i;

	prandom_seed_state(&rnd, 5);
	for (which = 0; which < 2 * ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp[2];
		u32 at, most = 0;

		lf_test_set(test, "slow_start", which % 2 ? "classic" : "train", 0);
		for (at = 0; at < 2; at++) {
			tp[at] = composite_test_sock(test, 640, which / 2);
			tp[at]->tcp_clock_cache = NSEC_PER_SEC;
			tp[at]->rack.mstamp = USEC_PER_SEC;
		}
		for (i = 0; i < 3000; i++) {
			u32 k = 1 + prandom_u32_state(&rnd) % 4;
			u32 us = 100 * k, sent = us * (prandom_u32_state(&rnd) % 32 != 0);
			u32 rtt = 100000 + prandom_u32_state(&rnd) % 4096;

			for (at = 0; at < 2; at++) {
				tp[at]->tcp_clock_cache += us * NSEC_PER_USEC;
				tp[at]->rack.mstamp += sent;
				tp[at]->rack.rtt_us = rtt;
				/* Whoever is to pace looks at all. */
				if (at)
					composite_of(tp[1])->paced -= BIT(30);
				composite_test_ack(tp[at], k, 0, tp[at]->delivered - 600);
			}
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp[0]), tcp_snd_cwnd(tp[1]));
			KUNIT_ASSERT_EQ(test, composite_of(tp[0])->sum, composite_of(tp[1])->sum);
			KUNIT_ASSERT_EQ(test, composite_of(tp[0])->turn, composite_of(tp[1])->turn);
			KUNIT_ASSERT_EQ(test, composite_of(tp[0])->merged,
					composite_of(tp[1])->merged);
			most = max(most, composite_of(tp[0])->sum);
		}
		KUNIT_EXPECT_GT(test, most, 1280U);
		composite_audit(test, tp[0], "grown");
	}
	lf_test_set(test, "slow_start", "train", 0);
}

/*
 * The same with the window, which may jump with a stretch ACK: while it is what
 * limits, one ACK for n packets and n ACKs for one end in the same window.
 */
static void composite_stretch_window(struct kunit *test)
{
	struct tcp_sock *one, *many;
	struct rnd_state rnd;
	u32 n, round, i;

	prandom_seed_state(&rnd, 2);
	for (n = 1; n <= 64; n *= 4) {
		one = composite_test_streams(test, 400, n);
		many = composite_test_streams(test, 400, n);
		for (round = 0; round < 1000; round++) {
			u32 k = 1 + prandom_u32_state(&rnd) % 50;

			for (i = 0; i < k; i++)
				composite_test_ack(one, 1, 0, one->delivered);
			composite_test_ack(many, k, 0, many->delivered);
			KUNIT_ASSERT_EQ(test, composite_of(one)->sum,
					composite_of(many)->sum);
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(one),
					tcp_snd_cwnd(many));
		}
		KUNIT_EXPECT_GT(test, tcp_snd_cwnd(one), 400U);
	}
}

/*
 * An ordinary ACK costs the same for any N: of one packet, it touches one stream;
 * of k packets, no more than k turns can pass, and one for each window full.
 */
static void composite_cost(struct kunit *test)
{
	struct composite_stream *old;
	u32 n, acked, i, touched;

	old = kunit_kcalloc(test, COMPOSITE_MAX, sizeof(*old), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, old);
	for (n = 2; n <= COMPOSITE_MAX; n++) {
		struct tcp_sock *tp = composite_test_streams(test, 100 * n, n);
		struct composite *ca = composite_of(tp);

		for (acked = 1; acked <= 128; acked++) {
			memcpy(old, ca->book->streams, n * sizeof(*old));
			composite_test_ack(tp, acked, 0, tp->delivered);
			for (touched = 0, i = 0; i < n; i++)
				touched += !!memcmp(&old[i],
						    &ca->book->streams[i],
						    sizeof(*old));
			KUNIT_ASSERT_LE(test, touched, acked == 1 ? 1U : 3U);
		}
	}
}

/* One stream grows as the kernel's Reno does, packet for packet. */
static void composite_one_is_reno(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 10, 1);
	struct tcp_sock *reno = lf_test_sock(test, 10, 100000);
	struct composite *ca = composite_of(tp);
	u32 i;

	composite_count(ca, &ca->one, -1);
	ca->one.ssthresh = 50;
	composite_count(ca, &ca->one, 1);
	reno->snd_ssthresh = 50;
	for (i = 0; i < 100000; i++) {
		composite_test_ack(tp, 1, 0, tp->delivered);
		tcp_reno_cong_avoid((struct sock *)reno, 0, 1);
		KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), tcp_snd_cwnd(reno));
	}
	KUNIT_EXPECT_GT(test, tcp_snd_cwnd(tp), 400U);
}

/* A stream backs off once for all that is lost in one round trip. */
static void composite_once_a_round_trip(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 1);
	struct composite *ca = composite_of(tp);
	u32 mark;

	tp->reordering = 3;
	composite_test_ack(tp, 1, 1, tp->delivered);
	mark = tp->delivered;
	KUNIT_EXPECT_EQ(test, ca->sum, 50U);
	/* Sent before the decrease: absorbed. */
	composite_test_ack(tp, 50, 20, mark - 1);
	KUNIT_EXPECT_EQ(test, ca->sum, 50U);
	/* Found by the first packet sent after it, so sent before that. */
	composite_test_ack(tp, 1, 1, mark);
	KUNIT_EXPECT_EQ(test, ca->sum, 50U);
	/* The packets before that one may be late, with one sent for two. */
	composite_test_ack(tp, 1, 1, mark + 7);
	composite_test_ack(tp, 1, 1, mark + 8);
	KUNIT_EXPECT_EQ(test, ca->sum, 50U);
	/* Sent after it: counts, and then not again. */
	composite_test_ack(tp, 1, 1, mark + 9);
	KUNIT_EXPECT_EQ(test, ca->sum, 25U);
	composite_test_ack(tp, 10, 5, mark + 10);
	composite_test_ack(tp, 10, 5, mark + 20);
	KUNIT_EXPECT_EQ(test, ca->sum, 25U);
}

/* How many of 16 streams of so many packets back off, if so much was merged, << 16. */
static u32 composite_test_back_off(struct kunit *test, u32 window, u32 merged, u32 lost,
				   enum composite_bad why)
{
	struct tcp_sock *tp = composite_test_streams(test, 16 * window, 16);
	u32 below;

	composite_of(tp)->merged = merged;
	composite_losses((struct sock *)tp, lost, why);
	below = composite_test_below(tp, window);
	if (why != COMPOSITE_TIMEOUT)
		KUNIT_EXPECT_EQ(test, composite_of(tp)->sum,
				16 * window - below * (window - window / 2));
	composite_audit(test, tp, "loss");
	return below;
}

/* Each lost packet is dealt: so many streams back off, up to all. */
static void composite_every_loss_counts(struct kunit *test)
{
	u32 lost, below, all = 0;

	for (lost = 0; lost <= 60; lost++) {
		below = composite_test_back_off(test, 10, 0, lost, COMPOSITE_LOST);
		/* Some of many streams are drawn twice, and absorb it. */
		KUNIT_EXPECT_LE(test, below, lost);
		KUNIT_EXPECT_GE(test, below, min(lost, 16U) * 3 / 4);
		all += below == 16;
	}
	KUNIT_EXPECT_GT(test, all, 20U);
}

/* Where ACKs are merged, two packets are one LOSS, and a third is one of its own. */
static void composite_lost_together(struct kunit *test)
{
	u32 lost, below, all = 0;

	for (lost = 0; lost <= 120; lost++) {
		below = composite_test_back_off(test, 8, BIT(13) + 1, lost, COMPOSITE_LOST);
		KUNIT_EXPECT_LE(test, below, (lost + 1) / 2);
		KUNIT_EXPECT_GE(test, below, (min((lost + 1) / 2, 16U) * 3 + 3) / 4);
		all += below == 16;
	}
	KUNIT_EXPECT_GT(test, all, 40U);
}

/* Where few are merged, or nearly all, each packet is a LOSS; so it is of few packets. */
static void composite_lost_apart(struct kunit *test)
{
	static const enum composite_bad not_lost[] = { COMPOSITE_MARKED, COMPOSITE_TIMEOUT };
	u32 i;

	KUNIT_EXPECT_GE(test, composite_test_back_off(test, 8, BIT(13), 8, COMPOSITE_LOST), 6U);
	KUNIT_EXPECT_GE(test, composite_test_back_off(test, 8, 7 * BIT(13), 8, COMPOSITE_LOST), 6U);
	KUNIT_EXPECT_GE(test, composite_test_back_off(test, 7, BIT(15), 8, COMPOSITE_LOST), 6U);
	/* Nor are marked packets lost, nor what a timeout takes. */
	for (i = 0; i < ARRAY_SIZE(not_lost); i++)
		KUNIT_EXPECT_GE(test, composite_test_back_off(test, 8, BIT(15), 8, not_lost[i]),
				6U);
	KUNIT_EXPECT_EQ(test, composite_test_back_off(test, 8, BIT(15), 16, COMPOSITE_ECHOED), 16U);
}

/* What a stream does with a loss at every window. */
static void composite_decreases(struct kunit *test)
{
	u32 w;

	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 100, 9)) {
		struct tcp_sock *tp = composite_test_streams(test, w, 1);
		struct composite *ca = composite_of(tp);

		composite_losses((struct sock *)tp, 1, COMPOSITE_LOST);
		KUNIT_ASSERT_GE(test, ca->one.ssthresh, 2U);
		KUNIT_ASSERT_LT(test, ca->sum, w);
		if (w > 3)
			KUNIT_ASSERT_EQ(test, ca->sum, w / 2);
		composite_audit(test, tp, "decrease");
		/* One more below that ends at none, and stays there. */
		ca->resting = 0;
		if (w <= 2)
			composite_losses((struct sock *)tp, 1, COMPOSITE_LOST);
		if (w <= 2)
			KUNIT_ASSERT_EQ(test, ca->sum, 0U);
		kunit_release_action(test, composite_test_release, tp);
		kunit_kfree(test, tp);
	}
}

/* Timeout: the streams whose packets were lost collapse, the others do not. */
static void composite_timeouts(struct kunit *test)
{
	u32 lost, i;

	for (lost = 1; lost <= 16; lost++) {
		struct tcp_sock *tp = composite_test_streams(test, 160, 16);
		struct sock *sk = (struct sock *)tp;
		u32 collapsed = 0;

		tp->lost += lost;
		composite_test_event(tp);
		tcp_snd_cwnd_set(tp, 1);
		composite_set_state(sk, TCP_CA_Loss);
		for (i = 0; i < 16; i++)
			collapsed += composite_stream(composite_of(tp),
						      i)->cwnd == 1;
		KUNIT_EXPECT_LE(test, collapsed, lost);
		KUNIT_EXPECT_GE(test, collapsed, lost * 3 / 4);
		KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 160 - 9 * collapsed);
		/* Up to there by slow start, as Reno, or as most streams are. */
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, max(160 - 9 * collapsed, 80U));
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1U);
		composite_audit(test, tp, "timeout");
		/* It comes up by slow start, and no stream grows meanwhile. */
		for (i = 2; i <= 7 * (160 - 9 * collapsed) / 8; i++) {
			composite_test_ack(tp, 1, 0, tp->delivered);
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), i);
		}
		KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 160 - 9 * collapsed);
	}
}

/*
 * What a timeout leaves behind is measured by the window that it left, however far packets are
 * reordered: rests, and what a selection in a loss event waits for.  A repeated timeout and a
 * pause find the ssthresh of the first.
 */
static void composite_timeout_again(struct kunit *test)
{
	static const u32 streams[] = { 1, 4, 8, 64 };
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(streams); k++) {
		struct tcp_sock *tp = composite_test_streams(test, 1600, streams[k]);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;
		u32 most = 5 * max(streams[k], 3U);
		u64 known = 0, after = 0;

		tp->reordering = 300;
		ca->held = 1600;
		tp->lost += 1600;
		composite_test_event(tp);
		tcp_snd_cwnd_set(tp, 1);
		composite_set_state(sk, TCP_CA_Loss);
		KUNIT_ASSERT_EQ(test, ca->sum, streams[k]);
		KUNIT_EXPECT_LE_MSG(test, ca->rest_end - tp->delivered, most, "%u", streams[k]);
		KUNIT_EXPECT_LE_MSG(test, ca->held, most, "%u", streams[k]);
		KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, 800U);
		inet_csk(sk)->icsk_ca_state = TCP_CA_Loss;
		inet_csk(sk)->icsk_retransmits = 1;
		tp->lost++;
		composite_set_state(sk, TCP_CA_Loss);
		KUNIT_EXPECT_EQ_MSG(test, tp->snd_ssthresh, 800U, "%u", streams[k]);
		/* A loss in the slow start behind it says W; the streams know more. */
		for (i = 0; i < streams[k]; i++)
			known += composite_stream(ca, i)->ssthresh;
		tp->snd_ssthresh = max(ca->sum, 2U);
		composite_shrink(sk, 1);
		for (i = 0; i < streams[k]; i++)
			after += composite_stream(ca, i)->ssthresh;
		KUNIT_EXPECT_EQ_MSG(test, after, known, "%u", streams[k]);
		composite_audit(test, tp, "timeout again");
	}
}

/* Far more losses than streams: a timeout leaves each with a packet, not with none. */
static void composite_timeout_of_all(struct kunit *test)
{
	static const u32 lost[] = { 64, 200, 1000, 100000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(lost); i++) {
		struct tcp_sock *tp = composite_test_streams(test, 640, 16);
		struct sock *sk = (struct sock *)tp;

		tp->lost += lost[i];
		composite_test_event(tp);
		tcp_snd_cwnd_set(tp, 1);
		composite_set_state(sk, TCP_CA_Loss);
		KUNIT_EXPECT_GE(test, composite_of(tp)->sum, 16U);
		if (lost[i] >= 200)
			KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 16U);
		composite_audit(test, tp, "timeout of all");
	}
}

/*
 * The kernel's Loss state without a timeout: a path that became narrower, a failed
 * MTU probe.  No window was taken, and no stream pays.
 */
static void composite_narrower_path(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct sock *sk = (struct sock *)tp;

	tp->lost += 40;
	tp->packets_out = 160;
	tp->lost_out = 40;
	composite_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 160U);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 160U);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->lost, tp->lost);
}

/* Losses that a timer finds come off the window at once. */
static void composite_loss_by_timer(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct sock *sk = (struct sock *)tp;
	u32 w;

	tp->lost += 8;
	composite_test_event(tp);
	composite_set_state(sk, TCP_CA_Recovery);
	w = composite_of(tp)->sum;
	KUNIT_EXPECT_LE(test, w, 160U - 6 * 5);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 160U - 8);
	/* And not once more with the next acknowledgment. */
	composite_test_ack(tp, 2, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, w);
	composite_audit(test, tp, "timer");
}

/* A delivery that the kernel takes back, after a SYN with data, is none at all. */
static void composite_delivered_less(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);

	tp->delivered--;
	composite_test_ack(tp, 0, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 160U);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 160U);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->merged, 0U);
}

/* A rest is over after its round trip, however many packets come after it. */
static void composite_rest_ends(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct composite *ca = composite_of(tp);
	u32 i, mark;

	composite_test_ack(tp, 0, 4, tp->delivered);
	mark = tp->delivered;
	composite_test_ack(tp, 1, 0, mark + 200);
	tp->delivered += BIT(30);
	composite_test_ack(tp, 1, 0, tp->delivered);
	tp->delivered += BIT(30);
	composite_test_ack(tp, 1, 0, tp->delivered);
	tp->delivered += BIT(30);
	composite_test_ack(tp, 1, 0, tp->delivered);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_FALSE(test, composite_rests(ca, composite_stream(ca, i)));
	KUNIT_EXPECT_FALSE(test, lf_echoed((struct sock *)tp, &ca->echo_end));
}

/* Nor does it begin again when other streams rest, after any number of packets. */
static void composite_rest_wraps(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct composite *ca = composite_of(tp);
	u32 i, k;

	for (i = 0; i < 8; i++)
		composite_lose((struct sock *)tp, i, COMPOSITE_LOST);
	for (k = 0; k < 3; k++) {
		tp->delivered += BIT(30);
		composite_test_ack(tp, 1, 0, tp->delivered);
	}
	composite_lose((struct sock *)tp, 8, COMPOSITE_LOST);
	for (i = 0; i < 16; i++) {
		if (i == 8)
			continue;
		KUNIT_EXPECT_FALSE(test, composite_rests(ca, composite_stream(ca, i)));
	}
}

/* A stream that lost its only packet is back after five windows, not after one. */
static void composite_rest_of_the_last(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 64, 16);
	struct composite *ca = composite_of(tp);
	u32 i, w;

	composite_lose((struct sock *)tp, 0, COMPOSITE_TIMEOUT);
	ca->resting = 0;
	w = ca->sum;
	composite_lose((struct sock *)tp, 0, COMPOSITE_LOST);
	for (i = 0; i < 4 * w; i++)
		composite_test_ack(tp, 1, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_stream(ca, 0)->cwnd, 0U);
	for (i = 0; i < 8 * w; i++)
		composite_test_ack(tp, 1, 0, tp->delivered);
	KUNIT_EXPECT_GT(test, composite_stream(ca, 0)->cwnd, 0U);
}

/* However much reordering was seen: a window at most passes for old losses. */
static void composite_reordering_bound(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 32, 4);
	struct composite *ca = composite_of(tp);
	u32 w;

	tp->reordering = 300;
	composite_test_ack(tp, 0, 60, tp->delivered);
	w = ca->sum;
	KUNIT_ASSERT_EQ(test, w, 16U);
	tp->delivered += 40;
	ca->delivered = tp->delivered;
	ca->sent = tp->delivered;
	composite_test_ack(tp, 0, 60, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, 8U);
}

/* All streams without credit: one packet at a time, and up from there. */
static void composite_from_nothing(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 16, 16);
	struct composite *ca = composite_of(tp);
	u32 i;

	for (i = 0; i < 16; i++)
		composite_lose((struct sock *)tp, i, COMPOSITE_LOST);
	KUNIT_EXPECT_EQ(test, ca->sum, 0U);
	composite_audit(test, tp, "nothing");
	for (i = 0; i < 15; i++)
		composite_test_ack(tp, 1, 0, tp->delivered);
	KUNIT_EXPECT_GE(test, ca->sum, 1U);
	for (i = 0; i < 100; i++)
		composite_test_ack(tp, 1, 0, tp->delivered);
	KUNIT_EXPECT_GE(test, ca->sum, 16U);
	composite_audit(test, tp, "up");
}

/* A mark: all streams, once.  No mark: one. */
static void composite_marks(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct sock *sk = (struct sock *)tp;
	u32 begin, i;

	composite_test_event(tp);
	composite_set_state(sk, TCP_CA_CWR);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 155U);
	composite_test_mark(tp, TCP_CA_Open, tp->delivered - 1, false);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 80U);
	/* The rest of its round trip. */
	begin = tp->delivered;
	for (i = 20; i; i--)
		composite_test_mark(tp, TCP_CA_CWR, begin - i, false);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 80U);
	composite_audit(test, tp, "mark");

	/* All of them rest: it may be of what was lost.  After that it is not. */
	tp = composite_test_streams(test, 160, 16);
	sk = (struct sock *)tp;
	composite_test_ack(tp, 1, 250, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 80U);
	composite_test_mark(tp, TCP_CA_Recovery, tp->delivered - 1, false);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 80U);
	KUNIT_EXPECT_FALSE(test, tp->ecn_flags & TCP_ECN_QUEUE_CWR);
	/* Losses are found up to two packets late, as no reordering is known. */
	composite_test_mark(tp, TCP_CA_Recovery, tp->delivered + 2, false);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 32U);
	composite_audit(test, tp, "mark after losses");
}

/*
 * All packets are marked: every stream halves in each round trip, as a Reno sender does,
 * also where the kernel counts the mark that began CWR after that.
 */
static void composite_marks_persist(struct kunit *test)
{
	u32 n, old, round, i;

	for (n = 1; n <= 64; n *= 8) {
		for (old = 0; old <= 1; old++) {
			struct tcp_sock *tp = composite_test_streams(test,
					256 * n, n);
			struct composite *ca = composite_of(tp);
			u32 w = 256 * n, sent = tp->delivered;

			for (round = 0; round < 6; round++) {
				u32 begin = tp->delivered;

				composite_test_mark(tp, TCP_CA_Open, sent, old);
				w /= 2;
				KUNIT_EXPECT_EQ_MSG(test, ca->sum, w, "N %u", n);
				/* What was in flight: sent before. */
				for (i = 0; i < w; i++)
					composite_test_mark(tp, TCP_CA_CWR,
							    begin, old);
				KUNIT_EXPECT_EQ_MSG(test, ca->sum, w, "N %u", n);
				sent = begin + 1;
			}
			composite_audit(test, tp, "marks");
		}
	}
}

/*
 * Recovery, in which the kernel asks for no CWR: a mark counts once, also when it ends,
 * and its receiver is told, after which the next one counts.
 */
static void composite_marks_in_recovery(struct kunit *test)
{
	u32 n, i, w;

	for (n = 1; n <= 64; n *= 8) {
		struct tcp_sock *tp = composite_test_streams(test, 256 * n, n);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;
		u32 hole = tp->snd_una, next;

		tp->ecn_flags = LF_TEST_ECN;
		composite_test_event(tp);
		composite_set_state(sk, TCP_CA_Recovery);
		composite_test_mark(tp, TCP_CA_Recovery, tp->delivered, false);
		w = ca->sum;
		KUNIT_EXPECT_EQ(test, w, 128 * n);
		KUNIT_EXPECT_TRUE(test, tp->ecn_flags & TCP_ECN_QUEUE_CWR);
		next = tp->snd_nxt;
		/* Round trips in which the hole is not filled, and cwnd is. */
		for (i = 0; i < 4; i++) {
			tp->snd_una = hole - 1;
			tp->delivered += ca->sum;
			ca->delivered = tp->delivered;
			ca->sent = tp->delivered - 1;
			tp->delivered_ce++;
			composite_test_ack(tp, 0, 0, 0);
			KUNIT_EXPECT_EQ_MSG(test, ca->sum, w, "round %u", i);
		}
		/* It is: the same mark once more, and CWR is not there yet. */
		tp->snd_una = next;
		tp->delivered_ce++;
		inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
		composite_test_event(tp);
		composite_set_state(sk, TCP_CA_CWR);
		inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
		composite_test_ack(tp, 0, 0, 0);
		KUNIT_EXPECT_EQ(test, ca->sum, w);
		tp->snd_una = next + 1;
		tp->delivered_ce++;
		composite_test_ack(tp, 0, 0, 0);
		KUNIT_EXPECT_EQ(test, ca->sum, w / 2);
		composite_audit(test, tp, "marks in recovery");
	}
}

/* Where each marked packet is known, each is dealt, and no more is answered. */
static void composite_marks_exact(struct kunit *test)
{
#ifdef LF_HAVE_ACCECN
	u32 marked, state, below;

	for (marked = 1; marked <= 20; marked++) {
		for (state = TCP_CA_CWR; state <= TCP_CA_Recovery; state++) {
			struct tcp_sock *tp = composite_test_streams(test, 160,
						16);
			struct sock *sk = (struct sock *)tp;

			tp->ecn_flags = TCP_ECN_MODE_ACCECN;
			tp->delivered_ce += marked;
			composite_test_event(tp);
			composite_set_state(sk, state);
			inet_csk(sk)->icsk_ca_state = state;
			composite_test_ack(tp, 1, 0, tp->delivered);
			below = composite_test_below(tp, 10);
			KUNIT_EXPECT_LE(test, below, marked);
			KUNIT_EXPECT_GE(test, below, min(marked, 16U) * 3 / 4);
			KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 160 - 5 * below);
			/* RFC 3168's signal has another meaning here. */
			KUNIT_EXPECT_FALSE(test,
					   tp->ecn_flags & TCP_ECN_QUEUE_CWR);
			composite_audit(test, tp, "exact marks");
		}
	}
#else
	kunit_skip(test, "this kernel has no AccECN");
#endif
}

/* The streams have together what they had. */
static void composite_undone(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 160, 16);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	u32 w;

	/* An earlier loss event, real. */
	composite_test_event(tp);
	composite_test_ack(tp, 1, 4, tp->delivered);
	w = ca->sum;
	KUNIT_EXPECT_LE(test, w, 150U);
	tcp_snd_cwnd_set(tp, w);

	composite_test_event(tp);
	composite_test_ack(tp, 1, 6, tp->delivered);
	KUNIT_EXPECT_LE(test, ca->sum, w - 10);
	/* Found lost by a timer, not dealt yet, spurious as well. */
	tp->lost += 3;
	KUNIT_EXPECT_EQ(test, composite_undo_cwnd(sk), w);
	KUNIT_EXPECT_EQ(test, ca->sum, w);
	composite_test_ack(tp, 1, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, w);
	KUNIT_EXPECT_EQ(test, ca->slow, 0U);
	composite_audit(test, tp, "undo");
	/* Once, and then what is lost is no part of it. */
	composite_test_ack(tp, 1, 100, tp->delivered);
	KUNIT_EXPECT_LE(test, ca->sum, w - 10);
	w = ca->sum;
	composite_undo_cwnd(sk);
	KUNIT_EXPECT_EQ(test, ca->sum, w);
}

/* A timeout of everything that was none: W is back, with all streams in avoidance. */
static void composite_timeout_undone(struct kunit *test)
{
	u32 n;

	for (n = 1; n <= COMPOSITE_MAX; n *= 4) {
		struct tcp_sock *tp = composite_test_streams(test, 10 * n, n);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;

		tp->lost += 100 * n;
		composite_test_event(tp);
		tcp_snd_cwnd_set(tp, 1);
		composite_set_state(sk, TCP_CA_Loss);
		KUNIT_EXPECT_EQ(test, ca->sum, n);
		KUNIT_EXPECT_EQ(test, composite_undo_cwnd(sk), 10 * n);
		KUNIT_EXPECT_EQ(test, ca->sum, 10 * n);
		KUNIT_EXPECT_EQ(test, ca->slow, 0U);
		KUNIT_EXPECT_FALSE(test, ca->resting);
		composite_audit(test, tp, "timeout undone");
	}
}

/* So it is in a later slow start, also where packets are larger now: that goes on, too. */
static void composite_slow_start_undone(struct kunit *test)
{
	u32 n, larger;

	for (n = 1; n <= 16; n *= 4)
		for (larger = 0; larger <= 1; larger++) {
			struct tcp_sock *tp = composite_test_streams(test, 64, n);
			struct composite *ca = composite_of(tp);
			struct sock *sk = (struct sock *)tp;
			u32 sum = 0, i;

			composite_resize(ca, 64, 800, true);
			tp->snd_ssthresh = 800;
			tp->lost += 100 * n;
			composite_test_event(tp);
			tcp_snd_cwnd_set(tp, 1);
			composite_set_state(sk, TCP_CA_Loss);
			if (larger) {
				inet_csk(sk)->icsk_mtup.enabled = 1;
				tp->mss_cache *= 2;
				composite_rescale(sk);
			}
			composite_undo_cwnd(sk);
			KUNIT_EXPECT_EQ(test, ca->sum, 64U >> larger);
			KUNIT_EXPECT_EQ(test, (u32)ca->slow, n);
			for (i = 0; i < n; i++)
				sum += composite_stream(ca, i)->ssthresh;
			KUNIT_EXPECT_LE(test, lf_apart(sum, 800 >> larger), (u64)n);
			composite_audit(test, tp, "slow start undone");
		}
}

/* Any sequence of events: the sum of the streams is the composite window. */
static void composite_fuzz(struct kunit *test)
{
	struct rnd_state rnd;
	u32 run, step, route;

	prandom_seed_state(&rnd, 5);
	for (run = 0; run < 200; run++) {
		u32 n = 1 + prandom_u32_state(&rnd) % COMPOSITE_MAX;
		struct tcp_sock *tp = composite_test_streams(test,
			1 + prandom_u32_state(&rnd) % 1000, n);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;

		route = 65535;
		tp->delivered = prandom_u32_state(&rnd);
		ca->delivered = tp->delivered;
		ca->sent = tp->delivered - 2;
		tp->snd_una = tp->delivered;
		ca->echo_end = lf_no_echo(sk);
		tp->lost = prandom_u32_state(&rnd);
		ca->lost = tp->lost;
		for (step = 0; step < 500; step++) {
			u32 what = prandom_u32_state(&rnd) % 64;
			u32 k = prandom_u32_state(&rnd) % 100;
			u32 cwnd = tcp_snd_cwnd(tp);
			const char *when = "ack";

			tp->is_cwnd_limited = what & 1;
			tp->max_packets_out = cwnd / 2 + k;
			/* More than the window, where it has come down. */
			tp->packets_out = prandom_u32_state(&rnd) % (2 * cwnd);
			/* After a SYN with data the kernel takes one back. */
			if (!step && run & 1)
				tp->delivered--;
			/* Another route, and a transmission. */
			if (what == 1) {
				route = 1 + k + (1 + k == ca->burst);
				sk->sk_gso_max_segs = route;
			}
			composite_min_tso_segs(sk);
			KUNIT_ASSERT_GE(test, sk->sk_gso_max_segs, 1);
			KUNIT_ASSERT_LE(test, sk->sk_gso_max_segs, route);
			if (what < 40) {
				composite_test_ack(tp, k, 0, tp->delivered - k);
				KUNIT_ASSERT_LE(test, tcp_snd_cwnd(tp),
						max(cwnd, 1U) + k);
			} else if (what < 52) {
				when = "loss";
				if (!(what % 3))
					composite_test_event(tp);
				composite_test_ack(tp, k, 1 + k % 9,
						   tp->delivered - k);
			} else if (what < 54) {
				u32 i, had = 0, have = 0;

				when = "timeout";
				for (i = 0; i < n; i++)
					had += composite_stream(ca, i)->cwnd > 1;
				tp->lost += k;
				composite_test_event(tp);
				/* A window of what is in flight, and one. */
				tp->packets_out %= 10;
				tcp_snd_cwnd_set(tp, tp->packets_out + 1);
				composite_set_state(sk, TCP_CA_Loss);
				/* It takes no stream from two packets to none. */
				for (i = 0; i < n; i++)
					have += composite_stream(ca, i)->cwnd > 0;
				KUNIT_ASSERT_GE(test, have, had);
			} else if (what < 56) {
				when = "mark";
				composite_test_mark(tp, TCP_CA_Open,
						    tp->delivered - k, what & 1);
				inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
			} else if (what < 59) {
				when = "undo";
				tcp_snd_cwnd_set(tp, composite_undo_cwnd(sk));
			} else if (what < 61) {
				when = "idle";
				tp->packets_out = 0;
				tp->lsndtime = tcp_jiffies32 - k * HZ;
				composite_min_tso_segs(sk);
			} else if (what < 62) {
				when = "probe";
				inet_csk(sk)->icsk_mtup.enabled = k & 1;
				tp->mss_cache = 500 + 100 * k;
				composite_test_ack(tp, k, 0, tp->delivered - k);
			} else {
				when = "clamp";
				tp->snd_cwnd_clamp = what & 1 ? U32_MAX : k;
				composite_test_ack(tp, k, 0, tp->delivered - k);
			}
			composite_audit(test, tp, when);
		}
		kunit_release_action(test, composite_test_release, tp);
		kunit_kfree(test, tp);
	}
}

/* --- the window ---------------------------------------------------------- */

/* Between two acknowledgments: no faster than slow start, no stop either. */
static void composite_windows(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	struct composite *ca = composite_of(tp);
	u32 w = 200, i;

	KUNIT_EXPECT_EQ(test, composite_window(ca, 100, 1, 0), 100U);
	KUNIT_EXPECT_EQ(test, composite_window(ca, 50, 1, 0), 51U);
	KUNIT_EXPECT_EQ(test, composite_window(ca, 50, 64, 0), 100U);
	KUNIT_EXPECT_EQ(test, composite_window(ca, 50, 10, 20), 40U);
	KUNIT_EXPECT_EQ(test, composite_window(ca, 5, 0, 20), 1U);
	KUNIT_EXPECT_EQ(test, composite_window(ca, U32_MAX, 0, 0), U32_MAX);
	KUNIT_EXPECT_EQ(test, composite_window(ca, 10, U32_MAX, 0), 100U);
	/* Down by one for two. */
	for (i = 1; i <= 200; i++) {
		ca->delivered = i;
		w = composite_window(ca, w, 1, 0);
		KUNIT_ASSERT_EQ(test, w, 200 - (i + 1) / 2);
	}
	KUNIT_EXPECT_EQ(test, composite_window(ca, w, 1, 0), 100U);
	for (i = 1, w = 2000; w > 200; i += 3) {
		u32 was = w;

		ca->delivered += i;
		w = composite_window(ca, w, i, 0);
		KUNIT_ASSERT_LE(test, lf_apart(2 * (was - w), i), 1ULL);
	}
}

/* The mean rate: of the window, never 0, never above the socket's maximum. */
static void composite_paced(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	struct sock *sk = (struct sock *)tp;
	u32 w, rtt;

	KUNIT_EXPECT_EQ(test, sk->sk_pacing_status, SK_PACING_NEEDED);
	composite_pace(sk);
	/* 100 packets of 1448 bytes in 100 ms, and a quarter. */
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1810000UL);
	composite_of(tp)->book->pacing = 100;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1448000UL);
	/* More in flight than the window, on the way down. */
	tp->packets_out = 200;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 2896000UL);
	tp->packets_out = 0;
	/* Coming up to the streams' window: twice. */
	tcp_snd_cwnd_set(tp, 40);
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1158400UL);
	/* Smaller packets, and a longer RTT. */
	tp->mss_cache = 724;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 579200UL);
	tp->srtt_us *= 2;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 289600UL);
	tp->mss_cache = 1448;
	composite_of(tp)->book->pacing = 1000;
	for (w = 1; w <= LF_WINDOW_MAX; w = lf_next_window(w, 10, 2)) {
		for (rtt = 1; rtt < U32_MAX / 16; rtt *= 10) {
			tcp_snd_cwnd_set(tp, w);
			tp->srtt_us = rtt << 3;
			composite_pace(sk);
			KUNIT_ASSERT_GT(test, sk->sk_pacing_rate, 0UL);
		}
	}
	/* SO_MAX_PACING_RATE holds, and 0 turns pacing off. */
	sk->sk_max_pacing_rate = 0;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 0UL);
	sk->sk_max_pacing_rate = 1000;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
	/* No RTT known yet: what was set stays. */
	tp->srtt_us = 0;
	sk->sk_max_pacing_rate = 2000;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
}

/* 1 + above / sqrt(N), rounded down. */
static void composite_pacing_by_n(struct kunit *test)
{
	static const struct {
		u32 above, n, percent;
	} all[] = {
		{ 50, 4, 125 }, { 50, 16, 112 }, { 50, 64, 106 },
		{ 200, 4, 200 }, { 200, 8, 170 },
		{ 200, 16, 150 }, { 200, 32, 135 }, { 200, 64, 125 },
		{ 0, 2, 100 }, { 0, 64, 100 },
		{ 1000, 2, 807 }, { 1000, 64, 225 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct tcp_sock *tp;
		char text[8];

		scnprintf(text, sizeof(text), "%u", all[i].above);
		lf_test_set(test, "pacing", text, 0);
		tp = composite_test_streams(test, 10, all[i].n);
		KUNIT_EXPECT_EQ(test, composite_of(tp)->book->pacing,
				all[i].percent);
	}
	lf_test_set(test, "pacing", "50", 0);
}

/* As if so many halves of a packet had come with each acknowledgment, on average. */
static void composite_test_covers(struct composite *ca, u32 halves)
{
	ca->covers = halves << 15;
}

/*
 * A burst is half a packet more than an acknowledgment covers, on average, or what one of N
 * connections may send in 1/1024 s; at most 64 KB, and the device's.
 */
static void composite_bursts(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	struct tcp_sock *one = composite_test_streams(test, 100, 1);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	u32 halves, i;

	/* Delayed acknowledgments, until it is known. */
	KUNIT_EXPECT_EQ(test, ca->covers, 2U << 16);
	/* 1 Gbit/s among 4: 30518 bytes in 1/1024 s. */
	KUNIT_EXPECT_EQ(test, composite_burst_for(ca, 125000000, 65215, 1448), 21U);
	/* What the kernel sends as one, with its headers. */
	KUNIT_EXPECT_EQ(test, composite_burst_for(ca, BIT_ULL(44), 65215, 536), 121U);
	KUNIT_EXPECT_LE(test, composite_burst_for(ca, BIT_ULL(44), 0, 536), 3U);
	for (halves = 2; halves <= 4; halves++) {
		u64 sum = 0;

		composite_test_covers(ca, halves);
		for (i = 0; i < 1000; i++)
			sum += composite_burst_for(ca, 0, 65215, 1448);
		KUNIT_EXPECT_LE(test, lf_apart(sum, 500 * halves + 500), 60ULL);
	}

	/* Three packets, whatever is drawn. */
	composite_test_covers(ca, 5);
	sk->sk_gso_max_segs = 44;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk), 3U);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 3);
	/* Another route, with other limits: larger and smaller than a burst. */
	sk->sk_gso_max_segs = 40;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 3);
	tcp_snd_cwnd_set(tp, 1000000);
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk), 40U);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 40);
	sk->sk_gso_max_segs = 65535;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk), (65535U - MAX_TCP_HEADER) / 1448);
	sk->sk_gso_max_segs = 1;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk), 1U);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 1);
	/* It is the next algorithm's, at the mean rate: 100 packets in 100 ms, and a quarter. */
	sk->sk_gso_max_segs = 64;
	tcp_snd_cwnd_set(tp, 100);
	composite_pace(sk);
	composite_min_tso_segs(sk);
	KUNIT_EXPECT_NE(test, sk->sk_pacing_rate, 1810000UL);
	composite_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 64);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1810000UL);

	sk = (struct sock *)one;
	KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk),
			init_net.ipv4.sysctl_tcp_min_tso_segs);
	composite_release(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_gso_max_segs, 65535);
}

/* Delayed acknowledgments, merged ones, and recovery, which is no sign. */
static void composite_covers(struct kunit *test)
{
	static const u32 all[] = { 1, 2, 3, 8, 64, 1100 };
	u32 i, a, covers, merged;

	for (a = 0; a < ARRAY_SIZE(all); a++) {
		struct tcp_sock *tp = composite_test_streams(test, 1000, 4);
		struct composite *ca = composite_of(tp);

		for (i = 0; i < 3000; i++) {
			composite_test_ack(tp, all[a], 0, tp->delivered);
			composite_test_ack(tp, 0, 0, tp->delivered);
		}
		/* In 2^-16 packets, and of 2^16. */
		KUNIT_EXPECT_LE(test, lf_apart(ca->covers, min(all[a], 2U) << 16), 256ULL);
		KUNIT_EXPECT_LE(test, lf_apart(ca->merged, all[a] > 2 ? BIT(16) : 0), 256ULL);
		inet_csk((struct sock *)tp)->icsk_ca_state = TCP_CA_Recovery;
		covers = ca->covers;
		merged = ca->merged;
		for (i = 0; i < 3000; i++) {
			composite_test_ack(tp, 3 - min(all[a], 2U), 0, tp->delivered);
			composite_test_ack(tp, all[a] > 2 ? 1 : 8, 0, tp->delivered);
		}
		KUNIT_EXPECT_EQ(test, ca->covers, covers);
		KUNIT_EXPECT_EQ(test, ca->merged, merged);
	}
}

/* Packets count, not ACKs: some ACKs of one, and one of more in between. */
static void composite_part_merged(struct kunit *test)
{
	static const u32 all[] = { 3, 8, 64 };
	u32 i, a, small;

	for (a = 0; a < ARRAY_SIZE(all); a++)
		for (small = 4; small <= 256; small *= 4) {
			struct tcp_sock *tp = composite_test_streams(test, 1000, 4);
			struct composite *ca = composite_of(tp);
			u32 acks = small + 1, packets = small + all[a], cycles = 8192 / packets + 1;
			u64 sum = 0;

			/* Each packet weighs as much; what was before is forgotten. */
			for (i = 0; i < 2 * cycles * acks; i++) {
				u32 k = i % acks ? 1 : all[a];

				composite_test_ack(tp, k, 0, tp->delivered);
				if (i >= cycles * acks)
					sum += (u64)k * ca->merged;
			}
			sum = div_u64(sum, cycles);
			/* A sixteenth of the part, and a hundredth. */
			KUNIT_EXPECT_LE(test, lf_apart(sum, (u64)all[a] << 16),
					((u64)all[a] << 12) + packets * 655ULL);
		}
}

/* The question before each transmission is answered, and nothing else is written. */
static void composite_only_answers(struct kunit *test)
{
	u32 which;

	for (which = 0; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp = composite_test_sock(test, 100, which);
		struct tcp_sock *was = kunit_kzalloc(test, sizeof(*was),
						     GFP_KERNEL);
		struct sock *sk = (struct sock *)tp;
		struct composite_book *book = composite_of(tp)->book, page = {};
		unsigned long rate;
		u32 i, changed = 0;

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, was);
		tp->packets_out = 100;
		if (book)
			page = *book;
		for (i = 0; i < 101; i++) {
			/* The last time after a pause. */
			if (i == 100) {
				tp->packets_out = 0;
				tp->lsndtime = tcp_jiffies32 - 10 * HZ;
			}
			tp->data_segs_out++;
			memcpy(was, tp, sizeof(*was));
			composite_min_tso_segs(sk);
			rate = sk->sk_pacing_rate;
			changed += rate != ((struct sock *)was)->sk_pacing_rate;
			((struct sock *)was)->sk_pacing_rate = rate;
			composite_min_tso_segs(sk);
			KUNIT_ASSERT_EQ(test, memcmp(was, tp, sizeof(*was)), 0);
			if (book)
				KUNIT_ASSERT_EQ(test, memcmp(book, &page, sizeof(page)), 0);
		}
		KUNIT_EXPECT_GT(test, changed, 50U);
	}
}

/*
 * Gaps behind bursts, relative to the mean: 0.055 to 3.12, of mean 1 and variance 0.566.
 * Even ones for a window of less than two bursts, and for one stream.
 */
static void composite_spreads(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	struct tcp_sock *one = composite_test_streams(test, 100, 1);
	struct sock *sk = (struct sock *)tp;
	u64 sum = 0, squares = 0;
	const u32 draws = 40000;
	u32 i;

	composite_of(tp)->book->pacing = 100;
	composite_test_covers(composite_of(tp), 5);
	composite_pace(sk);
	for (i = 0; i < draws; i++) {
		u32 gap;

		tp->data_segs_out += 3;
		KUNIT_ASSERT_EQ(test, composite_min_tso_segs(sk), 3U);
		/* In thousandths; 1448000 is the mean. */
		gap = div64_u64(1448000000ULL, sk->sk_pacing_rate);
		KUNIT_ASSERT_GE(test, gap, 54U);
		KUNIT_ASSERT_LE(test, gap, 3130U);
		sum += gap;
		squares += (u64)gap * gap;
	}
	sum = div_u64(sum, draws);
	squares = div_u64(squares, draws);
	KUNIT_EXPECT_GE(test, sum, 985ULL);
	KUNIT_EXPECT_LE(test, sum, 1015ULL);
	KUNIT_EXPECT_GE(test, squares - sum * sum, 540000ULL);
	KUNIT_EXPECT_LE(test, squares - sum * sum, 590000ULL);

	/* As on the way up to the streams' window: twice. */
	tcp_snd_cwnd_set(tp, 5);
	composite_pace(sk);
	for (i = 0; i < 100; i++) {
		composite_min_tso_segs(sk);
		KUNIT_ASSERT_EQ(test, sk->sk_pacing_rate, 144800UL);
	}
	/* Less than a byte per second is no rate, and 0 would be none. */
	tp->srtt_us = U32_MAX;
	tp->mss_cache = 1;
	for (i = 0; i < 1000; i++) {
		tcp_snd_cwnd_set(tp, i % 10 + 1);
		composite_pace(sk);
		composite_min_tso_segs(sk);
		KUNIT_ASSERT_GT(test, sk->sk_pacing_rate, 0UL);
		KUNIT_ASSERT_NE(test, sk->sk_pacing_rate, ~0UL);
	}

	sk = (struct sock *)one;
	composite_pace(sk);
	composite_min_tso_segs(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1737600UL);
	/* The sysctls are obeyed: of one stream, and of all while windows double. */
	init_net.ipv4.sysctl_tcp_pacing_ca_ratio = 300;
	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = 400;
	composite_pace(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 4344000UL);
	tp = composite_test_sock(test, 100, 2);
	composite_pace((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ((struct sock *)tp)->sk_pacing_rate, 5792000UL);
	/* A ratio of 0 is no pacing, as the kernel has it. */
	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = 0;
	composite_pace((struct sock *)tp);
	composite_min_tso_segs((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ((struct sock *)tp)->sk_pacing_rate, ~0UL - 1);
	((struct sock *)tp)->sk_max_pacing_rate = 0;
	composite_pace((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ((struct sock *)tp)->sk_pacing_rate, 0UL);
	init_net.ipv4.sysctl_tcp_pacing_ca_ratio = 120;
	init_net.ipv4.sysctl_tcp_pacing_ss_ratio = 200;
}

/*
 * With SO_MAX_PACING_RATE no gap is shorter than that has it, and the mean stays; above that
 * rate all are as long as it has them.
 */
static void composite_spreads_below(struct kunit *test)
{
	/* SO_MAX_PACING_RATE by the mean rate, thousandths; least and mean gap as above. */
	static const struct {
		u32 most, least, mean;
	} cases[] = {
		{ 1000000, 55, 1000 }, { 10000, 149, 1000 }, { 2000, 527, 1000 },
		{ 1250, 810, 1000 }, { 1000, 1000, 1000 }, { 500, 2000, 2000 },
	};
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	struct sock *sk = (struct sock *)tp;
	const u32 draws = 20000;
	u32 i, j;

	composite_of(tp)->book->pacing = 100;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 sum = 0;
		u32 gap, least = U32_MAX;

		sk->sk_max_pacing_rate = 1448UL * cases[i].most;
		composite_pace(sk);
		for (j = 0; j < draws; j++) {
			tp->data_segs_out += 3;
			composite_min_tso_segs(sk);
			KUNIT_ASSERT_LE(test, sk->sk_pacing_rate, sk->sk_max_pacing_rate);
			gap = div64_u64(1448000000ULL, sk->sk_pacing_rate);
			least = min(least, gap);
			sum += gap;
		}
		KUNIT_EXPECT_GE(test, least, cases[i].least - 1);
		KUNIT_EXPECT_LE(test, least, cases[i].least + 1);
		KUNIT_EXPECT_GE(test, div_u64(sum, draws) * 1000, cases[i].mean * 985ULL);
		KUNIT_EXPECT_LE(test, div_u64(sum, draws) * 1000, cases[i].mean * 1015ULL);
	}
	/* It may be 0, and change before the pace is set anew. */
	sk->sk_max_pacing_rate = 0;
	composite_pace(sk);
	composite_min_tso_segs(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 0UL);
	sk->sk_max_pacing_rate = 1000;
	composite_min_tso_segs(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 1000UL);
}

/* What a gap is divided by, for each pair of factors: as a division has it, to the byte. */
static void composite_parts_exact(struct kunit *test)
{
	static const u64 rates[] = {
		1, 14, 15, 224, 225, 226, 12768, 12769, 12770, 125000000, 1250000000,
		12345678901ULL, BIT_ULL(38) - 1,
	};
	u32 i, r;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		for (r = 0; r < 64; r++) {
			u32 product = (15 + 14 * (r / 8)) * (15 + 14 * (r % 8));
			u64 x = mul_u64_u64_shr(rates[i] << 12, composite_parts[r], 64);

			KUNIT_EXPECT_EQ(test, x, div_u64(rates[i] << 12, product));
			/* Also around a multiple, where rounding would show first. */
			x = min(rates[i] * product, BIT_ULL(50)) - 1;
			KUNIT_EXPECT_EQ(test, mul_u64_u64_shr(x, composite_parts[r], 64),
					div_u64(x, product));
			x++;
			KUNIT_EXPECT_EQ(test, mul_u64_u64_shr(x, composite_parts[r], 64),
					div_u64(x, product));
		}
}

/* --- hooks --------------------------------------------------------------- */

/* Names have their N, and the window is shared among the streams. */
static void composite_hook_init(struct kunit *test)
{
	static const u8 n[] = { 8, 4, 8, 16, 32, 64 };
	u32 i, w;

	for (i = 0; i < ARRAY_SIZE(composite_ops); i++) {
		for (w = 1; w < 1000; w += 7) {
			struct tcp_sock *tp = composite_test_sock(test, w, i);

			KUNIT_ASSERT_EQ(test, composite_of(tp)->n, n[i]);
			KUNIT_ASSERT_EQ(test, composite_of(tp)->sum, w);
			KUNIT_ASSERT_EQ(test, tcp_snd_cwnd(tp), w);
			composite_audit(test, tp, "init");
		}
	}
}

/* It begins with the window that there is: one initial window for all, whatever N. */
static void composite_hook_begins(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(composite_ops); i++) {
		struct tcp_sock *tp = composite_test_sock(test, 1, i);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;

		/* Nothing was sent, but for data in a SYN. */
		composite_release(sk);
		tp->data_segs_out = i % 2;
		tp->syn_data = i % 2;
		tcp_snd_cwnd_set(tp, TCP_INIT_CWND);
		composite_init(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
		KUNIT_EXPECT_EQ(test, ca->sum, (u32)TCP_INIT_CWND);
		KUNIT_EXPECT_EQ(test, ca->slow, ca->n);
		composite_audit(test, tp, "begin");
		/* Nor does a pause before the first data take it away. */
		tp->lsndtime = tcp_jiffies32 - 100 * HZ;
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
		composite_audit(test, tp, "pause");
		/* It doubles, as one connection would. */
		tcp_snd_cwnd_set(tp, ca->sum);
		composite_test_ack(tp, TCP_INIT_CWND, 0, tp->delivered);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), 2U * TCP_INIT_CWND);
		/* Another name takes the window as it is. */
		tcp_snd_cwnd_set(tp, TCP_INIT_CWND);
		composite_release(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
	}
}

/* Fewer packets than streams: no more are sent for that, and the others get theirs. */
static void composite_hook_begins_with_fewer(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 10, 5);
	struct composite *ca = composite_of(tp);
	u32 i, empty = 0;

	for (i = 0; i < ca->n; i++)
		empty += !composite_stream(ca, i)->cwnd;
	KUNIT_EXPECT_EQ(test, empty, 54U);
	KUNIT_EXPECT_EQ(test, ca->slow, 64U);
	/* A mark is of each of them, and takes what they have. */
	inet_csk((struct sock *)tp)->icsk_ca_state = TCP_CA_CWR;
	composite_losses((struct sock *)tp, ca->n, COMPOSITE_ECHOED);
	inet_csk((struct sock *)tp)->icsk_ca_state = TCP_CA_Open;
	KUNIT_EXPECT_EQ(test, ca->sum, 0U);
	composite_audit(test, tp, "marked");
	/* Slow start goes up to two for each. */
	for (i = 0; i < 2000; i++) {
		u32 was = tcp_snd_cwnd(tp);

		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp), was + 1);
	}
	KUNIT_EXPECT_GT(test, ca->sum, 64U);
	for (i = 0; i < ca->n; i++)
		KUNIT_EXPECT_GT(test, composite_stream(ca, i)->cwnd, 0U);
	composite_audit(test, tp, "grown");
}

/* Selected in congestion avoidance, it goes on there. */
static void composite_hook_switch(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 100, 2);
	struct sock *sk = (struct sock *)tp;

	composite_release(sk);
	tp->snd_ssthresh = 80;
	tp->delivered = U32_MAX - 10;
	tp->lost = U32_MAX - 3;
	composite_init(sk);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 100U);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->slow, 0U);
	/* Over the end of the counters: 500 packets, five round trips. */
	composite_test_ack(tp, 20, 0, tp->delivered);
	KUNIT_EXPECT_LT(test, composite_of(tp)->sum, 104U);
	composite_test_ack(tp, 1, 10, tp->delivered);
	KUNIT_EXPECT_LT(test, composite_of(tp)->sum, 80U);
	KUNIT_EXPECT_GT(test, composite_of(tp)->sum, 45U);
	composite_audit(test, tp, "switch");

	/* In a loss event: what that took stays taken, though cwnd is not there yet. */
	composite_release(sk);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Recovery;
	tcp_snd_cwnd_set(tp, 100);
	tp->snd_ssthresh = 60;
	composite_init(sk);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 60U);
	composite_audit(test, tp, "in recovery");
	/* So does what a mark took, once: the others of its round trip are the same. */
	composite_release(sk);
	inet_csk(sk)->icsk_ca_state = TCP_CA_CWR;
	tcp_snd_cwnd_set(tp, 100);
	composite_init(sk);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 60U);
	tp->delivered_ce++;
	composite_test_ack(tp, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_GE(test, composite_of(tp)->sum, 60U);
	/* A timer, or packets found too large, is no such event: cwnd is what it is. */
	composite_release(sk);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Loss;
	tcp_snd_cwnd_set(tp, 100);
	composite_init(sk);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 100U);
	inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
	tp->snd_ssthresh = 80;

	/* What was delivered and lost before was another's. */
	composite_release(sk);
	tcp_snd_cwnd_set(tp, 100);
	tp->delivered = 100000;
	tp->lost = 1000;
	composite_init(sk);
	composite_test_ack(tp, 20, 0, tp->delivered);
	KUNIT_EXPECT_LT(test, composite_of(tp)->sum, 104U);
	KUNIT_EXPECT_GE(test, composite_of(tp)->sum, 100U);
	composite_audit(test, tp, "another's");
}

/*
 * Selected in a loss event, no stream grows until one that backed off in it could: for a round
 * trip; for five, if there are more streams than packets.  Then all grow, also in slow start.
 */
static void composite_hook_switch_held(struct kunit *test)
{
	static const struct {
		u32 which, w, ssthresh, held;
		u8 state;
	} cases[] = {
		{ 2, 60, 60, 60, TCP_CA_Recovery },	/* 8 streams */
		{ 2, 13, 13, 13, TCP_CA_CWR },	/* some have less than two packets */
		{ 5, 100, 100, 100, TCP_CA_Recovery },	/* 64 streams */
		{ 2, 6, 6, 30, TCP_CA_Recovery },	/* some have none */
		{ 2, 80, TCP_INFINITE_SSTHRESH, 80, TCP_CA_Recovery },
		{ 5, 640, 2000, 640, TCP_CA_Recovery },
	};
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tcp_sock *tp = composite_test_sock(test, cases[i].w, cases[i].which);
		struct sock *sk = (struct sock *)tp;
		struct composite *ca = composite_of(tp);
		u32 most = 0, w;

		composite_release(sk);
		inet_csk(sk)->icsk_ca_state = cases[i].state;
		tp->snd_ssthresh = cases[i].ssthresh;
		lf_test_set(test, "seed", COMPOSITE_SEED, 0);
		composite_init(sk);
		lf_test_set(test, "seed", "0", 0);
		KUNIT_ASSERT_EQ(test, ca->sum, cases[i].w);
		for (j = 0; j < cases[i].held; j++)
			composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, ca->sum, cases[i].w);
		KUNIT_EXPECT_EQ(test, ca->held, 0U);
		inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
		for (j = 0, w = ca->sum; j < 2 * w; j++)
			composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_GT(test, ca->sum, cases[i].w);
		/* No stream has had the turns of all. */
		for (j = 0; j < ca->n; j++)
			most = max(most, composite_stream(ca, j)->cwnd);
		KUNIT_EXPECT_LT(test, most, max(ca->sum / 2, 4U));
		composite_audit(test, tp, "held");
	}
}

/* Selected after any number of packets, it knows which were sent before a stream paid. */
static void composite_hook_switch_late(struct kunit *test)
{
	static const u32 delivered[] = { 1000, (1U << 31) + 1000, U32_MAX - 10 };
	u32 i, once;

	for (i = 0; i < ARRAY_SIZE(delivered); i++) {
		struct tcp_sock *tp = composite_test_sock(test, 800, 2);
		struct sock *sk = (struct sock *)tp;

		composite_release(sk);
		tp->delivered = delivered[i];
		tp->snd_ssthresh = 80;
		composite_init(sk);
		composite_test_ack(tp, 1, 100, delivered[i] - 1);
		once = composite_of(tp)->sum;
		KUNIT_EXPECT_EQ(test, once, 400U);
		composite_test_ack(tp, 1, 100, delivered[i] - 1);
		KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, once);
		composite_audit(test, tp, "late");
	}
}

/* No memory: the connection goes on, one stream with all of the window. */
static void composite_hook_no_memory(struct kunit *test)
{
	u32 which, i;

	for (which = 0; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp;
		struct composite *ca;
		struct sock *sk;

		composite_test_fail = 1;
		tp = composite_test_sock(test, 100, which);
		composite_test_fail = 0;
		ca = composite_of(tp);
		sk = (struct sock *)tp;
		KUNIT_EXPECT_PTR_EQ(test, ca->book, NULL);
		KUNIT_EXPECT_EQ(test, ca->n, 1U);
		KUNIT_EXPECT_EQ(test, ca->sum, 100U);
		composite_audit(test, tp, "no memory");

		composite_test_ack(tp, 10, 3, tp->delivered);
		KUNIT_EXPECT_EQ(test, ca->sum, 50U);
		for (i = 0; i < 1000; i++)
			composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_GT(test, ca->sum, 50U);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), ca->sum);
		composite_test_event(tp);
		composite_set_state(sk, TCP_CA_Recovery);
		tcp_snd_cwnd_set(tp, composite_undo_cwnd(sk));
		composite_audit(test, tp, "without memory");

		composite_release(sk);
		composite_release(sk);
		KUNIT_EXPECT_PTR_EQ(test, ca->book, NULL);
		/* Selected again, when there is some. */
		composite_init(sk);
		KUNIT_EXPECT_PTR_NE(test, ca->book, NULL);
		KUNIT_EXPECT_GE(test, ca->n, 4U);
		composite_audit(test, tp, "memory again");
	}
}

/* Now and then there is none, in a storm of starts, switches and ends. */
static void composite_hook_memory_storm(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 100, 5);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;
	u32 i, without = 0;

	composite_test_fail = 3;
	for (i = 0; i < 3000; i++) {
		composite_release(sk);
		if (i % 7 == 0)
			composite_release(sk);
		inet_csk(sk)->icsk_ca_ops =
			&composite_ops[i % ARRAY_SIZE(composite_ops)];
		composite_init(sk);
		without += !ca->book;
		KUNIT_ASSERT_EQ(test, ca->n > 1, !!ca->book);
		composite_test_ack(tp, i % 5, i % 3, tp->delivered);
		composite_audit(test, tp, "storm");
	}
	composite_test_fail = 0;
	KUNIT_EXPECT_EQ(test, without, 1000U);
}

/* A lost SYN, an answer to a SYN with data, a release: on zeroed state. */
static void composite_hook_before_init(struct kunit *test)
{
	struct tcp_sock *tp = lf_test_sock(test, 10, ~0U);
	struct sock *sk = (struct sock *)tp;
	u32 w;

	sock_net_set(sk, &init_net);
	for (w = 1; w < 20; w++) {
		tcp_snd_cwnd_set(tp, w);
		KUNIT_EXPECT_EQ(test, composite_ssthresh(sk), max(w / 2, 2U));
		composite_set_state(sk, TCP_CA_Loss);
		composite_set_state(sk, TCP_CA_CWR);
		composite_test_ack(tp, 1, 1, 0);
		composite_min_tso_segs(sk);
		KUNIT_EXPECT_EQ(test, composite_undo_cwnd(sk), w);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), w);
	}
	composite_release(sk);
	composite_release(sk);
	KUNIT_EXPECT_PTR_EQ(test, composite_of(tp)->book, NULL);
}

/* Selected after connect(), and the SYN is lost, or was before: no stream pays. */
static void composite_hook_syn_lost(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 10, 2);
	struct composite *ca = composite_of(tp);
	struct sock *sk = (struct sock *)tp;

	composite_release(sk);
	sk->sk_state = TCP_SYN_SENT;
	tp->snd_ssthresh = 5;
	composite_init(sk);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	lf_test_lost_syn(&composite_hooks, tp);
	KUNIT_EXPECT_EQ(test, ca->sum, 10U);
	KUNIT_EXPECT_EQ(test, (u32)ca->slow, 8U);
	KUNIT_EXPECT_EQ(test, (u32)ca->book->slow.stage, (u32)LF_SS_GROW);
	composite_test_ack(tp, 10, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 20U);
	composite_audit(test, tp, "SYN lost");
}

static void composite_hook_release(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_sock(test, 10, 5);
	struct sock *sk = (struct sock *)tp;

	KUNIT_EXPECT_PTR_NE(test, composite_of(tp)->book, NULL);
	composite_release(sk);
	KUNIT_EXPECT_PTR_EQ(test, composite_of(tp)->book, NULL);
	composite_release(sk);
	/* A timer that comes late. */
	composite_set_state(sk, TCP_CA_Loss);
	KUNIT_EXPECT_EQ(test, composite_ssthresh(sk), 5U);
}

/* What does not fill its window does not grow; nor above the clamp. */
static void composite_hook_limits(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 100, 4);
	u32 i;

	tp->is_cwnd_limited = 0;
	for (i = 0; i < 100; i++)
		composite_test_ack(tp, 10, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 100U);
	tp->is_cwnd_limited = 1;
	tp->snd_cwnd_clamp = 110;
	for (i = 0; i < 1000; i++)
		composite_test_ack(tp, 10, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 110U);
	KUNIT_EXPECT_LE(test, composite_of(tp)->sum, 114U);

	/* A clamp below a window that would stay, as BPF can set it. */
	tp = composite_test_streams(test, 100, 4);
	tp->snd_cwnd_clamp = 50;
	composite_test_ack(tp, 1, 0, tp->delivered - 1);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 50U);
}

/* Silence: the window starts again, each stream's with it. */
static void composite_hook_idle(struct kunit *test)
{
	u8 sysctl = init_net.ipv4.sysctl_tcp_slow_start_after_idle;
	u32 which;

	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	for (which = 0; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp = composite_test_sock(test, 6400, which);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;

		/* A jiffy may pass between this and what is tested. */
		tp->lsndtime = tcp_jiffies32 - HZ / 2;
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		tp->lsndtime = tcp_jiffies32 - 5 * HZ / 2;
		/* What is not silence: something in flight. */
		tp->packets_out = 1;
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		tp->packets_out = 0;
		init_net.ipv4.sysctl_tcp_slow_start_after_idle = 0;
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
		/* The first burst: at least the kernel's two, 10 x 1448 bytes in 100 ms. */
		KUNIT_EXPECT_EQ(test, composite_min_tso_segs(sk),
				init_net.ipv4.sysctl_tcp_min_tso_segs);
		KUNIT_EXPECT_EQ(test, sk->sk_pacing_rate, 144800UL);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1600U);
		KUNIT_EXPECT_EQ(test, ca->sum, 1600U);
		/* Not again for the same pause. */
		composite_min_tso_segs(sk);
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 1600U);
		tp->lsndtime = tcp_jiffies32 - 121 * HZ / 2;
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
		KUNIT_EXPECT_EQ(test, ca->sum, (u32)TCP_INIT_CWND);
		composite_audit(test, tp, "idle");

		/* Selected in a pause, of a window that another one left. */
		composite_release(sk);
		tcp_snd_cwnd_set(tp, 6400);
		tp->lsndtime = tcp_jiffies32 - 121 * HZ / 2;
		composite_init(sk);
		composite_tx_start(sk);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), (u32)TCP_INIT_CWND);
		composite_audit(test, tp, "selected in a pause");
	}
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = sysctl;
}

/* A window of which the application or the receiver uses a part shrinks. */
static void composite_hook_unused(struct kunit *test)
{
	u8 sysctl = init_net.ipv4.sysctl_tcp_slow_start_after_idle;
	u32 which, i;

	init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	for (which = 0; which < ARRAY_SIZE(composite_ops); which++) {
		struct tcp_sock *tp = composite_test_sock(test, 6400, which);
		struct composite *ca = composite_of(tp);
		struct sock *sk = (struct sock *)tp;
		struct socket socket = { .flags = 0 };

		tp->is_cwnd_limited = 0;
		tp->max_packets_out = 1;
		tp->snd_cwnd_used = 1600;
		/* Not for a timeout yet. */
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ + 2;
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		/* Closed, no room to send from, losses, pauses that are free. */
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		sk->sk_socket = NULL;
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		sk->sk_socket = &socket;
		socket.flags = BIT(SOCK_NOSPACE);
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		socket.flags = 0;
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		inet_csk(sk)->icsk_ca_state = TCP_CA_Disorder;
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		inet_csk(sk)->icsk_ca_state = TCP_CA_Open;
		tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
		init_net.ipv4.sysctl_tcp_slow_start_after_idle = 0;
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 6400U);
		init_net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
		/* Halfway to what was used, and the streams with it. */
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 4000U);
		/* Each keeps whole packets: up to one less for each. */
		KUNIT_EXPECT_LE(test, ca->sum, 4000U);
		KUNIT_EXPECT_GT(test, ca->sum + ca->n, 4000U);
		KUNIT_EXPECT_EQ(test, tp->snd_cwnd_used, 0U);
		/* Once for a timeout; the window follows the streams. */
		composite_test_ack(tp, 1, 0, tp->delivered);
		KUNIT_EXPECT_GE(test, tcp_snd_cwnd(tp), ca->sum);
		KUNIT_EXPECT_GT(test, ca->sum + ca->n, 4000U);
		composite_audit(test, tp, "a part is used");
		/* Of one packet at a time nothing is left but an initial window. */
		for (i = 0; i < 30; i++) {
			tp->snd_cwnd_used = 1;
			tp->snd_cwnd_stamp = tcp_jiffies32 - HZ;
			composite_test_ack(tp, 1, 0, tp->delivered);
		}
		KUNIT_EXPECT_LE(test, tcp_snd_cwnd(tp),
				max_t(u32, ca->n, TCP_INIT_CWND + 1));
		KUNIT_EXPECT_LE(test, ca->sum,
				max_t(u32, ca->n, TCP_INIT_CWND) + ca->n);
		composite_audit(test, tp, "a packet is used");
		sk->sk_socket = NULL;
	}
	init_net.ipv4.sysctl_tcp_slow_start_after_idle = sysctl;
}

/* Larger packets, fewer of them, where the kernel has it so: when it has probed. */
static void composite_hook_mtu_probe(struct kunit *test)
{
	struct tcp_sock *tp = composite_test_streams(test, 800, 8);
	struct composite *ca = composite_of(tp);
	u32 i;

	/* A path is as wide as it was before. */
	tp->mss_cache = 512;
	composite_test_ack(tp, 0, 0, tp->delivered);
	tp->mss_cache = 1448;
	composite_test_ack(tp, 0, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->sum, 800U);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 800U);
	inet_csk((struct sock *)tp)->icsk_mtup.enabled = 1;
	for (i = 0; i < 8; i++) {
		composite_count(ca, composite_stream(ca, i), -1);
		composite_stream(ca, i)->ssthresh = 50 + i;
		composite_count(ca, composite_stream(ca, i), 1);
	}
	composite_stream(ca, 7)->ssthresh = 3;
	composite_test_event(tp);
	composite_losses((struct sock *)tp, 1, COMPOSITE_LOST);
	tp->mss_cache = 2896;
	tcp_snd_cwnd_set(tp, 400);
	composite_test_ack(tp, 0, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, 375U);
	/* No stream is in slow start for that. */
	KUNIT_EXPECT_EQ(test, ca->slow, 0U);
	composite_audit(test, tp, "probe");
	composite_undo_cwnd((struct sock *)tp);
	KUNIT_EXPECT_EQ(test, ca->sum, 400U);
	KUNIT_EXPECT_EQ(test, ca->slow, 0U);
	tp->mss_cache = 1448;
	composite_test_ack(tp, 0, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, ca->sum, 400U);
	composite_audit(test, tp, "smaller packets");

	/* Those in the first slow start stay there. */
	tp = composite_test_sock(test, 800, 2);
	inet_csk((struct sock *)tp)->icsk_mtup.enabled = 1;
	tp->mss_cache = 2896;
	tcp_snd_cwnd_set(tp, 400);
	composite_test_ack(tp, 0, 0, tp->delivered);
	KUNIT_EXPECT_EQ(test, composite_of(tp)->slow, 8U);
	KUNIT_EXPECT_EQ(test, tp->snd_ssthresh, (u32)TCP_INFINITE_SSTHRESH);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, composite_stream(composite_of(tp), i)->ssthresh,
				(u32)TCP_INFINITE_SSTHRESH);
}

/*
 * Streams of a packet or two, and packets six times as large: what is left of W is that of
 * the kernel, and an undo brings back no more than there was.
 */
static void composite_hook_mtu_probe_few(struct kunit *test)
{
	u32 n, w;

	for (n = 1; n <= COMPOSITE_MAX; n = n * 3 + 1) {
		for (w = n; w <= 3 * n; w += (n + 1) / 2) {
			struct tcp_sock *tp = composite_test_streams(test, w, n);
			struct composite *ca = composite_of(tp);
			u32 sum = ca->sum * 1448 / 8948;

			inet_csk((struct sock *)tp)->icsk_mtup.enabled = 1;
			ca->prior_sum = w;
			tp->mss_cache = 8948;
			composite_rescale((struct sock *)tp);
			KUNIT_ASSERT_EQ(test, ca->sum, sum);
			KUNIT_ASSERT_EQ(test, ca->prior_sum, w * 1448 / 8948);
			composite_audit(test, tp, "few packets");
		}
	}
}

/*
 * Another module has one of the names: the others are registered, and none is taken back,
 * as a socket may hold it by then.  It fails if there is none.
 */
static void composite_names_taken(struct kunit *test)
{
	u32 taken, i;

	composite_unregister();
	for (taken = 0; taken < ARRAY_SIZE(composite_ops); taken++) {
		composite_test_taken = composite_ops[taken].name;
		KUNIT_EXPECT_EQ(test, composite_register(), 0);
		for (i = 0; i < ARRAY_SIZE(composite_ops); i++)
			KUNIT_ASSERT_EQ(test, !composite_ops[i].owner,
					i == taken);
		composite_unregister();
	}
	composite_test_taken = "*";
	KUNIT_EXPECT_EQ(test, composite_register(), -EEXIST);
	composite_unregister();
	composite_test_taken = NULL;
	KUNIT_EXPECT_EQ(test, composite_register(), 0);
}

static void composite_hook_get_info(struct kunit *test)
{
	lf_test_get_info(test);
}

static void composite_hook_registered(struct kunit *test)
{
	static const char * const names[] = {
		"composite", "composite-4", "composite-8", "composite-16",
		"composite-32", "composite-64",
	};
	u32 i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(composite_ops), ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		lf_test_registered(test, &composite_ops[i], names[i],
				   sizeof(struct composite));
		lf_test_tx_start(test, &composite_ops[i]);
	}
}

/* streams=0: one for each 8 ms, rounded, 1 to 64. */
static void composite_from_path(struct kunit *test)
{
	static const struct {
		u32 rtt_us, n;
	} all[] = {
		{ ~0U, 1 }, { 0, 1 }, { 1, 1 }, { 8000, 1 }, { 11999, 1 },
		{ 12000, 2 }, { 16000, 2 }, { 100000, 13 }, { 119900, 15 },
		{ 120000, 15 }, { 120100, 15 }, { 507999, 63 }, { 508000, 64 },
		{ 512000, 64 }, { 516000, 64 }, { 1000000, 64 }, { ~0U - 1, 64 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		KUNIT_EXPECT_EQ(test, composite_streams_for(all[i].rtt_us),
				all[i].n);
	lf_test_set(test, "streams", "0", 0);
	KUNIT_EXPECT_EQ(test, composite_of(composite_test_sock(test, 10,
							       0))->n, 13U);
	/* Names that say N mean it. */
	KUNIT_EXPECT_EQ(test, composite_of(composite_test_sock(test, 10,
							       1))->n, 4U);
	lf_test_set(test, "streams", "8", 0);
}

static const struct lf_test_params composite_params[] = {
	{ "streams", { "0", "1", "64", "8" }, NULL, NULL },
	{ "pacing", { "0", "1000", "50" }, NULL, NULL },
	{ "slow_start", { "hystart++", "limited", "classic", "train\n" } },
	{ "seed", { "1", "4294967295", "0" }, NULL, NULL },
};

static void composite_params_checked(struct kunit *test)
{
	lf_test_params_checked(test, composite_params,
			       ARRAY_SIZE(composite_params));
	lf_test_set(test, "streams", "65", -ERANGE);
	lf_test_set(test, "pacing", "1001", -ERANGE);
	lf_test_set(test, "seed", "4294967296", -ERANGE);
}

/* Parameters hold for the life of a connection. */
static void composite_params_taken(struct kunit *test)
{
	struct tcp_sock *old = composite_test_sock(test, 100, 0), *new;

	lf_test_set(test, "streams", "3", 0);
	new = composite_test_sock(test, 100, 0);
	lf_test_set(test, "streams", "8", 0);
	KUNIT_EXPECT_EQ(test, composite_of(old)->n, 8U);
	KUNIT_EXPECT_EQ(test, composite_of(new)->n, 3U);
}

static struct kunit_case composite_dealing_cases[] = {
	KUNIT_CASE(composite_deals_evenly),
	KUNIT_CASE(composite_deals_to_others),
	KUNIT_CASE(composite_seed),
	{}
};

static struct kunit_case composite_economy_cases[] = {
	KUNIT_CASE(composite_round_trip),
	KUNIT_CASE(composite_slow_start),
	KUNIT_CASE(composite_start_grows),
	KUNIT_CASE(composite_start_aims),
	KUNIT_CASE(composite_start_ends),
	KUNIT_CASE(composite_start_ends_small),
	KUNIT_CASE(composite_start_lost_by_all),
	KUNIT_CASE(composite_start_lost_odd),
	KUNIT_CASE(composite_start_lost_by_one),
	KUNIT_CASE(composite_start_loses),
	KUNIT_CASE(composite_start_loses_again),
	KUNIT_CASE(composite_start_undone_late),
	KUNIT_CASE(composite_start_one_undone),
	KUNIT_CASE(composite_start_undone),
	KUNIT_CASE(composite_stretch),
	KUNIT_CASE(composite_rests_only),
	KUNIT_CASE(composite_quiet_is_exact),
	KUNIT_CASE(composite_grows_is_exact),
	KUNIT_CASE(composite_stretch_window),
	KUNIT_CASE(composite_cost),
	KUNIT_CASE(composite_one_is_reno),
	KUNIT_CASE(composite_once_a_round_trip),
	KUNIT_CASE(composite_every_loss_counts),
	KUNIT_CASE(composite_lost_together),
	KUNIT_CASE(composite_lost_apart),
	KUNIT_CASE(composite_decreases),
	KUNIT_CASE(composite_timeouts),
	KUNIT_CASE(composite_timeout_again),
	KUNIT_CASE(composite_timeout_of_all),
	KUNIT_CASE(composite_narrower_path),
	KUNIT_CASE(composite_loss_by_timer),
	KUNIT_CASE(composite_delivered_less),
	KUNIT_CASE(composite_rest_ends),
	KUNIT_CASE(composite_rest_wraps),
	KUNIT_CASE(composite_rest_of_the_last),
	KUNIT_CASE(composite_reordering_bound),
	KUNIT_CASE(composite_from_nothing),
	KUNIT_CASE(composite_marks),
	KUNIT_CASE(composite_marks_persist),
	KUNIT_CASE(composite_marks_in_recovery),
	KUNIT_CASE(composite_marks_exact),
	KUNIT_CASE(composite_undone),
	KUNIT_CASE(composite_timeout_undone),
	KUNIT_CASE(composite_slow_start_undone),
	KUNIT_CASE(composite_fuzz),
	{}
};

static struct kunit_case composite_hook_cases[] = {
	KUNIT_CASE(composite_windows),
	KUNIT_CASE(composite_paced),
	KUNIT_CASE(composite_pacing_by_n),
	KUNIT_CASE(composite_bursts),
	KUNIT_CASE(composite_covers),
	KUNIT_CASE(composite_part_merged),
	KUNIT_CASE(composite_only_answers),
	KUNIT_CASE(composite_spreads),
	KUNIT_CASE(composite_spreads_below),
	KUNIT_CASE(composite_parts_exact),
	KUNIT_CASE(composite_hook_init),
	KUNIT_CASE(composite_hook_begins),
	KUNIT_CASE(composite_hook_begins_with_fewer),
	KUNIT_CASE(composite_hook_switch),
	KUNIT_CASE(composite_hook_switch_held),
	KUNIT_CASE(composite_hook_switch_late),
	KUNIT_CASE(composite_hook_no_memory),
	KUNIT_CASE(composite_hook_memory_storm),
	KUNIT_CASE(composite_hook_before_init),
	KUNIT_CASE(composite_hook_syn_lost),
	KUNIT_CASE(composite_hook_release),
	KUNIT_CASE(composite_hook_limits),
	KUNIT_CASE(composite_start_goes_on),
	KUNIT_CASE(composite_hook_idle),
	KUNIT_CASE(composite_hook_unused),
	KUNIT_CASE(composite_hook_mtu_probe),
	KUNIT_CASE(composite_hook_mtu_probe_few),
	KUNIT_CASE(composite_hook_get_info),
	KUNIT_CASE(composite_hook_registered),
	KUNIT_CASE(composite_names_taken),
	{}
};

static struct kunit_case composite_param_cases[] = {
	KUNIT_CASE(composite_from_path),
	KUNIT_CASE(composite_params_checked),
	KUNIT_CASE(composite_params_taken),
	{}
};

static struct kunit_suite composite_dealing = {
	.name = "composite_dealing",
	.test_cases = composite_dealing_cases,
};

static struct kunit_suite composite_economy = {
	.name = "composite_economy",
	.test_cases = composite_economy_cases,
};

static struct kunit_suite composite_hook_suite = {
	.name = "composite_hooks",
	.test_cases = composite_hook_cases,
};

static struct kunit_suite composite_parameters = {
	.name = "composite_params",
	.test_cases = composite_param_cases,
};

kunit_test_suites(&composite_dealing, &composite_economy,
		  &composite_hook_suite, &composite_parameters);
