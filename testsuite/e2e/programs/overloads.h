/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of C++ whose names in the source are shared, and some that Rust and D would name so. */
#ifndef OVERLOADS_H
#define OVERLOADS_H

namespace ns
{
struct Klass {
	Klass(int n);
	Klass(double n);
	~Klass();
	int get(int more) const;
	int get(const char *text);
	int only(int more);
	int operator+(int more);
	int value;
};

template <class T> T twice(T n);
} // namespace ns

int lone(int n);

/* What Rust calls them, in the older form and in the newer one, and D. */
int rust_legacy(int n) __asm__("_ZN7mycrate4Item3run17h0123456789abcdefE");
int rust_v0(int n) __asm__("_RNvCs1234_7mycrate3foo");
int of_d(int n) __asm__("_D3app4Item3runMFiZi");

#endif
