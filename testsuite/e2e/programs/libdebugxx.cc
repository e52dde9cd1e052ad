/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What C++ passes in ways of its own. */
struct plain {
	int x;
	double y;
};

struct empty {
};

struct copied {
	int x;
	copied(const copied &other);
	~copied();
};

class thing
{
public:
	explicit thing(int a);
	virtual ~thing();
	int get(const plain &p, const char *name) const;
	static int count(int a);

private:
	int value;
};

enum class narrow : unsigned char { LOW, HIGH = 200 };

thing::thing(int a) : value(a)
{
}

thing::~thing()
{
}

int thing::get(const plain &p, const char *name) const
{
	return p.x + value + name[0];
}

int thing::count(int a)
{
	return a;
}

copied::copied(const copied &other) : x(other.x)
{
}

copied::~copied()
{
}

namespace inner
{
plain made(plain p, float f)
{
	p.x += static_cast<int>(f);
	return p;
}

template <class T> T sum(T a, T b)
{
	return a + b;
}

template int sum<int>(int, int);
} // namespace inner

int over(int a)
{
	return a;
}

int over(double a)
{
	return static_cast<int>(a);
}

narrow other(narrow n, bool b, char16_t c)
{
	return b && c ? narrow::LOW : n;
}

int with_empty(empty, int a)
{
	return a;
}

int with_copied(copied c, int a)
{
	return c.x + a;
}

int one(int &a, const int &b, const char &c, const double &&d, const wchar_t &e)
{
	return a + b + c + static_cast<int>(d) + static_cast<int>(e);
}

int texts(const char16_t *a, char32_t *b, const wchar_t *c)
{
	return *a + static_cast<int>(*b) + static_cast<int>(*c);
}

struct first {
	int a;
};

struct second {
	int b;
};

struct both : first, second {
	int c;
};

int derived(both *p)
{
	return p->a + p->b + p->c;
}
