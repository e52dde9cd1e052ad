/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jumps that the agent writes over the beginning of functions: which instructions can be
 * displaced, and which ones end in a call.
 */
#include "base/arch.h"
#include "engine/agent/agent_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include <cmocka.h>

enum { ADDRESS = 0x400000, UNIT = 0x500000, PROBE = 7 };

static uint8_t stub[AGENT_PROBE_STUB];

/* `behind` of the bytes are not the function's. A jump is written over `covered` of them. */
static int displace_covered(const char *bytes, size_t length, size_t behind, size_t covered)
{
	const struct agent_function function = {.address = ADDRESS,
						.bytes = (const uint8_t *)bytes,
						.length = length - behind,
						.behind = behind,
						.covered = covered};
	struct decoder *decoder = decoder_create();

	assert_non_null(decoder);
	int error = arch_x86_64.agent->write_probe_stub(decoder, &function, UNIT, PROBE,
							AGENT_COUNTS, stub);

	decoder_destroy(decoder);
	return error;
}

static int displace(const char *bytes, size_t length, size_t behind)
{
	return displace_covered(bytes, length, behind, AGENT_JUMP);
}

#define DISPLACE(bytes) displace(bytes, sizeof(bytes) - 1, 0)

static int64_t jump_target(size_t offset)
{
	int32_t distance;

	assert_int_equal(stub[offset], 0xe9);
	memcpy(&distance, stub + offset + 1, sizeof distance);
	return UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB + (int64_t)offset + 5 + distance;
}

static void test_stub(void **state)
{
	(void)state;
	/* endbr64; push %rbp; mov %rsp,%rbp; sub $16,%rsp */
	assert_int_equal(DISPLACE("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x48\x83\xec\x10"), 0);
	assert_int_equal(stub[0], 0x68);
	assert_int_equal(stub[1], PROBE);
	assert_int_equal(jump_target(5), UNIT);
	assert_int_equal(stub[AGENT_PROBE_BREAKPOINT], 0x90);
	assert_int_equal(jump_target(AGENT_PROBE_BREAKPOINT + 1), UNIT + AGENT_PROBE_STUBS +
									  PROBE * AGENT_PROBE_STUB +
									  AGENT_PROBE_DISPLACED);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\xf3\x0f\x1e\xfa\x55", 5);
	assert_int_equal(jump_target(AGENT_PROBE_DISPLACED + 5), ADDRESS + 5);
}

/* How the instruction calls or jumps through the GOT slot at `slot`, if it uses that slot. */
static enum agent_way way_of(const char *bytes, size_t length, uint64_t slot)
{
	const struct agent_function code = {
		.address = ADDRESS, .bytes = (const uint8_t *)bytes, .length = length};
	struct decoder *decoder = decoder_create();
	size_t taken = 0;
	enum agent_way way = arch_x86_64.agent->way_of(decoder, &code, slot, &taken);

	decoder_destroy(decoder);
	if (way != AGENT_OTHERWISE)
		assert_int_equal(taken, length);
	return way;
}

static void test_ways(void **state)
{
	(void)state;
	assert_int_equal(way_of("\xff\x15\x00\x10\x00\x00", 6, ADDRESS + 0x1006),
			 AGENT_CALLS_THROUGH);
	assert_int_equal(way_of("\xff\x25\x00\x10\x00\x00", 6, ADDRESS + 0x1006),
			 AGENT_JUMPS_THROUGH);
	assert_int_equal(way_of("\xff\x15\x00\x10\x00\x00", 6, ADDRESS + 0x100e), AGENT_OTHERWISE);
	/* call *%rax; call *%r12; call *%rsp; jmp *%rax */
	assert_int_equal(way_of("\xff\xd0", 2, ADDRESS + 0x1006), AGENT_CALLS_BY_REGISTER);
	assert_int_equal(way_of("\x41\xff\xd4", 3, ADDRESS + 0x1006), AGENT_CALLS_BY_REGISTER);
	assert_int_equal(way_of("\xff\xd4", 2, ADDRESS + 0x1006), AGENT_OTHERWISE);
	assert_int_equal(way_of("\xff\xe0", 2, ADDRESS + 0x1006), AGENT_OTHERWISE);
	/* call *0x1000(%rax); push 0x1000(%rip); call *%fs:0x1000(%rip) */
	assert_int_equal(way_of("\xff\x90\x00\x10\x00\x00", 6, ADDRESS + 0x1006), AGENT_OTHERWISE);
	assert_int_equal(way_of("\xff\x35\x00\x10\x00\x00", 6, ADDRESS + 0x1006), AGENT_OTHERWISE);
	assert_int_equal(way_of("\x64\xff\x15\x00\x10\x00\x00", 7, ADDRESS + 0x1007),
			 AGENT_OTHERWISE);
}

/*
 * A call through a GOT slot: the return address is put in place of the one that the stub's own call
 * pushes. Then the stub is like any other.
 */
