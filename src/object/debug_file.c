/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file with the debug information.
 *
 * An object that was not stripped contains it. Otherwise there are two conventions, both described
 * by gdb(1) ("Debugging Information in Separate Files"). The build ID, a number that is in both
 * files, is the file's name below /usr/lib/debug/.build-id. Or .gnu_debuglink has a file name,
 * which is looked for beside the object, in .debug there, and in the same directory below
 * /usr/lib/debug, with a CRC-32 of the file's contents. If both files have a build ID, it decides,
 * and the contents, which may be hundreds of megabytes, are not read.
 *
 * dwz(1) moves data that several debug files share into one more file. .gnu_debugaltlink names that
 * file by its build ID and by a path, which may be relative to the directory of the file with the
 * link.
 *
 * All names come from files that any user may have made. A name in .gnu_debuglink must have no
 * directory; ".." is removed from paths here, and the opener has rules of its own.
 */
#include "object/debug_file.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum {
	NOTES_MAX = 4096,
	BUILD_ID_LEAST = 2, /* in bytes; the first one names the directory */
	BUILD_ID_MAX = 64,
	CRC_CHUNK = 1 << 20,
	CRC_MAX = 256 << 20 /* bytes of a file that has no build ID */
};

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t size; /* 0: there is none */
};

/* ------------------------------------------------------------------ identity of a file */

static const GElf_Shdr *find_section(struct elf_file *file, const char *name)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(elf_section_name(file, &sections[i]), name))
			return &sections[i];
	return NULL;
}

static bool has_information(struct elf_file *file)
{
	const GElf_Shdr *section = find_section(file, ".debug_info");

	if (!section)
		section = find_section(file, ".zdebug_info");
	return section && section->sh_type != SHT_NOBITS && section->sh_size;
}

/*
 * Returns a section's contents with a NUL behind them, or NULL if it is not there or larger than
 * `most`.
 */
static char *load_section(struct elf_file *file, const char *name, size_t most, size_t *size)
{
	const GElf_Shdr *section = find_section(file, name);

	if (!section || section->sh_type == SHT_NOBITS || section->sh_size > most)
		return NULL;
	*size = section->sh_size;
	return elf_file_load(file, section->sh_offset, section->sh_size);
}

/*
 * Finds the build ID in notes. A note has three words, a name and a description; the last two are
 * padded to a multiple of 4 bytes.
 */
static void find_build_id(const char *notes, size_t size, struct build_id *id)
{
	uint32_t word[3];

	for (size_t at = 0; at + sizeof word <= size;) {
		memcpy(word, notes + at, sizeof word);
		if (word[0] > size || word[1] > size)
			return;
		size_t name = at + sizeof word;
		size_t description = name + ((word[0] + 3) & ~(size_t)3);

		if (description > size || word[1] > size - description)
			return;
		if (word[2] == NT_GNU_BUILD_ID && word[0] == 4 && !memcmp(notes + name, "GNU", 4) &&
		    word[1] >= BUILD_ID_LEAST && word[1] <= BUILD_ID_MAX) {
			memcpy(id->bytes, notes + description, word[1]);
			id->size = word[1];
			return;
		}
		at = description + ((word[1] + 3) & ~(size_t)3);
	}
}

static void read_build_id(struct elf_file *file, struct build_id *id)
{
	size_t size = 0;
	_cleanup_free_ char *notes = load_section(file, ".note.gnu.build-id", NOTES_MAX, &size);

	id->size = 0;
	if (notes)
		find_build_id(notes, size, id);
}

