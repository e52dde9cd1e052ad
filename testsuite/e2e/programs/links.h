/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What links.c calls: functions that count how often they were called. */
#ifndef LINKS_H
#define LINKS_H

#define PLAIN_LINKS(X) X(one) X(two) X(three) X(loop) X(tail) X(many) X(early) X(passed) X(both)
#define LINKS(X) PLAIN_LINKS(X) X(ifunc)

/* Linked statically, an IFUNC has several addresses without a tracer, too. */
#ifdef STATICALLY
#define ADDRESSED_LINKS(X) PLAIN_LINKS(X)
#else
#define ADDRESSED_LINKS(X) LINKS(X)
#endif

#define DECLARE(name) int link_##name(int n, ...);
LINKS(DECLARE)
#undef DECLARE

/* Each of them is a known multiple of its argument. */
enum { LINK_FACTOR = 3 };

/* How often a function was entered, and its address as its own library has it; 0 and NULL at the end. */
int links_entered(int index, const char **name);
void *links_address(int index);

#endif
