/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What src/unwind reads to walk a stack: call-frame information of an ELF file, its expressions, and
 * the stack. An input has the registers, the stack, and then the file.
 */
#include "fuzz.h"
#include "object/elf.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_walk.h"

#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 512, STACK_BASE = 0x10000, FRAMES = 64, PCS = 48 };

struct fuzzed {
	struct elf_file *file;
	uint64_t bias;
	uint8_t mood;
};

static bool find_module(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct fuzzed *fuzzed = context;
	size_t count;
	const struct elf_segment *segments = elf_segments(fuzzed->file, &count);

	for (size_t i = 0; i < count; i++) {
		if (pc - fuzzed->bias - segments[i].address >= segments[i].memory_size)
			continue;
		*module = (struct unwind_module){.start = segments[i].address + fuzzed->bias,
						 .end = segments[i].address + fuzzed->bias +
							segments[i].memory_size,
						 .file = fuzzed->mood & 16 ? NULL : fuzzed->file,
						 .bias = fuzzed->bias};
		return true;
	}
	return false;
}

/* Some addresses are trampolines; some of these lead to each other, or to themselves. */
static bool find_program_pc(void *context, uint64_t pc, uint64_t place, uint64_t *program_pc)
{
	const struct fuzzed *fuzzed = context;

	if (!(fuzzed->mood & 32) || pc % 5 != 1)
		return false;
	*program_pc = pc % 2 ? pc : pc + place + 7;
	return true;
}

static void walk(struct input *input, struct fuzzed *fuzzed, const struct fake_memory *memory,
		 uint64_t pc)
{
	const struct unwind_process process = {.arch = elf_arch(fuzzed->file),
					       .memory = &memory->source,
					       .find_module = find_module,
					       .find_program_pc = find_program_pc,
					       .context = fuzzed};
	struct unwinder *unwinder = unwinder_create(&process);
	struct unwind_frame frames[FRAMES];
	struct regs regs = {.pc = pc};
	enum unwind_end end;

	for (unsigned i = 0; i < REG_COUNT; i++)
		regs.r[i] = STACK_BASE + input_byte(input) * 4U;
	if (fuzzed->mood & 64)
		regs.r[REG_BP] = input_word(input);
	size_t count = unwinder_walk(unwinder, &regs, false, frames, FRAMES, &end);

	MUST(count >= 1 && count <= FRAMES && frames[0].sp == regs.r[REG_SP]);
	MUST(unwind_end_text(end)[0]);
	MUST(end != UNWIND_END_LIMIT || count == FRAMES);
	for (size_t i = 1; i < count; i++)
		MUST(frames[i].is_call != frames[i - 1].is_signal_frame);
	unwinder_destroy(unwinder);
}

static void find_rules(struct elf_file *file, const uint64_t *pcs)
{
	for (size_t i = 0; i < PCS; i++) {
		struct unwind_rule one = unwind_table_rule(unwind_table(file), pcs[i]);
		struct eh_unwind_row row;
		struct eh_function function;

		MUST(one.cfa <= UNWIND_BY_STUB);
		if (unwind_table_row(unwind_table(file), pcs[i], &row, &function))
			MUST(row.from <= pcs[i] && pcs[i] < row.to);
	}
}

static void choose_pcs(struct input *input, const struct elf_file *file, uint64_t *pcs)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < PCS; i++) {
		const struct elf_segment *segment = &segments[i % count];
		uint64_t into = i < PCS / 2 ? input_byte(input) * 16U + input_byte(input) % 16
					    : i * 37;

		pcs[i] = segment->address + into % (segment->memory_size + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct fuzzed fuzzed = {.mood = input_byte(&input)};
	uint8_t header[64], stack[STACK];
	struct input registers = {header, sizeof header}, words = {stack, sizeof stack};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint64_t pcs[PCS];

	input_take(&input, header, sizeof header);
	input_take(&input, stack, sizeof stack);
	MUST(fd >= 0 && write(fd, input.bytes, input.left) == (ssize_t)input.left);
	if (elf_open(fd, &fuzzed.file) == 0) {
		struct fake_memory memory;

		fuzzed.bias = elf_is_pie(fuzzed.file) ? 0x40000 : 0;
		fake_create(&memory, STACK_BASE, fuzzed.mood & 15, &words);
		choose_pcs(&registers, fuzzed.file, pcs);
		find_rules(fuzzed.file, pcs);
		for (size_t i = 0; i < PCS; i++) {
			registers = (struct input){header, sizeof header};
			walk(&registers, &fuzzed, &memory, pcs[i] + fuzzed.bias);
		}
		fake_destroy(&memory);
		elf_unref(fuzzed.file);
	}
	close(fd);
	return 0;
}
