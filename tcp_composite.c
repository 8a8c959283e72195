// SPDX-License-Identifier: GPL-2.0
/*
 * Composite: N virtual streams in one connection
 *
 * Elder: "Applying Techniques of Application Layer Striping to Improve the
 * Utilization of a Single TCP Connection", MSc thesis, University of North
 * Carolina, 2009.  Section and figure numbers below are the thesis's.
 *
 * The idea.  N parallel connections take N shares of a link, fill it sooner and
 * swing less than one.  A composite connection is one connection with the windows
 * of N.  Each of N virtual streams is a creditor, and the composite window W is
 * the sum of the credit that they extend (section IV):
 *
 *	W = w_1 + w_2 + ... + w_N
 *
 * What happens to a packet is an event.  A distribution function deals the event
 * to one of the streams, and the stream changes its credit as Reno would (Fig. 5):
 *
 *	SUCCESS, delivered	slow start: w += 1, else w += 1/w
 *	LOSS			ssthresh = w / 2, w = ssthresh
 *	SEVERE_LOSS, by timeout	ssthresh = w / 2, w = 1
 *
 * Two rules make the share that of N connections.  Every lost packet is an event of
 * its own; where acknowledgments are merged, two that are found lost together are one (see
 * composite_losses()).  And a stream backs off at most once per round trip: after a back-off
 * it rests, and absorbs every LOSS until a packet is delivered that was sent since.  It rests
 * for a few packets more, as losses are found late.  With one event per recovery, N - 1
 * streams would be untouched however many packets an overflow took.  Without the second
 * rule, one event per packet would take W to nothing.
 *
 * Successes are dealt in turns.  The stream whose turn it is gets as many as its window has
 * packets.  Then it has grown by one packet, and a stream is drawn whose turn is next.  So N
 * turns take W packets, one round trip, and in each the streams grow by a packet on average.
 * One ACK for many packets and many ACKs for one end the same turns.  A LOSS is dealt to a
 * stream that is drawn.  If that rests, another one is drawn, once.
 *
 * Most ACKs end no turn and let no window grow.  In the first slow start most let only the
 * window grow whose turn it is.  Such ACKs are only counted; composite_account() looks at the
 * others.  So if w is more than an ACK covers, 4 streams and 64 cost nearly the same.
 *
 * The congestion window is W, with three exceptions:
 *
 *	above W		it comes down to W by one packet for two delivered (PRR
 *			for a half), so sending slows down and does not stop
 *	below W		after many losses, a timeout or idle it grows by one for
 *			each delivered (slow start); no stream grows while it is
 *			more than an eighth below
 *	lost packets	are subtracted from it
 *
 * So but for an undo no acknowledgment releases more than twice what it acknowledges, and
 * there is no flood after recovery (Figs. 7 to 12).
 *
 * Pacing (section VIII) makes the packets arrive at a queue as those of N senders
 * would.  A full FIFO drops what finds no room: of ten packets in a burst more than of ten
 * single ones.  What a Reno sender has as a burst hangs on the receiver: an acknowledgment
 * that covers k packets lets k leave at once.  So a burst here is of k + 1/2 packets on
 * average, and k is measured: 1 where every packet is acknowledged, 2 with delayed
 * acknowledgments.  Where more come at once they were mostly merged by time, as by GRO.  In
 * that time one of N connections has few packets; so they count as 2.  A burst is as large
 * as one of N connections would make it in 1/1024 s where that is more, up to what the kernel
 * sends as one.
 *
 * The mean gap after a burst, with w = max(cwnd, packets out) as the kernel has it, is
 *
 *	burst srtt / (p w)	p = 1 + 1 / (2 sqrt(N))
 *
 * A gap is that times A B, with A and B from 15/64 to 113/64 and 1 on average, by a hash of
 * what was sent.  So a gap is at most 3.1 times the mean.  Its deviation is three
 * quarters of the mean; in a Poisson process, which many independent senders together are,
 * it is the mean.  No gap may be shorter than SO_MAX_PACING_RATE has it.  Let c be that
 * gap, relative to the mean one and at most 1.  Then a gap is the mean times c + (1 - c) A B:
 * none is shorter than c, and the mean stays.
 *
 * p > 1 lets the acknowledgments stay the clock.  Both halves, that of the burst and that of
 * p (the parameter pacing / 100), are fitted to the share of N connections
 * (docs/composite.md).  While the window is below half of W or of ssthresh, p is
 * tcp_pacing_ss_ratio, as the kernel's.
 * One stream alone has the kernel's bursts, and tcp_pacing_ca_ratio for p.  With more
 * streams that ratio would not give the share of N connections, so they have the parameter.
 * Gaps are even for one stream, and for a window of less than two bursts.  The kernel
 * halves a gap for a sender that was late, as with any pacing.  Under fq TCP hands down
 * 1/1024 s at the rate of a gap, so a short one may be that of several bursts, and the mean
 * is less.
 *
 * Differences from the thesis
 *
 *  1. The thesis's lottery remembers who was chosen; its other function draws.  Here
 *     streams are drawn, and a LOSS is seldom dealt to one that rests.  With events in turn many
 *     streams have less than their share (docs/composite.md).
 *  2. Which packets are lost, and their retransmission, is the kernel's business
 *     (SACK, RACK, TLP).  The sender's operating mode, the warp sequence and the
 *     custom timer, and with them the rule of one loss per recovery, are gone.
 *  3. A timeout is a SEVERE_LOSS for each packet that it takes for lost, not one
 *     for all: if everything is lost, nearly every stream pays.
 *  4. Duplicate acknowledgments do not inflate a stream in recovery, and a LOSS adds no three
 *     packets to ssthresh (Fig. 5).  A stream that
 *     backed off does not grow until its round trip is over.
 *  5. The window grows up to W and no further.  It begins with one initial window, not
 *     with N: they would be a burst into an unknown path.  The thesis begins with a packet
 *     for each stream.  A pause halves it for each timeout that passed, down to one initial
 *     window.  An unused part of the window shrinks as a Reno sender's.
 *  6. A stream with two packets goes on with one after a loss.  A stream with one
 *     packet has none then, and rests for five round trips: a Reno sender would have a
 *     timeout.  So W may be below N; the window is never below 1.
 *  7. With AccECN each marked packet is a LOSS.  RFC 3168's echo does not say how many
 *     packets were marked.  So each stream answers it, once per round trip.  In recovery,
 *     where the kernel ignores marks, each answers once.  A loss that a tail loss probe
 *     repaired is one LOSS.
 *  8. After a spurious loss event W is what it was before, and each stream has a part of it
 *     in proportion to what it has.
 *  9. streams=0 takes N from the path: a stream for each 8 ms of the RTT that is
 *     known when the connection starts, rounded, 1 to 64; 1 if no RTT is known.  So
 *     on paths of 8 to 512 ms the window grows by about 125 packets per second.
 * 10. Selected in a loss event it begins with what that left of the window, and no stream
 *     grows for a round trip; for five, if there are more streams than packets.  Selected
 *     after a timeout it goes on in slow start, as any other.
 * 11. All streams leave the first slow start together, before a loss
 *     (include/longfat/slow_start.h).  A loss before that makes all back off if slow start
 *     overflowed the path, or if a mark came.  If the window was near the target, or had
 *     stood for a round trip, all leave slow start and the loss is dealt as any other.  If
 *     one packet was lost, there is no queue and the end of slow start is far, it goes on.
 *     The thesis's end it one by one, at losses.  slow_start=classic is the thesis's, and so
 *     is one stream.
 *
 * Notes.  composite-4 to composite-64 are the same with that many streams.
 * A connection reads the parameters when it starts (or selects one of the names) and
 * keeps them.  With N > 1 each connection allocates N times 12 bytes and 56 more, at
 * most 1024 as kmalloc() rounds up; if there is no memory it has one stream.
 * TCP makes no larger skbs than a burst (sk_gso_max_segs), also where a ratio of 0 turns
 * pacing off.  The pacing rate that ss shows is that of one gap.  Trace event:
 * longfat:composite.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/hash.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/control.h>
#include <longfat/idle.h>
#include <longfat/marks.h>
#include <longfat/pacing.h>
#include <longfat/params.h>
#include <longfat/slow_start.h>
#include <longfat/tso.h>
#include <longfat/version.h>

/* Why a trace event was emitted. */
enum composite_reason {
	COMPOSITE_INIT,		/* the connection started or selected us */
	COMPOSITE_SUCCESS,	/* it is this stream's turn to grow */
	COMPOSITE_DECREASE,	/* this stream backed off */
	COMPOSITE_ABSORBED,	/* this stream backed off in this round trip before */
	COMPOSITE_SEVERE,	/* this stream collapsed, by timeout */
	COMPOSITE_UNDO,		/* the streams that backed off did so in vain */
	COMPOSITE_IDLE,		/* sending after a pause, or a part was not used */
};

