/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes the functions of .eh_frame.
 *
 * .eh_frame is a sequence of entries, each with its length in front: common entries (CIE) and
 * function entries (FDE). An FDE points back to its CIE, whose augmentation string ("zPLR") tells
 * how the FDE's pointers are encoded and whether it has a pointer to an LSDA.
 *
 * The program header PT_GNU_EH_FRAME leads to .eh_frame_hdr, which tells where .eh_frame begins and
 * has a table of all FDEs, sorted by code address. The table would be the fast way to one function,
 * but all functions are needed (landing_pads.c says why), and .eh_frame itself can be read in one
 * pass in the order of its entries. So the table only serves to find the last FDE. Nothing else
 * tells that: section headers may be missing, and the zero word that ends .eh_frame may also be in
 * its middle, because each linked object may have brought one. Without a table, the first zero word
 * has to count as the end. Statically linked programs often have no PT_GNU_EH_FRAME, because their
 * start-up code knows the place; for these the section header is used.
 *
 * There are many FDEs to few CIEs, and a CIE may be far back, so each CIE is decoded once and kept.
 *
 * Only the file is read, not the relocated memory. Absolute pointers in the file are right in
 * programs with a fixed address, and on i386, where the relocation's addend is in place. Elsewhere
 * linkers make the pointers relative, since .eh_frame could not be read-only otherwise. Entries
 * with 64-bit lengths are skipped: GCC's unwinder does not support them either.
 *
 * All input is checked: an entry leads only to a higher address, each table is bounded by the
 * segment it lies in, and entries that cannot be decoded are left out.
 */
#include "unwind/eh_frame.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_sections.h"
#include "unwind/eh_reader.h"

#include <stdlib.h>
#include <string.h>

enum {
	FRAME_PIECE = 256 << 10, /* the most that elf_file_read() reads at once */
	COMMON_PIECE = 256,	 /* a CIE has about 30 bytes */
	HEADER_PIECE = 64,
	AUGMENTATION_MAX = 16,
	ENTRIES_MAX = 4 << 20, /* the largest programs have a million */
	COMMONS_MAX = 64 << 10,
	EXTENDED_LENGTH = UINT32_MAX
};

/* The range of the entries. */
struct frame_range {
	uint64_t start;
	uint64_t last;	 /* no entry begins behind this address */
	bool until_zero; /* a zero word ends the entries */
};

/* The contents of a CIE that its FDEs need. */
struct common {
	bool decoded;
	bool sized; /* its FDEs contain the length of their augmentation data */
	bool has_lsda, is_signal_frame;
	uint8_t code_encoding, lsda_encoding;
	struct eh_program program;
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register;
};

struct walk {
	struct eh_reader frames, commons;
	struct map known; /* address of the CIE → struct common, owned */
	eh_function_visitor *visit;
	void *context;
};

/* Returns the highest FDE address in the table at the reader's position, or 0. */
static uint64_t last_of_table(struct eh_reader *reader, const struct eh_header *header)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < header->count && i < ENTRIES_MAX && !reader->failed; i++) {
		eh_value(reader, header->encoding);
		uint64_t entry = eh_pointer(reader, header->encoding, header->address);

		if (entry > last)
			last = entry;
	}
	return last;
}

bool eh_header_read(const struct elf_file *file, struct eh_header *header)
{
	struct eh_reader reader;

	*header = (struct eh_header){.address = elf_eh_frame_header(file)};
	if (!header->address)
		return false;
	eh_reader_init(&reader, file, HEADER_PIECE);
	eh_seek(&reader, header->address);
	uint8_t version = (uint8_t)eh_fixed(&reader, 1);
	uint8_t start_encoding = (uint8_t)eh_fixed(&reader, 1);
	uint8_t count_encoding = (uint8_t)eh_fixed(&reader, 1);

	header->encoding = (uint8_t)eh_fixed(&reader, 1);
	header->frames = eh_pointer(&reader, start_encoding, header->address);
	bool found = !reader.failed && version == 1 && header->frames;

	if (found && count_encoding != EH_OMIT && header->encoding != EH_OMIT)
		header->count = eh_pointer(&reader, count_encoding, header->address);
	header->table = reader.at;
	if (reader.failed)
		header->count = 0;
	eh_reader_deinit(&reader);
	return found;
}

