/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host and process, as OpenTelemetry describes what spans come from.
 *
 * The names of the attributes are those of OpenTelemetry's semantic conventions for resources. The
 * environment of the tracer may add some and replace any, as the specification of OpenTelemetry's
 * SDKs says: OTEL_RESOURCE_ATTRIBUTES has a list in the form of W3C Baggage, OTEL_SERVICE_NAME the
 * name of the service. A service that nobody has named has the name of its process.
 */
#include "sink/otlp/otlp_resource.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "sink/forms/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by make from configure.ac; missing for objects compiled by hand. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

/* ------------------------------------------------------------------ the environment */

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) % 16 : -1;
}

/* Replaces each %XX by its byte. Returns false if there is another percent sign, or a NUL. */
static bool decode(char *text)
{
	char *end = text;

	for (const char *at = text; *at; at++) {
		if (*at != '%') {
			*end++ = *at;
			continue;
		}
		const int high = digit(at[1]), low = high < 0 ? -1 : digit(at[2]);

		if (low < 0 || !(high || low))
			return false;
		*end++ = (char)(high << 4 | low);
		at += 2;
	}
	*end = '\0';
	return true;
}

/* Copies a text without the blanks around it. */
static char *trimmed(const char *text, size_t length)
{
	for (; length && (*text == ' ' || *text == '\t'); length--)
		text++;
	while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return xstrndup(text, length);
}

static bool parse_pair(const char *text, size_t length, struct vec *pairs)
{
	const char *sign = memchr(text, '=', length);
	struct otlp_pair pair;

	if (!sign)
		return false;
	pair.key = trimmed(text, (size_t)(sign - text));
	pair.value = trimmed(sign + 1, length - (size_t)(sign + 1 - text));
	const bool is_right = *pair.key && decode(pair.value);

	vec_push(pairs, &pair);
	return is_right;
}

int otlp_resource_parse(const char *text, struct vec *pairs)
{
	struct vec parsed = VEC_OF(struct otlp_pair);
	bool is_right = true;

	while (*text && is_right) {
		const size_t length = strcspn(text, ",");

		if (length)
			is_right = parse_pair(text, length, &parsed);
		text += length + (text[length] == ',');
	}
	if (!is_right) {
		otlp_resource_free(&parsed);
		return -EINVAL;
	}
	for (size_t i = 0; i < parsed.count; i++)
		vec_push(pairs, vec_at(&parsed, i));
	vec_deinit(&parsed);
	return 0;
}

void otlp_resource_free(struct vec *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		struct otlp_pair *pair = vec_at(pairs, i);

		free(pair->key);
		free(pair->value);
	}
	vec_deinit(pairs);
}

/* Returns the last pair with the key, among the first `count` ones; or NULL. */
static struct otlp_pair *find(const struct vec *pairs, size_t count, const char *key)
{
	for (size_t i = count; i-- > 0;) {
		struct otlp_pair *pair = vec_at(pairs, i);

		if (!strcmp(pair->key, key))
			return pair;
	}
	return NULL;
}

/* A key that is there twice has its last value. */
static void remove_repeated(struct vec *pairs)
{
	for (size_t i = pairs->count; i-- > 0;) {
		struct otlp_pair *pair = vec_at(pairs, i);
		struct otlp_pair *before = find(pairs, i, pair->key);

		if (!before)
			continue;
		free(before->value);
		before->value = pair->value;
		free(pair->key);
		vec_remove(pairs, i);
	}
}

void otlp_resource_init(struct otlp_resource *resource)
{
	const char *attributes = getenv("OTEL_RESOURCE_ATTRIBUTES");
	const char *service = getenv("OTEL_SERVICE_NAME");

	vec_init(&resource->pairs, sizeof(struct otlp_pair));
	if (attributes && otlp_resource_parse(attributes, &resource->pairs))
		diag("OTEL_RESOURCE_ATTRIBUTES is not KEY=VALUE,KEY=VALUE: nothing of it is used");
	if (service && *service)
		vec_push(&resource->pairs,
			 &(struct otlp_pair){xstrdup("service.name"), xstrdup(service)});
	remove_repeated(&resource->pairs);
	if (gethostname(resource->host, sizeof resource->host))
		resource->host[0] = '\0';
	resource->host[sizeof resource->host - 1] = '\0';
}

void otlp_resource_deinit(struct otlp_resource *resource)
{
	otlp_resource_free(&resource->pairs);
}

/* ------------------------------------------------------------------ JSON */

static void put_pair(struct outbuf *out, const char *key, const char *value)
{
	outbuf_text(out, out->text[out->length - 1] == '[' ? "{\"key\":" : ",{\"key\":");
	json_text_put_name(out, key);
	outbuf_text(out, ",\"value\":{\"stringValue\":");
	json_text_put_name(out, value);
	outbuf_text(out, "}}");
}

static void put_own(struct outbuf *out, const struct otlp_resource *resource, const char *key,
		    const char *value)
{
	if (*value && !find(&resource->pairs, resource->pairs.count, key))
		put_pair(out, key, value);
}

void otlp_resource_put(struct outbuf *out, const struct otlp_resource *resource, int32_t pid,
		       const char *name)
{
	outbuf_text(out, "{\"attributes\":[");
	for (size_t i = 0; i < resource->pairs.count; i++) {
		const struct otlp_pair *pair = vec_at(&resource->pairs, i);

		put_pair(out, pair->key, pair->value);
	}
	put_own(out, resource, "service.name", *name ? name : "unknown_service");
	put_own(out, resource, "host.name", resource->host);
	put_own(out, resource, "os.type", "linux");
	put_own(out, resource, "process.executable.name", name);
	put_own(out, resource, "telemetry.sdk.name", "tracer");
	put_own(out, resource, "telemetry.sdk.language", "c");
	put_own(out, resource, "telemetry.sdk.version", PACKAGE_VERSION);
	if (!find(&resource->pairs, resource->pairs.count, "process.pid")) {
		outbuf_text(out, ",{\"key\":\"process.pid\",\"value\":{\"intValue\":\"");
		outbuf_signed(out, pid);
		outbuf_text(out, "\"}}");
	}
	outbuf_text(out, "]}");
}
