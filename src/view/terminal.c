/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A terminal that a view has for itself.
 *
 * It must be left as it was found, however the tracer ends. Signals are received and end the trace
 * in an orderly way (tracee/interrupts.c). But the tracer also ends by exit(3) when memory runs
 * out: then on_exit(3) sees to it. Only SIGKILL, or a crash, leave the terminal as it is.
 *
 * Messages of the tracer would be written over the view, and be gone with it. So they go to a file
 * in memory while there is a view, and from there to the terminal afterwards.
 */
#include "view/terminal.h"

#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

enum { DEFAULT_LINES = 24, DEFAULT_COLUMNS = 80, SIZE_MOST = 1000, MESSAGE_MAX = 512 };

struct terminal {
	int fd;
	bool has_modes;
	struct termios modes; /* as they were */
	int messages;	      /* what was written to standard error; -1: nothing is held back */
	int standard_error;   /* where standard error belongs */
	char *ending;
	bool is_given_back;
};

bool terminal_is_ours(int fd)
{
	const pid_t front = tcgetpgrp(fd);

	return front < 0 || front == getpgrp();
}

static void write_all(int fd, const char *text, size_t length)
{
	while (length) {
		const ssize_t written = write(fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

static void hold_messages(struct terminal *terminal)
{
	terminal->messages = -1;
	if (!isatty(STDERR_FILENO))
		return;
	terminal->standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (terminal->standard_error < 0)
		return;
	const int messages = memfd_create("messages", MFD_CLOEXEC);

	if (messages >= 0 && fcntl(messages, F_SETFL, O_APPEND) == 0 &&
	    dup2(messages, STDERR_FILENO) >= 0) {
		terminal->messages = messages;
		return;
	}
	close(terminal->standard_error);
	if (messages >= 0)
		close(messages);
}

static void show_messages(struct terminal *terminal)
{
	char text[4096];
	off_t at = 0;
	ssize_t length;

	if (terminal->messages < 0)
		return;
	dup2(terminal->standard_error, STDERR_FILENO);
	close(terminal->standard_error);
	while ((length = pread(terminal->messages, text, sizeof text, at)) > 0) {
		write_all(STDERR_FILENO, text, (size_t)length);
		at += length;
	}
	close(terminal->messages);
	terminal->messages = -1;
}

static void give_back(struct terminal *terminal, bool is_ended)
{
	if (terminal->is_given_back)
		return;
	terminal->is_given_back = true;
	/* In the background, the modes are those of whoever is in the foreground. */
	const bool is_ours = terminal_is_ours(terminal->fd);

	if (!is_ended && is_ours && terminal->ending)
		write_all(terminal->fd, terminal->ending, strlen(terminal->ending));
	if (terminal->has_modes && is_ours)
		tcsetattr(terminal->fd, TCSANOW, &terminal->modes);
	show_messages(terminal);
	free(terminal->ending);
	terminal->ending = NULL;
}

/* The only one to free what it gets: nothing can be taken off the list of on_exit(3). */
static void at_exit(int status, void *terminal)
{
	(void)status;
	give_back(terminal, false);
	free(terminal);
}

struct terminal *terminal_take(int fd)
{
	struct terminal *terminal = xcalloc(1, sizeof *terminal);

	terminal->fd = fd;
	terminal->has_modes = tcgetattr(fd, &terminal->modes) == 0;
	hold_messages(terminal);
	on_exit(at_exit, terminal);
	return terminal;
}

void terminal_set_ending(struct terminal *terminal, const char *ending)
{
	free(terminal->ending);
	terminal->ending = xstrdup(ending);
}

void terminal_give_back(struct terminal *terminal, bool is_ended)
{
	give_back(terminal, is_ended);
}

char *terminal_message(const struct terminal *terminal)
{
	char text[MESSAGE_MAX + 1];
	const off_t size = terminal->messages >= 0 ? lseek(terminal->messages, 0, SEEK_END) : 0;
	const off_t from = size > MESSAGE_MAX ? size - MESSAGE_MAX : 0;
	const ssize_t length = size > 0 ? pread(terminal->messages, text, MESSAGE_MAX, from) : 0;

	if (length <= 0)
		return NULL;
	text[length] = '\0';
	if (text[length - 1] == '\n')
		text[length - 1] = '\0';
	const char *line = strrchr(text, '\n');

	return xstrdup(line ? line + 1 : text);
}

void terminal_size(int fd, unsigned *lines, unsigned *columns)
{
	struct winsize size = {0};

	ioctl(fd, TIOCGWINSZ, &size);
	*lines = size.ws_row && size.ws_row <= SIZE_MOST ? size.ws_row : DEFAULT_LINES;
	*columns = size.ws_col && size.ws_col <= SIZE_MOST ? size.ws_col : DEFAULT_COLUMNS;
}
