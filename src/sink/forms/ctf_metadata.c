/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metadata of a CTF trace: a text in TSDL (Common Trace Format 1.8.3, section 7 and appendix C)
 * that declares the layout of packets and events.
 *
 * The classes of a function's events are declared when it is called first, so the text grows with
 * the trace, and has to be in the file before an event of the class is. A text that is cut off
 * cannot be parsed, and the tracer may be killed at any time: so the whole text is written to
 * another file, which then takes the name of the first. That file is hidden, since readers take
 * each other file of the directory for a stream. The number of classes is limited (ctf_class.c), so
 * this stays cheap.
 *
 * Names come from the traced program, and may hold anything. In strings only printable ASCII
 * characters stay, in identifiers letters, digits and '_'. Identifiers begin with '_', which
 * readers take off, so that none is a keyword.
 */
#include "sink/forms/ctf_metadata.h"

#include "sink/render/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Of the name of an event: those of C++ may be very long. */
enum { NAME_MAX_SHOWN = 1000 };

#define FILE_NAME "metadata"
#define FILE_NEW ".metadata.new"

static const char types[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 2; } := bin_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 8; } := oct_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex_t;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real_t;\n\n";

static const char layout[] = "clock {\n"
			     "\tname = epoch;\n"
			     "\tdescription = \"nanoseconds since 1970-01-01 00:00:00 UTC\";\n"
			     "\tfreq = 1000000000;\n"
			     "\toffset_s = 0;\n"
			     "\toffset = 0;\n"
			     "\tabsolute = TRUE;\n"
			     "};\n\n"
			     "typealias integer {\n"
			     "\tsize = 64; align = 8; signed = false; map = clock.epoch.value;\n"
			     "} := time_t;\n\n"
			     "stream {\n"
			     "\tid = 0;\n"
			     "\tevent.header := struct { uint16_t id; time_t timestamp; };\n"
			     "\tpacket.context := struct {\n"
			     "\t\ttime_t timestamp_begin;\n"
			     "\t\ttime_t timestamp_end;\n"
			     "\t\tuint64_t content_size;\n"
			     "\t\tuint64_t packet_size;\n"
			     "\t\tuint64_t events_discarded;\n"
			     "\t\tuint64_t packet_seq_num;\n"
			     "\t};\n"
			     "\tevent.context := struct { int32_t _pid; int32_t _tid; };\n"
			     "};\n\n";

/*
 * The contexts of calls. What few calls have is left out where it can be: readers show all members,
 * also those that say nothing.
 */
#define IN_CALL "\tuint32_t _depth;\n\tuint64_t _call;\n"
#define IN_ENTRY "\tstring _caller;\n"
#define IN_RETURN "\tuint64_t _duration_ns;\n"
#define IN_SYSTEM "\tint32_t _errno;\n"
#define IN_ATTACHED "\tuint8_t _since_attach;\n"
#define IN_BOTH "\tuint64_t _begun_ns;\n"
#define IN_LINE "\tstring _file;\n\tuint32_t _line;\n\tstring _line_function;\n"

static const char contexts[] = "struct return {\n" IN_CALL IN_RETURN "};\n\n"
			       "struct system_return {\n" IN_CALL IN_RETURN IN_SYSTEM "};\n\n"
			       "struct common_return {\n" IN_CALL IN_RETURN IN_SYSTEM IN_ATTACHED
			       "};\n\n"
			       "struct in_thread {\n" IN_CALL "};\n\n";

/* With the line of the script, and without it: see -W. */
static const char contexts_of_entries[] =
	"struct entry {\n" IN_CALL IN_ENTRY "};\n\n"
	"struct call {\n" IN_CALL IN_ENTRY IN_RETURN IN_BOTH "};\n\n"
	"struct system_call {\n" IN_CALL IN_ENTRY IN_RETURN IN_SYSTEM IN_BOTH "};\n\n"
	"struct common_call {\n" IN_CALL IN_ENTRY IN_RETURN IN_SYSTEM IN_ATTACHED IN_BOTH "};\n\n";
static const char contexts_with_lines[] =
	"struct entry {\n" IN_CALL IN_ENTRY IN_LINE "};\n\n"
	"struct call {\n" IN_CALL IN_ENTRY IN_RETURN IN_BOTH IN_LINE "};\n\n"
	"struct system_call {\n" IN_CALL IN_ENTRY IN_RETURN IN_SYSTEM IN_BOTH IN_LINE "};\n\n"
	"struct common_call {\n" IN_CALL IN_ENTRY IN_RETURN IN_SYSTEM IN_ATTACHED IN_BOTH IN_LINE
	"};\n\n";

#define FUNCTION "string _function; string _module;"

