// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the runs gave: the median of each operation becomes a row.
 */

#include <linux/math64.h>
#include <linux/sort.h>

#include "bench.h"

/* As in the rows. */
static const char *const result_names[BENCH_OPERATIONS] = {
	[BENCH_ADD] = "add",
	[BENCH_ADD_AT] = "add-at",
	[BENCH_TRANSFER] = "transfer",
	[BENCH_ADD_CANCEL] = "add-cancel",
	[BENCH_REARM] = "rearm",
	[BENCH_TOUCH] = "touch",
	[BENCH_REFILE] = "refile",
	[BENCH_CANCEL] = "cancel",
	[BENCH_UNLINK] = "unlink",
	[BENCH_CANCEL_REMOTE] = "cancel-remote",
	[BENCH_ONE_PRODUCER] = "one-producer",
	[BENCH_TWO_PRODUCERS] = "two-producers",
	[BENCH_EXPIRE] = "expire",
	[BENCH_EMPTY_PASS] = "empty-pass",
	[BENCH_MOVED_PASS] = "moved-pass",
	[BENCH_LIFE] = "life",
	[BENCH_MEMORY] = "memory",
};

static struct bench_result *result_put(struct bench *b, enum bench_operation op,
				       u64 value_ns, u32 nr)
{
	struct bench_result *r = &b->result[op];

	r->value[r->runs++] = div_u64(value_ns * 10, nr);
	return r;
}

/* One run of @nr operations, for which the caller spent @value_ns. */
void result_add(struct bench *b, enum bench_operation op, u64 value_ns, u32 nr)
{
	result_put(b, op, value_ns, nr);
}

/* The same, and all CPUs together spent @cpu_ns. */
void result_add_cpu(struct bench *b, enum bench_operation op, u64 value_ns,
		    u64 cpu_ns, u32 nr)
{
	struct bench_result *r = result_put(b, op, value_ns, nr);

	r->cpu[r->runs - 1] = div_u64(cpu_ns * 10, nr);
	r->has_cpu = true;
}

/* One run of what nobody calls: all CPUs together spent @spent_ns. */
void result_spent(struct bench *b, enum bench_operation op, u64 spent_ns, u32 nr)
{
	result_add_cpu(b, op, spent_ns, spent_ns, nr);
}

/* @reason is a sentence, and lasts. */
void result_refuse(struct bench *b, enum bench_operation op, const char *reason)
{
	b->result[op].reason = reason;
}

static int result_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 result_median(u64 *values, unsigned int nr)
{
	sort(values, nr, sizeof(*values), result_compare, NULL);
	return values[nr / 2];
}

/* @rest is what comes after what all rows have. */
static int result_row(struct bench *b, enum bench_operation op, const char *unit,
		      const char *rest)
{
	char head[96];

	snprintf(head, sizeof(head), "\"peer\":\"%s\",\"operation\":\"%s\",\"live\":%u",
		 b->peer->name, result_names[op], b->live);
	return report_row("{\"part\":\"kernel\",%s,\"unit\":\"%s\",%s}\n", head,
			  unit, rest);
}

static int result_report_one(struct bench *b, enum bench_operation op)
{
	struct bench_result *r = &b->result[op];
	char rest[160];
	u64 value, cpu;
	u32 tenth;

	/* So it is where more was taken off than there was. */
	if (r->runs && !result_median(r->value, r->runs))
		r->reason = "the machine was too busy with something else";
	if (r->reason) {
		snprintf(rest, sizeof(rest), "\"value\":null,\"reason\":\"%s\"",
			 r->reason);
		return result_row(b, op, bench_unit, rest);
	}
	if (!r->runs)
		return 0;

	value = div_u64_rem(result_median(r->value, r->runs), 10, &tenth);
	snprintf(rest, sizeof(rest), "\"value\":%llu.%u", value, tenth);
	if (r->has_cpu) {
		cpu = div_u64_rem(result_median(r->cpu, r->runs), 10, &tenth);
		snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest),
			 ",\"cpu\":%llu.%u", cpu, tenth);
	}
	return result_row(b, op, bench_unit, rest);
}

/* All that was measured, as rows. */
int result_report(struct bench *b)
{
	enum bench_operation op;
	char rest[32];
	int ret = 0;

	for (op = 0; op < BENCH_MEMORY && !ret; op++)
		ret = result_report_one(b, op);
	if (ret)
		return ret;
	snprintf(rest, sizeof(rest), "\"value\":%zu", b->peer->size);
	return result_row(b, BENCH_MEMORY, "bytes", rest);
}

/* Nothing could be measured, for this reason: what all peers have says so. */
int result_report_all(struct bench *b, const char *reason)
{
	static const enum bench_operation all[] = {
		BENCH_ADD, BENCH_ADD_CANCEL, BENCH_REARM, BENCH_TOUCH, BENCH_CANCEL,
		BENCH_CANCEL_REMOTE, BENCH_TWO_PRODUCERS, BENCH_EXPIRE, BENCH_LIFE,
	};
	unsigned int i;
	int ret = 0;

	memset(b->result, 0, sizeof(b->result));
	for (i = 0; i < ARRAY_SIZE(all) && !ret; i++) {
		result_refuse(b, all[i], reason);
		ret = result_report_one(b, all[i]);
	}
	return ret;
}
