/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recorded call of a hook, done again by an algorithm: it has to do what it did then, the
 * window, ssthresh, the returned value, and each byte of the state.  The state is our own from
 * the first call of a connection on.
 *
 * Part of replay.c, a program with the algorithm's source in it, and of lf_replay.c, a module
 * that asks whatever has the algorithm's name in the kernel.
 */
#ifndef LONGFAT_TEST_REPLAY_H
#define LONGFAT_TEST_REPLAY_H

#include "record.h"

static const char * const lf_hooks[LF_HOOK_COUNT] = {
	"init", "cong_avoid", "ssthresh", "undo_cwnd", "tx_start"
};

struct lf_connection {
	u64 sk;
	u64 state[13];
};

struct lf_replay {
	const struct tcp_congestion_ops *ops;
	struct tcp_sock *tp;	/* which is every connection in turn */
	struct lf_connection connections[64];
	u32 used;
	u32 counts[LF_HOOK_COUNT], calls;
	char wrong[256];	/* what differed first */
};

static struct lf_connection *lf_connection_of(struct lf_replay *replay,
					      const struct lf_record *r)
{
	struct lf_connection *c;

	for (c = replay->connections; c < replay->connections + replay->used; c++)
		if (c->sk == r->sk)
			return c;
	if (replay->used == ARRAY_SIZE(replay->connections))
		return NULL;
	replay->used++;
	c->sk = r->sk;
	memcpy(c->state, r->state, sizeof(r->state));
	return c;
}

#define LF_GIVE(type, name)	tp->name = from->name;

static void lf_give(struct tcp_sock *tp, const struct lf_sender *from)
{
	LF_SENDER(LF_GIVE)
	tp->rack.mstamp = from->rack_mstamp;
	tp->rack.rtt_us = from->rack_rtt_us;
	lf_min_rtt_of(tp) = from->min_rtt_us;
	((struct sock *)tp)->sk_pacing_status = from->pacing_status;
	((struct sock *)tp)->sk_state = from->tcp_state;
	tp->inet_conn.icsk_ca_state = from->ca_state;
	tp->is_cwnd_limited = from->is_cwnd_limited;
}

static u32 lf_call(const struct tcp_congestion_ops *ops, const struct lf_record *r,
		   struct sock *sk)
{
	switch (r->hook) {
	case LF_HOOK_INIT:
		ops->init(sk);
		return 0;
	case LF_HOOK_CONG_AVOID:
		ops->cong_avoid(sk, 0, r->acked);
		return 0;
	case LF_HOOK_SSTHRESH:
		return ops->ssthresh(sk);
	case LF_HOOK_UNDO_CWND:
		return ops->undo_cwnd(sk);
	default:
#ifdef LF_HAVE_TX_START
		ops->cwnd_event_tx_start(sk);
#else
		ops->cwnd_event(sk, CA_EVENT_TX_START);
#endif
		return 0;
	}
}

/* The first word of the state that differs, -1 for none. */
static int lf_differs(const u64 *a, const u64 *b)
{
	int i;

	for (i = 0; i < 13; i++)
		if (a[i] != b[i])
			return i;
	return -1;
}

/* Whether this call does what it did; otherwise ->wrong says what is not so. */
static bool lf_redo(struct lf_replay *replay, const struct lf_record *r)
{
	struct lf_connection *c = lf_connection_of(replay, r);
	struct tcp_sock *tp = replay->tp;
	u64 *state = tp->inet_conn.icsk_ca_priv;
	u32 value;
	int word;

	if (!c || r->hook >= LF_HOOK_COUNT) {
		snprintf(replay->wrong, sizeof(replay->wrong),
			 "call %u: too many connections, or no hook", replay->calls);
		return false;
	}
	/* The kernel clears it before ->init; otherwise it is nobody else's. */
	if (r->hook == LF_HOOK_INIT)
		memcpy(c->state, r->state, sizeof(r->state));
	word = lf_differs(c->state, r->state);
	if (word >= 0) {
		snprintf(replay->wrong, sizeof(replay->wrong),
			 "call %u, %s: word %d of the state changed between calls",
			 replay->calls, lf_hooks[r->hook], word);
		return false;
	}
	lf_give(tp, &r->before);
	memcpy(state, c->state, sizeof(c->state));
	value = lf_call(replay->ops, r, (struct sock *)tp);
	memcpy(c->state, state, sizeof(c->state));
	word = lf_differs(c->state, r->state_after);
	if (value != r->value || tp->snd_cwnd != r->cwnd ||
	    tp->snd_ssthresh != r->ssthresh || word >= 0) {
		snprintf(replay->wrong, sizeof(replay->wrong),
			 "call %u, %s: here value %u cwnd %u ssthresh %u, when recorded %u %u %u; word %d of the state differs",
			 replay->calls, lf_hooks[r->hook], value, tp->snd_cwnd,
			 tp->snd_ssthresh, r->value, r->cwnd, r->ssthresh, word);
		return false;
	}
	replay->counts[r->hook]++;
	replay->calls++;
	return true;
}

#endif /* LONGFAT_TEST_REPLAY_H */
