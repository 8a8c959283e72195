// SPDX-License-Identifier: GPL-2.0
/*
 * LTCP: Layered TCP, for high-speed paths with long round-trip times
 *
 * Bhandarkar, Jain, Reddy: "LTCP: Improving the Performance of TCP in
 * Highspeed Networks", ACM SIGCOMM CCR 36(1), January 2006.  Equation, figure
 * and section numbers below are that paper's.
 *
 * The idea.  One Reno flow probes a big pipe too slowly and gives back too much
 * of it at each loss.  An LTCP flow behaves like K parallel flows, and K, the
 * number of virtual layers, follows from the window W alone:
 *
 *	layer K holds while  W_K <= W < W_{K+1}		section 3
 *	W_1 = 0,  W_K = W_T K (K+1) (K-1) / 6		eq. 11
 *
 *	W_T = 50:  K     1   2    3    4     5  ...    10  ...     20   Fig. 2
 *	           W_K   0  50  200  500  1000  ...  8250  ...  66500
 *
 * The distance between layers grows with K, so by the paper the flow with fewer layers
 * catches up.  Where all flows lose at once it need not: of ten, some stay at five layers
 * and some at six (docs/ltcp.md).  It is still additive increase, multiplicative decrease.
 * Its response function is W ~ p^-0.6 (eq. 18 with K ~ W^1/3), and p^-0.75 from W_20 on,
 * where beta(K) falls.
 *
 *	W <= W_T	W += 1 per RTT		loss:  W -= W / 2	Reno
 *	W >  W_T	W += K_R K per RTT	loss:  W -= beta(K) W
 *
 *	K_R     = max(1, (RTT_min / rtt_ref)^alpha)	section 3.4
 *	beta(K) = min(beta, 3 / (K+1))			eq. 14
 *
 * K_R makes up for the slower clock of long paths.  alpha = 1/3 gives the RTT
 * unfairness of Reno (eq. 27), where K_R is above 1 and beta(K) is beta: throughput is
 * as RTT^-2.  From W_20 on it is as RTT^-3, and below rtt_ref as RTT^-2.5.  alpha = 1
 * takes the RTT out of the increase.  beta(K) keeps the rule that one loss costs at most
 * one layer: from the lowest window of layer K, W_K (1 - 3/(K+1)) is W_{K-1} exactly.
 *
 * The algorithm has no states of its own.  Loss detection, recovery (PRR), the
 * reduction after a timeout or an ECN mark, the restart after idle and pacing are
 * the kernel's.  How the first slow start ends is include/longfat/slow_start.h.  K is
 * a function of the window.  It is computed anew when the window is found outside of
 * the layer's bounds, up or down.
 *
 * Differences from the paper
 *
 *  1. K_R: the paper prints only its proportionality.  rtt_ref = 8 ms gives K_R =
 *     2.47 at 120 ms.  The five LTCP loss rates of Fig. 7 give 2.48 to 2.55, if an
 *     overflow loses what the window grows by in a round trip, K_R K packets.  K_R is
 *     never below 1.  RTT_min is the kernel's minimum of the last 300 s, so only a queue
 *     that stands for longer makes growth faster.  LTCP's own queue does so behind more than
 *     0.18 BDP: behind 1 BDP RTT_min becomes 1.7 RTT, and K_R 1.2 times as large.
 *  2. W <= W_T: the paper asks for the "increase behavior" of TCP there and says
 *     nothing of the decrease.  Here the decrease is Reno's, too.
 *  3. beta(K): the paper's constant 0.15 breaks its own one-layer rule above
 *     K = 19 (10 Gbit/s x 100 ms is K = 21, 100 Gbit/s x 100 ms K = 46).
 *     one_layer=N restores the constant.
 *  4. Growth is exact under stretch ACKs and at layer boundaries, and at most
 *     one packet per packet acknowledged (include/longfat/growth.h).
 *  5. After a spurious loss event window and owed growth are restored.
 *  6. The first slow start ends before a loss, or else halves.  The paper's ends at a
 *     loss, and the gentle decrease leaves a window that overflows again.
 *     slow_start=classic is the paper's.
 *
 * Notes.  A connection reads the parameters when it starts (or selects ltcp) and
 * keeps them.  ltcp needs no pacing; with fq the kernel paces it as it
 * does cubic.  Trace event: longfat:ltcp.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mm.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/bounds.h>
#include <longfat/compat.h>
#include <longfat/growth.h>
#include <longfat/params.h>
#include <longfat/register.h>
#include <longfat/slow_start.h>
#include <longfat/version.h>

/* Why a trace event was emitted. */
enum ltcp_reason {
	LTCP_INIT,		/* the connection started or selected ltcp */
	LTCP_LAYER,		/* growth crossed into another layer */
	LTCP_RTT,		/* the minimum RTT changed, and K_R with it */
	LTCP_DECREASE,		/* loss, timeout or ECN mark: cwnd is the target */
	LTCP_UNDO,		/* the decrease was spurious */
	LTCP_IDLE,		/* sending again with nothing in flight */
};

