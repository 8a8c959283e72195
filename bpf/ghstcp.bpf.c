// SPDX-License-Identifier: GPL-2.0
/* ghstcp as BPF: the algorithm is tcp_ghstcp.c, as it is.  docs/bpf.md */
#include "../tcp_ghstcp.c"

#include <longfat/hooks.h>

LF_HOOKS(ghstcp);
