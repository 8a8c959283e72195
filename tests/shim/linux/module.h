/* SPDX-License-Identifier: GPL-2.0 */
/* A module is a part of the program, which calls what it does when it is loaded. */
#ifndef LONGFAT_SHIM_MODULE_H
#define LONGFAT_SHIM_MODULE_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>

#define module_init(function)						\
static void __attribute__((constructor)) shim_has_init(void)		\
{									\
	THIS_MODULE->init = function;					\
}

#define module_exit(function)						\
static void __attribute__((constructor)) shim_has_exit(void)		\
{									\
	THIS_MODULE->exit = function;					\
}

/* What stands alone, with a semicolon, must be a declaration. */
#define MODULE_AUTHOR(text)		struct module
#define MODULE_LICENSE(text)		struct module
#define MODULE_DESCRIPTION(text)	struct module
#define MODULE_VERSION(text)		struct module
#define MODULE_ALIAS(text)		struct module

#endif /* LONGFAT_SHIM_MODULE_H */
