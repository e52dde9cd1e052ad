/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of trace files: doc/TRACE-FORMAT.md describes it for those who write readers.
 *
 * A file is a header and chunks. Each chunk says how long it is and has a checksum, so a file that
 * was cut off can be read up to its last whole chunk. The last chunk is an index of all others.
 *
 * What records refer to by number (functions, stacks, places in code) is described in dictionary
 * chunks. An entry is written when a record first needs it, in front of the chunk with that record.
 * So a reader that goes from front to back knows all that it needs, and one that looks for a time
 * reads all dictionary chunks first, which are few.
 *
 * All integers are little-endian.
 */
#ifndef TRACER_STREAM_FORMAT_H
#define TRACER_STREAM_FORMAT_H

#include <assert.h>
#include <stdint.h>

enum {
	TRACE_VERSION = 1,
	/* No chunk is longer, packed or not: a reader needs memory for one. */
	TRACE_CHUNK_MAX = 4 << 20,
	/* Readers take no more of a dictionary, unpacked; writers stop well before that. */
	TRACE_DICTIONARY_MAX = 128 << 20,
	/* A writer begins a new chunk behind so many bytes, before they are packed. */
	TRACE_CHUNK_FULL = 256 << 10
};

#define TRACE_MAGIC "\x89tracer\n" /* 8 bytes */

struct trace_header {
	char magic[8];
	uint32_t version; /* TRACE_VERSION; readers of it do not know later ones */
	uint32_t size;	  /* of this header: the first chunk begins there */
	uint64_t begun;	  /* ns since the Epoch */
	uint64_t reserved;
};
static_assert(sizeof(struct trace_header) == 32, "part of the file format");

enum trace_chunk_kind {
	TRACE_DICTIONARY = 1, /* entries, enum trace_entry */
	TRACE_RECORDS,	      /* items: see record_code.h */
	TRACE_INDEX	      /* struct trace_index_entry for each other chunk; the last chunk */
};

enum trace_packing { TRACE_PLAIN, TRACE_ZSTD };

#define TRACE_CHUNK_MAGIC 0x6b6e6843U /* "Chnk" */

struct trace_chunk {
	uint32_t magic;
	uint8_t kind;	 /* enum trace_chunk_kind; a reader skips kinds that it does not know */
	uint8_t packing; /* enum trace_packing */
	uint16_t reserved;
	uint32_t stored;   /* bytes that follow this header */
	uint32_t size;	   /* bytes once they are unpacked */
	uint32_t count;	   /* entries, records, or rows of the index */
	uint32_t checksum; /* CRC-32 of this header, with 0 here, and of the bytes that follow */
	uint64_t first;	   /* RECORDS: the earliest and the latest time of a record, ns */
	uint64_t last;
};
static_assert(sizeof(struct trace_chunk) == 40, "part of the file format");

struct trace_index_entry {
	uint64_t offset; /* of the chunk, from the beginning of the file */
	uint32_t kind, count;
	uint64_t first, last;
};
static_assert(sizeof(struct trace_index_entry) == 32, "part of the file format");

/* The last 16 bytes of a whole file. */
struct trace_end {
	uint64_t index; /* offset of the index chunk */
	char magic[8];	/* TRACE_END_MAGIC */
};
static_assert(sizeof(struct trace_end) == 16, "part of the file format");

#define TRACE_END_MAGIC "tracend\n"

/*
 * Entries of dictionary chunks: a byte for the kind, and a block (bytes.h). TEXT, PROTOTYPE, PROBE,
 * PLACE, CODE, STACK and MODULE are numbered, each kind from 1, in the order of the file; 0 means
 * that there is none.
 */
enum trace_entry {
	ENTRY_TEXT = 1,	 /* the bytes of a text */
	ENTRY_PROTOTYPE, /* see proto/prototype_code.h */
	ENTRY_PROBE,	 /* kind (a byte); numbers of name, symbol, display, module, prototype */
	ENTRY_PLACE,	 /* pid (folded), address, number of the text that -i shows */
	ENTRY_CODE,	 /* pid (folded), address, number of the text for a pointer to there */
	ENTRY_STACK,	 /* frames, the innermost first: see trace_dictionary.c */
	ENTRY_FACT,	 /* about the trace: the numbers of two texts, name and value */
	ENTRY_MODULE	 /* numbers of name, path, SONAME, build ID; 1 (a byte) for the program */
};

#endif
