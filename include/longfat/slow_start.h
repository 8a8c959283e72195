/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the first slow start of a connection ends.
 *
 * Slow start doubles the window in each round trip until a packet is lost.  The sender
 * hears of the loss a round trip late.  The window is then twice what the path holds,
 * and half of it is lost.  A module's parameter slow_start says how to end earlier:
 *
 *	train		measure what the path holds, and stop there
 *	hystart++	RFC 9406: stop when the least RTT of a round trip has risen
 *	limited		RFC 3742: above 100 packets grow by 50 in a round trip
 *	classic		the kernel's slow start, as the papers have it: stop at a loss
 *
 * If a loss comes first, all but classic halve the window.  It has doubled since the
 * lost packet left, so half of it is what the path held.  Where it had not doubled, see
 * lf_slow_start_loss(), the algorithm's own decrease is enough.  limited halves as RFC 3742's
 * TCP does, though above 100 packets it has grown by 50.
 *
 * How train works
 *
 *	The first ten packets of a connection are not paced.  They reach the bottleneck
 *	together, leave it one after the other at its rate, and their acknowledgments
 *	come at that rate.  If n packets are acknowledged in the time t, the path holds
 *
 *		target = n RTT_min / t
 *
 *	Any packets that left together and are acknowledged over a longer time are such
 *	a train.  They may raise the target, if two in sequence say so: a receiver that
 *	reads late holds acknowledgments back, and the train behind them looks shorter.
 *	Where noise makes the target too high, slow start ends as without one.
 *
 *	growth		window				packets per packet acknowledged
 *			up to 3/4 target		1
 *			up to 7/8 target		1/4
 *			up to the target		1/8
 *			up to 17/16 target, the cap	1/16
 *			at the cap			0
 *
 *	The window stays at the cap for a round trip.  The RTTs of the next one tell
 *	whether there is a queue:
 *
 *		all at least RTT_min + 1/64	there is one: the path is full
 *		one less			the target was too low: a quarter more;
 *						after three such targets, no trains
 *
 *	After an undo the window may be above the cap.  It stays there until the third
 *	such target, or until there is a queue.
 *
 *	Trains may say nothing: acknowledgments come merged, or the first packets do not
 *	leave together.  Then the RTT has to tell.  RTTs in sequence that are high are an
 *	alarm: the window stays.  After a round trip the RTTs of some more tell, with another
 *	mark in the place of 1/64.
 *
 *	level	RTTs	RTT_min and	at least	told by round trips	mark
 *	0	4	1/16		0.5 ms		3			1/16
 *	1	8	1/8		1 ms		3			1/16
 *	2	8	1/4		2 ms		4			1/8
 *	3	8	1/2		4 ms		5			1/4
 *
 *	A false alarm raises the level.  With a target, and below 64 packets, it is 1 or
 *	more: there the queue is a neighbour's, or noise.
 *
 *	Where there is a queue the window has been the same for two round trips or more.  So
 *	the path holds W RTT_min / RTT.  Is the queue our own?  For two round trips the
 *	window is 15/16 of that.  The RTTs of the second one tell:
 *
 *		one has lost 1/8 of the rise	it was: growth is 1/8 packet per packet
 *						acknowledged up to what the path holds,
 *						W / 2 at least; there slow start is over
 *		none has			the path is longer now, or the queue is a
 *						neighbour's: that is RTT_min, the level is
 *						raised, and slow start goes on
 *
 *	At level 3 it is not asked.
 *
 * RTTs are those of RACK: of the packet that was sent last among those acknowledged.
 * Without SACK the kernel has none, and train and hystart++ end at a loss.  Only
 * acknowledgments that find the window limited come here, and none in congestion avoidance.
 * In slow start the kernel calls it that while more than half of it was used.  So where the
 * application or SO_MAX_PACING_RATE holds a sender back, there is no queue at the target,
 * and the target rises by a quarter, and the third time there is none any more.
 */
#ifndef LONGFAT_SLOW_START_H
#define LONGFAT_SLOW_START_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/tcp.h>

#include <longfat/compat.h>

/* The choices of the modules' parameter slow_start, in this order. */
enum lf_slow_start_way { LF_TRAIN, LF_HYSTART, LF_LIMITED, LF_CLASSIC };

