/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that are packed in others.
 *
 * On 32-bit kernels some numbers stand for several calls, selected by the first argument, and the
 * arguments may be in an array in memory that another argument points to: socketcall(2), ipc(2),
 * and the mmap(2) and select(2) of the time when calls had five registers. _llseek(2) is here
 * because it takes the high half of its 64-bit number first; all other calls take the low half
 * first. The trace shows what the program means: `connect`, with the arguments of connect(2), as if
 * it had been called by its own number. Sources: net/socket.c and ipc/syscall.c of the kernel, and
 * the man pages.
 *
 * The array is in the program's memory, so the kernel may read other contents than the tracer did,
 * as with strings. If the array cannot be read, or stands for no known call, the call is shown as
 * it is.
 */
#include "target/syscalls/syscall_demux.h"

#include "base/arch.h"

#include <string.h>

enum { WORDS_MAX = 6, SHMAT_RESULT = 3 };

struct packed {
	const char *outer;
	uint32_t which; /* value of the first argument; 0: the outer call is always this call */
	uint8_t array;	/* number of the argument that points to words in memory */
	const char *name;
	/*
	 * Where each argument comes from. 0 to 5: argument of the outer call. a to f: word in
	 * memory.
	 */
	const char *from;
	/*
	 * Not 0: the outer call returns only success or failure, and stores the result where the
	 * argument with this number points to.
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

/*
 * Returns true if the outer call's name is enough; otherwise its first argument selects the call.
 */
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

/* Reads the words in memory that the call needs. Returns false if they cannot be read. */
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
