/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes of functions, and source lines of code, from the debug information of their modules.
 *
 * The helper process answers questions about functions with text: a declaration in the language of
 * .conf files, which is parsed like one. So whatever the debug information says, nothing but a
 * declaration comes out of it. The helper is forked when a module that has debug information is
 * first asked, and has the files mapped by then. Each module has a helper of its own, so that a
 * damaged file does no harm to other modules. There are at most HELPERS_MAX; the least recently
 * asked one is ended, and made anew when needed.
 *
 * Each module keeps its answers; for declarations their number is limited, as each name asked for
 * can be new. Prototypes are kept by their text for the whole session: a library that is loaded
 * again and again, by one process or many, must lead to the same prototypes and so to the same
 * probes. There are at most TEXTS_MAX of them, so that a program that makes libraries as it runs
 * cannot exhaust memory.
 *
 * A declaration is preceded by the types that it needs. Many functions need the same types, which
 * are parsed and kept once.
 */
#include "target/debuginfo/debuginfo.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "dwarf/dwarf.h"
#include "object/mini_debug.h"
#include "proto/names.h"
#include "proto/protolib.h"
#include "target/debuginfo/debug_answers.h"
#include "target/debuginfo/debug_lookup.h"
#include "tracee/helper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELPERS_MAX = 16, TEXTS_MAX = 100000, QUESTION_MAX = 4096, DECLARATIONS_MAX = 4096 };

struct debuginfo {
	struct protolib *lib;
	/*
	 * Owned keys → struct prototype, or &nothing. A key is a declaration after the number of
	 * the text of its types.
	 */
	struct names by_text;
	struct names types; /* owned texts of types → struct declared_types */
	struct vec asked;   /* struct debug_source * with a helper, the one asked last at the end */
	struct map sources; /* struct elf_file * → struct debug_source * */
	bool is_full;	    /* TEXTS_MAX prototypes exist, and the user was told */
	bool verbose;
	unsigned steps;	 /* limit for one module */
	unsigned levels; /* depth of pointers */
	enum source_lines_kind lines_kind;
};

struct debug_source {
	unsigned references;
	struct debuginfo *info;
	struct elf_file *file;
	char *path;
	bool looked;	   /* the files were searched for */
	bool given_up;	   /* the helper has failed, or taken too long */
	bool is_elsewhere; /* some of it is in files that are not read, and the user was told */
	struct debug_files files;
	struct helper *helper;
	struct names functions;	   /* owned questions → struct prototype, or &nothing */
	struct names declarations; /* owned names → struct prototype, or &nothing */
	struct source_lines lines;
	/* Addresses whose lines the helper was asked for; the answer was not received yet. */
	uint64_t *ahead;
	size_t ahead_count;   /* 0: there is no such question */
	struct strbuf symbol; /* the latest answer of debug_source_symbol() */
};

/* Its address marks what was asked for and not found. */
static const char nothing;

/* ------------------------------------------------------------------ files */

static bool has_files(struct debug_source *source, pid_t pid)
{
	if (!source->looked)
		debug_lookup(source->file, source->path, pid, &source->files);
	source->looked = true;
	return source->files.information != NULL;
}

struct elf_file *debug_source_file(struct debug_source *source, pid_t pid)
{
	return has_files(source, pid) && source->files.information != source->file
		       ? source->files.information
		       : NULL;
}

/* ------------------------------------------------------------------ talking to helpers */

static void forget_asked(struct debug_source *source)
{
	struct vec *asked = &source->info->asked;

	for (size_t i = 0; i < asked->count; i++)
		if (*(struct debug_source **)vec_at(asked, i) == source)
			vec_remove(asked, i--);
}

static void end_helper(struct debug_source *source)
{
	helper_destroy(source->helper);
	source->helper = NULL;
	source->ahead_count = 0;
	forget_asked(source);
}

static bool have_helper(struct debug_source *source)
{
	struct vec *asked = &source->info->asked;
	/*
	 * The helper is a copy of this process, and has all that it needs from the moment it is
	 * forked.
	 */
	struct debug_reading reading = {.files = source->files,
					.object = source->file,
					.steps = source->info->steps,
					.levels = source->info->levels};

	if (!source->helper) {
		if (asked->count == HELPERS_MAX)
			end_helper(*(struct debug_source **)vec_at(asked, 0));
		if (helper_create(debug_answer, &reading, &source->helper))
			return false;
	}
	forget_asked(source);
	vec_push(asked, &source);
	return true;
}

