/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of an algorithm that is BPF: include/longfat/params.h, without the kernel's part
 * of it.  They are an array in a map of their own, with their names and ranges, so that
 * longfat-bpf knows them by the object alone, and later by the map.  It checks what is set.
 */
#ifndef LONGFAT_PARAMS_H
#define LONGFAT_PARAMS_H

#include <longfat/about.h>

#define lf_param(name)	READ_ONCE(lf_param_##name.value)

/* In a section of their own, one behind the other. */
#define LF_PARAM(name_, init, lo, hi, kind_, ...)			\
	struct lf_param lf_param_##name_				\
	__attribute__((section(".data.params"), used)) = {		\
		.value = (init), .min = (lo), .max = (hi),		\
		.kind = (kind_), .name = #name_, .choices = { __VA_ARGS__ } \
	}

#define LF_PARAM_UINT(name, init, lo, hi, desc)				\
	LF_PARAM(name, init, lo, hi, LF_UINT, )

#define LF_PARAM_ENUM(name, init, desc, ...)				\
	LF_PARAM(name, init, 0,						\
		 sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *) - 1, \
		 LF_ENUM, __VA_ARGS__)

#define LF_PARAM_BOOL(name, init, desc)					\
	LF_PARAM(name, init, 0, 1, LF_BOOL, "N", "Y")

#endif /* LONGFAT_PARAMS_H */
