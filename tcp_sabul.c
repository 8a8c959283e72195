// SPDX-License-Identifier: GPL-2.0
/*
 * SABUL: control of the rate, not of the window
 *
 * Gu, Hong, Mazzucco, Grossman: "Rate Based Congestion Control over High
 * Bandwidth/Delay Links", 2002.  Equation, table and section numbers below are
 * that paper's.
 *
 * The idea.  The sender controls delta, the interval between two packets.  Every T
 * of real time, whatever the round-trip time, it changes delta by rho, the share of
 * packets lost in that time (section 3.1, method 11):
 *
 *	rho = LOSS / SENT of the last T
 *
 *	rho > alpha	delta <- delta (1 + k1 (rho - alpha)) + c	(1)
 *	rho < alpha	delta <- delta (1 + k2 (rho - alpha))		(2)
 *	rho = alpha	delta <- delta + d				(3)
 *	L > V		delta <- delta + b, at once			(4)
 *
 * L is the number of losses since the last change.  Table 2:
 *
 *	T      alpha   k1      k2   c     b       d       V
 *	20 ms  0.001   0.125   10   2 us  0.5 us  0.1 us  10
 *
 * Without loss the rate grows by 1 % in 20 ms, two thirds in a second, on any
 * path.  An increase is a factor.  A decrease adds the same time to every flow's
 * interval, which takes more from a fast flow than from a slow one.  So rates
 * become equal.
 *
 * By default this module has another law, made of these equations: an overflow is
 * answered once, with a limited step, and growth back to it is slow (differences 2
 * to 4).  The paper's law answers the losses of one overflow in each T in which they
 * arrive.  On 1 Gbit/s x 200 ms a flow has 26 % of the link by it.  With
 *
 *	cap=N once=N probe=0
 *
 * the law is the paper's.
 *
 * The kernel paces, with fq or without it: delta becomes sk_pacing_rate.  The
 * congestion window is only a ceiling: twice the rate times the smoothed RTT, plus
 * some packets.
 *
 * A connection is in one of three modes:
 *
 *	first	the first slow start, up to a loss or until the path is full
 *		(include/longfat/slow_start.h)
 *	start	a later one, the kernel's, up to a loss or to ssthresh
 *	rate	the law above
 *
 * After a loss, slow start ends with the rate at which the last round trip was
 * delivered, less an answer by (1); otherwise with the window per smoothed RTT.  Where the
 * first ends without a loss, the first loss after it is answered from the rate of
 * delivery.  A retransmission timeout
 * ends rate mode: one packet, and slow start up to half of the window.  The window is
 * rate times smoothed RTT here, so it counts what waits in a queue.  A pause longer
 * than the retransmission timeout ends rate mode, too: the window is halved for each
 * timeout that passed, down to ten packets, and slow start goes up to three quarters of
 * what it was, or to ssthresh if that is more, but not beyond what it was.
 *
 * Differences from the paper
 *
 *  1. (5) puts + c inside of the product and (6) has k1 for k2; (1) and (2) are
 *     what is meant, as (13) shows.
 *  2. c, b and d are times.  At 10 Gbit/s (1.2 us between packets) one decrease by c
 *     would leave 37 % of the rate.  So each is at most the share that it has at 1
 *     Gbit/s and 1500 bytes, 12 us: c 1/6 of delta, b 1/24, d 1/120.  cap=N: as in
 *     the paper.
 *  3. T is shorter than many round trips.  So the losses of one overflow would be
 *     answered many times, more often the longer the RTT is.  Here an overflow is
 *     answered once: by (1) or (3) at the end of the interval, and by at most one (4)
 *     in it.
 *     Losses count again when a packet is acknowledged that was sent after the answer
 *     and the reordering distance, and ten T later at the earliest.  Otherwise a flow
 *     with a short RTT would answer twice before one with a long RTT knows, and would
 *     have less for ever.  An interval with losses that do not count leaves the rate as
 *     it is.  An interval with less loss than alpha lets it grow, also within the same
 *     round trip.
 *     once=N: as in the paper.
 *     c takes less from a slow flow than ten T of growth give, so loss would go on: at
 *     5 Mbit/s, of every fifth packet.  So an answer less than ten T after losses count
 *     again doubles its c, up to 1/6 of delta.  A later answer halves it, down to c.  (A
 *     fixed share in its place left one of two flows next to nothing, in a trial on the
 *     paths of sabul-slow.toml.)
 *     Where a round trip takes more than twenty T, an answer with more than c begins from
 *     the rate at which packets are delivered.
 *  4. A sender learns of an overflow one round trip and a queue late.  At 150 ms, with
 *     growth of 1 % in 20 ms, the rate would be 7 % too high by then, and at a full
 *     queue all of that is lost.  So the law's growth ends halfway back to the rate that
 *     the last answer began from.  From there on growth is 2^-probe of the law's, or
 *     half a packet more in each T if that is more (but at most 1/512 of the rate in
 *     the first second).  It doubles after each four seconds, up to the law's.  Half a
 *     packet is much for a slow flow and little for a fast one, so a late flow catches
 *     up (sabul-offsets.toml).  What the rate grows by until an overflow is known is lost
 *     (sabul-deep.toml).  So where a round trip takes more than ten T, the half packet is
 *     multiplied by (ten T / round trip)^2, and growth doubles after each four round trips
 *     if that is later, for a minute.  Selected by a connection that has lost packets, or of
 *     which some were marked, it assumes that this came of the present rate, and begins with
 *     that; its first answer is 1/17 of the rate or more, by how fast it is (unless once=N).
 *     probe=0: as in the paper.
 *  5. The paper begins with a configured rate; here slow start finds it.  Where that
 *     found the path full, the law's growth ends with it, as by difference 4.
 *     slow_start=classic: the kernel's slow start, up to a loss.
 *  6. The rate does not grow in an interval in which it was not used, because the
 *     application, the receiver or a window limited the sender; nor above what
 *     SO_MAX_PACING_RATE lets out.  If application or receiver limit it for a
 *     retransmission timeout, that counts as a pause, and the window falls halfway to what
 *     was used (include/longfat/idle.h): an old rate says little of the path.  Where the
 *     send buffer is full nothing falls: so a slow receiver costs nothing of the rate.  With
 *     net.ipv4.tcp_slow_start_after_idle=0 nothing falls, and there is no restart after a
 *     pause.
 *  7. Several T may pass between two acknowledgments.  Then losses are answered once;
 *     without loss the growth of each T is made up for, of eight at most.
 *  8. No slower than two packets per RTT; below that there are timeouts.  The RTT is the
 *     mean or that of the newest packet, whichever is less: after an outage the mean is long
 *     for a minute.
 *  9. An ECN mark, or congestion of the sender's own queue, counts as a loss ratio
 *     above alpha, once for each round trip and once in recovery.  A timeout also
 *     answers the marks before it.
 * 10. After a spurious loss event the interval of before it is restored, unless packets
 *     changed their size in it.
 * 11. Senders as even as clockwork lock in step behind a full queue: one always finds
 *     room and another never does.  So the interval after a burst is between 15/16 and
 *     17/16 of delta, by a hash, and delta on average.  Under fq TCP hands down 1/1024 s
 *     at once; the bursts in it have the same interval.
 * 12. The kernel chooses the size of a burst; its lower bound is one packet, always, and
 *     not tcp_min_tso_segs.  If an RTT is less than 8 ms, a burst is an eighth of the RTT
 *     instead of 1 ms, unless a driver has chosen (sk_pacing_shift); but with the kernel's
 *     tcp_tso_rtt_log of 9 up to 64 KB are added to that below 4 ms.
 * 13. tcp_pacing_ss_ratio holds in slow start and tcp_pacing_ca_ratio near its end, as
 *     for the kernel's own.  Afterwards neither does: they make a rate of a window, and
 *     here the rate is what the law controls.
 *
 * Notes.  A connection reads the parameters when it starts (or selects sabul) and
 * keeps them.  There is no timer: an interval ends with the first acknowledgment
 * after T, by TCP's clock.  Trace event: longfat:sabul.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/compat.h>
#include <longfat/control.h>
#include <longfat/idle.h>
#include <longfat/marks.h>
#include <longfat/pacing.h>
#include <longfat/params.h>
#include <longfat/register.h>
#include <longfat/slow_start.h>
#include <longfat/tso.h>
#include <longfat/version.h>

/* Why a trace event was emitted. */
enum sabul_reason {
	SABUL_INIT,		/* the connection started or selected sabul */
	SABUL_RATE,		/* slow start is over */
	SABUL_INCREASE,		/* (2) */
	SABUL_HOLD,		/* losses that were answered before */
	SABUL_UNUSED,		/* the rate was not used */
	SABUL_DECREASE,		/* (1) */
	SABUL_EQUAL,		/* (3) */
	SABUL_FAST,		/* (4) */
	SABUL_TIMEOUT,		/* slow start again */
	SABUL_IDLE,		/* slow start again */
	SABUL_UNDO,		/* the decrease was spurious */
};

