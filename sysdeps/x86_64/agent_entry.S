/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's code in a tracee that runs at the entry and at the return of a counted call; and the
 * assembler part of recording. It is one piece with agent_services.S.
 *
 * Entry. The function begins with a jump to its probe stub, which pushes the probe's number and
 * comes here. The return address is saved in the record of a return trampoline and replaced by its
 * stub. The call is counted, in one of the trampoline's tallies if possible, since locked
 * instructions on shared memory are the most expensive part. Its time is taken. Then the probe stub
 * runs the displaced instructions, with all registers and flags restored.
 *
 * The trampoline is selected by a hash of the return address's place on the stack. Two threads
 * never run on the same place, so threads need not be told apart. The first place in a home keeps
 * the home: while no call is pending, the home is at rest, and the next call from that place claims
 * it without a locked instruction, which would wait for all earlier stores. Other places with the
 * same home claim one of the trampolines behind, which each return frees. If the record has the
 * same place and is in use, its call is over: a new call has pushed its return address there. But
 * if the return address is itself a trampoline, of this unit or another, a traced function has
 * jumped to this one (a tail call, or a PLT stub). Then both calls are pending, and will return one
 * after the other.
 *
 * A return address is replaced only if the tracer has accepted it: a symbol may be no function, and
 * the word on top of the stack no return address. Other calls, and those that find no trampoline,
 * go to the breakpoint in the probe stub, with everything as at the function's entry. Without a
 * tracer there is a nop.
 *
 * Return. The trampoline pushes its number and comes here. The time is added, the trampoline freed
 * (a home: put at rest), and the thread continues at the true return address, with all registers
 * and flags restored. If each call's time is kept, the trampolines lead to code that first
 * increments a bucket (agent_abi.h). Its locked instruction is on a line that no other thread uses
 * at the time, mostly, as each has its shard by where its stack is.
 *
 * Processors predict that a function returns to the instruction behind the call that it was entered
 * by. A return to elsewhere is mispredicted, which costs as much as reading the clock. So the
 * trampoline's address is not stored: the caller's return address is taken off the stack, and a
 * call in front of the trampoline pushes the trampoline's address, and goes to the displaced
 * instructions. At the end a ret goes to the caller, as predicted.
 *
 * The code assumes that memory below the stack pointer is unused at a function's entry and behind
 * its return (the red zone is the running function's; signals leave it alone). It can fault only by
 * the stack. It uses general registers only, and makes no calls, so a thread leaves it after some
 * 60 instructions.
 */
#include "engine/agent/agent_abi.h"

#define FLAG_TF 0x100
#define FLAG_AC 0x40000

/* The stack pointer in glibc's jmp_buf, and how it is mangled: see arch.jump_buffer. */
#define JMP_BUF_SP 48
#define JMP_BUF_ROTATED 17
#define JMP_BUF_GUARD 48

	/* Looks for the return address, %rdx, in its set. */
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
	 * The time, into %rax; changes %rdx. If the processor's clock is not reliable, these bytes
	 * become a call (agent_arch.use_system_clock()), which also writes below the stack pointer.
	 */
	.macro	read_clock
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

	/* The record of trampoline %r8d: its address into %rcx, its place into %rax. */
	.macro	find_slot
	mov	%r8d, %eax
	shl	$5, %eax
	lea	base + AGENT_TRAMPOLINES(%rip), %rcx
	add	%rax, %rcx
	mov	AGENT_TRAMPOLINE_PLACE(%rcx), %rax
	.endm

	/* Restores the registers and flags that `entry` has saved. */
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
	/* 56(%rsp): number of the probe, 64(%rsp): the return address */
	lea	64(%rsp), %rsi
	/* An unaligned place could look like one at rest. */
	test	$7, %sil
	jnz	trap
	mov	(%rsi), %rdx
	lea	base + AGENT_RETURN_STUBS(%rip), %rcx
	mov	%rdx, %rdi
	sub	%rcx, %rdi
	cmp	$AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB, %rdi
	jb	good
	to_good_if_among AGENT_RETURN_SITES, AGENT_SET_BITS
	xor	%edi, %edi
	to_good_if_among AGENT_STUB_SITES, AGENT_STUB_SET_BITS
	jmp	trap

good:
	/*
	 * If %rdi is below AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB, the return address is a
	 * trampoline. For the home see agent_trampoline_hash().
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
	lea	AGENT_TRAMPOLINE_RESTS(%rsi), %rdx
	cmp	%rdx, %rax
	jne	not_at_rest
	mov	%rsi, AGENT_TRAMPOLINE_PLACE(%rcx)
take:
	mov	(%rsi), %rax
	mov	%rax, AGENT_TRAMPOLINE_RETURN(%rcx)
	mov	56(%rsp), %eax
	mov	%rax, AGENT_TRAMPOLINE_PROBE(%rcx)
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
	mov	%rax, AGENT_TRAMPOLINE_TIME(%rcx)
	reload
	/* Pops the return address. -16(%rsp): displaced code, -80(%rsp): the trampoline's call */
	lea	16(%rsp), %rsp
exit_entered:
	jmp	*-80(%rsp)

not_at_rest:
	test	%rax, %rax
	jz	nobodys
	cmp	%rsi, %rax
	jne	away
	cmp	$AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB, %rdi
	jae	take
away:
	mov	$AGENT_TRAMPOLINE_TRIES, %edx
look:
	and	$AGENT_HOME_COUNT - 1, %r8d
	or	$AGENT_HOME_COUNT, %r8d
	find_slot
	test	%rax, %rax
	jz	free
	cmp	%rsi, %rax
	jne	next
	cmp	$AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB, %rdi
	jae	take
next:
	inc	%r8d
	dec	%edx
	jnz	look
	jmp	trap
free:
	lock cmpxchg %rsi, AGENT_TRAMPOLINE_PLACE(%rcx)
	je	take
	jmp	next
nobodys:
	lock cmpxchg %rsi, AGENT_TRAMPOLINE_PLACE(%rcx)
	je	take
	jmp	away

	/* Another probe has the tally, or none. %rsi is free, and so is %rax, which is %rdx - 1. */
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
	/* The owner was not called for a while: the tally's content goes to its counter. */
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
	/* 40(%rsp): number of the trampoline */
	read_clock
	mov	40(%rsp), %edx
	mov	%edx, %edi
	shl	$5, %edi
	lea	base + AGENT_TRAMPOLINES(%rip), %rcx
	add	%rcx, %rdi
	sub	AGENT_TRAMPOLINE_TIME(%rdi), %rax
	jae	timed
	xor	%eax, %eax
	/* 40(%rsp) and %edx: number of the trampoline; %rdi: its record; %rax: the call's time */
timed:
	mov	AGENT_TRAMPOLINE_PROBE(%rdi), %ecx
	and	$AGENT_TALLY_WAYS - 1, %ecx
	lea	(%rcx, %rdx, AGENT_TALLY_WAYS), %edx
	shl	$5, %edx
	lea	base + AGENT_TALLIES(%rip), %rcx
	add	%rcx, %rdx
	mov	AGENT_TRAMPOLINE_PROBE(%rdi), %ecx
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
	/* The number is where the return address was. */
	lea	40 + AGENT_TRAMPOLINE_RESTS(%rsp), %rcx
	cmpl	$AGENT_HOME_COUNT, 40(%rsp)
	jb	4f
	xor	%ecx, %ecx
4:
	mov	AGENT_TRAMPOLINE_RETURN(%rdi), %rax
	mov	%rax, 40(%rsp)
	mov	%rcx, AGENT_TRAMPOLINE_PLACE(%rdi)
	pop	%rax
	add	$127, %al
	sahf
	pop	%rdi
	pop	%rdx
	pop	%rcx
	pop	%rax
exit_returned:
	ret

	/* As above; but the call's time is counted in a bucket, too. */
	.org	AGENT_RETURNED_TIMED, 0xf4
	push	%rax
	push	%rcx
	push	%rdx
	push	%rdi
	lahf
	seto	%al
	push	%rax
	read_clock
	mov	40(%rsp), %edi
	shl	$5, %edi
	lea	base + AGENT_TRAMPOLINES(%rip), %rcx
	add	%rcx, %rdi
	sub	AGENT_TRAMPOLINE_TIME(%rdi), %rax
	jae	1f
	xor	%eax, %eax
1:
	push	%rsi
	push	%r8
	/* %rsi: the bucket, as histogram_bucket() finds it */
	mov	%rax, %rsi
	or	$1 << AGENT_BUCKETS_BITS, %rsi
	bsr	%rsi, %rcx
	sub	$AGENT_BUCKETS_BITS, %ecx
	mov	%rax, %rsi
	shr	%cl, %rsi
	shl	$AGENT_BUCKETS_BITS, %ecx
	add	%rcx, %rsi
	/* %rcx: the shard; %rdx: the probe's counter */
	mov	%rsp, %rcx
	shr	$AGENT_SHARD_PIECE, %rcx
	imul	$AGENT_HASH, %ecx, %ecx
	shr	$32 - AGENT_SHARD_BITS, %ecx
	shl	$AGENT_BUCKETS_SHIFT, %ecx
	mov	AGENT_TRAMPOLINE_PROBE(%rdi), %edx
	shl	$5, %edx
	lea	base + AGENT_COUNTERS(%rip), %r8
	add	%r8, %rdx
	add	AGENT_COUNTER_BUCKETS(%rdx), %rcx
	lea	(%rcx, %rsi, 8), %rcx
	mov	$1, %r8d
	lock xadd %r8, (%rcx)
	test	%r8, %r8
	jz	first_in_bucket
kept:
	pop	%r8
	pop	%rsi
	mov	40(%rsp), %edx
	jmp	timed

first_in_bucket:
	sub	AGENT_COUNTER_BUCKETS(%rdx), %rcx
	shr	$12, %rcx
	lock bts %rcx, AGENT_COUNTER_USED(%rdx)
	jmp	kept

	/*
	 * For code in C: saves the general registers in which calls pass something, as a struct
	 * frame. That code makes unaligned accesses, so it cannot run with alignment checks enabled
	 * by the program (flag AC); 40(%rsp) has all flags.
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

	/* If the thread is single-stepped, the pushed flags have TF, too. */
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

	/* 128(%rsp): the number of the probe; later the address to continue at. */
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

	/* 128(%rsp): the number of the return trampoline; later the address to continue at. */
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

#include "x86_64/agent_services.S"
