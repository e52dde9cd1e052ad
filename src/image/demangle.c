/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names are the tracee's. A few dozen bytes of mangled C++ can describe gigabytes of readable name
 * (each substitution may double what the last one stood for), so the text is taken piece by piece
 * through libiberty's callbacks and the work is abandoned when it gets too long. The callback
 * interface exists for callers that cannot allocate: the C++ demangler keeps everything on the
 * stack, so jumping out of it loses nothing.
 *
 * Parameters are left out, as ltrace does; D has no form without them.
 */
#include "image/demangle.h"

#include "base/strbuf.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MANGLED_MAX = 16384, READABLE_MAX = 65536 };

struct demangling {
	struct strbuf text;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t length, void *context)
{
	struct demangling *demangling = context;

	if (length > READABLE_MAX - demangling->text.length)
		longjmp(demangling->too_long, 1);
	strbuf_add_bytes(&demangling->text, piece, length);
}

typedef int callback_demangler(const char *name, int options, demangle_callbackref callback,
			       void *context);

/* The readable name, or NULL. */
static char *run(callback_demangler *demangler, const char *name, struct demangling *demangling)
{
	if (!setjmp(demangling->too_long) &&
	    demangler(name, DMGL_NO_OPTS, take_piece, demangling) && demangling->text.length)
		return demangling->text.text;
	strbuf_deinit(&demangling->text);
	return NULL;
}

char *demangle(const char *name)
{
	struct demangling demangling = {.text = {0}};
	char *readable = NULL;

	if (strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	/*
	 * The older form of Rust names is also valid C++, with a hash that only Rust takes off.
	 */
	if (!strncmp(name, "_R", 2) || !strncmp(name, "_ZN", 3))
		readable = run(rust_demangle_callback, name, &demangling);
	if (!readable && !strncmp(name, "_Z", 2))
		readable = run(cplus_demangle_v3_callback, name, &demangling);
	if (!readable && !strncmp(name, "_D", 2))
		readable = dlang_demangle(name, DMGL_NO_OPTS);
	return readable;
}