#define LF_TRACE_NAME		sabul
#define LF_TRACE_REASONS						\
	{ SABUL_INIT, "init" }, { SABUL_RATE, "rate" },			\
	{ SABUL_INCREASE, "increase" }, { SABUL_HOLD, "hold" },		\
	{ SABUL_UNUSED, "unused" }, { SABUL_DECREASE, "decrease" },	\
	{ SABUL_EQUAL, "equal" }, { SABUL_FAST, "fast" },		\
	{ SABUL_TIMEOUT, "timeout" }, { SABUL_IDLE, "idle" },		\
	{ SABUL_UNDO, "undo" }
/*
 * delta in 2^-10 ns; LOSS and SENT of the interval; bytes per second.  delta is 0
 * in slow start.
 */
#define LF_TRACE_FIELDS(F)						\
	F(u64, interval_q10) F(u32, lost) F(u32, sent) F(u64, rate)
#define CREATE_TRACE_POINTS
#include <longfat/trace.h>

LF_PARAM_UINT(t, 20, 1, 1000, "T, milliseconds");
LF_PARAM_UINT(alpha, 1000, 1, 10000, "loss ratio that is tolerated, in 10^-6");
LF_PARAM_UINT(k1, 125, 1, 1000, "gain of decreases, in 1/1000");
LF_PARAM_UINT(k2, 10000, 1, 50000, "gain of increases, in 1/1000");
LF_PARAM_UINT(c, 2000, 1, 10000, "decrease, nanoseconds");
LF_PARAM_UINT(b, 500, 1, 10000, "fast reaction, nanoseconds");
LF_PARAM_UINT(d, 100, 1, 10000, "step at the equilibrium, nanoseconds");
LF_PARAM_UINT(v, 10, 1, 255, "losses that a fast reaction needs more than");
LF_PARAM_UINT(probe, 4, 0, 6, "growth beyond the last overflow, 2^-this of the law's");
LF_PARAM_BOOL(cap, true, "hold c, b, d to their share at 1 Gbit/s");
LF_PARAM_BOOL(once, true, "answer an overflow once");
LF_PARAM_ENUM(slow_start, LF_TRAIN, "how the first slow start ends, default train",
	      "train", "hystart++", "limited", "classic");

