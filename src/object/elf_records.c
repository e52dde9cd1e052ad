/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads bytes and tables of an ELF file that may be damaged, or change while it is read.
 *
 * The file is mapped and its descriptor closed: a process has hundreds of modules, whose
 * descriptors would exceed RLIMIT_NOFILE. A mapping costs nothing until it is accessed, and
 * outlives both the descriptor and the file's name. But when a mapped file is truncated, every
 * access behind the new end raises SIGBUS. So nothing dereferences the mapping: elf_file_read()
 * lets the kernel copy from it, by process_vm_readv(2) on the tracer itself, which returns an error
 * in place of the signal. A copy is also safe to check: it does not change between check and use.
 *
 * Pages that a large copy has touched are released at once. They would count as the tracer's
 * memory, and the copy has all that is needed. Small reads of code and exception tables come in
 * bursts, ten for each function: these are served from the last few pieces of the file that were
 * read (elf_file_read_near()).
 *
 * libelf knows the file forms of each class and byte order; its elf{32,64}_xlatetom() translate
 * them. The result is always GElf, the 64-bit forms. libelf's handle (elf_begin) is not used: it
 * would either keep the descriptor open, or read from the mapping.
 */
#include "object/elf_records.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { LARGE_READ = 256 << 10, SMALL_READ = 512, PIECE = 4096, PIECES = 4 };

/* Copied pieces of the file. A piece keeps the contents of the moment when it was copied. */
struct elf_pieces {
	struct piece {
		uint64_t start, length; /* length 0: empty */
		uint64_t time;		/* value of `now` at its last use */
		uint8_t bytes[PIECE];
	} pieces[PIECES];
	uint64_t now;
};

/* Releases the pages of a large range that was copied. */
static void give_back(const struct elf_file *file, uint64_t offset, size_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset & ~(page - 1);

	if (length >= LARGE_READ)
		madvise((void *)(uintptr_t)(file->map + start), length + (offset - start),
			MADV_DONTNEED);
}

static bool copy(const struct elf_file *file, uint64_t offset, void *buffer, size_t length)
{
	size_t done = 0;

	while (done < length) {
		struct iovec to = {(char *)buffer + done, length - done};
		struct iovec from = {(void *)(uintptr_t)(file->map + offset + done), length - done};
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool holds(const struct piece *piece, uint64_t offset, size_t length)
{
	return offset >= piece->start && offset - piece->start < piece->length &&
	       length <= piece->length - (offset - piece->start);
}

/*
 * Returns the piece that contains these bytes (at most SMALL_READ), read from the file if need be,
 * or NULL if they cannot be read.
 */
static const struct piece *find_piece(const struct elf_file *file, uint64_t offset, size_t length)
{
	struct elf_pieces *all = file->pieces;
	struct piece *oldest = all->pieces;

	all->now++;
	for (size_t i = 0; i < PIECES; i++) {
		struct piece *piece = &all->pieces[i];

		if (holds(piece, offset, length)) {
			piece->time = all->now;
			return piece;
		}
		if (piece->time < oldest->time)
			oldest = piece;
	}
	oldest->start = offset & ~(uint64_t)(SMALL_READ - 1);
	oldest->length = file->size - oldest->start < PIECE ? file->size - oldest->start : PIECE;
	oldest->time = all->now;
	if (copy(file, oldest->start, oldest->bytes, oldest->length))
		return oldest;
	oldest->length = 0;
	return NULL;
}

bool elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t length)
{
	if (offset > file->size || length > file->size - offset ||
	    !copy(file, offset, buffer, length))
		return false;
	give_back(file, offset, length);
	return true;
}

bool elf_file_read_near(const struct elf_file *file, uint64_t offset, void *buffer, size_t length)
{
	const struct piece *piece;

	if (!length || length > SMALL_READ || offset > file->size || length > file->size - offset ||
	    !(piece = find_piece(file, offset, length)))
		return elf_file_read(file, offset, buffer, length);
	memcpy(buffer, piece->bytes + (offset - piece->start), length);
	return true;
}

struct elf_pieces *elf_pieces_create(void)
{
	return xcalloc(1, sizeof(struct elf_pieces));
}

void *elf_file_load(const struct elf_file *file, uint64_t offset, uint64_t length)
{
	if (length > ELF_TABLE_MAX || offset > file->size || length > file->size - offset)
		return NULL;
	_cleanup_free_ char *block = xmalloc(length + 1);

	if (!elf_file_read(file, offset, block, length))
		return NULL;
	block[length] = '\0';
	return take_ptr(block);
}

char *elf_load_string(const struct elf_file *file, uint64_t offset, uint64_t limit)
{
	char buffer[ELF_STRING_MAX];

	if (offset > file->size)
		return NULL;
	if (limit > file->size - offset)
		limit = file->size - offset;
	if (limit > sizeof buffer)
		limit = sizeof buffer;
	if (!elf_file_read(file, offset, buffer, limit) || !memchr(buffer, '\0', limit))
		return NULL;
	return xstrdup(buffer);
}

bool elf_locate(const struct elf_file *file, uint64_t address, uint64_t *offset,
		uint64_t *available)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t into = address - segment->address;

		if (address < segment->address || into >= segment->file_size)
			continue;
		*offset = segment->file_offset + into;
		*available = segment->file_size - into;
		return true;
	}
	return false;
}