#define LF_TRACE_NAME		composite
#define LF_TRACE_REASONS						\
	{ COMPOSITE_INIT, "init" }, { COMPOSITE_SUCCESS, "success" },	\
	{ COMPOSITE_DECREASE, "decrease" },				\
	{ COMPOSITE_ABSORBED, "absorbed" }, { COMPOSITE_SEVERE, "severe" }, \
	{ COMPOSITE_UNDO, "undo" }, { COMPOSITE_IDLE, "idle" }
/*
 * cwnd is W.  stream, counted from 0, got the event, and window is its window; streams
 * is N, and slow the number of streams in slow start.
 */
#define LF_TRACE_FIELDS(F)	F(u32, stream) F(u32, window) F(u32, streams) F(u32, slow)
#define CREATE_TRACE_POINTS
#include <longfat/trace.h>

LF_PARAM_UINT(streams, 8, 0, 64, "N of plain composite; 0: from the path's RTT");
LF_PARAM_UINT(pacing, 50, 0, 1000,
	      "of N > 1: the rate is this / sqrt(N) percent above a window per round trip");
LF_PARAM_ENUM(slow_start, LF_TRAIN, "how the first slow start ends, default train",
	      "train", "hystart++", "limited", "classic");
LF_PARAM_UINT(seed, 0, 0, 4294967295,
	      "of what is random, the same for each connection; 0: random");

#define COMPOSITE_MAX	64U

/* streams=0: one stream for so much of the minimum RTT, microseconds. */
static const u32 composite_rtt_us = 8000;

/*
 * What a LOSS is of.  A timeout's is severe.  An echoed mark is of nobody knows how many
 * packets, so each stream has a LOSS.
 */
enum composite_bad {
	COMPOSITE_LOST, COMPOSITE_TIMEOUT, COMPOSITE_MARKED, COMPOSITE_ECHOED,
};

/* A creditor.  Windows are packets. */
struct composite_stream {
	u32	cwnd;
	u32	ssthresh;	/* >= 2 */
	u32	rest_end;	/* in packets delivered, see composite_lose() */
};

/* The streams of one connection, if they are more than one. */
struct composite_book {
	u64	rate;		/* mean, bytes/s; 0: none is known, or no pacing */
	u32	spread;		/* random, of bursts and gaps */
	u16	pacing, even;	/* percent of the window per round trip; of a gap, 4096ths */
	struct lf_slow_start slow;	/* of the sum of their windows */
	struct composite_stream streams[];
};

