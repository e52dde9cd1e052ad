/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One name in two versions (OLD and NEW), another one with other types, and two names at one address. */
__attribute__((noinline)) int version_old(int n)
{
	return n + 1000;
}

__attribute__((noinline)) int version_new(int n)
{
	return n + 2000;
}

__attribute__((noinline)) int work_same(int n)
{
	return n + 3000;
}

__attribute__((noinline)) int typed_old(int n)
{
	return n + 4000;
}

__attribute__((noinline)) double typed_new(double x, const char *text)
{
	return x + text[0];
}

__asm__(".symver typed_old, work_typed@OLD");
__asm__(".symver typed_new, work_typed@@NEW");
__asm__(".symver version_old, work_version@OLD");
__asm__(".symver version_new, work_version@@NEW");
__asm__(".globl same_old, same_new\n.set same_old, work_same\n.set same_new, work_same\n"
	".type same_old, @function\n.type same_new, @function\n"
	".symver same_old, work_twin@OLD\n.symver same_new, work_twin@@NEW\n");