/*
 * delta in nanoseconds, 30 bits of fraction: 8 ns, 1448 Gbit/s of 1448 bytes, to
 * 4.3 s, below 2^62.  One update is exact to 2^-32 of delta.
 */
#define SABUL_SHIFT	30
#define SABUL_MIN	BIT_ULL(SABUL_SHIFT + 3)
#define SABUL_MAX	(BIT_ULL(SABUL_SHIFT + 32) - 1)

/* Where c, b and d stop being times and become shares: 1500 bytes at 1 Gbit/s. */
static const u32 sabul_cap_ns = 12000;

/* Loss ratios, 36 bits of fraction: alpha to 10^-8 of its smallest value. */
#define SABUL_RATIO_SHIFT	36
#define SABUL_RATIO_ONE		BIT_ULL(SABUL_RATIO_SHIFT)

/* Most intervals that one acknowledgment ends. */
static const u32 sabul_catch_up = 8;

/*
 * An overflow is answered again after so many intervals at the earliest.  An answer within
 * as many after losses count again is twice as strong as the last, by 2^12 at most.
 */
static const u32 sabul_rest = 10;
static const u32 sabul_strongest = 12;

/* Growth beyond the last overflow is at most 2^-9 for so long. */
static const u32 sabul_gentle_ms = MSEC_PER_SEC;
static const u32 sabul_gentle = 9;

/* How long growth beyond the last overflow keeps a pace before it doubles. */
static const u32 sabul_probe_ms = 4 * MSEC_PER_SEC;

/* Packets above twice rate x RTT: for short paths, and what is sent at once. */
static const u32 sabul_headroom = 10;

enum sabul_mode {
	SABUL_NONE,		/* ->init was never called */
	SABUL_FIRST,
	SABUL_START,
	SABUL_BY_RATE,
};

struct sabul {
	union {
		struct {	/* not in SABUL_FIRST, see sabul_fresh() */
			u64	delta;	/* ns << SABUL_SHIFT; in SABUL_BY_RATE */
			u64	known;	/* up to which growth is the law's, or 0 */
			u64	prior_delta;	/* when this loss event began */
			u32	mark;	/* delivered when the last decrease took
					 *   effect
					 */
			u32	mark_us;	/* then, or when losses counted again;
						 *   wraps after 71 minutes
						 */
		};
		struct lf_slow_start slow;	/* in SABUL_FIRST */
	};
	u32	begin_us;	/* of the interval, low bits of tp->tcp_mstamp */
	u32	sent;		/* tp->data_segs_out, tp->lost then */
	u32	lost;
	u32	fresh;		/* tp->lost, what is above is not answered yet */
	u32	marked;		/* tp->delivered_ce that is known */
	u32	echo_end;	/* of a mark that was answered, see marks.h */
	u32	newest;		/* delivered when the last packet acknowledged
				 *   was sent
				 */
	u32	restarted;	/* tp->lsndtime when it restarted after idle */
	u32	alpha;		/* parameters of this connection; << SABUL_RATIO_SHIFT */
	u16	probed_ms;	/* intervals of growth beyond @known, added up */
	u16	mss;		/* bytes; what delta counts */
	u16	t_ms;		/* parameters of this connection */
	u16	k1, k2, c, b, d;
	u8	v;
	u8	mode : 2;
	u8	prior_mode : 2;	/* when this loss event began */
	u8	decreased : 1;	/* since then */
	u8	congested : 1;	/* a mark, or our own queue, in this interval */
	u8	fast : 1;	/* (4), in this interval */
	u8	waiting : 1;	/* for a packet that was sent after @mark */
	u8	probe : 3, cap : 1, once : 1, slow_way : 2;	/* parameters again */
	u8	found : 1;	/* slow start ended without a loss, and none came since */
	u8	asked : 1;	/* in first, when this loss event began: whose queue is it */
	u8	strength : 4;	/* (1) adds 2^this times c */
	u8	shift;		/* sk_pacing_shift as we set it, or 0 */
};

/* --- the law ------------------------------------------------------------- */

static u64 sabul_clamp(u64 delta)
{
	return clamp_t(u64, delta, SABUL_MIN, SABUL_MAX);
}

