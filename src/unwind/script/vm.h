/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtual machine (VM) in a process: a description and what it names there. Finds the script
 * frames of the VM's threads, and names them.
 *
 *     script_vm_bind()      once for each module that may be a VM
 *     script_vm_walk()      for each stack: words, which are cheap to find, compare and keep
 *     script_vm_name()      for frames whose words are new: file, function, line
 *
 * All of it is read from memory that may change meanwhile and may hold anything. If the thread does
 * not stand still, frames may be wrong: the caller walks twice and compares.
 */
#ifndef TRACER_UNWIND_SCRIPT_VM_H
#define TRACER_UNWIND_SCRIPT_VM_H

#include "base/memory.h"
#include "base/strbuf.h"
#include "unwind/script/description.h"
#include "unwind/script/executor.h"
#include "unwind/script/library.h"
#include "unwind/script/symbols.h"

/* A frame as the user knows it. */
struct script_frame {
	const char *language;
	const char *file;     /* as the VM has it; NULL: not known */
	const char *function; /* the qualified name where the VM has one; NULL: not known */
	unsigned line;	      /* 0: not known */
	bool is_entry;	      /* entered from C: see struct raw_frame */
};

/* The thread whose frames are asked for. */
struct script_thread {
	uint64_t thread_pointer; /* base of fs on x86_64; 0: not known */
	uint64_t tid;		 /* in the pid namespace of the process; 0: not known */
};

struct script_vm;

/*
 * Looks for a VM in a module of a process. Returns 0 and the VM; -ENOENT if the module is none that
 * any description knows; -ENOTSUP if it is one of a version without description. *version (may be
 * NULL) then becomes a text such as "Python 3.15" or "this version of Perl"; it stays empty if the
 * VM is not set up so far, and is to be looked for again. `library` and `memory` must outlive the
 * VM, `symbols` need not.
 */
int script_vm_bind(const struct script_library *library, const struct script_symbols *symbols,
		   const struct memory_source *memory, struct script_vm **vm,
		   struct strbuf *version);
void script_vm_destroy(struct script_vm *vm); /* NULL is allowed */

const struct script_description *script_vm_description(const struct script_vm *vm);

/*
 * Finds the frames of a thread, the innermost first, at most `capacity`. *count: how many. Nothing
 * is known of a thread that the VM does not know: then there are none.
 */
enum script_end script_vm_walk(struct script_vm *vm, const struct script_thread *thread,
			       struct raw_frame *frames, size_t capacity, size_t *count);

/*
 * While it is frozen, the process does not change its memory, or what it changes does not matter:
 * memory that was read for one walk is used for the next.
 */
void script_vm_freeze(struct script_vm *vm, bool frozen);

/*
 * Names a frame that was found by script_vm_walk(). Names of the last some thousand frames are
 * kept. The texts are valid until the next call.
 */
struct script_frame script_vm_name(struct script_vm *vm, const struct raw_frame *raw);

/* Returns the walk, and the values that it needs: what script_vm_walk() runs. */
const struct script_program *script_vm_program(const struct script_vm *vm);
const uint64_t *script_vm_values(const struct script_vm *vm, unsigned *count);

/*
 * Stores an address in the C function that runs the frame. Returns false if the description does
 * not tell one.
 */
bool script_vm_code(const struct script_vm *vm, const struct raw_frame *raw, uint64_t *address);

/* Returns how many pages of the process have been read. */
uint64_t script_vm_pages_read(const struct script_vm *vm);

#endif
