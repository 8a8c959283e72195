// SPDX-License-Identifier: GPL-2.0
/*
 * CW-HSTCP: HighSpeed TCP with equal shares for unequal round-trip times
 *
 * Pan, Su, Lu, Ping: "CW-HSTCP: Fair TCP in high-speed networks", Journal of
 * Zhejiang University SCIENCE A 7(2), 2006.  Figure, table and section names
 * below are that paper's.  HighSpeed TCP is RFC 3649's.
 *
 * The idea.  The larger a HighSpeed TCP window is, the faster it grows and the less
 * it gives back at a loss.  It grows once per round trip.  So behind a full FIFO,
 * where all flows lose at the same time, the flow with the shortest round trip draws
 * far ahead (Fig. 2, Table 2).  CW-HSTCP takes the round trip out of the
 * growth, with a fair factor eta:
 *
 *	W += eta a(W) per RTT,	eta = c RTT		"CW-HSTCP algorithm"
 *	loss:  W -= b(W) W
 *
 *	c = 10 per second:  RTT  10 ms  60 ms  100 ms  140 ms  200 ms  1 s
 *	                    eta   0.1    0.6     1      1.4      2     10
 *
 * a(W) and b(W) are RFC 3649's, include/longfat/hstcp.h.  Flows of equal windows
 * now grow by the same in a second, whatever their RTT.  Equal windows stay equal,
 * unequal ones come together, and throughput W / RTT goes as 1 / RTT.
 *
 * The default is another law than the paper's: equal throughput instead of equal
 * windows.  rtt_exponent=1 gives the paper's.  A flow changes its throughput as a flow
 * with an RTT of 1 / c would.  The window of that flow is V = W / (c RTT), so
 *
 *	W += (c RTT)^2 a(V) per RTT,	loss:  W -= b(V) W
 *
 * Flows of equal throughput have an equal V, and V grows by c a(V) in a second and
 * loses b(V) V, whatever the RTT.  The RTT is the smoothed one: only with the queue in it is
 * W / RTT what a flow sends.  With a(W) and b(W) instead, windows would go as RTT^4.3, by
 * the argument of 1 below.
 *
 * On a long path the window grows in large steps.  So the window leaves in k blocks
 * ("block-pacing", Fig. 4 and 5):
 *
 *	k = floor(c RTT) + 1,	block = W / k packets, one each RTT / k
 *
 * Loss detection, recovery (PRR), the reduction after a timeout or an ECN mark and
 * the restart after idle are the kernel's.  The kernel also paces in recovery, in slow
 * start, and where a window is too large for blocks.
 * How the first slow start ends is include/longfat/slow_start.h.
 *
 * Differences from the paper
 *
 *  1. The paper does not say which RTT is in eta.  With rtt_exponent=1 it is the minimum
 *     RTT, so a queue slows growth down as it does for HSTCP: growth per second is
 *     c a(W) RTT_min / RTT, least for the shortest path.  Windows settle where a(W) /
 *     (b(W) W), about W^-0.23, makes up for that.  So they are equal without a
 *     queue and go towards (RTT_min / RTT)^4.3 behind one: a long queue favours the
 *     long path.  With rtt=smoothed growth per second is c a(W), and windows are
 *     equal behind any queue, but for the round trip of a recovery, in which nobody
 *     grows (docs/cwhstcp.md).  The minimum is the kernel's, of the last 300 s
 *     (net.ipv4.tcp_min_rtt_wlen).
 *  2. Never slower than Reno: growth is at least 1 packet per RTT.  By default a flow
 *     for which the law has no more than that also loses half: it is Reno.
 *  3. Growth is exact under stretch ACKs and at most one packet per packet
 *     acknowledged (include/longfat/growth.h); the paper has the same limit.
 *  4. The default, as above.  docs/cwhstcp.md has what either law gives.
 *  5. Blocks are spaced by the smoothed RTT, the time in which a window is
 *     really sent.  k uses the same RTT as eta.
 *  6. The paper's blocks leave back to back whatever their size.  Here a block leaves so
 *     up to the kernel's largest burst (64 KB, some 45 packets).  If W / k is more,
 *     the kernel paces the window, as it does for cubic under fq.  With c = 10, windows up to 90
 *     packets at 100 ms and up to 135 at 200 ms leave in blocks.
 *  7. At most a block leaves at once.  If acknowledgments come in an even stream there
 *     is nothing to space.  After a pause the kernel halves the first gap, as it would
 *     for a timer that was late.  The paper counts anew for each block, so the end of
 *     one and all of the next could leave together.
 *  8. k = 1 (RTT < 100 ms with c = 10) would mean no pacing.  The kernel paces then.
 *  9. After a spurious loss event window and owed growth are restored.
 * 10. The first slow start ends before a loss, or else halves.  The paper's ends at a
 *     loss, and the gentle decrease leaves a window that overflows again.
 *     slow_start=classic is the paper's.
 *
 * Notes.  Not for a deep buffer that Reno shares: the default leaves next to nothing to it.
 * Nor for the deep buffer of a slow link, where more is lost.  rtt_exponent=1 is milder.
 * A connection reads the parameters when it starts (or selects cwhstcp) and
 * keeps them.  fq paces, or TCP itself; there is no timer here.  pacing=smooth sends
 * single packets (up to 650 Mbit/s; on paths of a few milliseconds the kernel
 * sends more at once).  pacing=off leaves the sending to the kernel.  The kernel's
 * pacing goes by net.ipv4.tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.  Blocks do not:
 * a ratio would be another distance between them than RTT / k.  Trace event:
 * longfat:cwhstcp.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mm.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/compat.h>
#include <longfat/growth.h>
#include <longfat/hstcp.h>
#include <longfat/pacing.h>
#include <longfat/params.h>
#include <longfat/register.h>
#include <longfat/slow_start.h>
#include <longfat/tso.h>
#include <longfat/version.h>

/* Why a trace event was emitted. */
enum cwhstcp_reason {
	CWHSTCP_INIT,		/* the connection started or selected cwhstcp */
	CWHSTCP_RTT,		/* the minimum RTT changed, eta and k with it */
	CWHSTCP_DECREASE,	/* loss, timeout or ECN mark: cwnd is the target */
	CWHSTCP_UNDO,		/* the decrease was spurious */
};