/* LOSS / SENT << SABUL_RATIO_SHIFT, at most 1. */
static u64 sabul_ratio(u32 lost, u32 sent)
{
	if (lost >= sent)
		return lost ? SABUL_RATIO_ONE : 0;
	/* 2^27 packets in an interval are more than there can be. */
	return div_u64((u64)min_t(u32, lost, BIT(27)) << SABUL_RATIO_SHIFT, sent);
}

/*
 * @delta k @off, with k in 1/1000 and @off a difference of ratios; at most delta,
 * where all is lost and k1 is at its largest.  No overflow: off is at most 2^36, k below
 * 2^16.
 */
static u64 sabul_share(u64 delta, u32 k, u64 off)
{
	u64 share = div_u64(off * k + 500, 1000);

	share = (share + BIT(SABUL_RATIO_SHIFT - 33)) >> (SABUL_RATIO_SHIFT - 32);
	return mul_u64_u32_shr(delta, min_t(u64, share, U32_MAX), 32);
}

/* c, b or d, @ns below 12000, and what is left of it where delta is short. */
static u64 sabul_step(const struct sabul *ca, u32 ns)
{
	if (ca->cap && ca->delta < (u64)sabul_cap_ns << SABUL_SHIFT)
		return mul_u64_u32_shr(ca->delta, div_u64((u64)ns << 32, sabul_cap_ns), 32);
	return (u64)ns << SABUL_SHIFT;
}

/* (1) and (3): @rho is alpha or more. */
static void sabul_decrease(struct sabul *ca, u64 rho)
{
	u64 off = rho - min_t(u64, rho, ca->alpha), before = ca->delta;
	u64 step = sabul_step(ca, off ? ca->c : ca->d);

	/* Up to the part of delta that is c's largest by itself. */
	if (off)
		step = max(step, min(step << ca->strength, div_u64(before, 6)));
	/* No overflow: less than 2^62, as much by k1, and a sixth. */
	ca->delta = sabul_clamp(before + sabul_share(before, ca->k1, off) + step);
	ca->known = before + (ca->delta - before) / 2;
	ca->probed_ms = 0;
}

/*
 * How much less delta becomes where packets may be lost, as @law has it elsewhere.  An
 * overflow is known a round trip later, of @rtt_ms.
 */
static u64 sabul_probing(const struct sabul *ca, u64 law, u32 rtt_ms)
{
	u32 rest_ms = sabul_rest * ca->t_ms;
	u32 ramp = min_t(u32, ca->probed_ms / max(sabul_probe_ms, 4 * rtt_ms), ca->probe);
	u64 twice = (u64)ca->t_ms * (2 * NSEC_PER_MSEC), half = ca->delta;

	/* Half a packet in each interval; T is less than 2^30 ns. */
	half = mul_u64_u32_shr(half, min_t(u64, U32_MAX,
					   div_u64(half << (32 - SABUL_SHIFT), twice)), 32);
	if (rtt_ms > rest_ms)
		half = mul_u64_u32_shr(half, div64_u64((u64)rest_ms * rest_ms << 32,
						       (u64)rtt_ms * rtt_ms), 32);
	if (ca->probed_ms < sabul_gentle_ms)
		half = min(half, ca->delta >> sabul_gentle);
	/* As min(law, half << ramp), which might overflow. */
	return half > law >> ramp ? law : max(law >> ca->probe, half) << ramp;
}

/* (2), @n times: @rho is less than alpha. */
static void sabul_increase(struct sabul *ca, u64 rho, u32 n, u32 rtt_ms)
{
	while (n--) {
		u64 less = sabul_share(ca->delta, ca->k2, ca->alpha - rho);

		if (ca->probe && ca->delta <= ca->known) {
			less = sabul_probing(ca, less, rtt_ms);
			ca->probed_ms = min(ca->probed_ms + ca->t_ms, 60000);
		}
		ca->delta = sabul_clamp(ca->delta - less);
	}
}

/* --- rates and windows --------------------------------------------------- */

/* Bytes per second at @delta, which is 4 ns or more. */
static u64 sabul_bytes(const struct sabul *ca, u64 delta)
{
	return div64_u64(((u64)ca->mss * NSEC_PER_SEC) << 16, delta >> (SABUL_SHIFT - 16));
}

/* The interval of @n packets in @us microseconds. */
static u64 sabul_interval(u32 us, u32 n)
{
	/* No overflow, and 4.3 s are the longest interval. */
	return sabul_clamp(div_u64((u64)min_t(u32, us, 8500000) * NSEC_PER_USEC <<
				   SABUL_SHIFT, max(n, 1U)));
}

/* A round trip, microseconds: the mean, or the newest packet's if that is shorter. */
static u32 sabul_rtt(const struct tcp_sock *tp)
{
	return min(tp->srtt_us >> 3, tp->rack.rtt_us ?: U32_MAX);
}

/* The window; in rate mode the packets in one smoothed RTT at this rate, at least 1. */
static u32 sabul_window(const struct sock *sk)
{
	const struct sabul *ca = inet_csk_ca(sk);
	u64 ns = (u64)tcp_sk(sk)->srtt_us * (NSEC_PER_USEC / 8);

	if (ca->mode != SABUL_BY_RATE)
		return tcp_snd_cwnd(tcp_sk(sk));
	return clamp_t(u64, div64_u64(ns << 16, ca->delta >> (SABUL_SHIFT - 16)), 1, BIT(29));
}

