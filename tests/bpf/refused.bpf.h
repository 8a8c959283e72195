/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For bpf/shim/longfat/hooks.h: each hook writes what no kernel lets BPF write, so that the
 * verifier refuses it, as one that is too old would.
 */
#ifndef LONGFAT_TEST_REFUSED_BPF_H
#define LONGFAT_TEST_REFUSED_BPF_H

#define lf_record_call(hook, sk, acked, call) do {			\
	call;								\
	inet_csk(sk)->icsk_ca_state = 0;				\
} while (0)

#define lf_record_value(hook, sk, call)		(call)

#endif /* LONGFAT_TEST_REFUSED_BPF_H */
