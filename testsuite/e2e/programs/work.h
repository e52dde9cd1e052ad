/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that most tracees call. */
#ifndef WORK_H
#define WORK_H

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int work_function(int);

/* Functions at fixed places behind a pointer, as a driver's method table has them. */
struct work_table {
	void *unused;
	work_function *function;
};

extern int work_constructed;		/* set by the constructor */
extern struct work_table work_table;	  /* filled by a relocation */
extern struct work_table work_late_table; /* filled by work_fill() */

int work_add(int a, int b);
int work_square(int a);
int work_factorial(int n); /* calls itself */
int work_tail(int n);	   /* jumps to a hidden function, which returns n + 1 */
int work_hidden(int n);	   /* calls a function that only .symtab knows; 3 n */
int work_ifunc(int n);	   /* an IFUNC; n + 100 */
int work_init(int n);	   /* called by the constructor with 77 */
int work_sleep(int milliseconds);
const char *work_echo(const char *text);
void work_call(void (*callback)(void *), void *argument);
void work_jump(jmp_buf where, int value);
int work_table_call(int n); /* through work_table; 5 n */
void work_fill(void);
int work_late_call(int n); /* through work_late_table; 7 n */

#ifdef __cplusplus
}
#endif

#endif
