/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the line table of a unit: from code addresses to lines, and from the numbers of files to
 * paths (DWARF 2 to 5, "Line Number Information").
 *
 * A line table is a program for a small machine, whose registers are address, file and line. Some
 * of its opcodes make a row, which holds from its address to that of the next row. Rows of one
 * sequence have ascending addresses; sequences come in any order. Where several rows have one
 * address, the last of them counts, as it does for addr2line(1).
 *
 * The program is run for all addresses that are asked about at once, and rows are not kept.
 * libdwarf would allocate an object for each row before it says how many there are; a table of
 * megabytes may be forged, and one step of the reader must not stand for all of it. So libdwarf
 * finds the table, by the unit's first entry, and this file reads it.
 *
 * Linkers set the address of code that they have dropped to 0, some to the highest address. Such
 * sequences are skipped.
 */
#include "dwarf/dwarf_line.h"

#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_private.h"

#include <string.h>

enum {
	WORK_OF_STEP = 256, /* opcodes and names that count as one step of the reader */
	FIELDS_MAX = 16	    /* fields of the description of a file or directory */
};

/* Returns false if the reader has used up its steps. Called for each opcode and each name. */
static bool line_work(struct line_table *table)
{
	return ++table->work % WORK_OF_STEP || may_step(table->file);
}

/* Takes `length` bytes, or all that are left. */
static struct bytes take_bytes(struct bytes *bytes, uint64_t length)
{
	const struct bytes part = {bytes->at, length < bytes->left ? length : bytes->left};

	if (part.left)
		bytes->at += part.left;
	bytes->left -= part.left;
	return part;
}

static int64_t take_signed_leb(struct bytes *bytes)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (bytes->left && shift < 64) {
		const uint64_t byte = take(bytes, 1);

		value |= (byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift < 64)
			value |= UINT64_MAX << shift;
		break;
	}
	return (int64_t)value;
}

/* Takes a string and its NUL. Returns NULL, and empties *bytes, if there is no NUL. */
static const char *take_text(struct bytes *bytes)
{
	const uint8_t *start = bytes->at;
	const uint8_t *end = bytes->left ? memchr(start, '\0', bytes->left) : NULL;

	if (!end) {
		bytes->left = 0;
		return NULL;
	}
	take_bytes(bytes, (uint64_t)(end - start) + 1);
	return (const char *)start;
}

/* ------------------------------------------------------------------ header */

/* Finds where the unit's table begins in .debug_line. */
static bool find_table(const struct die *first, struct bytes *bytes)
{
	Dwarf_Attribute attribute = die_attribute(first, DW_AT_stmt_list);
	uint64_t offset = 0;
	unsigned form;

	if (!attribute)
		return false;
	const bool is = die_section_offset(first, attribute, &form, &offset);

	dwarf_dealloc_attribute(attribute);
	*bytes = is ? section_bytes(first->object->file, ".debug_line", offset)
		    : (struct bytes){NULL, 0};
	return bytes->left != 0;
}

/* Takes the fields from the size of an instruction to the beginning of the names. */
static void take_machine(struct line_table *table, struct bytes *header)
{
	table->instruction_size = (unsigned)take(header, 1);
	if (table->version >= 4)
		take(header, 1); /* operations of one instruction, for machines that pack them */
	take(header, 1);	 /* whether rows begin statements by default */
	table->line_base = (int8_t)take(header, 1);
	table->line_range = (unsigned)take(header, 1);
	table->opcode_base = (unsigned)take(header, 1);
	table->operands = take_bytes(header, table->opcode_base ? table->opcode_base - 1 : 0);
	table->names = *header;
}

bool line_table_open(const struct die *first, struct line_table *table)
{
	struct bytes rest;

	if (!find_table(first, &rest))
		return false;
	*table = (struct line_table){.file = first->object->file, .offset_size = 4};
	uint64_t length = take(&rest, 4);

	if (length == 0xffffffff) {
		table->offset_size = 8;
		length = take(&rest, 8);
	}
	table->program = take_bytes(&rest, length);
	table->version = (unsigned)take(&table->program, 2);
	if (table->version >= 5)
		take(&table->program, 2); /* sizes of an address and of a segment selector */
	length = take(&table->program, table->offset_size);
	struct bytes header = take_bytes(&table->program, length);

	take_machine(table, &header);
	table->directory = die_text(first, DW_AT_comp_dir);
	return table->version >= 2 && table->version <= 5 && table->line_range &&
	       table->opcode_base && table->names.left;
}

/* ------------------------------------------------------------------ rows */

struct line_registers {
	uint64_t address, file;
	unsigned line;
};

/* The run of a program. */
struct line_run {
	struct line_table *table;
	struct line_place *const *places;
	size_t count;
	size_t next;		    /* the first place at or behind the latest row */
	size_t found;		    /* how many places are found */
	struct line_registers now;  /* the registers */
	struct line_registers last; /* the latest row of the sequence */
	bool is_begun;		    /* there is one */
	bool is_dropped;	    /* the linker has dropped the code of the sequence */
};