/* Packets of a train; the first ten packets have no longer one. */
#define LF_TRAIN_LEAST		6U
#define LF_TRAIN_MOST		24U
/* A target that is none, as TCP has no window for it: acknowledgments came together. */
#define LF_TRAIN_NONE		BIT(20)
/* Targets that may be too low before trains are no longer asked. */
#define LF_TRAIN_TRIES		3
/* No alarm below this window, packets, and none of level 0 below the next: few RTTs say little. */
#define LF_LOW_WINDOW		16U
#define LF_EASY_WINDOW		64U
/* RTTs in sequence that are an alarm of level 0; others take twice as many. */
#define LF_ALARM_RTTS		4U
/* Least rise of the RTT that is one, and how often it may double. */
#define LF_ALARM_US		500U
#define LF_ALARM_LEVEL_MAX	3
/* Round trips that have to tell so behind an alarm of level 0 or 1; one more for each above. */
#define LF_ALARM_ROUNDS		3
/* An RTT that is longer counts as this one: sums stay below 2^32. */
#define LF_RTT_MOST		((u32)BIT(29))

/* RFC 9406, section 4.3; times in microseconds. */
#define LF_MIN_RTT_THRESH	4000U
#define LF_MAX_RTT_THRESH	16000U
#define LF_MIN_RTT_DIVISOR	8U
#define LF_N_RTT_SAMPLE		8U
#define LF_CSS_GROWTH_DIVISOR	4U
#define LF_CSS_ROUNDS		5U
#define LF_L			8U

/* RFC 3742: max_ssthresh, packets. */
#define LF_MAX_SSTHRESH		100U

enum lf_slow_start_stage {
	LF_SS_OVER,	/* slow start is the kernel's again */
	LF_SS_GROW,
	LF_SS_HOLD,	/* train: the first round trip at one window */
	LF_SS_TELL,	/* train: the second, whose RTTs tell */
	LF_SS_CSS,	/* hystart++: Conservative Slow Start */
	LF_SS_DRAIN,	/* train: the first round trip without our queue */
	LF_SS_ASK,	/* train: the second, which tells whether it was ours */
	LF_SS_RISE,	/* train: it was; up to what the path holds */
};

struct lf_slow_start {
	u32	round_end;	/* snd_nxt when this round trip began: windowEnd */
	u32	round_us;	/* its least RTT: currentRoundMinRTT; ~0: none yet */
	union {
		struct {	/* train */
			u32	base_us;	/* RTT_min; ~0: none yet */
			u32	target;		/* packets; 0: not known */
			u32	train;		/* what the last train said; behind a
						 *   queue: the RTT with it
						 */
			u32	sent_us;	/* a train begins behind this packet: */
			u32	acked_ns;	/*   sent, acknowledged, and */
			u32	delivered;	/*   tp->delivered then */
		};
		struct {	/* hystart++ */
			u32	last_us;	/* lastRoundMinRTT */
			u32	css_us;		/* cssBaselineMinRtt */
		};
	};
	u32	owed;		/* acknowledged, and the window has not grown for it;
				 *   train: the window that is, or was, held
				 */
	u8	samples;	/* rttSampleCount; train: high ones in sequence */
	u8	rounds;		/* round trips that are left, of CSS or to tell */
	u8	way : 2;	/* enum lf_slow_start_way */
	u8	stage : 3;	/* enum lf_slow_start_stage */
	u8	lost : 1;	/* it goes on if the last loss event was spurious */
	u8	tries : 2;	/* train: targets that were too low */
	u8	level : 2;	/* train: of the next alarm */
};

/*
 * ssthresh as a socket selects an algorithm.  That of a lost SYN is none: the kernel forgets it
 * when the connection is there.
 */
static inline u32 lf_first_ssthresh(const struct sock *sk)
{
	return sk->sk_state == TCP_SYN_SENT ? TCP_INFINITE_SSTHRESH :
					      tcp_sk(sk)->snd_ssthresh;
}

