// SPDX-License-Identifier: GPL-2.0
/*
 * One defect of each kind that the sanitizer kernel is to notice, committed when
 * the module is loaded: insmod lf_defects.ko defect=NAME.  Loading always fails,
 * so that the next one can be.  Never load it into a kernel that is to live on.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *defect = "";
module_param(defect, charp, 0);
MODULE_PARM_DESC(defect, "which");

/* What the compiler cannot see through. */
static u32 lf_size = 24;
static int lf_index = 9;
static u32 lf_shift = 37;
static int lf_table[8];
static u32 lf_sink;

static DEFINE_MUTEX(lf_a);
static DEFINE_MUTEX(lf_b);
static DEFINE_SPINLOCK(lf_spin);

static void lf_slab_read(void)
{
	u8 *p = kmalloc(READ_ONCE(lf_size), GFP_KERNEL);

	if (p)
		WRITE_ONCE(lf_sink, READ_ONCE(p[lf_size + 1]));
	kfree(p);
}

static void lf_after_free(void)
{
	u8 *p = kmalloc(READ_ONCE(lf_size), GFP_KERNEL);

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	if (p)
		WRITE_ONCE(lf_sink, READ_ONCE(p[3]));
}

/* Poison finds it when the memory is given away again. */
static void lf_write_after_free(void)
{
	u8 *p = kmalloc(READ_ONCE(lf_size), GFP_KERNEL), *q = p;

	kfree(p);
	OPTIMIZER_HIDE_VAR(q);
	if (q)
		WRITE_ONCE(q[3], 1);
	kfree(kmalloc(READ_ONCE(lf_size), GFP_KERNEL));
}

static void lf_stack_read(void)
{
	u8 here[16] = { 0 };
	u8 *p = here;

	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(lf_sink, READ_ONCE(p[lf_size]));
}

static void lf_vmalloc_read(void)
{
	u8 *p = vmalloc(100);

	if (p)
		WRITE_ONCE(lf_sink, READ_ONCE(p[lf_size + 90]));
	vfree(p);
}

static void lf_array_index(void)
{
	WRITE_ONCE(lf_sink, lf_table[READ_ONCE(lf_index)]);
}

static void lf_shift_overflow(void)
{
	WRITE_ONCE(lf_sink, 1U << READ_ONCE(lf_shift));
}

static void lf_sleep_in_atomic(void)
{
	spin_lock(&lf_spin);
	might_sleep();
	spin_unlock(&lf_spin);
}

static void lf_lock_order(void)
{
	mutex_lock(&lf_a);
	mutex_lock(&lf_b);
	mutex_unlock(&lf_b);
	mutex_unlock(&lf_a);
	mutex_lock(&lf_b);
	mutex_lock(&lf_a);
	mutex_unlock(&lf_a);
	mutex_unlock(&lf_b);
}

static void lf_list_twice(void)
{
	LIST_HEAD(head);
	struct list_head entry;

	list_add(&entry, &head);
	list_add(&entry, &head);
}

static void lf_unused(struct timer_list *unused)
{
}

static void lf_free_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, lf_unused, 0);
	mod_timer(timer, jiffies + 100 * HZ);
	/* Who checks objects stops it then. */
	kfree(timer);
}

static void lf_rcu(void)
{
	static void __rcu *pointer;

	WRITE_ONCE(lf_sink, !rcu_dereference(pointer));
}

static void lf_leak(void)
{
	int i;

	for (i = 0; i < 10; i++)
		WRITE_ONCE(lf_sink, !kmalloc(READ_ONCE(lf_size), GFP_KERNEL));
}

/* For the kernel with two processors: a counter that two of them write to. */
static u64 lf_plain;

static int lf_count(void *unused)
{
	while (!kthread_should_stop()) {
		lf_plain++;
		cond_resched();
	}
	return 0;
}

static void lf_race(void)
{
	struct task_struct *task[2];
	int i;

	for (i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = kthread_run_on_cpu(lf_count, NULL, i, "racer/%u");
	msleep(3000);
	for (i = 0; i < ARRAY_SIZE(task); i++)
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
}

/* And a lock that a softirq takes too, taken with softirqs on. */
static void lf_in_softirq(struct tasklet_struct *unused)
{
	spin_lock(&lf_spin);
	spin_unlock(&lf_spin);
}

static void lf_softirq_lock(void)
{
	struct tasklet_struct tasklet;

	tasklet_setup(&tasklet, lf_in_softirq);
	tasklet_schedule(&tasklet);
	tasklet_kill(&tasklet);
	spin_lock(&lf_spin);
	spin_unlock(&lf_spin);
}

static const struct {
	const char *name;
	void (*commit)(void);
} lf_defects[] = {
	{ "slab_read", lf_slab_read },
	{ "after_free", lf_after_free },
	{ "write_after_free", lf_write_after_free },
	{ "stack_read", lf_stack_read },
	{ "vmalloc_read", lf_vmalloc_read },
	{ "array_index", lf_array_index },
	{ "shift_overflow", lf_shift_overflow },
	{ "sleep_in_atomic", lf_sleep_in_atomic },
	{ "list_twice", lf_list_twice },
	{ "free_timer", lf_free_timer },
	{ "rcu", lf_rcu },
	{ "lock_order", lf_lock_order },
	{ "leak", lf_leak },
	{ "race", lf_race },
	{ "softirq_lock", lf_softirq_lock },
};

static int __init lf_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lf_defects); i++)
		if (!strcmp(defect, lf_defects[i].name)) {
			lf_defects[i].commit();
			return -ECANCELED;
		}
	return -EINVAL;
}
module_init(lf_init);

MODULE_DESCRIPTION("Defects for the sanitizers to notice");
MODULE_LICENSE("GPL");
