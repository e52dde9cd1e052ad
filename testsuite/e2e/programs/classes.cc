/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of classes that are passed by pointers and references, and text of C++. */
#include <memory>
#include <string>
#include <string_view>

struct made {
	int a;
	explicit made(int a) : a(a)
	{
	}
};

struct plain {
	int i;
	double d;
};

struct derived : plain {
	int w;
	derived() : plain{1, 2.5}, w(3)
	{
	}
	int get() const;
};

struct with_virtual {
	int v = 4;
	virtual ~with_virtual() = default;
};

struct of_virtual : with_virtual {
	int q = 5;
};

struct with_base : virtual plain {
	int z = 6;
};

struct large {
	int words[17];
	int first()
	{
		return words[0];
	}
};

struct named {
	int id;
	std::string name;
	std::unique_ptr<int> owned;
};

#if defined __clang__
#define HERE __attribute__((noinline))
#else
#define HERE __attribute__((noipa))
#endif

static volatile int calls;

HERE int c_made(made by_value, const made &constant, made *pointer, made &&moved)
{
	calls++;
	return by_value.a + constant.a + pointer->a + moved.a;
}

HERE int c_derived(derived *pointer, const derived &constant)
{
	calls++;
	return pointer->w + constant.w;
}

HERE int derived::get() const
{
	calls++;
	return w;
}

HERE int c_addresses(with_virtual &v, of_virtual *o, const with_base &b, large *l)
{
	calls++;
	return v.v + o->q + b.z + l->first();
}

HERE int c_text(std::string s, const std::string &constant, std::string *pointer, int after)
{
	calls++;
	return static_cast<int>(s.size() + constant.size() + pointer->size()) + after;
}

HERE int c_view(std::string_view view, std::wstring_view wide, const std::wstring &text, int after)
{
	calls++;
	return static_cast<int>(view.size() + wide.size() + text.size()) + after;
}

HERE std::string c_made_text(int length)
{
	calls++;
	return std::string(static_cast<size_t>(length), 'x');
}

HERE int c_named(const named &object, const std::string *none, const std::string *nowhere)
{
	calls++;
	return object.id + (none != nullptr) + (nowhere != nullptr);
}

int main()
{
	made m(7);
	derived d;
	with_virtual v;
	of_virtual o;
	with_base b;
	large l = {{8}};
	named n{9, "named", std::make_unique<int>(1)};
	std::string with_nul("with\0nul", 8), heap("longer than what is kept in the object");

	c_made(m, m, &m, made(10));
	c_derived(&d, d);
	d.get();
	c_addresses(v, &o, b, &l);
	c_text("by value", with_nul, &heap, 1);
	c_view(std::string_view(heap).substr(7, 4), std::wstring_view(L"wide view", 4), L"wide text", 2);
	c_made_text(3);
	c_made_text(20);
	c_named(n, nullptr, reinterpret_cast<std::string *>(16));
	return 0;
}
