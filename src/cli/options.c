/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line is parsed by the table of option_table.c. The input of getopt_long() (a string
 * of letters, an array of long names) is made from it at each parse.
 *
 * getopt's own messages are switched off. The tracer's messages are one line, with a hint, and
 * without raw bytes of the command line, into which scripts may put anything. getopt_long() is
 * vague about errors ('?' for an unknown option, an ambiguous one, and one with a needless argument
 * alike), so explain_bad_option() finds the cause in the table.
 *
 * getopt keeps its state in globals (optind, optarg, …); nowhere else does the tracer use such
 * globals. optind = 0 makes glibc and musl start again, so parsing twice in one process works.
 * POSIX order ("+") leaves argv unchanged. Recipes (`@NAME`) end a run of getopt: see expand.c.
 */
#include "cli/options.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/expand.h"
#include "cli/formats.h"
#include "cli/lists.h"
#include "cli/option_checks.h"
#include "cli/option_table.h"
#include "cli/recipe.h"
#include "cli/usage_error.h"
#include "session/session.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Set by make from configure.ac; missing for objects compiled by hand. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

enum {
	DEFAULT_STRING_MAX = 32,
	DEFAULT_ARRAY_MAX = 4,
	DEFAULT_WIDTH = 80,
	DEFAULT_PROFILE_HZ = 49,
	DEFAULT_GROUPS_MAX = 10000,
	DEFAULT_TOP_NS = 1000000000,
	WIDTH_MAX = 10000,
	HELP_COLUMN = 31,
	QUOTE_MAX = 80 /* at most so many bytes of a bad argument are shown, escaped */
};

/* The input of getopt_long(). */
struct getopt_tables {
	char letters[2 + 2 * OPTIONS_MAX + 1];
	struct option names[OPTIONS_MAX + 1];
};

static const struct option_spec *find_option(int code)
{
	size_t count;
	const struct option_spec *table = options_table(&count);

	for (size_t i = 0; i < count; i++)
		if (table[i].code == code)
			return &table[i];
	return NULL;
}

/* Fills in tables that are all zero, so that the terminators are there. */
static void make_getopt_tables(struct getopt_tables *tables)
{
	size_t count;
	const struct option_spec *table = options_table(&count);
	char *letter = tables->letters;

	*letter++ = '+'; /* options end at the first word that is not an option */
	*letter++ = ':'; /* no messages; ':' for a missing argument, '?' for an unknown option */
	for (size_t i = 0; i < count; i++) {
		const struct option_spec *spec = &table[i];

		if (spec->code <= UCHAR_MAX) {
			*letter++ = (char)spec->code;
			if (spec->argument)
				*letter++ = ':';
		}
		tables->names[i] = (struct option){
			.name = spec->name,
			.has_arg = !spec->argument	      ? no_argument
				   : spec->argument[0] == '[' ? optional_argument
							      : required_argument,
			.val = spec->code,
		};
	}
}

/* --- usage errors --- */

struct quoted {
	char text[QUOTE_MAX];
};

static const char *quote(struct quoted *quoted, const char *text)
{
	return diag_safe(quoted->text, sizeof(quoted->text), text);
}

/* Returns an option as messages name it: "-p", "--sort". */
static const char *option_label(struct quoted *label, const struct option_spec *spec)
{
	if (spec->code <= UCHAR_MAX)
		snprintf(label->text, sizeof(label->text), "-%c", spec->code);
	else
		snprintf(label->text, sizeof(label->text), "--%s", spec->name);
	return label->text;
}

static int bad_argument(const struct option_spec *spec, const char *argument, const char *expected)
{
	struct quoted label, text;

	return usage_error("option %s: '%s' is not %s", option_label(&label, spec),
			   quote(&text, argument), expected);
}

/* Returns how many long names begin with `prefix`, which ends at '=' or at its end. */
static size_t count_prefixed(const char *prefix)
{
	size_t length = strcspn(prefix, "=");
	size_t rows, count = 0;
	const struct option_spec *table = options_table(&rows);

	for (size_t i = 0; i < rows; i++)
		count += !strncmp(table[i].name, prefix, length);
	return count;
}

/* getopt_long returned '?'; `word` is the argv entry it read last. */
static int explain_bad_option(const char *word)
{
	const struct option_spec *spec = optopt ? find_option(optopt) : NULL;
	struct quoted text;

	/* A known option can only be wrong in the form --name=argument, if it takes none. */
	if (spec)
		return usage_error("option --%s takes no argument", spec->name);
	if (optopt)
		return usage_error("unknown option -%s",
				   quote(&text, (char[]){(char)optopt, '\0'}));
	if (count_prefixed(word + 2) > 1)
		return usage_error("option '%s' is ambiguous", quote(&text, word));
	return usage_error("unknown option '%s'", quote(&text, word));
}