#define LF_TRACE_NAME		cwhstcp
#define LF_TRACE_REASONS						\
	{ CWHSTCP_INIT, "init" }, { CWHSTCP_RTT, "rtt" },		\
	{ CWHSTCP_DECREASE, "decrease" }, { CWHSTCP_UNDO, "undo" }
/* 1024 times eta; 1024 times the growth in packets per RTT; k.  "rtt" is of rtt_exponent=1. */
#define LF_TRACE_FIELDS(F)	F(u32, eta_q10) F(u32, rate_q10) F(u32, blocks)
#define CREATE_TRACE_POINTS
#include <longfat/trace.h>

enum cwhstcp_param_rtt { CWHSTCP_RTT_MIN, CWHSTCP_RTT_SMOOTHED };
enum cwhstcp_param_pacing { CWHSTCP_BLOCK, CWHSTCP_SMOOTH, CWHSTCP_OFF };

LF_PARAM_UINT(c, 10, 1, 100, "eta per second of RTT");
LF_PARAM_ENUM(rtt, CWHSTCP_RTT_MIN,
	      "with rtt_exponent=1, RTT that eta is made from, default min",
	      "min", "smoothed");
LF_PARAM_UINT(rtt_exponent, 2, 1, 2,
	      "1 equal windows (the paper), 2 equal throughput");
LF_PARAM_ENUM(pacing, CWHSTCP_BLOCK, "how a window is sent, default block",
	      "block", "smooth", "off");
LF_PARAM_ENUM(slow_start, LF_TRAIN,
	      "how the first slow start ends, default train",
	      "train", "hystart++", "limited", "classic");

/*
 * eta has 20 bits of fraction, 0.0001 % at 100 ms, and 10 % at the shortest RTT
 * where it matters: 1 us with c = 1 and a(W) = 10^5.
 */
#define CWHSTCP_ETA_SHIFT	20

