// SPDX-License-Identifier: GPL-2.0
/*
 * How far include/longfat/hstcp.h is from RFC 3649's formulas in double
 * precision: the largest relative error of a, and of b, as growth uses them.
 * Every window up to 2^22 packets, then steps of a 4000th up to 2^32.
 *
 * Prints: error of the rule's a, of lf_hstcp_a, of lf_hstcp_b, the number of
 * windows, and how many of them a rule did not cover.
 */
#include <math.h>
#include <stdio.h>

#include <longfat/hstcp.h>

int main(void)
{
	double rule_error = 0, a_error = 0, b_error = 0;
	const double span = log(83000) - log(38);
	struct lf_hstcp rule = { 0 };
	long windows = 0, uncovered = 0;
	u64 w;

	for (w = 1; w < 1ULL << 32; w += w < 1 << 22 ? 1 : w / 4000) {
		double b = 0.5 - 0.4 * (log(w < 147456 ? w : 147456) - log(38)) / span;
		double a;

		if (w <= 38)
			b = 0.5;
		a = 0.078125 * pow(w, 0.8) * 2 * b / (2 - b);
		if (w <= 38 || a < 1)
			a = 1;
		if (w >= rule.stop)
			lf_hstcp_rule(&rule, w);
		if (w < rule.floor || w >= rule.stop)
			uncovered += w != U32_MAX;
		rule_error = fmax(rule_error,
				  fabs(rule.a / (double)LF_RATE_ONE / a - 1));
		a_error = fmax(a_error,
			       fabs(lf_hstcp_a(w) / (double)LF_RATE_ONE / a - 1));
		b_error = fmax(b_error, fabs(lf_hstcp_b(w) / 65536.0 - b));
		windows++;
	}
	printf("%.9f %.9f %.9f %ld %ld\n", rule_error, a_error, b_error, windows,
	       uncovered);
	return 0;
}
