/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the C library whose prototypes say more than how many parameters there are. */
#include <stdio.h>

static void write_and_read(void)
{
	char bytes[12] = "abcdefghijk";
	FILE *file = tmpfile();

	if (!file)
		return;
	fwrite(bytes, 3, 2, file);
	fwrite(bytes, 11, 1, file);
	rewind(file);
	fread(bytes, 4, 3, file);
	fread(bytes, 4, 3, file);
	fclose(file);
}

int main(void)
{
	write_and_read();
	return 0;
}
