/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users know a function by its source-level name, ns::Klass::method; its symbol is
 * _ZN2ns5Klass6methodEi. No symbol contains "::", so a pattern that contains it is meant for the
 * source-level name, with or without -C.
 *
 * A function has several such names, and users write the shortest one that they know. The pattern
 * tells which of them it can match:
 *
 *	ns::max<int>		always: without parameters, as -C shows it
 *	ns::max			if the pattern has no '<': without template arguments, ABI tags,
 *				and traits (Rust: Type::method for <Type as Trait>::method)
 *	ns::max<int>(int, int)	if the pattern has a '(': with parameters, without the result's type
 *
 * D writes a '.' for "::". Patterns are written with "::" for D, too, because a '.' is part of many
 * C symbols (f.part.0) and tells nothing about the language.
 *
 * A library may have 100,000 symbols, and each of them is compared with each pattern while the
 * process waits. Demangling one takes about half a microsecond. Most symbols are ruled out before
 * that: an identifier of the source is also in the symbol, letter by letter, because mangling only
 * puts its length in front of it. So the symbol must contain each run of letters that the pattern
 * requires. The exceptions are words for which mangling has codes ("std" is St; "operator" and
 * built-in types are a letter or two), or which a demangler makes up ("lambda"). A run that is part
 * of such a word requires nothing.
 */
#include "probe/source_name.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/demangle.h"
#include "probe/brackets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Words that may be in a demangled name but not in its symbol. */
static const char coded_words[] =
	/* C++: abbreviations of the standard library, operators, types, generated functions */
	"std allocator basic_string string basic_istream istream basic_ostream ostream "
	"basic_iostream iostream char_traits operator new delete co_await sizeof alignof typeid "
	"throw noexcept static_cast dynamic_cast reinterpret_cast const_cast void wchar_t bool "
	"char8_t char16_t char32_t signed unsigned short int long float double __float128 "
	"_Float16 __int128 half decimal32 decimal64 decimal128 auto decltype decltype_auto nullptr "
	"nullptr_t true false const volatile restrict __restrict __vector _Complex _Imaginary "
	"complex imaginary transaction_safe __builtin_va_list "
	"anonymous namespace unnamed lambda default arg parm abi cxx11 clone enable_if requires "
	"vtable VTT typeinfo name for construction guard variable reference temporary thunk virtual "
	"non covariant return to transaction init function wrapper TLS template parameter object "
	"string literal pack expansion ull "
	/* Rust */
	"usize isize u128 i128 f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 str as dyn extern unsafe fn mut "
	"impl closure shim crate "
	/* D */
	"this byte ubyte ushort uint ulong cent ucent real ifloat idouble ireal cfloat cdouble "
	"creal char wchar dchar immutable shared inout delegate noreturn typeof null postblit "
	"initializer Interface ClassInfo ModuleInfo TypeInfo pure nothrow ref property trusted "
	"safe nogc scope lazy out cast";

/* ------------------------------------------------------------------ required runs of letters */

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns true if this run of letters, when it is in a demangled name, is also in the symbol. */
static bool is_kept(const char *run)
{
	return run[0] && run[1] && !isdigit((unsigned char)run[0]) && !strstr(coded_words, run);
}

/* Returns true if some parts of the regular expression are optional, at any depth. */
static bool has_choices(const char *text)
{
	return strstr(text, "\\(") || strstr(text, "\\|");
}

/*
 * Skips one element that is not a required letter. `at`: in the text of a glob or of a regular
 * expression.
 */
static const char *skip_one(const char *at)
{
	const char *end = at + strlen(at);

	if (*at == '[') {
		const char *behind = brackets_skip(at);

		return behind ? behind : end;
	}
	if (*at == '\\' && at[1] == '{') {
		const char *brace = strstr(at, "\\}");

		return brace ? brace + 2 : end;
	}
	return at + (*at == '\\' && at[1] ? 2 : 1);
}

/* Returns true if the operator at `at` makes the character before it optional. */
static bool makes_optional(const char *at)
{
	return *at == '*' || (*at == '\\' && (at[1] == '?' || at[1] == '{'));
}

/* Adds the runs of letters that the symbol must contain: char *, allocated. */
static void add_required_runs(const char *text, enum source_syntax syntax, struct vec *runs)
{
	if (syntax == SOURCE_REGEX && has_choices(text))
		return;
	while (*text) {
		size_t length = 0;

		while (is_letter(text[length]))
			length++;
		if (!length) {
			text = syntax == SOURCE_PLAIN ? text + 1 : skip_one(text);
			continue;
		}
		const char *end = text + length;
		const bool shorter = syntax == SOURCE_REGEX && makes_optional(end);
		char *run = xstrndup(text, length - shorter);

		if (is_kept(run))
			vec_push(runs, &run);
		else
			free(run);
		text = end;
	}
}

