/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of functions in the trace.
 *
 * With -C a C++ function has its name in the source, ns::f, without parameters, because the line
 * shows the arguments themselves. Overloads would all look alike, and be one row in the table of
 * -c. So where traced functions of one module share a name, and differ in their parameters, each is
 * shown with its parameters: ns::f(int), ns::f(double) const. Functions with the same parameters
 * keep the short name: the two variants of a constructor (C1, C2) are one function in the source.
 *
 * The shared names are known once the filters have been matched with a module, before the first of
 * its functions is shown. Only with -l may more functions of a module be traced later, when it can
 * call another library; lines shown by then keep their names.
 */
#include "target/shown_names.h"

#include "base/xalloc.h"
#include "object/demangle.h"
#include "target/target_state.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_shared(const struct module *module, const char *name)
{
	const struct vec *shared = &module->shared_names;

	return shared->count &&
	       bsearch(&name, shared->items, shared->count, sizeof name, compare_names) != NULL;
}

/* A C++ function that is traced. */
struct named {
	char *name;
	const char *symbol;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;
	const int names = strcmp(x->name, y->name);

	return names ? names : strcmp(x->symbol, y->symbol);
}

static void collect(const struct vec *found, struct vec *named)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct match *match = vec_at(found, i);
		struct named one = {.symbol = match->name};

		if (!strncmp(match->name, "_Z", 2))
			one.name = demangle(match->name);
		if (one.name)
			vec_push(named, &one);
	}
	if (named->count)
		qsort(named->items, named->count, sizeof(struct named), compare_named);
}

static bool have_other_parameters(const struct named *a, const struct named *b)
{
	char *x = demangle_with_parameters(a->symbol);
	char *y = demangle_with_parameters(b->symbol);
	const bool differ = x && y && strcmp(x, y) != 0;

	free(x);
	free(y);
	return differ;
}

/* Adds to `shared` copies of names that several functions share and that were not yet shared. */
static void collect_shared(const struct module *module, struct vec *all, struct vec *shared)
{
	struct named *named = all->items;
	const char *last = "";

	for (size_t i = 0; i + 1 < all->count; i++) {
		if (!strcmp(named[i].name, last) || strcmp(named[i].name, named[i + 1].name) != 0 ||
		    !have_other_parameters(&named[i], &named[i + 1]) ||
		    is_shared(module, named[i].name))
			continue;
		last = xstrdup(named[i].name);
		vec_push(shared, &last);
	}
}

void shown_names_note(const struct target *target, struct module *module, const struct vec *found)
{
	struct vec all = VEC_OF(struct named);
	struct vec fresh = VEC_OF(char *);

	if (!target->options->demangle)
		return;
	collect(found, &all);
	collect_shared(module, &all, &fresh);
	for (size_t i = 0; i < all.count; i++)
		free(((struct named *)vec_at(&all, i))->name);
	vec_deinit(&all);
	for (size_t i = 0; i < fresh.count; i++)
		vec_push(&module->shared_names, vec_at(&fresh, i));
	if (fresh.count)
		qsort(module->shared_names.items, module->shared_names.count, sizeof(char *),
		      compare_names);
	vec_deinit(&fresh);
}

void shown_names_deinit(struct module *module)
{
	for (size_t i = 0; i < module->shared_names.count; i++)
		free(*(char **)vec_at(&module->shared_names, i));
	vec_deinit(&module->shared_names);
}

char *shown_names_function(const struct target *target, const struct module *module,
			   const char *symbol)
{
	char *name = target->options->demangle ? demangle(symbol) : NULL;
	char *whole = name && module && is_shared(module, name) ? demangle_with_parameters(symbol)
								: NULL;

	if (!whole)
		return name ? name : xstrdup(symbol);
	free(name);
	return whole;
}