/* Longest RTT of interest, so that (c RTT) stays below 2^11. */
static const u32 cwhstcp_max_rtt_us = 20000000;

/*
 * Blocks are faster than W per RTT by 1/16.  So they never limit a window that grows, and
 * their spacing stays within 10 % of RTT / k.
 */
#define CWHSTCP_HEAD_ROOM_SHIFT	4

/* sk_pacing_shift for single packets: of 1500 bytes up to 1/2^16 s. */
static const u32 cwhstcp_smooth_shift = 16;

struct cwhstcp {
	u64	credit;		/* growth owed, see lf_grow() */
	u64	prior_credit;	/* the same before the last decrease */
	struct lf_hstcp rule;	/* a(W) that holds at this window */
	u32	rate;		/* eta a, packets per RTT << LF_RATE_SHIFT */
	u32	c_rtt;		/* << CWHSTCP_ETA_SHIFT */
	u32	rtt_us;		/* what c_rtt and blocks were made for */
	u32	blocks;		/* k */
	u8	c;		/* parameters of this connection; c > 0 */
	u8	param_rtt : 1;
	u8	squared : 1;
	u8	pacing : 2;
	struct lf_slow_start slow;
};

/* --- arithmetic: pure functions of their arguments --------------------- */

/* c RTT << CWHSTCP_ETA_SHIFT; below 2^31, c <= 100.  No sample yet: 0. */
static u32 cwhstcp_c_rtt(u32 rtt_us, u32 c)
{
	if (rtt_us == ~0U)
		return 0;
	return div_u64((u64)min(rtt_us, cwhstcp_max_rtt_us) * c <<
		       CWHSTCP_ETA_SHIFT, USEC_PER_SEC);
}

/* The fair factor, below 2^42: the square of a number below 2^31 is below 2^62. */
static u64 cwhstcp_eta(u32 c_rtt, bool squared)
{
	return squared ? (u64)c_rtt * c_rtt >> CWHSTCP_ETA_SHIFT : c_rtt;
}

/* k = floor(c RTT) + 1; made from microseconds, so that 100 ms is 1 exactly. */
static u32 cwhstcp_blocks(u32 rtt_us, u32 c)
{
	if (rtt_us == ~0U)
		return 1;
	return min(rtt_us, cwhstcp_max_rtt_us) * c / USEC_PER_SEC + 1;
}

/* eta a, at least Reno's 1.  As a < 2^29 (include/longfat/hstcp.h), the product has 71 bits. */
static u32 cwhstcp_rate(u32 a, u64 eta)
{
	return clamp_t(u64, mul_u64_u64_shr(a, eta, CWHSTCP_ETA_SHIFT), LF_RATE_ONE,
		       U32_MAX);
}

/* V, the window of as much throughput at an RTT of 1 / c; @w < 2^31. */
static u32 cwhstcp_reference(u32 w, u32 c_rtt)
{
	if (!c_rtt)
		return w;
	return min_t(u64, div_u64((u64)w << CWHSTCP_ETA_SHIFT, c_rtt), U32_MAX);
}

/* Packets in one of @k blocks of window @w: no window takes more than k. */
static u32 cwhstcp_block(u32 w, u32 k)
{
	return w / k + !!(w % k);
}

/* --- state -------------------------------------------------------------- */

static void cwhstcp_trace(const struct sock *sk, enum cwhstcp_reason why,
			  u32 cwnd)
{
	const struct cwhstcp *ca = inet_csk_ca(sk);

	trace_cwhstcp(sk, why, cwnd,
		      min_t(u64, U32_MAX, cwhstcp_eta(ca->c_rtt, ca->squared) >>
					  (CWHSTCP_ETA_SHIFT - LF_RATE_SHIFT)),
		      ca->rate, ca->blocks);
}

/* The growth that holds at window @w. */
static void cwhstcp_enter(struct cwhstcp *ca, u32 w)
{
	if (ca->squared) {
		ca->rule.floor = w;
		ca->rule.stop = w + w / 64 + 1;
		ca->rule.a = lf_hstcp_a(cwhstcp_reference(w + w / 128,
							  ca->c_rtt));
	} else {
		lf_hstcp_rule(&ca->rule, w);
	}
	ca->rate = cwhstcp_rate(ca->rule.a, cwhstcp_eta(ca->c_rtt, ca->squared));
}

