// SPDX-License-Identifier: GPL-2.0
/* What the kernel has: registered names, what BPF needs, defaults of network namespaces. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "longfat-bpf.h"

#define VMLINUX	"/sys/kernel/btf/vmlinux"
#define SYSCTL	"/proc/sys/net/"

/* The first line of the sysctl @name below /proc/sys/net, "" if there is none. */
static const char *sysctl(const char *name)
{
	static char line[1024];
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), SYSCTL "%s", name);
	line[0] = '\0';
	file = fopen(path, "r");
	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

bool registered(const char *name)
{
	char words[1024], *word, *rest = words;

	snprintf(words, sizeof(words), "%s",
		 sysctl("ipv4/tcp_available_congestion_control"));
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, name))
			return true;
	return false;
}

/* --- what BPF needs --------------------------------------------------------- */

static bool has_member(const struct btf *btf, const char *of, const char *member)
{
	int id = btf__find_by_name_kind(btf, of, BTF_KIND_STRUCT), i;
	const struct btf_type *type;

	if (id < 0)
		return false;
	type = btf__type_by_id(btf, id);
	for (i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off),
			    member))
			return true;
	return false;
}

/* What a kernel has that can do it: names of its BTF, in the order in which they came. */
static const struct {
	const char *name;
	int kind;
	const char *without;
} needed[] = {
	{ "bpf_struct_ops_tcp_congestion_ops", BTF_KIND_STRUCT,
	  "this kernel takes no congestion control as BPF (struct_ops, Linux 5.6)" },
	{ "bpf_kfunc_desc_tab", BTF_KIND_STRUCT,
	  "BPF cannot call functions of this kernel (kfuncs, Linux 5.13)" },
	{ "tcp_slow_start", BTF_KIND_FUNC, "this kernel has no function tcp_slow_start()" },
	{ "tcp_reno_undo_cwnd", BTF_KIND_FUNC,
	  "this kernel has no function tcp_reno_undo_cwnd()" },
};

int suitable(const char *name)
{
	struct btf *btf;
	int which = -1;
	size_t i;

	if (access(VMLINUX, R_OK)) {
		complain("%s cannot be loaded: this kernel has no BTF, %s is missing (CONFIG_DEBUG_INFO_BTF)",
			 name, VMLINUX);
		return -1;
	}
	if (!strcmp(sysctl("core/bpf_jit_enable"), "0")) {
		complain("%s cannot be loaded: the BPF JIT is off: sysctl -w net.core.bpf_jit_enable=1",
			 name);
		return -1;
	}
	btf = btf__parse(VMLINUX, NULL);
	if (!btf) {
		complain("%s cannot be loaded: %s: %s", name, VMLINUX,
			 strerror(errno));
		return -1;
	}
	for (i = 0; i < COUNT(needed); i++)
		if (btf__find_by_name_kind(btf, needed[i].name, needed[i].kind) < 0) {
			complain("%s cannot be loaded: %s", name, needed[i].without);
			goto out;
		}
	which = has_member(btf, "tcp_congestion_ops", "cwnd_event_tx_start");
out:
	btf__free(btf);
	return which;
}

/* --- defaults of network namespaces ----------------------------------------- */

static bool is_default_here(const char *name)
{
	return !strcmp(sysctl("ipv4/tcp_congestion_control"), name);
}

/*
 * Says so if @name is the default of the namespace at @path: a process's, or one that
 * "ip netns" gave a name.
 */
static bool look_there(const char *name, const char *path)
{
	const char *what = strrchr(path, '/') + 1;
	int there = open(path, O_RDONLY | O_CLOEXEC), pid;
	bool found;

	/* It may have ended meanwhile. */
	found = there >= 0 && !setns(there, CLONE_NEWNET) && is_default_here(name);
	if (found) {
		if (sscanf(path, "/proc/%d", &pid) == 1)
			complain("%s is the default in the network namespace of process %d: nsenter -t %d -n sysctl -w net.ipv4.tcp_congestion_control=cubic first",
				 name, pid, pid);
		else
			complain("%s is the default in the network namespace %s: ip netns exec %s sysctl -w net.ipv4.tcp_congestion_control=cubic first",
				 name, what, what);
	}
	if (there >= 0)
		close(there);
	return found;
}

struct namespace {
	dev_t device;
	ino_t inode;
	char *path;
};

/* In the order of namespaces; of each that with a name is first, /run comes behind /proc. */
static int compare(const void *a, const void *b)
{
	const struct namespace *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return -strcmp(x->path, y->path);
}

bool is_default(const char *name)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct namespace *all, *last = NULL;
	size_t n = 0, i;
	bool found;
	glob_t paths;

	found = is_default_here(name);
	if (found) {
		complain("%s is the default here: sysctl -w net.ipv4.tcp_congestion_control=cubic first",
			 name);
		goto out;
	}
	glob("/proc/[0-9]*/ns/net", 0, NULL, &paths);
	glob("/run/netns/*", GLOB_APPEND, NULL, &paths);
	all = calloc(paths.gl_pathc + 1, sizeof(*all));
	if (own < 0 || !all)
		exit(complain("cannot look at network namespaces: %s", strerror(errno)));
	for (i = 0; i < paths.gl_pathc; i++) {
		struct stat about;

		if (!stat(paths.gl_pathv[i], &about))
			all[n++] = (struct namespace){ about.st_dev, about.st_ino,
						       paths.gl_pathv[i] };
	}
	qsort(all, n, sizeof(*all), compare);
	for (i = 0; i < n && !found; i++) {
		if (!last || last->device != all[i].device || last->inode != all[i].inode)
			found = look_there(name, all[i].path);
		last = &all[i];
	}
	free(all);
	globfree(&paths);
	if (setns(own, CLONE_NEWNET))
		exit(complain("cannot return to this network namespace: %s",
			      strerror(errno)));
out:
	close(own);
	return found;
}