static void test_call_through_slot(void **state)
{
	static const struct agent_function code = {
		.address = ADDRESS,
		.bytes = (const uint8_t *)"\xff\x15\x00\x10\x00\x00",
		.length = 6};
	const uint64_t place = UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB;
	const int32_t distance = (int32_t)(ADDRESS + 0x1006 - (place + AGENT_PROBE_DISPLACED + 6));
	struct decoder *decoder = decoder_create();

	(void)state;
	assert_int_equal(arch_x86_64.agent->write_call_stub(decoder, &code, ADDRESS + 0x1006, UNIT,
							    PROBE, AGENT_RECORDS, stub),
			 0);
	assert_memory_equal(stub, "\xe8\x22\x00\x00\x00", 5);
	assert_int_equal(stub[AGENT_PROBE_BREAKPOINT], 0x90);
	assert_int_equal(jump_target(AGENT_PROBE_BREAKPOINT + 1), place + AGENT_PROBE_DISPLACED);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\xff\x25", 2);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED + 2, &distance, sizeof distance);
	/* movl $0x400006,(%rsp); movl $0,4(%rsp) */
	assert_memory_equal(stub + 5 + 0x22,
			    "\xc7\x04\x24\x06\x00\x40\x00\xc7\x44\x24\x04\x00\x00\x00\x00", 15);
	assert_int_equal(5 + 0x22 + 15, AGENT_PROBE_CALLED);
	assert_int_equal(stub[AGENT_PROBE_CALLED], 0x68);
	assert_int_equal(stub[AGENT_PROBE_CALLED + 1], PROBE);
	assert_int_equal(jump_target(AGENT_PROBE_CALLED + 5), UNIT + AGENT_RECORD_ENTRY);
	assert_int_not_equal(stub[AGENT_PROBE_CALLED - 1], 0xcc);
	/* Out of reach; through another word. */
	assert_int_equal(arch_x86_64.agent->write_call_stub(decoder, &code, ADDRESS + 0x1006,
							    UNIT + (UINT64_C(1) << 32), PROBE,
							    AGENT_RECORDS, stub),
			 -ERANGE);
	assert_int_equal(arch_x86_64.agent->write_call_stub(decoder, &code, ADDRESS + 0x1000, UNIT,
							    PROBE, AGENT_RECORDS, stub),
			 -ENOTSUP);
	decoder_destroy(decoder);
}

/* Returns where the instructions begin that are displaced together with the call at the end. */
static size_t straight_before(const char *bytes, size_t length, size_t call)
{
	const struct agent_function function = {
		.address = ADDRESS, .bytes = (const uint8_t *)bytes, .length = length};
	struct decoder *decoder = decoder_create();
	size_t found = arch_x86_64.agent->straight_before(decoder, &function, length - call);

	decoder_destroy(decoder);
	return found;
}
#define STRAIGHT_BEFORE(bytes) straight_before(bytes, sizeof(bytes) - 1, 2)

static void test_straight_before(void **state)
{
	(void)state;
	/* push %rbx; mov $1,%edi; call *%rax: the fewest bytes that are possible */
	assert_int_equal(STRAIGHT_BEFORE("\x53\xbf\x01\x00\x00\x00\xff\xd0"), 1);
	/* push %rbx; mov %rbx,%rdi; mov %rax,%rsi; call *%rax */
	assert_int_equal(STRAIGHT_BEFORE("\x53\x48\x89\xdf\x48\x89\xc6\xff\xd0"), 1);
	/* too few bytes; a branch in between; more than there is room for */
	assert_int_equal(STRAIGHT_BEFORE("\x53\x48\x89\xdf\xff\xd0"), SIZE_MAX);
	assert_int_equal(STRAIGHT_BEFORE("\x48\x89\xdf\x74\x03\x48\x89\xc6\xff\xd0"), SIZE_MAX);
	assert_int_equal(STRAIGHT_BEFORE("\x48\xc7\x44\x24\x08\x01\x00\x00\x00\x89\xdf\xff\xd0"),
			 SIZE_MAX);
	/* A call returns to the first byte; behind it there is room. */
	assert_int_equal(STRAIGHT_BEFORE("\xff\xd3\xbf\x01\x00\x00\x00\xff\xd0"), SIZE_MAX);
	assert_int_equal(STRAIGHT_BEFORE("\xff\xd3\x89\xde\xbf\x01\x00\x00\x00\xff\xd0"), 4);
	/* The bytes do not decode to an instruction that ends where the call begins. */
	assert_int_equal(STRAIGHT_BEFORE("\x53\xbf\x01\x00\x00\x00\x48\xff\xd0"), SIZE_MAX);
	/* Many in a row. */
	assert_int_equal(
		STRAIGHT_BEFORE("\x53\x54\x55\x56\x57\x53\x54\x55\x56\x57\x53\x54\xff\xd0"), 7);
}