static void give_up(struct debug_source *source, bool say, const char *reason)
{
	char safe[256];

	source->given_up = true;
	end_helper(source);
	if (say)
		diag("%s: its debug information %s", diag_safe(safe, sizeof safe, source->path),
		     reason);
}

static void say_elsewhere(struct debug_source *source, const char *where)
{
	char safe[256];

	if (!source->is_elsewhere)
		diag("%s: what its debug information says of functions is in %s",
		     diag_safe(safe, sizeof safe, source->path), where);
	source->is_elsewhere = true;
}

static bool is_otherwise(const struct strbuf *text)
{
	return text->length && !strcmp(text->text, DEBUG_OTHERWISE);
}

/* Reports an answer that says why there is none, and empties it. */
static void judge(struct debug_source *source, struct strbuf *text)
{
	/* The answer may have been in the shared file. */
	if (!text->length && !source->given_up && source->files.lacks_shared)
		say_elsewhere(source, "part in a common file (dwz), which was not found");
	if (text->length != 1 || is_otherwise(text))
		return;
	if (!strcmp(text->text, DEBUG_IN_OTHER_FILES))
		say_elsewhere(source, "files of its own (-gsplit-dwarf), which are not read");
	else if (!strcmp(text->text, DEBUG_IN_OTHER_FORM))
		give_up(source, true,
			"is not compressed by zlib, but in another way (zstd), so it is not used");
	else if (!strcmp(text->text, DEBUG_TOO_MUCH))
		give_up(source, true,
			"takes too long to read, so what it says of further functions is not used");
	else
		give_up(source, source->info->verbose, "cannot be read, so it is not used");
	strbuf_clear(text);
}

/* Receives the answer to the question that was asked ahead. */
static void take_ahead(struct debug_source *source)
{
	const size_t count = source->ahead_count;
	struct strbuf text = {0};

	if (!count)
		return;
	source->ahead_count = 0;
	if (helper_receive(source->helper, &text))
		give_up(source, source->info->verbose, "cannot be read, so it is not used");
	judge(source, &text);
	source_lines_take(&source->lines, source->ahead, count, &text);
	strbuf_deinit(&text);
}

static void ask(struct debug_source *source, pid_t pid, const char *question, struct strbuf *text)
{
	take_ahead(source);
	if (source->given_up || strlen(question) > QUESTION_MAX || !has_files(source, pid))
		return;
	if (have_helper(source) && helper_ask(source->helper, question, strlen(question), text))
		give_up(source, source->info->verbose, "cannot be read, so it is not used");
	judge(source, text);
}

/* ------------------------------------------------------------------ prototypes */

/* The types that precede declarations. The library owns names and types. */
struct declared_types {
	size_t number;
	struct vec items; /* struct declared_type */
};

struct declared_type {
	const char *name;
	const struct type *type;
};

#define TYPEDEF "typedef "

/*
 * Parses types, one per line, and remembers them outside of the library, where their names may mean
 * other types later.
 */
static struct declared_types *parse_types(struct debuginfo *info, const char *text)
{
	struct declared_types *types = xcalloc(1, sizeof *types);

	vec_init(&types->items, sizeof(struct declared_type));
	types->number = info->types.count;
	protolib_parse(info->lib, "debug information", text, NULL, NULL);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, TYPEDEF, strlen(TYPEDEF)) != 0)
			continue;
		const char *name = line + strlen(TYPEDEF);
		const size_t length = strcspn(name, " ");
		const struct declared_type item = {.name = protolib_text(info->lib, name, length),
						   .type = protolib_type(info->lib, name, length)};

		if (item.type)
			vec_push(&types->items, &item);
	}
	return types;
}

/* Returns the types of the first `length` bytes of a text; NULL if that is 0. */
static const struct declared_types *types_of(struct debuginfo *info, const char *text,
					     size_t length)
{
	if (!length)
		return NULL;
	const struct declared_types *types = names_get(&info->types, text, length);

	if (!types) {
		char *own = xstrndup(text, length);

		types = parse_types(info, own);
		names_put(&info->types, own, length, types);
	}
	return types;
}

