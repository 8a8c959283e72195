// SPDX-License-Identifier: GPL-2.0
/* writable FILE...: of each object, made of writable.bpf.c, whether the kernel loads it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

int main(int argc, char **argv)
{
	libbpf_set_print(silent);
	while (*++argv) {
		struct bpf_object *object = bpf_object__open(*argv);

		if (!object) {
			perror(*argv);
			return 1;
		}
		printf("%s %s\n", strrchr(*argv, '/') + 1,
		       bpf_object__load(object) ? "no" : "yes");
		bpf_object__close(object);
	}
	return 0;
}
