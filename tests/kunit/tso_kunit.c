// SPDX-License-Identifier: GPL-2.0
/*
 * include/longfat/tso.h: the burst that the kernel would choose, and the hook of kernels that
 * take the answer as it is, whatever this one has.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#undef LF_HAVE_MIN_TSO_SEGS
#include <longfat/tso.h>

#include <kunit/test.h>
#include <linux/module.h>

#include "sock.h"

#define TSO_MSS		1448
#define TSO_MOST	65536

/* No packet is sent: what leaves at once is decided by these alone. */
static struct sock *tso_test_sock(struct kunit *test, u64 rate, u32 min_rtt_us)
{
	struct tcp_sock *tp = lf_test_sock(test, 100, min_rtt_us);
	struct sock *sk = (struct sock *)tp;

	write_pnet(&sk->sk_net, &init_net);
	sk->sk_pacing_rate = rate;
	sk->sk_pacing_shift = 10;
	sk->sk_gso_max_size = TSO_MOST;
	sk->sk_gso_max_segs = 65535;
	return sk;
}

/* 1/1024 s of data on a long path, never fewer than is asked for. */
static void tso_rate(struct kunit *test)
{
	struct sock *sk = tso_test_sock(test, 10 * TSO_MSS * 1024, 100000);

	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), 10U);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 10), 10U);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 11), 11U);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS + 1, 1), 9U);
	sk->sk_pacing_shift = 11;
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), 5U);
	sk->sk_pacing_rate = 1;
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 2), 2U);
}

/* No more than one skb holds, beside its headers. */
static void tso_most(struct kunit *test)
{
	struct sock *sk = tso_test_sock(test, ~0UL, 100000);
	u32 most = (TSO_MOST - 1 - MAX_TCP_HEADER) / TSO_MSS;

	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), most);
	sk->sk_pacing_shift = 0;
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), most);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, most + 1), most + 1);
	sk->sk_gso_max_size = MAX_TCP_HEADER;
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), 1U);
}

#ifdef LF_HAVE_TSO_RTT_LOG
/* On a short path more, half as much for each 2^tcp_tso_rtt_log us. */
static void tso_short_path(struct kunit *test)
{
	struct sock *sk = tso_test_sock(test, 1024, 0);
	u8 was = init_net.ipv4.sysctl_tcp_tso_rtt_log;

	init_net.ipv4.sysctl_tcp_tso_rtt_log = 9;
	minmax_reset(&tcp_sk(sk)->rtt_min, 0, 511);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1),
			(u32)(TSO_MOST - 1 - MAX_TCP_HEADER) / TSO_MSS);
	minmax_reset(&tcp_sk(sk)->rtt_min, 0, 512);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1),
			(TSO_MOST / 2 + 1U) / TSO_MSS);
	minmax_reset(&tcp_sk(sk)->rtt_min, 0, 3 * 512);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1),
			(TSO_MOST / 8 + 1U) / TSO_MSS);
	minmax_reset(&tcp_sk(sk)->rtt_min, 0, ~0U);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), 1U);
	/* 0: no share of the path, as a shift by 0 makes of each RTT above 31 us. */
	init_net.ipv4.sysctl_tcp_tso_rtt_log = 0;
	minmax_reset(&tcp_sk(sk)->rtt_min, 0, 512);
	KUNIT_EXPECT_EQ(test, lf_tso_segs(sk, TSO_MSS, 1), 1U);
	init_net.ipv4.sysctl_tcp_tso_rtt_log = was;
}
#endif

/* An algorithm: it sets the rate and asks for three packets. */
static u32 tso_foo_min_tso_segs(struct sock *sk)
{
	WRITE_ONCE(sk->sk_pacing_rate, 7 * TSO_MSS * 1024);
	return 3;
}

LF_DEFINE_TSO_SEGS(tso_foo)

/* The hook's answer is of the rate that the algorithm sets in it. */
static void tso_hook(struct kunit *test)
{
	struct sock *sk = tso_test_sock(test, 50 * TSO_MSS * 1024, 100000);

	KUNIT_EXPECT_EQ(test, tso_foo_tso_segs(sk, TSO_MSS), 7U);
	KUNIT_EXPECT_EQ(test, tso_foo_tso_segs(sk, 8 * TSO_MSS), 3U);
}

static struct kunit_case tso_cases[] = {
	KUNIT_CASE(tso_rate),
	KUNIT_CASE(tso_most),
#ifdef LF_HAVE_TSO_RTT_LOG
	KUNIT_CASE(tso_short_path),
#endif
	KUNIT_CASE(tso_hook),
	{}
};

static struct kunit_suite tso_suite = {
	.name = "longfat_tso",
	.test_cases = tso_cases,
};

kunit_test_suites(&tso_suite);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the size of bursts");
