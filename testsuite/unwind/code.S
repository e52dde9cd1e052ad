/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-written functions without call-frame information, for steps.c: int code_all(int).
 * They call leaf(), and one another, with and without frame pointers.
 */
	.text
#ifdef __x86_64__
	.globl code_all
	.type code_all, @function
code_all:
	push %rbx
	push %r12
	mov %edi, %ebx
	call code_leaf
	mov %ebx, %edi
	call code_frame
	mov %ebx, %edi
	call code_pushes
	pop %r12
	pop %rbx
	ret
	.size code_all, .-code_all

	.type code_leaf, @function
code_leaf:
	lea 1(%rdi), %eax
	nop
	ret
	.size code_leaf, .-code_leaf

	.type code_frame, @function
code_frame:
	push %rbp
	mov %rsp, %rbp
	sub $48, %rsp
	mov %edi, -8(%rbp)
	call code_leaf
	call leaf
	leave
	ret
	.size code_frame, .-code_frame

	.type code_pushes, @function
code_pushes:
	push %r13
	push %r14
	sub $24, %rsp
	movq $0, 8(%rsp)
	call leaf
	add $24, %rsp
	pop %r14
	pop %r13
	ret
	.size code_pushes, .-code_pushes
#else
	.globl code_all
	.type code_all, @function
code_all:
	push %ebx
	mov 8(%esp), %ebx
	call code_leaf
	push %ebx
	call code_frame
	call code_pushes
	pop %eax
	pop %ebx
	ret
	.size code_all, .-code_all

	.type code_leaf, @function
code_leaf:
	lea 1(%ebx), %eax
	nop
	ret
	.size code_leaf, .-code_leaf

	.type code_frame, @function
code_frame:
	push %ebp
	mov %esp, %ebp
	sub $24, %esp
	mov %ebx, (%esp)
	call code_leaf
	call leaf
	leave
	ret
	.size code_frame, .-code_frame

	.type code_pushes, @function
code_pushes:
	push %edi
	sub $20, %esp
	mov %ebx, (%esp)
	call leaf
	add $20, %esp
	pop %edi
	ret
	.size code_pushes, .-code_pushes
#endif
	.section .note.GNU-stack, "", @progbits
