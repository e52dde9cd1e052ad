/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of leaves.c, by hand, so that no compiler puts padding of its own behind them.
 * BY_SIZES: only the sizes of symbols tell where they end, and not .eh_frame.
 */
#ifdef BY_SIZES
#define CFI(directive)
#else
#define CFI(directive) directive
#endif

	.text

	.macro begin name
	.globl \name
	.type \name, @function
\name:	CFI(.cfi_startproc)
	.endm

	.macro end name
	CFI(.cfi_endproc)
	.size \name, . - \name
	.endm

#ifdef __x86_64__
#define FRAME_SIZE 8
	.macro enter
	sub $8, %rsp
	CFI(.cfi_adjust_cfa_offset 8)
	.endm
	.macro leave_frame
	add $8, %rsp
	ret
	.endm
	.macro by_plt function
	call \function@PLT
	.endm
	.macro by_got function
	call *\function@GOTPCREL(%rip)
	.endm
	.macro by_pointer function
	mov \function@GOTPCREL(%rip), %rax
	call *%rax
	.endm
	.macro push_place place
	lea \place(%rip), %rax
	push %rax
	.endm
#else
#define FRAME_SIZE 12
	.macro enter
	push %ebx
	CFI(.cfi_adjust_cfa_offset 4)
	sub $8, %esp
	CFI(.cfi_adjust_cfa_offset 8)
	call 9f
9:	pop %ebx
	add $_GLOBAL_OFFSET_TABLE_ + (. - 9b), %ebx
	.endm
	.macro leave_frame
	add $8, %esp
	pop %ebx
	ret
	.endm
	.macro by_plt function
	call \function@PLT
	.endm
	.macro by_got function
	call *\function@GOT(%ebx)
	.endm
	.macro by_pointer function
	mov \function@GOT(%ebx), %eax
	call *%eax
	.endm
	.macro push_place place
	lea \place@GOTOFF(%ebx), %eax
	push %eax
	.endm
#endif

/* What may be behind a function. */
	.macro put_nops way
	nopw 0(%eax,%eax,1)
	nop
	nop
	nop
	.endm
	.macro put_int3 way
	.quad 0xcccccccccccccccc
	.endm
	.macro put_ud2 way
	ud2
	ud2
	ud2
	ud2
	.endm
	.macro put_data way
	.quad 0x1122334455667788
	.endm
	.macro put_nothing way /* no instruction */
	.quad 0xffffffffffffffff
	.endm
	.macro put_function way
	begin next_\way
	mov $7, %eax
	nop
	nop
	nop
	ret
	end next_\way
	.endm

	.macro leaves way what
	.p2align 4
	begin leaves_\way\()_\what
	enter
	by_\way leave_now
	end leaves_\way\()_\what
	.globl behind_\way\()_\what
behind_\way\()_\what:
	put_\what \way
	.endm

	.irp way, plt, got, pointer
	leaves \way nops
	leaves \way int3
	leaves \way ud2
	leaves \way data
	leaves \way nothing
	leaves \way function
	.endr

/* A cold part, which is jumped to, and right behind it that of another function. */
	.p2align 4
	begin leaves_cold
	enter
	jmp leaves_cold.cold
	end leaves_cold
	begin leaves_cold.cold
	CFI(.cfi_adjust_cfa_offset FRAME_SIZE)
	by_plt leave_now
	end leaves_cold.cold
	begin next_cold.cold
	CFI(.cfi_adjust_cfa_offset 32)
	mov $9, %eax
	ret
	end next_cold.cold
	begin next_cold
	jmp next_cold.cold
	end next_cold

/* It goes on in its next part, which call-frame information tells of by itself. */
	.p2align 4
	begin returns_to_part
	enter
	by_plt leave_answer
#ifndef BY_SIZES
	end returns_to_part
	.cfi_startproc
	.cfi_adjust_cfa_offset FRAME_SIZE
	leave_frame
	.cfi_endproc
#else
	leave_frame
	end returns_to_part
#endif

	.p2align 4
	begin returns_to_int3
	enter
	by_plt leave_answer
	int3
	leave_frame
	end returns_to_int3

/* It pushes an address to return to: the beginning of another function. */
	.p2align 4
	begin returns_to_pushed
	enter
	push_place pushed
	jmp leave_answer@PLT
	end returns_to_pushed
	.p2align 4
	begin ends_there
	.skip 15, 0x90
	ret
	end ends_there
	begin pushed
	CFI(.cfi_adjust_cfa_offset FRAME_SIZE)
	leave_frame
	end pushed

/* It is jumped to, with an address of data on the stack, and returns to the caller of who has jumped. */
	.p2align 4
	begin jumps_with_data
	enter
	push_place leaves_data
	jmp jumped_to
	end jumps_with_data
	.p2align 4
	begin jumped_to
#ifdef __x86_64__
	pop %rax
#else
	pop %eax
#endif
	mov $4, %eax
	leave_frame
	end jumped_to

	.data
	.p2align 4
leaves_data:
	.quad 0

	.section .note.GNU-stack, "", @progbits
