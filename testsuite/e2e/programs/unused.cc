/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A parameter that is passed by reference and not used. */
#include <string>

#if defined __clang__
#define HERE __attribute__((noinline))
#else
#define HERE __attribute__((noipa))
#endif

static volatile int calls;

HERE int n_between(int x, std::string unused, bool b, long y)
{
	(void)unused;
	calls++;
	return x + b + static_cast<int>(y);
}

HERE int n_more(const char *text, ...)
{
	calls++;
	return text[0];
}

int main()
{
	n_between(1, "text", true, 42);
	n_more("a", 2);
	return 0;
}
