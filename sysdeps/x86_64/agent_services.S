/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of agent_entry.S, which includes it, that the agent's C code calls: reads of memory that
 * may be unreadable, the clock, a change of stacks; and the code that gates and the functions of an
 * unwinder lead to. A read has its place in agent_abi.h: if it faults, the tracer makes the thread
 * continue behind it (engine/agent/faults.c).
 */

	/* size_t agent_copy(void *to, uint64_t from, size_t length): returns the bytes readable. */
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

	/* Instructions that leave the agent's code: of units that count, of units that record. */
	.org	AGENT_EXITS, 0xf4
	.long	exit_entered - base, exit_refused - base, exit_returned - base
	.long	exit_unwinding - base
	.long	exit_record_entered - base, exit_record_refused - base
	.long	exit_record_returned - base, exit_unwinding - base

	/*
	 * read_clock becomes a call of this. For CLOCK_MONOTONIC the vDSO mostly needs no system
	 * call. The vDSO, too, uses general registers only.
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
	 * size_t agent_copy_string(void *to, uint64_t from, size_t length): like agent_copy(), up
	 * to the first NUL. A word in one page is readable if one of its bytes is. A byte of it is
	 * 0 if (word - 0x01..) & ~word has its bit 7 set; only the lowest such bit counts. %rcx:
	 * bytes done; %rax: the last offset where a whole word may begin. Bytes behind the NUL may
	 * be written, too, within the length.
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
	 * The test of a gate at glibc's longjmp(): may the jump leave a pending call? Each call
	 * that the agent has caught has a return trampoline on the stack, so the words are examined
	 * that the jump takes off. If the jump takes off much, or leads to another stack, the
	 * thread stops.
	 *
	 * (%rsp): an address in the gate's stub, pushed by the call, and popped at once. The code
	 * changes only registers that have no meaning at the entry of a C function. A thread that
	 * has to be put back to the function's beginning is found by its pc, and its stub by %r11
	 * (gates_place()).
	 */
	.set	LOOKED_AT, 32768
	.macro	stop_if_stub index
	mov	%rdx, %r8
	sub	base + AGENT_GATE_STUBS + 8 * \index(%rip), %r8
	cmp	$AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB, %r8
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
	 * struct loaded agent_load(uint64_t address): the word there, and 1, in the registers of a
	 * result; 0 in the second one if it cannot be read.
	 */
	.org	AGENT_LOAD, 0xf4
	.globl	agent_load
	.hidden	agent_load
agent_load:
	mov	(%rdi), %rax
	mov	$1, %edx
	ret
	.org	AGENT_LOAD_FAILED, 0xf4
	xor	%edx, %edx
	ret

	/* At an unwinder's functions. 128(%rsp): number of the probe; later where to continue. */
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
	 * void agent_capture(four arguments, void *stack): calls agent_capture_there() with these
	 * arguments on `stack`, which is aligned and grows down.
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

	/* void agent_find_line(search, void *stack): likewise for agent_find_line_there(). */
	.globl	agent_find_line
	.hidden	agent_find_line
agent_find_line:
	push	%rbp
	mov	%rsp, %rbp
	mov	%rsi, %rsp
	call	agent_find_line_there
	mov	%rbp, %rsp
	pop	%rbp
	ret

	/* unsigned agent_match(words, count): see agent_memo.h. */
	.org	AGENT_MATCH, 0xf4
	.globl	agent_match
	.hidden	agent_match
agent_match:
	xor	%eax, %eax
	test	%rsi, %rsi
	jz	matched
match_word:
	mov	(%rdi), %rdx
	.org	AGENT_MATCH_WORD, 0xf4
	mov	(%rdx), %rdx
	xor	8(%rdi), %rdx
	test	%rdx, 16(%rdi)
	jnz	match_failed
	add	$24, %rdi
	dec	%rsi
	jnz	match_word
matched:
	mov	$1, %eax
	.org	AGENT_MATCH_FAILED, 0xf4
match_failed:
	ret
	.globl	base
	.hidden	base
