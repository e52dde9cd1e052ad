/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of --stacks. Names of processes and threads are set by the programs themselves, and are
 * escaped. The frames look like those of -w.
 */
#include "sink/stacks/thread_stacks.h"

#include "sink/render/escape.h"
#include "sink/render/render.h"
#include "sink/render/signame.h"
#include "sink/stacks/stack_lines.h"

static void put_name(struct outbuf *out, const char *name)
{
	if (!*name)
		return;
	outbuf_text(out, " (");
	escape_name(out, name);
	outbuf_char(out, ')');
}

void thread_stacks_put_core(struct outbuf *out, const char *file, int32_t pid, const char *name,
			    size_t threads)
{
	outbuf_text(out, "core ");
	escape_name(out, file);
	outbuf_text(out, " of ");
	thread_stacks_put_process(out, pid, name, threads);
}

void thread_stacks_put_process(struct outbuf *out, int32_t pid, const char *name, size_t threads)
{
	outbuf_text(out, "process ");
	outbuf_signed(out, pid);
	put_name(out, name);
	outbuf_text(out, ", ");
	outbuf_unsigned(out, threads, 1, ' ');
	outbuf_text(out, threads == 1 ? " thread" : " threads");
	outbuf_newline(out);
}

static void put_call(struct outbuf *out, const struct sink_target *target,
		     const struct thread_stack *thread)
{
	const struct output_options *options = target->options;
	const struct probe_info *probe = probe_table_get(target->probes, thread->entry->probe);
	const struct render_options render = {.string_max = options->string_max,
					      .array_max = options->array_max,
					      .names = options->parameter_names,
					      .utf8 = options->utf8,
					      .code = target->code};
	struct value_cursor entry = value_cursor_start(thread->entry);
	struct value_cursor unfilled = value_cursor_start(thread->unfilled);

	if (!probe)
		return;
	const struct prototype *prototype = probe->prototype;
	const unsigned count = render_entry_count(prototype);

	outbuf_text(out, " in ");
	escape_name(out, probe->name);
	outbuf_char(out, '(');
	render_arguments(out, prototype, 0, count, &entry, &render);
	render_skip_result(prototype, &unfilled);
	render_arguments(out, prototype, count, prototype->parameter_count, &unfilled, &render);
	outbuf_char(out, ')');
}

/* SIGNAL (fault at ADDRESS) */
static void put_signal(struct outbuf *out, const struct thread_stack *thread)
{
	signame_put(out, thread->signal);
	if (!thread->has_fault)
		return;
	outbuf_text(out, thread->fault ? " (fault at " : " (fault at 0x");
	outbuf_hex(out, thread->fault);
	outbuf_char(out, ')');
}

void thread_stacks_put(struct outbuf *out, const struct sink_target *target,
		       const struct thread_stack *thread)
{
	static const char *const texts[] = {
		[ACTIVITY_RUNS] = " runs",
		[ACTIVITY_CALL] = " waits",
		[ACTIVITY_WAITS] = " waits uninterruptibly",
		[ACTIVITY_STOPPED] = " is stopped",
		[ACTIVITY_SIGNAL] = " was killed by ",
	};

	outbuf_text(out, "thread ");
	outbuf_signed(out, thread->tid);
	put_name(out, thread->name);
	outbuf_text(out, texts[thread->activity]);
	if (thread->activity == ACTIVITY_SIGNAL)
		put_signal(out, thread);
	if (thread->entry)
		put_call(out, target, thread);
	outbuf_newline(out);
	stack_lines_put_frames(out, target->stacks, thread->stack, target->options);
}
