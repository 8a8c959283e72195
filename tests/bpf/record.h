/* SPDX-License-Identifier: GPL-2.0 */
/* One call of a hook: what it was given, what it saw, and what it did. */
#ifndef LONGFAT_TEST_RECORD_H
#define LONGFAT_TEST_RECORD_H

#include <linux/types.h>

enum lf_hook {
	LF_HOOK_INIT, LF_HOOK_CONG_AVOID, LF_HOOK_SSTHRESH, LF_HOOK_UNDO_CWND,
	LF_HOOK_TX_START, LF_HOOK_COUNT
};

/* All of a sender that an algorithm, and the kernel's functions for it, read. */
#define LF_SENDER(F)							\
	F(u64, tcp_mstamp) F(u64, tcp_clock_cache)			\
	F(u32, snd_cwnd) F(u32, snd_cwnd_clamp) F(u32, snd_ssthresh)	\
	F(u32, prior_cwnd) F(u32, prior_ssthresh)			\
	F(u32, lost_out) F(u32, max_packets_out) F(u32, delivered)	\
	F(u32, srtt_us) F(u32, mss_cache) F(u32, snd_una) F(u32, snd_nxt)

#define LF_MEMBER(type, name)	type name;

struct lf_sender {
	LF_SENDER(LF_MEMBER)
	u64 rack_mstamp;
	u32 rack_rtt_us, min_rtt_us;
	u32 pacing_status;
	u8 tcp_state, ca_state, is_cwnd_limited;
};

struct lf_record {
	u64 sk;			/* which connection */
	u32 hook;		/* enum lf_hook */
	u32 acked;
	u32 value;		/* returned */
	u32 cwnd, ssthresh;	/* behind the call */
	struct lf_sender before;
	u64 state[13], state_after[13];	/* icsk_ca_priv */
};

#endif /* LONGFAT_TEST_RECORD_H */
