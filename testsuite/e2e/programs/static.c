/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same calls with everything in one file. */
#include "libouter.c"
#include "libwork.c"
#include "plt.c"
