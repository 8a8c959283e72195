/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF verifier has to be told of the algorithms, which are also built as BPF.
 *
 * A kernel loads BPF only if it sees by itself that every loop ends and every index is in
 * its array.  So the sources say both.  In a module all of it is plain C, which is what is
 * here; bpf/shim/longfat/bounds.h is its other half.
 */
#ifndef LONGFAT_BOUNDS_H
#define LONGFAT_BOUNDS_H

/* A function of its arguments alone: the verifier looks at it once, whoever calls. */
#define LF_PURE			static

/* A loop which, for the verifier, has @most rounds.  In BPF lf_leap() leaves no more of them. */
#define lf_while(most, cond)	while (cond)
/* lf_do(most) { ... } lf_again(cond); the same, looked at behind the first round. */
#define lf_do(most)		do
#define lf_again(cond)		while (cond)

/* @x, of which the verifier knows nothing: it does not try all that may follow of it. */
#define lf_unknown(x)		(x)

/* @index, which is below @size. */
#define lf_index(index, size)	(index)

/* @a / @b with a sign, which BPF knows only since 6.6; @b > 0. */
#define lf_divide(a, b)		((a) / (b))

/* Many rounds of lf_grow()'s loop at once. */
#define lf_leap(window, credit, need, stop)

#endif /* LONGFAT_BOUNDS_H */
