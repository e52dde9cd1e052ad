/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the flow tests trace, and how their programs count the calls they make.
 *
 * COUNT(add)(1, 2) calls flow_add(1, 2) and counts it; LEFT(call, 3) says that three calls of
 * flow_call() were left without returning; mark(N) is a counted call of flow_mark(N), made where N
 * traced calls are around it. flow_work(CHECKSUM), at the end, tells what the test has to know.
 */
#ifndef FLOW_H
#define FLOW_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum flow { FLOW_add, FLOW_mark, FLOW_call, FLOW_jump, FLOW_tail, FLOW_hop,
	    FLOW_spin, FLOW_raise, FLOW_wait, FLOW_switch, FLOW_leave, FLOW_throw, FLOW_keep, FLOWS };

extern long flow_counted[FLOWS];
extern long flow_left[FLOWS];
extern unsigned long flow_sum; /* a checksum, for flow_report_last */
extern int flow_report_last;   /* flow_report(flow_sum) is to be called when libflow is unloaded */

long flow_add(long a, long b);
void flow_mark(int around); /* does nothing */
void flow_call(void (*callback)(void *), void *argument);
long flow_keep(void (*callback)(void *), void *argument, long value); /* the same, and returns value */
void flow_jump(jmp_buf where, int value); /* does not return */
long flow_tail(long n); /* jumps to flow_hop(n + 1) */
long flow_hop(long n); /* jumps to flow_add(n, 1) */
void flow_spin(volatile int *inside); /* sets it and spins */
void flow_raise(int number); /* raise() */
void flow_wait(volatile int *inside); /* sets it and sleeps in a cancellation point */
void flow_switch(void *from, void *to); /* swapcontext() */
void flow_leave(void *result); /* pthread_exit() */
void flow_throw(int number); /* throws it; in libthrow */

/*
 * Waits until all other threads are gone, also from their tracer's point of view: when the process ends
 * while one of them does, it cannot tell which came first.
 */
void flow_alone(void);
void flow_report(unsigned long checksum);
void flow_ready(void); /* says so, and waits to be told to go */

#define COUNT(name) (__atomic_add_fetch(&flow_counted[FLOW_##name], 1, __ATOMIC_RELAXED), flow_##name)
#define LEFT(name, number) ((void)__atomic_add_fetch(&flow_left[FLOW_##name], number, __ATOMIC_RELAXED))
#define mark(around) COUNT(mark)(around)

/* Of work whose order is known. */
static inline unsigned long flow_mix(unsigned long sum, unsigned long value)
{
	return (sum * 33 ^ value) & 0xffffffff;
}

#ifdef __cplusplus
}
#endif

#endif