static bool same_build_id(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* ------------------------------------------------------------------ candidates */

/* The file that is looked for. */
struct wanted {
	struct build_id id;
	bool by_crc; /* compare the CRC if one of the two files has no build ID */
	uint32_t crc;
	debug_opener *opener;
	void *context;
	/* gets a file that is there but is not the right one; or NULL */
	struct debug_files *passed_over;
};

static bool has_crc(const struct elf_file *file, uint32_t crc)
{
	uLong found = crc32(0, NULL, 0);

	for (uint64_t at = 0; at < file->size; at += CRC_CHUNK) {
		size_t length = file->size - at < CRC_CHUNK ? file->size - at : CRC_CHUNK;
		_cleanup_free_ uint8_t *chunk = elf_file_load(file, at, length);

		if (!chunk)
			return false;
		found = crc32(found, chunk, (uInt)length);
	}
	return found == crc;
}

/* Returns why the file is not the right one, or NULL if it is. */
static const char *is_stranger(const struct wanted *wanted, struct elf_file *file)
{
	struct build_id id;

	read_build_id(file, &id);
	if (wanted->id.size && id.size)
		return same_build_id(&wanted->id, &id) ? NULL : "its build ID differs";
	if (!wanted->by_crc)
		return "it has no build ID";
	if (file->size > CRC_MAX)
		return "it has no build ID, and is too large to look at its CRC";
	return has_crc(file, wanted->crc) ? NULL : "its CRC differs";
}

static void note_stranger(struct debug_files *files, const char *path, const char *why)
{
	if (!files || files->stranger)
		return;
	files->stranger = xstrdup(path);
	files->why_stranger = why;
}

static struct elf_file *try_path(const struct wanted *wanted, const char *path)
{
	_cleanup_close_ int fd = wanted->opener(wanted->context, path);
	struct elf_file *file;

	if (fd < 0 || elf_open_debug(fd, &file))
		return NULL;
	/*
	 * A file without debug information may be anything, even the object itself, so it is not
	 * noted.
	 */
	if (has_information(file)) {
		const char *why = is_stranger(wanted, file);

		if (!why)
			return file;
		note_stranger(wanted->passed_over, path, why);
	}
	elf_unref(file);
	return NULL;
}

static struct elf_file *try_build_id(const struct wanted *wanted, char *path, size_t size)
{
	const struct build_id *id = &wanted->id;
	size_t length = (size_t)snprintf(path, size, DEBUG_ROOT "/.build-id/%02x/", id->bytes[0]);

	if (!id->size)
		return NULL;
	for (size_t i = 1; i < id->size && length + 3 < size; i++)
		length += (size_t)snprintf(path + length, size - length, "%02x", id->bytes[i]);
	snprintf(path + length, size - length, ".debug");
	return try_path(wanted, path);
}

/* ------------------------------------------------------------------ links */

/* Makes an absolute path free of "." and ".."; with `directory`, cuts it off at the last slash. */
static bool tidy_path(char *out, size_t size, const char *path, bool directory)
{
	size_t length = 0;

	if (*path != '/' || strlen(path) >= size)
		return false;
	while (*path) {
		path += strspn(path, "/");
		size_t part = strcspn(path, "/");

		if (directory && !path[part])
			break;
		if (part == 2 && !strncmp(path, "..", 2)) {
			while (length && out[--length] != '/')
				;
		} else if (part && (part != 1 || *path != '.')) {
			out[length++] = '/';
			memcpy(out + length, path, part);
			length += part;
		}
		path += part;
	}
	out[length] = '\0';
	return true;
}

/*
 * Tries the file that .gnu_debuglink names. The section: name, NUL, zeros up to a multiple of 4,
 * CRC.
 */
static struct elf_file *try_debuglink(struct wanted *wanted, struct elf_file *object,
				      const char *directory, char *path, size_t size)
{
	static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_ROOT, "/"}};
	size_t length = 0;
	_cleanup_free_ char *link = load_section(object, ".gnu_debuglink", PATH_MAX, &length);
	struct elf_file *found = NULL;

	if (!link)
		return NULL;
	size_t sum = (strlen(link) + 4) & ~(size_t)3;

	if (!*link || strchr(link, '/') || sum + 4 > length)
		return NULL;
	memcpy(&wanted->crc, link + sum, 4);
	wanted->by_crc = true;
	for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
		int n = snprintf(path, size, "%s%s%s%s", places[i][0], directory, places[i][1],
				 link);

		if (n > 0 && (size_t)n < size)
			found = try_path(wanted, path);
	}
	return found;
}

/*
 * Tries the file that .gnu_debugaltlink names. The section: path, NUL, build ID. `path` is that of
 * `file`.
 */
static struct elf_file *find_shared(struct elf_file *file, const char *path, debug_opener *opener,
				    void *context)
{
	struct wanted wanted = {.opener = opener, .context = context};
	char directory[PATH_MAX], joined[2 * PATH_MAX], place[2 * PATH_MAX];
	size_t size = 0;
	_cleanup_free_ char *link = load_section(file, ".gnu_debugaltlink", PATH_MAX, &size);
	size_t length = link ? strlen(link) : 0;

	if (!length || length + 1 + BUILD_ID_LEAST > size || size - length - 1 > BUILD_ID_MAX)
		return NULL;
	wanted.id.size = size - length - 1;
	memcpy(wanted.id.bytes, link + length + 1, wanted.id.size);
	struct elf_file *found = try_build_id(&wanted, place, sizeof place);

	if (found || (*link != '/' && !tidy_path(directory, sizeof directory, path, true)))
		return found;
	snprintf(joined, sizeof joined, "%s%s%s", *link == '/' ? "" : directory,
		 *link == '/' ? "" : "/", link);
	return tidy_path(place, sizeof place, joined, false) ? try_path(&wanted, place) : NULL;
}

void debug_files_find(struct elf_file *object, const char *path, debug_opener *opener,
		      void *context, struct debug_files *out)
{
	struct wanted wanted = {.opener = opener, .context = context, .passed_over = out};
	char directory[PATH_MAX], place[2 * PATH_MAX];

	*out = (struct debug_files){0};
	snprintf(place, sizeof place, "%s", path);
	if (has_information(object)) {
		out->information = elf_ref(object);
	} else {
		read_build_id(object, &wanted.id);
		out->information = try_build_id(&wanted, place, sizeof place);
		if (!out->information && tidy_path(directory, sizeof directory, path, true))
			out->information = try_debuglink(&wanted, object, directory, place,
							 sizeof place);
	}
	if (!out->information)
		return;
	free(out->stranger);
	out->stranger = NULL;
	out->why_stranger = NULL;
	out->shared = find_shared(out->information, place, opener, context);
	out->lacks_shared = !out->shared && find_section(out->information, ".gnu_debugaltlink");
}

void debug_files_deinit(struct debug_files *files)
{
	elf_unref(files->information);
	elf_unref(files->shared);
	free(files->stranger);
	*files = (struct debug_files){0};
}

char *debug_file_build_id(struct elf_file *file)
{
	struct build_id id = {.size = 0};
	struct strbuf text = {0};

	read_build_id(file, &id);
	for (size_t i = 0; i < id.size; i++)
		strbuf_printf(&text, "%02x", id.bytes[i]);
	return text.text;
}
