/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What src/object, src/unwind, src/code and sysdeps read: ELF files, ELF images in memory, the dynamic linker's lists, code.
 * The first byte of an input says which; the rest is the file, the memory or the code.
 */
#include "code/function_end.h"
#include "code/relocate.h"
#include "code/signal_calls.h"
#include "code/slot_calls.h"
#include "fuzz.h"
#include "object/code_pointers.h"
#include "object/demangle.h"
#include "object/elf.h"
#include "object/elf_address.h"
#include "object/elf_got_slots.h"
#include "object/elf_ifuncs.h"
#include "object/elf_memory.h"
#include "object/elf_symbols.h"
#include "object/elf_versions.h"
#include "object/linkmap.h"
#include "unwind/landing_pads.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 20, BASE = 64, WALKS = 4, LIST_MAX = 4096 };

/* ------------------------------------------------------------------ ELF files */

/* Asks everything that can be asked, and touches what comes. */
static size_t ask_symbols(struct elf_file *file)
{
	static const char *const names[] = {"f", "printf", "_r_debug", "no such name", ""};
	size_t sum = 0;
	size_t count;
	unsigned char bytes[32];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(file, names[i]);

		for (; symbol; symbol = elf_find_next(file, symbol)) {
			MUST(!strcmp(symbol->name, names[i]) && symbol->value);
			sum++;
		}
	}
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	for (size_t i = 0; i < count; i++) {
		MUST(symbols[i].name[0] && !strchr(symbols[i].name, '@'));
		sum += elf_read(file, symbols[i].value, bytes, sizeof bytes);
		sum += i < 16 ? elf_symbol_version(file, &symbols[i]) : 0;
		uint64_t offset = 0;
		const char *code = elf_name_of_code(file, symbols[i].value + i % 4, &offset);

		MUST(!code || (*code && offset <= symbols[i].value + i % 4));
		char *plain = i < 16 ? demangle(symbols[i].name) : NULL;
		char *whole = plain ? demangle_with_parameters(symbols[i].name) : NULL;

		free(plain);
		free(whole);
	}
	return sum;
}

static size_t ask_signal_calls(struct elf_file *file)
{
	struct decoder *decoder = decoder_create();
	size_t count;

	MUST(decoder);
	const struct signal_call_site *sites = signal_calls(file, decoder, &count);

	for (size_t i = 0; i < count; i++) {
		MUST(!i || sites[i].address >= sites[i - 1].address);
		MUST(sites[i].function <= sites[i].address);
	}
	decoder_destroy(decoder);
	return count;
}

static size_t ask_slot_calls(struct elf_file *file)
{
	struct decoder *decoder = decoder_create();
	size_t count;

	MUST(decoder);
	const struct slot_call *calls = slot_calls(file, decoder, &count);

	for (size_t i = 0; i < count; i++) {
		MUST(calls[i].slot->name || calls[i].slot->kind == SLOT_IRELATIVE);
		MUST(!i || calls[i].slot > calls[i - 1].slot ||
		     (calls[i].slot == calls[i - 1].slot &&
		      calls[i].address >= calls[i - 1].address));
	}
	decoder_destroy(decoder);
	return count;
}

/* Where functions end, and where they do not. */
static size_t ask_ends(struct elf_file *file)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);
	size_t sum = function_end_at(file, 0) + function_end_at(file, UINT64_MAX);

	for (size_t i = 0; i < count; i++)
		sum += function_end_at(file, symbols[i].value) +
		       function_end_at(file, symbols[i].value + symbols[i].size);
	return sum;
}

static size_t ask_all(struct elf_file *file)
{
	size_t sum = ask_symbols(file) + ask_ends(file);
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (size_t i = 0; i < count; i++) {
		MUST((slots[i].kind == SLOT_IRELATIVE) == !slots[i].name);
		sum += slots[i].stub + (slots[i].name ? strlen(slots[i].name) : slots[i].addend);
		const char *name = got_slot_name(file, &slots[i]);

		MUST(name ? name[0] != '\0' : !slots[i].name);
	}
	const uint64_t *pads = landing_pads(file, &count);

	for (size_t i = 0; i < count; i++) {
		MUST(!i || pads[i] > pads[i - 1]);
		MUST(landing_pads_has(file, pads[i]));
	}
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		MUST(segments[i].address + segments[i].memory_size >= segments[i].address);
	sum += ask_signal_calls(file) + ask_slot_calls(file);
	sum += elf_init_function(file) + elf_program_headers(file) + elf_dynamic(file);
	sum += elf_entry(file) + elf_eh_frame_header(file) + elf_is_pie(file);
	sum += elf_points_into(file, 0x1000, 0x1010) + elf_points_into(file, UINT64_MAX - 8, 8);
	sum += elf_soname(file) ? strlen(elf_soname(file)) : 0;
	sum += elf_interpreter(file) ? strlen(elf_interpreter(file)) : 0;
	return sum;
}

static size_t fuzz_file(struct input *input)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_file *file;
	size_t sum = 0;
	size_t count;

	MUST(fd >= 0 && write(fd, input->bytes, input->left) == (ssize_t)input->left);
	if (elf_open(fd, &file) == 0) {
		sum = ask_all(file);
		elf_unref(file);
	}
	if (elf_open_debug(fd, &file) == 0) {
		const struct elf_symbol *symbol = elf_find_symbol(file, "main");

		for (; symbol; symbol = elf_find_next(file, symbol))
			sum += symbol->value;
		elf_symbols(file, &count);
		sum += count;
		elf_unref(file);
	}
	close(fd);
	return sum;
}

