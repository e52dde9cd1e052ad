/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library whose only function does next to nothing, so that what is measured is the tracer. */
long tiny(long x);

long tiny(long x)
{
	return x + 1;
}
