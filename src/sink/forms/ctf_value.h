/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments and results as fields of CTF: see ctf_value.c. */
#ifndef TRACER_SINK_FORMS_CTF_VALUE_H
#define TRACER_SINK_FORMS_CTF_VALUE_H

#include "sink/forms/ctf_metadata.h"
#include "sink/render/render.h"

/* Which values of a call an event has: parameters from `first` up to `last`, and the result. */
struct ctf_values {
	unsigned first, last;
	bool has_result;
};

/* Returns those that are known in a phase of a call. */
struct ctf_values ctf_values_of(const struct prototype *prototype, enum ctf_phase phase);

/* Declares a field for each of these values. */
void ctf_values_declare(struct ctf_metadata *metadata, const struct prototype *prototype,
			struct ctf_values values);

/*
 * Puts the values of parameters, which are the cursor's next ones, or the result, in the form in
 * which they are declared. Return false if the record has others than the prototype says, or what
 * the form cannot express: then what was put is of no use.
 */
bool ctf_values_put(struct outbuf *out, const struct prototype *prototype, unsigned first,
		    unsigned last, struct value_cursor *cursor,
		    const struct render_options *options);
bool ctf_values_put_result(struct outbuf *out, const struct prototype *prototype,
			   struct value_cursor *cursor, const struct render_options *options);
/* Puts -1 in the place of the result: the system call has failed. */
void ctf_values_put_failure(struct outbuf *out, const struct prototype *prototype);

/* Puts a text, which may be NULL and may hold anything, as a string. */
void ctf_value_put_text(struct outbuf *out, const char *text);
/* Ends a string that was put into `out` as text, without NULs. */
void ctf_value_end_text(struct outbuf *out);

#endif