/* The context and the fields of the common classes. */
static const struct common {
	const char *name, *context, *fields;
} common[CTF_COMMON] = {
	[CTF_ENTRY] = {"entry", "struct entry", FUNCTION " string _arguments;"},
	[CTF_RETURN] = {"return", "struct common_return",
			FUNCTION " string _arguments; string _result;"},
	[CTF_CALL] = {"call", "struct common_call", FUNCTION " string _arguments; string _result;"},
	[CTF_UNWOUND] = {"unwound", "struct in_thread", FUNCTION},
	[CTF_RUNNING] = {"running", "struct in_thread", FUNCTION},
	[CTF_SIGNAL] = {"signal", NULL, "int64_t _number; string _name;"},
	[CTF_EXIT] = {"exit", NULL, "int64_t _status;"},
	[CTF_KILLED] = {"killed", NULL, "int64_t _number; string _name;"},
	[CTF_EXEC] = {"exec", NULL, ""},
	[CTF_UNTRACED] = {"untraced", NULL, "string _what; string _why;"},
};

static void add_uuid(struct strbuf *text, const unsigned char uuid[CTF_UUID])
{
	for (unsigned i = 0; i < CTF_UUID; i++)
		strbuf_printf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			      uuid[i]);
}

/* Adds a name as the contents of a string. */
static void add_string(struct strbuf *text, const char *name)
{
	struct outbuf safe;

	outbuf_init(&safe, -1);
	escape_name(&safe, name);
	for (size_t i = 0; i < safe.length && i < NAME_MAX_SHOWN; i++) {
		if (safe.text[i] == '"' || safe.text[i] == '\\')
			strbuf_add_char(text, '\\');
		strbuf_add_char(text, safe.text[i]);
	}
	strbuf_add(text, safe.length > NAME_MAX_SHOWN ? "..." : "");
	outbuf_deinit(&safe);
}

static void begin_class(struct strbuf *text, unsigned id, const char *name, const char *suffix,
			const char *context)
{
	strbuf_printf(text, "event {\n\tid = %u;\n\tstream_id = 0;\n\tname = \"", id);
	add_string(text, name);
	strbuf_printf(text, "%s\";\n", suffix);
	if (context)
		strbuf_printf(text, "\tcontext := %s;\n", context);
	strbuf_add(text, "\tfields := struct {");
}

void ctf_metadata_init(struct ctf_metadata *metadata, int directory,
		       const unsigned char uuid[CTF_UUID], bool has_lines)
{
	struct strbuf *text = &metadata->text;

	*metadata = (struct ctf_metadata){.directory = directory, .is_dirty = true};
	strbuf_add(text, "/* CTF 1.8 */\n\n");
	strbuf_add(text, types);
	strbuf_add(text, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	add_uuid(text, uuid);
	strbuf_add(text, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
			 "\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n"
			 "\t};\n};\n\nenv {\n\ttracer_name = \"tracer\";\n};\n\n");
	strbuf_add(text, layout);
	strbuf_add(text, contexts);
	strbuf_add(text, has_lines ? contexts_with_lines : contexts_of_entries);
	for (unsigned id = 0; id < CTF_COMMON; id++) {
		begin_class(text, id, common[id].name, "", common[id].context);
		strbuf_printf(text, " %s };\n};\n\n", common[id].fields);
	}
}

void ctf_metadata_deinit(struct ctf_metadata *metadata)
{
	strbuf_deinit(&metadata->text);
}

void ctf_metadata_begin(struct ctf_metadata *metadata, unsigned id, const char *name,
			enum ctf_phase phase, bool is_system)
{
	static const struct {
		const char *suffix, *context, *system;
	} phases[PHASES] = {
		[PHASE_ENTRY] = {":entry", "struct entry", "struct entry"},
		[PHASE_RETURN] = {":return", "struct return", "struct system_return"},
		[PHASE_CALL] = {":call", "struct call", "struct system_call"},
	};

	begin_class(&metadata->text, id, name, phases[phase].suffix,
		    is_system ? phases[phase].system : phases[phase].context);
	metadata->is_dirty = true;
}

void ctf_metadata_field(struct ctf_metadata *metadata, const char *type, const char *name)
{
	strbuf_printf(&metadata->text, "\n\t\t%s %s;", type, name);
}

void ctf_metadata_end(struct ctf_metadata *metadata)
{
	strbuf_add(&metadata->text, "\n\t};\n};\n\n");
}

int ctf_metadata_write(struct ctf_metadata *metadata)
{
	struct outbuf out;
	int error = 0;

	if (!metadata->is_dirty)
		return 0;
	const int fd = openat(metadata->directory, FILE_NEW,
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0)
		return -errno;
	outbuf_init(&out, fd);
	outbuf_bytes(&out, metadata->text.text, metadata->text.length);
	error = outbuf_flush(&out);
	outbuf_deinit(&out);
	if (close(fd) < 0 && !error)
		error = -errno;
	if (!error && renameat(metadata->directory, FILE_NEW, metadata->directory, FILE_NAME) < 0)
		error = -errno;
	metadata->is_dirty = error != 0;
	return error;
}
