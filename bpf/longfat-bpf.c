// SPDX-License-Identifier: GPL-2.0
/*
 * longfat-bpf: load algorithms of longfat into the kernel as BPF, without a module.
 *
 * The objects are a part of this program.  One of them becomes a congestion control in one
 * step, the last one of load().  What was before, pinned maps, is left behind if this is
 * killed, and is nothing to the kernel's TCP; the next load() removes it.
 *
 *	/sys/fs/bpf/longfat/ltcp/ops		the hooks: deleting its entry unregisters
 *	/sys/fs/bpf/longfat/ltcp/params		struct lf_param[]
 *	/sys/fs/bpf/longfat/ltcp/trace		struct lf_trace_about
 *	/sys/fs/bpf/longfat/ltcp/events		ring buffer of struct lf_trace_event
 *
 * Whoever changes something there holds a lock on /sys/fs/bpf/longfat.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "shim/longfat/about.h"

#define BPFFS	"/sys/fs/bpf"
#define PINS	BPFFS "/longfat"
#define VMLINUX	"/sys/kernel/btf/vmlinux"
#define SYSCTL	"/proc/sys/net/"
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* objects.S: an object for kernels before cwnd_event_tx_start (7.1), and one since. */
extern const char lf_ltcp[], lf_ltcp_end[], lf_ltcp_tx_start[], lf_ltcp_tx_start_end[];
extern const char lf_ghstcp[], lf_ghstcp_end[], lf_ghstcp_tx_start[], lf_ghstcp_tx_start_end[];

struct algorithm {
	const char *name;
	const char *object[2], *end[2];		/* [1]: with cwnd_event_tx_start */
};

static const struct algorithm algorithms[] = {
	{ "ghstcp", { lf_ghstcp, lf_ghstcp_tx_start },
		    { lf_ghstcp_end, lf_ghstcp_tx_start_end } },
	{ "ltcp", { lf_ltcp, lf_ltcp_tx_start },
		  { lf_ltcp_end, lf_ltcp_tx_start_end } },
};

/* Map of an object -> its name in the directory of pins. */
static const struct {
	const char *map, *pin;
} pinned[] = {
	{ ".data.params", "params" }, { ".data.trace", "trace" },
	{ "lf_events", "events" }, { NULL, "ops" },
};

static bool verbose;
/* The end of what libbpf said, and the kernel's verifier through it. */
static char said[1024];

static int complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* One line on stderr.  Returns the exit status. */
static int complain(const char *format, ...)
{
	va_list args;

	fputs("longfat-bpf: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}

static int listen_to_libbpf(enum libbpf_print_level level, const char *format,
			    va_list args)
{
	size_t length, old = strlen(said), keep;
	char *text;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	/* The verifier's log has megabytes, and says at its end what is wrong. */
	length = strlen(text);
	if (length >= sizeof(said)) {
		memmove(text, text + length - sizeof(said) + 1, sizeof(said));
		length = sizeof(said) - 1;
	}
	keep = sizeof(said) - 1 - length;
	if (keep > old)
		keep = old;
	memmove(said, said + old - keep, keep);
	memcpy(said + keep, text, length + 1);
	free(text);
	return 0;
}

/* The last line of it that tells something; @error if there is none. */
static const char *reason(int error)
{
	static const char * const nothing[] = {
		"processed ", "libbpf: failed to load object", "-- END PROG LOAD LOG --",
		"verification time", "stack depth"
	};
	char *line, *best = NULL, *rest = said;
	size_t i;

	while ((line = strsep(&rest, "\n"))) {
		for (i = 0; i < COUNT(nothing); i++)
			if (strstr(line, nothing[i]))
				break;
		if (*line && i == COUNT(nothing) && !strstr(line, ": failed to load: "))
			best = line;
	}
	return best ? best : strerror(error);
}

/* Says so if this is an ordinary user. */
static bool not_root(const char *command, const char *name)
{
	if (geteuid())
		complain("%s is root's: sudo longfat-bpf %s%s%s", command,
			 command, *name ? " " : "", name);
	return geteuid();
}

static const struct algorithm *find(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(algorithms); i++)
		if (!strcmp(algorithms[i].name, name))
			return &algorithms[i];
	fprintf(stderr, "longfat-bpf: no algorithm '%s' is here; there are:", name);
	for (i = 0; i < COUNT(algorithms); i++)
		fprintf(stderr, " %s", algorithms[i].name);
	fputc('\n', stderr);
	return NULL;
}

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

/* Is a congestion control of this name registered, by whomever? */
static bool registered(const char *name)
{
	char words[1024], *word, *rest = words;

	snprintf(words, sizeof(words), "%s",
		 sysctl("ipv4/tcp_available_congestion_control"));
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, name))
			return true;
	return false;
}

