// SPDX-License-Identifier: GPL-2.0
/*
 * drain FILE: write what an algorithm that records has in its ring buffer, lf_records, into
 * FILE.  Exit status 1 if there is no such map, or calls were not recorded.
 *
 * drain --size MAP: how many bytes are in the ring buffer of that name, which stay there.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static int take(void *file, void *data, size_t size)
{
	return fwrite(data, size, 1, file) == 1 ? 0 : -1;
}

/* The newest map of this name and type. */
static int find(const char *name, __u32 type)
{
	__u32 id = 0, length;
	int fd, found = -1;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = {};

		length = sizeof(info);
		fd = bpf_map_get_fd_by_id(id);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &length) &&
		    !strcmp(info.name, name) && info.type == type) {
			if (found >= 0)
				close(found);
			found = fd;
		} else {
			close(fd);
		}
	}
	return found;
}

/* As the kernel and libbpf share it: a page with where the reader is, one with the writer. */
static int tell_size(int fd)
{
	long page = sysconf(_SC_PAGESIZE);
	const unsigned long *reader = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	const unsigned long *writer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);

	if (reader == MAP_FAILED || writer == MAP_FAILED)
		return 1;
	printf("%lu\n", *writer - *reader);
	return 0;
}

int main(int argc, char **argv)
{
	bool size = argc == 3 && !strcmp(argv[1], "--size");
	int fd = find(size ? argv[2] : "lf_records", BPF_MAP_TYPE_RINGBUF), n;
	struct ring_buffer *ring;
	FILE *file;

	if (size)
		return tell_size(fd);
	if (argc != 2 || fd < 0) {
		fputs("drain: no FILE, or nothing records\n", stderr);
		return 1;
	}
	file = fopen(argv[1], "w");
	ring = file ? ring_buffer__new(fd, take, file, NULL) : NULL;
	if (!ring) {
		perror("drain");
		return 1;
	}
	n = ring_buffer__consume(ring);
	printf("%d calls\n", n);
	return n <= 0 || fclose(file);
}
