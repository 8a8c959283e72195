// SPDX-License-Identifier: GPL-2.0
/*
 * gHSTCP: gentle HighSpeed TCP
 *
 * Zhang, Hasegawa, Murata: "Implementation Experiments on HighSpeed and Parallel
 * TCP", IEICE technical report, Osaka University, 2005.  Figure, table and
 * section numbers below are that paper's.  HighSpeed TCP is RFC 3649's.
 *
 * The idea.  HighSpeed TCP fills a long fat pipe quickly, but it does not slow
 * down when the pipe is full.  It runs into the end of the buffer at full speed,
 * loses many packets at once and pushes Reno flows aside.  gHSTCP watches the
 * round-trip time for the knee, where the pipe is full and a queue begins:
 *
 *	below the knee	W += a(W) per RTT	HSTCP mode	section 2.2
 *	above it	W += 1 per RTT		Reno mode
 *	loss		W -= b(W) W		in both
 *
 * a(W) and b(W) are RFC 3649's, include/longfat/hstcp.h.
 *
 * The refined rule (section 3.2, rule=refined, the default) compares RTT, the
 * average over the last window, with two thresholds made from the cycle since
 * the last loss event:
 *
 *	RTT <  min + 2 std			HSTCP mode
 *	RTT >= min + 4 std			Reno mode
 *	between					the trend decides
 *
 *	min	the smallest of the windows' averages in the cycle
 *	std	the standard deviation of RTT in the cycle
 *
 * The original rule (section 2.2, rule=trend) asks the trend alone: with d_i the
 * departure time of a packet and t_i its RTT, Reno mode if d and t are positively
 * correlated over the window, else HSTCP mode.  It oscillates: in Reno mode the
 * queue grows too slowly to be seen in one window, and HSTCP mode comes back
 * (Fig. 4).
 *
 * mode=hstcp and mode=reno hold one mode for ever.  The first is HighSpeed TCP,
 * exact under stretch and delayed ACKs, which the kernel's own is not.
 *
 * Loss detection, recovery (PRR), the reduction after a timeout or an ECN mark, the
 * restart after idle and pacing are the kernel's.  How the first slow start ends is
 * include/longfat/slow_start.h.
 *
 * Differences from the paper
 *
 *  1. std is the deviation of the samples of one window from the line through
 *     them.  Its variance is averaged over the windows of the cycle that ended in
 *     HSTCP mode.  The average of the last cycle counts as up to eight windows of
 *     the next.  The deviation over a whole cycle, taken literally, contains the
 *     queue that it is to detect: an RTT spread evenly over [min, min + Q] has
 *     std = 0.29 Q, and min + 4 std is never reached.  The thresholds must stay
 *     clear of the noise within a window.  A queue that builds up over many windows
 *     is not noise.
 *  2. std is at least RTT / W, what one packet in a queue adds.  Otherwise, without
 *     noise, the thresholds would equal min.  It is also at least RTT / 1024: at 10
 *     Gbit/s the bursts of a window just below the BDP queue for some 50 us, which
 *     is no knee.
 *  3. The trend is significant by a one-sided t-test on Pearson's r over the samples
 *     of one window, 95 %; the paper leaves this open.  The test needs no square
 *     root: r > 0 and r^2 (n - 2) > t^2 (1 - r^2).
 *  4. There is one sample per 1/64 of the smoothed RTT, so that an ACK costs little
 *     and sums stay small.  The paper takes one from every packet.  A window has at
 *     most 128 samples.  The test needs 8; a window with fewer goes on into the
 *     next.  Only congestion avoidance is sampled.
 *  5. A cycle begins in HSTCP mode, before its first window is complete: the
 *     paper does not say, and its Fig. 6 shows it.
 *  6. After a spurious loss event window, owed growth, mode and min are restored.
 *  7. The first slow start ends before a loss, or else halves.  The paper's ends at a
 *     loss, and the gentle decrease leaves a window that overflows again.
 *     slow_start=classic is the paper's.
 *
 * Notes.  A connection reads the parameters when it starts (or selects ghstcp) and
 * keeps them.  ghstcp needs no pacing; with fq the kernel paces it as it
 * does cubic.  Trace event: longfat:ghstcp.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mm.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/bounds.h>
#include <longfat/compat.h>
#include <longfat/growth.h>
#include <longfat/hstcp.h>
#include <longfat/params.h>
#include <longfat/register.h>
#include <longfat/slow_start.h>
#include <longfat/version.h>

/* Why a trace event was emitted. */
enum ghstcp_reason {
	GHSTCP_INIT,		/* the connection started or selected ghstcp */
	GHSTCP_TO_HSTCP,	/* the rule chose another mode, this one */
	GHSTCP_TO_RENO,
	GHSTCP_DECREASE,	/* loss, timeout or ECN mark: cwnd is the target */
	GHSTCP_UNDO,		/* the decrease was spurious */
};

