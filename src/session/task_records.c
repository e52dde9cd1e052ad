/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records about tasks: that they are traced, run another program, got a signal, have ended. */
#include "session/task_records.h"

#include "session/emission.h"
#include "session/session_state.h"
#include "target/task_state.h"
#include "tracee/clock.h"
#include "tracee/tracee.h"

void task_record(struct session *session, const struct thread *thread, enum record_kind kind,
		 int64_t number)
{
	struct regs regs = {.pc = 0};

	if (kind == RECORD_SIGNAL)
		regs_load(thread->tid, &regs);
	struct record record = {.size = sizeof record,
				.version = RECORD_VERSION,
				.kind = kind,
				.pid = thread->process->pid,
				.tid = thread->tid,
				.time = clock_wall_of_event(session->target.tracees),
				.pc = regs.pc,
				.number = number};

	emission_record(session, &record);
}

void task_announce(struct session *session, struct thread *thread)
{
	if (thread->session->announced || thread->process->silent)
		return;
	thread->session->announced = true;
	task_record(session, thread, RECORD_THREAD, 0);
}
