/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtual machine whose frames hang on a thread-local variable that has no symbol. A program may
 * have a copy of machine_version. See script_frames.test.
 */

struct frame {
	struct frame *caller;
	const char *file, *function;
	unsigned line;
};

unsigned machine_version;

/* In front of it, so that it is not at the beginning of the block. */
static __thread volatile long others[7] = {1};
static __thread struct frame *volatile top;

__attribute__((noipa)) void *machine_top(void)
{
	return top;
}

__attribute__((noipa)) void machine_call(const char *function, unsigned line, void (*code)(void))
{
	struct frame frame = {top, "script", function, line};

	others[1] += machine_version;
	top = &frame;
	code();
	top = frame.caller;
}
