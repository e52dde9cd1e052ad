/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's code in a tracee: what runs at the entry and at the return of a call that is counted
 * there.
 *
 * Entry. The function begins with a jump to its probe's stub, which pushes the probe's number and
 * comes here. The return address is replaced by the stub of a return slot, which notes it; the call
 * is counted, where that can be had in a tally of the slot, as locked instructions on what threads
 * share are what costs most here, and its time taken; then the instructions that the jump has
 * displaced are run, in the probe's stub, with all registers and flags as they were.
 *
 * The slot is found by the place on the stack (a hash of it), so no thread has to be told from
 * another: two never run on the same place. So the place that was the first in a home slot keeps
 * it, and finds it again, at rest, without any locking, which would wait for all that was stored
 * before. Others of that home take one of the slots behind, which are freed by each return. A slot
 * of the same place that is in use is dead: a call has pushed its return address there since.
 * Unless the return address is itself a stub of ours, of this unit or another: then this function
 * was jumped to from one that is traced (a tail call, or a PLT stub), and both will return, one
 * behind the other.
 *
 * A return address is taken only if it is among those that the tracer has found good; nobody knows
 * whether the word on top of the stack is one, at something that is called a function. For others,
 * and when there is no slot, the thread goes by the breakpoint in the probe's stub, with everything
 * as at the function's entry. When no tracer is there any more, a nop stands there.
 *
 * Return. The slot's stub pushes its number and comes here. The time is added up, the slot freed
 * (or, a home, at rest), and the thread goes on at the true address with all registers and flags as
 * they were.
 *
 * Processors expect a function to return to behind the call that it was entered by, and begin to
 * run what is there. Where it returns to elsewhere, that was in vain, and costs as much as a clock
 * does. So the stub's address is not just written: a call in front of the stub puts it there, on a
 * stack from which the caller's has been taken, and goes to what was displaced. The end of it all
 * is a return to the caller, which is then the next that the processor expects.
 *
 * Assumes that memory below the stack pointer is nobody's at the entry of a function and behind its
 * return (the red zone is the running function's own; signals leave it alone). Nothing here can
 * fault but by the stack. General registers only; no calls, so that a thread is out again in some
 * 60 instructions.
 */
#include "engine/agent/agent_abi.h"

#define FLAG_TF 0x100
#define FLAG_AC 0x40000

/* Where glibc's jmp_buf has the stack pointer, and how it hides it: see arch.jump_buffer. */
#define JMP_BUF_SP 48
#define JMP_BUF_ROTATED 17
#define JMP_BUF_GUARD 48

	/* The return address in %rdx is looked for in the set that it belongs to. */
	.macro	to_good_if_among sites, bits
	imul	$AGENT_HASH, %edx, %eax
	shr	$32 - \bits, %eax
	shl	$5, %eax
	lea	base + \sites(%rip), %rcx
	add	%rax, %rcx
	cmp	(%rcx), %rdx
	je	good
	cmp	8(%rcx), %rdx
	je	good
	cmp	16(%rcx), %rdx
	je	good
	cmp	24(%rcx), %rdx
	je	good
	.endm

	/*
	 * The time, into %rax; %rdx is spent. Where the processor's clock cannot be relied on,
	 * these bytes become a call (agent_arch.use_system_clock()), and what is below the stack
	 * pointer is spent, too.
	 */
	.macro	read_clock
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

	/* Slot %r8d: its address into %rcx, its place into %rax. */
	.macro	find_slot
	mov	%r8d, %eax
	shl	$5, %eax
	lea	base + AGENT_SLOTS(%rip), %rcx
	add	%rax, %rcx
	mov	AGENT_SLOT_PLACE(%rcx), %rax
	.endm

	/* All registers and flags, as the entry has saved them. */
	.macro	reload
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	add	$127, %al
	sahf
	pop	%rax
	.endm

	.section .entry, "ax"
base:
entry:
	push	%rax
	lahf
	seto	%al
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	/* 56(%rsp): the probe, 64(%rsp): the return address */
	lea	64(%rsp), %rsi
	/* Other places could look like one at rest. */
	test	$7, %sil
	jnz	trap
	mov	(%rsi), %rdx
	lea	base + AGENT_RETURN_STUBS(%rip), %rcx
	mov	%rdx, %rdi
	sub	%rcx, %rdi
	cmp	$AGENT_SLOT_COUNT * AGENT_RETURN_STUB, %rdi
	jb	good
	to_good_if_among AGENT_RETURN_SITES, AGENT_SET_BITS
	xor	%edi, %edi
	to_good_if_among AGENT_STUB_SITES, AGENT_STUB_SET_BITS
	jmp	trap

good:
	/*
	 * Below AGENT_SLOT_COUNT * AGENT_RETURN_STUB in %rdi: it is a stub. For the home see
	 * agent_slot_hash().
	 */
	mov	%rsi, %r8
	shr	$4, %r8
	mov	%rsi, %rcx
	shr	$AGENT_HOME_PIECE, %rcx
	imul	$AGENT_HASH, %ecx, %ecx
	shr	$32 - AGENT_HOME_BITS, %ecx
	add	%ecx, %r8d
	and	$AGENT_HOME_COUNT - 1, %r8d
	find_slot
	lea	AGENT_SLOT_RESTS(%rsi), %rdx
	cmp	%rdx, %rax
	jne	not_at_rest
	mov	%rsi, AGENT_SLOT_PLACE(%rcx)
take:
	mov	(%rsi), %rax
	mov	%rax, AGENT_SLOT_RETURN(%rcx)
	mov	56(%rsp), %eax
	mov	%rax, AGENT_SLOT_PROBE(%rcx)
	mov	%eax, %edi
	and	$AGENT_TALLY_WAYS - 1, %edi
	lea	(%rdi, %r8, AGENT_TALLY_WAYS), %edx
	shl	$5, %edx
	lea	base + AGENT_TALLIES(%rip), %rdi
	add	%rdx, %rdi
	lea	1(%rax), %edx
	cmp	%edx, AGENT_TALLY_OWNER(%rdi)
	jne	other
tally:
	incq	AGENT_TALLY_CALLS(%rdi)
counted:
	shl	$6, %eax
	lea	base + AGENT_PROBE_STUBS + AGENT_PROBE_DISPLACED(%rip), %rdi
	add	%rax, %rdi
	mov	%rdi, 56(%rsp)
	shl	$4, %r8d
	lea	base + AGENT_RETURN_CALLS(%rip), %rdi
	add	%rdi, %r8
	read_clock
	mov	%r8, -8(%rsp)
	mov	%rax, AGENT_SLOT_TIME(%rcx)
	reload
	/* Behind the return address; what was displaced is at -16(%rsp). */
	lea	16(%rsp), %rsp
exit_entered:
	jmp	*-80(%rsp)

not_at_rest:
	test	%rax, %rax
	jz	nobodys
	cmp	%rsi, %rax
	jne	away
	cmp	$AGENT_SLOT_COUNT * AGENT_RETURN_STUB, %rdi
	jae	take
away:
	mov	$AGENT_SLOT_TRIES, %edx
look:
	and	$AGENT_HOME_COUNT - 1, %r8d
	or	$AGENT_HOME_COUNT, %r8d
	find_slot
	test	%rax, %rax
	jz	free
	cmp	%rsi, %rax
	jne	next
	cmp	$AGENT_SLOT_COUNT * AGENT_RETURN_STUB, %rdi
	jae	take
next:
	inc	%r8d
	dec	%edx
	jnz	look
	jmp	trap
free:
	lock cmpxchg %rsi, AGENT_SLOT_PLACE(%rcx)
	je	take
	jmp	next
nobodys:
	lock cmpxchg %rsi, AGENT_SLOT_PLACE(%rcx)
	je	take
	jmp	away

	/* It is another probe's, or nobody's. Here %rsi and, as %rdx - 1, %rax are to spare. */
other:
	mov	AGENT_TALLY_OWNER(%rdi), %esi
	test	%esi, %esi
	jz	own
	incl	AGENT_TALLY_MISSES(%rdi)
	testb	$AGENT_TALLY_PATIENCE - 1, AGENT_TALLY_MISSES(%rdi)
	jnz	share
	mov	AGENT_TALLY_CALLS(%rdi), %rax
	cmp	AGENT_TALLY_SEEN(%rdi), %rax
	mov	%rax, AGENT_TALLY_SEEN(%rdi)
	jne	share
	/* Its owner has not been called for a while, and gets what is there as a counter. */
	dec	%esi
	cmp	$AGENT_PROBE_COUNT, %esi
	jae	share
	shl	$5, %esi
	push	%rcx
	lea	base + AGENT_COUNTERS(%rip), %rcx
	add	%rsi, %rcx
	movq	$0, AGENT_TALLY_CALLS(%rdi)
	lock add %rax, AGENT_COUNTER_CALLS(%rcx)
	xor	%eax, %eax
	xchg	%rax, AGENT_TALLY_TIME(%rdi)
	lock add %rax, AGENT_COUNTER_TIME(%rcx)
	pop	%rcx
own:
	mov	%edx, AGENT_TALLY_OWNER(%rdi)
	lea	-1(%rdx), %eax
	lea	64(%rsp), %rsi
	jmp	tally
share:
	lea	-1(%rdx), %eax
	lea	64(%rsp), %rsi
	mov	%eax, %edx
	shl	$5, %edx
	lea	base + AGENT_COUNTERS(%rip), %rdi
	lock incq AGENT_COUNTER_CALLS(%rdi, %rdx)
	jmp	counted

trap:
	mov	56(%rsp), %eax
	shl	$6, %eax
	lea	base + AGENT_PROBE_STUBS + AGENT_PROBE_BREAKPOINT(%rip), %rcx
	add	%rax, %rcx
	mov	%rcx, 56(%rsp)
	reload
	lea	8(%rsp), %rsp
exit_refused:
	jmp	*-8(%rsp)

	.org	AGENT_RETURNED, 0xf4
returned:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rdi
	lahf
	seto	%al
	push	%rax
	/* 40(%rsp): the slot */
	read_clock
	mov	40(%rsp), %edx
	mov	%edx, %edi
	shl	$5, %edi
	lea	base + AGENT_SLOTS(%rip), %rcx
	add	%rcx, %rdi
	sub	AGENT_SLOT_TIME(%rdi), %rax
	jae	1f
	xor	%eax, %eax
1:
	mov	AGENT_SLOT_PROBE(%rdi), %ecx
	and	$AGENT_TALLY_WAYS - 1, %ecx
	lea	(%rcx, %rdx, AGENT_TALLY_WAYS), %edx
	shl	$5, %edx
	lea	base + AGENT_TALLIES(%rip), %rcx
	add	%rcx, %rdx
	mov	AGENT_SLOT_PROBE(%rdi), %ecx
	inc	%ecx
	cmp	%ecx, AGENT_TALLY_OWNER(%rdx)
	jne	2f
	add	%rax, AGENT_TALLY_TIME(%rdx)
	jmp	3f
2:
	dec	%ecx
	shl	$5, %ecx
	lea	base + AGENT_COUNTERS(%rip), %rdx
	lock add %rax, AGENT_COUNTER_TIME(%rdx, %rcx)
3:
	/* Where the number is, the return address has been. */
	lea	40 + AGENT_SLOT_RESTS(%rsp), %rcx
	cmpl	$AGENT_HOME_COUNT, 40(%rsp)
	jb	4f
	xor	%ecx, %ecx
4:
	mov	AGENT_SLOT_RETURN(%rdi), %rax
	mov	%rax, 40(%rsp)
	mov	%rcx, AGENT_SLOT_PLACE(%rdi)
	pop	%rax
	add	$127, %al
	sahf
	pop	%rdi
	pop	%rdx
	pop	%rcx
	pop	%rax
exit_returned:
	ret

	/*
	 * What makes records: the general registers that a call may carry something in, for
	 * agent_record.c. That writes to where no word begins, so it cannot run where the program
	 * has the processor check alignment (the flag AC); 40(%rsp) has all flags, for that one.
	 */
	.macro	save
	lea	-80(%rsp), %rsp
	pushf
	lea	-40(%rsp), %rsp
	mov	%rax, (%rsp)
	lahf
	seto	%al
	mov	%rax, 24(%rsp)
	mov	%rcx, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rsi, 48(%rsp)
	mov	%rdi, 56(%rsp)
	mov	%r8, 64(%rsp)
	mov	%r9, 72(%rsp)
	mov	%r10, 80(%rsp)
	mov	%r11, 88(%rsp)
	testb	$FLAG_AC >> 16, 40 + 2(%rsp)
	jz	1f
	call	do_not_check_alignment
1:
	.endm

	.macro	restore
	testb	$FLAG_AC >> 16, 40 + 2(%rsp)
	jz	9f
	call	check_alignment
9:
	mov	88(%rsp), %r11
	mov	80(%rsp), %r10
	mov	72(%rsp), %r9
	mov	64(%rsp), %r8
	mov	56(%rsp), %rdi
	mov	48(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	8(%rsp), %rcx
	mov	24(%rsp), %rax
	add	$127, %al
	sahf
	mov	(%rsp), %rax
	lea	128(%rsp), %rsp
	.endm

	/* Of a thread that is stepped, flags that are pushed have TF, too. */
do_not_check_alignment:
	pushf
	andl	$~(FLAG_AC | FLAG_TF), (%rsp)
	popf
	ret
check_alignment:
	pushf
	andl	$~FLAG_TF, (%rsp)
	orl	$FLAG_AC, (%rsp)
	popf
	ret

	/* 128(%rsp), as saved: the probe; then where it goes on. */
	.org	AGENT_RECORD_ENTRY, 0xf4
	save
	mov	%rsp, %rdi
	call	agent_enter
	mov	%rax, 128(%rsp)
	mov	%rdx, 120(%rsp)
	test	%rdx, %rdx
	jz	1f
	restore
	lea	16(%rsp), %rsp
exit_record_entered:
	jmp	*-24(%rsp)
1:
	restore
	lea	8(%rsp), %rsp
exit_record_refused:
	jmp	*-8(%rsp)

	/* The same of a return slot. */
	.org	AGENT_RECORD_RETURN, 0xf4
	save
	xor	%esi, %esi
record_returned:
	mov	%rsp, %rdi
	call	agent_returned
	test	%rax, %rax
	jz	record_full
	mov	%rax, 128(%rsp)
	restore
exit_record_returned:
	ret

record_full:
	restore
	jmp	record_wait

	.org	AGENT_RECORD_FULL, 0xf4
record_wait:
	nop
	save
	mov	$1, %esi
	jmp	record_returned

	/*
	 * size_t agent_copy(void *to, uint64_t from, size_t length): how many bytes could be read.
	 */
	.org	AGENT_COPY, 0xf4
	.globl	agent_copy
	.hidden	agent_copy
agent_copy:
	mov	%rdx, %rcx
copy_word:
	cmp	$8, %rcx
	jb	copy_byte
	.org	AGENT_COPY_WORD, 0xf4
	mov	(%rsi), %rax
	mov	%rax, (%rdi)
	add	$8, %rsi
	add	$8, %rdi
	sub	$8, %rcx
	jmp	copy_word
copy_next:
	mov	%al, (%rdi)
	inc	%rsi
	inc	%rdi
	dec	%rcx
	.org	AGENT_COPY_BYTES, 0xf4
copy_byte:
	test	%rcx, %rcx
	jz	copy_end
	.org	AGENT_COPY_BYTE, 0xf4
	mov	(%rsi), %al
	jmp	copy_next
	.org	AGENT_COPY_END, 0xf4
copy_end:
	mov	%rdx, %rax
	sub	%rcx, %rax
	ret

	/* The last instructions of what goes on elsewhere: where it counts, where it records. */
	.org	AGENT_EXITS, 0xf4
	.long	exit_entered - base, exit_refused - base, exit_returned - base
	.long	exit_unwinding - base
	.long	exit_record_entered - base, exit_record_refused - base
	.long	exit_record_returned - base, exit_unwinding - base

	/*
	 * What read_clock becomes a call of. Of CLOCK_MONOTONIC the vDSO tells without entering the
	 * kernel, mostly. It has the general registers only, too.
	 */
	.org	AGENT_CLOCK, 0xf4
	push	%rcx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	mov	%rsp, %rbp
	sub	$16, %rsp
	and	$-16, %rsp
	mov	$1, %edi
	mov	%rsp, %rsi
	call	*base + AGENT_CLOCK_FUNCTION(%rip)
	.org	AGENT_CLOCK_READ, 0xf4
	test	%eax, %eax
	mov	$0, %eax
	jnz	1f
	imul	$1000000000, (%rsp), %rax
	add	8(%rsp), %rax
1:
	mov	%rbp, %rsp
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rcx
	ret
	.org	AGENT_CLOCK_FUNCTION, 0xf4
	.quad	0

	/*
	 * size_t agent_copy_string(void *to, uint64_t from, size_t length): the same, no further
	 * than behind the first NUL. A word that lies in one page can be read if a byte of it can.
	 * A byte of it is 0 where (word - 0x01..) & ~word has bit 7 set: the lowest such one is.
	 * %rcx: how many bytes are done; %rax: where the last whole word may begin. Behind the NUL
	 * may be written what is behind it, within the length.
	 */
	.org	AGENT_STRING, 0xf4
	.globl	agent_copy_string
	.hidden	agent_copy_string
agent_copy_string:
	mov	$-0x0101010101010101, %r9
	mov	$0x8080808080808080, %r10
	xor	%ecx, %ecx
string_page:
	lea	(%rsi, %rcx), %rax
	not	%rax
	and	$0xfff, %eax
	lea	-7(%rax, %rcx), %rax
	lea	-8(%rdx), %r8
	cmp	%r8, %rax
	cmovg	%r8, %rax
	cmp	%rax, %rcx
	jg	string_bytes
string_words:
	.org	AGENT_STRING_WORD, 0xf4
	mov	(%rsi, %rcx), %r11
	mov	%r11, (%rdi, %rcx)
	lea	(%r11, %r9), %r8
	not	%r11
	and	%r10, %r8
	and	%r11, %r8
	jnz	string_nul
	add	$8, %rcx
	cmp	%rax, %rcx
	jle	string_words
string_bytes:
	cmp	%rdx, %rcx
	jae	string_end
	.org	AGENT_STRING_BYTE, 0xf4
	mov	(%rsi, %rcx), %al
	mov	%al, (%rdi, %rcx)
	inc	%rcx
	test	%al, %al
	jz	string_end
	lea	(%rsi, %rcx), %eax
	test	$0xfff, %eax
	jnz	string_bytes
	jmp	string_page
string_nul:
	bsf	%r8, %r8
	shr	$3, %r8d
	lea	1(%rcx, %r8), %rcx
	.org	AGENT_STRING_END, 0xf4
string_end:
	mov	%rcx, %rax
	ret

	/*
	 * The test of a gate at glibc's longjmp(): may the jump leave a call that is known to be
	 * pending? Each call that is caught inside has a return stub of some unit on the stack, so
	 * the words that the jump takes off are looked at. A jump that takes off much, or leads to
	 * another stack, counts as one that does.
	 *
	 * (%rsp): the gate's stub, behind the call; taken off at once. Registers of which a C
	 * function expects nothing at its entry are spent. A thread that has to be sent back to the
	 * function's beginning is told by its pc, and the stub by %r11 (gates_place()).
	 */
	.set	LOOKED_AT, 32768
	.macro	stop_if_stub index
	mov	%rdx, %r8
	sub	base + AGENT_GATE_STUBS + 8 * \index(%rip), %r8
	cmp	$AGENT_SLOT_COUNT * AGENT_RETURN_STUB, %r8
	jb	gate_stops
	.endm

	.org	AGENT_JUMP_TEST, 0xf4
	pop	%r11
	cmpl	$0, base + AGENT_PENDING(%rip)
	jne	gate_stops
	mov	JMP_BUF_SP(%rdi), %rax
	ror	$JMP_BUF_ROTATED, %rax
	xor	%fs:JMP_BUF_GUARD, %rax
	mov	%rax, %rdx
	sub	%rsp, %rdx
	cmp	$LOOKED_AT, %rdx
	ja	gate_stops
	mov	%rsp, %rcx
gate_look:
	cmp	%rax, %rcx
	jae	gate_passes
	mov	(%rcx), %rdx
	stop_if_stub 0
	stop_if_stub 1
	stop_if_stub 2
	stop_if_stub 3
	add	$8, %rcx
	jmp	gate_look
gate_passes:
	add	$AGENT_PROBE_DISPLACED - AGENT_GATE_CALL, %r11
	jmp	*%r11
gate_stops:
	add	$AGENT_PROBE_BREAKPOINT - AGENT_GATE_CALL, %r11
	jmp	*%r11
	.org	AGENT_JUMP_TEST + AGENT_JUMP_TEST_BYTES, 0xf4

	/*
	 * At the functions of an unwinder; 128(%rsp), as saved: the probe, and then where it goes
	 * on.
	 */
	.org	AGENT_UNWINDING_BEGINS, 0xf4
	save
	mov	%rsp, %rdi
	call	agent_unwinding_begins
unwinding:
	mov	%rax, 128(%rsp)
	restore
	lea	8(%rsp), %rsp
exit_unwinding:
	jmp	*-8(%rsp)
	.org	AGENT_UNWINDING_LANDS, 0xf4
	save
	mov	%rsp, %rdi
	call	agent_unwinding_lands
	jmp	unwinding

	/*
	 * void agent_capture(four arguments, void *stack): agent_capture_there() with these, on
	 * that stack, which grows down from there and is aligned.
	 */
	.globl	agent_capture
	.hidden	agent_capture
agent_capture:
	push	%rbp
	mov	%rsp, %rbp
	mov	%r8, %rsp
	call	agent_capture_there
	mov	%rbp, %rsp
	pop	%rbp
	ret
	.globl	base
	.hidden	base
