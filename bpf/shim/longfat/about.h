/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the algorithms that are BPF and longfat-bpf tell each other through maps.  What is loaded
 * outlives the longfat-bpf that loaded it: a change of a structure here is another LF_LAYOUT.
 */
#ifndef LONGFAT_ABOUT_H
#define LONGFAT_ABOUT_H

#include <linux/types.h>

#ifndef LF_LAYOUT
#define LF_LAYOUT	2
#endif

#define LF_NAME_MAX	24
#define LF_CHOICES_MAX	4
#define LF_REASONS_MAX	8
#define LF_FIELDS_MAX	8

enum lf_kind { LF_UINT, LF_BOOL, LF_ENUM };

/* A parameter, in .data.params. */
struct lf_param {
	__u32	value;
	__u32	min, max;
	__u32	kind;				/* enum lf_kind */
	char	name[LF_NAME_MAX];
	char	choices[LF_CHOICES_MAX][12];	/* of min..max, unless LF_UINT */
};

struct lf_trace_reason {
	__u32	value;
	char	name[LF_NAME_MAX];
};

struct lf_trace_field {
	char	name[LF_NAME_MAX];
};

/* The trace event of an algorithm, in .data.trace. */
struct lf_trace_about {
	__u32	layout;		/* LF_LAYOUT */
	__u32	lost;		/* events for which there was no room */
	__u64	until_ns;	/* since boot: longfat-bpf trace listens, 0: it does not */
	struct lf_trace_reason reasons[LF_REASONS_MAX];	/* no name: there are no more */
	struct lf_trace_field fields[LF_FIELDS_MAX];
};

/* One event, in the ring buffer lf_events: what the module's trace event has. */
struct lf_trace_event {
	__u64	when_ns;	/* since boot */
	__u8	saddr[16], daddr[16];
	__u16	family, sport, dport;
	__u16	reason;
	__u32	cwnd, ssthresh, srtt_us, min_rtt_us;
	__s64	fields[LF_FIELDS_MAX];
};

#endif /* LONGFAT_ABOUT_H */