static const void *parse(struct debuginfo *info, const struct declared_types *types,
			 const char *text, const char *name)
{
	for (size_t i = 0; types && i < types->items.count; i++) {
		const struct declared_type *item = vec_at(&types->items, i);

		protolib_add_type(info->lib, item->name, item->type);
	}
	if (protolib_parse(info->lib, "debug information", text, NULL, NULL))
		return &nothing;
	const struct prototype *parsed = protolib_find(info->lib, name);

	return parsed ? (const void *)parsed : &nothing;
}

static void say_full(struct debuginfo *info)
{
	if (!info->is_full)
		diag("%d prototypes are known from debug information; what it says of further "
		     "functions is not used",
		     TEXTS_MAX);
	info->is_full = true;
}

/* Returns the prototype that the declaration of `name` makes, or &nothing. */
static const void *prototype_of(struct debuginfo *info, const struct strbuf *text, const char *name)
{
	if (!text->length)
		return &nothing;
	const char *last = strrchr(text->text, '\n');
	const char *declaration = last ? last + 1 : text->text;
	const struct declared_types *types = types_of(info, text->text,
						      (size_t)(declaration - text->text));
	char *key = xasprintf("%zu %s", types ? types->number + 1 : 0, declaration);
	const void *known = names_get(&info->by_text, key, strlen(key));

	if (!known && info->by_text.count < TEXTS_MAX) {
		known = parse(info, types, declaration, name);
		names_put(&info->by_text, key, strlen(key), known);
		return known;
	}
	if (!known)
		say_full(info);
	free(key);
	return known ? known : &nothing;
}

static const void *find(struct debug_source *source, pid_t pid, const char *question,
			const char *name)
{
	struct strbuf text = {0};

	ask(source, pid, question, &text);
	const void *found = is_otherwise(&text) ? (const void *)prototype_guess()
						: prototype_of(source->info, &text, name);

	strbuf_deinit(&text);
	return found;
}

static void forget_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free((char *)(uintptr_t)names->entries[i].name);
	names_deinit(names);
}

static char *function_question(uint64_t address, const char *name, enum debug_function kind)
{
	return xasprintf("%c %" PRIx64 " %s", kind, address, name);
}

bool debug_source_is_there(struct debug_source *source, pid_t pid)
{
	return has_files(source, pid) && !source->given_up;
}

bool debug_source_is_elsewhere(const struct debug_source *source)
{
	return source->is_elsewhere;
}

void debug_source_text(struct debug_source *source, pid_t pid, uint64_t address, const char *name,
		       enum debug_function kind, struct strbuf *text)
{
	_cleanup_free_ char *question = function_question(address, name, kind);

	ask(source, pid, question, text);
	if (is_otherwise(text))
		strbuf_clear(text);
}

const struct prototype *debug_source_function(struct debug_source *source, pid_t pid,
					      uint64_t address, const char *name,
					      enum debug_function kind)
{
	/* Functions with identical code share one address and have different parameters. */
	char *question = function_question(address, name, kind);
	const void *known = names_get(&source->functions, question, strlen(question));

	if (known) {
		free(question);
	} else {
		known = find(source, pid, question, kind == DEBUG_GO ? DWARF_GO_NAME : name);
		names_put(&source->functions, question, strlen(question), known);
	}
	return known == &nothing ? NULL : known;
}

const struct prototype *debug_source_declaration(struct debug_source *source, pid_t pid,
						 const char *name)
{
	if (!debug_source_is_there(source, pid))
		return NULL;
	const void *known = names_get(&source->declarations, name, strlen(name));

	if (!known) {
		if (source->declarations.count == DECLARATIONS_MAX)
			forget_names(&source->declarations);
		_cleanup_free_ char *question = xasprintf("d %s", name);
		char *key = xstrdup(name);

		known = find(source, pid, question, name);
		names_put(&source->declarations, key, strlen(key), known);
	}
	return known == &nothing ? NULL : known;
}

/* ------------------------------------------------------------------ source lines */

