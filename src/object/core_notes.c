/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a core dump (core(5), elf(5), "Notes").
 *
 * For each thread there is an NT_PRSTATUS, the one that was hit by the signal first; notes behind
 * it belong to that thread, such as NT_SIGINFO. The process as a whole has NT_PRPSINFO, NT_AUXV and
 * NT_FILE. gdb(1) writes the same notes in another order, with an NT_SIGINFO for each thread.
 *
 * A core dump may come from anywhere. Each note is read only if it is in the file as a whole and as
 * large as it has to be; each step through the notes goes forward.
 */
#include "object/core_notes.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_records.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	STATUS_SIGNAL = 12, /* offset of pr_cursig, 2 bytes */
	STATUS_MAX = 512,
	SIGINFO_CODE = 8, /* offset of si_code */
	SIGINFO_LEAST = 24,
	KERNEL_SI_KERNEL = 0x80, /* si_code: the kernel does not tell the address */
	AUXV_MAX = 4096
};

/* A note: its contents are `size` bytes at `offset` of the file. */
struct note {
	const struct elf_file *file;
	uint32_t type;
	uint64_t offset, size;
};

void core_notes_init(struct core_notes *notes)
{
	*notes = (struct core_notes){0};
	vec_init(&notes->threads, sizeof(struct core_thread));
	vec_init(&notes->mappings, sizeof(struct core_mapping));
	vec_init(&notes->paths, sizeof(const char *));
}

void core_notes_deinit(struct core_notes *notes)
{
	vec_deinit(&notes->threads);
	vec_deinit(&notes->mappings);
	vec_deinit(&notes->paths);
	free(notes->text);
}

