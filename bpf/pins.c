// SPDX-License-Identifier: GPL-2.0
/*
 * What is loaded, and stays in the kernel: pinned maps.
 *
 *	/sys/fs/bpf/longfat/ltcp/ops		the hooks: deleting its entry unregisters
 *	/sys/fs/bpf/longfat/ltcp/params		struct lf_param[]
 *	/sys/fs/bpf/longfat/ltcp/trace		struct lf_trace_about
 *	/sys/fs/bpf/longfat/ltcp/events		ring buffer of struct lf_trace_event
 *
 * Whoever changes something there holds a lock on /sys/fs/bpf/longfat.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>

#include "longfat-bpf.h"

const struct pinned pinned[PINNED] = {
	{ ".data.params", "params" }, { ".data.trace", "trace" },
	{ "lf_events", "events" }, { NULL, "ops" },
};

const char *pin(const char *name, const char *what)
{
	static char path[128];

	snprintf(path, sizeof(path), PINS "/%s/%s", name, what);
	return path;
}

int opened(const char *name, const char *what)
{
	return bpf_obj_get(pin(name, what));
}

void remove_pins(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(pinned); i++)
		unlink(pin(name, pinned[i].pin));
	rmdir(pin(name, ""));
}

/* The states of a map of hooks, enum bpf_struct_ops_state of the kernel. */
enum { INIT, INUSE };

bool loaded(const char *name)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info), zero = 0;
	int fd = opened(name, "ops");
	bool inuse = false;
	__u32 *value;

	if (fd < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size)) {
		value = calloc(1, info.value_size);
		/* It begins with its references and the state. */
		if (value && !bpf_map_lookup_elem(fd, &zero, value))
			inuse = value[1] == INUSE;
		free(value);
	}
	close(fd);
	return inuse;
}

static bool is_bpffs(void)
{
	struct statfs fs;

	return !statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC;
}

int lock(bool make)
{
	struct stat about;
	int fd;

	if (make && !is_bpffs() && mount("bpf", BPFFS, "bpf", 0, "mode=0700")) {
		complain("there is no bpffs at " BPFFS ", and mounting one fails: %s",
			 strerror(errno));
		return -1;
	}
	if (make && mkdir(PINS, 0700) && errno != EEXIST) {
		complain("cannot make " PINS ": %s", strerror(errno));
		return -1;
	}
	fd = open(PINS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		if (make)
			complain("cannot open " PINS ": %s", strerror(errno));
		return -1;
	}
	/* In a bpffs of mode 1777 anybody may have made it, with what he likes in it. */
	if (fstat(fd, &about) || about.st_uid || about.st_mode & 022) {
		complain(PINS " is not root's alone: remove it (rm -r " PINS ")");
		close(fd);
		return -1;
	}
	flock(fd, LOCK_EX);
	return fd;
}

static void *mapping(const char *name, const char *what, size_t *size)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	int fd = opened(name, what);
	void *at = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length)) {
		*size = info.value_size;
		at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

void *mapped(const char *name, const char *what, size_t *size)
{
	const struct lf_trace_about *about = mapping(name, "trace", size);
	void *at;

	if (about && (*size < sizeof(*about) || about->layout != LF_LAYOUT)) {
		complain("%s was loaded by another version of longfat-bpf: unload it, and load it again",
			 name);
		return NULL;
	}
	at = about ? mapping(name, what, size) : NULL;
	if (!at)
		complain("%s: what is pinned at %s: %s", name, pin(name, what),
			 strerror(errno));
	return at;
}