/* mov 0x1000(%rip),%edi; call *%r12 */
static void test_call_by_register(void **state)
{
	static const struct agent_function code = {
		.address = ADDRESS,
		.bytes = (const uint8_t *)"\x8b\x3d\x00\x10\x00\x00\x41\xff\xd4",
		.length = 9};
	const uint64_t place = UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB;
	const uint8_t *at = stub + AGENT_PROBE_FRONT;
	struct decoder *decoder = decoder_create();
	int32_t distance = (int32_t)(ADDRESS + 6 + 0x1000 - (place + AGENT_PROBE_FRONT + 6));

	(void)state;
	assert_int_equal(arch_x86_64.agent->write_call_stub(decoder, &code, ADDRESS + 0x2000, UNIT,
							    PROBE, AGENT_COUNTS, stub),
			 0);
	assert_memory_equal(stub, "\xeb\x14", 2);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x41\xff\xe4", 3);
	assert_memory_equal(at, "\x8b\x3d", 2);
	assert_memory_equal(at + 2, &distance, sizeof distance);
	/* call over a byte; movl $0x400009,(%rsp); cmp slot(%rip),%r12; jne to the jump */
	assert_memory_equal(at + 6, "\xe8\x01\x00\x00\x00\xf4\xc7\x04\x24\x09\x00\x40\x00", 13);
	distance = (int32_t)(ADDRESS + 0x2000 - (place + AGENT_PROBE_FRONT + 26));
	assert_memory_equal(at + 19, "\x4c\x3b\x25", 3);
	assert_memory_equal(at + 22, &distance, sizeof distance);
	assert_int_equal(at[26], 0x75);
	assert_int_equal((int8_t)at[27] + 28 + AGENT_PROBE_FRONT, AGENT_PROBE_DISPLACED);
	assert_memory_equal(at + 28, "\x90\x90\x90\x90", 4);
	assert_int_equal(28 + 4 + AGENT_PROBE_FRONT, AGENT_PROBE_CALLED);
	assert_int_equal(jump_target(AGENT_PROBE_CALLED + 5), UNIT);
	/*
	 * The upper half of the return address differs from that of the word that the stub pushes.
	 */
	assert_int_equal(arch_x86_64.agent->write_call_stub(decoder, &code, ADDRESS + 0x2000,
							    UINT64_C(1) << 32, PROBE, AGENT_COUNTS,
							    stub),
			 -ENOTSUP);
	decoder_destroy(decoder);
}