/* ->init.  A connection that knows its ssthresh has no first slow start to come. */
static inline void lf_slow_start_begin(const struct sock *sk,
				       struct lf_slow_start *ss,
				       enum lf_slow_start_way way)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	memset(ss, 0, sizeof(*ss));
	ss->way = way;
	ss->round_us = ~0U;
	ss->round_end = tp->snd_nxt;
	if (way == LF_TRAIN)
		ss->base_us = ~0U;
	if (way == LF_HYSTART)
		ss->last_us = ~0U;
	if (lf_first_ssthresh(sk) >= TCP_INFINITE_SSTHRESH && way != LF_CLASSIC)
		ss->stage = LF_SS_GROW;
}

static inline void lf_next_round(const struct tcp_sock *tp,
				 struct lf_slow_start *ss)
{
	ss->round_us = ~0U;
	ss->samples = 0;
	ss->round_end = tp->snd_nxt;
}

/* Also if the sender was limited by others for so long that sequence numbers wrapped. */
static inline bool lf_round_over(const struct tcp_sock *tp,
				 const struct lf_slow_start *ss)
{
	return !before(tp->snd_una, ss->round_end) ||
	       after(ss->round_end, tp->snd_nxt);
}

/* @acked / @divisor packets; what is left over is owed, less than a packet's worth. */
static inline u32 lf_slower(struct lf_slow_start *ss, u32 acked, u32 divisor)
{
	u32 grow;

	ss->owed = min(ss->owed, divisor - 1) + acked;
	grow = ss->owed / divisor;
	ss->owed -= grow * divisor;
	return grow;
}

/* RFC 9406, section 4.2: packets by which the window may grow. */
static inline u32 lf_hystart(struct sock *sk, struct lf_slow_start *ss,
			     u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_thresh;

	ss->round_us = min3(ss->round_us, tp->rack.rtt_us, LF_RTT_MOST);
	ss->samples = min_t(u32, ss->samples + 1, U8_MAX);
	if (ss->samples >= LF_N_RTT_SAMPLE) {
		rtt_thresh = clamp(ss->last_us / LF_MIN_RTT_DIVISOR,
				   LF_MIN_RTT_THRESH, LF_MAX_RTT_THRESH);
		if (ss->stage == LF_SS_CSS) {
			if (ss->round_us < ss->css_us)
				ss->stage = LF_SS_GROW;
		} else if (ss->last_us != ~0U &&
			   ss->round_us >= ss->last_us + rtt_thresh) {
			ss->css_us = ss->round_us;
			ss->stage = LF_SS_CSS;
			ss->rounds = LF_CSS_ROUNDS;
		}
	}
	if (lf_round_over(tp, ss)) {
		ss->last_us = ss->round_us;
		lf_next_round(tp, ss);
		if (ss->stage == LF_SS_CSS && !--ss->rounds)
			ss->stage = LF_SS_OVER;
	}
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NONE)
		acked = min(acked, LF_L);
	if (ss->stage == LF_SS_CSS)
		acked = lf_slower(ss, acked, LF_CSS_GROWTH_DIVISOR);
	return acked;
}

/* RFC 3742, section 2, at window @w. */
static inline u32 lf_limited(struct lf_slow_start *ss, u32 w, u32 acked)
{
	if (w <= LF_MAX_SSTHRESH)
		return acked;
	return lf_slower(ss, acked, w / (LF_MAX_SSTHRESH / 2));
}

static inline u32 lf_train_cap(const struct lf_slow_start *ss)
{
	return ss->target + ss->target / 16;
}

/* Is @w where growth is slower because of the target? */
static inline bool lf_train_near(const struct lf_slow_start *ss, u32 w)
{
	return ss->target && w > ss->target - ss->target / 4;
}

/*
 * What the window grows by in a round trip is a queue for a moment, also below the target.
 * Above it all of that is.
 */
static inline u32 lf_train_grow(struct lf_slow_start *ss, u32 w, u32 acked)
{
	u32 divisor = 4;

	if (!lf_train_near(ss, w))
		return acked;
	if (w > ss->target - ss->target / 8)
		divisor = w > ss->target ? 16 : 8;
	return lf_slower(ss, acked, divisor);
}

/*
 * From half of ssthresh on the kernel paces at 1.2 windows per RTT, before at 2.  A window above
 * the cap is not cut to it.
 */
static inline void lf_train_aim(struct tcp_sock *tp, struct lf_slow_start *ss,
				u32 target)
{
	ss->target = target;
	tp->snd_ssthresh = target ? max(lf_train_cap(ss), tcp_snd_cwnd(tp)) + 1 :
				    TCP_INFINITE_SSTHRESH;
}

