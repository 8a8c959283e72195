/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket as congestion control sees it, and what is to be true of every
 * algorithm here: what ss gets to see, and parameters that know their range.
 * A suite includes its tcp_*.c first.
 */
#ifndef LONGFAT_KUNIT_SOCK_H
#define LONGFAT_KUNIT_SOCK_H

#include <kunit/test.h>
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include <longfat/avoidance.h>
#include <longfat/params.h>

/* tp->ecn_flags of a connection with RFC 3168's marks: its name has changed. */
#define LF_TEST_ECN	BIT(0)

/* In congestion avoidance at @cwnd, and limited by it; all else is 0. */
static inline struct tcp_sock *lf_test_sock(struct kunit *test, u32 cwnd,
					    u32 min_rtt_us)
{
	struct tcp_sock *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tp);
	tp->snd_cwnd_clamp = U32_MAX;
	tp->is_cwnd_limited = 1;
	minmax_reset(&tp->rtt_min, 0, min_rtt_us);
	tcp_snd_cwnd_set(tp, cwnd);
	return tp;
}

/* ss on a socket that never saw an ACK, or ->init: times, no division. */
static inline void lf_test_get_info(struct kunit *test)
{
	struct tcp_sock *tp = kunit_kzalloc(test, sizeof(*tp), GFP_KERNEL);
	u32 ask = 1 << (INET_DIAG_VEGASINFO - 1);
	struct sock *sk = (struct sock *)tp;
	union tcp_cc_info info;
	int attr = -1;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tp);
	KUNIT_EXPECT_EQ(test, lf_get_info(sk, ~ask, &attr, &info), 0);
	KUNIT_EXPECT_EQ(test, attr, -1);

	memset(&info, 0xff, sizeof(info));
	KUNIT_EXPECT_EQ(test, lf_get_info(sk, ask, &attr, &info),
			sizeof(info.vegas));
	KUNIT_EXPECT_EQ(test, attr, INET_DIAG_VEGASINFO);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_enabled, 1U);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_rttcnt, 0U);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_rtt, 0U);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_minrtt, 0U);

	/* The kernel's "no sample" is Vegas's 0x7fffffff. */
	minmax_reset(&tp->rtt_min, 0, ~0U);
	lf_get_info(sk, ask, &attr, &info);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_minrtt, (u32)S32_MAX);

	minmax_reset(&tp->rtt_min, 0, 120000);
	tp->srtt_us = 130000 << 3;
	lf_get_info(sk, ask, &attr, &info);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_rtt, 130000U);
	KUNIT_EXPECT_EQ(test, info.vegas.tcpv_minrtt, 120000U);
}

/*
 * Restricted to CAP_NET_ADMIN unless an administrator allows it, pinned by its
 * users, and its state fits, @size bytes.
 */
static inline void lf_test_registered(struct kunit *test,
				      const struct tcp_congestion_ops *ops,
				      const char *name, size_t size)
{
	KUNIT_EXPECT_STREQ(test, ops->name, name);
	KUNIT_EXPECT_EQ(test, ops->flags & TCP_CONG_NON_RESTRICTED, 0);
	KUNIT_EXPECT_PTR_EQ(test, ops->owner, THIS_MODULE);
	KUNIT_EXPECT_LE(test, size, ICSK_CA_PRIV_SIZE);
}

/* Told that sending starts, where this kernel tells: since 7.1 by a hook of its own. */
static inline void lf_test_tx_start(struct kunit *test,
				    const struct tcp_congestion_ops *ops)
{
#ifdef LF_HAVE_TX_START
	KUNIT_EXPECT_TRUE(test, ops->cwnd_event_tx_start);
#else
	KUNIT_EXPECT_TRUE(test, ops->cwnd_event);
#endif
}

/* The module's parameter @name, or NULL. */
static inline const struct kernel_param *lf_test_param(const char *name)
{
	u32 i;

	for (i = 0; i < THIS_MODULE->num_kp; i++)
		if (!strcmp(THIS_MODULE->kp[i].name, name))
			return &THIS_MODULE->kp[i];
	return NULL;
}

/* Write @val into parameter @name as sysfs does, and see @err come back. */
static inline void lf_test_set(struct kunit *test, const char *name,
			       const char *val, int err)
{
	const struct kernel_param *kp = lf_test_param(name);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kp);
	KUNIT_EXPECT_EQ_MSG(test, kp->ops->set(val, kp), err, "%s=%s", name,
			    val);
}

/*
 * Selected after connect(), a SYN is lost, and the next is answered: what the kernel took it gives
 * back.
 */
