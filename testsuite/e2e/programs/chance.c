/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by registers that a GOT slot was loaded into, in a function where four bytes look like the displacement of a
 * slot, and are not: the end of a mov's number and the beginning of the next instruction ("add %al,%al", or with a
 * negative displacement "inc %eax"). Small numbers make such by chance, where the GOT is as far away; here the linker
 * does. FIRST, the byte in front of it, tells it from one; 5 says that it is one.
 */
char *getenv(const char *name);

#ifdef __x86_64__
#define BY_CHANCE ".reloc ., R_X86_64_GOTPCREL, getenv - 4\n"
#else
#define BY_CHANCE ".reloc ., R_386_GOT32, getenv\n"
#endif

#ifndef FIRST
#define FIRST "0"
#endif

int main(void)
{
	int found = getenv("A") ? 1 : 0;

	found += getenv("B") ? 1 : 0;
	__asm__ volatile(".byte 0xb8, " FIRST "\n" BY_CHANCE ".long 0\n"
			 ".byte 0xc0\n"
			 :
			 :
			 : "eax");
	found += getenv("C") ? 1 : 0;
	return found == 7;
}