/* Since a train may have begun, ns.  It wraps after 4 s: too short, a target too high. */
static inline u32 lf_train_time(const struct tcp_sock *tp,
				const struct lf_slow_start *ss)
{
	return (u32)tp->tcp_clock_cache - ss->acked_ns;
}

/* Did its packets leave within half of the time in which they came? */
static inline bool lf_train_together(const struct tcp_sock *tp,
				     const struct lf_slow_start *ss)
{
	u32 apart = (u32)tp->rack.mstamp - ss->sent_us;

	return (u64)apart * (2 * NSEC_PER_USEC) <= lf_train_time(tp, ss);
}

/* A train may begin behind the packet that is acknowledged now. */
static inline void lf_train_from(const struct tcp_sock *tp,
				 struct lf_slow_start *ss)
{
	ss->sent_us = (u32)tp->rack.mstamp;
	ss->acked_ns = (u32)tp->tcp_clock_cache;
	ss->delivered = tp->delivered;
}

/* Take an acknowledgment into the train that it may belong to, at window @w. */
static inline void lf_train_measure(struct tcp_sock *tp,
				    struct lf_slow_start *ss, u32 w)
{
	u32 n = min(tp->delivered - ss->delivered, 1U << 16);
	u32 t = lf_train_time(tp, ss), raise;
	u64 target = LF_TRAIN_NONE;

	if (!ss->delivered || !lf_train_together(tp, ss) ||
	    ss->tries >= LF_TRAIN_TRIES) {
		lf_train_from(tp, ss);
		return;
	}
	if (n < (ss->target ? clamp(w / 4, LF_TRAIN_LEAST, LF_TRAIN_MOST) :
			      LF_TRAIN_LEAST))
		return;
	/* All at once: they were held back together. */
	if (t)
		target = min(target, div_u64((u64)ss->base_us * NSEC_PER_USEC * n,
					     t));
	raise = ss->target ? min_t(u32, target, ss->train) : target;
	ss->train = target;
	/* What was in flight a round trip ago has come through. */
	if (raise > max(ss->target, w) && raise < LF_TRAIN_NONE)
		lf_train_aim(tp, ss, raise);
	lf_train_from(tp, ss);
}

/* What the path holds, as window @w has come with @rtt_us. */
static inline u32 lf_train_full(const struct lf_slow_start *ss, u32 w,
				u32 rtt_us)
{
	u64 full = div_u64((u64)w * ss->base_us, rtt_us);

	/* Not less than after a loss: RTT_min may be a wrong one, or another path's. */
	return min_t(u64, max_t(u64, full, max(w / 2, 2U)), w);
}

/* The window with which it is asked whose queue there is, on a path that holds @full. */
static inline u32 lf_train_asking(u32 full)
{
	return full - full / 16;
}

/* Let the window stay at @w, or at the cap just above. */
static inline void lf_train_hold(const struct tcp_sock *tp,
				 struct lf_slow_start *ss, u32 w)
{
	ss->stage = LF_SS_HOLD;
	ss->owed = w;
	lf_next_round(tp, ss);
}

/* Which alarm is the next one, at window @w. */
static inline u32 lf_alarm_level(const struct lf_slow_start *ss, u32 w)
{
	return ss->target || w < LF_EASY_WINDOW ? max_t(u32, ss->level, 1) :
						  ss->level;
}

static inline u32 lf_alarm_us(const struct lf_slow_start *ss, u32 level)
{
	return max(ss->base_us / 16, LF_ALARM_US) << level;
}

/* Is this RTT the last one of an alarm, at window @w? */
static inline bool lf_alarm(struct lf_slow_start *ss, u32 w, u32 rtt)
{
	u32 level = lf_alarm_level(ss, w);

	ss->samples++;
	if (rtt < ss->base_us + lf_alarm_us(ss, level) || w < LF_LOW_WINDOW)
		ss->samples = 0;
	return ss->samples >= (level ? 2 * LF_ALARM_RTTS : LF_ALARM_RTTS);
}

/*
 * Does the queue go when less is sent than the path holds?  Returns as lf_train_held(); if it
 * does, ssthresh is what the path holds.
 */
