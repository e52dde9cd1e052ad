/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame descriptions: mistakes in them, what they compile to, and which one is chosen. */
#include "unwind/script/frames_parser.h"
#include "unwind/script/vm.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BASE = 0x1000, WORDS = 64 };

/* The memory of a process: words at BASE. */
static uint64_t words[WORDS];

static void read_words(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		const uint64_t at = ranges[i].address - BASE;
		const size_t left = ranges[i].address >= BASE && at < sizeof words
					    ? sizeof words - (size_t)at
					    : 0;

		ranges[i].done = ranges[i].length < left ? ranges[i].length : left;
		if (ranges[i].done)
			memcpy(ranges[i].buffer, (uint8_t *)words + at, ranges[i].done);
	}
}

static const struct memory_source memory = {.readv = read_words};

static bool read_number(void *context, uint64_t address, unsigned size, uint64_t *number)
{
	(void)context;
	*number = 0;
	return memory_read_exact(&memory, address, number, size);
}

/* -------------------------------------------------------------- mistakes */

static char said[256];

static void note(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	snprintf(said, sizeof said, "%s:%u: %s", file, line, message);
}

static char *import(void *context, const char *name, char **path)
{
	(void)context;
	if (!strcmp(name, "endless")) {
		*path = strdup("endless.frames");
		return strdup("import endless\n");
	}
	if (strcmp(name, "common") != 0)
		return NULL;
	*path = strdup("common.frames");
	return strdup("part\nthing = 5\nlet twice = code * 2\nnumber = nothing\n");
}

static const struct frames_source source = {import, note, NULL};

#define HEAD "language L\nversion 1\nmodule m\n"
#define REST "when 1\nwalk\nend\nline number(1)\n"

static void assert_mistake(const char *text, const char *message)
{
	said[0] = '\0';
	assert_null(frames_parse("f", text, &source));
	assert_string_equal(said, message);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"wrong", "f:1: expected '=', found the end of the line"},
		{"# comment\n\n 17", "f:3: expected a statement, found '17'"},
		{"language", "f:1: expected a name, found the end of the line"},
		{"language A\nlanguage B", "f:2: expected that only once, found 'B'"},
		{HEAD "x = y", "f:4: expected a name that is defined above, found 'y'"},
		{HEAD "x = 1 +",
		 "f:4: expected a number, a name or '(', found the end of the line"},
		{HEAD "x = (1", "f:4: expected ')', found the end of the line"},
		{HEAD "x = 1 2", "f:4: expected the end of the line, found '2'"},
		{HEAD "x = 12z", "f:4: expected a number, a name or '(', found '12'"},
		{HEAD "x = u8 1", "f:4: expected '(', found '1'"},
		{HEAD "x = 1 ? 2", "f:4: expected ':', found the end of the line"},
		{HEAD "x = tls_of()", "f:4: expected a symbol, found ')'"},
		{HEAD "x = find(m, 1)", "f:4: expected a text, found '1'"},
		{HEAD "x = *m\nwhen x", "f:5: expected a symbol or a number, found 'x'"},
		{HEAD "import none",
		 "f:4: expected the name of a file in this directory, found 'none'"},
		{HEAD "import common",
		 "common.frames:4: expected a name that is defined above, found 'nothing'"},
		{HEAD "walk\neach x = 1\nend", "f:5: expected 'then', found the end of the line"},
		{HEAD "walk\nx = 1", "f:5: expected 'end', found the end of the line"},
		{HEAD "walk\nskip\nend", "f:5: expected '=', found the end of the line"},
		{HEAD "walk\nemit 1\nend", "f:5: expected ',', found the end of the line"},
		{HEAD "walk\nm = 1\nend", "f:5: expected the name of a variable, found '1'"},
		{HEAD "walk\nelse\nend", "f:5: expected '=', found the end of the line"},
		{HEAD "walk\nx = 1\nend\nwalk\nend", "f:7: expected that only once, found 'walk'"},
		{HEAD "walk\nx = 1\nend\ny = x",
		 "f:7: expected a name that is defined above, found 'x'"},
		{HEAD "file nothing(1)", "f:4: expected a decoder of text, found 'nothing'"},
		{HEAD "line \"text\"", "f:4: expected a decoder of lines, found 'text'"},
		{HEAD "line c_text(1)", "f:4: expected a decoder of lines, found 'c_text'"},
		{HEAD "line number(1, 2)", "f:4: expected ')', found ','"},
		{HEAD "file \"open", "f:4: expected a decoder of text, found '\"'"},
		{HEAD REST "stray %", "f:8: expected '=', found '%'"},
		{"version 1\nmodule m\n" REST,
		 "f:7: expected a statement 'language', found the end of the line"},
		{HEAD "walk\nend\nline number(1)\n",
		 "f:7: expected a statement 'when', found the end of the line"},
		{HEAD "when 1\nwalk\nend\n",
		 "f:7: expected a statement 'line', found the end of the line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_mistake(cases[i].text, cases[i].message);
}

