// SPDX-License-Identifier: GPL-2.0
/*
 * timed FILE|- COMMAND...: what calls of lf_cong_avoid take while COMMAND runs: "CALLS NS", by
 * the kernel's own count, which reads a clock twice a call.  The hooks in FILE are registered
 * meanwhile.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static struct bpf_link *begin(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_map *map;

	if (!object || bpf_object__load(object))
		return NULL;
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			return bpf_map__attach_struct_ops(map);
	return NULL;
}

static void count(unsigned long long *calls, unsigned long long *ns)
{
	__u32 id = 0;

	*calls = *ns = 0;
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 length = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &length) &&
		    info.type == BPF_PROG_TYPE_STRUCT_OPS && !strcmp(info.name, "lf_cong_avoid")) {
			*calls += info.run_cnt;
			*ns += info.run_time_ns;
		}
		close(fd);
	}
}

int main(int argc, char **argv)
{
	unsigned long long calls, ns;
	struct bpf_link *link = NULL;
	int status = -1;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (argc > 2 && strcmp(argv[1], "-"))
		link = begin(argv[1]);
	if (argc < 3 || (strcmp(argv[1], "-") && !link) ||
	    bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		perror("timed");
		return 1;
	}
	if (!fork()) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	wait(&status);
	count(&calls, &ns);
	bpf_link__destroy(link);
	if (status || !calls) {
		fprintf(stderr, "timed: %s: status %d, %llu calls\n", argv[2], status, calls);
		return 1;
	}
	printf("%llu %llu\n", calls, ns);
	return 0;
}
