/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A key that somebody has pressed. */
#ifndef TRACER_VIEW_KEY_H
#define TRACER_VIEW_KEY_H

enum view_key_kind {
	KEY_IS_TEXT, /* a character: `text` */
	KEY_IS_UP,
	KEY_IS_DOWN,
	KEY_IS_LEFT,
	KEY_IS_RIGHT,
	KEY_IS_PAGE_UP,
	KEY_IS_PAGE_DOWN,
	KEY_IS_HOME,
	KEY_IS_END,
	KEY_IS_ENTER,
	KEY_IS_ESCAPE,
	KEY_IS_BACKSPACE,
	KEY_IS_ERASE_LINE, /* Ctrl-U */
	KEY_IS_SUSPEND	   /* Ctrl-Z */
};

struct view_key {
	enum view_key_kind kind;
	char text[8]; /* in the encoding of the terminal, ended by a NUL */
};

#endif
