// SPDX-License-Identifier: GPL-2.0
/* An init that fails. */
#include <linux/module.h>

static int __init refuses_init(void)
{
	pr_err("refuses: this is not the hardware that it wants\n");
	return -ENODEV;
}

module_init(refuses_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("refuses");