static inline bool lf_train_drained(struct tcp_sock *tp,
				    struct lf_slow_start *ss, u32 *w, u32 rtt)
{
	u32 full = lf_train_full(ss, ss->owed, ss->train);
	bool next = lf_round_over(tp, ss);
	u64 target = ss->target;

	/* The window was cut meanwhile, as after a pause: it tells nothing. */
	if (*w < lf_train_asking(full))
		goto again;
	if (ss->stage == LF_SS_DRAIN) {
		if (next) {
			ss->stage = LF_SS_ASK;
			lf_next_round(tp, ss);
		}
		return true;
	}
	ss->round_us = min(ss->round_us, rtt);
	if (ss->round_us < ss->train - (ss->train - ss->base_us) / 8) {
		tp->snd_ssthresh = max(full, 2U);
		/* RTT_min may have become less. */
		*w = min(*w, tp->snd_ssthresh);
		ss->owed = 0;
		ss->stage = LF_SS_RISE;
		return true;
	}
	if (!next)
		return true;
	target = min_t(u64, div_u64(target * ss->round_us, max(ss->base_us, 1U)),
		       LF_TRAIN_NONE - 1);
	ss->base_us = ss->round_us;
	ss->level++;
again:
	ss->delivered = 0;
	ss->train = 0;
	lf_train_aim(tp, ss, target);
	return false;
}

/*
 * The window is held at *@w.  Returns whether it still is.  Where there is a queue *@w becomes
 * less than the path holds, or what it holds where slow start is over.
 */
static inline bool lf_train_held(struct tcp_sock *tp, struct lf_slow_start *ss,
				 u32 *w, u32 rtt)
{
	bool at_target = ss->target && *w >= ss->target;
	u32 level = lf_alarm_level(ss, *w), mark = level ? level - 1 : 0;
	bool next = lf_round_over(tp, ss);
	u32 queue;

	if (ss->stage >= LF_SS_DRAIN) {
		if (lf_train_drained(tp, ss, w, rtt))
			return true;
		goto grow;
	}
	/* The window was cut meanwhile, as after a pause: it tells nothing. */
	if (*w < ss->owed)
		goto grow;
	if (ss->stage == LF_SS_HOLD) {
		if (next) {
			ss->stage = LF_SS_TELL;
			ss->rounds = at_target ? 1 : LF_ALARM_ROUNDS + mark;
			lf_next_round(tp, ss);
		}
		return true;
	}
	queue = at_target ? max(ss->base_us / 64, 1U) :
			    lf_alarm_us(ss, mark);
	ss->round_us = min(ss->round_us, rtt);
	if (rtt >= ss->base_us + queue) {
		if (!next)
			return true;
		ss->round_end = tp->snd_nxt;
		if (!--ss->rounds) {
			ss->train = ss->round_us;
			ss->owed = *w;
			*w = lf_train_full(ss, *w, ss->train);
			ss->stage = LF_SS_OVER;
			if (ss->level == LF_ALARM_LEVEL_MAX)
				return true;
			*w = lf_train_asking(*w);
			tp->snd_ssthresh = *w + 1;
			ss->stage = LF_SS_DRAIN;
			lf_next_round(tp, ss);
		}
		return true;
	}
	if (ss->target && *w >= lf_train_cap(ss))
		lf_train_aim(tp, ss, ++ss->tries < LF_TRAIN_TRIES ?
			     ss->target + ss->target / 4 : 0);
	else
		ss->level = min_t(u32, level + 1, LF_ALARM_LEVEL_MAX);
grow:
	ss->stage = LF_SS_GROW;
	ss->samples = 0;
	ss->owed = 0;
	return false;
}

/*
 * Packets by which window @w may grow on its way to what the path holds.  With twice what is
 * acknowledged, as in slow start, a shallow buffer would overflow within a part of a round trip.
 */
static inline u32 lf_train_rise(const struct tcp_sock *tp,
				struct lf_slow_start *ss, u32 w, u32 acked)
{
	u32 full = tp->snd_ssthresh, left = full - min(w, full);

	/* The window was cut meanwhile, as after a pause: the rest is the kernel's. */
	if (w >= lf_train_asking(full))
		acked = lf_slower(ss, acked, 8);
	else
		ss->stage = LF_SS_OVER;
	if (acked >= left)
		ss->stage = LF_SS_OVER;
	return min(acked, left);
}

