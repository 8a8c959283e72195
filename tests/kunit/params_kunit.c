// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters that know their range: include/longfat/params.h
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>

#include <longfat/params.h>

LF_PARAM_UINT(count, 50, 2, 65535, "a number for the tests");
LF_PARAM_UINT(any, 7, 0, U32_MAX, "a number without limits");
LF_PARAM_ENUM(choice, 1, "a choice for the tests", "0", "1/3", "1/2", "1");
LF_PARAM_BOOL(flag, 1, "a flag for the tests");

static const struct kernel_param count_kp = {
	.name = "count", .ops = &lf_param_ops, .arg = &lf_param_count,
};

static const struct kernel_param any_kp = {
	.name = "any", .ops = &lf_param_ops, .arg = &lf_param_any,
};

static const struct kernel_param choice_kp = {
	.name = "choice", .ops = &lf_param_ops, .arg = &lf_param_choice,
};

static const struct kernel_param flag_kp = {
	.name = "flag", .ops = &lf_param_ops, .arg = &lf_param_flag,
};

struct expectation {
	const char *given;
	int err;
	u32 value;		/* where err is 0 */
	const char *shown;
};

/*
 * Writes each value in turn.  An accepted one is what a reader sees from then
 * on; a refused one leaves what was there, to the reader and to the eye.
 */
static void params_expect(struct kunit *test, const struct kernel_param *kp,
			  const struct expectation *e, size_t n)
{
	const struct lf_param *p = kp->arg;
	char *before = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	char *after = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, before);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, after);
	for (; n--; e++) {
		u32 old = p->value;
		int err;

		kp->ops->get(before, kp);
		err = kp->ops->set(e->given, kp);
		kp->ops->get(after, kp);
		KUNIT_EXPECT_EQ_MSG(test, err, e->err, "%s=\"%s\"", kp->name,
				    e->given);
		if (e->err) {
			KUNIT_EXPECT_EQ_MSG(test, p->value, old, "%s=\"%s\"",
					    kp->name, e->given);
			KUNIT_EXPECT_STREQ(test, after, before);
		} else {
			KUNIT_EXPECT_EQ_MSG(test, p->value, e->value,
					    "%s=\"%s\"", kp->name, e->given);
			KUNIT_EXPECT_STREQ(test, after, e->shown);
		}
	}
}

/* A number: both ends of the range are in, one beyond is out, so is noise. */
static void params_uint(struct kunit *test)
{
	static const struct expectation e[] = {
		{ "2", 0, 2, "2\n" },
		{ "1", -ERANGE },
		{ "0", -ERANGE },
		{ "65535", 0, 65535, "65535\n" },
		{ "65536", -ERANGE },
		{ "4294967295", -ERANGE },
		{ "4294967296", -ERANGE },
		{ "99999999999999999999999999", -ERANGE },
		{ "0x10", 0, 16, "16\n" },
		{ "0x10000", -ERANGE },
		{ "0x100000032", -ERANGE },
		{ "0x", -EINVAL },
		{ "0xg", -EINVAL },
		{ "50\n", 0, 50, "50\n" },
		{ "60\n\n", -EINVAL },
		{ "60 ", -EINVAL },
		{ " 60", -EINVAL },
		{ "6 0", -EINVAL },
		{ "60k", -EINVAL },
		{ "6e1", -EINVAL },
		{ "60.0", -EINVAL },
		{ "", -EINVAL },
		{ "\n", -EINVAL },
		{ NULL, -EINVAL },
		{ "garbage", -EINVAL },
		{ "-1", -EINVAL },
		{ "-50", -EINVAL },
		{ "+51", 0, 51, "51\n" },
		{ "%s%n", -EINVAL },
	};

	params_expect(test, &count_kp, e, ARRAY_SIZE(e));
}

/* A number without limits still is one: 32 bits, no sign, no noise. */
static void params_uint_full_range(struct kunit *test)
{
	static const struct expectation e[] = {
		{ "0", 0, 0, "0\n" },
		{ "4294967295", 0, U32_MAX, "4294967295\n" },
		{ "4294967296", -ERANGE },
		{ "-1", -EINVAL },
		{ "", -EINVAL },
	};

	params_expect(test, &any_kp, e, ARRAY_SIZE(e));
}