void debug_source_lines(struct debug_source *source, pid_t pid, const uint64_t *addresses,
			size_t count, const struct source_code **codes)
{
	uint64_t unknown[DWARF_ADDRESSES_MAX];
	size_t next = 0, asked;

	source_lines_make_room(&source->lines, count);
	take_ahead(source);
	while (debug_source_is_there(source, pid) &&
	       (asked = source_lines_unknown(&source->lines, addresses, count, &next, unknown))) {
		_cleanup_free_ char *question = source_lines_question(unknown, asked,
								      source->info->lines_kind);
		struct strbuf text = {0};

		ask(source, pid, question, &text);
		source_lines_take(&source->lines, unknown, asked, &text);
		strbuf_deinit(&text);
	}
	for (size_t i = 0; i < count; i++)
		codes[i] = source_lines_find(&source->lines, addresses[i]);
}

void debug_source_lines_ahead(struct debug_source *source, pid_t pid, const uint64_t *addresses,
			      size_t count)
{
	uint64_t unknown[DWARF_ADDRESSES_MAX];
	size_t next = 0;

	/*
	 * No helper is ended for a hint, and questions about symbols, which are asked while threads
	 * stand, do not wait for lines.
	 */
	if (source->ahead_count || mini_debug_is_there(source->file) ||
	    (!source->helper && source->info->asked.count == HELPERS_MAX) ||
	    !debug_source_is_there(source, pid))
		return;
	const size_t asked = source_lines_unknown(&source->lines, addresses, count, &next, unknown);

	if (!asked || !have_helper(source))
		return;
	_cleanup_free_ char *question = source_lines_question(unknown, asked,
							      source->info->lines_kind);

	if (helper_send(source->helper, question, strlen(question))) {
		give_up(source, source->info->verbose, "cannot be read, so it is not used");
		return;
	}
	free(source->ahead);
	source->ahead = xmemdup(unknown, asked * sizeof *unknown);
	source->ahead_count = asked;
}

/* ------------------------------------------------------------------ symbols */

const char *debug_source_symbol(struct debug_source *source, pid_t pid, uint64_t address,
				uint64_t *offset)
{
	char *name;

	if (source->given_up || !mini_debug_is_there(source->file))
		return NULL;
	_cleanup_free_ char *question = xasprintf("m %" PRIx64, address);

	take_ahead(source);
	has_files(source, pid);
	strbuf_clear(&source->symbol);
	if (source->given_up || !have_helper(source))
		return NULL;
	if (helper_ask(source->helper, question, strlen(question), &source->symbol)) {
		give_up(source, source->info->verbose, "cannot be read, so it is not used");
		return NULL;
	}
	if (!source->symbol.length)
		return NULL;
	*offset = strtoull(source->symbol.text, &name, 16);
	return *name == ' ' && name[1] ? name + 1 : NULL;
}

/* ------------------------------------------------------------------ creation and destruction */

struct debuginfo *debuginfo_create(bool verbose, unsigned steps, unsigned levels)
{
	struct debuginfo *info = xcalloc(1, sizeof *info);

	info->lib = protolib_create();
	info->verbose = verbose;
	info->steps = steps;
	info->levels = levels;
	info->lines_kind = SOURCE_LINES;
	vec_init(&info->asked, sizeof(struct debug_source *));
	return info;
}

void debuginfo_destroy(struct debuginfo *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->types.count; i++) {
		struct declared_types *types =
			(struct declared_types *)(uintptr_t)info->types.entries[i].value;

		vec_deinit(&types->items);
		free(types);
	}
	forget_names(&info->types);
	forget_names(&info->by_text);
	protolib_destroy(info->lib);
	vec_deinit(&info->asked);
	map_deinit(&info->sources);
	free(info);
}

void debuginfo_want_inlines(struct debuginfo *info)
{
	info->lines_kind = SOURCE_LINES_AND_INLINES;
}

struct debug_source *debug_source_get(struct debuginfo *info, struct elf_file *file,
				      const char *path)
{
	struct debug_source *source = map_get(&info->sources, (uintptr_t)file);

	if (!source) {
		source = xcalloc(1, sizeof *source);
		source->info = info;
		source->file = file;
		source->path = xstrdup(path);
		map_put(&info->sources, (uintptr_t)file, source);
	}
	source->references++;
	return source;
}

void debug_source_unref(struct debug_source *source)
{
	if (!source || --source->references)
		return;
	map_remove(&source->info->sources, (uintptr_t)source->file);
	end_helper(source);
	debug_files_deinit(&source->files);
	forget_names(&source->functions);
	forget_names(&source->declarations);
	source_lines_deinit(&source->lines);
	free(source->ahead);
	strbuf_deinit(&source->symbol);
	free(source->path);
	free(source);
}
