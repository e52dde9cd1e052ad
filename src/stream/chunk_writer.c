/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue of chunks, and the thread that empties it.
 *
 * There are two locks. `queue` is held for moments. `busy` is held by the maker of chunks while it
 * works, that is while records come, and not once for each of them: an idle tracer has let go of
 * it, and only then does the thread take what the maker has begun. A busy maker ends its chunks
 * itself.
 *
 * The thread blocks all signals: those of the tracer are for its main loop.
 */
#include "stream/chunk_writer.h"

#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { QUEUE_MAX = 32, WAIT_MS = 50, PATIENCE_MS = 300, END_MS = 3000, NS_PER_MS = 1000000 };

enum job_kind { JOB_CHUNK, JOB_ROTATE, JOB_DUMP, JOB_END };

struct job {
	enum job_kind kind;
	struct chunk_about about;
	struct bytes data;
};

struct chunk_writer {
	const struct chunk_writer_options *options;
	struct packer *packer;
	struct chunk_file *file;
	pthread_mutex_t busy;  /* what `cut` passes on is being changed */
	pthread_mutex_t queue; /* protects all that follows */
	pthread_cond_t more, less;
	struct vec jobs;    /* struct job, oldest first */
	struct vec spare;   /* struct bytes: memory to be used again */
	uint64_t size;	    /* of the current file */
	uint64_t packed;    /* bytes of chunks that have become `size`, before they were packed */
	uint64_t waiting;   /* the same of chunks in `jobs` that belong to the last file */
	unsigned rotations; /* in `jobs` */
	int error;	    /* of the thread; stays */
	bool has_ended;	    /* JOB_END is done */
	bool is_started, is_working;
	bool is_dropped; /* the thread ends without doing what is left */
	pthread_t thread;
};

/* ------------------------------------------------------------------ the thread */

static struct timespec in_ms(unsigned ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	const uint64_t ns = (uint64_t)time.tv_nsec + (uint64_t)ms * NS_PER_MS;

	time.tv_sec += (time_t)(ns / 1000000000);
	time.tv_nsec = (long)(ns % 1000000000);
	return time;
}

/* Keeps what chunk_writer_size() needs; the lock is held. */
static void note_done(struct chunk_writer *writer, const struct job *job)
{
	if (job->kind == JOB_ROTATE) {
		writer->rotations--;
		writer->packed = 0;
		return;
	}
	writer->packed += job->data.length;
	/* Chunks in front of a rotation that is waiting are not of the last file. */
	if (!writer->rotations)
		writer->waiting -= job->data.length;
}

static void do_job(struct chunk_writer *writer, struct job *job, struct bytes *packed)
{
	struct chunk_file *file = writer->file;
	int error = 0;

	switch (job->kind) {
	case JOB_CHUNK:
		packer_pack(writer->packer, &job->about, job->data.data, job->data.length, packed);
		error = chunk_file_add(file, &job->about, packed);
		break;
	case JOB_ROTATE:
		error = chunk_file_rotate(file);
		break;
	case JOB_DUMP:
		error = chunk_file_dump(file);
		break;
	case JOB_END:
		error = chunk_file_end(file);
		break;
	}
	pthread_mutex_lock(&writer->queue);
	if (!writer->error)
		writer->error = error;
	writer->size = chunk_file_size(file);
	note_done(writer, job);
	writer->has_ended |= job->kind == JOB_END;
	job->data.length = 0;
	if (job->data.data)
		vec_push(&writer->spare, &job->data);
	pthread_cond_broadcast(&writer->less);
}

/* Takes what the maker has begun, if it is not busy. */
static void cut(struct chunk_writer *writer)
{
	pthread_mutex_unlock(&writer->queue);
	if (pthread_mutex_trylock(&writer->busy) == 0) {
		writer->options->cut(writer->options->context);
		pthread_mutex_unlock(&writer->busy);
	}
	pthread_mutex_lock(&writer->queue);
}

static void *work(void *argument)
{
	struct chunk_writer *writer = argument;
	struct bytes packed = {0};

	pthread_mutex_lock(&writer->queue);
	while (!writer->has_ended && !writer->is_dropped) {
		const struct timespec until = in_ms(CHUNK_WRITER_PERIOD / NS_PER_MS);

		if (!writer->jobs.count &&
		    pthread_cond_timedwait(&writer->more, &writer->queue, &until) == ETIMEDOUT)
			cut(writer);
		if (!writer->jobs.count)
			continue;
		struct job job = *(struct job *)vec_at(&writer->jobs, 0);

		vec_remove(&writer->jobs, 0);
		pthread_mutex_unlock(&writer->queue);
		do_job(writer, &job, &packed);
	}
	pthread_mutex_unlock(&writer->queue);
	bytes_deinit(&packed);
	return NULL;
}

/* ------------------------------------------------------------------ for the maker of chunks */

struct chunk_writer *chunk_writer_create(const struct chunk_writer_options *options)
{
	struct packer *packer = packer_create(options->level);
	pthread_condattr_t attributes;

	if (!packer)
		return NULL;
	struct chunk_writer *writer = xcalloc(1, sizeof *writer);

	writer->options = options;
	writer->packer = packer;
	writer->file = chunk_file_create(&options->destination, packer);
	vec_init(&writer->jobs, sizeof(struct job));
	vec_init(&writer->spare, sizeof(struct bytes));
	pthread_mutex_init(&writer->busy, NULL);
	pthread_mutex_init(&writer->queue, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->more, &attributes);
	pthread_cond_init(&writer->less, &attributes);
	pthread_condattr_destroy(&attributes);
	return writer;
}

static int start(struct chunk_writer *writer)
{
	sigset_t all, before;

	if (writer->is_started)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&writer->thread, NULL, work, writer);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	writer->is_started = !error;
	return -error;
}

