// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file in which timeouts outlive the module.
 *
 *   timewheel-timeouts 1 SUM
 *   saved TIME SUM
 *   wheel system SUM                   or:
 *   wheel own tick NS slots N levels N clock monotonic|boottime SUM
 *   count N SUM
 *   due TIME|never cookie N id N interval NS slack NS event|no-event SUM
 *   ...                                N of these
 *   end SUM
 *
 * There is one blank between words, no leading zero, and one spelling for each
 * content.  SUM is CRC-32C, in 8 hexadecimal digits, of what stands before it
 * and its blank: in its line, and for the last line in the whole file.  So what
 * was altered is found, and found where it is; lines that were lost, doubled or
 * exchanged are too.
 *
 * A checksum keeps no liar away.  The reader takes nothing for granted: what it
 * allocates grows with what it has read, and a number is held against its bound.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crc32c.h"
#include "error.h"
#include "savefile.h"
#include "walltime.h"

#define MAGIC		"timewheel-timeouts 1"
#define END		"end"

/* The longest line has less. */
#define LINE_LEN	256

/* A blank and the digits. */
#define SUM_LEN		9

/* --- writing ---------------------------------------------------------------- */

/* One line; @sum is that of the file so far. */
__printf(3, 4) static void put_line(FILE *file, uint32_t *sum, const char *format, ...)
{
	char line[LINE_LEN];
	uint32_t own;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	own = crc32c(0, line, len);
	len += snprintf(line + len, sizeof(line) - len, " %08" PRIx32 "\n", own);
	*sum = crc32c(*sum, line, len);
	fwrite(line, 1, len, file);
}

static void put_wheel(FILE *file, uint32_t *sum, const struct saved_wheel *wheel)
{
	if (!wheel->own)
		put_line(file, sum, "wheel system");
	else
		put_line(file, sum, "wheel own tick %" PRIu64 " slots %" PRIu32
			 " levels %" PRIu32 " clock %s", wheel->tick_ns, wheel->slots,
			 wheel->levels,
			 wheel->clockid == CLOCK_BOOTTIME ? "boottime" : "monotonic");
}

/**
 * savefile_write() - write timeouts to a file
 * @file: where to; not yet flushed
 * @saved: what to write
 *
 * Return: 0 or -errno.
 */
int savefile_write(FILE *file, const struct savefile *saved)
{
	char time[WALLTIME_LEN];
	uint32_t sum = 0;
	size_t i;

	put_line(file, &sum, MAGIC);
	put_line(file, &sum, "saved %s", walltime_format(saved->saved_ns, time));
	put_wheel(file, &sum, &saved->wheel);
	put_line(file, &sum, "count %zu", saved->nr);
	for (i = 0; i < saved->nr && !ferror(file); i++) {
		const struct saved_timeout *t = &saved->timeouts[i];

		put_line(file, &sum, "due %s cookie %" PRIu64 " id %" PRIu64
			 " interval %" PRIu64 " slack %" PRIu64 " %s",
			 walltime_format(t->wall_ns, time), t->cookie, t->id,
			 t->interval_ns, t->slack_ns,
			 t->no_event ? "no-event" : "event");
	}
	fprintf(file, END " %08" PRIx32 "\n", crc32c(sum, END, strlen(END)));
	return ferror(file) ? -(errno ?: EIO) : 0;
}

/* --- reading ---------------------------------------------------------------- */

/*
 * The line at hand: where it begins, how far it was read, its length with and
 * without its sum, and the sum of the file before it.  What fails returns false
 * and has filled the error.
 */
struct reader {
	FILE *file;
	struct savefile_error *error;
	uint64_t start;
	uint32_t sum;
	size_t at;
	size_t len;
	size_t whole;
	char line[LINE_LEN];
};

__printf(3, 4) static bool wrong(struct reader *r, uint64_t offset,
				 const char *format, ...)
{
	va_list args;

	r->error->offset = offset;
	va_start(args, format);
	vsnprintf(r->error->what, sizeof(r->error->what), format, args);
	va_end(args);
	return false;
}

/* Up to the next newline. */
static bool get_line(struct reader *r)
{
	int c;

	if (r->whole) {
		r->sum = crc32c(crc32c(r->sum, r->line, r->whole), "\n", 1);
		r->start += r->whole + 1;
	}
	r->at = 0;
	r->whole = 0;
	while ((c = getc(r->file)) != '\n') {
		if (c == EOF)
			return wrong(r, r->start + r->whole, r->whole ?
				     "the file ends in the middle of a line" :
				     "the file ends before its last line");
		if (r->whole == LINE_LEN)
			return wrong(r, r->start, "the line that begins here is too long");
		r->line[r->whole++] = c;
	}
	r->len = r->whole;
	return true;
}