static bool find_by_header(const struct elf_file *file, struct frame_range *range)
{
	struct eh_header header;
	uint64_t last = 0;

	if (!eh_header_read(file, &header))
		return false;
	if (header.count) {
		struct eh_reader reader;

		eh_reader_init(&reader, file, FRAME_PIECE);
		eh_seek(&reader, header.table);
		last = last_of_table(&reader, &header);
		eh_reader_deinit(&reader);
	}
	range->start = header.frames;
	range->until_zero = !last;
	range->last = last ? last : UINT64_MAX;
	return true;
}

static bool find_by_section(struct elf_file *file, struct frame_range *range)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++) {
		const GElf_Shdr *section = &sections[i];

		if (!section->sh_addr || section->sh_size < 4 ||
		    section->sh_addr > UINT64_MAX - section->sh_size ||
		    strcmp(elf_section_name(file, section), ".eh_frame") != 0)
			continue;
		*range = (struct frame_range){.start = section->sh_addr,
					      .last = section->sh_addr + section->sh_size - 4};
		return true;
	}
	return false;
}

/* Reads up to and including a NUL. Returns false if there are too many bytes. */
static bool read_augmentation(struct eh_reader *reader, char text[AUGMENTATION_MAX])
{
	for (size_t i = 0; i < AUGMENTATION_MAX; i++) {
		text[i] = (char)eh_fixed(reader, 1);
		if (!text[i])
			return !reader->failed;
	}
	return false;
}

/* Reads the data that the letters behind 'z' announce, up to the first unknown letter. */
static void read_augmentation_data(struct eh_reader *reader, const char *letters,
				   struct common *common)
{
	for (; *letters; letters++) {
		if (*letters == 'L') {
			common->lsda_encoding = (uint8_t)eh_fixed(reader, 1);
			common->has_lsda = common->lsda_encoding != EH_OMIT;
		} else if (*letters == 'R') {
			common->code_encoding = (uint8_t)eh_fixed(reader, 1);
		} else if (*letters == 'P') {
			uint8_t encoding = (uint8_t)eh_fixed(reader, 1);

			if (encoding != EH_OMIT)
				eh_value(reader, encoding);
		} else if (*letters == 'S') {
			common->is_signal_frame = true;
		} else if (*letters != 'B') { /* return-address key */
			break;
		}
	}
}

static struct common decode_common(struct eh_reader *reader, uint64_t address)
{
	struct common common = {.code_encoding = EH_ABSPTR};
	char augmentation[AUGMENTATION_MAX];

	eh_seek(reader, address);
	uint32_t length = (uint32_t)eh_fixed(reader, 4);
	uint32_t id = (uint32_t)eh_fixed(reader, 4);
	uint8_t version = (uint8_t)eh_fixed(reader, 1);

	if (!length || length == EXTENDED_LENGTH || id || (version != 1 && version != 3) ||
	    !read_augmentation(reader, augmentation))
		return common;
	common.decoded = !*augmentation || *augmentation == 'z';
	common.sized = *augmentation == 'z';
	common.code_alignment = eh_uleb(reader);
	common.data_alignment = (int64_t)eh_value(reader, EH_SLEB128);
	common.return_register = version == 1 ? eh_fixed(reader, 1) : eh_uleb(reader);
	common.program = (struct eh_program){reader->at, address + 4 + length};
	if (!common.sized)
		return common;
	uint64_t augmented = eh_uleb(reader);

	common.program.start = reader->at + augmented;
	read_augmentation_data(reader, augmentation + 1, &common);
	common.decoded = !reader->failed;
	return common;
}

