/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A full-screen display on a terminal, with the keyboard. It has a thread of its own, so that
 * whoever shows something never waits for the terminal, nor for a key. See screen.c.
 */
#ifndef TRACER_VIEW_SCREEN_H
#define TRACER_VIEW_SCREEN_H

#include "view/frame.h"
#include "view/key.h"

#include <stdbool.h>

struct screen;
struct terminal;

struct screen_options {
	int fd;			   /* the terminal, for reading and writing; stays the caller's */
	struct terminal *terminal; /* of that fd */
	bool color;
	bool utf8; /* frames are in UTF-8, otherwise in ASCII */
	/* Called in another thread when a key waits for screen_take_key(). */
	void (*has_key)(void *context);
	void *context;
};

/* Returns false if the tracer was built without ncurses. */
bool screen_is_built(void);

/*
 * Starts the display. Returns 0; -ENOSYS if it was not built; -ENOTSUP if the terminal (TERM) is
 * not known or too simple; or another -errno.
 */
int screen_start(const struct screen_options *options, struct screen **screen);
/*
 * Ends the display. Returns false if that was not possible, as the terminal takes nothing; then its
 * thread is left behind.
 */
bool screen_stop(struct screen *screen);

/* Shows a frame, which belongs to the screen then, as soon as the terminal can take it. */
void screen_show(struct screen *screen, struct frame *frame);
/* Stores the next key. Returns false if there is none. */
bool screen_take_key(struct screen *screen, struct view_key *key);

/* Leaves the terminal to others for some time. It waits until that is done, but not long. */
void screen_suspend(struct screen *screen);
/* Takes the terminal again; the next frame is drawn as a whole. */
void screen_resume(struct screen *screen);

#endif