static void test_too_deep(void **state)
{
	char text[400];
	size_t length;

	(void)state;
	length = (size_t)snprintf(text, sizeof text, HEAD "x = ");
	memset(text + length, '(', 300);
	text[length + 300] = '\0';
	assert_mistake(text, "f:4: expected a simpler expression, found '('");
	memset(text + length, '-', 300);
	assert_mistake(text, "f:4: expected a simpler expression, found '-'");
	assert_mistake(HEAD "let x = x\ny = x", "f:4: expected a simpler expression, found 'x'");
	said[0] = '\0';
	assert_null(frames_parse("f", HEAD "import endless", &source));
	assert_non_null(strstr(said, "expected the name of a file in this directory"));
}

/* More names, values, or instructions than there is room for. */
static void test_too_large(void **state)
{
	char *text = calloc(1, 1 << 17);
	size_t length = (size_t)sprintf(text, HEAD);

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i < 100; i++)
		length += (size_t)sprintf(text + length, "x%u = *(m + %u)\n", i, i);
	said[0] = '\0';
	assert_null(frames_parse("f", text, &source));
	assert_string_equal(
		said,
		"f:91: expected fewer symbols and computed values, found the end of the line");
	length = (size_t)sprintf(text, HEAD "walk\n");
	for (unsigned i = 0; i < 300; i++)
		length += (size_t)sprintf(text + length, "x%u = %u\n", i, i);
	sprintf(text + length, "end\n" REST);
	said[0] = '\0';
	assert_null(frames_parse("f", text, &source));
	assert_non_null(strstr(said, "expected a shorter program"));
	length = (size_t)sprintf(text, HEAD "walk\n");
	for (unsigned i = 0; i < 2000; i++)
		length += (size_t)sprintf(text + length, "x = *(*(m + 8))\n");
	sprintf(text + length, "end\n" REST);
	said[0] = '\0';
	assert_null(frames_parse("f", text, &source));
	assert_non_null(strstr(said, "expected a shorter program"));
	free(text);
}

static void test_part(void **state)
{
	(void)state;
	said[0] = '\0';
	assert_null(frames_parse("f", "part\nx = nothing\n", &source));
	assert_string_equal(said, "");
}

/* -------------------------------------------------------------- expressions */

/* Computes `expression` as the value of a clause; s is the address of `words`. */
static uint64_t value_of(const char *expression)
{
	char text[1024];
	uint64_t values[SCRIPT_VALUES_MAX] = {BASE, BASE};
	uint64_t results[SCRIPT_CLAUSE_RESULTS] = {0};
	const struct raw_frame frame = {11, 22, {33, 44, 55}, 0};

	snprintf(
		text, sizeof text,
		"language L\nversion 1\nmodule m\nsymbol s\nbig = 0x123456789abcdef0\n"
		"let twice = code * 2\nlet ten = twice / 2 - 1\nwhen 1\nwalk\nend\nline number(%s)\n",
		expression);
	said[0] = '\0';
	struct script_description *description = frames_parse("f", text, &source);

	assert_string_equal(said, "");
	assert_non_null(description);
	const struct script_clause *clause = vec_at(&description->lines, 0);
	struct script_run run = {.program = clause->program,
				 .values = values,
				 .value_count = 2,
				 .read = read_number,
				 .thread_pointer = BASE + 0x100,
				 .tid = 77,
				 .decoded = &frame,
				 .results = results,
				 .result_count = SCRIPT_CLAUSE_RESULTS,
				 .steps_max = 1000};

	assert_int_equal(script_execute(&run), SCRIPT_DONE);
	script_description_destroy(description);
	return results[1];
}