#define LF_TRACE_NAME		ltcp
#define LF_TRACE_REASONS						\
	{ LTCP_INIT, "init" }, { LTCP_LAYER, "layer" },			\
	{ LTCP_RTT, "rtt" }, { LTCP_DECREASE, "decrease" },		\
	{ LTCP_UNDO, "undo" }, { LTCP_IDLE, "idle" }
/* layer K; 1024 times K_R; 1024 times the growth in packets per RTT */
#define LF_TRACE_FIELDS(F)	F(u32, layer) F(u32, k_r_q10) F(u32, rate_q10)
#define CREATE_TRACE_POINTS
#include <longfat/trace.h>

enum ltcp_alpha { LTCP_ALPHA_0, LTCP_ALPHA_1_3, LTCP_ALPHA_1_2, LTCP_ALPHA_1 };

LF_PARAM_UINT(window_threshold, 50, 2, 65535,
	      "W_T, where layers begin, in packets");
LF_PARAM_UINT(beta, 150, 1, 500, "decrease above W_T, in 1/1000");
LF_PARAM_UINT(rtt_ref_us, 8000, 1000, 1000000,
	      "RTT at which K_R is 1, in microseconds");
LF_PARAM_ENUM(rtt_alpha, LTCP_ALPHA_1_3, "RTT exponent of K_R, default 1/3",
	      "0", "1/3", "1/2", "1");
LF_PARAM_BOOL(one_layer, 1, "at most one layer lost per loss event");
LF_PARAM_ENUM(slow_start, LF_TRAIN,
	      "how the first slow start ends, default train",
	      "train", "hystart++", "limited", "classic");

/* Reno's decrease, in 1/1000. */
static const u32 ltcp_reno_beta = 500;

/* W_K passes 2^32 below this layer even for the smallest W_T, 2. */
static const u32 ltcp_layer_max = 2400;

struct ltcp {
	u64	credit;		/* growth owed, see lf_grow() */
	u64	prior_credit;	/* the same before the last decrease */
	u32	layer;		/* K */
	u32	floor;		/* the rules hold while floor <= cwnd < stop, */
	u32	stop;		/*   in packets */
	u32	rate;		/* growth, packets per RTT << LF_RATE_SHIFT */
	u32	k_r;		/* K_R << LF_RATE_SHIFT */
	u32	min_rtt_us;	/* what k_r was made for */
	u32	wt;		/* parameters of this connection: W_T, packets */
	u32	rtt_ref_us;
	u16	beta;		/* 1/1000 */
	u8	alpha;		/* enum ltcp_alpha */
	u8	one_layer;
	struct lf_slow_start slow;
};

/* --- arithmetic: pure functions of their arguments --------------------- */

/* W_K, eq. 11.  k <= 2401, wt < 2^16: the product stays below 2^50. */
LF_PURE u64 ltcp_layer_start(u32 k, u32 wt)
{
	if (k < 2)
		return 0;
	return div_u64((u64)(k - 1) * k * (k + 1), 6) * wt;
}

