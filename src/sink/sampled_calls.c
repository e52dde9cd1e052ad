/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --sample where calls cannot be chosen as they are caught: in a replay, whose calls were caught
 * long ago, and for spans, which are made of the calls of several functions. If each of these was
 * chosen by itself, hardly any span would have both its beginning and its end.
 *
 * The id of a call decides, so both of its records are passed on, or none, and nothing is kept of
 * calls that are under way. A replay chooses the same calls each time.
 */
#include "sink/sampled_calls.h"

#include "base/xalloc.h"
#include "record/sampling.h"
#include "stream/record_code.h"

#include <stdlib.h>

struct sampled_calls {
	struct sink sink; /* must be first: struct sink * is cast to struct sampled_calls * */
	struct sink *inner;
	uint64_t limit; /* sampling_limit(); 0: all calls are passed on */
	uint64_t salt;
};

static struct sampled_calls *sampled_of(struct sink *sink)
{
	return (struct sampled_calls *)(void *)sink;
}

static int sampled_record(struct sink *sink, const struct record *record)
{
	const struct sampled_calls *sampled = sampled_of(sink);

	if (sampled->limit && record_is_of_call(record) &&
	    !sampling_chooses_id(record->call ^ sampled->salt, sampled->limit))
		return 0;
	return sampled->inner->ops->record(sampled->inner, record);
}

static int sampled_flush(struct sink *sink)
{
	struct sink *inner = sampled_of(sink)->inner;

	return inner->ops->flush(inner);
}

static int sampled_finish(struct sink *sink)
{
	struct sink *inner = sampled_of(sink)->inner;

	return inner->ops->finish(inner);
}

static int sampled_snapshot(struct sink *sink, bool is_anew)
{
	struct sink *inner = sampled_of(sink)->inner;

	return inner->ops->snapshot ? inner->ops->snapshot(inner, is_anew) : 0;
}

static int sampled_dump(struct sink *sink)
{
	struct sink *inner = sampled_of(sink)->inner;

	return inner->ops->dump ? inner->ops->dump(inner) : 0;
}

static void sampled_forget(struct sink *sink, const struct probe_info *probe)
{
	struct sink *inner = sampled_of(sink)->inner;

	if (inner->ops->forget)
		inner->ops->forget(inner, probe);
}

static void sampled_destroy(struct sink *sink)
{
	struct sampled_calls *sampled = sampled_of(sink);

	sampled->inner->ops->destroy(sampled->inner);
	free(sampled);
}

static const struct sink_ops sampled_ops = {
	.record = sampled_record,
	.flush = sampled_flush,
	.finish = sampled_finish,
	.snapshot = sampled_snapshot,
	.dump = sampled_dump,
	.forget = sampled_forget,
	.destroy = sampled_destroy,
};

struct sink *sampled_calls_create(struct sink *inner, uint64_t n, uint64_t salt)
{
	struct sampled_calls *sampled = xcalloc(1, sizeof *sampled);

	sampled->sink.ops = &sampled_ops;
	sampled->inner = inner;
	sampled->limit = sampling_limit(n);
	sampled->salt = salt;
	return &sampled->sink;
}

void sampled_calls_take_all(struct sink *sink)
{
	sampled_of(sink)->limit = 0;
}
