/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that passes all records on to several others. Each of them gets all, also when another one
 * has failed; the first error is returned, and ends the trace.
 */
#include "sink/tee.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct tee {
	struct sink sink; /* must be first: struct sink * is cast to struct tee * */
	struct vec sinks; /* struct sink * */
};

static const struct vec *sinks_of(const struct sink *sink)
{
	return &((const struct tee *)(const void *)sink)->sinks;
}

static struct sink *sink_at(const struct vec *sinks, size_t index)
{
	return *(struct sink **)vec_at(sinks, index);
}

static int tee_record(struct sink *sink, const struct record *record)
{
	const struct vec *sinks = sinks_of(sink);
	int error = 0;

	for (size_t i = 0; i < sinks->count; i++) {
		const int failed = sink_at(sinks, i)->ops->record(sink_at(sinks, i), record);

		error = error ? error : failed;
	}
	return error;
}

static int tee_flush(struct sink *sink)
{
	const struct vec *sinks = sinks_of(sink);
	int error = 0;

	for (size_t i = 0; i < sinks->count; i++) {
		const int failed = sink_at(sinks, i)->ops->flush(sink_at(sinks, i));

		/* An error, or else that one of them keeps something back. */
		if (!error || (error > 0 && failed))
			error = failed;
	}
	return error;
}

static int tee_finish(struct sink *sink)
{
	const struct vec *sinks = sinks_of(sink);
	int error = 0;

	for (size_t i = 0; i < sinks->count; i++) {
		const int failed = sink_at(sinks, i)->ops->finish(sink_at(sinks, i));

		error = error ? error : failed;
	}
	return error;
}

static int tee_snapshot(struct sink *sink, bool is_anew)
{
	const struct vec *sinks = sinks_of(sink);
	int error = 0;

	for (size_t i = 0; i < sinks->count; i++) {
		struct sink *one = sink_at(sinks, i);
		const int failed = one->ops->snapshot ? one->ops->snapshot(one, is_anew) : 0;

		error = error ? error : failed;
	}
	return error;
}

static int tee_dump(struct sink *sink)
{
	const struct vec *sinks = sinks_of(sink);
	int error = 0;

	for (size_t i = 0; i < sinks->count; i++) {
		struct sink *one = sink_at(sinks, i);
		const int failed = one->ops->dump ? one->ops->dump(one) : 0;

		error = error ? error : failed;
	}
	return error;
}

static void tee_forget(struct sink *sink, const struct probe_info *probe)
{
	const struct vec *sinks = sinks_of(sink);

	for (size_t i = 0; i < sinks->count; i++)
		if (sink_at(sinks, i)->ops->forget)
			sink_at(sinks, i)->ops->forget(sink_at(sinks, i), probe);
}

static void tee_destroy(struct sink *sink)
{
	struct tee *tee = (struct tee *)(void *)sink;

	for (size_t i = 0; i < tee->sinks.count; i++)
		sink_at(&tee->sinks, i)->ops->destroy(sink_at(&tee->sinks, i));
	vec_deinit(&tee->sinks);
	free(tee);
}

static const struct sink_ops tee_ops = {
	.record = tee_record,
	.flush = tee_flush,
	.finish = tee_finish,
	.snapshot = tee_snapshot,
	.dump = tee_dump,
	.forget = tee_forget,
	.destroy = tee_destroy,
};

/* It takes over the vec and the sinks in it (struct sink *). */
static struct sink *tee_create(struct vec *sinks)
{
	struct tee *tee = xcalloc(1, sizeof *tee);

	tee->sink.ops = &tee_ops;
	tee->sinks = *sinks;
	vec_init(sinks, sizeof(struct sink *));
	return &tee->sink;
}

struct sink *sinks_create(const struct sink_kind *kind, const struct vec *more,
			  const struct sink_target *target)
{
	struct sink *sink = sink_create(kind, target);
	struct vec sinks = VEC_OF(struct sink *);

	if (!more->count)
		return sink;
	vec_push(&sinks, &sink);
	for (size_t i = 0; i < more->count; i++) {
		const struct session_output *output = vec_at(more, i);
		struct sink_target other = *target;

		other.fd = output->fd;
		other.sender = output->sender;
		other.table = output->table;
		other.is_beside = true;
		other.path = NULL;
		/* Lines and events say which process they are of, tables do not. */
		other.per_process = target->per_process && output->table;
		sink = sink_create(output->kind, &other);
		vec_push(&sinks, &sink);
	}
	return tee_create(&sinks);
}
