// SPDX-License-Identifier: GPL-2.0-only
/*
 * timewheel stat: the module's parameters, and who has which timeouts.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "array.h"
#include "command.h"
#include "contexts.h"
#include "error.h"
#include "json.h"
#include "module.h"

#define MAX_PARAMETERS 32

/* The columns of the table, by key of fdinfo. */
static const char *const columns[] = {
	"pending", "unread", "armed", "rearmed", "cancelled", "fired",
};

#define NR_COLUMNS ARRAY_SIZE(columns)

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The names of the module's parameters, sorted. */
static size_t parameter_names(char names[][32])
{
	struct dirent *entry;
	size_t nr = 0;
	DIR *dir;

	dir = opendir(MODULE_DIR "/parameters");
	if (!dir)
		return 0;
	while (nr < MAX_PARAMETERS && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			snprintf(names[nr++], 32, "%.31s", entry->d_name);
	closedir(dir);
	qsort(names, nr, 32, compare);
	return nr;
}

static int is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static void json_text(const char *name, const char *value)
{
	if (is_number(value))
		json_u64(name, strtoull(value, NULL, 10));
	else
		json_string(name, value);
}

static void print_module(bool json)
{
	char names[MAX_PARAMETERS][32], file[64], value[64];
	size_t i, nr;

	nr = parameter_names(names);
	if (module_text("version", value, sizeof(value)))
		strcpy(value, "unknown");
	if (json) {
		json_string("version", value);
		if (!module_text("refcnt", value, sizeof(value)))
			json_text("references", value);
		json_object("parameters");
	} else {
		printf("module timewheel %s", value);
		if (!module_text("refcnt", value, sizeof(value)))
			printf(", referenced %s time%s", value,
			       strcmp(value, "1") ? "s" : "");
		puts("");
	}
	for (i = 0; i < nr; i++) {
		snprintf(file, sizeof(file), "parameters/%s", names[i]);
		if (module_text(file, value, sizeof(value)))
			continue;
		if (json)
			json_text(names[i], value);
		else
			printf("  %-18s %s\n", names[i], value);
	}
	if (json)
		json_end();
	else
		puts("");
}

static void print_json(const struct context *context, void *data)
{
	unsigned int i;

	(void)data;
	json_object(NULL);
	json_u64("pid", context->pid);
	json_string("command", context->command);
	json_u64("fd", context->fd);
	for (i = 0; i < context->nr_keys; i++)
		json_text(context->keys[i].name, context->keys[i].value);
	json_end();
}

static void print_header(void)
{
	size_t i;

	printf("%7s %4s %-12s", "PID", "FD", "COMMAND");
	for (i = 0; i < NR_COLUMNS; i++) {
		char name[16], *p;

		snprintf(name, sizeof(name), "%s", columns[i]);
		for (p = name; *p; p++)
			*p = toupper(*p);
		printf(" %8s", name);
	}
	puts("");
}

static void print_row(const struct context *context, void *data)
{
	bool *begun = data;
	const char *value;
	size_t i;

	if (!*begun)
		print_header();
	*begun = true;
	printf("%7d %4d %-12.12s", context->pid, context->fd, context->command);
	for (i = 0; i < NR_COLUMNS; i++) {
		value = context_value(context, columns[i]);
		printf(" %8s", value ? value : "-");
	}
	puts("");
}

static void print_whole(const struct context *context, void *data)
{
	unsigned int i;

	(void)data;
	printf("%s, pid %d, fd %d\n", context->command, context->pid, context->fd);
	for (i = 0; i < context->nr_keys; i++)
		printf("  %-18s %s\n", context->keys[i].name, context->keys[i].value);
}

static void print_contexts(pid_t pid, bool json)
{
	struct context_scan scan = { };
	bool begun = false;
	context_fn *fn = json ? print_json : pid ? print_whole : print_row;
	int err;

	if (json)
		json_array("contexts");
	err = pid ? contexts_of(pid, &scan, fn, &begun) :
		    contexts_all(&scan, fn, &begun);
	if (pid && err == -ENOENT)
		fail("there is no process %d", pid);
	if (pid && err == -EACCES)
		fail("no permission to look at process %d: run this as root or as its user", pid);
	if (err)
		fail_errno(-err, "cannot look at /proc");
	if (json) {
		json_end();
		json_u64("processes_not_visible", scan.denied);
		return;
	}
	if (!scan.found)
		puts(pid ? "This process has no context open." :
			   "No context is open in the processes that can be looked at.");
	if (scan.denied)
		printf("%u process%s could not be looked at; run this as root to see all.\n",
		       scan.denied, scan.denied == 1 ? "" : "es");
}

static int run_stat(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ "pid", required_argument, NULL, 'p' },
		{ }
	};
	bool json = false;
	pid_t pid = 0;
	int c;

	while ((c = command_option(&command_stat, argc, argv, options)) != -1) {
		if (c == 'j')
			json = true;
		else
			pid = argument_number("stat", "process id", optarg, 1);
	}
	if (optind < argc)
		fail_usage("stat", "stat takes no argument, but got '%s'", argv[optind]);
	if (!module_loaded())
		fail("the module timewheel is not loaded.\nLoad it, as root: modprobe timewheel");

	if (json)
		json_object(NULL);
	print_module(json);
	print_contexts(pid, json);
	if (json)
		json_end();
	return EXIT_SUCCESS;
}

const struct command command_stat = {
	.name = "stat",
	.args = "[--json] [--pid PID]",
	.summary = "parameters of the module, and who has which timeouts",
	.help = "Prints the parameters of the module and, for each open file of the device in\n"
		"each process, its books: how many timeouts are pending, how many events wait to\n"
		"be read, how many were armed, rearmed, cancelled and fired. A file that several\n"
		"processes share is shown for each of them. Only root sees all processes.\n"
		"\n"
		"  --pid PID   this process only, and all that is known of its contexts\n"
		"  --json      one JSON object\n",
	.run = run_stat,
};