static void widen_ehdr(const void *from, void *to)
{
	const Elf32_Ehdr *narrow = from;
	GElf_Ehdr *wide = to;

	*wide = (GElf_Ehdr){.e_type = narrow->e_type,
			    .e_machine = narrow->e_machine,
			    .e_version = narrow->e_version,
			    .e_entry = narrow->e_entry,
			    .e_phoff = narrow->e_phoff,
			    .e_shoff = narrow->e_shoff,
			    .e_flags = narrow->e_flags,
			    .e_ehsize = narrow->e_ehsize,
			    .e_phentsize = narrow->e_phentsize,
			    .e_phnum = narrow->e_phnum,
			    .e_shentsize = narrow->e_shentsize,
			    .e_shnum = narrow->e_shnum,
			    .e_shstrndx = narrow->e_shstrndx};
	memcpy(wide->e_ident, narrow->e_ident, sizeof wide->e_ident);
}

static void widen_phdr(const void *from, void *to)
{
	const Elf32_Phdr *narrow = from;

	*(GElf_Phdr *)to = (GElf_Phdr){.p_type = narrow->p_type,
				       .p_flags = narrow->p_flags,
				       .p_offset = narrow->p_offset,
				       .p_vaddr = narrow->p_vaddr,
				       .p_filesz = narrow->p_filesz,
				       .p_memsz = narrow->p_memsz};
}

static void widen_shdr(const void *from, void *to)
{
	const Elf32_Shdr *narrow = from;

	*(GElf_Shdr *)to = (GElf_Shdr){.sh_name = narrow->sh_name,
				       .sh_type = narrow->sh_type,
				       .sh_flags = narrow->sh_flags,
				       .sh_addr = narrow->sh_addr,
				       .sh_offset = narrow->sh_offset,
				       .sh_size = narrow->sh_size,
				       .sh_link = narrow->sh_link,
				       .sh_info = narrow->sh_info,
				       .sh_entsize = narrow->sh_entsize};
}

static void widen_dyn(const void *from, void *to)
{
	const Elf32_Dyn *narrow = from;

	*(GElf_Dyn *)to = (GElf_Dyn){.d_tag = narrow->d_tag, .d_un.d_val = narrow->d_un.d_val};
}

static void widen_sym(const void *from, void *to)
{
	const Elf32_Sym *narrow = from;

	*(GElf_Sym *)to = (GElf_Sym){.st_name = narrow->st_name,
				     .st_info = narrow->st_info,
				     .st_other = narrow->st_other,
				     .st_shndx = narrow->st_shndx,
				     .st_value = narrow->st_value,
				     .st_size = narrow->st_size};
}