#define LF_TRACE_NAME		ghstcp
#define LF_TRACE_REASONS						\
	{ GHSTCP_INIT, "init" }, { GHSTCP_TO_HSTCP, "hstcp" },		\
	{ GHSTCP_TO_RENO, "reno" }, { GHSTCP_DECREASE, "decrease" },	\
	{ GHSTCP_UNDO, "undo" }
/*
 * mode is the mode from here on: 0 HSTCP, 1 Reno.  rtt_us is the average of the window
 * that decided, or else the smoothed RTT.  min_us and std_us are of this cycle, and
 * low_us and high_us are its thresholds; all four are 0 before the cycle's first window
 * is complete.  r_permille is 1000 times Pearson's r of the window.  A decrease tells of
 * the cycle that it ends.
 */
#define LF_TRACE_FIELDS(F)						\
	F(u32, mode) F(u32, rtt_us) F(u32, min_us) F(u32, std_us)	\
	F(u32, low_us) F(u32, high_us) F(s32, r_permille)
#define CREATE_TRACE_POINTS
#include <longfat/trace.h>

enum ghstcp_param_mode { GHSTCP_AUTO, GHSTCP_FORCE_HSTCP, GHSTCP_FORCE_RENO };
enum ghstcp_param_rule { GHSTCP_REFINED, GHSTCP_TREND };

LF_PARAM_ENUM(mode, GHSTCP_AUTO, "which mode, default auto",
	      "auto", "hstcp", "reno");
LF_PARAM_ENUM(rule, GHSTCP_REFINED, "how auto decides, default refined",
	      "refined", "trend");
LF_PARAM_ENUM(slow_start, LF_TRAIN,
	      "how the first slow start ends, default train",
	      "train", "hystart++", "limited", "classic");

enum ghstcp_mode { GHSTCP_HSTCP, GHSTCP_RENO };

/* Samples of one window: enough for a t-test, few enough for the sums below. */
static const u32 ghstcp_min_samples = 8;
static const u32 ghstcp_max_samples = 128;

/* Windows that the last cycle's variance counts for. */
static const u32 ghstcp_carry = 8;

/* Shares of the RTT: less than one of them is no deviation. */
static const u32 ghstcp_shares = 1024;

/* Longest RTT and longest window that samples can tell apart, microseconds. */
static const u32 ghstcp_max_rtt_us = 10000000;
static const u32 ghstcp_max_span_us = BIT(24) - 1;

/* r^2 in fixed point. */
#define GHSTCP_R_SHIFT	16
#define GHSTCP_R_ONE	(1U << GHSTCP_R_SHIFT)

/*
 * The samples of one window as sums.  x is an RTT less the first one, |x| <= 10^7;
 * d a departure time less the first one, 0 <= d < 2^24; n <= 128.
 */
struct ghstcp_window {
	u64	sum_xx;		/* us^2, < 2^54 */
	u64	sum_dd;		/* us^2, < 2^55 */
	s64	sum_xd;		/* us^2, |.| < 2^55 */
	s32	sum_x;		/* us, |.| < 2^31 */
	u32	sum_d;		/* us, < 2^31 */
	u32	first_rtt;	/* us */
	u32	first_sent;	/* us of the TCP clock, low half */
	u32	n;
};