/* In slow start: as the kernel's own, slower near its end.  A ratio of 0 is no pacing. */
static u64 sabul_start_rate(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = max(tcp_snd_cwnd(tp), tcp_packets_in_flight(tp));
	u64 rate = min(lf_window_rate(window, tp->mss_cache, tp->srtt_us), BIT_ULL(40));
	u32 percent = lf_pacing_ratio(sk, window < tp->snd_ssthresh / 2);

	return percent ? div_u64(rate * percent, 100) : U64_MAX;
}

/*
 * Pacing rate, window and burst, as the mode has it.  A burst is an eighth of a round trip, at
 * most 1 ms.  The kernel's 1 ms also bounds how much may wait in the device, so it stays on
 * paths that are long enough.  So does what a driver has set.
 */
static void sabul_apply(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);
	u32 rtt = clamp_t(u32, tcp_min_rtt(tp), 1, USEC_PER_SEC);
	u8 shift = READ_ONCE(sk->sk_pacing_shift);

	if (!tp->srtt_us)
		return;
	if (ca->mode == SABUL_BY_RATE) {
		/* No slower than two packets per RTT, as Reno after a loss. */
		ca->delta = min(ca->delta, sabul_interval(sabul_rtt(tp), 2));
		lf_set_window(sk, 2 * sabul_window(sk) + sabul_headroom);
		/*
		 * fq was taken from under the connection if departures lie further ahead than
		 * TCP Small Queues let it hold packets, a burst or two; nobody tells.  What
		 * leaves before its time has too short a round trip, 0 at worst.  So TCP paces
		 * itself.
		 */
		if (tp->tcp_wstamp_ns > tp->tcp_clock_cache +
		    8 * max(ca->delta >> SABUL_SHIFT, (u64)NSEC_PER_SEC >> shift))
			cmpxchg(&sk->sk_pacing_status, SK_PACING_FQ, SK_PACING_NEEDED);
	}
	lf_set_pacing_rate(sk, ca->mode == SABUL_BY_RATE ? sabul_bytes(ca, ca->delta) :
							    sabul_start_rate(sk));
	if (shift == LF_PACING_SHIFT || shift == ca->shift) {
		ca->shift = clamp(ilog2(8 * USEC_PER_SEC / rtt) + 1, LF_PACING_SHIFT, 20);
		WRITE_ONCE(sk->sk_pacing_shift, ca->shift);
	}
}

static void sabul_trace(const struct sock *sk, enum sabul_reason why)
{
	const struct sabul *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	trace_sabul(sk, why, tcp_snd_cwnd(tp),
		    ca->mode == SABUL_BY_RATE ? ca->delta >> (SABUL_SHIFT - 10) : 0,
		    tp->lost - ca->lost, tp->data_segs_out - ca->sent,
		    READ_ONCE(sk->sk_pacing_rate));
}

/* --- intervals ----------------------------------------------------------- */

/* An interval begins. */
static void sabul_begin(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);

	ca->begin_us = (u32)tp->tcp_mstamp;
	ca->sent = tp->data_segs_out;
	ca->lost = tp->lost;
	ca->fresh = tp->lost;
	ca->congested = 0;
	ca->fast = 0;
}

/* Nothing was answered yet, and no rate is known. */
static void sabul_fresh(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);

	ca->known = 0;
	ca->mark = ca->newest;
	ca->mark_us = (u32)tcp_sk(sk)->tcp_mstamp - sabul_rest * ca->t_ms * USEC_PER_MSEC;
}

/* Does what comes now tell of what was sent since the last answer? */
static bool sabul_again(const struct sabul *ca)
{
	return ca->mode == SABUL_FIRST || !ca->once || !before(ca->newest, ca->mark);
}

/* What is sent from now on is sent more slowly. */
static void sabul_answered(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);

	ca->mark = tcp_sk(sk)->delivered;
	ca->mark_us = (u32)tcp_sk(sk)->tcp_mstamp;
	ca->waiting = ca->once;
	ca->decreased = 1;
}

static void sabul_enter(struct sock *sk, enum sabul_mode mode, enum sabul_reason why)
{
	struct sabul *ca = inet_csk_ca(sk);

	ca->mode = mode;
	ca->waiting = 0;
	sabul_begin(sk);
	sabul_apply(sk);
	sabul_trace(sk, why);
}

/*
 * Slow start from @w, 0: none, up to three quarters of what the window, or the rate, is now.
 * If ssthresh was more, up to that, but in rate mode not beyond what the rate gives now.
 */
static void sabul_restart(struct sock *sk, u32 w)
{
	struct sabul *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = sabul_window(sk);

	if (!w)
		return;
	if (ca->mode == SABUL_BY_RATE || tp->snd_ssthresh <= cwnd)
		tp->snd_ssthresh = max(clamp(tp->snd_ssthresh, cwnd - cwnd / 4, cwnd), 2U);
	lf_set_window(sk, w);
	sabul_enter(sk, ca->mode == SABUL_FIRST ? SABUL_FIRST : SABUL_START, SABUL_IDLE);
}

