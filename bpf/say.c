// SPDX-License-Identifier: GPL-2.0
/* What goes wrong, in a line. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "longfat-bpf.h"

/* The end of what libbpf said, and the kernel's verifier through it. */
static char said[1024];

int complain(const char *format, ...)
{
	va_list args;

	fputs("longfat-bpf: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t length, old = strlen(said), rest;
	char *text;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	/* The verifier's log has megabytes, and says at its end what is wrong. */
	length = strlen(text);
	if (length >= sizeof(said)) {
		memmove(text, text + length - sizeof(said) + 1, sizeof(said));
		length = sizeof(said) - 1;
	}
	rest = sizeof(said) - 1 - length;
	if (rest > old)
		rest = old;
	memmove(said, said + old - rest, rest);
	memcpy(said + rest, text, length + 1);
	free(text);
	return 0;
}

void listen_to_libbpf(void)
{
	libbpf_set_print(keep);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
}

/* The last line that tells something. */
const char *reason(int error)
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
