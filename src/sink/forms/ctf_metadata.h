/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metadata of a CTF trace, which say what its events are: see ctf_metadata.c. */
#ifndef TRACER_SINK_FORMS_CTF_METADATA_H
#define TRACER_SINK_FORMS_CTF_METADATA_H

#include "base/strbuf.h"
#include "sink/forms/ctf_stream.h"

struct ctf_metadata {
	int directory;	    /* not owned */
	struct strbuf text; /* in TSDL */
	bool is_dirty;	    /* the file does not have all of it */
};

/* The classes of events that every trace has. Those of functions have numbers behind them. */
enum ctf_common {
	CTF_ENTRY, /* of a call whose values are not as its function's class says */
	CTF_RETURN,
	CTF_CALL, /* both in one */
	CTF_UNWOUND,
	CTF_RUNNING,
	CTF_SIGNAL,
	CTF_EXIT,
	CTF_KILLED,
	CTF_EXEC,
	CTF_UNTRACED,
	CTF_COMMON /* number of them */
};

/* Which part of a call an event is of: they have different contexts. */
enum ctf_phase { PHASE_ENTRY, PHASE_RETURN, PHASE_CALL, PHASES };

/*
 * Begins with what stands in front of the functions' classes. Nothing is written yet. `has_lines`:
 * entries have the line of the script.
 */
void ctf_metadata_init(struct ctf_metadata *metadata, int directory,
		       const unsigned char uuid[CTF_UUID], bool has_lines);
void ctf_metadata_deinit(struct ctf_metadata *metadata);

/*
 * Begin and end the class of a phase of a function's calls; in between, its fields. `name` may hold
 * anything. `is_system`: it is a system call, whose returns have an errno.
 */
void ctf_metadata_begin(struct ctf_metadata *metadata, unsigned id, const char *name,
			enum ctf_phase phase, bool is_system);
/* `type`: of TSDL; `name` an identifier. */
void ctf_metadata_field(struct ctf_metadata *metadata, const char *type, const char *name);
void ctf_metadata_end(struct ctf_metadata *metadata);

/* Writes the file, if it lacks something. Returns 0 or -errno. */
int ctf_metadata_write(struct ctf_metadata *metadata);

#endif