/* Take the sum off the line.  It comes first: what is altered is not looked at. */
static bool check_sum(struct reader *r)
{
	bool last = r->whole == SUM_LEN + strlen(END) && !memcmp(r->line, END, strlen(END));
	char text[SUM_LEN + 1];

	if (r->whole <= SUM_LEN)
		return wrong(r, r->start, "the line that begins here has no checksum");
	r->len = r->whole - SUM_LEN;
	snprintf(text, sizeof(text), " %08" PRIx32,
		 crc32c(last ? r->sum : 0, r->line, r->len));
	if (!memcmp(r->line + r->len, text, SUM_LEN))
		return true;
	return wrong(r, r->start, "the %s was altered: its checksum is%s",
		     last ? "file before this, its last line," : "line that begins here",
		     text);
}

static bool next_line(struct reader *r)
{
	return get_line(r) && check_sum(r);
}

static bool wrong_here(struct reader *r, const char *what)
{
	return wrong(r, r->start + r->at, "%s should be here", what);
}

static bool end_line(struct reader *r)
{
	return r->at == r->len || wrong_here(r, "the checksum of the line");
}

/* Is the text what comes next?  Then it is taken. */
static bool has(struct reader *r, const char *text)
{
	size_t len = strlen(text);

	if (r->len - r->at < len || memcmp(r->line + r->at, text, len))
		return false;
	r->at += len;
	return true;
}

/* The text has to come next. */
static bool take(struct reader *r, const char *text)
{
	const char *p;

	for (p = text; *p; p++, r->at++)
		if (r->at == r->len || r->line[r->at] != *p)
			return wrong(r, r->start + r->at, "'%s' should be here", p);
	return true;
}

static bool take_number(struct reader *r, uint64_t max, uint64_t *value)
{
	size_t begin = r->at;
	unsigned char digit;
	uint64_t v = 0;

	for (; r->at < r->len; r->at++) {
		digit = r->line[r->at] - '0';
		if (digit > 9)
			break;
		if (r->at == begin + 1 && !v)
			return wrong(r, r->start + begin, "a number begins with 0");
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v) || v > max)
			return wrong(r, r->start + begin,
				     "the number is more than %" PRIu64, max);
	}
	if (r->at == begin)
		return wrong_here(r, "a number");
	*value = v;
	return true;
}

static bool take_time(struct reader *r, uint64_t *ns)
{
	const char *blank = memchr(r->line + r->at, ' ', r->len - r->at);
	size_t len = blank ? (size_t)(blank - (r->line + r->at)) : r->len - r->at;

	if (walltime_parse(r->line + r->at, len, ns))
		return wrong_here(r, "a time");
	r->at += len;
	return true;
}

static bool read_number32(struct reader *r, uint32_t *value)
{
	uint64_t v;

	if (!take_number(r, UINT32_MAX, &v))
		return false;
	*value = v;
	return true;
}

static bool read_wheel(struct reader *r, struct saved_wheel *wheel)
{
	if (!next_line(r) || !take(r, "wheel "))
		return false;
	wheel->own = !has(r, "system");
	if (!wheel->own)
		return end_line(r);
	if (!take(r, "own tick ") || !take_number(r, UINT64_MAX, &wheel->tick_ns) ||
	    !take(r, " slots ") || !read_number32(r, &wheel->slots) ||
	    !take(r, " levels ") || !read_number32(r, &wheel->levels) ||
	    !take(r, " clock "))
		return false;
	wheel->clockid = has(r, "boottime") ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	if (wheel->clockid == CLOCK_MONOTONIC && !take(r, "monotonic"))
		return false;
	return end_line(r);
}

static bool read_timeout(struct reader *r, struct saved_timeout *t)
{
	t->offset = r->start;
	if (!take_time(r, &t->wall_ns) ||
	    !take(r, " cookie ") || !take_number(r, UINT64_MAX, &t->cookie) ||
	    !take(r, " id ") || !take_number(r, UINT64_MAX, &t->id) ||
	    /* What a module takes for a period. */
	    !take(r, " interval ") || !take_number(r, INT64_MAX, &t->interval_ns) ||
	    !take(r, " slack ") || !take_number(r, UINT64_MAX, &t->slack_ns) ||
	    !take(r, " "))
		return false;
	t->no_event = has(r, "no-event");
	if (!t->no_event && !take(r, "event"))
		return false;
	return end_line(r);
}