bool source_name_init(struct source_name *source, const char *text, enum source_syntax syntax)
{
	*source = (struct source_name){.required = VEC_OF(char *)};
	if (!strstr(text, "::"))
		return false;
	add_required_runs(text, syntax, &source->required);
	source->arguments = strchr(text, '<') != NULL;
	source->parameters = strchr(text, '(') != NULL;
	return true;
}

void source_name_deinit(struct source_name *source)
{
	for (size_t i = 0; i < source->required.count; i++)
		free(*(char **)vec_at(&source->required, i));
	vec_deinit(&source->required);
}

/* Returns false if the symbol cannot match the pattern, as far as a cheap test tells. */
static bool may_match(const struct source_name *source, const char *symbol)
{
	if (symbol[0] != '_' || !strchr("ZRD", symbol[1]))
		return false;
	for (size_t i = 0; i < source->required.count; i++)
		if (!strstr(symbol, *(char **)vec_at(&source->required, i)))
			return false;
	return true;
}

/* ------------------------------------------------------------------ source-level names */

/*
 * Returns the end of the bracketed text that begins at `at`, or NULL. The '>' of "->" closes
 * nothing.
 */
static const char *skip_arguments(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' && at[-1] != '-') || *at == ')')
			depth--;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/*
 * Returns the end of the operator's name at `at`, which may contain the characters of brackets, or
 * `at` if there is none.
 */
static const char *skip_operator(const char *at)
{
	static const char word[] = "operator";
	const size_t length = sizeof word - 1;

	if (strncmp(at, word, length) != 0 || is_letter(at[length]))
		return at;
	at += length;
	return at + strspn(at, "<>=-");
}

/* Rust's <Type>::method and <Type as Trait>::method become Type::method. */
static void take_trait_out(char *name)
{
	const char *end = *name == '<' ? skip_arguments(name) : NULL;
	char *to = name;

	if (!end || strncmp(end, "::", 2) != 0)
		return;
	for (const char *from = name + 1; from < end - 1 && strncmp(from, " as ", 4) != 0;) {
		const char *behind = *from == '<' || *from == '(' ? skip_arguments(from) : NULL;
		const size_t length = behind ? (size_t)(behind - from) : 1;

		memmove(to, from, length);
		to += length;
		from += length;
	}
	memmove(to, end, strlen(end) + 1);
}

/*
 * Removes template arguments and ABI tags from a name: text in <> behind a letter or, as in Rust,
 * behind "::", and text in [abi:].
 */
static void take_arguments_out(char *name)
{
	const char *from = name;
	char *to = name;

	while (*from) {
		const char *behind = from == name || !is_letter(from[-1]) ? skip_operator(from)
									  : from;
		const char *end = NULL;

		if (behind != from) {
			memmove(to, from, (size_t)(behind - from));
			to += behind - from;
			from = behind;
			continue;
		}
		if (*from == '<' && to > name && is_letter(to[-1]))
			end = skip_arguments(from);
		else if (!strncmp(from, "::<", 3) && from > name)
			end = skip_arguments(from + 2);
		else if (!strncmp(from, "[abi:", 5) && strchr(from, ']'))
			end = strchr(from, ']') + 1;
		if (end)
			from = end;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/*
 * Removes the parameters, which D names always have: the text in the last brackets, and all behind
 * it.
 */
static void take_parameters_out(char *name)
{
	const char *last = strrchr(name, ')');
	size_t at = last ? (size_t)(last - name) : 0;
	unsigned depth = last ? 1 : 0;

	while (at && depth) {
		at--;
		depth += name[at] == ')';
		depth -= name[at] == '(';
	}
	/* Brackets behind a '!' contain template arguments. */
	if (at && name[at - 1] != '!')
		name[at] = '\0';
}

/* Returns a D name with "::" for each '.'. The caller frees it. */
static char *with_colons(const char *name)
{
	char *made = xmalloc(2 * strlen(name) + 1);
	char *to = made;

	for (; *name; name++) {
		if (*name == '.')
			*to++ = ':';
		*to++ = *name == '.' ? ':' : *name;
	}
	*to = '\0';
	return made;
}

/*
 * Returns the source-level name, with or without parameters, or NULL if the symbol has none. The
 * caller frees it.
 */
static char *source_form(const char *symbol, bool parameters)
{
	_cleanup_free_ char *name = parameters ? demangle_with_parameters(symbol)
					       : demangle(symbol);

	if (!name || strncmp(symbol, "_D", 2) != 0)
		return take_ptr(name);
	if (!parameters)
		take_parameters_out(name);
	return with_colons(name);
}

bool source_name_matches(const struct source_name *source, const char *symbol,
			 bool (*fits)(const void *context, const char *name), const void *context)
{
	if (!may_match(source, symbol))
		return false;
	_cleanup_free_ char *name = source_form(symbol, false);

	if (!name)
		return false;
	if (fits(context, name))
		return true;
	if (source->parameters) {
		_cleanup_free_ char *whole = source_form(symbol, true);

		if (whole && fits(context, whole))
			return true;
	}
	if (source->arguments)
		return false;
	take_trait_out(name);
	take_arguments_out(name);
	return fits(context, name);
}