static void test_returns_member(void **state)
{
	static const char padding[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90";
	static const struct {
		const char *code;
		size_t length;
		int64_t offset; /* -1: the instruction does something else */
	} cases[] = {
		{"\xf3\x0f\x1e\xfa\x48\x8b\x87\x90\x00\x00\x00\xc3", 12, 0x90},
		{"\x48\x8b\x87\x90\x00\x00\x00\xc3", 8, 0x90},
		{"\x48\x8b\x47\x48\xc3", 5, 0x48},
		{"\x48\x8b\x47\xf8\xc3", 5, -1},
		{"\x48\x8b\x46\x48\xc3", 5, -1},
		{"\x48\x8b\x47\x48\x48\x8b\x00\xc3", 8, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t code[24];
		uint64_t offset;

		memcpy(code, cases[i].code, cases[i].length);
		memcpy(code + cases[i].length, padding, sizeof padding - 1);
		const bool is = arch_x86_64.agent->returns_member(
			code, cases[i].length + sizeof padding - 1, &offset);

		assert_int_equal(is, cases[i].offset >= 0);
		if (is)
			assert_int_equal(offset, cases[i].offset);
	}
	assert_false(arch_x86_64.agent->returns_member((const uint8_t *)cases[2].code, 5,
						       &(uint64_t){0}));
}

/*
 * A thread that was sent to the beginning of a stub, or continues there, must not seem to have hit
 * an int3 before it.
 */
static void test_no_breakpoint_before(void **state)
{
	uint8_t returns[AGENT_RETURN_STUB];

	(void)state;
	assert_int_equal(DISPLACE("\x55\x48\x89\xe5\x48\x83\xec\x10"), 0);
	assert_int_not_equal(stub[AGENT_PROBE_STUB - 1], 0xcc);
	assert_int_not_equal(stub[AGENT_PROBE_DISPLACED - 1], 0xcc);
	arch_x86_64.agent->write_return_stub(UNIT, AGENT_TRAMPOLINE_COUNT - 1, AGENT_RETURNS_SUMMED,
					     returns);
	assert_int_not_equal(returns[AGENT_RETURN_STUB - 1], 0xcc);
}

/*
 * agent_entry.S reads memory that may not be there at the places that the layout names, and
 * continues elsewhere if it is not. No padding may be run on the way.
 */
static void test_guarded_reads(void **state)
{
	static const struct {
		size_t offset;
		const char *bytes;
	} places[] = {
		{AGENT_COPY_WORD, "\x48\x8b\x06"},	 /* mov (%rsi),%rax */
		{AGENT_COPY_BYTE, "\x8a\x06"},		 /* mov (%rsi),%al */
		{AGENT_COPY_END, "\x48\x89\xd0"},	 /* mov %rdx,%rax */
		{AGENT_STRING_WORD, "\x4c\x8b\x1c\x0e"}, /* mov (%rsi,%rcx),%r11 */
		{AGENT_STRING_END, "\x48\x89\xc8"},	 /* mov %rcx,%rax */
	};
	const uint8_t *code = arch_x86_64.agent->code;

	(void)state;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		assert_memory_equal(code + places[i].offset, places[i].bytes,
				    strlen(places[i].bytes));
		assert_int_not_equal(code[places[i].offset - 1], 0xf4);
	}
	/* Here the instruction before it is jumped over. */
	assert_memory_equal(code + AGENT_STRING_BYTE, "\x8a\x04\x0e", 3);
}

static void test_relative(void **state)
{
	int32_t distance;

	(void)state;
	/* mov 0x1000(%rip),%rax */
	assert_int_equal(DISPLACE("\x48\x8b\x05\x00\x10\x00\x00\xc3"), 0);
	memcpy(&distance, stub + AGENT_PROBE_DISPLACED + 3, sizeof distance);
	assert_int_equal(UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB +
				 AGENT_PROBE_DISPLACED + 7 + distance,
			 ADDRESS + 7 + 0x1000);
	/* xor %eax,%eax; jmp +0x20; the displaced code ends with the jump */
	assert_int_equal(DISPLACE("\x31\xc0\x90\xeb\x20\xc3"), 0);
	assert_int_equal(jump_target(AGENT_PROBE_DISPLACED + 3), ADDRESS + 5 + 0x20);
	/* test %edi,%edi; je +0x20; ret */
	assert_int_equal(DISPLACE("\x85\xff\x74\x20\x90\xc3"), 0);
	assert_int_equal(stub[AGENT_PROBE_DISPLACED + 2], 0x0f);
	assert_int_equal(stub[AGENT_PROBE_DISPLACED + 3], 0x84);
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(DISPLACE("\x0f\x05\x90\x90\x90\xc3"), -ENOTSUP); /* a system call */
	assert_int_equal(DISPLACE("\x31\xc0\xc3"), -ENOTSUP);		  /* too short */
	/* the function ends within the jump */
	assert_int_equal(DISPLACE("\x31\xc0\xc3\x90\x90\x90"), -ENOTSUP);
	assert_int_equal(DISPLACE("\xcc\x90\x90\x90\x90\xc3"), -ENOTSUP); /* int3 */
	assert_int_equal(DISPLACE("\xf7\xf7\x90\x90\x90\xc3"), -ENOTSUP); /* div %edi */
	assert_int_equal(DISPLACE("\x9c\x90\x90\x90\x90\xc3"), -ENOTSUP); /* pushf */
	assert_int_equal(DISPLACE("\x0f\x31\x90\x90\x90\xc3"), -ENOTSUP); /* rdtsc */
	/* bt %rax,(%rdi); rep stos; maskmovdqu; rdfsbase: memory without an operand; fs */
	assert_int_equal(DISPLACE("\x48\x0f\xa3\x07\x90\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\xf3\x48\xab\x90\x90\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\x66\x0f\xf7\xc1\x90\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\xf3\x48\x0f\xae\xc0\xc3"), -ENOTSUP);
}

/* Instructions that compute in general, vector and x87 registers. */
static void test_computing(void **state)
{
	(void)state;
	assert_int_equal(DISPLACE("\x48\x0f\xaf\xfe\x90\xc3"), 0); /* imul %rsi,%rdi */
	assert_int_equal(DISPLACE("\x48\xf7\xe6\x90\x90\xc3"), 0); /* mul %rsi */
	assert_int_equal(DISPLACE("\x89\xf8\xf7\xf6\x90\xc3"), 0); /* mov %edi,%eax; div %esi */
	assert_int_equal(DISPLACE("\xf3\x0f\xb8\xc7\x90\xc3"), 0); /* popcnt %edi,%eax */
	assert_int_equal(DISPLACE("\x0f\xcf\x90\x90\x90\xc3"), 0); /* bswap %edi */
	assert_int_equal(DISPLACE("\x48\x0f\xa3\xf7\x90\xc3"), 0); /* bt %rsi,%rdi */
	assert_int_equal(DISPLACE("\x0f\xae\xf0\x90\x90\xc3"), 0); /* mfence */
	/* andn %rsi,%rdi,%rax; crc32 %rdi,%rax; pshufd $0,%xmm0,%xmm1; pmovmskb %xmm0,%eax */
	assert_int_equal(DISPLACE("\xc4\xe2\xc0\xf2\xc6\xc3"), 0);
	assert_int_equal(DISPLACE("\xf2\x48\x0f\x38\xf1\xc7\xc3"), 0);
	assert_int_equal(DISPLACE("\x66\x0f\x70\xc8\x00\xc3"), 0);
	assert_int_equal(DISPLACE("\x66\x0f\xd7\xc0\x90\xc3"), 0);
	/* fldt 8(%rsp); fabs */
	assert_int_equal(DISPLACE("\xdb\x6c\x24\x08\xd9\xe1\xc3"), 0);
	/* lock xadd %eax,(%rdi): its operand may not be there */
	assert_int_equal(DISPLACE("\xf0\x0f\xc1\x07\x90\xc3"), 0);
	assert_int_equal(stub[0], 0xe9);
	/* prefetcht0 0x40(%rdi): does not fault */
	assert_int_equal(DISPLACE("\x0f\x18\x4f\x40\x90\xc3"), 0);
	assert_int_equal(stub[0], 0x68);
}

/* Asserts a guard before the call is noted, and code that restores the stack pointer. */
static void assert_guard(const char *guard, size_t length)
{
	const size_t at = AGENT_PROBE_GUARDED - length;

	assert_int_equal(jump_target(0),
			 UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB + (int64_t)at);
	assert_memory_equal(stub + at, guard, length);
	assert_int_equal(stub[AGENT_PROBE_GUARDED], 0x68);
	assert_int_equal(stub[AGENT_PROBE_GUARDED + 1], PROBE);
	assert_int_equal(jump_target(AGENT_PROBE_GUARDED + 5), UNIT);
}

#define BACK "\x48\x8d\x64\x24\x08"
#define ASSERT_GUARD(bytes) assert_guard(bytes, sizeof(bytes) - 1)

static void test_guard(void **state)
{
	(void)state;
	/* mov (%rdi),%eax; inc %eax */
	assert_int_equal(DISPLACE("\x8b\x07\xff\xc0\x90\xc3"), 0);
	ASSERT_GUARD("\xff\x37" BACK);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x8b\x07\xff\xc0\x90", 5);
	/* mov 0x10(%r8),%eax; nop */
	assert_int_equal(DISPLACE("\x41\x8b\x40\x10\x90\xc3"), 0);
	ASSERT_GUARD("\x41\xff\x70\x10" BACK);
	/* mov 0xa0(%r15,%r9,8),%rdx: the longest one */
	assert_int_equal(DISPLACE("\x4b\x8b\x94\xcf\xa0\x00\x00\x00\xc3"), 0);
	ASSERT_GUARD("\x43\xff\xb4\xcf\xa0\x00\x00\x00" BACK);
	/* movq $1,0x10(%rdi): a write is guarded, too */
	assert_int_equal(DISPLACE("\x48\xc7\x47\x10\x01\x00\x00\x00\xc3"), 0);
	ASSERT_GUARD("\xff\x77\x10" BACK);
	/* lock incl (%rdi) */
	assert_int_equal(DISPLACE("\xf0\xff\x07\x90\x90\xc3"), 0);
	ASSERT_GUARD("\xff\x37" BACK);
	/* movdqu (%rdi),%xmm0: the first half of it is read */
	assert_int_equal(DISPLACE("\xf3\x0f\x6f\x07\x90\xc3"), 0);
	ASSERT_GUARD("\xff\x37" BACK);
	/* push (%rdi) */
	assert_int_equal(DISPLACE("\xff\x37\x90\x90\x90\xc3"), 0);
	ASSERT_GUARD("\xff\x37" BACK);
	/* jmp *0x110(%rdi) */
	assert_int_equal(DISPLACE("\xff\xa7\x10\x01\x00\x00\xc3"), 0);
	ASSERT_GUARD("\xff\xb7\x10\x01\x00\x00" BACK);
}

/*
 * An instruction behind the first that accesses memory is as far from the beginning of the stub as
 * in the function.
 */
static void test_access_later(void **state)
{
	(void)state;
	/* mov (%rdi),%rax; jmp *0x10(%rax) */
	assert_int_equal(DISPLACE("\x48\x8b\x07\xff\x60\x10"), 0);
	ASSERT_GUARD("\xff\x37" BACK);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x48\x8b\x07\xff\x60\x10\xf4", 7);
	/* xor %eax,%eax; cmpl $7,0x10(%rdi) */
	assert_int_equal(DISPLACE("\x31\xc0\x83\x7f\x10\x07\xc3"), 0);
	assert_int_equal(stub[0], 0x68);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x31\xc0\x83\x7f\x10\x07", 6);
	/* endbr64; mov (%rdi),%eax */
	assert_int_equal(DISPLACE("\xf3\x0f\x1e\xfa\x8b\x07\xc3"), 0);
	assert_int_equal(stub[0], 0x68);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\xf3\x0f\x1e\xfa\x8b\x07", 6);
	/* je +0x20; mov (%rdi),%rax */
	assert_int_equal(DISPLACE("\x74\x20\x48\x8b\x07\xc3"), 0);
	assert_int_equal(stub[0], 0x68);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED + 6, "\x48\x8b\x07", 3);
	assert_int_equal(DISPLACE("\x74\x20\xff\x60\x10\xc3"), 0); /* jmp *0x10(%rax) */
	/* mov %gs:(%rdi),%rax; mov (%edi),%rax; vmovups with EVEX, whose displacement is scaled */
	assert_int_equal(DISPLACE("\x65\x48\x8b\x07\x90\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\x67\x48\x8b\x07\x90\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\x62\xf1\xfe\x28\x6f\x47\x01\xc3"), -ENOTSUP);
}