/* What they say. */
struct ghstcp_stats {
	u64	variance;	/* about the line through the samples, us^2 */
	u32	rtt_us;		/* average */
	u32	r2;		/* Pearson's r squared << GHSTCP_R_SHIFT */
	bool	falling;	/* r < 0 */
};

struct ghstcp {
	u64	credit;		/* growth owed, see lf_grow() */
	u64	prior_credit;	/* the same before the last decrease */
	union {
		struct ghstcp_window window;	/* in congestion avoidance */
		struct lf_slow_start slow;	/* in the first slow start */
	};
	u64	var_sum;	/* of this cycle's windows, us^2 */
	struct lf_hstcp growth;	/* what holds at this window */
	u32	round_end;	/* the window ends when this is acknowledged */
	u32	next_us;	/* no sample before, TCP clock */
	u32	min_us;		/* smallest average of the cycle; ~0: none yet */
	u32	prior_min_us;	/* the same before the last decrease */
	u16	windows;	/* in var_sum */
	u8	param_mode : 2;	/* parameters of this connection */
	u8	param_rule : 1;
	u8	mode : 1;	/* enum ghstcp_mode */
	u8	prior_mode : 1;
	u8	starting : 1;	/* the first slow start is not over: @slow */
	u8	prior_starting : 1;	/* the last decrease ended it */
	u8	prior_asked : 1;	/* ... where it was asked whose queue there is */
	u8	slow_way : 2;	/* enum lf_slow_start_way, while @window has its place */
};

/* --- arithmetic: pure functions of their arguments --------------------- */

/* Take one sample: sent at @sent_us, acknowledged @rtt_us later. */
static void ghstcp_sample(struct ghstcp_window *w, u32 sent_us, u32 rtt_us)
{
	s32 x, d;

	rtt_us = min(rtt_us, ghstcp_max_rtt_us);
	if (!w->n) {
		w->first_rtt = rtt_us;
		w->first_sent = sent_us;
	}
	/* Behind a retransmission a departure can be older than the first. */
	x = rtt_us - w->first_rtt;
	d = sent_us - w->first_sent;
	d = clamp_t(s32, d, 0, ghstcp_max_span_us);
	w->sum_x += x;
	w->sum_d += d;
	w->sum_xx += (s64)x * x;
	w->sum_dd += (s64)d * d;
	w->sum_xd += (s64)x * d;
	w->n++;
}

/*
 * r^2 << GHSTCP_R_SHIFT of centred sums sxx, sdd < 2^63, sxd^2 <= sxx sdd.  They
 * are brought below 2^23 first, by even shifts so that sxd's is whole.
 */
static u32 ghstcp_r2(u64 sxx, u64 sdd, u64 sxd)
{
	u32 shift_x = max(fls64(sxx) - 22, 0) & ~1;
	u32 shift_d = max(fls64(sdd) - 22, 0) & ~1;
	u64 product;

	product = (sxx >> shift_x) * (sdd >> shift_d);
	if (!product)
		return 0;
	sxd >>= (shift_x + shift_d) / 2;
	return min_t(u64, div64_u64(sxd * sxd << GHSTCP_R_SHIFT, product),
		     GHSTCP_R_ONE);
}

/* What the samples of a window say; n >= 3. */
static struct ghstcp_stats ghstcp_stats(const struct ghstcp_window *w)
{
	struct ghstcp_stats out;
	u64 sxx, sdd;
	s64 sxd;

	/* n < 2^8: all three below 2^63. */
	sxx = w->n * w->sum_xx - (s64)w->sum_x * w->sum_x;
	sdd = w->n * w->sum_dd - (u64)w->sum_d * w->sum_d;
	sxd = (s64)w->n * w->sum_xd - (s64)w->sum_x * w->sum_d;
	out.rtt_us = w->first_rtt + lf_divide(w->sum_x, (s32)w->n);
	out.r2 = ghstcp_r2(sxx, sdd, abs(sxd));
	out.falling = sxd < 0;
	/* Sxx (1 - r^2) / (n (n - 2)): two parameters of a line are known. */
	out.variance = div_u64(mul_u64_u32_shr(sxx, GHSTCP_R_ONE - out.r2,
					       GHSTCP_R_SHIFT),
			       w->n * (w->n - 2));
	return out;
}

