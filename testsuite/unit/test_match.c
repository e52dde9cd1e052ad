/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which places of a module the filters find, in a library made when the test runs. */
#include "probe/match.h"

#include "elf_fixture.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char source[] =
	"int external_one(int), external_two(int);\n"
	"__attribute__((noinline)) int aaaa(int x) { return x * 3 + 1; }\n"
	"#define ALIAS(name, of) int name(int) __attribute__((alias(#of)))\n"
	/* One address, many names: the plainest is "aaaa". */
	"ALIAS(__aa, aaaa); ALIAS(_a, aaaa); ALIAS(longer_name, aaaa); ALIAS(bbbb, aaaa);\n"
	"int _under(int x) { return x - 7; }\n"
	"ALIAS(__under, _under);\n"
	"int calls(int x) { return external_one(x) + external_two(x + 1); }\n"
	"__attribute__((noinline, used)) static int twice(int x) { return x + 1; }\n"
	"int use_one(int x) { return twice(x) * 2; }\n"
	"typedef int function(int);\n"
	"__attribute__((used)) static function *choose(void) { return aaaa; }\n"
	"int chosen(int) __attribute__((ifunc(\"choose\")));\n"
	"int data = 5;\n"
	"function *table[3] = {aaaa, _under, calls};\n"
	"__asm__(\".text\\n.globl untyped\\nuntyped: nop\\nret\\n\"\n"
	"        \".data\\n.globl untyped_data\\nuntyped_data: .long 1\\n.text\\n\");\n";

static const char source_two[] =
	"__attribute__((noinline, used)) static int twice(int x) { return x + 2; }\n"
	"int use_two(int x) { return twice(x) * 3; }\n";

static struct fixture directory;
static struct elf_file *library;
static struct decoder *decoder;

static int set_up(void **state)
{
	(void)state;
	if (fixture_create(&directory) ||
	    fixture_write(&directory, "one.c", source, sizeof source - 1) ||
	    fixture_write(&directory, "two.c", source_two, sizeof source_two - 1))
		return -1;
	if (!fixture_compile(&directory, "-shared -fPIC -fplt -O1 -nostdlib -Wl,-z,lazy "
					 "-Wl,-soname,libmatch.so.1 -o lib.so one.c two.c"))
		library = fixture_open(&directory, "lib.so");
	decoder = decoder_create();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elf_unref(library);
	decoder_destroy(decoder);
	fixture_destroy(&directory);
	return 0;
}

static uint64_t value_of(const char *name)
{
	const struct elf_symbol *symbol = elf_find_symbol(library, name);

	if (!symbol)
		fail_msg("the library has no %s", name);
	return symbol->value;
}

static const char *stub_name(uint64_t stub)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(library, &count);

	for (size_t i = 0; i < count; i++)
		if (slots[i].stub == stub)
			return slots[i].name;
	return "none";
}

/* One query: filters, and the matches in the library. */
struct question {
	struct match_filters filters;
	struct match_module module;
	struct vec found;
};

static void begin(struct question *question)
{
	if (!library)
		skip();
	*question = (struct question){.module = {.file = library,
						 .decoder = decoder,
						 .path = "/usr/lib/libmatch.so.1.2.3"}};
	vec_init(&question->filters.calls, sizeof(struct filter));
	vec_init(&question->filters.libraries, sizeof(struct filter));
	vec_init(&question->filters.entries, sizeof(struct filter));
	vec_init(&question->found, sizeof(struct match));
}

/* The first rule of the filter. */
static struct filter_rule *add_parsed(struct vec *filters, const char *text,
				      enum filter_syntax syntax)
{
	char *error;
	struct filter filter;

	assert_int_equal(filter_parse(&filter, text, syntax, &error), 0);
	vec_push(filters, &filter);
	return vec_at(&filter.rules, 0);
}

static struct filter_rule *add(struct vec *filters, const char *text)
{
	return add_parsed(filters, text, FILTER_ENTRIES);
}

static const struct match *ask(struct question *question, size_t expected)
{
	vec_clear(&question->found);
	match_module(&question->module, &question->filters, &question->found);
	assert_int_equal(question->found.count, expected);
	return question->found.items;
}