/* A place for one more; the count that the file announces buys nothing. */
static struct saved_timeout *more(struct savefile *saved, size_t *room)
{
	struct saved_timeout *larger;
	size_t bytes;

	if (saved->nr == *room) {
		*room = *room ? 2 * *room : 64;
		if (__builtin_mul_overflow(*room, sizeof(*larger), &bytes))
			return NULL;
		larger = realloc(saved->timeouts, bytes);
		if (!larger)
			return NULL;
		saved->timeouts = larger;
	}
	return &saved->timeouts[saved->nr];
}

static int compare(const void *a, const void *b)
{
	const struct saved_timeout *x = *(const struct saved_timeout *const *)a;
	const struct saved_timeout *y = *(const struct saved_timeout *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* No timeout may be there twice.  0, -EBADMSG or -ENOMEM. */
static int check_ids(struct reader *r, const struct savefile *saved)
{
	const struct saved_timeout **sorted, *twice = NULL;
	size_t i;

	sorted = calloc(saved->nr + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < saved->nr; i++)
		sorted[i] = &saved->timeouts[i];
	qsort(sorted, saved->nr, sizeof(*sorted), compare);
	for (i = 1; i < saved->nr; i++)
		if (sorted[i]->id == sorted[i - 1]->id &&
		    (!twice || sorted[i]->offset < twice->offset))
			twice = sorted[i];
	free(sorted);
	if (!twice)
		return 0;
	wrong(r, twice->offset, "the timeout %" PRIu64 " is here a second time", twice->id);
	return -EBADMSG;
}

/* 0, -EBADMSG or -ENOMEM. */
static int read_all(struct reader *r, struct savefile *saved)
{
	struct saved_timeout *t;
	uint64_t count;
	size_t room = 0;

	/* First of all: is it such a file? */
	if (!get_line(r) || !take(r, MAGIC) || !check_sum(r) || !end_line(r) ||
	    !next_line(r) || !take(r, "saved ") || !take_time(r, &saved->saved_ns) ||
	    !end_line(r) ||
	    !read_wheel(r, &saved->wheel) ||
	    /* An id has 32 bits for the index. */
	    !next_line(r) || !take(r, "count ") || !take_number(r, UINT32_MAX, &count) ||
	    !end_line(r) ||
	    !next_line(r))
		return -EBADMSG;

	while (has(r, "due ")) {
		if (saved->nr == count) {
			wrong(r, r->start, "there are more timeouts than the %" PRIu64
			      " that 'count' announces", count);
			return -EBADMSG;
		}
		t = more(saved, &room);
		if (!t)
			return -ENOMEM;
		if (!read_timeout(r, t))
			return -EBADMSG;
		saved->nr++;
		if (!next_line(r))
			return -EBADMSG;
	}
	if (!take(r, END) || !end_line(r))
		return -EBADMSG;
	if (saved->nr < count) {
		wrong(r, r->start, "there are %zu timeouts instead of the %" PRIu64
		      " that 'count' announces", saved->nr, count);
		return -EBADMSG;
	}
	if (getc(r->file) != EOF) {
		wrong(r, r->start + r->whole + 1, "something follows the last line");
		return -EBADMSG;
	}
	return check_ids(r, saved);
}

/**
 * savefile_read() - read what savefile_write() wrote
 * @file: where from
 * @saved: out: what it says; to be freed
 * @error: out: what is wrong with it
 *
 * Return: 0; -EBADMSG for a file that was not written so, and @error says why;
 * another -errno if it can't be read.  After an error there is nothing to free.
 */
int savefile_read(FILE *file, struct savefile *saved, struct savefile_error *error)
{
	struct reader r = { .file = file, .error = error };
	int err;

	*saved = (struct savefile){ };
	errno = 0;
	err = read_all(&r, saved);
	/* What can't be read looks like an end. */
	if (ferror(file))
		err = -(errno ?: EIO);
	if (err)
		savefile_free(saved);
	return err;
}

/**
 * savefile_free() - give back what savefile_read() allocated
 * @saved: what it filled
 */
void savefile_free(struct savefile *saved)
{
	free(saved->timeouts);
	*saved = (struct savefile){ };
}