/*
 * Student's t, one-sided 95 %, squared, in 1/1000, for @df >= 6 degrees of
 * freedom: within 1 % of the tables (1.943 at 6, 1.812 at 10, 1.645 at infinity).
 */
static u32 ghstcp_t2(u32 df)
{
	return 2706 + 50000 / (10 * df - 12);
}

/* Does RTT rise with departure time?  r^2 (n - 2) > t^2 (1 - r^2). */
static bool ghstcp_rising(const struct ghstcp_stats *s, u32 n)
{
	return !s->falling &&
	       (u64)s->r2 * (n - 2) * 1000 >
	       (u64)ghstcp_t2(n - 2) * (GHSTCP_R_ONE - s->r2);
}

/*
 * The refined rule.  @variance in us^2, at most 2^48.  Squares are compared, so
 * that no root is needed: (RTT - min)^2 against 4 var and 16 var.
 */
static enum ghstcp_mode ghstcp_refined(u32 rtt_us, u32 min_us, u64 variance,
				       bool rising)
{
	u64 above = rtt_us - min_us;

	if (rtt_us <= min_us || above * above < 4 * variance)
		return GHSTCP_HSTCP;
	if (above * above >= 16 * variance)
		return GHSTCP_RENO;
	return rising ? GHSTCP_RENO : GHSTCP_HSTCP;
}

/*
 * The variance of a cycle; std is at least one packet's share of the RTT, and at
 * least 1/1024 of it.
 */
static u64 ghstcp_variance(u64 sum, u32 windows, u32 rtt_us, u32 cwnd)
{
	u64 least = rtt_us / clamp(cwnd, 1U, ghstcp_shares) + 1;

	return max(windows ? div_u64(sum, windows) : 0, least * least);
}

/* --- state -------------------------------------------------------------- */

static void ghstcp_trace(const struct sock *sk, enum ghstcp_reason why,
			 u32 cwnd, const struct ghstcp_stats *s)
{
	u32 rtt = tcp_sk(sk)->srtt_us >> 3, min = 0, std = 0, r = 0;
	const struct ghstcp *ca = inet_csk_ca(sk);

	if (!trace_ghstcp_enabled())
		return;
	if (s) {
		rtt = s->rtt_us;
		r = int_sqrt((s->r2 * 1000ULL * 1000) >> GHSTCP_R_SHIFT);
	}
	if (ca->min_us != ~0U) {
		min = ca->min_us;
		std = int_sqrt64(ghstcp_variance(ca->var_sum, ca->windows, rtt,
						 cwnd));
	}
	trace_ghstcp(sk, why, cwnd, ca->mode, rtt, min, std, min + 2 * std,
		     min + 4 * std, s && s->falling ? -(s32)r : (s32)r);
}

/* The growth that holds at window @w in this mode. */
static void ghstcp_enter(struct ghstcp *ca, u32 w)
{
	if (ca->mode == GHSTCP_HSTCP) {
		lf_hstcp_rule(&ca->growth, w);
		return;
	}
	ca->growth.floor = 0;
	ca->growth.stop = U32_MAX;
	ca->growth.a = LF_RATE_ONE;
}

/* Begin a new window of samples, where there is one. */
static void ghstcp_restart(struct ghstcp *ca)
{
	if (!ca->starting)
		memset(&ca->window, 0, sizeof(ca->window));
}

/*
 * A window is complete: adds it to the cycle and returns the mode that it asks for.
 * This comes once in a round trip, so it stays out of the path of each ACK.
 */
