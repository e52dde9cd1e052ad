/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling conventions by the psABI documents, written down here once more, so that tests do not
 * rely on the tracer's tables.
 */
#ifndef TRACER_TESTSUITE_ABIS_H
#define TRACER_TESTSUITE_ABIS_H

#include "base/arch.h"

enum { R8 = 8, R9 = 9 };

static const struct abi abi64 = {
	.word = 8,
	.int_args = 6,
	.int_arg = {REG_DI, REG_SI, REG_DX, REG_CX, R8, R9},
	.fp_args = 8,
	.counts_vectors = true,
	.stack_first = 8,
};

static const struct abi abi32 = {
	.word = 4,
	.stack_first = 4,
	.fp_result_in_st0 = true,
};

#endif
