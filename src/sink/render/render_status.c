/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders the status of wait(2) as the expressions of <sys/wait.h> that make it: W_EXITCODE(3, 0),
 * SIGSEGV|WCOREFLAG, W_STOPCODE(SIGSTOP). The bits are those of the kernel's kernel/exit.c. A
 * ptrace stop has more bits above the signal: see ptrace(2).
 */
#include "sink/render/render_status.h"

#include "sink/render/signame.h"

enum {
	TERMINATED_BY = 0x7f, /* mask of the signal; if all bits are set, the child has stopped */
	STATUS_BITS = 0xffff,
	CODE_SHIFT = 8,
	CODE_BITS = 0xff,
	DUMPED_CORE = 0x80,
	CONTINUED = 0xffff,
	SYSTEM_CALL = 0x80, /* set in the code of a stop by PTRACE_O_TRACESYSGOOD */
	KERNEL_SIGRTMAX = 64
};

static bool is_signal(uint32_t number)
{
	return number && number <= KERNEL_SIGRTMAX;
}

static void put_stop(struct outbuf *out, uint32_t status)
{
	const uint32_t code = status >> CODE_SHIFT & CODE_BITS;

	outbuf_text(out, "W_STOPCODE(");
	signame_put(out, code & ~(uint32_t)SYSTEM_CALL);
	outbuf_text(out, code & SYSTEM_CALL ? "|0x80)" : ")");
	if (status > STATUS_BITS) {
		outbuf_char(out, '|');
		outbuf_hex(out, status & ~(uint32_t)STATUS_BITS);
	}
}

void render_status(struct outbuf *out, uint32_t status)
{
	const uint32_t by = status & TERMINATED_BY;
	const uint32_t code = status >> CODE_SHIFT & CODE_BITS;
	const bool is_whole = status <= STATUS_BITS;

	if (status == CONTINUED) {
		outbuf_text(out, "__W_CONTINUED");
	} else if ((status & CODE_BITS) == TERMINATED_BY &&
		   is_signal(code & ~(uint32_t)SYSTEM_CALL)) {
		put_stop(out, status);
	} else if (is_whole && !(status & CODE_BITS)) {
		outbuf_text(out, "W_EXITCODE(");
		outbuf_unsigned(out, code, 1, ' ');
		outbuf_text(out, ", 0)");
	} else if (is_whole && !code && is_signal(by)) {
		signame_put(out, by);
		outbuf_text(out, status & DUMPED_CORE ? "|WCOREFLAG" : "");
	} else {
		outbuf_hex(out, status);
	}
}
