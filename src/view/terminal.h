/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A terminal that a view has for itself, and that is to be left as it was found: see terminal.c. */
#ifndef TRACER_VIEW_TERMINAL_H
#define TRACER_VIEW_TERMINAL_H

#include <stdbool.h>

struct terminal;

/*
 * Takes the terminal `fd`, which stays the caller's. If standard error is a terminal, too, what is
 * written there is held back until terminal_give_back().
 */
struct terminal *terminal_take(int fd);
/* What has to be written to end a full-screen display, if terminal_give_back() has to do that. */
void terminal_set_ending(struct terminal *terminal, const char *ending);
/*
 * Gives the terminal back. `is_ended`: the display has been ended. What was held back is written to
 * standard error.
 */
void terminal_give_back(struct terminal *terminal, bool is_ended);

/* Returns the last line that was held back, which the caller frees, or NULL. */
char *terminal_message(const struct terminal *terminal);

/* Returns true unless the terminal is in use by another job of its shell. */
bool terminal_is_ours(int fd);
/* Stores the size of the terminal; 24 lines of 80 columns if it has none. */
void terminal_size(int fd, unsigned *lines, unsigned *columns);

#endif
