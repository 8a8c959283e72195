/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit's suites in a program: its arguments are the names of the cases to run, none
 * are all of them.  KTAP, one result for each case; exit status 1 if any failed.
 */
#ifndef LONGFAT_SHIM_KUNIT_H
#define LONGFAT_SHIM_KUNIT_H

#include <setjmp.h>

#include <linux/module.h>
#include <linux/slab.h>

struct kunit_thing {
	void (*action)(void *what);
	void *what;
};

struct kunit {
	jmp_buf abort;
	bool failed;
	u32 things;
	struct kunit_thing thing[65536];
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*suite_init)(struct kunit_suite *suite);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(case)	{ case, #case }

/* What is to be done, or freed, when a case is over; the last one first. */
static inline int kunit_add_action_or_reset(struct kunit *test,
					    void (*action)(void *what),
					    void *what)
{
	if (test->things == ARRAY_SIZE(test->thing))
		abort();
	test->thing[test->things++] = (struct kunit_thing){ action, what };
	return 0;
}

static inline void kunit_release_action(struct kunit *test,
					void (*action)(void *what), void *what)
{
	u32 i = test->things;

	while (i--) {
		struct kunit_thing *thing = &test->thing[i];

		if (thing->action != action || thing->what != what)
			continue;
		memmove(thing, thing + 1, (--test->things - i) * sizeof(*thing));
		action(what);
		return;
	}
}

static inline void *kunit_kcalloc(struct kunit *test, size_t n, size_t size,
				  int flags)
{
	void *p = calloc(n, size);

	kunit_add_action_or_reset(test, free, p);
	return p;
}

#define kunit_kzalloc(test, size, flags)	kunit_kcalloc(test, 1, size, flags)
#define kunit_kfree(test, p)			kunit_release_action(test, free, p)

#define kunit_check_(test, ok, then, what, ...) do {			\
	if (!(ok)) {							\
		printf("# %s:%d: expected %s ", __FILE__, __LINE__, what); \
		printf("" __VA_ARGS__);					\
		printf("\n");						\
		(test)->failed = true;					\
		then;							\
	}								\
} while (0)

#define kunit_expect_(test, a, op, b, ...)				\
	kunit_check_(test, (a) op (b), , #a " " #op " " #b, __VA_ARGS__)
#define kunit_assert_(test, a, op, b, ...)				\
	kunit_check_(test, (a) op (b), longjmp((test)->abort, 1),	\
		     #a " " #op " " #b, __VA_ARGS__)

#define KUNIT_EXPECT_EQ(test, a, b)	kunit_expect_(test, a, ==, b)
#define KUNIT_EXPECT_NE(test, a, b)	kunit_expect_(test, a, !=, b)
#define KUNIT_EXPECT_LT(test, a, b)	kunit_expect_(test, a, <, b)
#define KUNIT_EXPECT_LE(test, a, b)	kunit_expect_(test, a, <=, b)
#define KUNIT_EXPECT_GT(test, a, b)	kunit_expect_(test, a, >, b)
#define KUNIT_EXPECT_GE(test, a, b)	kunit_expect_(test, a, >=, b)
#define KUNIT_EXPECT_PTR_EQ(test, a, b)	kunit_expect_(test, a, ==, b)
#define KUNIT_EXPECT_PTR_NE(test, a, b)	kunit_expect_(test, a, !=, b)
#define KUNIT_EXPECT_TRUE(test, a)	kunit_expect_(test, !!(a), ==, true)
#define KUNIT_EXPECT_FALSE(test, a)	kunit_expect_(test, !!(a), ==, false)
#define KUNIT_EXPECT_STREQ(test, a, b)	kunit_expect_(test, strcmp(a, b), ==, 0)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)				\
	kunit_expect_(test, a, ==, b, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(test, a, b, ...)				\
	kunit_expect_(test, a, <, b, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(test, a, b, ...)				\
	kunit_expect_(test, a, <=, b, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(test, a, b, ...)				\
	kunit_expect_(test, a, >, b, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(test, a, b, ...)				\
	kunit_expect_(test, a, >=, b, __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, a, b)	kunit_assert_(test, a, ==, b)
#define KUNIT_ASSERT_NE(test, a, b)	kunit_assert_(test, a, !=, b)
#define KUNIT_ASSERT_LT(test, a, b)	kunit_assert_(test, a, <, b)
#define KUNIT_ASSERT_LE(test, a, b)	kunit_assert_(test, a, <=, b)
#define KUNIT_ASSERT_GT(test, a, b)	kunit_assert_(test, a, >, b)
#define KUNIT_ASSERT_GE(test, a, b)	kunit_assert_(test, a, >=, b)
#define KUNIT_ASSERT_PTR_EQ(test, a, b)	kunit_assert_(test, a, ==, b)
#define KUNIT_ASSERT_TRUE(test, a)	kunit_assert_(test, !!(a), ==, true)
#define KUNIT_ASSERT_FALSE(test, a)	kunit_assert_(test, !!(a), ==, false)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p)	kunit_assert_(test, !!(p), ==, true)
#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...)				\
	kunit_assert_(test, a, ==, b, __VA_ARGS__)
#define KUNIT_ASSERT_LT_MSG(test, a, b, ...)				\
	kunit_assert_(test, a, <, b, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(test, a, b, ...)				\
	kunit_assert_(test, a, <=, b, __VA_ARGS__)
#define KUNIT_ASSERT_GT_MSG(test, a, b, ...)				\
	kunit_assert_(test, a, >, b, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(test, a, b, ...)				\
	kunit_assert_(test, a, >=, b, __VA_ARGS__)

static inline bool kunit_run_case(const struct kunit_case *one)
{
	static struct kunit test;

	test.failed = false;
	test.things = 0;
	if (!setjmp(test.abort))
		one->run(&test);
	while (test.things--)
		test.thing[test.things].action(test.thing[test.things].what);
	return !test.failed;
}

static inline int kunit_main(struct kunit_suite **suites, size_t n, int argc,
			     char **argv)
{
	const struct kunit_case *one;
	int number = 0, failed = 0, i;

	printf("KTAP version 1\n");
	if (THIS_MODULE->init && THIS_MODULE->init())
		return 1;
	for (; n--; suites++) {
		if ((*suites)->suite_init && (*suites)->suite_init(*suites)) {
			printf("not ok %d %s\n", ++number, (*suites)->name);
			failed++;
			continue;
		}
		for (one = (*suites)->test_cases; one->run; one++) {
			bool wanted = argc == 1, good;

			for (i = 1; i < argc; i++)
				wanted |= !strcmp(argv[i], one->name);
			if (!wanted)
				continue;
			good = kunit_run_case(one);
			printf("%sok %d %s\n", good ? "" : "not ", ++number,
			       one->name);
			fflush(stdout);
			failed += !good;
		}
	}
	printf("1..%d\n", number);
	return !number || failed;
}

#define kunit_test_suites(...)						\
int main(int argc, char **argv)						\
{									\
	struct kunit_suite *all[] = { __VA_ARGS__ };			\
									\
	return kunit_main(all, ARRAY_SIZE(all), argc, argv);		\
}

#define kunit_test_suite(suite)	kunit_test_suites(&(suite))

#endif /* LONGFAT_SHIM_KUNIT_H */
