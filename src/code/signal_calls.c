/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See signal_calls.h.
 *
 * Such a call loads the number of the system call into a register and enters the kernel a few
 * instructions later. The code is searched for the load at every byte, which finds two dozen places
 * in a megabyte. A breakpoint is to be written on the instruction that enters the kernel, so the
 * search must know for certain where instructions begin. That is known only when a function is
 * decoded from its beginning. So the function around each place is looked up in .eh_frame and
 * decoded up to there. Both instructions must be met on the way, with no branch between them.
 * Functions that have no entry in .eh_frame, or cannot be decoded, are left out.
 *
 * Compilers put jump tables between functions, if they put them into code at all. Hand-written code
 * may have data inside a function, behind a branch. Decoding goes wrong behind such data but gets
 * back in step after a few instructions, and libc has no hand-written system calls next to data.
 *
 * The file may be damaged or made to mislead, so all loops and sizes are bounded.
 */
#include "code/signal_calls.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "code/relocate.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "unwind/eh_frame.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 256 << 10, /* the most that elf_file_read() reads at once */
	LOAD = 5,	   /* bytes of the load: opcode and number */
	NEAR = 64,	   /* bytes behind the load within which the kernel is entered */
	LOADS_MAX = 1024,
	CODE_MAX = 64 << 20,
	FUNCTION_MAX = 64 << 10,
	DECODED_MAX = 1 << 20
};

struct search {
	struct elf_file *file;
	struct decoder *decoder;
	/* the instruction that loads the number of each call */
	uint8_t loads_of[SIGNAL_CALLS][LOAD];
	struct vec loads; /* uint64_t: addresses of possible loads, ascending */
	struct vec found; /* struct signal_call_site */
	size_t decoded;	  /* in bytes */
};

/*
 * Returns the call whose number the instruction at `code` loads, or SIGNAL_CALLS if there is none.
 */
static enum signal_call load_at(const struct search *search, const uint8_t *code)
{
	enum signal_call call = 0;

	while (call < SIGNAL_CALLS && memcmp(code, search->loads_of[call], LOAD) != 0)
		call++;
	return call;
}

/* Returns the instruction that enters the kernel, if `code` begins with one, or NULL. */
static const struct insn_bytes *entry_at(const struct arch *arch, const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < sizeof arch->syscall_insns / sizeof *arch->syscall_insns; i++) {
		const struct insn_bytes *insn = &arch->syscall_insns[i];

		if (insn->length && insn->length <= size &&
		    !memcmp(code, insn->bytes, insn->length))
			return insn;
	}
	return NULL;
}

static bool has_entry(const struct arch *arch, const uint8_t *code, size_t size)
{
	for (size_t at = 0; at < size && at < NEAR; at++)
		if (entry_at(arch, code + at, size - at))
			return true;
	return false;
}

static void search_piece(struct search *search, const uint8_t *code, size_t size, uint64_t address)
{
	const uint8_t *at = code, *end = code + size;
	uint8_t opcode = search->file->arch->load_number_opcode;

	while (end - at >= LOAD && (at = memchr(at, opcode, (size_t)(end - at) - LOAD + 1))) {
		uint64_t place = address + (uint64_t)(at - code);
		const uint64_t *last = search->loads.count
					       ? vec_at(&search->loads, search->loads.count - 1)
					       : NULL;

		if (load_at(search, at) != SIGNAL_CALLS &&
		    has_entry(search->file->arch, at, (size_t)(end - at)) &&
		    (!last || *last < place) && search->loads.count < LOADS_MAX)
			vec_push(&search->loads, &place);
		at++;
	}
}

