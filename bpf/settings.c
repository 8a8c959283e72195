// SPDX-License-Identifier: GPL-2.0
/* Parameters: what is valid is in the object, as the module has it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "longfat-bpf.h"

/* A number as the kernel's kstrtou32() reads one. */
static bool number(const char *text, uint32_t *out)
{
	unsigned long long value;
	char *end;

	text += *text == '+';
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end || errno || value > UINT32_MAX)
		return false;
	*out = value;
	return true;
}

static bool parse(const struct lf_param *p, const char *text, uint32_t *out)
{
	static const char * const words[] = {
		"0", "1", "n", "y", "N", "Y", "off", "on"
	};
	uint32_t i;

	switch (p->kind) {
	case LF_UINT:
		return number(text, out) && *out >= p->min && *out <= p->max;
	case LF_BOOL:
		for (i = 0; i < COUNT(words); i++)
			if (!strcmp(words[i], text)) {
				*out = i & 1;
				return true;
			}
		return false;
	default:
		for (i = 0; i <= p->max; i++)
			if (!strcmp(p->choices[i], text)) {
				*out = i;
				return true;
			}
		return false;
	}
}

/* What is valid for @p, as the modules say it. */
static const char *valid(const struct lf_param *p)
{
	static char text[64];
	uint32_t i;
	int at = 0;

	if (p->kind == LF_UINT) {
		snprintf(text, sizeof(text), "%u to %u", p->min, p->max);
		return text;
	}
	for (i = 0; i <= p->max; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s",
			       i ? ", " : "", p->choices[i]);
	return text;
}

/* A connection that begins reads each of them once. */
static void store(struct lf_param *params, size_t n, const uint32_t *values)
{
	size_t i;

	for (i = 0; i < n; i++)
		__atomic_store_n(&params[i].value, values[i], __ATOMIC_RELAXED);
}

int set(const char *name, struct lf_param *params, size_t n, char **words)
{
	uint32_t values[n];
	char **word;
	size_t i;

	for (i = 0; i < n; i++)
		values[i] = params[i].value;
	for (word = words; *word; word++) {
		size_t length = strcspn(*word, "=");
		const char *text = *word + length + 1;

		for (i = 0; i < n; i++)
			if (strlen(params[i].name) == length &&
			    !strncmp(params[i].name, *word, length))
				break;
		if (!(*word)[length])
			return complain("'%s' is no setting: write parameter=value",
					*word);
		if (i == n) {
			fprintf(stderr, "longfat-bpf: %s has no parameter '%.*s'; there are:",
				name, (int)length, *word);
			for (i = 0; i < n; i++)
				fprintf(stderr, " %s", params[i].name);
			fputc('\n', stderr);
			return 1;
		}
		if (!parse(&params[i], text, &values[i]))
			return complain("%s=%.32s refused: valid is %s",
					params[i].name, text, valid(&params[i]));
	}
	store(params, n, values);
	return 0;
}

bool take_values(struct lf_param *to, size_t n, const struct lf_param *from, size_t of)
{
	uint32_t values[n];
	size_t i;

	if (n != of)
		return false;
	for (i = 0; i < n; i++) {
		if (strcmp(to[i].name, from[i].name))
			return false;
		values[i] = from[i].value;
	}
	store(to, n, values);
	return true;
}

void print(const struct lf_param *params, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct lf_param *p = &params[i];

		if (p->kind == LF_UINT)
			printf("%s=%u", p->name, p->value);
		else
			printf("%s=%s", p->name, p->choices[p->value]);
		printf("\t(%s)\n", valid(p));
	}
}