/* Packets by which window *@w may grow, which becomes less behind a queue. */
static inline u32 lf_train(struct sock *sk, struct lf_slow_start *ss, u32 *w,
			   u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt = min(tp->rack.rtt_us, LF_RTT_MOST), cap;

	ss->base_us = min(ss->base_us, rtt);
	if (ss->stage == LF_SS_RISE)
		return lf_train_rise(tp, ss, *w, acked);
	if (ss->stage != LF_SS_GROW) {
		if (lf_train_held(tp, ss, w, rtt))
			return 0;
	} else {
		lf_train_measure(tp, ss, *w);
		if (lf_alarm(ss, *w, rtt)) {
			lf_train_hold(tp, ss, *w);
			return 0;
		}
	}
	if (!ss->target)
		return acked;
	acked = lf_train_grow(ss, *w, acked);
	cap = lf_train_cap(ss);
	if (*w + acked < cap)
		return acked;
	lf_train_hold(tp, ss, *w);
	return cap > *w ? cap - *w : 0;
}

/*
 * The same where nothing happens, as with most acknowledgments: no train is over, there is no
 * queue, and neither what is near the target nor the cap begins.  *@acked becomes the packets
 * by which window @w grows.  Returns false, and does nothing, where something may happen.
 */
static inline bool lf_train_goes_on(const struct tcp_sock *tp,
				    struct lf_slow_start *ss, u32 w, u32 *acked)
{
	u32 rtt = tp->rack.rtt_us, base = min(ss->base_us, rtt);
	bool near = lf_train_near(ss, w);

	if (ss->way != LF_TRAIN || ss->stage != LF_SS_GROW ||
	    rtt > LF_RTT_MOST || rtt >= base + base / 16 ||
	    lf_train_together(tp, ss))
		return false;
	if (ss->target && w + (near ? *acked / 4 + 1 : *acked) >=
			  (near ? lf_train_cap(ss) : ss->target - ss->target / 4))
		return false;
	ss->base_us = base;
	ss->samples = 0;
	lf_train_from(tp, ss);
	*acked = lf_train_grow(ss, w, *acked);
	return true;
}

/**
 * lf_slow_start_window - slow start's window after an acknowledgment
 * @sk:    the sender; its snd_ssthresh may be changed
 * @ss:    state; ss->stage is LF_SS_OVER when slow start ends with this, at snd_ssthresh,
 *	   up to which the kernel's goes
 * @w:     congestion window, packets
 * @acked: packets newly acknowledged
 *
 * Only if ss->stage is not LF_SS_OVER before.
 *
 * Return: the new window, packets.
 */
static inline u32 lf_slow_start_window(struct sock *sk,
				       struct lf_slow_start *ss, u32 w,
				       u32 acked)
{
	bool asked = ss->stage >= LF_SS_DRAIN;
	struct tcp_sock *tp = tcp_sk(sk);

	if (ss->way == LF_LIMITED)
		acked = lf_limited(ss, w, acked);
	else if (!tp->rack.rtt_us)
		return w + acked;
	else if (ss->way == LF_HYSTART)
		acked = lf_hystart(sk, ss, acked);
	else
		acked = lf_train(sk, ss, &w, acked);
	w += acked;
	if (ss->stage == LF_SS_OVER && !asked)
		tp->snd_ssthresh = max(min(w, tp->snd_cwnd_clamp), 2U);
	return w;
}

static inline void lf_slow_start_set(struct tcp_sock *tp, u32 w)
{
	tcp_snd_cwnd_set(tp, min3(w, tp->snd_cwnd_clamp, tp->snd_ssthresh));
}

/* lf_slow_start() where something may happen. */
static noinline __maybe_unused u32 lf_slow_start_step(struct sock *sk,
						      struct lf_slow_start *ss,
						      u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ss || ss->stage == LF_SS_OVER)
		return tcp_slow_start(tp, acked);
	lf_slow_start_set(tp, lf_slow_start_window(sk, ss, tcp_snd_cwnd(tp),
						   acked));
	return 0;
}

/**
 * lf_slow_start - the part of ->cong_avoid that is slow start's
 * @sk:    the sender, in slow start
 * @ss:    state; NULL: the kernel's slow start
 * @acked: packets newly acknowledged
 *
 * Return: packets of @acked that are left for congestion avoidance.
 */