/* Returns the index of the first place whose address is not below `address`. */
static size_t first_place(const struct line_run *run, uint64_t address)
{
	size_t low = 0, high = run->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (run->places[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_dropped(const struct line_run *run, uint64_t start)
{
	const bool is_narrow = run->table->file->reader->word == sizeof(uint32_t);

	return !start || start >= (is_narrow ? UINT32_MAX : UINT64_MAX) - 1;
}

/* The latest row holds for the places before `end`. */
static void end_row(struct line_run *run, uint64_t end)
{
	for (; run->next < run->count && run->places[run->next]->address < end; run->next++) {
		struct line_place *place = run->places[run->next];

		if (place->is_found)
			continue;
		place->is_found = true;
		place->line = run->last.line;
		place->file = run->last.file;
		run->found++;
	}
}

/* Makes a row of the registers; is_end: it only ends the sequence. */
static void add_row(struct line_run *run, bool is_end)
{
	const uint64_t address = run->now.address;

	if (!run->is_begun)
		run->is_dropped = is_dropped(run, address);
	if (!run->is_begun || address < run->last.address)
		run->next = first_place(run, address);
	else if (!run->is_dropped)
		end_row(run, address);
	run->last = run->now;
	run->is_begun = true;
	if (!is_end)
		return;
	run->is_begun = false;
	run->now = (struct line_registers){.file = 1, .line = 1};
}

static void run_extended(struct line_run *run, struct bytes *program)
{
	struct bytes operands = take_bytes(program, take_leb(program));

	switch (take(&operands, 1)) {
	case DW_LNE_end_sequence:
		add_row(run, true);
		break;
	case DW_LNE_set_address:
		run->now.address = take(&operands, operands.left == 4 ? 4 : 8);
		break;
	default: /* about no address, file or line */
		break;
	}
}

static void run_special(struct line_run *run, unsigned number)
{
	const struct line_table *table = run->table;

	run->now.address += (uint64_t)(number / table->line_range) * table->instruction_size;
	run->now.line += (unsigned)(table->line_base + (int)(number % table->line_range));
}

/* Skips the operands of an opcode that is not needed, or of a later version of DWARF. */
static void skip_operands(const struct line_table *table, struct bytes *program, unsigned opcode)
{
	const size_t index = opcode - 1;

	for (unsigned left = index < table->operands.left ? table->operands.at[index] : 0; left;
	     left--)
		take_leb(program);
}

static void run_standard(struct line_run *run, struct bytes *program, unsigned opcode)
{
	const struct line_table *table = run->table;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(run, false);
		break;
	case DW_LNS_advance_pc:
		run->now.address += take_leb(program) * table->instruction_size;
		break;
	case DW_LNS_advance_line:
		run->now.line += (unsigned)take_signed_leb(program);
		break;
	case DW_LNS_set_file:
		run->now.file = take_leb(program);
		break;
	case DW_LNS_const_add_pc:
		run->now.address += (uint64_t)((255 - table->opcode_base) / table->line_range) *
				    table->instruction_size;
		break;
	case DW_LNS_fixed_advance_pc:
		run->now.address += take(program, 2);
		break;
	default:
		skip_operands(table, program, opcode);
		break;
	}
}

void line_table_find(struct line_table *table, struct line_place *const *places, size_t count)
{
	struct line_run run = {
		.table = table, .places = places, .count = count, .now = {.file = 1, .line = 1}};
	struct bytes program = table->program;

	for (size_t i = 0; i < count; i++)
		run.found += places[i]->is_found;
	while (program.left && run.found < count && line_work(table)) {
		const unsigned opcode = (unsigned)take(&program, 1);

		if (opcode >= table->opcode_base) {
			run_special(&run, opcode - table->opcode_base);
			add_row(&run, false);
		} else if (opcode) {
			run_standard(&run, &program, opcode);
		} else {
			run_extended(&run, &program);
		}
	}
}

/* ------------------------------------------------------------------ names */

/* An entry of the list of files, or of that of directories. */
struct line_name {
	const char *text; /* NULL: not known */
	uint64_t directory;
};

/* Finds an entry of a list before DWARF 5, which an empty name ends; the first is number 1. */
static struct line_name find_old(struct line_table *table, struct bytes *list, bool is_of_files,
				 uint64_t number)
{
	struct line_name found = {NULL, 0};

	for (uint64_t i = 1; list->left && line_work(table); i++) {
		struct line_name name = {take_text(list), 0};

		if (!name.text || !*name.text)
			break;
		if (is_of_files) {
			name.directory = take_leb(list);
			take_leb(list); /* time of the last change */
			take_leb(list); /* bytes of the file */
		}
		if (i == number)
			found = name;
	}
	return found;
}

static const char *text_at(struct dwarf_file *file, const char *section, uint64_t offset)
{
	struct bytes bytes = section_bytes(file, section, offset);

	return take_text(&bytes);
}

/* What is known of a field of DWARF 5. */
struct line_field {
	const char *text;
	uint64_t number;
};

/* Takes a field. Returns false if its form is not known: nothing behind it can be read. */
static bool take_field(struct line_table *table, struct bytes *list, uint64_t form,
		       struct line_field *field)
{
	struct dwarf_file *file = table->file;

	*field = (struct line_field){NULL, 0};
	switch (form) {
	case DW_FORM_string:
		field->text = take_text(list);
		return true;
	case DW_FORM_line_strp:
		field->text = text_at(file, ".debug_line_str", take(list, table->offset_size));
		return true;
	case DW_FORM_strp:
		field->text = text_at(file, ".debug_str", take(list, table->offset_size));
		return true;
	case DW_FORM_strp_sup:
		field->text = text_at(&file->reader->shared, ".debug_str",
				      take(list, table->offset_size));
		return true;
	case DW_FORM_udata:
		field->number = take_leb(list);
		return true;
	case DW_FORM_data1:
		field->number = take(list, 1);
		return true;
	case DW_FORM_data2:
		field->number = take(list, 2);
		return true;
	case DW_FORM_data4:
		field->number = take(list, 4);
		return true;
	case DW_FORM_data8:
		field->number = take(list, 8);
		return true;
	case DW_FORM_data16:
		take_bytes(list, 16);
		return true;
	case DW_FORM_block:
		take_bytes(list, take_leb(list));
		return true;
	default:
		return false;
	}
}

/* The description of a list of DWARF 5: the fields of its entries. */
struct line_format {
	unsigned count;
	uint64_t contents[FIELDS_MAX], forms[FIELDS_MAX];
};

static bool take_format(struct bytes *list, struct line_format *format)
{
	format->count = (unsigned)take(list, 1);
	for (unsigned i = 0; i < format->count && i < FIELDS_MAX; i++) {
		format->contents[i] = take_leb(list);
		format->forms[i] = take_leb(list);
	}
	return format->count <= FIELDS_MAX;
}

static bool take_entry(struct line_table *table, struct bytes *list,
		       const struct line_format *format, struct line_name *name)
{
	struct line_field field;

	*name = (struct line_name){NULL, 0};
	for (unsigned i = 0; i < format->count; i++) {
		if (!take_field(table, list, format->forms[i], &field))
			return false;
		if (format->contents[i] == DW_LNCT_path)
			name->text = field.text;
		else if (format->contents[i] == DW_LNCT_directory_index)
			name->directory = field.number;
	}
	return true;
}

/* Finds an entry of a list of DWARF 5, whose first is number 0, and moves *list behind the list. */
static struct line_name find_new(struct line_table *table, struct bytes *list, uint64_t number)
{
	struct line_name found = {NULL, 0}, name;
	struct line_format format;
	bool is = take_format(list, &format);
	const uint64_t count = take_leb(list);

	is &= format.count || !count;
	for (uint64_t i = 0; is && i < count && list->left && line_work(table); i++) {
		is = take_entry(table, list, &format, &name);
		if (is && i == number)
			found = name;
	}
	/* What is behind a list that cannot be read is not known. */
	if (!is)
		list->left = 0;
	return found;
}

/* Finds a file, and the name of its directory. */
static bool find_file(struct line_table *table, uint64_t number, struct line_name *file,
		      struct line_name *directory)
{
	const uint64_t none = UINT64_MAX;
	struct bytes list = table->names;

	if (table->version >= 5) {
		find_new(table, &list, none);
		*file = find_new(table, &list, number);
		list = table->names;
		*directory = find_new(table, &list, file->directory);
	} else {
		find_old(table, &list, false, none);
		*file = find_old(table, &list, true, number);
		list = table->names;
		*directory = find_old(table, &list, false, file->directory);
	}
	return file->text && *file->text;
}

bool line_table_path(struct line_table *table, uint64_t number, struct strbuf *path)
{
	struct line_name file, directory;
	const char *parts[3] = {NULL, NULL, NULL};
	size_t length = 0;

	if (!find_file(table, number, &file, &directory))
		return false;
	parts[2] = file.text;
	if (*file.text != '/')
		parts[1] = directory.text;
	if (*file.text != '/' && (!directory.text || *directory.text != '/'))
		parts[0] = table->directory;
	for (size_t i = 0; i < 3; i++)
		length += parts[i] ? strlen(parts[i]) + 1 : 0;
	if (length > DWARF_PATH_MAX)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (parts[i])
			strbuf_add(path, parts[i]);
		if (parts[i] && i < 2)
			strbuf_add_char(path, '/');
	}
	return true;
}