/* All architectures are little-endian. */
static uint64_t get_word(const void *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static size_t word_of(const struct note *note)
{
	return note->file->arch->abi->word;
}

/* ------------------------------------------------------------------ threads */

static void get_registers(const struct arch *arch, const uint8_t *words, struct regs *regs)
{
	const struct core_layout *layout = &arch->core;
	const size_t word = arch->abi->word;

	for (unsigned i = 0; i < layout->general_count; i++)
		regs->r[i] = get_word(words + layout->general[i] * word, word);
	regs->pc = get_word(words + layout->pc * word, word);
	regs->flags = get_word(words + layout->flags * word, word);
	regs->syscall = get_word(words + layout->syscall * word, word);
	if (layout->fs_base)
		regs->fs_base = get_word(words + layout->fs_base * word, word);
	if (layout->gs_base)
		regs->gs_base = get_word(words + layout->gs_base * word, word);
}

static void read_status(struct core_notes *notes, const struct note *note)
{
	const struct arch *arch = note->file->arch;
	const size_t size = arch->core.status_size;
	uint8_t status[STATUS_MAX];

	if (note->size < size || size > sizeof status ||
	    !elf_file_read(note->file, note->offset, status, size))
		return;
	struct core_thread thread = {
		.tid = (int32_t)get_word(status + arch->core.tid, sizeof thread.tid),
		.signal = (int)get_word(status + STATUS_SIGNAL, sizeof(uint16_t))};

	get_registers(arch, status + arch->core.registers, &thread.regs);
	if (thread.tid > 0)
		vec_push(&notes->threads, &thread);
}

/* The kernel tells no address for a signal that a process has sent, and for some faults. */
static bool is_fault(int signal, int code)
{
	return (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE) &&
	       code > 0 && code != KERNEL_SI_KERNEL;
}

static void read_siginfo(const struct core_notes *notes, const struct note *note)
{
	struct core_thread *thread = vec_at(&notes->threads, notes->threads.count - 1);
	uint8_t info[SIGINFO_LEAST];

	if (note->size < sizeof info || !elf_file_read(note->file, note->offset, info, sizeof info))
		return;
	thread->has_fault = is_fault((int32_t)get_word(info, sizeof(int32_t)),
				     (int32_t)get_word(info + SIGINFO_CODE, sizeof(int32_t)));
	thread->fault = get_word(info + note->file->arch->core.fault, word_of(note));
}

/* ------------------------------------------------------------------ the process */

static void read_info(struct core_notes *notes, const struct note *note)
{
	const struct core_layout *layout = &note->file->arch->core;
	uint8_t info[UINT8_MAX];

	if (note->size < layout->info_size ||
	    !elf_file_read(note->file, note->offset, info, layout->info_size))
		return;
	notes->pid = (int32_t)get_word(info + layout->pid, sizeof notes->pid);
	notes->has_uid = true;
	notes->uid = (uint32_t)get_word(info + layout->uid, layout->uid_size);
	memcpy(notes->name, info + layout->name, CORE_NAME_MAX);
}

static void read_auxv(struct core_notes *notes, const struct note *note)
{
	const size_t word = word_of(note);
	const size_t size = note->size < AUXV_MAX ? note->size : AUXV_MAX;
	uint8_t bytes[AUXV_MAX];

	if (!elf_file_read(note->file, note->offset, bytes, size))
		return;
	for (size_t at = 0; at + 2 * word <= size; at += 2 * word) {
		const uint64_t value = get_word(bytes + at + word, word);

		switch (get_word(bytes + at, word)) {
		case AT_SYSINFO_EHDR:
			notes->vdso = value;
			break;
		case AT_ENTRY:
			notes->entry = value;
			break;
		}
	}
}

/* ------------------------------------------------------------------ mapped files */

static int compare_mappings(const void *left, const void *right)
{
	const struct core_mapping *one = left, *other = right;

	return (one->start > other->start) - (one->start < other->start);
}

/* Sorts the mappings, which the kernel has done already, and leaves out those that overlap. */
static void order_mappings(struct vec *mappings)
{
	struct core_mapping *all = mappings->items;
	size_t left = 0;

	if (mappings->count)
		qsort(all, mappings->count, sizeof *all, compare_mappings);
	for (size_t i = 0; i < mappings->count; i++)
		if (!left || all[i].start >= all[left - 1].end)
			all[left++] = all[i];
	mappings->count = left;
}

/* Returns the index of a path, which is often that of the mapping before. */
static size_t add_path(struct core_notes *notes, const char *path)
{
	const struct vec *paths = &notes->paths;

	if (!paths->count || strcmp(*(const char **)vec_at(paths, paths->count - 1), path) != 0)
		vec_push(&notes->paths, &path);
	return paths->count - 1;
}

/*
 * Count and page size, `count` times start, end and offset in pages, then as many paths with a NUL
 * behind each.
 */
static void read_files(struct core_notes *notes, const struct note *note)
{
	const size_t word = word_of(note), row = 3 * word;

	if (notes->text || note->size < 2 * word)
		return;
	char *text = notes->text = elf_file_load(note->file, note->offset, note->size);

	if (!text)
		return;
	const uint64_t count = get_word(text, word), page = get_word(text + word, word);

	if (count > (note->size - 2 * word) / row)
		return;
	const char *path = text + 2 * word + count * row, *end = text + note->size;

	/* elf_file_load() has put a NUL at the end. */
	for (uint64_t i = 0; i < count && path + strlen(path) < end;
	     i++, path += strlen(path) + 1) {
		const char *at = text + 2 * word + i * row;
		struct core_mapping mapping = {.start = get_word(at, word),
					       .end = get_word(at + word, word)};

		if (mapping.start >= mapping.end ||
		    __builtin_mul_overflow(get_word(at + 2 * word, word), page, &mapping.offset))
			continue;
		mapping.file = add_path(notes, path);
		vec_push(&notes->mappings, &mapping);
	}
	order_mappings(&notes->mappings);
}

/* ------------------------------------------------------------------ all notes */

static void take_note(struct core_notes *notes, const struct note *note)
{
	switch (note->type) {
	case NT_PRSTATUS:
		read_status(notes, note);
		break;
	case NT_SIGINFO:
		if (notes->threads.count)
			read_siginfo(notes, note);
		break;
	case NT_PRPSINFO:
		read_info(notes, note);
		break;
	case NT_AUXV:
		read_auxv(notes, note);
		break;
	case NT_FILE:
		read_files(notes, note);
		break;
	}
}

static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~UINT64_C(3);
}

void core_notes_read(struct core_notes *notes, const struct elf_file *file, uint64_t offset,
		     uint64_t size)
{
	static const char owner[] = "CORE";
	char name[sizeof owner];

	if (offset > file->size)
		return;
	if (size > file->size - offset)
		size = file->size - offset;
	for (const uint64_t end = offset + size; end - offset >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr header; /* the same in both classes */

		if (!elf_file_read(file, offset, &header, sizeof header))
			return;
		offset += sizeof header;
		if (padded(header.n_namesz) > end - offset)
			return;
		const struct note note = {.file = file,
					  .type = header.n_type,
					  .offset = offset + padded(header.n_namesz),
					  .size = header.n_descsz};

		if (note.size > end - note.offset)
			return;
		if (header.n_namesz == sizeof owner &&
		    elf_file_read(file, offset, name, sizeof name) &&
		    memcmp(name, owner, sizeof owner) == 0)
			take_note(notes, &note);
		if (padded(header.n_descsz) > end - note.offset)
			return;
		offset = note.offset + padded(header.n_descsz);
	}
}