static size_t offset_in(const char *code, size_t length, size_t offset)
{
	struct decoder *decoder = decoder_create();

	assert_non_null(decoder);
	size_t found = arch_x86_64.agent->offset_in_function(decoder, (const uint8_t *)code, length,
							     offset);

	decoder_destroy(decoder);
	return found;
}

#define OFFSET_IN(code, offset) offset_in(code, sizeof(code) - 1, offset)

/*
 * Offsets in the stub are mapped to offsets in the function: a short branch is longer in the stub.
 */
static void test_offset_in_function(void **state)
{
	static const char plain[] =
		"\x31\xc0\x83\x7f\x10\x07\xc3"; /* xor %eax,%eax; cmpl $7,0x10(%rdi); ret */
	static const char branch[] =
		"\x74\x20\x48\x8b\x07\xc3"; /* je +0x20; mov (%rdi),%rax; ret */
	static const char near[] =
		/* the same with a near branch; what is behind it stays */
		"\x0f\x84\x20\x00\x00\x00\x48\x8b\x07";

	(void)state;
	assert_int_equal(OFFSET_IN(plain, 0), 0);
	assert_int_equal(OFFSET_IN(plain, 2), 2);
	assert_int_equal(OFFSET_IN(plain, 1), SIZE_MAX);
	assert_int_equal(OFFSET_IN(plain, 6), SIZE_MAX);
	assert_int_equal(OFFSET_IN(branch, 0), 0);
	assert_int_equal(OFFSET_IN(branch, 2), SIZE_MAX);
	assert_int_equal(OFFSET_IN(branch, 6), 2);
	assert_int_equal(OFFSET_IN(branch, 9), SIZE_MAX);
	assert_int_equal(OFFSET_IN(near, 6), SIZE_MAX);
	assert_int_equal(OFFSET_IN("\x74", 6), SIZE_MAX);
}

