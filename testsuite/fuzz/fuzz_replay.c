/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace files. The first byte of an input says what is shown, and whether the rest is the file as
 * it is. Otherwise the rest is a file without packing, and the lengths and checksums of its chunks
 * are put right, so that what is in them gets to those who read it.
 */
#include "fuzz.h"
#include "replay/replay.h"
#include "stream/chunk_pack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AS_IT_IS = 1, WITH_STACKS = 2, DEMANGLED = 4, KIND_SHIFT = 4 };

static const char *const kinds[] = {"text", "json", "summary", "chrome", "nothing"};

/*
 * Copies one chunk, made right. Returns how many bytes of the input it took; 0: it has no header.
 */
static size_t copy_chunk(const struct input *input, struct packer *packer, struct bytes *file)
{
	struct bytes packed = {0};
	struct trace_chunk chunk;

	if (input->left < sizeof chunk)
		return 0;
	memcpy(&chunk, input->bytes, sizeof chunk);
	const size_t left = input->left - sizeof chunk;
	const size_t size = chunk.stored < left ? chunk.stored : left;
	const struct chunk_about about = {.kind = (enum trace_chunk_kind)(chunk.kind & 3),
					  .count = chunk.count,
					  .first = chunk.first,
					  .last = chunk.last};

	packer_pack(packer, &about, input->bytes + sizeof chunk, size, &packed);
	bytes_put(file, packed.data, packed.length);
	bytes_deinit(&packed);
	return sizeof chunk + size;
}

static void make_file(struct input *input, struct bytes *file)
{
	struct trace_header header = {
		.magic = TRACE_MAGIC, .version = TRACE_VERSION, .size = sizeof header};
	struct packer *packer = packer_create(0);
	uint8_t old[sizeof header];
	size_t taken;

	MUST(packer);
	input_take(input, old, sizeof old);
	bytes_put(file, &header, sizeof header);
	while ((taken = copy_chunk(input, packer, file)) > 0) {
		input->bytes += taken;
		input->left -= taken;
	}
	packer_destroy(packer);
}

static int open_bytes(const void *bytes, size_t length)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);

	MUST(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void replay(int fd, unsigned how)
{
	static const struct vec none = VEC_OF(const char *);
	static const struct vec no_more = VEC_OF(struct session_output);
	const struct output_options output = {.string_max = 64,
					      .array_max = 8,
					      .durations = true,
					      .return_address = true,
					      .parameter_names = true,
					      .script_line = (how & WITH_STACKS) != 0,
					      .where = how & WITH_STACKS ? 10 : 0,
					      .where_native = true,
					      .where_script = true,
					      .demangle = (how & DEMANGLED) != 0};
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct replay_options options = {
		.fd = fd,
		.wishes = {.calls = &none, .entries = &none, .optional = &none},
		.is_quiet = true,
		.sink = sink_find(kinds[(how >> KIND_SHIFT) % (sizeof kinds / sizeof *kinds)]),
		.more = &no_more,
		.output_fd = null,
		.output = &output};
	struct replay_result result;

	MUST(null >= 0);
	replay_run(&options, &result);
	MUST(!result.bad_filter);
	close(null);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	const uint8_t how = input_byte(&input);
	struct bytes file = {0};

	if (how & AS_IT_IS)
		bytes_put(&file, input.bytes, input.left);
	else
		make_file(&input, &file);
	const int fd = open_bytes(file.data, file.length);

	replay(fd, how);
	close(fd);
	bytes_deinit(&file);
	return 0;
}