/* A choice is one of the names, whole, and nothing else, not its index. */
static void params_enum(struct kunit *test)
{
	static const struct expectation e[] = {
		{ "0", 0, 0, "0\n" },
		{ "1", 0, 3, "1\n" },
		{ "1/2", 0, 2, "1/2\n" },
		{ "2", -EINVAL },
		{ "3", -EINVAL },
		{ "1/3\n", 0, 1, "1/3\n" },
		{ "1/2\n\n", -EINVAL },
		{ "1/", -EINVAL },
		{ "1/22", -EINVAL },
		{ " 1/2", -EINVAL },
		{ "0x1", -EINVAL },
		{ "", -EINVAL },
		{ "\n", -EINVAL },
		{ NULL, -EINVAL },
		{ "garbage", -EINVAL },
		{ "-1", -EINVAL },
		{ "4294967296", -EINVAL },
		{ "99999999999999999999999999", -EINVAL },
	};

	params_expect(test, &choice_kp, e, ARRAY_SIZE(e));
}

/* A flag is what kstrtobool() takes, which decides by the first letters. */
static void params_bool(struct kunit *test)
{
	static const struct expectation e[] = {
		{ "0", 0, 0, "N\n" },
		{ "1", 0, 1, "Y\n" },
		{ "n", 0, 0, "N\n" },
		{ "y", 0, 1, "Y\n" },
		{ "N", 0, 0, "N\n" },
		{ "Y\n", 0, 1, "Y\n" },
		{ "off", 0, 0, "N\n" },
		{ "on\n", 0, 1, "Y\n" },
		{ "2", -EINVAL },
		{ "-1", -EINVAL },
		{ "", -EINVAL },
		{ "\n", -EINVAL },
		{ NULL, -EINVAL },
		{ "garbage", -EINVAL },
		{ "x1", -EINVAL },
		{ "o", -EINVAL },
		{ " 1", -EINVAL },
		{ "99999999999999999999999999", -EINVAL },
	};

	params_expect(test, &flag_kp, e, ARRAY_SIZE(e));
}

/* What was given may be longer than a log line has room for. */
static void params_long_input(struct kunit *test)
{
	static const struct kernel_param * const kps[] = {
		&count_kp, &any_kp, &choice_kp, &flag_kp,
	};
	char *val = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, val);
	memset(val, 'z', PAGE_SIZE - 1);
	for (i = 0; i < ARRAY_SIZE(kps); i++) {
		struct expectation e = { val, -EINVAL };

		params_expect(test, kps[i], &e, 1);
	}
}

/*
 * The macros register what they declare, writable by root alone, and the
 * defaults are those given.  Runs first, before others write.
 */
static void params_declared(struct kunit *test)
{
	static const struct {
		const char *name, *shown;
	} declared[] = {
		{ "count", "50\n" }, { "any", "7\n" }, { "choice", "1/3\n" },
		{ "flag", "Y\n" },
	};
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	u32 i, k;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, THIS_MODULE->num_kp, ARRAY_SIZE(declared));
	for (i = 0; i < ARRAY_SIZE(declared); i++) {
		const struct kernel_param *kp = NULL;

		/* In what order they are is up to the compiler. */
		for (k = 0; k < THIS_MODULE->num_kp; k++)
			if (!strcmp(THIS_MODULE->kp[k].name, declared[i].name))
				kp = &THIS_MODULE->kp[k];
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kp);
		KUNIT_EXPECT_PTR_EQ(test, kp->ops, &lf_param_ops);
		KUNIT_EXPECT_EQ(test, kp->perm, 0644);
		kp->ops->get(buf, kp);
		KUNIT_EXPECT_STREQ(test, buf, declared[i].shown);
	}
	KUNIT_EXPECT_EQ(test, lf_param(count), 50U);
	KUNIT_EXPECT_EQ(test, lf_param(any), 7U);
	KUNIT_EXPECT_EQ(test, lf_param(choice), 1U);
	KUNIT_EXPECT_EQ(test, lf_param(flag), 1U);
}

static struct kunit_case params_cases[] = {
	KUNIT_CASE(params_declared),
	KUNIT_CASE(params_uint),
	KUNIT_CASE(params_uint_full_range),
	KUNIT_CASE(params_enum),
	KUNIT_CASE(params_bool),
	KUNIT_CASE(params_long_input),
	{}
};

static struct kunit_suite params_suite = {
	.name = "longfat_params",
	.test_cases = params_cases,
};

kunit_test_suites(&params_suite);

MODULE_AUTHOR("The longfat authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of range-checked module parameters");
