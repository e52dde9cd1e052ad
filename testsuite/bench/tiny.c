/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library whose functions do next to nothing, so that what is measured is the tracer. */
long tiny(long x);
long tiny_text(const char *text, long length, long x);

long tiny(long x)
{
	return x + 1;
}

long tiny_text(const char *text, long length, long x)
{
	__asm__ volatile("" : : "r"(text), "r"(length));
	return x + 1;
}
