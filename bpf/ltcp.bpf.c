// SPDX-License-Identifier: GPL-2.0
/* ltcp as BPF: the algorithm is tcp_ltcp.c, as it is.  docs/bpf.md */
#include "../tcp_ltcp.c"

#include <longfat/hooks.h>

LF_HOOKS(ltcp);
