/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells whether an ABI can be built for. */
int main(void)
{
	return 0;
}
