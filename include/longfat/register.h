/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module that does nothing but register one algorithm.
 */
#ifndef LONGFAT_REGISTER_H
#define LONGFAT_REGISTER_H

#include <linux/module.h>
#include <net/tcp.h>

/* As module_driver() of the kernel: the module registers @ops, which keeps @state. */
#define LF_REGISTER(ops, state)						\
static int __init ops##_register(void)					\
{									\
	BUILD_BUG_ON(sizeof(state) > ICSK_CA_PRIV_SIZE);		\
	return tcp_register_congestion_control(&(ops));			\
}									\
									\
static void __exit ops##_unregister(void)				\
{									\
	tcp_unregister_congestion_control(&(ops));			\
}									\
									\
module_init(ops##_register);						\
module_exit(ops##_unregister)

#endif /* LONGFAT_REGISTER_H */
