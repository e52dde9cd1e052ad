/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information: an ELF file whose functions are asked for by address and by name. What comes of it must be what the
 * parser of .conf files takes. The source lines of addresses, and symbols that were
 * compressed into the file, are asked for, too.
 *
 * libdwarf does most of the reading, in a process that may die of it (tracee/helper.h), and the versions that
 * distributions have do die. So each input is looked at in a child, which may end in any way but one: saying
 * that something did not hold, or that UBSan, which sees our code only, had something to say. What ASan finds may be damage
 * that libdwarf made, and is not looked at. libFuzzer gets back from the child which code was run.
 *
 * With FUZZ_DWARF_HERE in the environment there is no child: for looking at crashes one by one.
 */
#include "dwarf/dwarf.h"
#include "fuzz.h"
#include "object/debug_file.h"
#include "object/elf_address.h"
#include "object/mini_debug.h"
#include "proto/prototype.h"
#include "target/debuginfo/source_lines.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CODE = 0x1000, /* where the functions of the corpus are */
	CODE_END = 0x1180,
	DID_NOT_HOLD = 99,
	SECONDS = 5
};

/* MUST() by a status that nothing else ends with: abort() is also what libc does about damage that libdwarf made. */
#define HOLDS(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition); \
			_exit(DID_NOT_HOLD);                                                       \
		}                                                                                  \
	} while (0)

static void say(void *context, const char *file, unsigned line, const char *message)
{
	(void)line;
	fprintf(stderr, "%s: %s in %s\n", file, message, (const char *)context);
}

static void check_text(struct strbuf *text, const char *name)
{
	struct protolib *lib = protolib_create();

	HOLDS(text->length && strlen(text->text) == text->length);
	HOLDS(text->length <= 2 * DWARF_TEXT_MAX);
	HOLDS(protolib_parse(lib, "f", text->text, say, text->text) == 0);
	HOLDS(protolib_find(lib, name));
	protolib_destroy(lib);
	strbuf_clear(text);
}

static void ask_all(struct dwarf_reader *reader)
{
	static const char *const names[] = {"use_pt", "decl", "f"};
	struct strbuf text = {0};

	for (uint64_t address = CODE; address < CODE_END; address++) {
		if (!dwarf_reader_function(reader, address, "f", address & 1, &text))
			check_text(&text, "f");
		if (!dwarf_reader_indirect(reader, address, "f", &text))
			check_text(&text, "f");
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!dwarf_reader_declaration(reader, names[i], &text))
			check_text(&text, names[i]);
	strbuf_deinit(&text);
}

/* Asks about the addresses of all functions, as many at once as may be, and in no order. */
static void ask_lines(struct dwarf_reader *reader, enum source_lines_kind kind)
{
	uint64_t addresses[DWARF_ADDRESSES_MAX];
	struct source_lines lines = {0};
	struct strbuf text = {0};

	for (uint64_t start = CODE; start < CODE_END; start += DWARF_ADDRESSES_MAX) {
		for (size_t i = 0; i < DWARF_ADDRESSES_MAX; i++)
			addresses[i] = start + i * 7 % DWARF_ADDRESSES_MAX;
		char *question = source_lines_question(addresses, DWARF_ADDRESSES_MAX, kind);

		if (!source_lines_answer(reader, question, &text)) {
			source_lines_take(&lines, addresses, DWARF_ADDRESSES_MAX, &text);
			for (size_t i = 0; i < DWARF_ADDRESSES_MAX; i++)
				HOLDS(source_lines_find(&lines, addresses[i]));
		}
		HOLDS(text.length <= DWARF_ADDRESSES_MAX * (DWARF_TEXT_MAX + 16));
		strbuf_clear(&text);
		free(question);
	}
	source_lines_deinit(&lines);
	strbuf_deinit(&text);
}

