// SPDX-License-Identifier: GPL-2.0
/* For LD_PRELOAD: longfat-bpf is killed when it calls the function LONGFAT_KILL of libbpf. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KILLED_AT(type, function, arguments, ...)			\
type function arguments							\
{									\
	type (*real) arguments = dlsym(RTLD_NEXT, #function);		\
	const char *at = getenv("LONGFAT_KILL");			\
									\
	if (at && !strcmp(at, #function))				\
		kill(getpid(), SIGKILL);				\
	return real(__VA_ARGS__);					\
}

KILLED_AT(int, bpf_object__load, (void *object), object)
KILLED_AT(int, bpf_map__pin, (void *map, const char *path), map, path)
KILLED_AT(void *, bpf_map__attach_struct_ops, (void *map), map)
