/* SPDX-License-Identifier: GPL-2.0 */
/* The objects, for longfat-bpf.c. */
	.section .rodata

.macro object name
	.balign 8
	.globl lf_\name
lf_\name:
	.incbin "\name\().bpf.o"
	.globl lf_\name\()_end
lf_\name\()_end:
.endm

	object ltcp
	object ltcp_tx_start
	object ghstcp
	object ghstcp_tx_start

	.section .note.GNU-stack, "", %progbits