struct composite {
	/* Every acknowledgment and transmission reads this: 64 bytes at most. */
	struct composite_book *book;	/* NULL: one stream, @one */
	u32	sum;		/* W, of all streams' cwnd */
	u32	quiet;		/* packets until composite_account() has to look */
	u32	turn;		/* successes left of this turn; >= 1 */
	u32	covers;		/* packets an ACK covers, 2 at most: mean << 16 */
	u32	merged;		/* part of the packets that came more than 2 an ACK: mean << 16 */
	u32	delivered;	/* tp->delivered, tp->lost, tp->delivered_ce */
	u32	lost;		/*   that have been dealt with */
	u32	marked;
	u32	mss;		/* bytes; what the windows count */
	u32	paced;		/* tp->delivered when the pace was set */
	u32	held;		/* successes that let nobody grow */
	u16	burst;		/* sk_gso_max_segs as we set it, and as it was */
	u16	burst_before;
	u8	n;		/* streams; 0: ->init was never called */
	u8	at;		/* whose turn it is */
	u8	slow;		/* streams in slow start */
	u8	resting : 1;	/* any stream may be */
	u8	first : 1;	/* when this loss event began, all in the first slow start */

	/* A loss event, a rest, a pause; one stream alone. */
	u32	sent;		/* delivered when the last packet acknowledged
				 *   was sent
				 */
	u32	rest_end;	/* the last of the streams' */
	u32	echo_end;	/* of a mark that the streams took, see marks.h */
	u32	prior_sum;	/* W when this loss event began; 0: undone */
	u32	restarted;	/* tp->lsndtime when it restarted after idle */
	u32	dealing;	/* random, of who gets an event */
	struct composite_stream one;
};

/* --- the streams --------------------------------------------------------- */

/* Uniform in 0 .. @n - 1, by the upper of 32 bits (Numerical Recipes, chapter 7). */
static u32 composite_below(u32 *state, u32 n)
{
	*state = *state * 1664525 + 1013904223;
	return (u64)*state * n >> 32;
}

/* Any stream. */
static u32 composite_draw(struct composite *ca)
{
	return composite_below(&ca->dealing, ca->n);
}

static struct composite_stream *composite_stream(struct composite *ca, u32 i)
{
	return ca->book ? &ca->book->streams[i] : &ca->one;
}

static void composite_trace(const struct sock *sk, enum composite_reason why, u32 i)
{
	struct composite *ca = inet_csk_ca(sk);

	trace_composite(sk, why, ca->sum, i, composite_stream(ca, i)->cwnd, ca->n, ca->slow);
}

/* Take a stream's credit out of the sum, -1, or put it in, 1: before and after a change. */
static void composite_count(struct composite *ca, const struct composite_stream *s, int sign)
{
	ca->sum += sign * s->cwnd;
	ca->slow += sign * (s->cwnd < s->ssthresh);
}

/*
 * W becomes @w, and each stream keeps its part of it; the parts add up to W.  A stream's
 * ssthresh becomes its part of @ssthresh; with 0 it stays.  Without @all a stream in its
 * first slow start stays in it, and the others keep their ssthresh if @ssthresh is
 * TCP_INFINITE_SSTHRESH.  Parts are measured with a packet more for each stream, so that
 * streams without one have a part, too.
 */
static void composite_resize(struct composite *ca, u32 w, u32 ssthresh, bool all)
{
	u32 whole = ca->sum + ca->n, had = 0, given = 0, i;

	for (i = 0; i < ca->n; i++) {
		struct composite_stream *s = composite_stream(ca, i);
		u64 part = s->cwnd + 1;

		composite_count(ca, s, -1);
		had += part;
		s->cwnd = div_u64((u64)had * w, whole) - given;
		given += s->cwnd;
		if (ssthresh && (all || max(ssthresh, s->ssthresh) < TCP_INFINITE_SSTHRESH))
			s->ssthresh = ssthresh >= TCP_INFINITE_SSTHRESH ? ssthresh :
				      max_t(u32, div_u64(part * ssthresh, whole), 2);
		composite_count(ca, s, 1);
	}
	/* A turn begins; one without a packet is to get its first. */
	ca->turn = max(composite_stream(ca, ca->at)->cwnd, 1U);
	ca->quiet = 0;
}

/* --- SUCCESS ------------------------------------------------------------- */

static bool composite_rests(const struct composite *ca, const struct composite_stream *s)
{
	return ca->resting && before(ca->sent, s->rest_end);
}

/*
 * Deal @acked packets.  A stream in slow start grows by each of them.  In congestion
 * avoidance it grows by one when its turn is over.  Below 2 packets it is in slow start.
 * One ACK may end many turns, so what is left of one is kept in a variable.
 */
static void composite_successes(struct sock *sk, u32 acked)
{
	struct composite *ca = inet_csk_ca(sk);
	struct composite_stream *streams = composite_stream(ca, 0), *s = streams + ca->at;
	u32 turn = ca->turn;

	while (acked) {
		bool slow = s->cwnd < s->ssthresh;
		u32 room = slow ? s->ssthresh - s->cwnd : U32_MAX, n = min3(acked, turn, room);
		u32 grow = slow ? n : n == turn;

		acked -= n;
		turn -= n;
		if (!composite_rests(ca, s)) {
			s->cwnd += grow;
			ca->sum += grow;
			/* Avoidance begins with a turn of its own. */
			if (n == room) {
				ca->slow--;
				turn = s->cwnd;
			}
		}
		if (turn)
			continue;
		s = streams + composite_draw(ca);
		turn = max(s->cwnd, 1U);
		trace_composite(sk, COMPOSITE_SUCCESS, ca->sum, s - streams, s->cwnd, ca->n,
				ca->slow);
	}
	ca->at = s - streams;
	ca->turn = turn;
}

/* --- LOSS ---------------------------------------------------------------- */

