/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OTHERWAY_H
#define OTHERWAY_H

#ifdef __i386__
#define OTHER __attribute__((fastcall))
#else
#define OTHER __attribute__((ms_abi))
#endif

OTHER int w_other(int first, const char *text, int number);

#endif