/* --- parameters ------------------------------------------------------------ */

/* A number as the kernel's kstrtou32() reads one. */
static bool number(const char *text, uint32_t *out)
{
	unsigned long long value;
	char *end;

	text += *text == '+';
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end || errno || value > UINT32_MAX)
		return false;
	*out = value;
	return true;
}

static bool parse(const struct lf_param *p, const char *text, uint32_t *out)
{
	static const char * const words[] = {
		"0", "1", "n", "y", "N", "Y", "off", "on"
	};
	uint32_t i;

	switch (p->kind) {
	case LF_UINT:
		return number(text, out) && *out >= p->min && *out <= p->max;
	case LF_BOOL:
		for (i = 0; i < COUNT(words); i++)
			if (!strcmp(words[i], text)) {
				*out = i & 1;
				return true;
			}
		return false;
	default:
		for (i = 0; i <= p->max; i++)
			if (!strcmp(p->choices[i], text)) {
				*out = i;
				return true;
			}
		return false;
	}
}

/* What is valid for @p, as the modules say it. */
static const char *valid(const struct lf_param *p)
{
	static char text[64];
	uint32_t i;
	int at = 0;

	if (p->kind == LF_UINT) {
		snprintf(text, sizeof(text), "%u to %u", p->min, p->max);
		return text;
	}
	for (i = 0; i <= p->max; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s",
			       i ? ", " : "", p->choices[i]);
	return text;
}

/*
 * Set parameters of @name from words like beta=300: all of them, or none if one of them is
 * refused.  Returns the exit status.
 */
static int set(const char *name, struct lf_param *params, size_t n,
	       char **words)
{
	uint32_t values[n];
	char **word;
	size_t i;

	for (i = 0; i < n; i++)
		values[i] = params[i].value;
	for (word = words; *word; word++) {
		size_t length = strcspn(*word, "=");
		const char *text = *word + length + 1;

		for (i = 0; i < n; i++)
			if (strlen(params[i].name) == length &&
			    !strncmp(params[i].name, *word, length))
				break;
		if (!(*word)[length])
			return complain("'%s' is no setting: write parameter=value",
					*word);
		if (i == n) {
			fprintf(stderr, "longfat-bpf: %s has no parameter '%.*s'; there are:",
				name, (int)length, *word);
			for (i = 0; i < n; i++)
				fprintf(stderr, " %s", params[i].name);
			fputc('\n', stderr);
			return 1;
		}
		if (!parse(&params[i], text, &values[i]))
			return complain("%s=%.32s refused: valid is %s",
					params[i].name, text, valid(&params[i]));
	}
	/* A connection that begins reads each of them once. */
	for (i = 0; i < n; i++)
		__atomic_store_n(&params[i].value, values[i], __ATOMIC_RELAXED);
	return 0;
}

static void print(const struct lf_param *params, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct lf_param *p = &params[i];

		if (p->kind == LF_UINT)
			printf("%s=%u", p->name, p->value);
		else
			printf("%s=%s", p->name, p->choices[p->value]);
		printf("\t(%s)\n", valid(p));
	}
}

/* --- the kernel ------------------------------------------------------------ */

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

/*
 * What the kernel lacks is said on stderr.  Returns which object is for it, 1: that with
 * cwnd_event_tx_start; -1 if none.
 */
