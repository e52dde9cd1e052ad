/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with conventions of their own: one that is given the carry flag, one that returns behind data that stands
 * behind the call, and one that reads its return address. Each is called 1,000 times.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

uint64_t call_carry(uint64_t value);
uint64_t call_skip(uint64_t value);
uint64_t call_read(uint64_t value);

__asm__(".text\n"
	".macro function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	"function odd_carry\n" /* %rax + 1 by the carry flag */
	"	nopl 0(%rax)\n"
	"	adc $0, %rax\n"
	"	ret\n"
	".size odd_carry, .-odd_carry\n"
	"function odd_skip\n" /* %rax + 1; 2 bytes behind the call are not run */
	"	lea 1(%rax), %rax\n"
	"	nop\n"
	"	addq $2, (%rsp)\n"
	"	ret\n"
	".size odd_skip, .-odd_skip\n"
	"function odd_read\n" /* %rax + 1 when the return address is .Lhere */
	"	nopl 0(%rax)\n"
	"	lea .Lhere(%rip), %rdx\n"
	"	cmp (%rsp), %rdx\n"
	"	jne 1f\n"
	"	inc %rax\n"
	"1:	ret\n"
	".size odd_read, .-odd_read\n"
	"function call_carry\n"
	"	mov %rdi, %rax\n"
	"	stc\n"
	"	call odd_carry\n"
	"	ret\n"
	"function call_skip\n"
	"	mov %rdi, %rax\n"
	"	call odd_skip\n"
	"	ud2\n"
	"	ret\n"
	"function call_read\n"
	"	mov %rdi, %rax\n"
	"	call odd_read\n"
	".Lhere:\n"
	"	ret\n");

static const struct {
	const char *word;
	uint64_t (*call)(uint64_t);
} calls[] = {{"carry", call_carry}, {"skip", call_skip}, {"read", call_read}};

int main(int count, char **words)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		for (uint64_t k = 0; k < 1000 && count > 1 && !strcmp(words[1], calls[i].word); k++)
			wrong += calls[i].call(k) != k + 1;
	printf("wrong %d\n", wrong);
	return wrong != 0;
}
