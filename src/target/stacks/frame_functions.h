/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the functions of a space's frames: prototypes, and where arguments are. See
 * frame_functions.c.
 */
#ifndef TRACER_TARGET_STACKS_FRAME_FUNCTIONS_H
#define TRACER_TARGET_STACKS_FRAME_FUNCTIONS_H

#include "code/argument_flow.h"
#include "target/target_state.h"
#include "unwind/unwind_walk.h"

/* modules->functions. NULL until the first question. */
struct frame_functions;
/* Frees what is known of the functions of a space. */
void frame_functions_forget(struct modules *modules);

/* A function with a prototype. */
struct known_function {
	struct elf_file *file; /* with a reference */
	uint64_t bias;
	/* Its prototype, all of whose parameters are captured at the entry; NULL: none is known. */
	struct prototype *prototype;
	struct parameter *parameters; /* the prototype's */
	bool has_more;		      /* arguments of a format follow, which are not known */
	struct capture_plan *plan;    /* of all parameters */
	char *name;		      /* as it is shown */
};

/* The code of a frame. */
struct frame_code {
	struct elf_file *file; /* with a reference */
	uint64_t bias;
	uint64_t start;		   /* of the function */
	bool is_asked, has_places; /* of the analysis; it was made; it has found something */
	struct argument_places places;
	bool is_called_known;
	uint64_t called; /* see frame_functions_called() */
};

/*
 * Returns the function that begins at an address of the space and has a prototype from a file for
 * its library, or from an -F file, and is called by the psABI; NULL: none does. It is valid until
 * the next call.
 */
const struct known_function *frame_functions_at(struct target *target, struct thread *thread,
						uint64_t address);
/* Returns the address of the function that contains the frame's pc, or 0. */
uint64_t frame_functions_start(struct thread *thread, const struct unwind_frame *frame);
/*
 * Stores where arguments are in a frame. Returns false if that is not known, or if the frame is not
 * as the analysis of its function says.
 */
bool frame_functions_places(struct target *target, struct thread *thread,
			    const struct unwind_frame *frame, struct argument_places *places);
/*
 * Returns the function that the call in front of the frame's pc has led to; 0: that is not known.
 * It is looked for once for each pc.
 */
uint64_t frame_functions_called(const struct target *target, struct thread *thread,
				const struct unwind_frame *frame);
/* Makes a plan to capture a prototype's parameters. */
struct capture_plan *frame_functions_plan(const struct target *target, const struct thread *thread,
					  const struct prototype *prototype);

/* The value of an address, for a parameter that is shown as no more than that. */
extern const struct type frame_functions_address;

#endif
