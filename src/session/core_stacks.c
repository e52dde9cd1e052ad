/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of all threads of a core dump, for --stacks --core. The thread that caused the core
 * dump comes first, as in the file; the others follow in the file's order.
 */
#include "session/core_stacks.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "session/waiting_call.h"
#include "sink/stacks/thread_stacks.h"
#include "target/core_process.h"
#include "target/stacks/call_stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns true for the signals that dump a core (signal(7)): debuggers also store other ones. */
static bool dumps_core(int signal)
{
	static const int signals[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE,
				      SIGSEGV, SIGBUS, SIGSYS,	SIGXCPU, SIGXFSZ};

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i] == signal)
			return true;
	return false;
}

static void put_thread(struct session *session, const struct sink_target *sink, struct outbuf *out,
		       const struct core_thread *known, bool is_first)
{
	struct target *target = &session->target;
	struct thread *thread = tracees_thread(target->tracees, known->tid);
	struct thread_stack stack = {.tid = known->tid, .name = ""};
	struct waiting_call call = {0};
	const bool is_in_call = waiting_call_is_there(thread->process->space->arch, &known->regs);

	if (is_first && dumps_core(known->signal)) {
		stack.activity = ACTIVITY_SIGNAL;
		stack.signal = known->signal;
		stack.has_fault = known->has_fault;
		stack.fault = known->fault;
	} else if (is_in_call) {
		stack.activity = ACTIVITY_CALL;
	}
	/* Whoever kills a process that hangs wants to know in which call. */
	if (is_in_call)
		waiting_call_capture(target, thread, &known->regs, &call);
	stack.entry = call.entry;
	stack.unfilled = call.unfilled;
	stack.stack = call_stacks_of_thread(target, thread, &known->regs, 0);
	thread_stacks_put(out, sink, &stack);
	waiting_call_deinit(&call);
}

static int show(struct session *session, const struct core_file *core,
		const struct process *process)
{
	struct target *target = &session->target;
	const struct session_options *options = target->options;
	const struct core_thread *first = vec_at(&core->notes.threads, 0);
	const struct sink_target sink = {.probes = target->probes,
					 .options = &session->output,
					 .code = &session->code,
					 .stacks = call_stacks_table(target)};
	struct outbuf out;
	int error = 0;

	outbuf_init(&out, options->output_fd);
	thread_stacks_put_core(&out, options->core, process->pid, core->notes.name,
			       core->notes.threads.count);
	/* Nothing of it changes any more. */
	call_stacks_freeze(target, tracees_thread(target->tracees, first->tid), true);
	for (size_t i = 0; i < core->notes.threads.count && !error; i++) {
		put_thread(session, &sink, &out, vec_at(&core->notes.threads, i), i == 0);
		/* A core dump of many threads takes some time. */
		error = interrupts_end(session->interrupts) ? -EINTR : 0;
	}
	const int failure = outbuf_flush(&out);

	outbuf_deinit(&out);
	return error ? error : failure;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOEXEC:
		return "it is no core dump";
	case -ENOTSUP:
		return "it is of an architecture that is not supported";
	case -ESRCH:
		return "it is a core dump without threads";
	case -ENODATA:
		return "it ends early, so memory is missing";
	default:
		return strerror(-error);
	}
}

static int report(const char *path, int error)
{
	char safe[512];

	diag("%s: %s", diag_safe(safe, sizeof safe, path), reason_of(error));
	return error;
}

int core_stacks_show(struct session *session)
{
	struct target *target = &session->target;
	const char *path = target->options->core;
	struct core_file *core = NULL;
	/* A FIFO must not be waited for. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error = fd < 0 ? -errno : core_file_open(fd, &core);

	if (error || !core)
		return report(path, error);
	struct process *process = core_process_create(target, core);

	if (process) {
		if (core->is_cut)
			report(path, -ENODATA);
		error = show(session, core, process);
		core_process_destroy(target, process);
	} else {
		error = report(path, -ESRCH);
	}
	core_file_close(core);
	return error;
}
