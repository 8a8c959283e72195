/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of longfat-bpf have in common. */
#ifndef LONGFAT_BPF_H
#define LONGFAT_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/longfat/about.h"

#define BPFFS	"/sys/fs/bpf"
#define PINS	BPFFS "/longfat"
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* --- say.c: what goes wrong ------------------------------------------------- */

/* One line on stderr.  Returns the exit status. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on reason() knows what libbpf says, and the kernel's verifier through it. */
void listen_to_libbpf(void);

/* Why something of libbpf failed, in a line; what @error means if nobody said more. */
const char *reason(int error);

/* --- settings.c: parameters ------------------------------------------------- */

/* Set them from words like beta=300: all, or none if one is refused.  The exit status. */
int set(const char *name, struct lf_param *params, size_t n, char **words);

/* Values of @to become those of @from.  false, and nothing happens, if the names differ. */
bool take_values(struct lf_param *to, size_t n, const struct lf_param *from, size_t of);

void print(const struct lf_param *params, size_t n);

/* --- kernel.c: what the kernel has ------------------------------------------ */

/* Is a congestion control of this name registered, by whomever? */
bool registered(const char *name);

/* Which object this kernel takes, 1: that with cwnd_event_tx_start.  -1: none, and it is said. */
int suitable(const char *name);

/* Is @name the default of a network namespace?  It is said of which. */
bool is_default(const char *name);

/* --- pins.c: what is loaded, and stays -------------------------------------- */

/* Map of an object -> its name in the directory of pins; no map: that of the hooks. */
struct pinned {
	const char *map, *pin;
};

#define PINNED	4
extern const struct pinned pinned[PINNED];

/* The path of a pin; "": of their directory. */
const char *pin(const char *name, const char *what);

/* An open map, or -1 with errno. */
int opened(const char *name, const char *what);

void remove_pins(const char *name);

/* Is @name registered, and by these pins? */
bool loaded(const char *name);

/*
 * The directory of pins, open and locked until this program ends; made if @make.  -1 if it is
 * not there, which is said if @make.
 */
int lock(bool make);

/*
 * A pinned map of data as memory, and its size.  NULL, and it is said, also if another version
 * of this program pinned it, whose data may mean something else.
 */
void *mapped(const char *name, const char *what, size_t *size);

/* --- trace.c ---------------------------------------------------------------- */

/* Print events of @name until a signal.  The exit status. */
int trace(const char *name);

#endif /* LONGFAT_BPF_H */