/* The layer K that holds at window @w: W_K <= w < W_{K+1}. */
LF_PURE u32 ltcp_layer_of(u32 w, u32 wt)
{
	u32 lo = lf_unknown(1), hi = lf_unknown(ltcp_layer_max);

	lf_while(12, lo < hi) {
		u32 mid = (lo + hi + 1) / 2;

		if (ltcp_layer_start(mid, wt) <= w)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Integer cube root: the largest r with r^3 <= x.  r < 2^21, so r^3 < 2^63. */
LF_PURE u32 ltcp_cbrt(u64 x)
{
	u64 r = 0;
	int bit;

	for (bit = 20; bit >= 0; bit--) {
		u64 t = r | BIT(bit);

		if (t * t * t <= x)
			r = t;
	}
	return r;
}

/*
 * K_R << LF_RATE_SHIFT for a minimum RTT; ~0 means that there is no sample yet.
 * The ratio has 30 bits of fraction, which the cube root makes 10: rtt_us is
 * held below 2^31, so the ratio stays below 2^61.  rtt_ref_us >= 1000 keeps the
 * largest result, alpha = 1, below 2^32.
 */
LF_PURE u32 ltcp_k_r(u32 rtt_us, u32 ref_us, enum ltcp_alpha alpha)
{
	u32 k_r = LF_RATE_ONE;
	u64 ratio;

	if (rtt_us == ~0U)
		return LF_RATE_ONE;
	ratio = div_u64((u64)min_t(u32, rtt_us, S32_MAX) << 30, ref_us);
	switch (alpha) {
	case LTCP_ALPHA_0:
		break;
	case LTCP_ALPHA_1_3:
		k_r = ltcp_cbrt(ratio);
		break;
	case LTCP_ALPHA_1_2:
		k_r = int_sqrt64(ratio >> 10);
		break;
	case LTCP_ALPHA_1:
		k_r = ratio >> 20;
		break;
	}
	return max(k_r, LF_RATE_ONE);
}

/*
 * The window after a loss event at window @w.  Rounded up, so that the one-layer
 * rule holds to the packet; at least 2, and below @w wherever that is possible.
 */
LF_PURE u32 ltcp_decrease(u32 w, u32 wt, u32 beta, bool one_layer)
{
	u32 cut;

	if (w <= wt)
		beta = ltcp_reno_beta;
	cut = div_u64((u64)w * beta, 1000);
	if (one_layer && w > wt)
		cut = min_t(u32, cut,
			    div_u64((u64)w * 3, ltcp_layer_of(w, wt) + 1));
	return max(w - max(cut, 1U), 2U);
}

/* --- state -------------------------------------------------------------- */

static void ltcp_trace(const struct sock *sk, enum ltcp_reason why, u32 cwnd)
{
	const struct ltcp *ca = inet_csk_ca(sk);

	trace_ltcp(sk, why, cwnd, ca->layer, ca->k_r, ca->rate);
}

/* Take the rules that hold at window @w: layer, rate, and up to where. */
static void ltcp_enter(struct ltcp *ca, u32 w)
{
	ca->layer = ltcp_layer_of(w, ca->wt);
	if (w <= ca->wt) {
		ca->floor = 0;
		ca->stop = ca->wt + 1;
		ca->rate = LF_RATE_ONE;
		return;
	}
	ca->floor = max_t(u64, ltcp_layer_start(ca->layer, ca->wt),
			  ca->wt + 1);
	ca->stop = min_t(u64, ltcp_layer_start(ca->layer + 1, ca->wt), U32_MAX);
	ca->rate = min_t(u64, (u64)ca->layer * ca->k_r, U32_MAX);
}

/* The rules for window @w, looked up only where the last ones do not hold. */
static void ltcp_follow(const struct sock *sk, u32 w, enum ltcp_reason why)
{
	struct ltcp *ca = inet_csk_ca(sk);
	u32 layer = ca->layer;

	if (likely(w >= ca->floor && w < ca->stop))
		return;
	ltcp_enter(ca, w);
	if (ca->layer != layer)
		ltcp_trace(sk, why, w);
}

/* Grow @w for @acked packets in congestion avoidance. */
static u32 ltcp_grow(const struct sock *sk, u32 w, u32 acked)
{
	struct ltcp *ca = inet_csk_ca(sk);

	lf_do(64) {
		ltcp_follow(sk, w, LTCP_LAYER);
		acked = lf_grow(&w, &ca->credit, acked, ca->rate, ca->stop);
	} lf_again(acked);
	return w;
}

/* --- hooks -------------------------------------------------------------- */

static void ltcp_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ltcp *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
	ca->wt = lf_param(window_threshold);
	ca->beta = lf_param(beta);
	ca->rtt_ref_us = lf_param(rtt_ref_us);
	ca->alpha = lf_param(rtt_alpha);
	ca->one_layer = lf_param(one_layer);
	lf_slow_start_begin(sk, &ca->slow, lf_param(slow_start));
	ca->min_rtt_us = tcp_min_rtt(tp);
	ca->k_r = ltcp_k_r(ca->min_rtt_us, ca->rtt_ref_us, ca->alpha);
	ltcp_enter(ca, tcp_snd_cwnd(tp));
	ltcp_trace(sk, LTCP_INIT, tcp_snd_cwnd(tp));
}

/*
 * The state for a hook.  Hooks may come before ->init, with zeroed state: a lost SYN is a
 * loss, and the answer to a SYN with data is an acknowledgment.
 */
static struct ltcp *ltcp_state(struct sock *sk)
{
	struct ltcp *ca = inet_csk_ca(sk);

	if (unlikely(!ca->wt))
		ltcp_init(sk);
	return ca;
}

static void ltcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct ltcp *ca = ltcp_state(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 w;

	acked = lf_avoidance(sk, &ca->slow, acked);
	if (!acked)
		return;
	w = tcp_snd_cwnd(tp);
	if (unlikely(tcp_min_rtt(tp) != ca->min_rtt_us)) {
		ca->min_rtt_us = tcp_min_rtt(tp);
		ca->k_r = ltcp_k_r(ca->min_rtt_us, ca->rtt_ref_us, ca->alpha);
		ltcp_enter(ca, w);
		ltcp_trace(sk, LTCP_RTT, w);
	}
	lf_set_cwnd(tp, ltcp_grow(sk, w, acked));
}

static u32 ltcp_ssthresh(struct sock *sk)
{
	struct ltcp *ca = ltcp_state(sk);
	u32 w = tcp_snd_cwnd(tcp_sk(sk));

	w = lf_slow_start_loss(sk, &ca->slow, w,
			       ltcp_decrease(w, ca->wt, ca->beta,
					     ca->one_layer));
	ca->prior_credit = ca->credit;
	ca->credit = 0;
	ltcp_enter(ca, w);
	ltcp_trace(sk, LTCP_DECREASE, w);
	return w;
}

static u32 ltcp_undo_cwnd(struct sock *sk)
{
	struct ltcp *ca = ltcp_state(sk);
	u32 w = tcp_reno_undo_cwnd(sk);

	ca->credit = ca->prior_credit;
	lf_slow_start_undo(sk, &ca->slow);
	ltcp_enter(ca, w);
	ltcp_trace(sk, LTCP_UNDO, w);
	return w;
}

/*
 * After idle the kernel may have restarted the window.  Growth counts acknowledgments,
 * so there is no epoch to shift; only the layer has to follow.
 */
static void ltcp_tx_start(struct sock *sk)
{
	ltcp_state(sk);
	ltcp_follow(sk, tcp_snd_cwnd(tcp_sk(sk)), LTCP_IDLE);
}

LF_DEFINE_TX_START(ltcp)

/* --- registration ------------------------------------------------------- */

static struct tcp_congestion_ops ltcp __read_mostly = {
	.init		= ltcp_init,
	.cong_avoid	= ltcp_cong_avoid,
	.ssthresh	= ltcp_ssthresh,
	.undo_cwnd	= ltcp_undo_cwnd,
	.get_info	= lf_get_info,
	LF_OPS_TX_START(ltcp),
	.flags		= 0,	/* restricted: more aggressive than Reno */
	.owner		= THIS_MODULE,
	.name		= "ltcp",
};

LF_REGISTER(ltcp, struct ltcp);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(LF_VERSION);
MODULE_DESCRIPTION("LTCP: Layered TCP for high bandwidth-delay products");
