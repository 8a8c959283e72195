// SPDX-License-Identifier: GPL-2.0
/*
 * longfat-bpf: load algorithms of longfat into the kernel as BPF, without a module.
 *
 * The objects are a part of this program.  One of them becomes a congestion control in one
 * step, the last one of load().  What was before, pinned maps (pins.c), is left behind if this
 * is killed, and is nothing to the kernel's TCP; the next load() removes it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "longfat-bpf.h"

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

static bool verbose;	/* load: say what was verified */
static bool again;	/* load: what is loaded already only gets these parameters */

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

		/* Linux 5.16 counts them. */
		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) &&
		    info.verified_insns)
			printf("%s: %u instructions verified\n",
			       bpf_program__name(program), info.verified_insns);
	}
}

static double ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
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
	double began = ms(CLOCK_MONOTONIC), busy = ms(CLOCK_PROCESS_CPUTIME_ID);
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
		printf("loaded in %.0f ms, %.0f of them the processor's\n",
		       ms(CLOCK_MONOTONIC) - began, ms(CLOCK_PROCESS_CPUTIME_ID) - busy);
	}
	return 0;
}

/* What is loaded goes on with these parameters. */
static int adopt(const char *name, const struct lf_param *params, size_t size)
{
	size_t there;
	struct lf_param *now = mapped(name, "params", &there);

	if (!now)
		return 1;
	if (!take_values(now, there / sizeof(*now), params, size / sizeof(*now)))
		return complain("%s is loaded with other parameters: unload it, and load it again",
				name);
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
		return again ? adopt(name, params, size) :
		       complain("%s is loaded already; longfat-bpf set changes its parameters",
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

static int unload(const char *name, char **words)
{
	__u32 zero = 0;
	int fd;

	if (!find(name))
		return 1;
	lock(false);
	if (!loaded(name))
		return complain("%s is not loaded as BPF%s", name,
				registered(name) ? ", but registered otherwise" : "");
	if (is_default(name))
		return 1;
	fd = opened(name, "ops");
	if (fd < 0 || bpf_map_delete_elem(fd, &zero))
		return complain("%s cannot be unloaded: %s", name, strerror(errno));
	remove_pins(name);
	return 0;
}

static int list(const char *name, char **words)
{
	size_t i;

	lock(false);
	for (i = 0; i < COUNT(algorithms); i++) {
		name = algorithms[i].name;
		printf("%s\t%s\n", name, loaded(name) ? "loaded" :
		       registered(name) ? "not loaded: the name is taken, by a module" :
		       "not loaded");
	}
	return 0;
}

/* The parameters of @name, as they are now or, if it is not loaded, would be. */
static int parameters(const char *name, char **words)
{
	const struct algorithm *a = find(name);
	struct lf_param *params;
	struct bpf_object *object;
	size_t size;

	if (!a)
		return 1;
	if (!geteuid() && loaded(name)) {
		params = mapped(name, "params", &size);
		if (!params)
			return 1;
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
		return 1;
	return set(name, params, size / sizeof(*params), words);
}

static const char usage[] =
	"Usage: longfat-bpf [-v] [-a] COMMAND\n"
	"\n"
	"  load NAME [PARAMETER=VALUE ...]   load an algorithm, and register it\n"
	"  unload NAME                       take it out; connections that have it go on\n"
	"  list                              which there are, and which are loaded\n"
	"  parameters NAME                   its parameters, and what is valid\n"
	"  set NAME PARAMETER=VALUE ...      change them, for connections from now on\n"
	"  trace NAME                        print its decisions, until Ctrl-C\n"
	"\n"
	"  -v, --verbose                     load: say what the kernel verified\n"
	"  -a, --again                       load: if it is loaded, only set its parameters\n";

static int follow(const char *name, char **words)
{
	return find(name) ? trace(name) : 1;
}

/* A command takes words behind its name: @least, and @most unless any number. */
static const struct command {
	const char *name;
	int (*run)(const char *name, char **words);
	int least, most;
	bool anybody;	/* also who is not root; load() has its say behind the settings */
} commands[] = {
	{ "load", load, 1, -1, true },
	{ "unload", unload, 1, 1 },
	{ "list", list, 0, 0 },
	{ "parameters", parameters, 1, 1, true },
	{ "set", change, 2, -1 },
	{ "trace", follow, 1, 1 },
};

static int wrong_usage(void)
{
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *name;
	size_t i;
	int n;

	for (argv++; *argv && **argv == '-'; argv++) {
		if (!strcmp(*argv, "-h") || !strcmp(*argv, "--help")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(*argv, "-v") || !strcmp(*argv, "--verbose"))
			verbose = true;
		else if (!strcmp(*argv, "-a") || !strcmp(*argv, "--again"))
			again = true;
		else
			return wrong_usage();
	}
	for (i = 0; *argv && i < COUNT(commands); i++)
		if (!strcmp(commands[i].name, *argv))
			break;
	if (!*argv || i == COUNT(commands))
		return wrong_usage();
	for (n = 0; argv[1 + n]; n++)
		;
	if (n < commands[i].least || (commands[i].most >= 0 && n > commands[i].most))
		return wrong_usage();
	name = n ? argv[1] : "";
	if (!commands[i].anybody && not_root(commands[i].name, name))
		return 1;
	listen_to_libbpf();
	return commands[i].run(name, n ? argv + 2 : argv + 1);
}