/* Symbols that were compressed into the file. */
static void ask_symbols(struct elf_file *file)
{
	struct elf_file *symbols;
	uint64_t offset;

	if (mini_debug_open(file, &symbols) != 0)
		return;
	for (uint64_t address = CODE; address < CODE_END; address++) {
		const char *name = elf_name_of_code(symbols, address, &offset);

		HOLDS(!name || offset <= address);
	}
	elf_unref(symbols);
}

static void look(struct elf_file *file)
{
	const struct debug_files files = {.information = file, .shared = file};
	struct dwarf_reader *reader;

	ask_symbols(file);
	if (!dwarf_reader_create(&files, DWARF_STEPS_MAX, 4, &reader))
		ask_all(reader);
	dwarf_reader_destroy(reader);
	/* What has been asked about functions may have used up the steps. */
	if (!dwarf_reader_create(&files, DWARF_STEPS_MAX, 4, &reader)) {
		ask_lines(reader, SOURCE_LINES);
		ask_lines(reader, SOURCE_LINES_AND_INLINES);
	}
	dwarf_reader_destroy(reader);
}

/*
 * Where libFuzzer's counters of code that was run begin and end, in the fuzzer's own file; zeros where it is not linked.
 * Not as declarations: clang makes the same ones, and takes ours for these.
 */
extern uint8_t *const counter_bounds[2];
__asm__(".pushsection .data.rel.ro, \"aw\"\n"
	".weak __start___sancov_cntrs, __stop___sancov_cntrs\n"
	".hidden __start___sancov_cntrs, __stop___sancov_cntrs\n"
	".balign 8\n"
	".globl counter_bounds\n"
	"counter_bounds: .dc.a __start___sancov_cntrs, __stop___sancov_cntrs\n"
	".popsection");

/* Memory for the counters that is shared with children; NULL without counters. */
static uint8_t *shared_counters(size_t length)
{
	static uint8_t *shared;

	if (!shared && length) {
		void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		MUST(memory != MAP_FAILED);
		shared = memory;
	}
	return shared;
}

static bool in_child;

/* The sanitizers ask these, if there are any. ASan's findings end the child like any crash of libdwarf's. */
const char *__ubsan_default_options(void);
void __asan_on_error(void);

const char *__ubsan_default_options(void)
{
	return "exitcode=99";
}

void __asan_on_error(void)
{
	if (in_child)
		_exit(1);
}

/* The child ends without a word to whoever looks for crashes of the fuzzer. */
static void be_child(void)
{
	static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	const struct rlimit no_core = {0, 0}, time = {SECONDS, SECONDS + 1};

	in_child = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &time);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		signal(deadly[i], SIG_DFL);
}

static void look_in_child(struct elf_file *file)
{
	size_t length = (size_t)(counter_bounds[1] - counter_bounds[0]);
	uint8_t *shared = shared_counters(length);
	pid_t pid = fork();
	int status = 0;

	MUST(pid >= 0);
	if (!pid) {
		be_child();
		look(file);
		if (shared)
			memcpy(shared, counter_bounds[0], length);
		_exit(0);
	}
	/* libFuzzer has a timer. */
	while (waitpid(pid, &status, 0) < 0)
		MUST(errno == EINTR);
	MUST(!WIFEXITED(status) || WEXITSTATUS(status) != DID_NOT_HOLD);
	if (shared && status == 0)
		memcpy(counter_bounds[0], shared, length);
}

static int refuse(void *context, const char *path)
{
	(void)context;
	MUST(path[0] == '/' && !strstr(path, "/../"));
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("dwarf", MFD_CLOEXEC);
	struct debug_files found;
	struct elf_file *file;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (elf_open_debug(fd, &file)) {
		close(fd);
		return 0;
	}
	debug_files_find(file, "/directory/file", refuse, NULL, &found);
	debug_files_deinit(&found);
	if (getenv("FUZZ_DWARF_HERE"))
		look(file);
	else
		look_in_child(file);
	elf_unref(file);
	close(fd);
	return 0;
}
