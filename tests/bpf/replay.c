// SPDX-License-Identifier: GPL-2.0
/*
 * replay FILE: the calls in FILE, of an algorithm that was BPF in a kernel, once more in this
 * program, which has the algorithm's same source.  Says how many calls of each hook there were.
 * Exit status 1 at the first difference.
 *
 *	SOURCE	the algorithm's source
 */
#include SOURCE

#define lf_min_rtt_of(tp)	((tp)->rtt_min.v)

#include "replay.h"

static struct tcp_sock tp;
static struct lf_replay replay = { .tp = &tp };

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	struct lf_record r;
	u32 i;

	if (!file || THIS_MODULE->init()) {
		perror("replay");
		return 1;
	}
	replay.ops = registered[0];
	while (fread(&r, sizeof(r), 1, file) == 1) {
		if (!lf_redo(&replay, &r)) {
			puts(replay.wrong);
			return 1;
		}
	}
	printf("%u calls equal:", replay.calls);
	for (i = 0; i < LF_HOOK_COUNT; i++)
		printf(" %s %u", lf_hooks[i], replay.counts[i]);
	printf(", %u connections\n", replay.used);
	return !replay.calls;
}
