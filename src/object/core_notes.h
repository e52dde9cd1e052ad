/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of a core dump: its threads, and which files were mapped: see core_notes.c. */
#ifndef TRACER_OBJECT_CORE_NOTES_H
#define TRACER_OBJECT_CORE_NOTES_H

#include "base/vec.h"
#include "object/elf.h"

enum { CORE_NAME_MAX = 16 };

struct core_thread {
	int32_t tid;
	/* The kernel stores what ended the process with each thread; 0: there was no signal. */
	int signal;
	bool has_fault; /* its signal is a fault at an address, which is known */
	uint64_t fault;
	struct regs regs; /* without `host` */
};

/* A mapping of a file. */
struct core_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	size_t file;	 /* index in core_notes.paths */
};

struct core_notes {
	struct vec threads;  /* struct core_thread, in the order of the core dump */
	struct vec mappings; /* struct core_mapping, by address; none overlap */
	struct vec paths;    /* const char *: the files that are mapped; they live in `text` */
	char *text;
	bool has_uid;
	uint32_t uid;		      /* the real user that it ran as */
	int32_t pid;		      /* 0: not known */
	char name[CORE_NAME_MAX + 1]; /* the kernel's (comm); "": not known */
	uint64_t vdso, entry;	      /* addresses of the auxiliary vector; 0: not known */
};

void core_notes_init(struct core_notes *notes);
void core_notes_deinit(struct core_notes *notes);
/*
 * Adds what is in the notes at file offset `offset`, of `size` bytes. Reads them as far as they are
 * in the file, and make sense.
 */
void core_notes_read(struct core_notes *notes, const struct elf_file *file, uint64_t offset,
		     uint64_t size);

#endif