static int suitable(const char *name)
{
	static const char * const functions[] = {
		"tcp_slow_start", "tcp_reno_undo_cwnd"
	};
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
	if (btf__find_by_name_kind(btf, "bpf_struct_ops_tcp_congestion_ops",
				   BTF_KIND_STRUCT) < 0) {
		complain("%s cannot be loaded: this kernel takes no congestion control as BPF (struct_ops, Linux 5.6 with CONFIG_BPF_JIT)",
			 name);
		goto out;
	}
	for (i = 0; i < COUNT(functions); i++)
		if (btf__find_by_name_kind(btf, functions[i], BTF_KIND_FUNC) < 0) {
			complain("%s cannot be loaded: BPF cannot call %s() of this kernel (kfuncs, Linux 5.13)",
				 name, functions[i]);
			goto out;
		}
	which = has_member(btf, "tcp_congestion_ops", "cwnd_event_tx_start");
out:
	btf__free(btf);
	return which;
}

/* --- pins ------------------------------------------------------------------ */

static const char *pin(const char *name, const char *what)
{
	static char path[128];

	snprintf(path, sizeof(path), PINS "/%s/%s", name, what);
	return path;
}

/* An open map, or -1 with errno. */
static int opened(const char *name, const char *what)
{
	return bpf_obj_get(pin(name, what));
}

static void remove_pins(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(pinned); i++)
		unlink(pin(name, pinned[i].pin));
	rmdir(pin(name, ""));
}

/* The states of a map of hooks, enum bpf_struct_ops_state of the kernel. */
enum { INIT, INUSE };

/* Is @name registered, and by these pins? */
static bool loaded(const char *name)
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

/*
 * The directory of pins, open and locked until this ends; made if @make.  -1 if it is not
 * there, which is said if @make.
 */
static int lock(bool make)
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

/* A pinned map of data as memory, NULL with errno; *@size is its size. */
static void *mapped(const char *name, const char *what, size_t *size)
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

/* --- the commands ---------------------------------------------------------- */

static struct bpf_object *open_object(const struct algorithm *a, int which)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = a->name);

	return bpf_object__open_mem(a->object[which], a->end[which] - a->object[which],
				    &options);
}

static struct bpf_map *params_of(const struct bpf_object *object)
{
	return bpf_object__find_map_by_name(object, ".data.params");
}

/* A copy of what @object begins with. */
static struct lf_param *initial(const struct bpf_object *object, size_t *size)
{
	const void *there = bpf_map__initial_value(params_of(object), size);
	void *copy = malloc(*size);

	if (!copy)
		exit(complain("no memory"));
	return memcpy(copy, there, *size);
}

