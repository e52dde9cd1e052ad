/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that encoder and decoder of records share. */
#include "stream/record_code.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Calls deeper than that are not expected: hostile files would make the state grow. */
enum { OPEN_MAX = 4096 };

void record_code_begin(struct record_code *code, uint64_t time)
{
	if (!code->threads.item_size) {
		vec_init(&code->threads, sizeof(struct thread_code *));
		vec_init(&code->probes, sizeof(struct probe_code *));
	}
	code->chunk++;
	code->thread_count = 0;
	code->thread = NULL;
	code->time = time;
	code->call = 0;
}

void record_code_deinit(struct record_code *code)
{
	for (size_t i = 0; i < code->threads.count; i++) {
		struct thread_code *thread = *(struct thread_code **)vec_at(&code->threads, i);

		vec_deinit(&thread->open);
		free(thread);
	}
	for (size_t i = 0; i < code->probes.count; i++)
		free(*(struct probe_code **)vec_at(&code->probes, i));
	vec_deinit(&code->threads);
	vec_deinit(&code->probes);
}

struct thread_code *record_code_thread(struct record_code *code, size_t number)
{
	if (number == code->threads.count) {
		struct thread_code *made = xcalloc(1, sizeof *made);

		vec_init(&made->open, sizeof(struct open_code));
		vec_push(&code->threads, &made);
	}
	struct thread_code *thread = *(struct thread_code **)vec_at(&code->threads, number);

	if (number == code->thread_count) {
		code->thread_count++;
		thread->depth = 0;
		vec_clear(&thread->open);
	}
	return thread;
}

struct probe_code *record_code_probe(struct record_code *code, uint32_t probe)
{
	while (code->probes.count <= probe)
		vec_push(&code->probes, NULL);
	struct probe_code **place = vec_at(&code->probes, probe);

	if (!*place)
		*place = xcalloc(1, sizeof **place);
	if ((*place)->chunk != code->chunk) {
		(*place)->chunk = code->chunk;
		(*place)->place = (*place)->stack = 0;
		(*place)->shapes[0].is_known = (*place)->shapes[1].is_known = false;
	}
	return *place;
}

void record_code_follow(struct record_code *code, const struct record *record,
			const struct record_references *references)
{
	struct thread_code *thread = code->thread;
	const struct open_code *last = thread->open.count
					       ? vec_at(&thread->open, thread->open.count - 1)
					       : NULL;

	code->time = record->time;
	if (!record_is_of_call(record))
		return;
	thread->depth = record->depth;
	if (record->kind == RECORD_CALL) {
		thread->depth++;
		code->call = record->call;
		if (thread->open.count < OPEN_MAX)
			vec_push(&thread->open,
				 &(struct open_code){*references, record->depth, record->call,
						     record->time, record->pc});
	} else if (last && last->call == record->call) {
		thread->open.count--;
	}
}
