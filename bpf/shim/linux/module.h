/* SPDX-License-Identifier: GPL-2.0 */
/* What a module says of itself.  BPF is loaded by longfat-bpf, and registered by its hooks. */
#ifndef LONGFAT_BPF_MODULE_H
#define LONGFAT_BPF_MODULE_H

#include <linux/kernel.h>

#define THIS_MODULE		NULL

/* What stands alone, with a semicolon, must be a declaration. */
#define module_init(function)		struct module
#define module_exit(function)		struct module
#define MODULE_AUTHOR(text)		struct module
#define MODULE_DESCRIPTION(text)	struct module
#define MODULE_VERSION(text)		struct module
/* The kernel's functions are for those who say so in this section. */
#define MODULE_LICENSE(text)						\
	char lf_license[] __attribute__((section("license"), used)) = text

#endif /* LONGFAT_BPF_MODULE_H */