static noinline void ghstcp_window_end(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	struct ghstcp *ca = inet_csk_ca(sk);
	struct ghstcp_stats s = ghstcp_stats(&ca->window);
	bool rising = ghstcp_rising(&s, ca->window.n);
	enum ghstcp_mode mode;

	ca->min_us = min(ca->min_us, s.rtt_us);
	if (ca->mode == GHSTCP_HSTCP) {
		if (ca->windows == U16_MAX) {
			ca->windows /= 2;
			ca->var_sum /= 2;
		}
		ca->var_sum += s.variance;
		ca->windows++;
	}
	if (ca->param_rule == GHSTCP_TREND)
		mode = rising ? GHSTCP_RENO : GHSTCP_HSTCP;
	else
		mode = ghstcp_refined(s.rtt_us, ca->min_us,
				      ghstcp_variance(ca->var_sum, ca->windows,
						      s.rtt_us, cwnd),
				      rising);
	if (mode == ca->mode)
		return;
	ca->mode = mode;
	ghstcp_enter(ca, cwnd);
	ghstcp_trace(sk, mode == GHSTCP_RENO ? GHSTCP_TO_RENO : GHSTCP_TO_HSTCP,
		     cwnd, &s);
}

/* --- hooks -------------------------------------------------------------- */

static void ghstcp_init(struct sock *sk)
{
	struct ghstcp *ca = inet_csk_ca(sk);
	u32 w = tcp_snd_cwnd(tcp_sk(sk));

	memset(ca, 0, sizeof(*ca));
	ca->param_mode = lf_param(mode);
	ca->param_rule = lf_param(rule);
	ca->mode = ca->param_mode == GHSTCP_FORCE_RENO ? GHSTCP_RENO :
							 GHSTCP_HSTCP;
	ca->prior_mode = ca->mode;
	ca->min_us = ~0U;
	ca->prior_min_us = ~0U;
	ca->starting = 1;
	ca->slow_way = lf_param(slow_start);
	lf_slow_start_begin(sk, &ca->slow, ca->slow_way);
	ghstcp_enter(ca, w);
	ghstcp_trace(sk, GHSTCP_INIT, w, NULL);
}

/*
 * The state for a hook.  Hooks may come before ->init, with zeroed state: a lost SYN is a
 * loss, and the answer to a SYN with data is an acknowledgment.
 */
static struct ghstcp *ghstcp_state(struct sock *sk)
{
	struct ghstcp *ca = inet_csk_ca(sk);

	if (unlikely(!ca->growth.stop))
		ghstcp_init(sk);
	return ca;
}

/*
 * When was the packet sent that is the last of those that are delivered?  RACK has it
 * (RFC 8985), with its RTT.  An ACK that brings none leaves RACK as it was; then departure
 * plus RTT is not now.  Without SACK there is no RACK, but the rate sampler has it.
 */
static bool ghstcp_sent(const struct tcp_sock *tp, u32 *sent)
{
	*sent = (u32)(tp->rack.rtt_us ? tp->rack.mstamp : tp->first_tx_mstamp);
	return tp->rack.rtt_us ? (u32)tp->tcp_mstamp - *sent == tp->rack.rtt_us :
				 tp->tcp_mstamp == tp->delivered_mstamp;
}

/* A sample of this ACK, if it is time for one. */
static void ghstcp_take_rtt(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ghstcp *ca = inet_csk_ca(sk);
	u32 now = (u32)tp->tcp_mstamp, sent;

	if (ca->param_mode != GHSTCP_AUTO)
		return;
	/* Only congestion avoidance: elsewhere RTT says other things. */
	if (unlikely(tcp_in_slow_start(tp) ||
		     inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)) {
		ghstcp_restart(ca);
		return;
	}
	if (unlikely(ca->starting)) {
		ca->starting = 0;
		ghstcp_restart(ca);
	}
	if (ca->window.n && before(now, ca->next_us))
		return;
	if (!ghstcp_sent(tp, &sent))
		return;
	if (ca->window.n >= ghstcp_min_samples &&
	    !before(tp->snd_una, ca->round_end)) {
		ghstcp_window_end(sk);
		ghstcp_restart(ca);
	}
	if (!ca->window.n)
		ca->round_end = tp->snd_nxt;
	else if (ca->window.n >= ghstcp_max_samples)
		return;
	ghstcp_sample(&ca->window, sent, now - sent);
	ca->next_us = now + (tp->srtt_us >> (3 + 6)) + 1;
}