/* Displaced calls return to the function. */
static void test_call(void **state)
{
	static const char return_address[] = "\xe8\x01\x00\x00\x00\xf4"
					     "\xc7\x04\x24\x09\x00\x40\x00"
					     "\xc7\x44\x24\x04\x00\x00\x00\x00";
	int32_t distance;

	(void)state;
	/* sub $8,%rsp; call +0x20 */
	assert_int_equal(DISPLACE("\x48\x83\xec\x08\xe8\x20\x00\x00\x00"), 0);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x48\x83\xec\x08", 4);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED + 4, return_address, 21);
	assert_int_equal(jump_target(AGENT_PROBE_DISPLACED + 25), ADDRESS + 9 + 0x20);
	/* push %rbx; mov %rdi,%rbx; call *0x1000(%rip) */
	assert_int_equal(DISPLACE("\x53\x48\x89\xfb\xff\x15\x00\x10\x00\x00"), 0);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED + 25, "\xff\x25", 2);
	memcpy(&distance, stub + AGENT_PROBE_DISPLACED + 27, sizeof distance);
	assert_int_equal(UNIT + AGENT_PROBE_STUBS + PROBE * AGENT_PROBE_STUB +
				 AGENT_PROBE_DISPLACED + 31 + distance,
			 ADDRESS + 10 + 0x1000);
	/* By a register or a table: the target is not known. */
	assert_int_equal(DISPLACE("\x48\x83\xec\x08\xff\xd0\xc3"), -ENOTSUP);
	assert_int_equal(DISPLACE("\x48\x83\xec\x08\xff\x57\x10\xc3"), -ENOTSUP);
}

static void test_is_guard(void **state)
{
	bool (*is_guard)(const uint8_t *, uint64_t *) = arch_x86_64.agent->is_guard;
	uint64_t pushed = 1;

	(void)state;
	assert_true(is_guard((const uint8_t *)"\xff\x37\x48\x8d\x64", &pushed));
	assert_int_equal(pushed, 0);
	assert_true(is_guard((const uint8_t *)"\x41\xff\x70\x10\x48", &pushed));
	assert_int_equal(pushed, 0);
	assert_true(is_guard((const uint8_t *)BACK, &pushed));
	assert_int_equal(pushed, 8);
	assert_false(is_guard((const uint8_t *)"\xf4\xf4\xf4\xf4\xf4", &pushed));
	assert_false(is_guard((const uint8_t *)"\xe9\x00\x00\x00\x00", &pushed));
}

