/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State that the files of src/session share. */
#ifndef TRACER_SESSION_SESSION_STATE_H
#define TRACER_SESSION_SESSION_STATE_H

#include "session/emission.h"
#include "session/session.h"
#include "sink/render/render.h"
#include "target/target_state.h"
#include "tracee/identity.h"
#include "tracee/interrupts.h"

/* --interval: see intervals.c. */
struct intervals {
	uint64_t next;	 /* clock_now() at which the interval ends */
	unsigned tables; /* how many intervals have ended */
};

struct live_view;
struct top;

struct session {
	struct target target;
	struct interrupts *interrupts;
	struct output_options output; /* options->output, and a wait that signals end */
	bool is_leaving;	      /* a signal for the tracer has made it detach */
	bool has_left;		      /* the same, and it stays so */
	struct emission emission;
	struct intervals intervals;
	struct top *top;	     /* --top: what is shown; the sink's */
	struct live_view *live_view; /* --top: see live_view.c; NULL: none */
	struct code_names code;	     /* for the sink: module_code_name() */
	struct identity identity;    /* -u */
	struct map unprivileged;     /* programs reported to run without their privileges */
	int stop_wanted;   /* signal to stop by when the command has stopped: job_control.c */
	bool recovering;   /* this is the guardian, after the tracer's death (recover.c) */
	size_t unattached; /* processes that could not be attached to */
	struct session_result *result;
};

#endif
