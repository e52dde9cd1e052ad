/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libcurl that the tracer uses: see libcurl.c. */
#ifndef TRACER_SINK_OTLP_LIBCURL_H
#define TRACER_SINK_OTLP_LIBCURL_H

#ifdef HAVE_CURL

/* Its macros that check the types of arguments are for calls by name. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* Each has the name that it has in libcurl behind "curl_". */
struct libcurl {
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&curl_easy_setopt) easy_setopt;
	__typeof__(&curl_easy_perform) easy_perform;
	__typeof__(&curl_easy_getinfo) easy_getinfo;
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
	__typeof__(&curl_free) free;
	__typeof__(&curl_url) url;
	__typeof__(&curl_url_set) url_set;
	__typeof__(&curl_url_get) url_get;
	__typeof__(&curl_url_cleanup) url_cleanup;
};

/*
 * Loads libcurl, which stays loaded. Returns 0; or -ENOENT if it is not there or lacks a function,
 * which has been reported.
 */
int libcurl_load(struct libcurl *curl);

#endif
#endif