void chunk_writer_works(struct chunk_writer *writer)
{
	/* If it does not start, chunk_writer_put() says so. */
	start(writer);
	if (!writer->is_working)
		pthread_mutex_lock(&writer->busy);
	writer->is_working = true;
}

void chunk_writer_rests(struct chunk_writer *writer)
{
	if (writer->is_working)
		pthread_mutex_unlock(&writer->busy);
	writer->is_working = false;
}

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / NS_PER_MS;
}

/*
 * Waits until the thread is done with something. Returns 0 or -EINTR. `since`: when the waiting
 * should first have ended, in ms; 0: not yet.
 */
static int wait_for_less(struct chunk_writer *writer, uint64_t *since)
{
	const struct timespec until = in_ms(WAIT_MS);

	pthread_cond_timedwait(&writer->less, &writer->queue, &until);
	if (!writer->options->is_over || !writer->options->is_over(writer->options->context))
		return 0;
	if (!*since)
		*since = now_ms();
	return now_ms() - *since >= PATIENCE_MS ? -EINTR : 0;
}

/* Waits until all is written. Returns 0 or -EINTR. The lock is held. */
static int wait_for_end(struct chunk_writer *writer)
{
	const struct chunk_writer_options *options = writer->options;
	uint64_t since = now_ms();
	size_t left = writer->jobs.count;

	while (!writer->has_ended) {
		const struct timespec until = in_ms(WAIT_MS);

		pthread_cond_timedwait(&writer->less, &writer->queue, &until);
		if (writer->jobs.count != left || !options->has_ended ||
		    !options->has_ended(options->context))
			since = now_ms();
		left = writer->jobs.count;
		if (now_ms() - since >= END_MS)
			return -EINTR;
	}
	return 0;
}

/* Adds a job, and waits for the end if it is the last one. */
static int add_job(struct chunk_writer *writer, struct job *job)
{
	uint64_t since = 0;
	int error = start(writer);

	if (error)
		return error;
	const bool is_own = pthread_equal(pthread_self(), writer->thread);

	pthread_mutex_lock(&writer->queue);
	while (!is_own && writer->jobs.count >= QUEUE_MAX && !writer->error && !error)
		error = wait_for_less(writer, &since);
	if (!error)
		error = writer->error;
	if (!error || job->kind == JOB_END) {
		vec_push(&writer->jobs, job);
		writer->rotations += job->kind == JOB_ROTATE;
		writer->waiting = job->kind == JOB_ROTATE ? 0 : writer->waiting + job->data.length;
		job->data = (struct bytes){0};
		pthread_cond_signal(&writer->more);
		if (writer->spare.count) {
			job->data = *(struct bytes *)vec_at(&writer->spare,
							    writer->spare.count - 1);
			writer->spare.count--;
		}
	}
	if (job->kind == JOB_END && error != -EINTR)
		error = wait_for_end(writer);
	if (!error)
		error = writer->error;
	pthread_mutex_unlock(&writer->queue);
	return error;
}

int chunk_writer_put(struct chunk_writer *writer, const struct chunk_about *about,
		     struct bytes *data)
{
	struct job job = {JOB_CHUNK, *about, *data};
	const int error = add_job(writer, &job);

	*data = job.data;
	data->length = 0;
	return error;
}

static int add_other(struct chunk_writer *writer, enum job_kind kind)
{
	struct job job = {.kind = kind};
	const int error = add_job(writer, &job);

	bytes_deinit(&job.data);
	return error;
}

uint64_t chunk_writer_size(struct chunk_writer *writer)
{
	pthread_mutex_lock(&writer->queue);
	const uint64_t size = writer->rotations ? 0 : writer->size;
	const uint64_t packed = writer->packed ? writer->packed : 1;
	/* What is waiting will be packed about as well as what was. */
	const uint64_t more = writer->size ? writer->waiting * writer->size / packed
					   : writer->waiting;

	pthread_mutex_unlock(&writer->queue);
	return size + (more < writer->waiting ? more : writer->waiting);
}

int chunk_writer_rotate(struct chunk_writer *writer)
{
	return add_other(writer, JOB_ROTATE);
}

int chunk_writer_dump(struct chunk_writer *writer)
{
	return add_other(writer, JOB_DUMP);
}

int chunk_writer_finish(struct chunk_writer *writer)
{
	return add_other(writer, JOB_END);
}

/*
 * Returns true once the thread has ended. A thread that waits for a reader of the file is left
 * alone, with all that it uses: the process is about to end.
 */
static bool end_thread(struct chunk_writer *writer)
{
	struct timespec until;

	pthread_mutex_lock(&writer->queue);
	writer->is_dropped = true;
	pthread_cond_signal(&writer->more);
	pthread_mutex_unlock(&writer->queue);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	return pthread_timedjoin_np(writer->thread, NULL, &until) == 0;
}

bool chunk_writer_destroy(struct chunk_writer *writer)
{
	if (!writer)
		return true;
	chunk_writer_rests(writer);
	if (writer->is_started && !end_thread(writer))
		return false;
	for (size_t i = 0; i < writer->jobs.count; i++)
		bytes_deinit(&((struct job *)vec_at(&writer->jobs, i))->data);
	for (size_t i = 0; i < writer->spare.count; i++)
		bytes_deinit(vec_at(&writer->spare, i));
	vec_deinit(&writer->jobs);
	vec_deinit(&writer->spare);
	chunk_file_destroy(writer->file);
	packer_destroy(writer->packer);
	pthread_mutex_destroy(&writer->busy);
	pthread_mutex_destroy(&writer->queue);
	pthread_cond_destroy(&writer->more);
	pthread_cond_destroy(&writer->less);
	free(writer);
	return true;
}
