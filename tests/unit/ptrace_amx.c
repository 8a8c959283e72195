// SPDX-License-Identifier: GPL-2.0
/*
 * ptrace() of a processor with 11008 bytes of vector registers, as Linux answers: it gives
 * as many as there is room for and takes all of them or none.  Preloaded; the program below
 * is the virtual-time kernel's way to use it.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SIZE 11008

#ifdef PRELOADED
long ptrace(enum __ptrace_request request, ...)
{
	static char held[SIZE] = { [SIZE - 1] = 1 };
	static long sets;
	struct iovec *iov;
	va_list ap;

	va_start(ap, request);
	va_arg(ap, pid_t);
	va_arg(ap, void *);
	iov = va_arg(ap, void *);
	va_end(ap);
	if (request == PTRACE_PEEKUSER)
		return sets;
	if (request == PTRACE_SYSEMU) {
		memset(held, 'r', sizeof(held));
		return 0;
	}
	if (request == PTRACE_SETREGSET) {
		sets++;
		if (iov->iov_len != SIZE) {
			errno = EFAULT;
			return -1;
		}
		memcpy(held, iov->iov_base, SIZE);
	} else {
		if (iov->iov_len > SIZE)
			iov->iov_len = SIZE;
		memcpy(iov->iov_base, held, iov->iov_len);
	}
	return 0;
}
#else
/* What is read is set again, with its first byte @first, whether it @runs in between or not. */
static void read_and_set(const char *says, int runs, char first)
{
	static char regs[SIZE];
	struct iovec iov = { regs, 2696 };
	long before = ptrace(PTRACE_PEEKUSER, 1, 0, 0);

	ptrace(PTRACE_GETREGSET, 1, NT_X86_XSTATE, &iov);
	if (runs)
		ptrace(PTRACE_SYSEMU, 1, 0, 0);
	if (first)
		*regs = first;
	ptrace(PTRACE_SETREGSET, 1, NT_X86_XSTATE, &iov);
	before = ptrace(PTRACE_PEEKUSER, 1, 0, 0) - before;
	ptrace(PTRACE_GETREGSET, 1, NT_X86_XSTATE, &iov);
	printf("%s: set %ld times, '%c'\n", says, before, *regs);
}

int main(void)
{
	static const size_t lengths[] = { 2696, SIZE, 2696, 832 };
	static char given[SIZE], got[SIZE];
	struct iovec iov;
	size_t i, j;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		memset(given, 'a' + i, sizeof(given));
		iov = (struct iovec){ given, lengths[i] };
		if (ptrace(PTRACE_SETREGSET, 1, NT_X86_XSTATE, &iov))
			printf("%zu: %m\n", lengths[i]);
		iov = (struct iovec){ got, sizeof(got) };
		ptrace(PTRACE_GETREGSET, 1, NT_X86_XSTATE, &iov);
		for (j = 0; j < SIZE && got[j] == (j < lengths[i] ? 'a' + (int)i : 0);)
			j++;
		printf("%zu: %zu as they should be\n", lengths[i], j);
	}
	read_and_set("the same", 0, 0);
	read_and_set("others", 0, 'x');
	read_and_set("the same after it has run", 1, 0);
	return 0;
}
#endif
