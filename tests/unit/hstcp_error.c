// SPDX-License-Identifier: GPL-2.0
/*
 * How far include/longfat/hstcp.h is from RFC 3649's formulas in double
 * precision, at every window up to 2^22 packets, then in steps of a 4000th to
 * 2^32.
 *
 * Prints the largest of each, one a line with its name: the relative error of
 * a as growth uses it (rule) and of lf_hstcp_a (a), the error of lf_hstcp_b (b),
 * what a loss takes too much or too little beyond the packet that it is rounded
 * to, as a share of the window (decrease); then the windows looked at, and how
 * many of them a rule did not cover.
 */
#include <math.h>
#include <stdio.h>

#include <longfat/hstcp.h>

/* Where the continuation beyond the RFC's 83000 packets holds b. */
#define HELD	147456

static double exact_b(double w)
{
	if (w <= 38)
		return 0.5;
	return 0.5 - 0.4 * log(fmin(w, HELD) / 38) / log(83000.0 / 38);
}

static double exact_a(double w)
{
	double b = exact_b(w);

	if (w <= 38)
		return 1;
	return fmax(1, w * w / (12.8 * pow(w, 1.2)) * 2 * b / (2 - b));
}

int main(void)
{
	double rule_error = 0, a_error = 0, b_error = 0, decrease_error = 0;
	struct lf_hstcp rule = { 0 };
	long windows = 0, uncovered = 0;
	u64 w;

	for (w = 1; w < 1ULL << 32; w += w < 1 << 22 ? 1 : w / 4000) {
		double a = exact_a(w), b = exact_b(w), after;

		if (w >= rule.stop)
			lf_hstcp_rule(&rule, w);
		/* 2^32 - 1 stands for "no end": no rule can hold there. */
		if (w < rule.floor || w >= rule.stop)
			uncovered += w != U32_MAX;
		rule_error = fmax(rule_error,
				  fabs(rule.a / (double)LF_RATE_ONE / a - 1));
		a_error = fmax(a_error,
			       fabs(lf_hstcp_a(w) / (double)LF_RATE_ONE / a - 1));
		b_error = fmax(b_error, fabs(lf_hstcp_b(w) / 65536.0 - b));
		after = lf_hstcp_decrease(w) - w * (1 - b);
		if (w > 3)
			decrease_error = fmax(decrease_error,
					      (fabs(after) - 1) / w);
		windows++;
	}
	printf("rule %.9f\na %.9f\nb %.9f\ndecrease %.9f\n", rule_error, a_error,
	       b_error, decrease_error);
	printf("windows %ld\nuncovered %ld\n", windows, uncovered);
	return 0;
}