/* The window, or the rate, is not what limits the sender: as include/longfat/idle.h. */
static void sabul_unused(struct sock *sk)
{
	lf_set_window(sk, sabul_window(sk));
	sabul_restart(sk, lf_unused_window(sk));
}

/* Down to the rate at which packets were delivered, but not below half the rate. */
static void sabul_delivered(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);

	if (tp->rate_interval_us && tp->rate_delivered)
		ca->delta = clamp_t(u64, sabul_interval(tp->rate_interval_us, tp->rate_delivered),
				    ca->delta, 2 * ca->delta);
}

/* The interval is over. */
static void sabul_update(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);
	u32 sent = tp->data_segs_out - ca->sent;
	u32 us = (u32)tp->tcp_mstamp - ca->begin_us, t = ca->t_ms * USEC_PER_MSEC;
	u32 rtt = sabul_rtt(tp);
	u64 rho = sabul_ratio(tp->lost - ca->lost, sent);
	u64 fresh = ca->once ? sabul_ratio(tp->lost - ca->fresh, sent) : rho;
	enum sabul_reason why = SABUL_HOLD;
	u64 most = READ_ONCE(sk->sk_max_pacing_rate), longest = ca->delta + (ca->delta >> 4);
	/* Where that holds the longest interval, too, growth would change nothing. */
	u32 n = sabul_bytes(ca, longest) > most ? 0 :
		min(us / t + (us % t > t / 2), sabul_catch_up);

	if (ca->congested)
		fresh = max(fresh, ca->alpha + 1ULL);
	if (fresh >= ca->alpha) {
		why = fresh > ca->alpha ? SABUL_DECREASE : SABUL_EQUAL;
		/* The last answer was not enough if another one follows it soon. */
		if ((u32)tp->tcp_mstamp - ca->mark_us >= sabul_rest * t)
			ca->strength -= !!ca->strength;
		else if (ca->once && ca->strength < sabul_strongest)
			ca->strength++;
		if (ca->found || (ca->strength && rtt > 2 * sabul_rest * t))
			sabul_delivered(sk);
		ca->found = 0;
		sabul_decrease(ca, fresh);
		sabul_answered(sk);
	} else if (rho < ca->alpha) {
		/* Used, if it brought three quarters of its packets, or nearly. */
		why = sent && mul_u64_u32_shr(ca->delta, sent + 2, SABUL_SHIFT) >= us * 750ULL ?
		      SABUL_INCREASE : SABUL_UNUSED;
		if (why == SABUL_INCREASE)
			sabul_increase(ca, rho, n, rtt / USEC_PER_MSEC);
		else
			sabul_unused(sk);
	}
	sabul_apply(sk);
	sabul_trace(sk, why);
	sabul_begin(sk);
}

/* In rate mode: an acknowledgment came. */
static void sabul_by_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);

	if (ca->waiting)
		ca->fresh = tp->lost;
	/* (4): L is too large to wait for the interval's end.  Once in it, or as the paper. */
	if (unlikely(tp->lost - ca->fresh > ca->v) && !ca->fast) {
		ca->fast = ca->once;
		if (!ca->once)
			ca->fresh = tp->lost;
		ca->decreased = 1;
		ca->delta = sabul_clamp(ca->delta + sabul_step(ca, ca->b));
		sabul_apply(sk);
		sabul_trace(sk, SABUL_FAST);
	}
	if (unlikely((u32)tp->tcp_mstamp - ca->begin_us >= ca->t_ms * USEC_PER_MSEC))
		sabul_update(sk);
}

/* --- slow start ---------------------------------------------------------- */

/* In slow start: an acknowledgment came. */
static void sabul_slow_start(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);
	bool lost, first = ca->mode == SABUL_FIRST;

	/* Until all of before the timeout is acknowledged, as the core. */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		ca->lost = tp->lost;
	lost = tp->lost != ca->lost || ca->congested;
	if (!tp->srtt_us)
		return;
	if (!lost && tcp_in_slow_start(tp)) {
		if (!tcp_is_cwnd_limited(sk))
			sabul_unused(sk);
		else if (acked)
			lf_slow_start(sk, first ? &ca->slow : NULL, acked);
		/* The pace follows the window, sixteen times in a round trip. */
		if ((u32)tp->tcp_mstamp - ca->begin_us >= tp->srtt_us >> (3 + 4)) {
			sabul_begin(sk);
			sabul_apply(sk);
		}
		return;
	}
	/* It is over, by loss or because the window is at ssthresh. */
	if (first)
		sabul_fresh(sk);
	ca->delta = sabul_interval(tp->srtt_us >> 3, tcp_snd_cwnd(tp));
	ca->found = first && !lost;
	if (lost) {
		sabul_delivered(sk);
		sabul_decrease(ca, ca->alpha + 1ULL);
		/* A burst of slow start says little of what the path carries. */
		ca->known = 0;
	} else if (first) {
		/* The path is full with that. */
		ca->known = ca->delta;
		ca->probed_ms = 0;
	}
	sabul_enter(sk, SABUL_BY_RATE, SABUL_RATE);
	/* What a timeout answered is still being counted. */
	if (lost || inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		sabul_answered(sk);
}