static void test_expressions(void **state)
{
	static const struct {
		const char *expression;
		int64_t value;
	} cases[] = {
		{"1 + 2 * 3 - 4 / 2", 5},
		{"(1 + 2) * 3", 9},
		{"0x10 >> 2 << 1", 8},
		{"-7 / 2", -3},
		{"~0 & 0xff | 0x100", 0x1ff},
		{"1 < 2 == 2 > 1", 1},
		{"-1 < 0", 1},
		{"code - 12 < 0", 1},
		{"code <= 11 && at >= 22 && code != at", 1},
		{"0 && *0", 0},
		{"1 || *0", 1},
		{"0 || code == 12", 0},
		{"!code", 0},
		{"!!code", 1},
		{"-code", -11},
		{"~code", -12},
		{"code ? at : *0", 22},
		{"!code ? *0 : id1 + id2 + id3", 132},
		{"0 ? 1 : 0 ? 2 : 3", 3},
		{"big >> 32", 0x12345678},
		{"big + code - big", 11},
		{"code / 0", 0},
		{"code << 64", 0},
		{"ten", 10},
		{"twice + twice", 44},
		{"*s", 0x1122334455667788},
		{"u8(s + 1)", 0x77},
		{"u16(s)", 0x7788},
		{"u32(s + 4)", 0x11223344},
		{"i32(s + 8)", -2},
		{"u64(s + 8)", 0xfffffffe},
		{"*(*(s + 16))", 0x1122334455667788},
		{"**(s + 16) & 0xff", 0x88},
		{"thread_pointer - s", 0x100},
		{"tid", 77},
		{"find(s + 32, \"nextstate\")", 2},
		{"find(s + 32, \"next\")", 1},
	};

	(void)state;
	memset(words, 0, sizeof words);
	words[0] = 0x1122334455667788;
	words[1] = 0xfffffffe;
	words[2] = BASE;
	words[4] = BASE + 64;
	words[5] = BASE + 80;
	words[6] = BASE + 96;
	memcpy(words + 8, "null", 5);
	memcpy(words + 10, "next", 5);
	memcpy(words + 12, "nextstate", 10);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (value_of(cases[i].expression) != (uint64_t)cases[i].value)
			fail_msg("%s: %lx", cases[i].expression,
				 (unsigned long)value_of(cases[i].expression));
}

/* -------------------------------------------------------------- walks */

enum { FRAMES = 8 };

static enum script_end walk(const char *body, uint64_t steps_max, struct raw_frame *frames,
			    size_t *count)
{
	char text[1024];
	const uint64_t values[SCRIPT_VALUES_MAX] = {BASE};

	snprintf(text, sizeof text, HEAD "when 1\nline number(1)\nwalk\n%s\nend\n", body);
	said[0] = '\0';
	struct script_description *description = frames_parse("f", text, &source);

	assert_string_equal(said, "");
	struct script_run run = {.program = description->walk,
				 .values = values,
				 .value_count = 1,
				 .read = read_number,
				 .frames = frames,
				 .capacity = FRAMES,
				 .steps_max = steps_max};
	const enum script_end end = script_execute(&run);

	*count = run.frame_count;
	script_description_destroy(description);
	return end;
}

static void test_walks(void **state)
{
	struct raw_frame frames[FRAMES];
	size_t count;

	(void)state;
	memset(words, 0, sizeof words);
	/* A list of three: next, code, position. */
	for (uint64_t i = 0; i < 3; i++) {
		words[4 * i] = i < 2 ? BASE + 32 * (i + 1) : 0;
		words[4 * i + 1] = 100 + i;
		words[4 * i + 2] = 200 + i;
	}
	assert_int_equal(
		walk("each f = m then *f\nemit *(f + 8), *(f + 16) identity f, 2, 3 entry 4\nend",
		     1000, frames, &count),
		SCRIPT_DONE);
	assert_int_equal(count, 3);
	assert_int_equal(frames[2].code, 102);
	assert_int_equal(frames[2].position, 202);
	assert_int_equal(frames[2].identity[0], BASE + 64);
	assert_int_equal(frames[2].identity[2], 3);
	assert_int_equal(frames[2].entry, 4);
	/* skip goes to `then`, leave behind the end of the inner loop, stop ends all. */
	assert_int_equal(
		walk("each i = 1 while i < 9 then i + 1\nif i == 2\nskip\nend\n"
		     "each j = 1 while j < 9 then j + 1\nif j == 3\nleave\nelse\nif i == 4\nstop\n"
		     "end\nend\nemit i, j\nend\nend",
		     1000, frames, &count),
		SCRIPT_DONE);
	assert_int_equal(count, 4);
	assert_int_equal(frames[2].code, 3);
	assert_int_equal(frames[3].position, 2);
	/* A variable keeps its value while the loop goes back to statements before its first use. */
	assert_int_equal(walk("each i = 1 while i < 4 then i + 1\n"
			      "if i * 2 + 1 == i * 98 + i * 3\nstop\nend\n"
			      "if i == 1\nkept = 77\nend\nemit i, kept\nend",
			      1000, frames, &count),
			 SCRIPT_DONE);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(frames[i].position, 77);
	/* Endless, too many frames, unreadable. */
	assert_int_equal(walk("each i = 1 then i\nend", 1000, frames, &count), SCRIPT_ENDLESS);
	assert_int_equal(walk("each i = 1 then i\nemit i, i\nend", 1000, frames, &count),
			 SCRIPT_FULL);
	assert_int_equal(count, FRAMES);
	assert_int_equal(walk("emit 1, 2\nx = *8\nemit 1, 2", 1000, frames, &count),
			 SCRIPT_UNREADABLE);
	assert_int_equal(count, 1);
}

