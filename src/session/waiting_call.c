/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system call that a thread waits in, for --stacks.
 *
 * When a stop interrupts a call, the kernel has left its number in orig_ax, its arguments in their
 * registers, and an error number in ax by which it will start the call again. In a core dump, the
 * threads that did not cause it were interrupted in the same way.
 */
#include "session/waiting_call.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "target/syscalls/syscalls.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORD_BYTES = 16384, ARGUMENTS = 6 };

/* linux/errno.h */
enum { KERNEL_ERESTARTSYS = 512, KERNEL_ERESTART_RESTARTBLOCK = 516 };

bool waiting_call_is_there(const struct arch *arch, const struct regs *regs)
{
	const bool narrow = arch->abi->word == sizeof(uint32_t);
	const int64_t number = narrow ? (int32_t)regs->syscall : (int64_t)regs->syscall;
	const int64_t result = narrow ? (int32_t)regs->r[REG_AX] : (int64_t)regs->r[REG_AX];

	return number >= 0 && (result == -EINTR || (result <= -KERNEL_ERESTARTSYS &&
						    result >= -KERNEL_ERESTART_RESTARTBLOCK));
}

/* Makes a record of the call of that thread, without values. */
static struct record *make_record(const struct thread *thread, const struct probe_site *site,
				  enum record_kind kind)
{
	struct record *record = xcalloc(1, RECORD_BYTES);

	*record = (struct record){.size = sizeof *record,
				  .version = RECORD_VERSION,
				  .kind = (uint8_t)kind,
				  .pid = thread->process->pid,
				  .tid = thread->tid,
				  .probe = site->info->id};
	return record;
}

void waiting_call_capture(struct target *target, const struct thread *thread,
			  const struct regs *regs, struct waiting_call *call)
{
	const struct space *space = thread->process->space;
	const struct arch *arch = space->arch;
	uint64_t registers[REG_COUNT] = {0}, result_at = 0;
	const struct capture_frame frame = {.gpr = registers, .memory = &space->readable};
	_cleanup_free_ struct capture_saved *saved = xcalloc(1, sizeof *saved);

	for (unsigned i = 0; i < ARGUMENTS; i++)
		registers[i] = regs->r[arch->syscall_arg[i]];
	const struct probe_site *site = system_calls_site(target, space, arch, regs->syscall,
							  registers, &result_at);

	if (!site)
		return;
	call->entry = make_record(thread, site, RECORD_CALL);
	call->unfilled = make_record(thread, site, RECORD_RETURN);
	struct capture_buffer buffer = {(unsigned char *)call->entry, RECORD_BYTES};

	capture_entry(site->plan, &frame, &buffer, saved);
	buffer.bytes = (unsigned char *)call->unfilled;
	syscalls_capture_unfilled(site->plan, saved, space, &buffer);
}

void waiting_call_deinit(struct waiting_call *call)
{
	free(call->entry);
	free(call->unfilled);
}
