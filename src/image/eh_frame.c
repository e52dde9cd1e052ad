/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of .eh_frame.
 *
 * .eh_frame is a row of entries, each with its length in front: common entries (CIE) and function
 * entries (FDE). An FDE points back to its CIE, whose augmentation string ("zPLR") tells how the
 * FDE's pointers are encoded and whether it has one to an LSDA.
 *
 * The program header PT_GNU_EH_FRAME leads to .eh_frame_hdr, which tells where .eh_frame begins and
 * has a table, sorted by code address, of all FDEs. The table would find one function fast, but all
 * are wanted (landing.c says why), and in the order of their addresses they are read in one go.
 * So the table only tells which FDE is the last one. Nothing else would: section headers may be
 * missing, and the zero word that ends .eh_frame can be in the middle as well, when it was linked
 * from objects of which each brought one. Without a table that zero word is all there is.
 * Statically linked programs often have no PT_GNU_EH_FRAME, as their start-up code knows the place:
 * there the section header serves.
 *
 * There are many FDEs to few CIEs, which may be far back: a CIE is decoded once and remembered.
 *
 * Only the file is read. Absolute pointers are right as they stand in programs of fixed address and
 * on i386, where the relocation's addend is in place; elsewhere linkers make them relative, since
 * .eh_frame could not be read-only otherwise. Entries with 64-bit lengths are skipped: the unwinder
 * of GCC does not know them either.
 *
 * Everything is checked: an entry leads to a higher address only, each table is bounded by the
 * segment it lies in, and what cannot be decoded is left out.
 */
#include "image/eh_frame.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "image/elf_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	FRAME_PIECE = 256 << 10, /* as large as elf_file_read() gives back at once */
	COMMON_PIECE = 256,	 /* a CIE has some 30 bytes */
	AUGMENTATION_MAX = 16,
	ENTRIES_MAX = 4 << 20, /* the largest programs have a million */
	COMMONS_MAX = 64 << 10,
	EXTENDED_LENGTH = UINT32_MAX
};

/* Where the entries are. */
struct frame_range {
	uint64_t start;
	uint64_t last;	 /* no entry begins behind this address */
	bool until_zero; /* a zero word ends them */
};

/* What a CIE says to its FDEs. */
struct common {
	bool decoded;
	bool sized; /* its FDEs say how long what follows the code's place is */
	bool has_lsda;
	uint8_t code_encoding, lsda_encoding;
	struct eh_program program;
	uint64_t code_alignment;
	int64_t data_alignment;
};

struct walk {
	struct eh_reader frames, commons;
	struct map known; /* struct common by address, owned */
	eh_function_visitor *visit;
	void *context;
};

/* The highest FDE address of a table of `count` pairs, or 0. */
static uint64_t last_of_table(struct eh_reader *reader, uint8_t encoding, uint64_t count,
			      uint64_t base)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < count && i < ENTRIES_MAX && !reader->failed; i++) {
		eh_value(reader, encoding);
		uint64_t entry = eh_pointer(reader, encoding, base);

		if (entry > last)
			last = entry;
	}
	return last;
}

static bool find_by_header(const struct elf_file *file, struct frame_range *range)
{
	uint64_t header = elf_eh_frame_header(file);
	struct eh_reader reader;

	if (!header)
		return false;
	eh_reader_init(&reader, file, FRAME_PIECE);
	eh_seek(&reader, header);
	uint8_t version = (uint8_t)eh_fixed(&reader, 1);
	uint8_t start_encoding = (uint8_t)eh_fixed(&reader, 1);
	uint8_t count_encoding = (uint8_t)eh_fixed(&reader, 1);
	uint8_t table_encoding = (uint8_t)eh_fixed(&reader, 1);

	range->start = eh_pointer(&reader, start_encoding, header);
	bool found = !reader.failed && version == 1 && range->start;
	uint64_t last = 0;

	if (found && count_encoding != EH_OMIT && table_encoding != EH_OMIT)
		last = last_of_table(&reader, table_encoding,
				     eh_pointer(&reader, count_encoding, header), header);
	range->until_zero = !last;
	range->last = last ? last : UINT64_MAX;
	eh_reader_deinit(&reader);
	return found;
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

/* Bytes until a NUL; false when there are too many. */
static bool read_augmentation(struct eh_reader *reader, char text[AUGMENTATION_MAX])
{
	for (size_t i = 0; i < AUGMENTATION_MAX; i++) {
		text[i] = (char)eh_fixed(reader, 1);
		if (!text[i])
			return !reader->failed;
	}
	return false;
}

/* The data that the letters behind 'z' announce, up to a letter that is not known. */
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
		} else if (!strchr("SB", *letters)) { /* signal frame, return-address key */
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
	if (version == 1)
		eh_fixed(reader, 1); /* return-address register */
	else
		eh_uleb(reader);
	common.program = (struct eh_program){reader->at, address + 4 + length};
	if (!common.sized)
		return common;
	uint64_t augmented = eh_uleb(reader);

	common.program.start = reader->at + augmented;
	read_augmentation_data(reader, augmentation + 1, &common);
	common.decoded = !reader->failed;
	return common;
}

/* NULL when there are too many. */
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

/* The reader is behind the pointer to the CIE; `entry` ends at `end`. */
static void visit_function(struct walk *walk, const struct common *common, uint64_t entry,
			   uint64_t end)
{
	struct eh_reader *reader = &walk->frames;

	if (!common || !common->decoded)
		return;
	struct eh_function function = {.entry = entry,
				       .common = common->program,
				       .code_alignment = common->code_alignment,
				       .data_alignment = common->data_alignment};

	function.start = eh_pointer(reader, common->code_encoding, 0);
	function.size = eh_value(reader, common->code_encoding & EH_FORMAT);
	uint64_t augmented = common->sized ? eh_uleb(reader) : 0;

	function.own = (struct eh_program){reader->at + augmented, end};
	if (augmented && common->has_lsda)
		function.lsda = eh_pointer(reader, common->lsda_encoding, function.start);
	if (!reader->failed && function.start)
		walk->visit(walk->context, &function);
}

/* The entry at `address`; the address behind it, or 0 at the end. */
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
