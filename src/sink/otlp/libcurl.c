/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of libcurl that the tracer uses.
 *
 * libcurl needs some thirty other libraries (TLS, name services, Kerberos …). If the tracer was
 * linked with it, each start of the tracer would load them, which takes longer than all else that
 * it does then, and most runs send nothing. So libcurl is loaded when --otlp is given. Its header
 * is needed to build the tracer with it; the library that the header belongs to is found by
 * configure.
 */
#include "sink/otlp/libcurl.h"

#ifdef HAVE_CURL

#include "base/diag.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

int libcurl_load(struct libcurl *curl)
{
	const struct {
		const char *name;
		void *place;
	} functions[] = {
		{"curl_global_init", &curl->global_init},
		{"curl_easy_init", &curl->easy_init},
		{"curl_easy_setopt", &curl->easy_setopt},
		{"curl_easy_perform", &curl->easy_perform},
		{"curl_easy_getinfo", &curl->easy_getinfo},
		{"curl_easy_strerror", &curl->easy_strerror},
		{"curl_easy_cleanup", &curl->easy_cleanup},
		{"curl_slist_append", &curl->slist_append},
		{"curl_slist_free_all", &curl->slist_free_all},
		{"curl_free", &curl->free},
		{"curl_url", &curl->url},
		{"curl_url_set", &curl->url_set},
		{"curl_url_get", &curl->url_get},
		{"curl_url_cleanup", &curl->url_cleanup},
	};
	void *library = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		diag("--otlp needs libcurl: %s", dlerror());
		return -ENOENT;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function) {
			diag("--otlp: %s has no %s()", CURL_LIBRARY, functions[i].name);
			return -ENOENT;
		}
		memcpy(functions[i].place, &function, sizeof function);
	}
	return 0;
}

#endif