/* -------------------------------------------------------------- choice of a description */

static char directory[] = "/tmp/test_script_XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "%s/frames/%s", directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static bool find_symbol(void *context, const char *name, struct script_symbol *symbol)
{
	(void)context;
	*symbol = (struct script_symbol){.value = BASE, .size = 24};
	return !strcmp(name, "vm") || !strcmp(name, "version");
}

static bool find_no_tls(void *context, const char *name, struct script_symbol *symbol)
{
	(void)context;
	(void)name;
	(void)symbol;
	return false;
}

/* The variables of functions. */
static bool find_tls_of(void *context, const char *name, struct script_symbol *symbol)
{
	(void)context;
	*symbol = (struct script_symbol){.value = 8,
					 .tls_module = !strcmp(name, "dynamic") ? 3 : 0};
	return strcmp(name, "unknown") != 0;
}

static const struct script_symbols symbols = {find_symbol, find_no_tls, find_tls_of, NULL};

#define VM(number, more)                                                                           \
	"language L\nversion " number "\nmodule vm\nsymbol version" more                           \
	"\nwhen u8(version) == " number "\nimport walk\n"

static int make_files(void **state)
{
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/frames", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	setenv("XDG_CONFIG_HOME", directory, 1);
	setenv("XDG_CONFIG_DIRS", directory, 1);
	write_file("walk.frames", "part\ntell u8(version), 7\nwalk\n emit 8, 9\nend\n"
				  "file \"a file\"\nline number(code)\n");
	write_file("l1.frames", VM("1", "") "when 1 || tls_of(unknown)\n");
	write_file("l2.frames", VM("2", "") "when tls_of(known) == thread_pointer + 8\n");
	write_file("l3.frames", VM("3", ", missing"));
	write_file("l4.frames", "nonsense\n");
	write_file("other.frames",
		   "language M\nversion 1\nmodule other\nwhen 1\nwalk\nend\nline number(1)\n");
	return 0;
}

static int remove_files(void **state)
{
	static const char *const names[] = {"walk", "l1", "l2", "l3", "l4", "other"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/frames/%s.frames", directory, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/frames", directory);
	rmdir(path);
	return rmdir(directory);
}

static void test_choice(void **state)
{
	struct script_library *library = script_library_create(directory, note, NULL);
	const struct script_thread thread = {0};
	struct strbuf version = {0};
	struct script_vm *vm;
	struct raw_frame raw[2];
	size_t count;

	(void)state;
	assert_non_null(strstr(said, "/frames/l4.frames:1: expected '='"));
	script_library_all(library, &count);
	assert_int_equal(count, 4);
	words[0] = 2;
	assert_int_equal(script_vm_bind(library, &symbols, &memory, &vm, &version), 0);
	assert_string_equal(script_vm_description(vm)->version, "2");
	assert_int_equal(script_vm_walk(vm, &thread, raw, 2, &count), SCRIPT_DONE);
	assert_int_equal(count, 1);
	for (int i = 0; i < 2; i++) {
		const struct script_frame frame = script_vm_name(vm, raw);

		assert_string_equal(frame.file, "a file");
		assert_null(frame.function);
		assert_int_equal(frame.line, 8);
		assert_false(frame.is_entry);
	}
	script_vm_destroy(vm);
	/* One with a function that does not tell, one whose symbol is missing, one that nobody knows. */
	words[0] = 1;
	assert_int_equal(script_vm_bind(library, &symbols, &memory, &vm, &version), -ENOTSUP);
	assert_string_equal(version.text, "L 1.7");
	words[0] = 3;
	assert_int_equal(script_vm_bind(library, &symbols, &memory, &vm, &version), -ENOTSUP);
	assert_null(vm);
	assert_string_equal(version.text, "L 3.7");
	words[0] = 9;
	assert_int_equal(script_vm_bind(library, &symbols, &memory, &vm, &version), -ENOTSUP);
	assert_string_equal(version.text, "L 9.7");
	strbuf_deinit(&version);
	script_library_destroy(library);
}

/* All installed descriptions are without mistakes. */
static void test_installed(void **state)
{
	const char *data_dir = getenv("TRACER_DATADIR");
	size_t count;

	(void)state;
	if (!data_dir)
		skip();
	said[0] = '\0';
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
	struct script_library *library = script_library_create(data_dir, note, NULL);

	assert_string_equal(said, "");
	script_library_all(library, &count);
	assert_true(count >= 20);
	script_library_destroy(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_walks),
		cmocka_unit_test_setup_teardown(test_choice, make_files, remove_files),
		cmocka_unit_test(test_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
