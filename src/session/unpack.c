/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that are packed in others.
 *
 * Of a kernel of 32 bits some numbers stand for several calls, the first argument saying which, and
 * their arguments may be an array in memory, to which the number's own argument points:
 * socketcall(2), ipc(2), and the mmap(2) and select(2) of the time when calls had five registers.
 * Others are here because the halves of a number of 64 bits do not come in the order that all the
 * rest have them in (the low one first), as those of _llseek(2). What the program means by them is
 * shown: `connect`, with the arguments of connect(2), as if it had been called by its own number.
 * The facts are those of the kernel's net/socket.c and ipc/syscall.c, and of the man pages.
 *
 * The array is the program's, so the kernel may find something else in it than we did, as with
 * strings. One that cannot be read, or is of no call that is known, leaves the call as it is.
 */
#include "session/unpack.h"

#include "base/arch.h"

#include <string.h>

enum { WORDS_MAX = 6, SHMAT_RESULT = 3 };

struct packed {
	const char *outer;
	uint32_t which; /* its first argument, if there are several of that name */
	uint8_t array;	/* the argument that points to words in memory */
	const char *name;
	/*
	 * Where the arguments come from: 0 to 5, those of the outer call; a to f, the words in
	 * memory.
	 */
	const char *from;
	/*
	 * Not 0: the outer call says whether it succeeded, and stores the result where this one of
	 * its arguments points to.
	 */
	uint8_t result;
};

static const struct packed packed[] = {
	{"socketcall", 1, 1, "socket", "abc", 0},
	{"socketcall", 2, 1, "bind", "abc", 0},
	{"socketcall", 3, 1, "connect", "abc", 0},
	{"socketcall", 4, 1, "listen", "ab", 0},
	{"socketcall", 5, 1, "accept", "abc", 0},
	{"socketcall", 6, 1, "getsockname", "abc", 0},
	{"socketcall", 7, 1, "getpeername", "abc", 0},
	{"socketcall", 8, 1, "socketpair", "abcd", 0},
	{"socketcall", 9, 1, "send", "abcd", 0},
	{"socketcall", 10, 1, "recv", "abcd", 0},
	{"socketcall", 11, 1, "sendto", "abcdef", 0},
	{"socketcall", 12, 1, "recvfrom", "abcdef", 0},
	{"socketcall", 13, 1, "shutdown", "ab", 0},
	{"socketcall", 14, 1, "setsockopt", "abcde", 0},
	{"socketcall", 15, 1, "getsockopt", "abcde", 0},
	{"socketcall", 16, 1, "sendmsg", "abc", 0},
	{"socketcall", 17, 1, "recvmsg", "abc", 0},
	{"socketcall", 18, 1, "accept4", "abcd", 0},
	{"socketcall", 19, 1, "recvmmsg", "abcde", 0},
	{"socketcall", 20, 1, "sendmmsg", "abcd", 0},
	{"ipc", 1, 0, "semop", "142", 0},
	{"ipc", 2, 0, "semget", "123", 0},
	{"ipc", 3, 4, "semctl", "123a", 0},
	{"ipc", 4, 0, "semtimedop", "1425", 0},
	{"ipc", 11, 0, "msgsnd", "1423", 0},
	{"ipc", 12, 4, "msgrcv", "1a2b3", 0},
	{"ipc", 13, 0, "msgget", "12", 0},
	{"ipc", 14, 0, "msgctl", "124", 0},
	{"ipc", 21, 0, "shmat", "142", SHMAT_RESULT},
	{"ipc", 22, 0, "shmdt", "4", 0},
	{"ipc", 23, 0, "shmget", "123", 0},
	{"ipc", 24, 0, "shmctl", "124", 0},
	{"mmap", 0, 0, "mmap", "abcdef", 0},
	{"select", 0, 0, "select", "abcde", 0},
	{"_llseek", 0, 0, "_llseek", "02134", 0},
};

enum { PACKED_COUNT = sizeof packed / sizeof *packed };

/* Whether the names of the two tell all; else the first argument does. */
static bool is_alone(const struct packed *entry)
{
	return !entry->which;
}

static const struct packed *find(const struct system_request *request)
{
	for (size_t i = 0; i < PACKED_COUNT; i++)
		if (!strcmp(packed[i].outer, request->name) &&
		    (is_alone(&packed[i]) || packed[i].which == (uint32_t)request->arguments[0]))
			return &packed[i];
	return NULL;
}

/* The words in memory that the call has; false: they cannot be read. */
static bool read_words(const struct packed *entry, const struct system_request *request,
		       const struct memory_source *memory, uint32_t words[WORDS_MAX])
{
	size_t count = 0;

	for (const char *from = entry->from; *from; from++)
		if (*from >= 'a')
			count = (size_t)(*from - 'a') + 1;
	return !count || memory_read_exact(memory, (uint32_t)request->arguments[entry->array],
					   words, count * sizeof *words);
}

void system_request_unpack(struct system_request *request, const struct memory_source *memory)
{
	const struct packed *entry = NULL;
	uint64_t arguments[WORDS_MAX] = {0};
	uint32_t words[WORDS_MAX] = {0};

	if (request->name && request->arch->abi->word == sizeof *words)
		entry = find(request);
	if (!entry || !read_words(entry, request, memory, words))
		return;
	for (size_t i = 0; entry->from[i]; i++)
		arguments[i] = entry->from[i] >= 'a' ? words[entry->from[i] - 'a']
						     : request->arguments[entry->from[i] - '0'];
	request->result_at = entry->result ? (uint32_t)request->arguments[entry->result] : 0;
	memcpy(request->arguments, arguments, sizeof arguments);
	request->packed = (unsigned)(entry - packed) + 1;
	request->outer = entry->outer;
	request->name = entry->name;
}

bool system_request_names_packed(const struct pattern *pattern)
{
	for (size_t i = 0; i < PACKED_COUNT; i++)
		if (pattern_matches(pattern, packed[i].name))
			return true;
	return false;
}
