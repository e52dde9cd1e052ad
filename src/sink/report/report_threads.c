/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of the report, and what its time line shows of them.
 *
 * A time line can show so many calls that nobody sees more. Threads share SLICES_MAX; when one has
 * twice its part, it keeps the longer half. From then on it takes only calls that are longer than
 * the shortest of these. So what is missing can be said in one sentence: how many calls, and that
 * none of them was longer than so many ns.
 */
#include "sink/report/report_threads.h"

#include "base/xalloc.h"
#include "sink/report/report_flame.h"

#include <stdlib.h>

enum { SLICES_MAX = 200000, SLICES_MIN = 200, THREADS_MAX = 1000 };

static uint64_t length_of(const struct report_slice *slice)
{
	return slice->ended > slice->begun ? slice->ended - slice->begun : 0;
}

static int compare_lengths(const void *left, const void *right)
{
	const uint64_t *one = left, *other = right;

	return *one < *other ? -1 : *one > *other;
}

/* How many slices each thread has. */
static size_t part_of(const struct report_threads *threads)
{
	const size_t part = SLICES_MAX / (threads->list.count ? threads->list.count : 1);

	return part > SLICES_MIN ? part : SLICES_MIN;
}

/* Returns the length that at least all but `most` slices do not exceed. */
static uint64_t find_limit(const struct vec *slices, size_t most)
{
	uint64_t *lengths = xcalloc(slices->count, sizeof *lengths);

	for (size_t i = 0; i < slices->count; i++)
		lengths[i] = length_of(vec_at(slices, i));
	qsort(lengths, slices->count, sizeof *lengths, compare_lengths);
	const uint64_t limit = lengths[slices->count - most - 1];

	free(lengths);
	return limit;
}

/* Keeps what is longer than the limit, and of what is as long, what there is room for. */
static void trim(struct report_thread *thread, size_t most)
{
	struct vec *slices = &thread->slices;
	size_t longer = 0, kept = 0;

	if (slices->count <= most)
		return;
	const uint64_t limit = find_limit(slices, most);

	for (size_t i = 0; i < slices->count; i++)
		longer += length_of(vec_at(slices, i)) > limit;
	size_t equal = most - longer;

	for (size_t i = 0; i < slices->count; i++) {
		const struct report_slice slice = *(struct report_slice *)vec_at(slices, i);
		const uint64_t length = length_of(&slice);

		if (length > limit || (length == limit && equal)) {
			equal -= length == limit;
			*(struct report_slice *)vec_at(slices, kept++) = slice;
		}
	}
	thread->left_out += slices->count - kept;
	thread->shortest = limit ? limit : 1;
	slices->count = kept;
}

void report_threads_add(const struct report_threads *threads, struct report_thread *thread,
			const struct report_slice *slice)
{
	const size_t most = part_of(threads);

	if (thread == &threads->others)
		return;
	if (length_of(slice) <= thread->shortest && thread->shortest) {
		thread->left_out++;
		return;
	}
	vec_push(&thread->slices, slice);
	if (thread->slices.count >= 2 * most)
		trim(thread, most);
}

void report_threads_trim(const struct report_threads *threads)
{
	for (size_t i = 0; i < threads->list.count; i++)
		trim(*(struct report_thread **)vec_at(&threads->list, i), part_of(threads));
}

static struct report_thread *make_thread(struct report_threads *threads, int32_t pid, int32_t tid)
{
	struct report_thread *thread = xcalloc(1, sizeof *thread);

	thread->index = (uint32_t)threads->list.count;
	thread->pid = pid;
	thread->tid = tid;
	vec_init(&thread->slices, sizeof(struct report_slice));
	vec_init(&thread->pieces, sizeof(struct report_piece));
	vec_push(&threads->list, &thread);
	return thread;
}

struct report_thread *report_threads_get(struct report_threads *threads, int32_t pid, int32_t tid,
					 bool *is_new)
{
	const uint64_t id = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
	struct report_thread *thread = map_get(&threads->by_id, id);

	*is_new = !thread;
	if (thread)
		return thread;
	thread = threads->list.count < THREADS_MAX ? make_thread(threads, pid, tid)
						   : &threads->others;
	map_put(&threads->by_id, id, thread);
	map_put(&threads->pids, (uint64_t)(uint32_t)pid, threads);
	return thread;
}

void report_threads_deinit(struct report_threads *threads)
{
	for (size_t i = 0; i < threads->list.count; i++) {
		struct report_thread *thread = *(struct report_thread **)vec_at(&threads->list, i);

		vec_deinit(&thread->slices);
		vec_deinit(&thread->pieces);
		free(thread);
	}
	vec_deinit(&threads->others.pieces);
	vec_deinit(&threads->list);
	map_deinit(&threads->by_id);
	map_deinit(&threads->pids);
}
