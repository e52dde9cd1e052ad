/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame descriptions, and what they find in a memory that may hold anything: parser, executor and
 * decoders.
 *
 * An input is a description up to a NUL, then a byte with the mood of the memory, one that chooses
 * what is run beside the description, and the memory. Symbols lie at the memory's beginning.
 */
#include "fuzz.h"
#include "unwind/script/frames_parser.h"
#include "unwind/script/page_cache.h"
#include "unwind/script/vm.h"

enum { BASE = 4096, TEXT_MAX = 8192, FRAMES = 64, STEPS_MAX = 20000 };

static void note_error(void *context, const char *file, unsigned line, const char *message)
{
	size_t *errors = context;

	MUST(file[0] && line > 0 && message[0]);
	++*errors;
}

/* A file that imports itself, or another, gets a short text. */
static char *import(void *context, const char *name, char **path)
{
	(void)context;
	if (strlen(name) % 2)
		return NULL;
	*path = strdup("imported");
	return strdup("x = 8\nlet y = *(x + 1)\nimport ab\n");
}

static void run(const struct script_program *program, struct page_cache *pages,
		const uint64_t *values, const struct raw_frame *decoded, uint64_t *results)
{
	struct raw_frame frames[FRAMES];
	struct script_run run = {.program = program,
				 .values = values,
				 .value_count = SCRIPT_VALUES_MAX,
				 .read = page_cache_number,
				 .context = pages,
				 .thread_pointer = BASE + 64,
				 .tid = 1,
				 .decoded = decoded,
				 .frames = frames,
				 .capacity = FRAMES,
				 .results = results,
				 .result_count = SCRIPT_CLAUSE_RESULTS,
				 .steps_max = STEPS_MAX};

	MUST(script_execute(&run) <= SCRIPT_ENDLESS);
	MUST(run.frame_count <= FRAMES);
}

static void decode(const struct vec *clauses, struct page_cache *pages, const uint64_t *values)
{
	const struct raw_frame frame = {BASE + 8, BASE + 16, {BASE, 1, 2}, 1};

	for (size_t i = 0; i < clauses->count; i++) {
		const struct script_clause *clause = vec_at(clauses, i);
		uint64_t results[SCRIPT_CLAUSE_RESULTS] = {0};

		run(clause->program, pages, values, &frame, results);
		for (size_t j = 0; j < clause->parts.count; j++) {
			const struct script_part *part = vec_at(&clause->parts, j);
			struct strbuf text = {0};

			if (!part->decoder)
				continue;
			MUST(part->first + part->count <= SCRIPT_CLAUSE_RESULTS);
			if (part->decoder->text)
				part->decoder->text(&pages->source, results + part->first, &text);
			else
				part->decoder->line(&pages->source, results + part->first);
			MUST(text.length <= 4 * 4096);
			strbuf_deinit(&text);
		}
	}
}

static void run_all(const struct script_description *description, struct page_cache *pages)
{
	uint64_t values[SCRIPT_VALUES_MAX];
	uint64_t results[SCRIPT_CLAUSE_RESULTS] = {0};

	for (size_t i = 0; i < SCRIPT_VALUES_MAX; i++)
		values[i] = BASE + i * 8;
	MUST(description->values.count <= SCRIPT_VALUES_MAX);
	run(description->when, pages, values, NULL, results);
	run(description->setup, pages, values, NULL, results);
	if (description->tell)
		run(description->tell, pages, values, NULL, results);
	run(description->walk, pages, values, NULL, results);
	decode(&description->files, pages, values);
	decode(&description->functions, pages, values);
	decode(&description->lines, pages, values);
}

/* Runs what is left of the input as a program: the executor trusts no instruction. */
static void run_bytes(const struct input *input, struct page_cache *pages)
{
	const size_t count = input->left / sizeof(struct script_instruction);
	const size_t size = count * sizeof(struct script_instruction);
	struct script_program *program = malloc(sizeof *program + size);
	const uint64_t values[SCRIPT_VALUES_MAX] = {BASE, BASE + 8};
	uint64_t results[SCRIPT_CLAUSE_RESULTS];

	MUST(program);
	program->count = (uint32_t)count;
	if (size)
		memcpy(program->instructions, input->bytes, size);
	run(program, pages, values, NULL, results);
	free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	char *text = malloc(TEXT_MAX + 1);
	struct page_cache *pages = malloc(sizeof *pages);
	struct fake_memory fake;
	size_t length = 0;
	size_t errors = 0;
	const struct frames_source source = {import, note_error, &errors};

	MUST(text && pages);
	while (length < TEXT_MAX && input.left && (text[length] = (char)input_byte(&input)))
		length++;
	text[length] = '\0';
	const unsigned mood = input_byte(&input);
	const bool as_program = input_byte(&input) & 1;

	fake_create(&fake, BASE, mood, &input);
	page_cache_init(pages, &fake.source);
	struct script_description *description = frames_parse("f", text, &source);

	MUST(errors <= 1 && !(description && errors));
	if (description)
		run_all(description, pages);
	if (as_program)
		run_bytes(&input, pages);
	script_description_destroy(description);
	fake_destroy(&fake);
	free(pages);
	free(text);
	return 0;
}