static void ghstcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct ghstcp *ca = ghstcp_state(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct lf_slow_start *slow = NULL;
	u32 w;

	ghstcp_take_rtt(sk);
	/* Congestion avoidance does not even look for it. */
	if (unlikely(tcp_in_slow_start(tp)) && ca->starting)
		slow = &ca->slow;
	acked = lf_avoidance(sk, slow, acked);
	if (!acked)
		return;
	w = tcp_snd_cwnd(tp);
	lf_do(64) {
		if (unlikely(w < ca->growth.floor || w >= ca->growth.stop))
			ghstcp_enter(ca, w);
		acked = lf_grow(&w, &ca->credit, acked, ca->growth.a,
				ca->growth.stop);
	} lf_again(acked);
	lf_set_cwnd(tp, w);
}

/* A loss event ends the cycle. */
static u32 ghstcp_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk)), w = lf_hstcp_decrease(cwnd);
	struct ghstcp *ca = ghstcp_state(sk);

	ca->prior_asked = ca->starting && lf_slow_start_asks(&ca->slow);
	if (unlikely(ca->starting))
		w = lf_slow_start_loss(sk, &ca->slow, cwnd, w);
	ca->prior_starting = ca->starting && ca->slow.lost;
	ca->prior_credit = ca->credit;
	ca->prior_mode = ca->mode;
	ca->prior_min_us = ca->min_us;
	if (ca->param_mode == GHSTCP_AUTO)
		ca->mode = GHSTCP_HSTCP;
	ghstcp_trace(sk, GHSTCP_DECREASE, w, NULL);
	ca->min_us = ~0U;
	if (ca->windows > ghstcp_carry) {
		ca->var_sum = div_u64(ca->var_sum, ca->windows) * ghstcp_carry;
		ca->windows = ghstcp_carry;
	}
	ca->credit = 0;
	ghstcp_restart(ca);
	ghstcp_enter(ca, w);
	return w;
}

static u32 ghstcp_undo_cwnd(struct sock *sk)
{
	struct ghstcp *ca = ghstcp_state(sk);
	u32 w = tcp_reno_undo_cwnd(sk);

	/*
	 * So late that samples have taken slow start's place: it begins again.  A target that
	 * was known is forgotten, but for ssthresh, which the kernel restores.
	 */
	if (unlikely(!ca->starting && ca->prior_starting)) {
		ca->starting = 1;
		lf_slow_start_again(sk, &ca->slow, ca->slow_way, ca->prior_asked);
	}
	ca->prior_starting = 0;
	ca->credit = ca->prior_credit;
	ca->mode = ca->prior_mode;
	ca->min_us = min(ca->min_us, ca->prior_min_us);
	if (unlikely(ca->starting))
		lf_slow_start_undo(sk, &ca->slow);
	ghstcp_restart(ca);
	ghstcp_enter(ca, w);
	ghstcp_trace(sk, GHSTCP_UNDO, w, NULL);
	return w;
}

/*
 * After idle the kernel may have restarted the congestion window.  The window of
 * samples begins again, or it would reach over the silence.
 */
static void ghstcp_tx_start(struct sock *sk)
{
	struct ghstcp *ca = ghstcp_state(sk);

	ghstcp_restart(ca);
	ghstcp_enter(ca, tcp_snd_cwnd(tcp_sk(sk)));
}

LF_DEFINE_TX_START(ghstcp)

/* --- registration ------------------------------------------------------- */

static struct tcp_congestion_ops ghstcp __read_mostly = {
	.init		= ghstcp_init,
	.cong_avoid	= ghstcp_cong_avoid,
	.ssthresh	= ghstcp_ssthresh,
	.undo_cwnd	= ghstcp_undo_cwnd,
	.get_info	= lf_get_info,
	LF_OPS_TX_START(ghstcp),
	.flags		= 0,	/* restricted: more aggressive than Reno */
	.owner		= THIS_MODULE,
	.name		= "ghstcp",
};

LF_REGISTER(ghstcp, struct ghstcp);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(LF_VERSION);
MODULE_DESCRIPTION("gHSTCP: gentle HighSpeed TCP");
