/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters that know their range.
 *
 * A value is checked when the module is loaded and each time it is written
 * below /sys/module.  A bad one is refused (-EINVAL: not a value of this kind,
 * -ERANGE: outside of the range) with one line in the kernel log that names
 * the parameter, what was given and what is valid; the old value stays.
 *
 *	LF_PARAM_UINT(beta, 150, 1, 500, "decrease, in 1/1000");
 *	LF_PARAM_BOOL(one_layer, true, "keep the one-layer rule");
 *	LF_PARAM_ENUM(mode, 0, "what to do", "auto", "fixed");
 *
 * Read with lf_param(beta): the number, 0/1, or the index of the choice.
 * Writers may be concurrent with readers, so a reader takes each value once;
 * algorithms do that when a connection starts.
 *
 * Define pr_fmt() before the first include, it begins the log line.
 */
#ifndef LONGFAT_PARAMS_H
#define LONGFAT_PARAMS_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

struct lf_param {
	u32 value;
	u32 min, max;
	const char * const *choices;	/* names of min..max, or NULL */
};

#define lf_param(name)	READ_ONCE(lf_param_##name.value)

/*
 * A boolean is shown as N or Y.  It is written as one of these words; those with an
 * odd index mean on.  kstrtobool() looks at the first letter only and would take
 * "nonsense" for N.
 */
static const char * const lf_bool_names[] = { "N", "Y" };
static const char * const lf_bool_words[] = {
	"0", "1", "n", "y", "N", "Y", "off", "on"
};

static int lf_param_set(const char *val, const struct kernel_param *kp)
{
	struct lf_param *p = kp->arg;
	int err = 0, index;
	u32 value = 0;

	if (!val)
		val = "";
	if (p->choices == lf_bool_names) {
		index = __sysfs_match_string(lf_bool_words,
					     ARRAY_SIZE(lf_bool_words), val);
		if (index < 0)
			err = -EINVAL;
		else
			value = index & 1;
	} else if (p->choices) {
		index = __sysfs_match_string(p->choices, p->max + 1, val);
		if (index < 0)
			err = -EINVAL;
		else
			value = index;
	} else {
		err = kstrtou32(val, 0, &value);
		if (!err && (value < p->min || value > p->max))
			err = -ERANGE;
	}
	if (err) {
		char buf[64];
		int len = strcspn(val, "\n");

		if (p->choices) {
			u32 i, at = 0;

			for (i = 0; i <= p->max; i++)
				at += scnprintf(buf + at, sizeof(buf) - at,
						"%s%s", i ? ", " : "",
						p->choices[i]);
		} else {
			scnprintf(buf, sizeof(buf), "%u to %u", p->min, p->max);
		}
		pr_warn("%s=%.*s refused: valid is %s\n", kp->name,
			min(len, 32), val, buf);
		return err;
	}
	WRITE_ONCE(p->value, value);
	return 0;
}

static int lf_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct lf_param *p = kp->arg;
	u32 value = READ_ONCE(p->value);

	if (p->choices)
		return sysfs_emit(buffer, "%s\n", p->choices[value]);
	return sysfs_emit(buffer, "%u\n", value);
}

static const struct kernel_param_ops lf_param_ops = {
	.set = lf_param_set,
	.get = lf_param_get,
};

#define LF_PARAM(name, init, lo, hi, names, desc)			\
	static struct lf_param lf_param_##name = {			\
		.value = (init), .min = (lo), .max = (hi), .choices = (names) \
	};								\
	module_param_cb(name, &lf_param_ops, &lf_param_##name, 0644);	\
	MODULE_PARM_DESC(name, desc)

/* A whole number from @lo to @hi. */
#define LF_PARAM_UINT(name, init, lo, hi, desc)				\
	LF_PARAM(name, init, lo, hi, NULL, desc " (" #lo " to " #hi	\
		 ", default " #init ")")

/* One of the names that follow @desc; @init is the index of the default. */
#define LF_PARAM_ENUM(name, init, desc, ...)				\
	static const char * const lf_choices_##name[] = { __VA_ARGS__ };	\
	LF_PARAM(name, init, 0, ARRAY_SIZE(lf_choices_##name) - 1,	\
		 lf_choices_##name, desc " (one of " #__VA_ARGS__ ")")

#define LF_PARAM_BOOL(name, init, desc)					\
	LF_PARAM(name, init, 0, 1, lf_bool_names, desc " (default " #init ")")

#endif /* LONGFAT_PARAMS_H */