/* What the verifier looked at for each hook. */
static void tell_steps(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			printf("%s: %u instructions verified\n",
			       bpf_program__name(program), info.verified_insns);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Pins the maps of a loaded object.  Returns that of the hooks, NULL with errno. */
static struct bpf_map *pin_maps(const char *name, struct bpf_object *object)
{
	struct bpf_map *map, *ops = NULL;
	size_t i;

	if (mkdir(pin(name, ""), 0700))
		return NULL;
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			ops = map;
	for (i = 0; i < COUNT(pinned); i++) {
		map = pinned[i].map ?
		      bpf_object__find_map_by_name(object, pinned[i].map) : ops;
		if (bpf_map__pin(map, pin(name, pinned[i].pin)))
			return NULL;
	}
	return ops;
}

static int load_object(const char *name, struct bpf_object *object)
{
	double began = seconds();
	struct bpf_link *link;
	struct bpf_map *ops;

	if (bpf_object__load(object))
		return complain("%s cannot be loaded: the kernel refuses it: %s",
				name, reason(errno));
	/* What a load that was killed has left. */
	remove_pins(name);
	ops = pin_maps(name, object);
	if (!ops) {
		int error = errno;

		remove_pins(name);
		return complain("%s cannot be loaded: cannot pin it in %s: %s",
				name, PINS, strerror(error));
	}
	link = bpf_map__attach_struct_ops(ops);
	if (!link) {
		int error = errno;

		remove_pins(name);
		return complain("%s cannot be registered: %s", name,
				strerror(error));
	}
	/* It stays. */
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	if (verbose) {
		tell_steps(object);
		printf("loaded in %.0f ms\n", (seconds() - began) * 1000);
	}
	return 0;
}

static int load(const char *name, char **words)
{
	const struct algorithm *a = find(name);
	struct bpf_object *object;
	struct lf_param *params;
	int which, status;
	size_t size;

	if (!a)
		return 1;
	/* They are the same in both objects, and what is wrong with settings comes first. */
	object = open_object(a, 0);
	if (!object)
		return complain("%s: %s", name, strerror(errno));
	params = initial(object, &size);
	status = set(name, params, size / sizeof(*params), words);
	bpf_object__close(object);
	if (status || not_root("load", name))
		return 1;
	which = suitable(name);
	if (which < 0 || lock(true) < 0)
		return 1;
	if (loaded(name))
		return complain("%s is loaded already; longfat-bpf set changes its parameters",
				name);
	if (registered(name))
		return complain("%s is taken: a congestion control of this name is registered; if it is the module, modprobe -r tcp_%s first",
				name, name);
	object = open_object(a, which);
	if (!object)
		return complain("%s: %s", name, strerror(errno));
	if (bpf_map__set_initial_value(params_of(object), params, size))
		status = complain("%s: its parameters: %s", name, strerror(errno));
	else
		status = load_object(name, object);
	bpf_object__close(object);
	free(params);
	return status;
}

static int unload(const char *name)
{
	__u32 zero = 0;
	int fd;

	if (!find(name))
		return 1;
	lock(false);
	if (!loaded(name))
		return complain("%s is not loaded as BPF%s", name,
				registered(name) ? ", but registered otherwise" : "");
	if (!strcmp(sysctl("ipv4/tcp_congestion_control"), name))
		return complain("%s is the default here: sysctl -w net.ipv4.tcp_congestion_control=cubic first",
				name);
	fd = opened(name, "ops");
	if (fd < 0 || bpf_map_delete_elem(fd, &zero))
		return complain("%s cannot be unloaded: %s", name, strerror(errno));
	remove_pins(name);
	return 0;
}

static int list(void)
{
	size_t i;

	lock(false);
	for (i = 0; i < COUNT(algorithms); i++) {
		const char *name = algorithms[i].name;

		printf("%s\t%s\n", name, loaded(name) ? "loaded" :
		       registered(name) ? "not loaded: the name is taken, by a module" :
		       "not loaded");
	}
	return 0;
}

/* The parameters of @name, as they are now or, if it is not loaded, would be. */
static int parameters(const char *name)
{
	const struct algorithm *a = find(name);
	struct lf_param *params = NULL;
	struct bpf_object *object;
	size_t size;

	if (!a)
		return 1;
	if (!geteuid() && loaded(name))
		params = mapped(name, "params", &size);
	if (params) {
		print(params, size / sizeof(*params));
		return 0;
	}
	object = open_object(a, 0);
	if (!object)
		return complain("%s: %s", name, strerror(errno));
	params = initial(object, &size);
	print(params, size / sizeof(*params));
	bpf_object__close(object);
	free(params);
	return 0;
}

static int change(const char *name, char **words)
{
	struct lf_param *params;
	size_t size;

	if (!find(name))
		return 1;
	lock(false);
	if (!loaded(name))
		return complain("%s is not loaded as BPF", name);
	params = mapped(name, "params", &size);
	if (!params)
		return complain("%s: its parameters: %s", name, strerror(errno));
	return set(name, params, size / sizeof(*params), words);
}

static volatile sig_atomic_t over;

static void end(int signal)
{
	over = 1;
}

static const char *reason_name(const struct lf_trace_about *about, uint32_t value)
{
	size_t i;

	for (i = 0; i < LF_REASONS_MAX && about->reasons[i].name[0]; i++)
		if (about->reasons[i].value == value)
			return about->reasons[i].name;
	return "?";
}

struct tracing {
	const char *name;
	const struct lf_trace_about *about;
};

/* One line, as the module's event is printed. */
static int show(void *context, void *data, size_t size)
{
	const struct tracing *t = context;
	const struct lf_trace_event *e = data;
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	size_t i;

	inet_ntop(AF_INET6, e->saddr, from, sizeof(from));
	inet_ntop(AF_INET6, e->daddr, to, sizeof(to));
	printf("%llu.%06llu: longfat:%s: src=[%s]:%u dest=[%s]:%u reason=%s cwnd=%u ssthresh=%u srtt_us=%u min_rtt_us=%u",
	       (unsigned long long)e->when_ns / 1000000000,
	       (unsigned long long)e->when_ns / 1000 % 1000000, t->name,
	       from, e->sport, to, e->dport, reason_name(t->about, e->reason),
	       e->cwnd, e->ssthresh, e->srtt_us, e->min_rtt_us);
	for (i = 0; i < LF_FIELDS_MAX && t->about->fields[i].name[0]; i++)
		printf(" %s=%lld", t->about->fields[i].name,
		       (long long)e->fields[i]);
	putchar('\n');
	return 0;
}

static int trace(const char *name)
{
	struct sigaction action = { .sa_handler = end };
	struct tracing t = { .name = name };
	struct lf_trace_about *about;
	struct ring_buffer *ring;
	int fd, directory;
	size_t size;

	if (!find(name))
		return 1;
	if (!loaded(name))
		return complain("%s is not loaded as BPF", name);
	directory = open(pin(name, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (flock(directory, LOCK_EX | LOCK_NB))
		return complain("%s is traced already, by another longfat-bpf",
				name);
	about = mapped(name, "trace", &size);
	fd = opened(name, "events");
	t.about = about;
	ring = fd < 0 ? NULL : ring_buffer__new(fd, show, &t, NULL);
	if (!about || !ring)
		return complain("%s: its events: %s", name, strerror(errno));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* What a trace that was killed has left is not of now. */
	__atomic_store_n(&about->on, 0, __ATOMIC_RELAXED);
	t.about = about;
	about->lost = 0;
	fputs("longfat-bpf: tracing; end with Ctrl-C\n", stderr);
	__atomic_store_n(&about->on, 1, __ATOMIC_RELAXED);
	while (!over && loaded(name))
		ring_buffer__poll(ring, 200);
	__atomic_store_n(&about->on, 0, __ATOMIC_RELAXED);
	ring_buffer__consume(ring);
	if (about->lost)
		complain("%u events were lost: they came faster than they are printed",
			 about->lost);
	return ferror(stdout) || fflush(stdout);
}

static const char usage[] =
	"Usage: longfat-bpf [-v] COMMAND\n"
	"\n"
	"  load NAME [PARAMETER=VALUE ...]   load an algorithm, and register it\n"
	"  unload NAME                       take it out; connections that have it go on\n"
	"  list                              which there are, and which are loaded\n"
	"  parameters NAME                   its parameters, and what is valid\n"
	"  set NAME PARAMETER=VALUE ...      change them, for connections from now on\n"
	"  trace NAME                        print its decisions, until Ctrl-C\n"
	"\n"
	"  -v, --verbose                     load: say what the kernel verified\n";

int main(int argc, char **argv)
{
	const char *command, *name;

	if (argc > 1 && (!strcmp(argv[1], "-v") || !strcmp(argv[1], "--verbose"))) {
		verbose = true;
		argv++;
		argc--;
	}
	command = argc > 1 ? argv[1] : "";
	name = argc > 2 ? argv[2] : NULL;
	if (!strcmp(command, "-h") || !strcmp(command, "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	libbpf_set_print(listen_to_libbpf);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (!strcmp(command, "parameters") && argc == 3)
		return parameters(name);
	if (!(!strcmp(command, "list") && argc == 2) &&
	    !(!strcmp(command, "load") && name) &&
	    !(!strcmp(command, "unload") && argc == 3) &&
	    !(!strcmp(command, "set") && argc > 3) &&
	    !(!strcmp(command, "trace") && argc == 3)) {
		fputs(usage, stderr);
		return 2;
	}
	if (!strcmp(command, "load"))
		return load(name, argv + 3);
	if (not_root(command, name ? name : ""))
		return 1;
	if (!strcmp(command, "unload"))
		return unload(name);
	if (!strcmp(command, "set"))
		return change(name, argv + 3);
	if (!strcmp(command, "trace"))
		return trace(name);
	return list();
}
