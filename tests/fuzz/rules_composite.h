/* SPDX-License-Identifier: GPL-2.0 */
/* W is the sum of what the streams extend, and the window follows it from below. */
static void rules_check(struct sender *s)
{
	struct composite *ca = inet_csk_ca(sock_of(s));
	u32 sum = 0, slow = 0, i;

	require(!ca->n || !!ca->book == (ca->n > 1), "%u streams", ca->n);
	for (i = 0; i < ca->n; i++) {
		const struct composite_stream *stream = composite_stream(ca, i);

		sum += stream->cwnd;
		slow += stream->cwnd < stream->ssthresh;
		require(stream->ssthresh >= 2, "stream %u: %u", i,
			stream->ssthresh);
	}
	require(ca->sum == sum, "%u, streams have %u", ca->sum, sum);
	require(ca->slow == slow, "%u, streams %u", ca->slow, slow);
}

static bool rules_counts_acks(const struct sender *s)
{
	return false;
}

static void rules_ssthresh(struct sender *s, u32 w, u32 cwnd)
{
}

static bool rules_undo_lowers(const struct sender *s)
{
	return false;
}

static void rules_before_control(const struct sender *s)
{
}

static void rules_control(const struct sender *s, u32 cwnd, u32 acked)
{
	require(s->tp.snd_cwnd <= (u64)cwnd + acked,
		"cwnd %u, was %u, %u acknowledged", s->tp.snd_cwnd, cwnd, acked);
}
