/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph, and folded stacks, show a call within the traced calls around it, whether these
 * are among those that a condition asks for or not. If only such calls were in the file, a replay
 * would not know the others. So it has a record of each of them (RECORD_AROUND), in front of the
 * first call that needs it, and none of all others. Such records are repeated in each chunk: others
 * may have been dropped.
 *
 * Nobody tells when a call ends. One that begins at some depth says that all others of its thread
 * have ended from that depth on.
 */
#include "sink/recording/recording_around.h"

#include "base/vec.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum { CALLS_MAX = 4096 }; /* of one thread; deeper ones are not noted */

struct around_call {
	struct record record;
	uint64_t chunk; /* the last one that has it; 0: none */
};

struct around_thread {
	struct vec calls; /* struct around_call, by ascending depth */
};

static struct around_thread *find_thread(const struct recording_around *around, int32_t tid)
{
	return map_get(&around->threads, (uint64_t)(uint32_t)tid);
}

void recording_around_begin(struct recording_around *around, const struct record *entry)
{
	struct around_thread *thread = find_thread(around, entry->tid);
	struct around_call call = {.record = *entry};

	if (record_is_span(entry))
		return;
	if (!thread) {
		thread = xcalloc(1, sizeof *thread);
		vec_init(&thread->calls, sizeof(struct around_call));
		map_put(&around->threads, (uint64_t)(uint32_t)entry->tid, thread);
	}
	while (thread->calls.count) {
		const struct around_call *last = vec_at(&thread->calls, thread->calls.count - 1);

		if (last->record.depth < entry->depth)
			break;
		thread->calls.count--;
	}
	if (thread->calls.count == CALLS_MAX)
		return;
	call.record.kind = RECORD_AROUND;
	call.record.size = sizeof call.record;
	call.record.value_count = 0;
	vec_push(&thread->calls, &call);
}

const struct record *recording_around_next(struct recording_around *around,
					   const struct record *entry, uint64_t chunk)
{
	struct around_thread *thread = find_thread(around, entry->tid);

	for (size_t i = 0; thread && i < thread->calls.count; i++) {
		struct around_call *call = vec_at(&thread->calls, i);

		if (call->record.depth >= entry->depth)
			break;
		if (call->chunk == chunk)
			continue;
		call->chunk = chunk;
		return &call->record;
	}
	return NULL;
}

static void free_thread(struct around_thread *thread)
{
	if (!thread)
		return;
	vec_deinit(&thread->calls);
	free(thread);
}

void recording_around_forget(struct recording_around *around, int32_t tid)
{
	free_thread(map_remove(&around->threads, (uint64_t)(uint32_t)tid));
}

void recording_around_deinit(struct recording_around *around)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&around->threads, &cursor, NULL, &value))
		free_thread(value);
	map_deinit(&around->threads);
}
