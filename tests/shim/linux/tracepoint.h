/* SPDX-License-Identifier: GPL-2.0 */
/* An event is on, so that its arguments are made, whether anybody listens or not. */
#ifndef LONGFAT_SHIM_TRACEPOINT_H
#define LONGFAT_SHIM_TRACEPOINT_H

#include <linux/types.h>

#define PARAMS(...)	__VA_ARGS__
#define TP_PROTO(...)	__VA_ARGS__
#define TP_ARGS(...)	__VA_ARGS__
#define TRACE_EVENT(name, proto, args, entry, assign, print)		\
static void (*shim_probe_##name)(void *data, proto);			\
static void *shim_data_##name;						\
									\
static inline void trace_##name(proto)					\
{									\
	if (shim_probe_##name)						\
		shim_probe_##name(shim_data_##name, args);		\
}									\
									\
static inline bool __attribute__((unused)) trace_##name##_enabled(void)	\
{									\
	return true;							\
}									\
									\
static inline int __attribute__((unused))				\
register_trace_##name(void (*probe)(void *data, proto), void *data)	\
{									\
	shim_probe_##name = probe;					\
	shim_data_##name = data;					\
	return 0;							\
}									\
									\
static inline void __attribute__((unused))				\
unregister_trace_##name(void (*probe)(void *data, proto), void *data)	\
{									\
	shim_probe_##name = NULL;					\
}

#define tracepoint_synchronize_unregister()

#endif /* LONGFAT_SHIM_TRACEPOINT_H */