/* Functions that end within the jump, and the bytes behind them. */
static void test_short(void **state)
{
	(void)state;
	assert_int_equal(DISPLACE("\x48\x8d\x47\x01\xc3"), 0); /* lea 1(%rdi),%rax; ret */
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x48\x8d\x47\x01\xc3\xf4", 6);
	assert_int_equal(displace("\x31\xc0\xc3\x90\x90\x90", 6, 3), 0);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x31\xc0\xc3\xf4", 4);
	assert_int_equal(displace("\x31\xc0\xc3\xcc\xcc", 5, 2), 0);
	assert_int_equal(displace("\x31\xc0\xc3\x0f\x1f\x00", 6, 3), 0); /* nopl (%rax) */
	assert_int_equal(displace("\x31\xc0\xc3\x90", 4, 1), -ENOTSUP);
	assert_int_equal(displace("\x31\xc0\xc3\x31\xc0\xc3", 6, 3), -ENOTSUP);
	assert_int_equal(displace("\xc3\x90\x90\x90\x90\x90", 6, 5), 0);
}

/* A jump that needs fewer of the bytes: those behind it stay, whatever they are. */
static void test_covered(void **state)
{
	(void)state;
	/* xor %eax,%eax; ret; the next function */
	assert_int_equal(displace_covered("\x31\xc0\xc3\x0f\x05\xc3", 6, 3, 3), 0);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x31\xc0\xc3", 3);
	assert_int_equal(displace_covered("\x31\xc0\xc3\x0f\x05\xc3", 6, 3, 4), -ENOTSUP);
	/* mov %edi,%eax; syscall: continues there */
	assert_int_equal(displace_covered("\x89\xf8\x0f\x05\xc3", 5, 0, 3), -ENOTSUP);
	assert_int_equal(displace_covered("\x89\xf8\x0f\x05\xc3", 5, 0, 2), 0);
	assert_memory_equal(stub + AGENT_PROBE_DISPLACED, "\x89\xf8", 2);
	assert_int_equal(jump_target(AGENT_PROBE_DISPLACED + 2), ADDRESS + 2);
	/* mov %rdi,%rax has three bytes, of which one is covered */
	assert_int_equal(displace_covered("\x48\x89\xf8\x0f\x05\xc3", 6, 0, 1), 0);
	assert_int_equal(jump_target(AGENT_PROBE_DISPLACED + 3), ADDRESS + 3);
	assert_int_equal(displace_covered("\xc3\x31\xc0\xc3", 4, 3, 1), 0);
}

static bool ends_with_call(const char *bytes)
{
	return arch_x86_64.ends_with_call((const uint8_t *)bytes);
}

static void test_calls(void **state)
{
	(void)state;
	assert_true(ends_with_call("\x90\x90\x90\xe8\x01\x02\x03\x04"));  /* relative */
	assert_true(ends_with_call("\x90\x90\x90\x90\x90\x90\xff\xd0"));  /* *%rax */
	assert_true(ends_with_call("\x90\x90\x90\x90\x90\x90\xff\x13"));  /* *(%rbx) */
	assert_false(ends_with_call("\x90\x90\x90\x90\x90\x90\xff\x14")); /* no SIB byte */
	assert_false(ends_with_call("\x90\x90\x90\x90\x90\x90\xff\x15")); /* no distance */
	assert_true(ends_with_call("\x90\x90\x90\x90\x90\xff\x50\x18"));  /* *24(%rax) */
	assert_true(ends_with_call("\x90\x90\xff\x15\x01\x02\x03\x04"));  /* *x(%rip) */
	assert_true(ends_with_call("\x90\xff\x94\x24\x01\x02\x03\x04"));  /* *x(%rsp) */
	assert_true(ends_with_call("\x90\x90\x90\x90\x90\xff\x14\xc3"));  /* *(%rbx,%rax,8) */
	assert_false(ends_with_call("\x90\x90\x90\x90\x90\x90\x90\x90"));
	assert_false(ends_with_call("\x90\x90\x90\x90\x90\x90\xff\xe0")); /* jmp *%rax */
	assert_false(ends_with_call("\x90\x90\x90\xe9\x01\x02\x03\x04")); /* jmp */
}

static void note_target(void *context, uint64_t from, uint64_t target, bool is_call)
{
	(void)from;
	(void)is_call;
	*(bool *)context |= target == ADDRESS + 3;
}

static bool finds(const char *bytes, size_t length, uint64_t address, const struct sieve *asked)
{
	bool found = false;

	arch_x86_64.agent->find_branches((const uint8_t *)bytes, length, address, asked,
					 note_target, &found);
	return found;
}

static bool leads_to_third_byte(const char *bytes, size_t length, uint64_t address)
{
	struct sieve everything, asked = {0}, other = {0};

	memset(&everything, 0xff, sizeof everything);
	sieve_add(&asked, ADDRESS + 3);
	sieve_add(&other, ADDRESS + 3 + SIEVE_PIECE);
	bool found = finds(bytes, length, address, &everything);

	/* Branches to other addresses are not reported. */
	assert_int_equal(finds(bytes, length, address, &asked), found);
	assert_false(finds(bytes, length, address, &other));
	return found;
}

