/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of error numbers, from the table that sysdeps/names.sh makes of the kernel's headers, and
 * names of the restart codes, which programs never see.
 */
#include "sink/render/errname.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#include "errno_names.inc"
};

/*
 * Error numbers by which the kernel marks a call that it will restart (linux/errno.h). Only tracers
 * see them.
 */
static const struct restart {
	int64_t number;
	const char *name;
	const char *meaning;
} restarts[] = {
	{512, "ERESTARTSYS", "made again, unless a handler without SA_RESTART runs"},
	{513, "ERESTARTNOINTR", "made again"},
	{514, "ERESTARTNOHAND", "made again, unless a handler runs"},
	{516, "ERESTART_RESTARTBLOCK", "continued by restart_syscall, unless a handler runs"},
};

const char *errname_find(int64_t number)
{
	return number >= 0 && (uint64_t)number < sizeof names / sizeof *names ? names[number]
									      : NULL;
}

static void put(struct outbuf *out, const char *what, const char *name, const char *meaning)
{
	outbuf_text(out, what);
	outbuf_text(out, name);
	outbuf_text(out, " (");
	outbuf_text(out, meaning);
	outbuf_char(out, ')');
}

void errname_put_result(struct outbuf *out, int64_t number)
{
	if (number < 0) {
		outbuf_char(out, '?');
		return;
	}
	for (size_t i = 0; i < sizeof restarts / sizeof *restarts; i++)
		if (restarts[i].number == number) {
			put(out, "? ", restarts[i].name, restarts[i].meaning);
			return;
		}
	if (errname_find(number)) {
		put(out, "-1 ", errname_find(number), strerror((int)number));
		return;
	}
	outbuf_text(out, "-1 errno ");
	outbuf_signed(out, number);
}
