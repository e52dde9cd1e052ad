/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpreserved.c, for preserved.c. */
__attribute__((preserve_most)) void preserved_most(int number);
__attribute__((ms_abi)) int preserved_by_windows(int number);
int preserved_total(void);
