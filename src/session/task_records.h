/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records about tasks: see task_records.c. */
#ifndef TRACER_SESSION_TASK_RECORDS_H
#define TRACER_SESSION_TASK_RECORDS_H

#include "session/session_state.h"

/* Records something about a task, now. `number`: see enum record_kind. */
void task_record(struct session *session, const struct thread *thread, enum record_kind kind,
		 int64_t number);
/* Announces a task to the sink, once. */
void task_announce(struct session *session, struct thread *thread);

#endif
