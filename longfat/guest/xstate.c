// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the virtual-time kernel's process, in front of libc's ptrace().
 *
 * Linux to 6.12 keeps 2696 bytes of a process's vector registers (HOST_FP_SIZE in
 * arch/x86/um/user-offsets.c).  A processor with AMX has 11008, and its kernel takes
 * all of them or none: init would be killed with "ptrace set fp regs failed,
 * errno = 14".  So what is missing is filled with zeros here, which are the registers
 * of a process that has not asked for AMX.
 *
 * At each of its system calls a process stops, its vector registers are read, and set again before
 * it goes on.  Where they are to be those that were read, and it has not run since, they are those
 * already: setting them takes the host longer than the rest of a call.  Everything else passes
 * unchanged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

static char whole[1 << 16];

/* Registers as long as those of the process @pid, or as they are where it has no more. */
static struct iovec *fill(long (*next)(int, ...), pid_t pid, struct iovec *given)
{
	static size_t size;
	static struct iovec filled;
	struct iovec all = { whole, sizeof(whole) };

	if (!size && !next(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all))
		size = all.iov_len;
	if (given->iov_len >= size)
		return given;
	memcpy(whole, given->iov_base, given->iov_len);
	memset(whole + given->iov_len, 0, size - given->iov_len);
	filled = (struct iovec){ whole, size };
	return &filled;
}

/* What the vector registers of the process @of are, as long as it has not run. */
static struct {
	pid_t of;
	size_t len;
	char regs[sizeof(whole)];
} known;

static bool are_already(pid_t pid, const struct iovec *wanted)
{
	return known.of == pid && known.len <= wanted->iov_len &&
	       !memcmp(known.regs, wanted->iov_base, known.len);
}

static void keep(pid_t pid, const struct iovec *read)
{
	known.of = read->iov_len <= sizeof(known.regs) ? pid : 0;
	known.len = read->iov_len;
	if (known.of)
		memcpy(known.regs, read->iov_base, read->iov_len);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(int, ...);
	bool vectors, set;
	void *addr, *data;
	long result;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	vectors = (size_t)addr == NT_X86_XSTATE;
	set = vectors && request == PTRACE_SETREGSET;
	if (set && are_already(pid, data))
		return 0;
	result = next(request, pid, addr, set ? fill(next, pid, data) : data);
	if (vectors && request == PTRACE_GETREGSET && !result)
		keep(pid, data);
	else if (request != PTRACE_GETREGS && request != PTRACE_SETREGS)
		known.of = 0;
	return result;
}