static GElf_Xword widen_info(Elf32_Word info)
{
	return GELF_R_INFO((GElf_Xword)ELF32_R_SYM(info), ELF32_R_TYPE(info));
}

static void widen_rel(const void *from, void *to)
{
	const Elf32_Rel *narrow = from;

	*(GElf_Rel *)to = (GElf_Rel){.r_offset = narrow->r_offset,
				     .r_info = widen_info(narrow->r_info)};
}

static void widen_rela(const void *from, void *to)
{
	const Elf32_Rela *narrow = from;

	*(GElf_Rela *)to = (GElf_Rela){.r_offset = narrow->r_offset,
				       .r_info = widen_info(narrow->r_info),
				       .r_addend = narrow->r_addend};
}

/* Records whose form differs between the classes. */
struct record_form {
	Elf_Type type;
	size_t narrow_size, wide_size;
	void (*widen)(const void *narrow, void *wide);
};

static const struct record_form record_forms[] = {
	{ELF_T_EHDR, sizeof(Elf32_Ehdr), sizeof(GElf_Ehdr), widen_ehdr},
	{ELF_T_PHDR, sizeof(Elf32_Phdr), sizeof(GElf_Phdr), widen_phdr},
	{ELF_T_SHDR, sizeof(Elf32_Shdr), sizeof(GElf_Shdr), widen_shdr},
	{ELF_T_DYN, sizeof(Elf32_Dyn), sizeof(GElf_Dyn), widen_dyn},
	{ELF_T_SYM, sizeof(Elf32_Sym), sizeof(GElf_Sym), widen_sym},
	{ELF_T_REL, sizeof(Elf32_Rel), sizeof(GElf_Rel), widen_rel},
	{ELF_T_RELA, sizeof(Elf32_Rela), sizeof(GElf_Rela), widen_rela},
};

static const struct record_form *find_form(Elf_Type type)
{
	for (size_t i = 0; i < sizeof record_forms / sizeof *record_forms; i++)
		if (record_forms[i].type == type)
			return &record_forms[i];
	return NULL; /* its form is the same in both classes */
}

static bool is_wide(const struct elf_file *file)
{
	return file->arch->elf_class == ELFCLASS64;
}

size_t elf_record_size(const struct elf_file *file, Elf_Type type)
{
	return is_wide(file) ? elf64_fsize(type, 1, EV_CURRENT) : elf32_fsize(type, 1, EV_CURRENT);
}

/* Converts records from the file's byte order to the host's, in place. */
static bool translate(const struct elf_file *file, Elf_Type type, void *records, size_t size)
{
	Elf_Data data = {.d_buf = records, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
	unsigned encoding = file->header.e_ident[EI_DATA];

	return is_wide(file) ? elf64_xlatetom(&data, &data, encoding) != NULL
			     : elf32_xlatetom(&data, &data, encoding) != NULL;
}

bool elf_read_records(const struct elf_file *file, Elf_Type type, uint64_t offset, size_t count,
		      void *out)
{
	const struct record_form *form = find_form(type);
	size_t size = count * elf_record_size(file, type);

	if (is_wide(file) || !form)
		return elf_file_read(file, offset, out, size) && translate(file, type, out, size);

	_cleanup_free_ char *narrow = elf_file_load(file, offset, size);

	if (!narrow || !translate(file, type, narrow, size))
		return false;
	for (size_t i = 0; i < count; i++)
		form->widen(narrow + i * form->narrow_size, (char *)out + i * form->wide_size);
	return true;
}

void *elf_load_records(const struct elf_file *file, Elf_Type type, uint64_t offset, uint64_t count)
{
	const struct record_form *form = find_form(type);
	size_t size = elf_record_size(file, type);

	if (!count || count > ELF_TABLE_MAX / size || offset > file->size ||
	    count * size > file->size - offset)
		return NULL;
	_cleanup_free_ void *records = xcalloc(count, form ? form->wide_size : size);

	if (!elf_read_records(file, type, offset, count, records))
		return NULL;
	return take_ptr(records);
}