static size_t fuzz_memory(struct input *input)
{
	unsigned mood = input_byte(input);
	uint64_t base = mood & 16 ? UINT64_C(0x7f0000000000) : mood & 32 ? 0 : 0x10000;
	struct fake_memory fake;
	struct elf_file *file;
	size_t sum = 0;

	fake_create(&fake, base, mood, input);
	if (elf_open_memory(&fake.source, base, ROOM, &file) == 0) {
		MUST(elf_is_from_memory(file));
		sum = ask_all(file) + elf_fits_memory(file, &fake.source, base);
		elf_unref(file);
	}
	fake_destroy(&fake);
	return sum;
}

/* ------------------------------------------------------------------ link_map */

/* What the walker has told so far. */
struct told {
	size_t objects;
	size_t bytes;
};

static void object_added(void *context, struct linkmap_object *object)
{
	struct told *told = context;

	told->objects++;
	told->bytes += strlen(object->name);
	object->user = told;
}

static void object_removed(void *context, struct linkmap_object *object)
{
	struct told *told = context;

	MUST(object->user == told && told->objects);
	told->objects--;
	told->bytes -= strlen(object->name);
}

static size_t fuzz_linkmap(struct input *input)
{
	unsigned mood = input_byte(input);
	unsigned word = mood & 64 ? 4 : 8;
	struct told told = {0};
	struct linkmap_events events = {object_added, object_removed, &told};
	struct linkmap *map = linkmap_create(word);
	struct fake_memory fake;
	size_t count = 0;

	fake_create(&fake, BASE, mood, input);
	uint64_t r_debug = linkmap_find_r_debug(&fake.source, BASE, word);

	if (!r_debug || mood & 32)
		r_debug = BASE;
	for (unsigned walk = 0; walk < WALKS; walk++) {
		linkmap_update(map, &fake.source, r_debug, mood & 16 || walk % 2, &events);
		struct linkmap_object *const *objects = linkmap_objects(map, &count);

		MUST(count == told.objects && count <= LINKMAP_OBJECTS_MAX);
		for (size_t i = 0; i < count; i++)
			MUST(objects[i]->user == &told);
		/* The list is another one the next time. */
		if (fake.length > 256)
			memmove(fake.bytes + 48, fake.bytes + 48 + 8 * (size_t)word,
				fake.length - 48 - 8 * (size_t)word);
	}
	struct linkmap *clone = linkmap_clone(map);

	linkmap_destroy(map);
	linkmap_update(clone, &fake.source, linkmap_r_brk(&fake.source, r_debug, word), true,
		       &events);
	linkmap_destroy(clone);
	fake_destroy(&fake);
	return count;
}

/* ------------------------------------------------------------------ code */

static int ignore_write(void *context, uint64_t address, const void *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	return address + length < address ? -1 : 0;
}

static void check_displaced(const struct displaced *displaced, const struct fake_memory *fake,
			    struct input *input)
{
	uint8_t slot[DISPLACED_CODE_MAX];
	uint64_t place = displaced->address + (int32_t)input_word(input);
	size_t length = 0;
	struct regs regs = {.pc = displaced->address};

	MUST(displaced->length >= 1 && displaced->length <= 15);
	if (displaced->kind == DISPLACED_COPY) {
		if (displaced_emit(displaced, place, slot, &length) == 0)
			MUST(length >= displaced->length && length <= sizeof slot);
		for (size_t i = 0; i <= length; i++)
			displaced_program_pc(displaced, place, place + i);
		return;
	}
	for (size_t i = 0; i < REG_COUNT; i++)
		regs.r[i] = input_word(input) % 4096;
	regs.flags = input_word(input);
	displaced_emulate(displaced, &regs, &fake->source, ignore_write, NULL);
}

static size_t fuzz_code(struct input *input)
{
	static const struct arch *const arches[] = {&arch_x86_64, &arch_i386};
	const struct arch *arch = arches[input_byte(input) % 2];
	struct decoder *decoder = decoder_create();
	uint64_t address = input_word(input) & (arch->abi->word == 8 ? UINT64_MAX : UINT32_MAX);
	struct fake_memory fake;
	size_t sum = 0;

	fake_create(&fake, BASE, 0, input);
	MUST(decoder);
	for (size_t at = 0; at < fake.length && at < 256; at++) {
		struct displaced displaced;
		uint64_t slot;
		/* A block of its exact size: reading behind it is noticed. */
		size_t some = fake.length - at < 32 ? fake.length - at : 32;
		uint8_t *code = malloc(some);

		MUST(code);
		memcpy(code, fake.bytes + at, some);
		if (arch->displace(decoder, code, some, address + at, &displaced) == 0) {
			MUST(displaced.length <= some);
			check_displaced(&displaced, &fake, input);
			sum++;
		}
		sum += arch->plt_slot(code, some, address + at, address, &slot);
		free(code);
	}
	decoder_destroy(decoder);
	fake_destroy(&fake);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static size_t (*const parts[])(struct input *) = {fuzz_file, fuzz_memory, fuzz_linkmap,
							  fuzz_code};
	struct input input = {data, size};

	parts[input_byte(&input) % 4](&input);
	return 0;
}
