/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helper process: its answers, and that it may end in any way. */
#include "tracee/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns true if so many MiB more can be mapped. */
static bool may_have(size_t mebibytes)
{
	size_t length = mebibytes << 20;
	void *memory = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory != MAP_FAILED && munmap(memory, length) == 0;
}

/* The function that answers questions in the helper process. */
static void answer_any(void *context, const char *question, size_t length, struct strbuf *answer)
{
	unsigned *count = context;

	++*count;
	switch (question[0]) {
	case 'e':
		strbuf_add_bytes(answer, question, length);
		break;
	case 'n':
		strbuf_printf(answer, "%u", *count);
		break;
	case 'p':
		strbuf_printf(answer, "%d", (int)getpid());
		break;
	case 'd':
		strbuf_printf(answer, "%d", (int)write(STDERR_FILENO, "!", 1));
		break;
	case 'o':
		if (open("/", O_RDONLY) < 0 && errno == EPERM)
			strbuf_add(answer, "refused");
		break;
	case 'v': { /* reads the memory of its parent */
		char byte;
		struct iovec here = {&byte, 1}, there = {count, 1};

		strbuf_printf(answer, "%d %d",
			      (int)process_vm_readv(getppid(), &here, 1, &there, 1, 0),
			      (int)process_vm_readv(getpid(), &here, 1, &there, 1, 0));
		break;
	}
	case 'x':
		strbuf_add_repeated(answer, 'x', HELPER_BYTES_MAX);
		break;
	case 'm':
		strbuf_printf(answer, "%d %d", may_have(HELPER_MEMORY_MAX / 2),
			      may_have(HELPER_MEMORY_MAX + 1));
		break;
	case 's':
		__builtin_trap();
	case 'a':
		abort();
	case 'q':
		_exit(0);
	case 'h':
		for (;;)
			*(volatile unsigned *)count += 1;
	}
}

static struct helper *start(unsigned *count)
{
	struct helper *helper = NULL;

	*count = 0;
	assert_int_equal(helper_create(answer_any, count, &helper), 0);
	return helper;
}

static void assert_answer(struct helper *helper, const char *question, const char *expected)
{
	struct strbuf answer = {0};

	assert_int_equal(helper_ask(helper, question, strlen(question), &answer), 0);
	assert_string_equal(answer.text ? answer.text : "", expected);
	strbuf_deinit(&answer);
}

static void answers(void **state)
{
	unsigned count;
	struct helper *helper = start(&count);
	struct strbuf answer = {0};

	(void)state;
	assert_answer(helper, "echo", "echo");
	assert_answer(helper, "", "");
	/* the helper has state, which is not shared with the test */
	assert_answer(helper, "number", "3");
	assert_int_equal(count, 0);
	assert_int_equal(helper_ask(helper, "e\0e", 3, &answer), 0);
	assert_int_equal(answer.length, 3);
	strbuf_clear(&answer);
	assert_int_equal(helper_ask(helper, "x", 1, &answer), 0);
	assert_int_equal(answer.length, HELPER_BYTES_MAX);
	strbuf_deinit(&answer);
	helper_destroy(helper);
}

/* Questions that are sent are answered whenever the answer is received. */
static void works_meanwhile(void **state)
{
	unsigned count;
	struct helper *helper = start(&count);
	struct strbuf answer = {0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		strbuf_clear(&answer);
		assert_int_equal(helper_send(helper, "x", 1), 0);
		assert_int_equal(helper_receive(helper, &answer), 0);
		assert_int_equal(answer.length, HELPER_BYTES_MAX);
	}
	assert_answer(helper, "number", "4");
	/* It may be ended while it owes an answer that does not fit into the socket, or die. */
	assert_int_equal(helper_send(helper, "x", 1), 0);
	helper_destroy(helper);
	helper = start(&count);
	assert_int_equal(helper_send(helper, "segv", 4), 0);
	assert_int_equal(helper_receive(helper, &answer), -EPIPE);
	assert_int_equal(helper_send(helper, "echo", 4), -EPIPE);
	strbuf_deinit(&answer);
	helper_destroy(helper);
}

static void has_nothing_of_ours(void **state)
{
	unsigned count;
	struct helper *helper = start(&count);

	(void)state;
	assert_answer(helper, "descriptor", "-1");
	assert_answer(helper, "open", "refused");
	assert_answer(helper, "view", "-1 1");
	assert_answer(helper, "memory", "1 0");
	helper_destroy(helper);
}

static void may_die(void **state)
{
	static const char *const ends[] = {"segv", "abort", "quit"};

	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		unsigned count;
		struct helper *helper = start(&count);
		struct strbuf answer = {0};

		assert_answer(helper, "echo", "echo");
		assert_int_equal(helper_ask(helper, ends[i], strlen(ends[i]), &answer), -EPIPE);
		assert_int_equal(helper_ask(helper, "echo", 4, &answer), -EPIPE);
		strbuf_deinit(&answer);
		helper_destroy(helper);
	}
}

static void works_for_a_limited_time(void **state)
{
	unsigned count;
	struct helper *helper = start(&count);
	struct strbuf answer = {0};

	(void)state;
	assert_int_equal(helper_ask(helper, "hang", 4, &answer), -EPIPE);
	strbuf_deinit(&answer);
	helper_destroy(helper);
}

/* The process is gone, and no other child has been waited for. */
static void leaves_nothing_behind(void **state)
{
	unsigned count;
	struct helper *helper = start(&count);
	struct strbuf answer = {0};

	(void)state;
	assert_int_equal(helper_ask(helper, "pid", 3, &answer), 0);
	pid_t pid = (pid_t)strtol(answer.text, NULL, 10);

	assert_int_equal(kill(pid, 0), 0);
	helper_destroy(helper);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	strbuf_deinit(&answer);
	helper_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(works_meanwhile),
		cmocka_unit_test(has_nothing_of_ours),
		cmocka_unit_test(may_die),
		cmocka_unit_test(works_for_a_limited_time),
		cmocka_unit_test(leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