/* The stream that gets a LOSS.  If one is drawn that rests, another is, once. */
static u32 composite_deal(struct composite *ca)
{
	u32 i = composite_draw(ca);

	return composite_rests(ca, composite_stream(ca, i)) ? composite_draw(ca) : i;
}

/*
 * A LOSS or SEVERE_LOSS for stream @i.  If it backs off, it rests: it does not grow, and
 * absorbs what is lost, until a packet is delivered that was sent after that, or a little
 * later if a loss is found late, or four windows later if it has no packet left.  Times of
 * sending are counts of packets delivered by then.
 */
static void composite_lose(struct sock *sk, u32 i, enum composite_bad why)
{
	struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct composite_stream *s = composite_stream(ca, i);
	bool again = composite_rests(ca, s), severe = why == COMPOSITE_TIMEOUT;
	/* A timeout leaves a packet for each stream, or not much more. */
	u32 window = severe ? ca->n : ca->sum, j;

	/* A timeout takes it down to one packet then, and not to none. */
	if (again && (!severe || s->cwnd <= 1)) {
		composite_trace(sk, COMPOSITE_ABSORBED, i);
		return;
	}
	if (why == COMPOSITE_ECHOED)
		ca->echo_end = lf_answer_mark(sk);
	/* Rests that are over must not seem to begin again when counters wrap. */
	for (j = 0; !ca->resting && j < ca->n; j++)
		composite_stream(ca, j)->rest_end = ca->sent;
	s->rest_end = tp->delivered;
	/*
	 * A packet that is found lost was sent before the newest that is delivered, by up to
	 * the reordering distance.  While the window comes down, two are delivered for each
	 * sent.  A window at most.  Marked packets were delivered: none is found late.
	 */
	if (why == COMPOSITE_LOST || severe)
		s->rest_end += min(2 * min(tp->reordering, window) + 2, max(window, 3U));
	if (s->cwnd <= 1)
		s->rest_end += 4 * window;
	if (!ca->resting || after(s->rest_end, ca->rest_end))
		ca->rest_end = s->rest_end;
	ca->resting = 1;
	composite_count(ca, s, -1);
	if (!again)
		s->ssthresh = max(s->cwnd / 2, 2U);
	s->cwnd = s->cwnd <= 2 || severe ? s->cwnd > 1 : s->ssthresh;
	composite_count(ca, s, 1);
	if (i == ca->at)
		ca->turn = min(ca->turn, max(s->cwnd, 1U));
	composite_trace(sk, severe ? COMPOSITE_SEVERE : COMPOSITE_DECREASE, i);
}

/*
 * Deal @lost packets, or marked ones.  A slow start that begins after all streams have
 * backed off is not the first.
 *
 * A Reno sender that loses two packets at once backs off once.  Without GRO a composite loses
 * less than Reno senders do, and that makes up for it: each packet is a LOSS.  Where GRO
 * merges ACKs it loses as much, so there two packets that are found lost together are one
 * LOSS.  The ACKs tell that, by the part of the packets that came more than two an ACK: about
 * half with GRO, next to none without.  It is nearly all where something on the way thins the
 * ACKs; there Reno's bursts are large and lose more.  A Reno sender of few packets is likelier
 * to have a timeout, so there each packet is a LOSS, too.
 */
static void composite_losses(struct sock *sk, u32 lost, enum composite_bad why)
{
	struct composite *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool severe = why == COMPOSITE_TIMEOUT;
	u32 of = why == COMPOSITE_LOST && ca->merged > BIT(13) && ca->merged < 7 * BIT(13) &&
		 ca->sum / 8 >= ca->n ? 2 : 1;
	/* A repeated timeout finds what the first one left. */
	u32 goal = !severe ? 0 : inet_csk(sk)->icsk_retransmits ? tp->snd_ssthresh : ca->sum / 2;

	/* With more than 16 for each all of them have backed off, and absorb it. */
	for (lost = min(lost, 16U * ca->n); lost; lost -= min(lost, of))
		composite_lose(sk, why == COMPOSITE_ECHOED ? lost - 1 : composite_deal(ca), why);
	/* Selected in a loss event they wait for a window, which may be less by now. */
	ca->held = min(ca->held, 5 * max(ca->sum, 3U));
	/* After a timeout they come back by slow start. */
	tp->snd_ssthresh = max3(ca->sum, goal, 2U);
	if (ca->book && (severe || !ca->slow))
		ca->book->slow.stage = LF_SS_OVER;
}

/* --- the first slow start ------------------------------------------------ */

/*
 * That of all streams together, see include/longfat/slow_start.h.  Returns how many of
 * @acked packets are successes.
 */
static noinline u32 composite_start(struct sock *sk, u32 acked)
{
	struct composite *ca = inet_csk_ca(sk);
	struct lf_slow_start *slow = &ca->book->slow;
	enum lf_slow_start_stage before = slow->stage;
	u32 w;

	if (!acked || before == LF_SS_OVER)
		return acked;
	w = lf_slow_start_window(sk, slow, ca->sum, acked);
	/* On the way to what the path holds all grow: in turns one of them would double. */
	for (; before == LF_SS_RISE && ca->sum < w; ca->sum++) {
		struct composite_stream *s = composite_stream(ca, ca->sum % ca->n);

		ca->slow -= ++s->cwnd == s->ssthresh;
	}
	if (slow->stage == before && w >= ca->sum)
		return w - ca->sum;
	/* Every stream has its part of W, and of what the path holds if that is known. */
	composite_resize(ca, w, slow->stage == LF_SS_OVER || slow->stage == LF_SS_RISE ?
			 tcp_sk(sk)->snd_ssthresh : 0, true);
	return 0;
}

