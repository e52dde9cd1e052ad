/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are the same code, of which linkers and compilers keep one. */
#ifndef FOLDED_H
#define FOLDED_H

enum color { RED, GREEN = 5 };
enum level { LOW = 3, HIGH = 5 };

struct place {
	int x, y;
};

int f_text(const char *, int);
int f_number(double);
int f_color(enum color);
int f_level(enum level);
int f_own(const char *, int);
int f_alias(const char *, int);
int f_elsewhere(const struct place *);

#endif
