/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of which there is nothing to tell, and no type anywhere: C, and C++. */
#ifdef __cplusplus
extern "C" {
void v_first(void);
void v_second(void);
}
#endif

__attribute__((noinline)) void v_first(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void v_second(void)
{
	v_first();
}