/*
 * A loss event begins in it.  See lf_slow_start_loss():
 *
 *	it did that, or a mark came	all leave it and back off, as all that was sent was too
 *					much.  W is what slow start says
 *	it stood for a round trip, near	all leave it, and what is lost is dealt as any other
 *	the target, or rises
 *	one packet, and no queue	it goes on, and the loss is dealt as any other; so it
 *					does where half of the streams have left it before
 */
static void composite_start_lost(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	struct lf_slow_start *slow = &ca->book->slow, before = *slow;
	u32 w, i;

	/* Since a stream backed off the kernel's ssthresh is W: it sees no slow start. */
	if (2 * ca->slow > ca->n)
		tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	w = lf_slow_start_loss(sk, slow, ca->sum, ca->sum);
	if (w == ca->sum && before.stage == LF_SS_GROW && !lf_train_near(&before, w)) {
		*slow = before;
		/* What else this event loses may end it. */
		slow->lost = 1;
		return;
	}
	if (w < ca->sum)
		for (i = 0; i < ca->n; i++)
			composite_lose(sk, i, COMPOSITE_LOST);
	composite_resize(ca, w, max(w, 2U), true);
}

/* --- the window ---------------------------------------------------------- */

/* The window after @cwnd, when @acked packets were delivered and @lost were lost. */
static u32 composite_window(const struct composite *ca, u32 cwnd, u32 acked, u32 lost)
{
	u32 target = max(ca->sum, 1U);

	cwnd = cwnd > lost ? cwnd - lost : 1;
	if (cwnd <= target)
		return min_t(u64, (u64)cwnd + acked, target);
	/* One less for each that is delivered with an odd number. */
	acked = acked / 2 + (acked & ca->delivered & 1);
	return max_t(s64, (s64)cwnd - acked, target);
}

/*
 * Mean rate at which the window leaves, bytes per second; an RTT is known.  0: without
 * pacing, as the kernel takes a ratio of 0.
 */
static u64 composite_rate(const struct sock *sk)
{
	const struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);
	/* In a slow start of which the end is not near, as the kernel's own. */
	bool doubles = cwnd < max(ca->sum, tp->snd_ssthresh) / 2;
	u32 percent = doubles || !ca->book ? lf_pacing_ratio(sk, doubles) : ca->book->pacing;
	u64 rate = lf_window_rate(max(cwnd, tp->packets_out), tp->mss_cache, tp->srtt_us);

	/* 2^40 bytes/s are enough, and leave room for @percent and for a gap. */
	rate = div_u64(min_t(u64, rate, BIT_ULL(40)) * percent, 100);
	return percent ? max(rate, 1ULL) : 0;
}

/*
 * The burst, in packets, of one of N connections that send @rate together: what the kernel
 * would send at once at its rate, @most bytes at most, or what an acknowledgment lets out, if
 * that is more: what it covers and half a packet.
 */
static u32 composite_burst_for(struct composite *ca, u64 rate, u32 most, u32 mss)
{
	/* On average, not rounded. */
	u32 clocked = (ca->covers + BIT(15) + composite_below(&ca->book->spread, BIT(16))) >> 16;
	u32 timed = min_t(u64, div_u64(rate >> LF_PACING_SHIFT, ca->n), most);

	return max3(clocked, timed / mss, 1U);
}

/*
 * What follows the window and the RTT: the mean rate, and the burst.  ->min_tso_segs can
 * only make a burst larger, so sk_gso_max_segs makes it smaller.  The kernel sets that with
 * each route, to what the route's device takes; a device that takes just a burst is not seen.
 */
static void composite_pace(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	u64 rate, most = READ_ONCE(sk->sk_max_pacing_rate);

	if (!tcp_sk(sk)->srtt_us)
		return;
	rate = composite_rate(sk);
	lf_set_pacing_rate(sk, rate ? rate : U64_MAX);
	ca->paced = tcp_sk(sk)->delivered;
	if (!ca->book)
		return;
	ca->book->rate = rate;
	/* No gap is to be shorter than SO_MAX_PACING_RATE lets it be. */
	ca->book->even = div64_u64(rate << 12, max3(rate, most, 1ULL));
	if (sk->sk_gso_max_segs != ca->burst)
		ca->burst_before = sk->sk_gso_max_segs;
	ca->burst = min(composite_burst_for(ca, rate, lf_largest_burst(sk),
					    max(tcp_sk(sk)->mss_cache, 1U)),
			max_t(u32, ca->burst_before, 1));
	WRITE_ONCE(sk->sk_gso_max_segs, ca->burst);
}

/* --- other windows, other packets ---------------------------------------- */

/*
 * The window was used in part or not at all, and becomes @w, 0: stays.  The streams keep as
 * much of theirs, but at least an initial window in all, and three quarters in ssthresh.
 */
static void composite_shrink(struct sock *sk, u32 w)
{
	struct composite *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp), i;
	u64 known = 0;

	if (!w)
		return;
	tp->snd_ssthresh = max(tp->snd_ssthresh, cwnd - cwnd / 4);
	/* In the slow start behind a timeout streams have more of it than the kernel knows. */
	for (i = 0; i < ca->n; i++)
		known += composite_stream(ca, i)->ssthresh;
	composite_resize(ca, max_t(u32, div_u64((u64)ca->sum * w, cwnd),
				   min(ca->sum, lf_initial_window(sk))),
			 tp->snd_ssthresh > known ? tp->snd_ssthresh : 0, false);
	lf_set_window(sk, w);
	composite_pace(sk);
	composite_trace(sk, COMPOSITE_IDLE, ca->at);
}

/*
 * MTU probing made packets larger and the window smaller in proportion; the streams
 * follow, ssthresh too, or all of them would be in slow start.  If packets become smaller,
 * the kernel keeps their number, and so do the streams.  Without MTU probing packets also
 * become larger where the kernel forgets that the path was narrower: they keep it then too.
 */