static int explain_missing_argument(void)
{
	const struct option_spec *spec = find_option(optopt);
	struct quoted label;

	return usage_error("option %s needs an argument: %s", option_label(&label, spec),
			   spec->argument);
}

/* --- arguments --- */

static int set_number(unsigned *field, const struct option_spec *spec, const char *argument)
{
	char expected[64];

	if (lists_parse_number(argument, strlen(argument), spec->minimum, spec->maximum, field))
		return 0;
	snprintf(expected, sizeof(expected), "a number from %u to %u", spec->minimum,
		 spec->maximum);
	return bad_argument(spec, argument, expected);
}

static void add_pid(struct vec *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (*(pid_t *)vec_at(pids, i) == pid)
			return;
	vec_push(pids, &pid);
}

/* Accepts "12,13" and "12 13", so the output of pidof and pgrep can be used as it is. */
static int add_pids(struct vec *pids, const struct option_spec *spec, const char *argument)
{
	static const char separators[] = ", \t\n";
	const char *place = argument + strspn(argument, separators);

	if (!*place)
		return bad_argument(spec, argument, "a process id");
	while (*place) {
		size_t length = strcspn(place, separators);
		unsigned pid;

		if (!lists_parse_number(place, length, 1, INT_MAX, &pid))
			return bad_argument(spec, argument, "a process id");
		add_pid(pids, (pid_t)pid);
		place += length;
		place += strspn(place, separators);
	}
	return 0;
}

/* Turns "time|calls|name" into "time, calls or name". */
static void join_words(char *out, size_t size, const char *words)
{
	size_t length = 0;

	*out = '\0';
	while (*words && length < size) {
		size_t word = strcspn(words, "|");
		const char *next = words + word;
		const char *between = !*next ? "" : strchr(next + 1, '|') ? ", " : " or ";

		length += (size_t)snprintf(out + length, size - length, "%.*s%s", (int)word, words,
					   between);
		words = *next ? next + 1 : next;
	}
}

/* Accepts one of the words in the table's description of the argument: "time|calls|name". */
static int set_choice(int *field, const struct option_spec *spec, const char *argument)
{
	const char *word = spec->argument;
	size_t length;

	for (int i = 0; *word; i++, word += length + (word[length] == '|')) {
		length = strcspn(word, "|");
		if (strlen(argument) == length && !strncmp(argument, word, length)) {
			*field = i;
			return 0;
		}
	}
	char words[64];

	join_words(words, sizeof words, spec->argument);
	return bad_argument(spec, argument, words);
}

static int check_text(const struct option_spec *spec, const char *argument)
{
	struct quoted label;

	if (*argument)
		return 0;
	return usage_error("option %s: empty %s", option_label(&label, spec), spec->argument);
}

/* --- help and version --- */

static void add_help_line(struct strbuf *text, const struct option_spec *spec)
{
	if (spec->heading)
		strbuf_printf(text, "\n%s:\n", spec->heading);
	size_t start = text->length;

	if (spec->code <= UCHAR_MAX)
		strbuf_printf(text, "  -%c, ", spec->code);
	else
		strbuf_add(text, "      ");
	strbuf_printf(text, "--%s", spec->name);
	if (spec->argument)
		strbuf_printf(text, "%s%s", spec->argument[0] == '[' ? "" : "=", spec->argument);
	size_t used = text->length - start;

	if (used >= HELP_COLUMN) {
		strbuf_add_char(text, '\n');
		used = 0;
	}
	strbuf_add_repeated(text, ' ', HELP_COLUMN - used);
	strbuf_printf(text, "%s\n", spec->help);
}

void options_help(struct strbuf *text)
{
	size_t count;
	const struct option_spec *table = options_table(&count);

	strbuf_add(text,
		   "Usage: tracer [OPTION|@RECIPE]... [--] COMMAND [ARGUMENT]...\n"
		   "       tracer [OPTION|@RECIPE]... -p PID\n"
		   "Shows the library calls of a program: what is called, with what, what comes\n"
		   "back and how long it takes. By default the calls of the main program.\n");
	for (size_t i = 0; i < count; i++)
		add_help_line(text, &table[i]);
	strbuf_add(text,
		   "\nFILTER is [SYMBOL][@LIB] and more of them with + or - between, with the\n"
		   "wildcards * ? [] or as /REGEX/; LIB is a library, or MAIN for the program\n"
		   "itself. A SYMBOL with :: is a name in the source: 'ns::Klass::*'.\n"
		   "Example, the SQL of a running Python or Perl service:\n"
		   "  tracer -ttTg -x mysql_real_query -p PID\n"
		   "@RECIPE stands for the options in the file RECIPE.opts.\n"
		   "The whole story is in tracer(1), prototypes are in tracer.conf(5).\n");
}