/* --- hooks --------------------------------------------------------------- */

static void sabul_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);

	*ca = (struct sabul){
		.t_ms = lf_param(t), .v = lf_param(v), .probe = lf_param(probe),
		.k1 = lf_param(k1), .k2 = lf_param(k2), .cap = lf_param(cap),
		.c = lf_param(c), .b = lf_param(b), .d = lf_param(d), .once = lf_param(once),
		.alpha = div_u64((u64)lf_param(alpha) << SABUL_RATIO_SHIFT, 1000000),
		.slow_way = lf_param(slow_start),
		.mss = clamp_t(u32, tp->mss_cache, 1, U16_MAX),
		.marked = tp->delivered_ce, .echo_end = lf_no_echo(sk),
		.newest = tp->delivered - 1,
		/* Selected in a pause, it restarts after that too. */
		.restarted = tp->lsndtime - 1,
	};
	sabul_fresh(sk);
	lf_need_pacing(sk);
	/*
	 * Selected after losses of data, or marks: they may have come of this rate, and answers
	 * may have been strong.
	 */
	if ((tp->lost || tp->delivered_ce) && tp->data_segs_out > tp->syn_data && tp->srtt_us) {
		ca->known = sabul_interval(tp->srtt_us >> 3, tcp_snd_cwnd(tp));
		ca->strength = ca->once ? clamp_t(int, fls64(ca->known >> SABUL_SHIFT) -
						  fls(6 * ca->c), 0, sabul_strongest) : 0;
		tp->snd_ssthresh = clamp(tp->snd_ssthresh, 2U, max(tcp_snd_cwnd(tp), 2U));
	} else if (lf_first_ssthresh(sk) >= TCP_INFINITE_SSTHRESH && ca->slow_way != LF_CLASSIC) {
		ca->mode = SABUL_FIRST;
		lf_slow_start_begin(sk, &ca->slow, ca->slow_way);
	}
	sabul_enter(sk, ca->mode ? ca->mode : SABUL_START, SABUL_INIT);
}

/* Packets have another size: the rate in bytes stays, and what an undo would restore goes. */
static void sabul_rescale(struct sabul *ca, u32 mss)
{
	mss = clamp_t(u32, mss, 1, U16_MAX);
	if (ca->mode != SABUL_FIRST) {
		ca->delta = sabul_clamp(mss * min(div_u64(ca->delta, ca->mss),
						  div_u64(SABUL_MAX, mss)));
		ca->known = 0;
	}
	ca->prior_mode = SABUL_NONE;
	ca->mss = mss;
}

static void sabul_control(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sabul *ca = inet_csk_ca(sk);
	u32 since = (u32)tp->tcp_mstamp - ca->mark_us;

	/* The answer to a SYN with data comes before ->init: zeroed state.  A SYN tells nothing. */
	if (unlikely(ca->mode == SABUL_NONE || sk->sk_state == TCP_SYN_SENT))
		return;
	if (unlikely(tp->mss_cache != ca->mss))
		sabul_rescale(ca, tp->mss_cache);
	if (rs->prior_mstamp && after(rs->prior_delivered, ca->newest))
		ca->newest = rs->prior_delivered;
	/* Recovery can be for long, and there is no CWR in it. */
	if (!lf_echoed(sk, &ca->echo_end) && tp->delivered_ce != ca->marked && sabul_again(ca)) {
		ca->congested = 1;
		ca->echo_end = lf_answer_mark(sk);
	}
	ca->marked = tp->delivered_ce;
	/* A loss is found up to the reordering distance late, in packets. */
	if (ca->waiting) {
		ca->waiting = since < sabul_rest * ca->t_ms * USEC_PER_MSEC ||
			      before(ca->newest, ca->mark + min(tp->reordering, tcp_snd_cwnd(tp)));
		if (!ca->waiting)
			ca->mark_us = (u32)tp->tcp_mstamp;
	} else if (ca->mode != SABUL_FIRST) {
		/* A mark that is behind us must not seem to be ahead when counters wrap. */
		ca->mark = ca->newest;
	}
	if (ca->mode == SABUL_BY_RATE)
		sabul_by_rate(sk);
	else
		sabul_slow_start(sk, rs->acked_sacked);
}

/* A loss event begins; a lost SYN is one before ->init, with zeroed state. */
static u32 sabul_ssthresh(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);
	bool first = ca->mode == SABUL_FIRST;

	/* Where the path was found full the rest of slow start is the kernel's. */
	ca->prior_mode = first && ca->slow.stage == LF_SS_RISE ? SABUL_START : ca->mode;
	ca->asked = first && lf_slow_start_asks(&ca->slow);
	if (ca->mode == SABUL_BY_RATE)
		ca->prior_delta = ca->delta;
	ca->decreased = 0;
	return max(sabul_window(sk) / 2, 2U);
}

