/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_MODULEPARAM_H
#define LONGFAT_SHIM_MODULEPARAM_H

#include <linux/types.h>

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
};

struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
	u16 perm;
};

struct module {
	int (*init)(void);
	void (*exit)(void);
	struct kernel_param *kp;
	u32 num_kp;
};

/* The only one, which is this program. */
static struct kernel_param shim_params[32];
static struct module shim_module = { .kp = shim_params };

#define THIS_MODULE	(&shim_module)

#define module_param_cb(param, how, what, mode)				\
static void __attribute__((constructor)) shim_param_##param(void)	\
{									\
	shim_params[shim_module.num_kp++] = (struct kernel_param){	\
		.name = #param, .ops = how, .arg = what,		\
		.perm = mode };						\
}

#define MODULE_PARM_DESC(name, text)	struct kernel_param

#endif /* LONGFAT_SHIM_MODULEPARAM_H */
