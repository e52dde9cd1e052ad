// SPDX-License-Identifier: GPL-2.0-or-later
#include "overloads.h"

namespace ns
{
Klass::Klass(int n) : value(n) {}
Klass::Klass(double n) : value((int)n) {}
Klass::~Klass()
{
	value = 0;
}
int Klass::get(int more) const
{
	return value + more;
}
int Klass::get(const char *text)
{
	return value + text[0];
}
int Klass::only(int more)
{
	return value - more;
}
int Klass::operator+(int more)
{
	return value + 2 * more;
}
template <class T> T twice(T n)
{
	return n + n;
}
template int twice<int>(int);
template double twice<double>(double);
} // namespace ns

int lone(int n)
{
	return n + 1;
}

int rust_legacy(int n)
{
	return n + 2;
}

int rust_v0(int n)
{
	return n + 3;
}

int of_d(int n)
{
	return n + 4;
}