static void composite_rescale(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 old = ca->mss, mss = tp->mss_cache;

	ca->mss = mss;
	if (!old || mss <= old || !inet_csk(sk)->icsk_mtup.enabled)
		return;
	ca->prior_sum = div_u64((u64)ca->prior_sum * old, mss);
	if (tp->prior_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->prior_ssthresh = div_u64((u64)tp->prior_ssthresh * old, mss);
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = max_t(u32, div_u64((u64)tp->snd_ssthresh * old, mss), 2);
	composite_resize(ca, div_u64((u64)ca->sum * old, mss), tp->snd_ssthresh, false);
}

/* --- how many streams ---------------------------------------------------- */

/* Names; behind the first N is 4 and doubles.  The hooks come at the end. */
static struct tcp_congestion_ops composite_ops[] __read_mostly = {
	{ .name = "composite" },
	{ .name = "composite-4" },
	{ .name = "composite-8" },
	{ .name = "composite-16" },
	{ .name = "composite-32" },
	{ .name = "composite-64" },
};

/* Streams for a minimum RTT; ~0 means that there is no sample yet. */
static u32 composite_streams_for(u32 min_rtt_us)
{
	/* Halves, as the sum may have 33 bits. */
	return min_rtt_us == ~0U ? 1 :
	       clamp(DIV_ROUND_CLOSEST(min_rtt_us / 2, composite_rtt_us / 2), 1U, COMPOSITE_MAX);
}

/* How many streams the connection is to have. */
static u32 composite_wanted(const struct sock *sk)
{
	u32 i = inet_csk(sk)->icsk_ca_ops - composite_ops, n = i ? 2U << i : lf_param(streams);

	return n ? n : composite_streams_for(tcp_min_rtt(tcp_sk(sk)));
}

/* --- hooks --------------------------------------------------------------- */

/* Also without memory: then it is one stream, slower, and nobody's loss. */
static void composite_init(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 w = tcp_snd_cwnd(tp), n = composite_wanted(sk), above = lf_param(pacing);
	struct composite_book *book;

	memset(ca, 0, sizeof(*ca));
	book = n > 1 ? kzalloc(struct_size(book, streams, n),
				GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT) : NULL;
	ca->book = book;
	ca->dealing = lf_param(seed) ?: get_random_u32();
	if (book) {
		lf_slow_start_begin(sk, &book->slow, lf_param(slow_start));
		book->pacing = 100 + int_sqrt(above * above / n);
		book->spread = ~ca->dealing;
	}
	ca->n = book ? n : 1;
	/* As with delayed acknowledgments, until others have come. */
	ca->covers = 2 << 16;
	ca->delivered = tp->delivered;
	/* Before what is yet to be delivered; the kernel may take one back. */
	ca->sent = tp->delivered - 2;
	ca->echo_end = lf_no_echo(sk);
	/*
	 * Selected in a loss event: what the event took of the window stays taken, and
	 * its marks are no new event.  Later losses in it are events.  Nobody knows who would
	 * rest, so no stream grows for as long as one would.
	 */
	if (tcp_in_cwnd_reduction(sk)) {
		w = min(w, max(tp->snd_ssthresh, 1U));
		ca->echo_end = tp->snd_nxt;
		ca->held = w < ca->n ? 5 * w : w;
	}
	ca->lost = tp->lost;
	ca->marked = tp->delivered_ce;
	ca->mss = tp->mss_cache;
	/* Selected in a pause, it restarts after that too. */
	ca->restarted = tp->lsndtime - 1;
	/* Fewer packets than streams: some have none yet. */
	composite_resize(ca, w, max(lf_first_ssthresh(sk), 2U), true);
	composite_trace(sk, COMPOSITE_INIT, 0);
	lf_need_pacing(sk);
	composite_pace(sk);
}

/* Also without ->init before it, and twice. */
static void composite_release(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);

	if (ca->burst && sk->sk_gso_max_segs == ca->burst)
		WRITE_ONCE(sk->sk_gso_max_segs, ca->burst_before);
	/* Not that of a gap for whoever comes next. */
	if (ca->book && ca->book->rate)
		lf_set_pacing_rate(sk, ca->book->rate);
	kfree(ca->book);
	memset(ca, 0, sizeof(*ca));
}

/* Who rests is told by the last packet that was sent of those delivered. */
static void composite_delivered(struct composite *ca, const struct rate_sample *rs)
{
	if (rs->prior_mstamp && after(rs->prior_delivered, ca->sent))
		ca->sent = rs->prior_delivered;
	if (ca->resting && !before(ca->sent, ca->rest_end))
		ca->resting = 0;
}