/* Which bytes of a function are found as branches. */
static void test_what_is_a_branch(void **state)
{
	/*
	 * mov $0x10eb,%eax; jne .+3; bnd jmp .+5; je .+6; jmp *0(%rip); call .+5; loop .+2;
	 * movq %xmm0,%rdx; lea 0xe8(%r13),%rdi; jmp *%rax; call *%rax; vmovd %xmm1,%eax; nop
	 */
	static const char bytes[] =
		"\xb8\xeb\x10\x00\x00\x75\x01\xf2\xe9\x00\x00\x00\x00\x0f\x84\x00\x00\x00\x00"
		"\xff\x25\x00\x00\x00\x00\xe8\x00\x00\x00\x00\xe2\x00"
		"\x66\x48\x0f\x7e\xc2\x49\x8d\xbd\xe8\x00\x00\x00\xff\xe0\xff\xd0"
		"\xc5\xf9\x7e\xc8\x90";
	static const size_t branches[] = {5, 8, 14, 20, 25, 30};
	const struct agent_function function = {
		.address = ADDRESS, .bytes = (const uint8_t *)bytes, .length = sizeof bytes - 1};
	struct decoder *decoder = decoder_create();
	size_t found = 0;

	(void)state;
	assert_non_null(decoder);
	for (size_t i = 0; i < function.length; i++)
		if (arch_x86_64.agent->is_branch(decoder, &function, i)) {
			assert_true(found < sizeof branches / sizeof *branches);
			assert_int_equal(i, branches[found++]);
		}
	assert_int_equal(found, sizeof branches / sizeof *branches);
	decoder_destroy(decoder);
}

static void test_branches(void **state)
{
	(void)state;
	assert_true(leads_to_third_byte("\x90\xeb\x10\x90", 4, ADDRESS - 0x10));
	assert_true(leads_to_third_byte("\x75\x01", 2, ADDRESS));
	assert_true(leads_to_third_byte("\xe9\xfe\xff\xff\xff", 5, ADDRESS));
	assert_true(leads_to_third_byte("\x0f\x85\xfd\xff\xff\xff", 6, ADDRESS));
	assert_true(leads_to_third_byte("\xff\x25\xfd\xff\xff\xff", 6, ADDRESS)); /* jmp *x(%rip) */
	assert_false(leads_to_third_byte("\x75\x02\x90\x90", 4, ADDRESS));
	assert_false(leads_to_third_byte("\xe9", 1, ADDRESS));
}

/* rdtsc; shl $32,%rdx; or %rdx,%rax */
static const uint8_t reading[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0};

/* Counting, timing and recording of calls and returns: each reads the clock. */
static void test_system_clock(void **state)
{
	const struct agent_arch *arch = arch_x86_64.agent;
	uint8_t *code = malloc(arch->code_length);
	unsigned found = 0;

	(void)state;
	assert_non_null(code);
	memcpy(code, arch->code, arch->code_length);
	arch->use_system_clock(code, arch->code_length);
	for (size_t i = 0; i + sizeof reading <= arch->code_length; i++) {
		int32_t distance;

		if (memcmp(arch->code + i, reading, sizeof reading) != 0)
			continue;
		found++;
		memcpy(&distance, code + i + 1, sizeof distance);
		assert_int_equal(code[i], 0xe8);
		assert_int_equal((int32_t)i + 5 + distance, AGENT_CLOCK);
		memcpy(code + i, reading, sizeof reading);
	}
	assert_int_equal(found, 5);
	/* Nothing else has changed. Behind the call of the function the code continues. */
	assert_memory_equal(code, arch->code, arch->code_length);
	assert_memory_equal(code + AGENT_CLOCK_READ - 6, "\xff\x15", 2);
	assert_memory_equal(code + AGENT_CLOCK_READ, "\x85\xc0", 2);
	free(code);
}

static void test_told_time(void **state)
{
	static const uint8_t rdtsc[] = {0x0f, 0x31, 0x90}, rdtscp[] = {0x0f, 0x01, 0xf9},
			     other[] = {0x0f, 0x01, 0xf8};
	struct regs regs = {.pc = ADDRESS};
	const uint64_t before = arch_x86_64.agent->clock();

	(void)state;
	assert_true(arch_x86_64.agent->emulate_clock(rdtsc, &regs));
	assert_int_equal(regs.pc, ADDRESS + 2);
	assert_true((regs.r[REG_DX] << 32 | regs.r[REG_AX]) >= before);
	regs.r[REG_AX] = regs.r[REG_DX] = 0;
	assert_true(arch_x86_64.agent->emulate_clock(rdtscp, &regs));
	assert_int_equal(regs.pc, ADDRESS + 5);
	assert_true((regs.r[REG_DX] << 32 | regs.r[REG_AX]) >= before);
	assert_false(arch_x86_64.agent->emulate_clock(other, &regs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_clock),
		cmocka_unit_test(test_told_time),
		cmocka_unit_test(test_stub),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_call_through_slot),
		cmocka_unit_test(test_straight_before),
		cmocka_unit_test(test_call_by_register),
		cmocka_unit_test(test_returns_member),
		cmocka_unit_test(test_guarded_reads),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_computing),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_access_later),
		cmocka_unit_test(test_offset_in_function),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_is_guard),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_what_is_a_branch),
		cmocka_unit_test(test_no_breakpoint_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
