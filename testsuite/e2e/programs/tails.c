/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tail_short() ends by a jump to tail_inner(), which calls tail_leaf(). The first and the last begin by reading the clock,
 * which cannot be run elsewhere, so a tracer catches them by breakpoints, and the one between them inside the process. So
 * with tail_first(), tail_middle() and tail_leaf(), each of which ends by a jump to the next.
 */
__asm__(".text\n"
	".globl tail_leaf\n.type tail_leaf, @function\n"
	"tail_leaf:	rdtsc\n	lea 2(%rdi), %eax\n	ret\n.size tail_leaf, . - tail_leaf\n"
	".globl tail_short\n.type tail_short, @function\n"
	"tail_short:	rdtsc\n	jmp inner\n.size tail_short, . - tail_short\n"
	".globl tail_inner\n.type tail_inner, @function\n"
	"tail_inner:\ninner:	push %rdi\n	nopl 0(%rax,%rax,1)\n	call tail_leaf\n"
	"	pop %rdi\n	lea 1(%rdi), %eax\n	ret\n"
	".size tail_inner, . - tail_inner\n"
	".globl tail_first\n.type tail_first, @function\n"
	"tail_first:	rdtsc\n	jmp middle\n.size tail_first, . - tail_first\n"
	".globl tail_middle\n.type tail_middle, @function\n"
	"tail_middle:\nmiddle:	nopl 0(%rax,%rax,1)\n	jmp tail_leaf\n"
	".size tail_middle, . - tail_middle\n");

int tail_short(int number); /* number + 1 */
int tail_first(int number); /* number + 2 */

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += tail_short(i) + tail_first(i);
	return sum == 35 ? 0 : 1;
}
