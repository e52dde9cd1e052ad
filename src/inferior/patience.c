/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread in an uninterruptible sleep stops when that is over. What it waits for is mostly a page
 * or the lock of its memory, and it gets that soon, on a machine under load not at once. In
 * vfork(2) it waits for its child, which may go on for long; and where the child stands at a stop
 * of ours, waiting is in vain.
 */
#include "inferior/patience.h"

#include "base/vec.h"
#include "inferior/proc.h"

enum { SHORT_NS = 200000, LASTING_NS = 50000000, LONG_NS = 500000000 };

/*
 * Whether what it has made by vfork(2) stands for us, at a stop that may not be fetched yet: it
 * does not come back before that is let go on.
 */
static bool waits_for_held(const struct thread *thread, const struct vec *children)
{
	for (size_t i = 0; i < children->count; i++) {
		pid_t pid = *(const pid_t *)vec_at(children, i);
		const struct process *child = inferior_process(thread->process->inferior, pid);

		if (child && child->borrower && proc_state(pid) == 't')
			return true;
	}
	return false;
}

bool patience_is_over(const struct thread *thread, uint64_t waited)
{
	struct vec children = VEC_OF(pid_t);

	if (waited < SHORT_NS || proc_state(thread->tid) != 'D')
		return false;
	proc_children(thread->process->pid, thread->tid, &children);
	bool may_last = (children.count > 0 && waited > LASTING_NS) ||
			waits_for_held(thread, &children);

	vec_deinit(&children);
	return may_last || waited > LONG_NS;
}
