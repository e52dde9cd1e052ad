/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of a tracer that was built without ncurses: there is none. */
#include "view/screen.h"

#include <errno.h>

bool screen_is_built(void)
{
	return false;
}

int screen_start(const struct screen_options *options, struct screen **screen)
{
	(void)options;
	*screen = NULL;
	return -ENOSYS;
}

bool screen_stop(struct screen *screen)
{
	(void)screen;
	return true;
}

void screen_show(struct screen *screen, struct frame *frame)
{
	(void)screen;
	frame_destroy(frame);
}

bool screen_take_key(struct screen *screen, struct view_key *key)
{
	(void)screen;
	(void)key;
	return false;
}

void screen_suspend(struct screen *screen)
{
	(void)screen;
}

void screen_resume(struct screen *screen)
{
	(void)screen;
}
