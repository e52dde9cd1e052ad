/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes objects of classes by value. */
#include <memory>
#include <string>

struct constructed {
	int a, b;
	constructed(int x) : a(x), b(2)
	{
	}
};

struct copied {
	int a;
	copied(int x) : a(x)
	{
	}
	copied(const copied &other) : a(other.a)
	{
	}
};

volatile int sink;

extern "C" {
int by_constructed(constructed object, int after)
{
	return sink + after;
}

int by_copied(copied object, int after)
{
	return sink + after;
}

int by_text(std::string object, double after)
{
	return sink + static_cast<int>(after);
}

int by_owner(std::unique_ptr<int> object, int after)
{
	return sink + after;
}
}

std::string by_result(constructed object, int after)
{
	return std::string(static_cast<size_t>(object.a + after), 'x');
}

int main()
{
	by_constructed(7, 42);
	by_copied(7, 42);
	by_text("text", 1.5);
	by_owner(nullptr, 42);
	by_result(7, 42);
	return 0;
}