/* Returns the CIE at `address`, or NULL if there are too many CIEs. */
static const struct common *common_at(struct walk *walk, uint64_t address)
{
	struct common *common = map_get(&walk->known, address);

	if (!common && walk->known.count < COMMONS_MAX) {
		common = xmalloc(sizeof *common);
		*common = decode_common(&walk->commons, address);
		map_put(&walk->known, address, common);
	}
	return common;
}

/* Visits the FDE at `entry`, which ends at `end`. The reader is behind its pointer to the CIE. */
static void visit_function(struct walk *walk, const struct common *common, uint64_t entry,
			   uint64_t end)
{
	struct eh_reader *reader = &walk->frames;

	if (!common || !common->decoded)
		return;
	struct eh_function function = {.entry = entry,
				       .common = common->program,
				       .code_alignment = common->code_alignment,
				       .data_alignment = common->data_alignment,
				       .return_register = common->return_register,
				       .is_signal_frame = common->is_signal_frame};

	function.start = eh_pointer(reader, common->code_encoding, 0);
	function.size = eh_value(reader, common->code_encoding & EH_FORMAT);
	uint64_t augmented = common->sized ? eh_uleb(reader) : 0;

	function.own = (struct eh_program){reader->at + augmented, end};
	if (augmented && common->has_lsda)
		function.lsda = eh_pointer(reader, common->lsda_encoding, function.start);
	if (!reader->failed && function.start)
		walk->visit(walk->context, &function);
}

/* Visits the entry at `address`. Returns the address behind the entry, or 0 at the end. */
static uint64_t visit_entry(struct walk *walk, const struct frame_range *range, uint64_t address)
{
	struct eh_reader *reader = &walk->frames;

	eh_seek(reader, address);
	uint64_t length = eh_fixed(reader, 4);

	if (reader->failed || (!length && range->until_zero))
		return 0;
	if (!length)
		return reader->at;
	if (length == EXTENDED_LENGTH) {
		length = eh_fixed(reader, 8);
		return !reader->failed && length < UINT64_MAX - reader->at ? reader->at + length
									   : 0;
	}
	uint64_t here = reader->at;
	uint32_t back = (uint32_t)eh_fixed(reader, 4);

	if (back && back <= here)
		visit_function(walk, common_at(walk, here - back), address, here + length);
	return here + length;
}

static void forget(struct map *known)
{
	size_t cursor = 0;
	uint64_t address;
	void *common;

	while (map_next(known, &cursor, &address, &common))
		free(common);
	map_deinit(known);
}

void eh_frame_for_each(struct elf_file *file, eh_function_visitor *visit, void *context)
{
	struct frame_range range = {0};
	struct walk walk = {.visit = visit, .context = context};

	if (!find_by_header(file, &range) && !find_by_section(file, &range))
		return;
	eh_reader_init(&walk.frames, file, FRAME_PIECE);
	eh_reader_init(&walk.commons, file, COMMON_PIECE);
	uint64_t at = range.start;

	for (unsigned i = 0; i < ENTRIES_MAX && at && at <= range.last; i++)
		at = visit_entry(&walk, &range, at);
	eh_reader_deinit(&walk.frames);
	eh_reader_deinit(&walk.commons);
	forget(&walk.known);
}

static void keep(void *context, const struct eh_function *function)
{
	*(struct eh_function *)context = *function;
}

bool eh_frame_at(struct elf_file *file, uint64_t entry, struct eh_function *function)
{
	const struct frame_range range = {.start = entry, .last = entry};
	struct walk walk = {.visit = keep, .context = function};

	*function = (struct eh_function){0};
	eh_reader_init(&walk.frames, file, COMMON_PIECE);
	eh_reader_init(&walk.commons, file, COMMON_PIECE);
	visit_entry(&walk, &range, entry);
	eh_reader_deinit(&walk.frames);
	eh_reader_deinit(&walk.commons);
	forget(&walk.known);
	return function->start != 0;
}