static void clear(struct vec *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		filter_deinit(vec_at(filters, i));
	vec_clear(filters);
}

static void end(struct question *question)
{
	clear(&question->filters.calls);
	clear(&question->filters.libraries);
	clear(&question->filters.entries);
	vec_deinit(&question->filters.calls);
	vec_deinit(&question->filters.libraries);
	vec_deinit(&question->filters.entries);
	vec_deinit(&question->found);
}

/* The only match of -x `text`. */
static const struct match *ask_one(struct question *question, const char *text)
{
	clear(&question->filters.entries);
	add(&question->filters.entries, text);
	return ask(question, 1);
}

static void test_plain_names(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	const struct match *match = ask_one(&question, "calls");

	assert_int_equal(match->kind, MATCH_ENTRY);
	assert_int_equal(match->address, value_of("calls"));
	assert_string_equal(match->name, "calls");
	assert_string_equal(match->rule->text, "calls");
	assert_true(match->rule->matched && match->by_name);
	/* If a filter names it, the match has that name. */
	assert_string_equal(ask_one(&question, "longer_name")->name, "longer_name");
	assert_string_equal(ask_one(&question, "__aa")->name, "__aa");
	clear(&question.filters.entries);
	const struct filter_rule *rule = add(&question.filters.entries, "no_such_function");

	ask(&question, 0);
	assert_false(rule->matched);
	/* Defined elsewhere: called from here, but not entered here. */
	clear(&question.filters.entries);
	add(&question.filters.entries, "external_one");
	ask(&question, 0);
	end(&question);
}

static void test_plainest_name(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	assert_string_equal(ask_one(&question, "[a_lb]*[ar_e][a_lb]*")->name, "aaaa");
	assert_string_equal(ask_one(&question, "*_a*")->name, "_a");
	assert_string_equal(ask_one(&question, "*under")->name, "_under");
	/* With several filters, too. */
	clear(&question.filters.entries);
	const struct filter_rule *rules[] = {add(&question.filters.entries, "_a"),
					     add(&question.filters.entries, "bbbb"),
					     add(&question.filters.entries, "longer_name")};
	const struct match *match = ask(&question, 1);

	assert_string_equal(match->name, "bbbb");
	for (size_t i = 0; i < 3; i++)
		assert_true(rules[i]->matched);
	end(&question);
}

/* All functions: each once, no data, no undefined symbols, in order. */
static void test_all_entries(void **state)
{
	static const char *const names[] = {"aaaa", "_under", "calls", "use_one", "use_two"};
	struct question question;
	size_t seen = 0;

	(void)state;
	begin(&question);
	add(&question.filters.entries, "*");
	match_module(&question.module, &question.filters, &question.found);
	for (size_t i = 0; i < question.found.count; i++) {
		const struct match *match = vec_at(&question.found, i);
		const struct match *before = i ? vec_at(&question.found, i - 1) : NULL;

		assert_true(match->kind == MATCH_ENTRY || match->kind == MATCH_IFUNC);
		assert_true(!before || before->address < match->address ||
			    (before->address == match->address && before->kind < match->kind));
		assert_int_not_equal(match->address, value_of("data"));
		assert_int_not_equal(match->address, value_of("table"));
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			if (!strcmp(match->name, names[k])) {
				assert_int_equal(match->address, value_of(names[k]));
				seen++;
			}
	}
	assert_int_equal(seen, sizeof names / sizeof *names);
	end(&question);
}

/* Two static functions with the same name both match. */
static void test_same_name(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	add(&question.filters.entries, "twice");
	const struct match *match = ask(&question, 2);

	assert_int_not_equal(match[0].address, match[1].address);
	assert_string_equal(match[0].name, "twice");
	assert_string_equal(match[1].name, "twice");
	end(&question);
}

/* Labels of assembler code match only by their plain name, and only in code. */
static void test_untyped(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	assert_int_equal(ask_one(&question, "untyped")->address, value_of("untyped"));
	clear(&question.filters.entries);
	add(&question.filters.entries, "untyped*");
	ask(&question, 0);
	clear(&question.filters.entries);
	add(&question.filters.entries, "untyped_data");
	add(&question.filters.entries, "data");
	ask(&question, 0);
	end(&question);
}

