/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal for --top.
 *
 * A command that is launched has the tracer's standard streams. If one of them is the terminal, the
 * command writes over the view, or takes the keys that are meant for it. To give it other streams
 * would change what it does: many programs ask whether they write to a terminal. So the user has to
 * say where they lead, and the view is shown on the terminal that the tracer was started from.
 *
 * Without a command, nobody but the tracer uses the streams. If its input or output leads
 * elsewhere, a full screen is not what the user can have in mind.
 */
#include "cli/view_terminal.h"

#include "cli/usage_error.h"
#include "view/screen.h"
#include "view/terminal.h"

#include <fcntl.h>
#include <unistd.h>

static bool uses_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
}

int view_terminal_open(const struct options *options, int *fd)
{
	*fd = -1;
	if (!options->top_ns)
		return 0;
	if (!screen_is_built())
		return usage_error("--top: this tracer was built without ncurses; -c --interval=1s "
				   "prints a table each second");
	if (options->command && uses_terminal())
		return usage_error("--top: the command would share the terminal with the view; "
				   "redirect it: tracer --top COMMAND </dev/null >FILE 2>&1");
	if (options->command || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		*fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	/* A terminal that no session has: in some containers. */
	if (*fd < 0 && !options->command && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		*fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (*fd < 0)
		return usage_error("--top needs a terminal; without one, -c --interval=1s prints a "
				   "table each second");
	if (terminal_is_ours(*fd))
		return 0;
	close(*fd);
	*fd = -1;
	return usage_error("--top needs the terminal, and so cannot run in the background");
}