/* The window after a loss event at window @w; at least 2. */
static u32 cwhstcp_decrease(const struct cwhstcp *ca, u32 w)
{
	u32 b;

	if (!ca->squared)
		return lf_hstcp_decrease(w);
	/* Who grows as Reno does is Reno. */
	if (w <= LF_HSTCP_LOW_WINDOW || ca->rate == LF_RATE_ONE)
		return max(w - w / 2, 2U);
	b = lf_hstcp_b(cwhstcp_reference(w, ca->c_rtt));
	return w - (u32)((u64)w * b >> LF_HSTCP_B_SHIFT);
}

/*
 * eta and k for the RTT as it is now.  The smoothed one is new with each acknowledgment: a
 * 64th of it changes eta by 3 % at most, and that rarely is worth the divisions.
 *
 * Return: false if they are still those of about the same RTT.
 */
static bool cwhstcp_follow(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cwhstcp *ca = inet_csk_ca(sk);
	u32 rtt_us, near = 0;

	if (ca->param_rtt == CWHSTCP_RTT_SMOOTHED && tp->srtt_us) {
		rtt_us = tp->srtt_us >> 3;
		near = ca->rtt_us >> 6;
	} else {
		rtt_us = tcp_min_rtt(tp);
	}
	if (likely(max(rtt_us, ca->rtt_us) - min(rtt_us, ca->rtt_us) <= near))
		return false;
	ca->rtt_us = rtt_us;
	ca->c_rtt = cwhstcp_c_rtt(rtt_us, ca->c);
	ca->blocks = cwhstcp_blocks(rtt_us, ca->c);
	return true;
}

/* --- hooks -------------------------------------------------------------- */

static void cwhstcp_init(struct sock *sk)
{
	struct cwhstcp *ca = inet_csk_ca(sk);
	u32 w = tcp_snd_cwnd(tcp_sk(sk));

	memset(ca, 0, sizeof(*ca));
	ca->c = lf_param(c);
	ca->squared = lf_param(rtt_exponent) == 2;
	ca->param_rtt = ca->squared ? CWHSTCP_RTT_SMOOTHED : lf_param(rtt);
	ca->pacing = lf_param(pacing);
	lf_slow_start_begin(sk, &ca->slow, lf_param(slow_start));
	ca->blocks = 1;
	ca->rtt_us = ~0U;
	cwhstcp_follow(sk);
	cwhstcp_enter(ca, w);
	if (ca->pacing != CWHSTCP_OFF)
		lf_need_pacing(sk);
	/* A driver may have set its own, and may at any time: Wi-Fi does. */
	if (ca->pacing == CWHSTCP_SMOOTH &&
	    READ_ONCE(sk->sk_pacing_shift) == LF_PACING_SHIFT)
		WRITE_ONCE(sk->sk_pacing_shift, cwhstcp_smooth_shift);
	cwhstcp_trace(sk, CWHSTCP_INIT, w);
}

/*
 * Give sk_pacing_shift back: the next algorithm must not send single packets because this
 * one did.  May come without ->init before, and twice.
 */
static void cwhstcp_release(struct sock *sk)
{
	struct cwhstcp *ca = inet_csk_ca(sk);

	if (ca->c && ca->pacing == CWHSTCP_SMOOTH &&
	    READ_ONCE(sk->sk_pacing_shift) == cwhstcp_smooth_shift)
		WRITE_ONCE(sk->sk_pacing_shift, LF_PACING_SHIFT);
	ca->c = 0;
}

