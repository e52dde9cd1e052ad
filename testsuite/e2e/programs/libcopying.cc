/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes whose objects are passed by value as they lie there (value_*), or as pointers to copies (copy_*), and such
 * of which nobody can tell that by debug information of gcc (either_*).
 */
#include <string>
#include <string_view>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#define PASSED(manner, type)                                                                                           \
	extern "C" int manner##_##type(type object, int after)                                                         \
	{                                                                                                              \
		return reinterpret_cast<const char *>(&object)[0] + after;                                             \
	}

struct constructed { int a, b; constructed(int x) : a(x), b(2) {} };
PASSED(value, constructed)
struct with_functions { int a; int get() const { return a; } static int make(); int operator+(int b) const { return b; } };
PASSED(value, with_functions)
struct assigned { int a; assigned &operator=(const assigned &other) { a = other.a; return *this; } };
PASSED(value, assigned)
struct copy_defaulted { int a; copy_defaulted(); copy_defaulted(const copy_defaulted &) = default; };
PASSED(value, copy_defaulted)
struct both_defaulted { int a; both_defaulted(const both_defaulted &) = default; both_defaulted(both_defaulted &&) = default; };
PASSED(value, both_defaulted)
struct only_moved { int a; only_moved(const only_moved &) = delete; only_moved(only_moved &&) = default; };
PASSED(value, only_moved)
struct only_copied { int a; only_copied(const only_copied &) = default; only_copied(only_copied &&) = delete; };
PASSED(value, only_copied)
struct destroyed_by_default { int a; ~destroyed_by_default() = default; };
PASSED(value, destroyed_by_default)
struct derived : constructed { int c; derived(int x) : constructed(x), c(3) {} };
PASSED(value, derived)
struct with_member { copy_defaulted member; only_copied array[2]; };
PASSED(value, with_member)
struct holder_of_moved { only_moved member; };
PASSED(value, holder_of_moved)
struct taking { int a; taking(); template <class T> taking(T &&); template <class T> taking &operator=(T &&); };
PASSED(value, taking)
template <class T> struct of_type { T a; of_type(T x) : a(x) {} of_type(const of_type &) = default; };
using of_int = of_type<int>;
PASSED(value, of_int)
class closed { int a; public: closed(const closed &) = default; };
PASSED(value, closed)
using view = std::string_view;
PASSED(value, view)
using pair_of_numbers = std::pair<int, long>;
PASSED(value, pair_of_numbers)
using perhaps = std::optional<int>;
PASSED(value, perhaps)

struct copied { int a; copied(const copied &); };
PASSED(copy, copied)
struct moved { int a; moved(moved &&); };
PASSED(copy, moved)
struct destroyed { int a; ~destroyed() {} };
PASSED(copy, destroyed)
struct defaulted_outside { int a; ~defaulted_outside(); };
defaulted_outside::~defaulted_outside() = default;
PASSED(copy, defaulted_outside)
struct not_copied { int a; not_copied(); not_copied(const not_copied &) = delete; };
PASSED(copy, not_copied)
struct not_moved { int a; not_moved(); not_moved(not_moved &&) = delete; };
PASSED(copy, not_moved)
struct neither { int a; neither(const neither &) = delete; neither(neither &&) = delete; };
PASSED(copy, neither)
struct move_assigned { int a; move_assigned &operator=(move_assigned &&); };
PASSED(copy, move_assigned)
struct with_virtual { int a; virtual int get(); };
int with_virtual::get() { return a; }
PASSED(copy, with_virtual)
struct of_virtual : with_virtual { int b; int get() override; };
int of_virtual::get() { return b; }
PASSED(copy, of_virtual)
struct virtual_base : virtual constructed { int c; virtual_base(); };
virtual_base::virtual_base() : constructed(1) {}
PASSED(copy, virtual_base)
struct has_destroyed { destroyed member; int b; };
PASSED(copy, has_destroyed)
struct has_array { destroyed member[2]; };
PASSED(copy, has_array)
struct of_copied : copied { int b; };
PASSED(copy, of_copied)
struct has_not_copied { not_copied member; };
PASSED(copy, has_not_copied)
struct all_by_default { copied member; all_by_default(const all_by_default &) = default; };
PASSED(copy, all_by_default)
struct has_gone { int &&a; };
struct has_gone_and_is_copied { has_gone a; int b; };
PASSED(value, has_gone)
PASSED(value, has_gone_and_is_copied)
template <class T> struct copied_type { T a; copied_type(const copied_type &other) : a(other.a) {} };
using copied_int = copied_type<int>;
PASSED(copy, copied_int)
struct outer { struct inner; };
struct outer::inner { int a; inner(const inner &); };
using inner = outer::inner;
PASSED(copy, inner)
using text = std::string;
PASSED(copy, text)
using owner = std::unique_ptr<int>;
PASSED(copy, owner)
using shared = std::shared_ptr<int>;
PASSED(copy, shared)
using function = std::function<int()>;
PASSED(copy, function)
using perhaps_text = std::optional<std::string>;
PASSED(copy, perhaps_text)
using pair_of_texts = std::pair<std::string, int>;
PASSED(copy, pair_of_texts)
union either_one { copied a; int b; either_one(const either_one &); ~either_one(); };
PASSED(copy, either_one)

struct has_default { int a; has_default(); has_default(const has_default &, int = 3); };
PASSED(either, has_default)
struct has_no_default { int a; has_no_default(); has_no_default(const has_no_default &, int); };
PASSED(either, has_no_default)
class secret { int a; secret(const secret &) = default; public: secret(); friend struct knows; };
struct knows { secret member; };
PASSED(either, knows)

std::string made(constructed a, int b)
{
	return std::string(static_cast<size_t>(a.a), 'x') + std::to_string(b);
}
