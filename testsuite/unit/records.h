/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds records by hand, and reads what a sink wrote for them: for the tests of src/sink. */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include "proto/prototype.h"
#include "record/record.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct made {
	union {
		struct record record;
		unsigned char bytes[4096];
	};
};

static inline struct made make_record(enum record_kind kind, int32_t tid, uint32_t probe,
				      uint64_t call)
{
	return (struct made){.record = {.size = sizeof(struct record),
					.version = RECORD_VERSION,
					.kind = (uint8_t)kind,
					.pid = tid,
					.tid = tid,
					.probe = probe,
					.call = call}};
}

/* Appends `value` and its bytes. Returns its place in the record, so that a test can damage it. */
static inline struct record_value *add_value(struct made *made, struct record_value value,
					     const void *bytes)
{
	unsigned char *end = made->bytes + made->record.size;

	memcpy(end, &value, sizeof value);
	if (bytes)
		memcpy(end + sizeof value, bytes, value.length);
	made->record.size += (uint32_t)sizeof value + ((value.length + 7U) & ~7U);
	made->record.value_count++;
	return (struct record_value *)(void *)end;
}

static inline struct record_value *add_word(struct made *made, unsigned argument, unsigned size,
					    uint64_t word)
{
	return add_value(made,
			 (struct record_value){.kind = VALUE_WORD,
					       .argument = (uint8_t)argument,
					       .size = (uint8_t)size,
					       .word = word},
			 NULL);
}

static inline struct record_value *add_string(struct made *made, unsigned argument,
					      const char *text, unsigned flags)
{
	return add_value(made,
			 (struct record_value){.kind = VALUE_STRING,
					       .flags = (uint8_t)flags,
					       .argument = (uint8_t)argument,
					       .size = 8,
					       .length = (uint32_t)strlen(text),
					       .word = 0xdead},
			 text);
}

static inline struct record_value *add_double(struct made *made, unsigned argument, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof bits);
	return add_value(made,
			 (struct record_value){.kind = VALUE_FLOAT,
					       .argument = (uint8_t)argument,
					       .size = 8,
					       .word = bits},
			 NULL);
}

/* Makes the last value one of a printf conversion. */
static inline void by_conversion(struct record_value *value, char conversion)
{
	value->flags |= VALUE_VARARG;
	value->conversion = conversion;
}

static inline void end_format(struct made *made, unsigned argument)
{
	add_word(made, argument, 8, 0)->flags = VALUE_FORMAT_END;
}

/* Reads all of a file from its beginning, NUL-terminated. */
static inline const char *file_text(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	return text;
}

static const struct type type_void = {.kind = TYPE_VOID};
static const struct type type_int = {.kind = TYPE_INT, .width = WIDTH_INT, .is_signed = true};
static const struct type type_ulong = {.kind = TYPE_INT, .width = WIDTH_LONG};
static const struct type type_addr = {.kind = TYPE_POINTER};
static const struct type type_string = {.kind = TYPE_STRING};
static const struct type type_format = {.kind = TYPE_FORMAT};
static const struct type type_double = {.kind = TYPE_FLOAT, .width = WIDTH_DOUBLE};

#endif