static void cwhstcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct cwhstcp *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 w;

	/* The answer to a SYN with data comes before ->init: zeroed state. */
	if (unlikely(!ca->c))
		return;
	acked = lf_avoidance(sk, &ca->slow, acked);
	/* Slow start needs neither eta nor blocks. */
	if (!acked)
		return;
	w = tcp_snd_cwnd(tp);
	if (cwhstcp_follow(sk)) {
		cwhstcp_enter(ca, w);
		if (ca->param_rtt == CWHSTCP_RTT_MIN)
			cwhstcp_trace(sk, CWHSTCP_RTT, w);
	}
	do {
		if (unlikely(w < ca->rule.floor || w >= ca->rule.stop))
			cwhstcp_enter(ca, w);
		acked = lf_grow(&w, &ca->credit, acked, ca->rate,
				ca->rule.stop);
	} while (acked);
	lf_set_cwnd(tp, w);
}

static u32 cwhstcp_ssthresh(struct sock *sk)
{
	struct cwhstcp *ca = inet_csk_ca(sk);
	u32 w = tcp_snd_cwnd(tcp_sk(sk));

	/* Slow start looks neither for the RTT nor for the growth that holds at a window. */
	if (likely(ca->c) && (cwhstcp_follow(sk) || w < ca->rule.floor || w >= ca->rule.stop))
		cwhstcp_enter(ca, w);
	w = lf_slow_start_loss(sk, &ca->slow, w, cwhstcp_decrease(ca, w));
	/* A lost SYN is a loss before ->init: zeroed state. */
	if (unlikely(!ca->c))
		return w;
	ca->prior_credit = ca->credit;
	ca->credit = 0;
	cwhstcp_enter(ca, w);
	cwhstcp_trace(sk, CWHSTCP_DECREASE, w);
	return w;
}

static u32 cwhstcp_undo_cwnd(struct sock *sk)
{
	struct cwhstcp *ca = inet_csk_ca(sk);
	u32 w = tcp_reno_undo_cwnd(sk);

	if (unlikely(!ca->c))
		return w;
	ca->credit = ca->prior_credit;
	lf_slow_start_undo(sk, &ca->slow);
	cwhstcp_enter(ca, w);
	cwhstcp_trace(sk, CWHSTCP_UNDO, w);
	return w;
}

/*
 * How much may leave at once?  The answer is a block.  The kernel then waits for as long
 * as what it has sent takes at the pacing rate: that of a block in RTT / k.  Where there
 * are no blocks it paces by itself.
 */
static u32 cwhstcp_min_tso_segs(struct sock *sk)
{
	u32 segs = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
	const struct cwhstcp *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 w = tcp_snd_cwnd(tp), block;
	u64 rate;

	if (!ca->c || ca->pacing == CWHSTCP_OFF)
		return segs;
	if (ca->pacing == CWHSTCP_SMOOTH)
		return 1;
	if (ca->blocks == 1 ||
	    (u64)w * tp->mss_cache > (u64)ca->blocks * lf_largest_burst(sk) ||
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR ||
	    tcp_in_slow_start(tp) || !tp->srtt_us)
		return segs;
	block = cwhstcp_block(w, ca->blocks);
	rate = lf_window_rate(ca->blocks * block, tp->mss_cache, tp->srtt_us);
	rate += rate >> CWHSTCP_HEAD_ROOM_SHIFT;
	if (rate > READ_ONCE(sk->sk_max_pacing_rate))
		return segs;
	lf_set_pacing_rate(sk, rate);
	return block;
}

LF_DEFINE_TSO_SEGS(cwhstcp)

/* --- registration ------------------------------------------------------- */

static struct tcp_congestion_ops cwhstcp __read_mostly = {
	.init		= cwhstcp_init,
	.release	= cwhstcp_release,
	.cong_avoid	= cwhstcp_cong_avoid,
	.ssthresh	= cwhstcp_ssthresh,
	.undo_cwnd	= cwhstcp_undo_cwnd,
	LF_OPS_TSO_SEGS(cwhstcp),
	.get_info	= lf_get_info,
	.flags		= 0,	/* restricted: more aggressive than Reno */
	.owner		= THIS_MODULE,
	.name		= "cwhstcp",
};

LF_REGISTER(cwhstcp, struct cwhstcp);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(LF_VERSION);
MODULE_DESCRIPTION("CW-HSTCP: HighSpeed TCP with equal shares for unequal RTTs");