static noinline __maybe_unused u32 lf_slow_start(struct sock *sk,
						 struct lf_slow_start *ss,
						 u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 w = tcp_snd_cwnd(tp);

	if (!ss || !lf_train_goes_on(tp, ss, w, &acked))
		return lf_slow_start_step(sk, ss, acked);
	lf_slow_start_set(tp, w + acked);
	return 0;
}

/**
 * lf_slow_start_loss - ->ssthresh: the window after a loss or mark
 * @sk:     the sender
 * @ss:     state
 * @w:      congestion window, packets
 * @gentle: the window that the algorithm itself would have
 *
 * Halves if slow start did it.  It did not if the window stood near a measured target, or
 * if a single packet is lost, there is no queue and the target is far away: such a loss is
 * none of congestion.  A mark is, as is a drop of our own queue; where a probe has repaired
 * the loss of the last packet it looks the same.  Nor did it where the window has stood for
 * a round trip or more, or rises to what the path holds.
 *
 * Return: the window, packets.
 */
static inline u32 lf_slow_start_loss(const struct sock *sk,
				     struct lf_slow_start *ss, u32 w,
				     u32 gentle)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	enum lf_slow_start_stage stage = LF_SS_OVER;

	/* Of a SYN, where a socket selects us after connect(): it says nothing of the path. */
	if (sk->sk_state == TCP_SYN_SENT)
		return gentle;
	/*
	 * After an undo the window may have grown out of slow start.  While it is asked whose queue
	 * it is ssthresh is next to the window.  When it was ours, nothing is to be begun again.
	 */
	if ((tcp_in_slow_start(tp) || ss->stage >= LF_SS_DRAIN) && ss->stage != LF_SS_RISE)
		stage = ss->stage;
	ss->lost = stage != LF_SS_OVER;
	ss->stage = LF_SS_OVER;
	if (stage == LF_SS_OVER || stage == LF_SS_TELL || stage >= LF_SS_DRAIN)
		return gentle;
	if (ss->way == LF_TRAIN && ss->target &&
	    (lf_train_near(ss, w) ||
	     (tp->lost_out == 1 &&
	      tp->rack.rtt_us < ss->base_us + ss->base_us / 32)))
		return gentle;
	/* Behind an alarm it is what the window was when the lost packet left. */
	if (stage == LF_SS_HOLD)
		w += w - min(w, (u32)max_t(s32, ss->round_end - tp->snd_una, 0) /
				max(tp->mss_cache, 1U));
	return clamp(w / 2, 2U, max(gentle, 2U));
}

/* Before ->ssthresh: is snd_ssthresh now that of a question? */
static inline bool lf_slow_start_asks(const struct lf_slow_start *ss)
{
	return ss->stage == LF_SS_DRAIN || ss->stage == LF_SS_ASK;
}

/*
 * ->undo_cwnd where others have taken the place of @ss since: slow start begins again.  @asked is
 * lf_slow_start_asks() of then.  The kernel restores snd_ssthresh only where that was higher.
 */
static inline void lf_slow_start_again(struct sock *sk, struct lf_slow_start *ss,
				       enum lf_slow_start_way way, bool asked)
{
	lf_slow_start_begin(sk, ss, way);
	ss->stage = LF_SS_GROW;
	if (asked)
		tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* ->undo_cwnd: the loss event was spurious, and slow start is not over. */
static inline void lf_slow_start_undo(struct sock *sk,
				      struct lf_slow_start *ss)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 ssthresh = tp->snd_ssthresh;

	if (!ss->lost)
		return;
	/* Nor is ssthresh that of a question which is not answered. */
	if (ss->way == LF_TRAIN) {
		lf_train_aim(tp, ss, ss->target);
		/* Where the kernel restores as much, it takes the CWR back, too. */
		if (tp->snd_ssthresh <= tp->prior_ssthresh)
			tp->snd_ssthresh = ssthresh;
		ss->train = 0;
	}
	ss->lost = 0;
	ss->stage = LF_SS_GROW;
	/* Where the window was held it is that window, and no growth. */
	ss->owed = 0;
	ss->delivered = 0;
	lf_next_round(tp, ss);
}

#endif /* LONGFAT_SLOW_START_H */
