// SPDX-License-Identifier: GPL-2.0
/*
 * replay FILE: the calls in FILE, of an algorithm that was BPF in a kernel, once more in this
 * program, which has the algorithm's same source.  Each has to do what it did there: the window,
 * ssthresh, the returned value, and each byte of the state.  The state is this program's own from
 * the first call of a connection on.
 *
 *	SOURCE	the algorithm's source
 *
 * Says how many calls of each hook there were.  Exit status 1 at the first difference.
 */
#include SOURCE

#include "record.h"

static const char * const hooks[LF_HOOK_COUNT] = {
	"init", "cong_avoid", "ssthresh", "undo_cwnd", "tx_start"
};

struct connection {
	u64 sk;
	struct tcp_sock tp;
};

static struct connection connections[256];
static u32 used;

static struct connection *connection_of(const struct lf_record *r)
{
	struct connection *c;

	for (c = connections; c < connections + used; c++)
		if (c->sk == r->sk)
			return c;
	if (used == ARRAY_SIZE(connections))
		return NULL;
	used++;
	c->sk = r->sk;
	memcpy(c->tp.inet_conn.icsk_ca_priv, r->state, sizeof(r->state));
	return c;
}

#define LF_GIVE(type, name)	tp->name = from->name;

static void give(struct tcp_sock *tp, const struct lf_sender *from)
{
	LF_SENDER(LF_GIVE)
	tp->rack.mstamp = from->rack_mstamp;
	tp->rack.rtt_us = from->rack_rtt_us;
	tp->rtt_min.v = from->min_rtt_us;
	tp->inet_conn.icsk_inet.sk_pacing_status = from->pacing_status;
	tp->inet_conn.icsk_ca_state = from->ca_state;
	tp->is_cwnd_limited = from->is_cwnd_limited;
}

static u32 call(const struct lf_record *r, struct sock *sk)
{
	const struct tcp_congestion_ops *ops = registered[0];

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
		ops->cwnd_event_tx_start(sk);
		return 0;
	}
}

/* The first word of the state that differs, -1 for none. */
static int differs(const u64 *a, const u64 *b)
{
	int i;

	for (i = 0; i < 13; i++)
		if (a[i] != b[i])
			return i;
	return -1;
}

int main(int argc, char **argv)
{
	u32 counts[LF_HOOK_COUNT] = {}, calls = 0, i;
	struct lf_record r;
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!file || THIS_MODULE->init()) {
		perror("replay");
		return 1;
	}
	while (fread(&r, sizeof(r), 1, file) == 1) {
		struct connection *c = connection_of(&r);
		u32 value;
		u64 *state;
		int word;

		if (!c || r.hook >= LF_HOOK_COUNT) {
			printf("call %u: too many connections, or no hook\n", calls);
			return 1;
		}
		state = c->tp.inet_conn.icsk_ca_priv;
		/* The kernel clears it before ->init; otherwise it is nobody else's. */
		if (r.hook == LF_HOOK_INIT)
			memcpy(state, r.state, sizeof(r.state));
		word = differs(state, r.state);
		if (word >= 0) {
			printf("call %u, %s: word %d of the state changed between calls\n",
			       calls, hooks[r.hook], word);
			return 1;
		}
		give(&c->tp, &r.before);
		value = call(&r, (struct sock *)&c->tp);
		word = differs(state, r.state_after);
		if (value != r.value || c->tp.snd_cwnd != r.cwnd ||
		    c->tp.snd_ssthresh != r.ssthresh || word >= 0) {
			printf("call %u, %s: here value %u cwnd %u ssthresh %u, in the kernel %u %u %u; word %d of the state differs\n",
			       calls, hooks[r.hook], value, c->tp.snd_cwnd,
			       c->tp.snd_ssthresh, r.value, r.cwnd, r.ssthresh,
			       word);
			return 1;
		}
		counts[r.hook]++;
		calls++;
	}
	printf("%u calls equal:", calls);
	for (i = 0; i < LF_HOOK_COUNT; i++)
		printf(" %s %u", hooks[i], counts[i]);
	printf(", %u connections\n", used);
	return !calls;
}