static void test_ifunc(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	const struct match *match = ask_one(&question, "chosen");

	assert_int_equal(match->kind, MATCH_IFUNC);
	assert_int_equal(match->address, value_of("choose"));
	assert_string_equal(match->name, "chosen");
	/* The resolver itself is another place, though at the same address. */
	clear(&question.filters.entries);
	add(&question.filters.entries, "cho[os]*");
	match = ask(&question, 2);
	assert_int_equal(match[0].kind, MATCH_ENTRY);
	assert_string_equal(match[0].name, "choose");
	assert_int_equal(match[1].kind, MATCH_IFUNC);
	assert_string_equal(match[1].name, "chosen");
	end(&question);
}

static void test_calls(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	add(&question.filters.calls, "external_two");
	const struct match *match = ask(&question, 1);

	assert_int_equal(match->kind, MATCH_CALL);
	assert_string_equal(match->name, "external_two");
	assert_string_equal(stub_name(match->address), "external_two");
	add(&question.filters.calls, "external_*");
	match = ask(&question, 2);
	assert_string_not_equal(match[0].name, match[1].name);
	/* A call and an entry with the same name are different matches. */
	clear(&question.filters.calls);
	add(&question.filters.calls, "calls");
	ask(&question, 0);
	end(&question);
}

/* Chains: all rules together decide on each name. */
static void test_chains(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	add(&question.filters.calls, "external_*-*_two");
	assert_string_equal(ask(&question, 1)->name, "external_one");
	clear(&question.filters.calls);
	add(&question.filters.calls, "*_one+*_two-@libmatch.so.1+*_two@lib*");
	assert_string_equal(ask(&question, 1)->name, "external_two");
	assert_false(ask(&question, 1)->by_name);
	clear(&question.filters.calls);
	add(&question.filters.entries, "twice+calls+nothing-twice");
	const struct filter *filter = question.filters.entries.items;
	const struct match *match = ask(&question, 1);

	assert_string_equal(match->name, "calls");
	assert_true(match->by_name);
	assert_true(((struct filter_rule *)vec_at(&filter->rules, 1))->matched);
	assert_false(((struct filter_rule *)vec_at(&filter->rules, 2))->matched);
	clear(&question.filters.entries);
	/* Starts with all functions. */
	add(&question.filters.entries, "-[_a-tv-z]*-*_one");
	assert_string_equal(ask(&question, 1)->name, "use_two");
	end(&question);
}

/* external_one is defined by libone. */
static bool find_library(void *context, const struct got_slot *slot, struct filter_module *out)
{
	*out = *(struct filter_module *)context;
	return !strcmp(slot->name, "external_one");
}

static void test_calls_to_libraries(void **state)
{
	struct filter_module one = {.soname = "libone.so.1", .path = "/usr/lib/libone.so.1"};
	struct question question;

	(void)state;
	begin(&question);
	question.module.find_library = find_library;
	question.module.context = &one;
	add_parsed(&question.filters.libraries, "libone.so*", FILTER_LIBRARIES);
	const struct match *match = ask(&question, 1);

	assert_int_equal(match->kind, MATCH_CALL);
	assert_string_equal(match->name, "external_one");
	/* A function that -e selects, too, is found once. */
	add(&question.filters.calls, "external_*");
	ask(&question, 2);
	clear(&question.filters.calls);
	vec_clear(&question.found);
	match_libraries(&question.module, &question.filters, &question.found);
	assert_int_equal(question.found.count, 1);
	clear(&question.filters.libraries);
	/* -l means the library that is called, not the one that calls. */
	const struct filter_rule *rule = add_parsed(&question.filters.libraries, "libmatch.so.1",
						    FILTER_LIBRARIES);

	ask(&question, 0);
	assert_int_equal(rule->miss, MISS_UNCALLED);
	clear(&question.filters.libraries);
	rule = add_parsed(&question.filters.libraries, "libother.so.1", FILTER_LIBRARIES);
	ask(&question, 0);
	assert_int_equal(rule->miss, MISS_MODULE);
	clear(&question.filters.libraries);
	add_parsed(&question.filters.libraries, "libone.so*-external_one@", FILTER_LIBRARIES);
	ask(&question, 0);
	end(&question);
}

