/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text by which calls are grouped. It is made of what the traced process has, so nothing in it
 * is escaped; but a NUL would end it when it is shown, and becomes a blank.
 */
#include "sink/call_key.h"

void call_key_add(struct strbuf *key, struct call_values *values, const struct vec *keys)
{
	for (size_t i = 0; keys && i < keys->count; i++) {
		const struct expression_value value =
			call_values_get(values, *(struct expression **)vec_at(keys, i));

		strbuf_add(key, i ? ", " : "");
		call_values_add(key, &value);
	}
	if (!keys || !keys->count)
		strbuf_add(key, values->probe ? values->probe->display : "?");
	strbuf_add(key, ""); /* so that there is a text */
	for (size_t i = 0; i < key->length; i++)
		if (!key->text[i])
			key->text[i] = ' ';
}