static void search_segment(struct search *search, const struct elf_segment *segment)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE);
	uint64_t size = segment->file_size < CODE_MAX ? segment->file_size : CODE_MAX;

	for (uint64_t at = 0; at < size; at += PIECE - 2 * NEAR) {
		size_t length = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (!elf_file_read(search->file, segment->file_offset + at, piece, length))
			return;
		search_piece(search, piece, length, segment->address + at);
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* mov $how, %register */
static bool loads_how(const struct arch *arch, const uint8_t *code, size_t length)
{
	return length == LOAD && code[0] == arch->load_first_opcode && code[1] <= SIG_SETMASK &&
	       !code[2] && !code[3] && !code[4];
}

/* xor %register, %register */
static bool clears_how(const struct arch *arch, const uint8_t *code, size_t length)
{
	unsigned number = arch->load_first_opcode & 7U;

	return length == 2 && (code[0] == 0x31 || code[0] == 0x33) &&
	       code[1] == (0xc0 | number << 3 | number);
}

/* Decodes the first `end` bytes of a function. */
static void decode(struct search *search, const uint8_t *code, size_t size, size_t end,
		   uint64_t address)
{
	const struct arch *arch = search->file->arch;
	enum signal_call loaded = SIGNAL_CALLS;
	bool opens = false;

	for (size_t at = 0; at < size && at < end;) {
		const struct insn_bytes *entry = entry_at(arch, code + at, size - at);
		struct displaced insn = {.length = entry ? entry->length : 0};

		if (entry && loaded != SIGNAL_CALLS) {
			struct signal_call_site site = {address + at, address, loaded,
							loaded == SIGNAL_CALL_MASK && opens};

			vec_push(&search->found, &site);
		}
		if (!entry &&
		    (arch->displace(search->decoder, code + at, size - at, address + at, &insn) ||
		     !insn.length))
			return;
		bool passes = !entry && (insn.kind == DISPLACED_COPY || insn.action == ACTION_SKIP);

		if (loads_how(arch, code + at, insn.length))
			opens = code[at + 1] != SIG_BLOCK;
		else if (clears_how(arch, code + at, insn.length))
			opens = false;
		if (!passes)
			loaded = SIGNAL_CALLS;
		if (insn.length == LOAD && load_at(search, code + at) != SIGNAL_CALLS)
			loaded = load_at(search, code + at);
		at += insn.length;
	}
}

/*
 * Returns how many bytes of the function have to be decoded: up to NEAR bytes behind the last load
 * in it, or 0 if it has no load.
 */
static size_t needed(const struct search *search, const struct eh_function *function)
{
	size_t end = 0;

	for (size_t i = 0; i < search->loads.count; i++) {
		uint64_t load = *(const uint64_t *)vec_at(&search->loads, i);

		if (load >= function->start && load - function->start < function->size)
			end = (size_t)(load - function->start) + LOAD + NEAR;
	}
	return end;
}

static void visit_function(void *context, const struct eh_function *function)
{
	struct search *search = context;
	size_t end = function->size <= FUNCTION_MAX ? needed(search, function) : 0;

	if (!end || search->decoded > DECODED_MAX)
		return;
	_cleanup_free_ uint8_t *code = xmalloc((size_t)function->size);

	search->decoded += (size_t)function->size;
	if (elf_read(search->file, function->start, code, (size_t)function->size))
		decode(search, code, (size_t)function->size, end, function->start);
}

static int compare_sites(const void *left, const void *right)
{
	const struct signal_call_site *a = left, *b = right;

	return compare_addresses(&a->address, &b->address);
}

static void find(struct search *search)
{
	const struct elf_file *file = search->file;
	const uint32_t numbers[SIGNAL_CALLS] = {
		[SIGNAL_CALL_MASK] = (uint32_t)file->arch->sys_rt_sigprocmask,
		[SIGNAL_CALL_ACTION] = (uint32_t)file->arch->sys_rt_sigaction};

	for (int i = 0; i < SIGNAL_CALLS; i++) {
		search->loads_of[i][0] = file->arch->load_number_opcode;
		memcpy(search->loads_of[i] + 1, &numbers[i], sizeof numbers[i]);
	}
	for (size_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].flags & PF_X)
			search_segment(search, &file->segments[i]);
	if (search->loads.count)
		eh_frame_for_each(search->file, visit_function, search);
	vec_deinit(&search->loads);
	if (search->found.count)
		qsort(search->found.items, search->found.count, search->found.item_size,
		      compare_sites);
}

const struct signal_call_site *signal_calls(struct elf_file *file, struct decoder *decoder,
					    size_t *count)
{
	if (!file->signal_calls_read) {
		struct search search = {.file = file,
					.decoder = decoder,
					.loads = VEC_OF(uint64_t),
					.found = VEC_OF(struct signal_call_site)};

		file->signal_calls_read = true;
		find(&search);
		file->signal_calls = search.found.items;
		file->signal_call_count = search.found.count;
	}
	*count = file->signal_call_count;
	return file->signal_calls;
}