static void test_modules(void **state)
{
	static const char *const fitting[] = {"calls@libmatch.so.1", "calls@libmatch*",
					      "calls@/usr/lib/*",    "calls@libmatch.so.1.2.3",
					      "calls@libmatch",	     "calls@match"};
	static const char *const others[] = {"calls@MAIN", "calls@libc.so.6", "calls@libmatch.so",
					     "calls@/lib/*"};
	struct question question;

	(void)state;
	begin(&question);
	for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
		ask_one(&question, fitting[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		clear(&question.filters.entries);
		add(&question.filters.entries, others[i]);
		ask(&question, 0);
	}
	question.module.is_main = true;
	ask_one(&question, "calls@MAIN");
	end(&question);
}

static void test_slots(void **state)
{
	struct question question;

	(void)state;
	begin(&question);
	const struct match *match = ask_one(&question, "*table+8=second");

	assert_int_equal(match->kind, MATCH_SLOT);
	assert_int_equal(match->address, value_of("table") + 8);
	assert_string_equal(match->name, "second");
	assert_int_equal(ask_one(&question, "*table=first")->address, value_of("table"));
	clear(&question.filters.entries);
	add(&question.filters.entries, "*no_such_table+8=second");
	add(&question.filters.entries, "*table+8=second@libc.so.6");
	/* A filter by name alone finds no data word. */
	add(&question.filters.entries, "second");
	ask(&question, 0);
	end(&question);
}

static void never(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	fail_msg("%s:%u: %s", file, line, message);
}

/* Functions whose places are known from a .conf file only. */
static void test_prototypes(void **state)
{
	struct protolib *own = protolib_create();
	struct protolib *common = protolib_create();
	struct question question;

	(void)state;
	assert_int_equal(protolib_parse(own, "own",
					"int second(int) @ *table+8;\nint calls(int);\n"
					"int lost(int) @ *no_such_table+8;\n",
					never, NULL),
			 0);
	assert_int_equal(
		protolib_parse(common, "common", "int third(int) @ *table+0x10;\n", never, NULL),
		0);
	if (!library) {
		protolib_destroy(own);
		protolib_destroy(common);
	}
	begin(&question);
	question.module.prototypes[0] = own;
	question.module.prototypes[1] = common;
	const struct match *match = ask_one(&question, "second");

	assert_int_equal(match->kind, MATCH_SLOT);
	assert_int_equal(match->address, value_of("table") + 8);
	assert_string_equal(match->name, "second");
	assert_int_equal(ask_one(&question, "th*d")->address, value_of("table") + 16);
	/*
	 * A function with a symbol is found by it. A function whose table is elsewhere is not
	 * found.
	 */
	assert_int_equal(ask_one(&question, "calls")->kind, MATCH_ENTRY);
	clear(&question.filters.entries);
	add(&question.filters.entries, "lost");
	ask(&question, 0);
	/* A word that two filters select is found once. */
	clear(&question.filters.entries);
	add(&question.filters.entries, "*table+8=_second");
	add(&question.filters.entries, "sec*");
	assert_string_equal(ask(&question, 1)->name, "second");
	end(&question);
	protolib_destroy(own);
	protolib_destroy(common);
}

/* Matches that were found before in other modules stay as they are. */
static void test_appends(void **state)
{
	struct question question;
	const struct match earlier = {
		.kind = MATCH_ENTRY, .address = UINT64_MAX, .name = "earlier"};

	(void)state;
	begin(&question);
	add(&question.filters.entries, "calls");
	vec_push(&question.found, &earlier);
	vec_push(&question.found, &earlier);
	match_module(&question.module, &question.filters, &question.found);
	assert_int_equal(question.found.count, 3);
	assert_string_equal(((struct match *)vec_at(&question.found, 0))->name, "earlier");
	assert_string_equal(((struct match *)vec_at(&question.found, 1))->name, "earlier");
	assert_string_equal(((struct match *)vec_at(&question.found, 2))->name, "calls");
	end(&question);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names),
		cmocka_unit_test(test_plainest_name),
		cmocka_unit_test(test_all_entries),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_untyped),
		cmocka_unit_test(test_ifunc),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_prototypes),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_calls_to_libraries),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
