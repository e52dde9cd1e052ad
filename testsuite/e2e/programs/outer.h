/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library between the program and libwork. */
#ifndef OUTER_H
#define OUTER_H

extern int outer_constructed; /* what work_add(500, 5) gave the constructor */

int outer_add(int a, int b); /* calls work_add */
int outer_ifunc(int n);	     /* calls work_ifunc */
int outer_twice(int n);	     /* calls work_square twice */

#endif