/* Prints `text` on stdout. Returns OPTIONS_DONE, or -errno after a message (--help >/dev/full). */
static int print_and_be_done(const struct strbuf *text)
{
	if (fwrite(text->text, 1, text->length, stdout) == text->length && !fflush(stdout))
		return OPTIONS_DONE;
	int error = errno ? errno : EIO;

	diag("cannot write to standard output: %s", strerror(error));
	return -error;
}

static int print_help(void)
{
	struct strbuf text = {0};

	options_help(&text);
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

static int print_domains(void)
{
	struct strbuf text = {0};

	strbuf_add(&text, "-D DOMAIN[,...] shows on standard error\n"
			  "  modules    (01) what is loaded and unloaded\n"
			  "  events     (010) each stop of a traced task\n"
			  "  processes  (020) tasks that come and go; when all is planted\n"
			  "  functions  (040) where probes are planted, and how they are caught\n"
			  "  all        (077) all of it\n"
			  "The octal numbers may be added up, and given instead.\n");
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

static int print_recipes(void)
{
	struct strbuf text = {0};

	strbuf_add(&text, "");
	recipe_list(&text);
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

static int print_version(void)
{
	struct strbuf text = {0};

	strbuf_add(&text,
		   "tracer " PACKAGE_VERSION "\n"
		   "License GPL-2.0-or-later. There is no warranty, as far as law permits.\n");
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

/* --- putting it together --- */

static int apply(struct options *options, const struct option_spec *spec, const char *argument)
{
	void *field = (char *)options + spec->field;
	const char *expected;

	switch (spec->action) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_COUNT:
		++*(unsigned *)field;
		return 0;
	case OPTION_NUMBER:
		return set_number(field, spec, argument);
	case OPTION_TEXT:
		*(const char **)field = argument;
		return check_text(spec, argument);
	case OPTION_LIST:
		vec_push(field, &argument);
		return check_text(spec, argument);
	case OPTION_PIDS:
		return add_pids(field, spec, argument);
	case OPTION_CHOICE:
		return set_choice(field, spec, argument);
	case OPTION_COLUMNS:
		expected = lists_add_columns(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_TIME:
		return lists_parse_time(argument, field)
			       ? 0
			       : bad_argument(spec, argument, "a time such as 500ms, 10s or 2m");
	case OPTION_EVERY:
		expected = lists_set_interval(field, &options->interval_count, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_SAMPLE:
		expected = lists_set_sample(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_STACKS:
		*(bool *)field = true;
		expected = lists_set_where(&options->output, argument ? argument : "1000");
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_PROFILE:
		*(unsigned *)field = DEFAULT_PROFILE_HZ;
		options->output.where = options->output.where ? options->output.where : FRAMES_MAX;
		return argument ? set_number(field, spec, argument) : 0;
	case OPTION_TOP:
		*(uint64_t *)field = DEFAULT_TOP_NS;
		expected = argument ? lists_set_top(field, argument) : NULL;
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_WHERE:
		expected = lists_set_where(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_DOMAINS:
		if (!strcmp(argument, "h") || !strcmp(argument, "help"))
			return print_domains();
		expected = lists_add_domains(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_RECIPES:
		return print_recipes();
	case OPTION_HELP:
		return print_help();
	case OPTION_VERSION:
		return print_version();
	}
	return -EINVAL; /* not reached: all actions are handled above */
}

/*
 * Returns the width of the user's screen: $COLUMNS, else that of the terminal on stderr, else 80.
 */
static unsigned screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned width;

	if (columns && lists_parse_number(columns, strlen(columns), 1, WIDTH_MAX, &width))
		return width;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_col <= WIDTH_MAX)
		return size.ws_col;
	return DEFAULT_WIDTH;
}

static void set_defaults(struct options *options)
{
	*options = (struct options){
		.pids = VEC_OF(pid_t),
		.call_filters = VEC_OF(const char *),
		.callee_filters = VEC_OF(const char *),
		.entry_filters = VEC_OF(const char *),
		.optional_filters = VEC_OF(const char *),
		.formats = VEC_OF(const char *),
		.configs = VEC_OF(const char *),
		.recipes = VEC_OF(struct recipe *),
		.prototypes = PROTOTYPES_DWARF,
		.output =
			{
				.string_max = DEFAULT_STRING_MAX,
				.array_max = DEFAULT_ARRAY_MAX,
				.align = screen_width() * 5 / 8,
				.sort = SORT_TIME,
				.where_script = true,
				.where_native = true,
			},
	};
}

void options_deinit(struct options *options)
{
	vec_deinit(&options->pids);
	vec_deinit(&options->call_filters);
	vec_deinit(&options->callee_filters);
	vec_deinit(&options->entry_filters);
	vec_deinit(&options->optional_filters);
	vec_deinit(&options->formats);
	vec_deinit(&options->configs);
	for (size_t i = 0; i < options->recipes.count; i++)
		recipe_destroy(*(struct recipe **)vec_at(&options->recipes, i));
	vec_deinit(&options->recipes);
}

/* What the runs of words of one command line share. */
struct parser {
	struct options *options;
	struct getopt_tables tables;
	bool sorted; /* there was a --sort */
};

/*
 * Later options win: an option that adds up within a run of words begins anew in a later run, so
 * that -tt behind a recipe with -t is -tt.
 */
static void begin_anew(struct options *options, const struct option_spec *spec, bool *has_begun)
{
	if (!*has_begun && spec->action == OPTION_COUNT)
		*(unsigned *)(void *)((char *)options + spec->field) = 0;
	if (!*has_begun && spec->action == OPTION_COLUMNS)
		options->output.column_count = 0;
	*has_begun = true;
}

static int parse_option(struct parser *parser, int code, const char *word, bool *has_begun)
{
	struct options *options = parser->options;
	size_t count;

	if (code == '?')
		return explain_bad_option(word);
	if (code == ':')
		return explain_missing_argument();
	const struct option_spec *spec = find_option(code);

	begin_anew(options, spec, &has_begun[spec - options_table(&count)]);
	parser->sorted |= code == CODE_SORT;
	options->has_string_max |= code == 's';
	/* The last one counts. */
	if (code == CODE_APP_LINE)
		options->output.any_line = false;
	return apply(options, spec, optarg);
}

static int parse_run(void *context, struct expand_run *run)
{
	struct parser *parser = context;
	const struct getopt_tables *tables = &parser->tables;
	bool has_begun[OPTIONS_MAX] = {0};
	int result = 0;
	int code;

	run->next = 1;
	optind = 0;
	opterr = 0;
	while ((code = getopt_long(run->count, run->words, tables->letters, tables->names, NULL)) !=
	       -1) {
		result = parse_option(parser, code, run->words[optind - 1], has_begun);
		if (result)
			return result;
		run->next = optind;
	}
	/* Only "--" is passed without an option. */
	run->is_ended = optind > run->next;
	run->next += run->is_ended;
	return 0;
}

/* A recipe names the functions of all drivers; most processes have one of them. */
static void find_optional(struct options *options)
{
	for (size_t i = 0; i < options->entry_filters.count; i++) {
		const char *text = *(const char **)vec_at(&options->entry_filters, i);

		if (recipes_own(&options->recipes, text))
			vec_push(&options->optional_filters, &text);
	}
}

/* A recipe says how its lines look; a table, or another form in their place, has none. */
static void leave_lines_out(struct options *options)
{
	if (!formats_have_lines(options) && options->template &&
	    recipes_own(&options->recipes, options->template))
		options->template = NULL;
}

int options_parse(struct options *options, int argc, char **argv)
{
	/* Not on the stack, of which a small limit (ulimit -s) leaves some KiB only. */
	_cleanup_free_ struct parser *parser = xcalloc(1, sizeof *parser);
	int next;

	set_defaults(options);
	parser->options = options;
	make_getopt_tables(&parser->tables);
	int result = expand_words(argc, argv, parse_run, parser, &options->recipes, &next);

	if (result)
		return result;
	find_optional(options);
	leave_lines_out(options);
	if (next < argc)
		options->command = argv + next;
	if (options->output.time_stamp > 3)
		options->output.time_stamp = 3;
	options->output.to_file = options->output_file != NULL;
	options->output.all_pids = options->output_file && options->follow_forks == 1;
	options->output.no_ends = options->quiet > 1;
	if (options->sum && !parser->sorted)
		options->output.sort = SORT_SUM;
	options->output.over_time = options->interval_ns != 0;
	result = option_checks(options, parser->sorted);

	if (!options->output.max_groups)
		options->output.max_groups = DEFAULT_GROUPS_MAX;
	return result;
}