static inline void lf_test_lost_syn(const struct tcp_congestion_ops *ops, struct tcp_sock *tp)
{
	u32 cwnd = tcp_snd_cwnd(tp), packets = tp->packets_out;
	struct sock *sk = (struct sock *)tp;

	sk->sk_state = TCP_SYN_SENT;
	tp->packets_out = 1;
	tp->lost_out = 1;
	tp->lost++;
	tp->snd_ssthresh = ops->ssthresh(sk);
	tcp_snd_cwnd_set(tp, 1);
	if (ops->set_state)
		ops->set_state(sk, TCP_CA_Loss);
	sk->sk_state = TCP_ESTABLISHED;
	tp->packets_out = packets;
	tp->lost_out = 0;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tcp_snd_cwnd_set(tp, cwnd);
	if (ops->set_state)
		ops->set_state(sk, TCP_CA_Open);
}

/*
 * The first slow start of @ops, with @tp after ->init: slow_start is read in ->init alone.  A
 * loss in it halves 900 packets, but for classic, and takes less later.  After undo it goes
 * on.  At 900 packets limited grows by one for 18.
 */
static inline void lf_test_first_slow_start(struct kunit *test,
					    const struct tcp_congestion_ops *ops,
					    struct tcp_sock *tp)
{
	static const char * const ways[] = {
		"hystart++", "limited", "train", "classic",
	};
	struct sock *sk = (struct sock *)tp;
	u32 i, again, w;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		bool classic = !strcmp(ways[i], "classic");

		lf_test_set(test, "slow_start", ways[i], 0);
		tcp_snd_cwnd_set(tp, 900);
		tp->prior_cwnd = 900;
		/* A SYN that was lost before has left an ssthresh, which the kernel forgets. */
		sk->sk_state = TCP_SYN_SENT;
		tp->snd_ssthresh = 5;
		ops->init(sk);
		sk->sk_state = TCP_ESTABLISHED;
		tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
		/* What is set now is for the next connection. */
		lf_test_set(test, "slow_start", classic ? "train" : "classic",
			    0);
		lf_test_lost_syn(ops, tp);
		for (again = 0; again < 3; again++) {
			w = ops->ssthresh(sk);
			if (classic)
				KUNIT_EXPECT_GT_MSG(test, w, 500U, "%s", ways[i]);
			else
				KUNIT_EXPECT_EQ_MSG(test, w, 450U, "%s", ways[i]);
			KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 900U);
			tp->snd_ssthresh = w;
			tcp_snd_cwnd_set(tp, w);
			KUNIT_EXPECT_EQ(test, ops->undo_cwnd(sk), 900U);
			tcp_snd_cwnd_set(tp, 900);
			tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
		}
		ops->cong_avoid(sk, 0, 18);
		KUNIT_EXPECT_EQ_MSG(test, tcp_snd_cwnd(tp),
				    strcmp(ways[i], "limited") ? 918U : 901U,
				    "%s", ways[i]);
		/* A loss that is none of it any more. */
		tcp_snd_cwnd_set(tp, 900);
		ops->ssthresh(sk);
		KUNIT_EXPECT_GT_MSG(test, ops->ssthresh(sk), 500U, "%s",
				    ways[i]);
	}
	/* One that knows its ssthresh has none to come. */
	lf_test_set(test, "slow_start", "train", 0);
	tp->snd_ssthresh = 1000;
	ops->init(sk);
	ops->cong_avoid(sk, 0, 18);
	KUNIT_EXPECT_EQ(test, tcp_snd_cwnd(tp), 918U);
	KUNIT_EXPECT_GT(test, ops->ssthresh(sk), 500U);
}

/* What a parameter takes, its default last, and what it refuses. */
struct lf_test_params {
	const char *name, *good[5];
	const char *low, *high;		/* min - 1, max + 1: -ERANGE, if any */
};

/* These are all of the module's, they check, and keep what they had. */
static inline void lf_test_params_checked(struct kunit *test,
					  const struct lf_test_params *all,
					  u32 count)
{
	static const char * const bad[] = {
		"", "\n", "garbage", "-1", "4/3", "x1", "--", " 1",
	};
	u32 i, g, b;

	KUNIT_EXPECT_EQ(test, THIS_MODULE->num_kp, count);
	for (i = 0; i < count; i++) {
		const char *name = all[i].name;
		const struct kernel_param *kp = lf_test_param(name);
		u32 was;

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kp);
		KUNIT_ASSERT_PTR_EQ(test, kp->ops, &lf_param_ops);
		was = ((struct lf_param *)kp->arg)->value;
		for (g = 0; all[i].good[g]; g++)
			lf_test_set(test, name, all[i].good[g], 0);
		for (b = 0; b < ARRAY_SIZE(bad); b++)
			lf_test_set(test, name, bad[b], -EINVAL);
		if (all[i].low) {
			lf_test_set(test, name, all[i].low, -ERANGE);
			lf_test_set(test, name, all[i].high, -ERANGE);
		}
		/* The last good one is the default: tests leave no trace. */
		KUNIT_EXPECT_EQ_MSG(test, ((struct lf_param *)kp->arg)->value,
				    was, "%s", name);
	}
}

#endif /* LONGFAT_KUNIT_SOCK_H */