/* An acknowledgment that the streams are to know of. */
static noinline void composite_account(struct sock *sk, const struct rate_sample *rs)
{
	struct composite *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	/* After a SYN with data the kernel takes one delivery back. */
	u32 acked = max_t(s32, tp->delivered - ca->delivered, 0), cwnd = tcp_snd_cwnd(tp), w;
	u32 lost = max_t(s32, tp->lost - ca->lost, 0), held = min(acked, ca->held);
	bool echoed = lf_echoed(sk, &ca->echo_end);

	/* The answer to a SYN with data comes before ->init: zeroed state. */
	if (unlikely(!ca->n))
		return;
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	ca->held -= held;
	if (unlikely(tp->mss_cache != ca->mss))
		composite_rescale(sk);
	if (unlikely(lost))
		composite_losses(sk, lost, COMPOSITE_LOST);
	composite_delivered(ca, rs);
	if (unlikely(tp->delivered_ce != ca->marked)) {
		if (lf_marks_are_exact(tp))
			composite_losses(sk, tp->delivered_ce - ca->marked, COMPOSITE_MARKED);
		/* In Recovery, which can be long, the kernel answers no mark: streams do. */
		else if (tcp_in_cwnd_reduction(sk) && !echoed)
			composite_losses(sk, ca->n, COMPOSITE_ECHOED);
		ca->marked = tp->delivered_ce;
	}
	/* Is W what limits the sender?  Not while the window comes up to it. */
	if (cwnd < tp->snd_cwnd_clamp && cwnd - min(cwnd, lost) >= ca->sum - ca->sum / 8 &&
	    tcp_is_cwnd_limited(sk))
		composite_successes(sk, ca->slow && ca->book ?
				    composite_start(sk, acked - held) : acked - held);
	else
		composite_shrink(sk, lf_unused_window(sk));
	w = composite_window(ca, tcp_snd_cwnd(tp), acked, lost);
	lf_set_window(sk, w);
	/* The pacing rate is to follow the window and the RTT. */
	ca->quiet = ca->slow || ca->held ? 0 : min(ca->turn - 1, ca->sum / 8);
	if (tp->delivered - ca->paced >= w / 16)
		composite_pace(sk);
}

/*
 * In the first slow start most acknowledgments only let the stream grow whose turn it is.
 * Returns false, and does nothing, where there may be more to do.
 */
static bool composite_grows(struct sock *sk, u32 acked)
{
	struct composite *ca = inet_csk_ca(sk);
	struct composite_stream *s = composite_stream(ca, ca->at);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 grow = acked;

	if (s->ssthresh < TCP_INFINITE_SSTHRESH || acked - 1 >= ca->turn - 1 ||
	    ca->resting || ca->held || tp->delivered - ca->paced >= ca->sum / 16 ||
	    tcp_snd_cwnd(tp) >= tp->snd_cwnd_clamp ||
	    (ca->book && ca->book->slow.stage != LF_SS_OVER &&
	     !lf_train_goes_on(tp, &ca->book->slow, ca->sum, &grow)))
		return false;
	s->cwnd += grow;
	ca->sum += grow;
	ca->turn += acked - grow;
	ca->quiet = acked;
	return true;
}

/* Most acknowledgments end no turn and no rest, and let no stream grow. */
static void composite_control(struct sock *sk, const struct rate_sample *rs)
{
	struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = tp->delivered - ca->delivered, cwnd = tcp_snd_cwnd(tp);

	/*
	 * Of one mean an ACK is 1/128.  Of the other a packet is 1/512, and an ACK 1/8 at most.
	 * Only in Open: a receiver merges SACKs without GRO, too.
	 */
	if ((s32)acked > 0 && inet_csk(sk)->icsk_ca_state == TCP_CA_Open) {
		ca->covers += (s32)((min(acked, 2U) << 16) - ca->covers) >> 7;
		if (acked > 2 || ca->merged)
			ca->merged += (s32)min(acked, 64U) *
				      (((acked > 2) << 16) - (s32)ca->merged) >> 9;
	}
	if (tp->lost != ca->lost || tp->delivered_ce != ca->marked ||
	    tp->mss_cache != ca->mss || cwnd < ca->sum || !tp->is_cwnd_limited ||
	    (acked - 1 >= ca->quiet && !composite_grows(sk, acked))) {
		composite_account(sk, rs);
		return;
	}
	ca->delivered += acked;
	ca->quiet -= acked;
	ca->turn -= acked;
	if (ca->resting)
		composite_delivered(ca, rs);
	if (cwnd != ca->sum)
		lf_set_window(sk, composite_window(ca, cwnd, acked, 0));
}

/*
 * A loss event begins.  ->set_state or ->cong_control learn a little later which kind
 * it is and what was lost.
 */
static u32 composite_ssthresh(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	/* A lost SYN is a loss before ->init: zeroed state. */
	if (!ca->n)
		return max(tcp_snd_cwnd(tp) / 2, 2U);
	ca->prior_sum = ca->sum;
	ca->first = ca->slow == ca->n && composite_stream(ca, 0)->ssthresh >= TCP_INFINITE_SSTHRESH;
	/* Our own queue is not the path. */
	if (ca->book && ca->slow && ca->book->slow.stage != LF_SS_OVER &&
	    (tp->lost != ca->lost || tp->delivered_ce != ca->marked))
		composite_start_lost(sk);
	return max(ca->sum, 2U);
}

static void composite_set_state(struct sock *sk, u8 state)
{
	struct composite *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 lost = max_t(s32, tp->lost - ca->lost, 0), cwnd = tcp_snd_cwnd(tp);

	if (!ca->n)
		return;
	ca->quiet = 0;
	if (state == TCP_CA_Loss) {
		ca->lost = tp->lost;
		/*
		 * After a timeout the window is what is in flight plus one packet.
		 * Otherwise this is no congestion: the path became narrower, or an
		 * MTU probe failed, and too large packets are sent again.  Nor is a SYN.
		 */
		if (cwnd == tcp_packets_in_flight(tp) + 1 && sk->sk_state != TCP_SYN_SENT)
			composite_losses(sk, max(lost, 1U), COMPOSITE_TIMEOUT);
	} else if (state == TCP_CA_Recovery && lost) {
		/* Also by a timer, where no acknowledgment follows. */
		ca->lost = tp->lost;
		composite_losses(sk, lost, COMPOSITE_LOST);
		lf_set_window(sk, composite_window(ca, cwnd, 0, lost));
		composite_pace(sk);
	} else if (state == TCP_CA_CWR && tp->delivered_ce == ca->marked) {
		/* No mark, or before 5.18 one that is counted after this. */
		composite_losses(sk, 1, COMPOSITE_MARKED);
	}
}

