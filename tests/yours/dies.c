// SPDX-License-Identifier: GPL-2.0
/* An init that takes the kernel with it. */
#include <linux/module.h>

static int __init dies_init(void)
{
	panic("dies: there is no way on from here");
}

module_init(dies_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("dies");