static void sabul_set_state(struct sock *sk, u8 state)
{
	struct sabul *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (ca->mode == SABUL_NONE)
		return;
	/*
	 * After a timeout the window is what is in flight plus one packet.  Otherwise this is no
	 * congestion: the path became narrower, or an MTU probe failed, and too large packets
	 * are sent again.  Nor is what befalls a SYN, also in the sender's own queue.
	 */
	if (sk->sk_state == TCP_SYN_SENT ||
	    (state == TCP_CA_Loss && tcp_snd_cwnd(tp) != tcp_packets_in_flight(tp) + 1)) {
		ca->fresh = tp->lost;
		ca->lost = tp->lost;
	} else if (state == TCP_CA_Loss) {
		/* In Recovery ->ssthresh is not asked again. */
		if (ca->mode == SABUL_BY_RATE)
			tp->snd_ssthresh = clamp_t(u32, sabul_window(sk) / 2, 2, tp->snd_ssthresh);
		/* Nothing brought what is in flight down before; this does. */
		tcp_snd_cwnd_set(tp, 1);
		if (ca->mode == SABUL_FIRST)
			sabul_fresh(sk);
		sabul_enter(sk, SABUL_START, SABUL_TIMEOUT);
		sabul_answered(sk);
		/* Of marks, too: CWR goes with the next new data. */
		ca->echo_end = tp->snd_nxt;
	} else if (state == TCP_CA_CWR && tp->delivered_ce == ca->marked && sabul_again(ca)) {
		ca->congested = 1;
	}
}

/* The loss event was spurious. */
static u32 sabul_undo_cwnd(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	/* What was lost was not; what was sent and marked, was. */
	ca->lost = tp->lost;
	ca->fresh = tp->lost;
	/* Selected in this loss event, or packets changed: there is nothing to go back to. */
	if (!ca->decreased || ca->prior_mode == SABUL_NONE)
		return cwnd;
	ca->decreased = 0;
	ca->waiting = 0;
	ca->mark_us = (u32)tp->tcp_mstamp - sabul_rest * ca->t_ms * USEC_PER_MSEC;
	if (ca->prior_mode == SABUL_BY_RATE) {
		if (ca->mode != SABUL_BY_RATE || ca->delta > ca->prior_delta)
			ca->delta = ca->prior_delta;
		ca->known = 0;
		sabul_begin(sk);
	}
	/* The ceiling of rate mode is no window of slow start. */
	cwnd = max(ca->mode == SABUL_BY_RATE ? 1 : cwnd, tp->prior_cwnd);
	ca->mode = ca->prior_mode;
	if (ca->mode == SABUL_FIRST)
		lf_slow_start_again(sk, &ca->slow, ca->slow_way, ca->asked);
	lf_set_window(sk, cwnd);
	sabul_apply(sk);
	sabul_trace(sk, SABUL_UNDO);
	return tcp_snd_cwnd(tp);
}

/*
 * The kernel asks for the smallest burst each time before it hands down what it may.
 * Senders as even as clockwork lock in step behind a full queue: one always finds room
 * and another never does.  So the interval changes each time.
 */
static u32 sabul_min_tso_segs(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct sabul *ca = inet_csk_ca(sk);
	u32 random = hash_32(tp->data_segs_out + (u32)tp->tcp_clock_cache, 8);

	if (ca->mode && !lf_after_idle(sk, ca->restarted) && ca->mode == SABUL_BY_RATE)
		lf_set_pacing_rate(sk, sabul_bytes(ca, ca->delta - (ca->delta >> 4) +
						       (ca->delta >> 11) * random));
	return 1;
}

static void sabul_release(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);

	/* Who comes after takes a window for what the path carries. */
	if (ca->mode == SABUL_BY_RATE)
		lf_set_window(sk, max(sabul_window(sk), 2U));
	/* Nothing was changed without ->init before it, or where a driver did. */
	if (ca->shift && READ_ONCE(sk->sk_pacing_shift) == ca->shift)
		WRITE_ONCE(sk->sk_pacing_shift, LF_PACING_SHIFT);
	memset(ca, 0, sizeof(*ca));
}

/* After a pause the rate is not what the path has, and is found again. */
static void sabul_tx_start(struct sock *sk)
{
	struct sabul *ca = inet_csk_ca(sk);

	if (ca->mode != SABUL_NONE)
		sabul_restart(sk, lf_restart_window(sk, &ca->restarted, sabul_window(sk)));
}

LF_DEFINE_TSO_SEGS(sabul)
LF_DEFINE_TX_START(sabul)
LF_DEFINE_CONG_CONTROL(sabul)

/* --- registration ------------------------------------------------------- */

static struct tcp_congestion_ops sabul_ops __read_mostly = {
	.init		= sabul_init,
	.release	= sabul_release,
	.cong_control	= sabul_cong_control,
	.ssthresh	= sabul_ssthresh,
	.set_state	= sabul_set_state,
	.undo_cwnd	= sabul_undo_cwnd,
	.get_info	= lf_get_info,
	LF_OPS_TSO_SEGS(sabul),
	LF_OPS_TX_START(sabul),
	/* No flags: restricted, as it grows by 1 % in 20 ms. */
	.owner		= THIS_MODULE,
	.name		= "sabul",
};

LF_REGISTER(sabul_ops, struct sabul);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(LF_VERSION);
MODULE_DESCRIPTION("SABUL: rate-based congestion control with a fixed interval");