/* The loss event was spurious, and W is what it was. */
static u32 composite_undo_cwnd(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp), w = max(ca->sum, ca->prior_sum);
	u32 goal = ca->first ? TCP_INFINITE_SSTHRESH : tp->prior_ssthresh;

	if (!ca->n)
		return cwnd;
	/* Slow start goes on, a later one as well, to where the kernel's does. */
	if (ca->prior_sum)
		composite_resize(ca, w, goal > w ? goal : 0, ca->first);
	if (ca->book && ca->first)
		lf_slow_start_undo(sk, &ca->book->slow);
	/* Nothing more is to be undone of it. */
	ca->prior_sum = 0;
	ca->resting = 0;
	ca->lost = tp->lost;
	composite_trace(sk, COMPOSITE_UNDO, ca->at);
	return max(cwnd, min(ca->sum, tp->prior_cwnd));
}

/* After a pause W restarts as one Reno sender would; streams keep their parts. */
static void composite_tx_start(struct sock *sk)
{
	struct composite *ca = inet_csk_ca(sk);

	if (ca->n)
		composite_shrink(sk, lf_restart_window(sk, &ca->restarted,
						       tcp_snd_cwnd(tcp_sk(sk))));
}

/*
 * 2^64 / d, rounded up, for the divisors of a mean gap: the upper half of x times it is x / d,
 * exactly for x below 2^50.
 */
#define COMPOSITE_PARTS(a)							\
	U64_MAX / ((a) * 15) + 1, U64_MAX / ((a) * 29) + 1, U64_MAX / ((a) * 43) + 1,	\
	U64_MAX / ((a) * 57) + 1, U64_MAX / ((a) * 71) + 1, U64_MAX / ((a) * 85) + 1,	\
	U64_MAX / ((a) * 99) + 1, U64_MAX / ((a) * 113) + 1

static const u64 composite_parts[] = {
	COMPOSITE_PARTS(15), COMPOSITE_PARTS(29), COMPOSITE_PARTS(43), COMPOSITE_PARTS(57),
	COMPOSITE_PARTS(71), COMPOSITE_PARTS(85), COMPOSITE_PARTS(99), COMPOSITE_PARTS(113),
};

/*
 * Comes each time before TCP hands down what it may.  Returns the burst, and sets the gap
 * after it: the mean one times two factors, each of 15/64, 29/64 .. 113/64, and 1 on
 * average.  A hash of what was sent chooses them, so who asks twice gets the same until
 * the pace is set anew.
 */
static u32 composite_min_tso_segs(struct sock *sk)
{
	const struct composite *ca = inet_csk_ca(sk);
	const struct composite_book *book = ca->book;
	u64 rate = book ? book->rate : 0;
	u32 r;

	if ((ca->n && lf_after_idle(sk, ca->restarted)) || !rate)
		return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
	if (tcp_snd_cwnd(tcp_sk(sk)) >= 2U * ca->burst) {
		r = hash_32(tcp_sk(sk)->data_segs_out ^ book->spread, 32);
		r = hash_32(r ^ r >> 15, 6);
		if (book->even) {
			r = (15 + 14 * (r / 8)) * (15 + 14 * (r % 8));
			rate = div_u64(rate << 12, book->even + ((4096 - book->even) * r >> 12));
		} else {
			rate = mul_u64_u64_shr(rate << 12, composite_parts[r], 64);
		}
	}
	lf_set_pacing_rate(sk, rate);
	return ca->burst;
}

LF_DEFINE_TSO_SEGS(composite)
LF_DEFINE_TX_START(composite)
LF_DEFINE_CONG_CONTROL(composite)

/* --- registration -------------------------------------------------------- */

static const struct tcp_congestion_ops composite_hooks = {
	.init		= composite_init,
	.release	= composite_release,
	.cong_control	= composite_cong_control,
	.ssthresh	= composite_ssthresh,
	.set_state	= composite_set_state,
	.undo_cwnd	= composite_undo_cwnd,
	.get_info	= lf_get_info,
	LF_OPS_TSO_SEGS(composite),
	LF_OPS_TX_START(composite),
	/* No flags: restricted, as it takes N shares by design. */
	.owner		= THIS_MODULE,
};

static void composite_unregister(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(composite_ops); i++)
		if (composite_ops[i].owner)
			tcp_unregister_congestion_control(&composite_ops[i]);
}

/*
 * A socket may hold a name as soon as it is registered, and then this module must not go.
 * So where another module has one of the names, the others are registered all the same.
 * Not __init, as the tests call it.
 */
static int composite_register(void)
{
	int err = 0;
	u32 i, names = 0;

	BUILD_BUG_ON(sizeof(struct composite) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(offsetof(struct composite, sent) > 64);
	BUILD_BUG_ON(sizeof(struct composite_book) + 64 * sizeof(struct composite_stream) > 1024);
	for (i = 0; i < ARRAY_SIZE(composite_ops); i++) {
		struct tcp_congestion_ops ops = composite_hooks;

		strscpy(ops.name, composite_ops[i].name, sizeof(ops.name));
		composite_ops[i] = ops;
		err = tcp_register_congestion_control(&composite_ops[i]);
		names += !err;
		if (!err)
			continue;
		pr_warn("%s is not registered, error %d: has another module this name?\n",
			composite_ops[i].name, err);
		composite_ops[i].owner = NULL;
	}
	return names ? 0 : err;
}

module_init(composite_register);
module_exit(composite_unregister);

MODULE_ALIAS("tcp_composite-4");
MODULE_ALIAS("tcp_composite-8");
MODULE_ALIAS("tcp_composite-16");
MODULE_ALIAS("tcp_composite-32");
MODULE_ALIAS("tcp_composite-64");
MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(LF_VERSION);
MODULE_DESCRIPTION("Composite: N virtual streams in one TCP connection");
