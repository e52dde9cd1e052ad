/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading memory that may never arrive: what the helper process does for the tracer, and when it is
 * asked. A child has pages of all kinds. In some of them, userfaultfd(2) waits for a process that
 * never answers, which requires a privilege.
 */
#include "tasks.h"
#include "tracee/prefault.h"
#include "tracee/proc.h"
#include "tracee/resident.h"

#include <dirent.h>
#include <linux/capability.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { FRESH = 4, NEVER = 4, ROUNDS = 3 };

/* The child's memory, at the same addresses as in the test. */
struct layout {
	unsigned char *fresh; /* FRESH pages never touched, then one that does not exist */
	unsigned char *never; /* ROUNDS mappings of NEVER pages, the first page of each is there */
	bool has_never;
};

struct child {
	pid_t pid;
	int commands; /* a byte makes the child undumpable */
	int answers;
	struct layout layout;
	struct prefault *prefault;
	struct resident *resident;
	int memory_fd;
};

static uint64_t address_of(const void *place)
{
	return (uint64_t)(uintptr_t)place;
}

static unsigned char *map_pages(size_t count)
{
	return mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A thread that touches a missing page in here waits forever. */
static bool register_never(unsigned char *pages, size_t count)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {address_of(pages), count * PAGE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
	       ioctl(fd, UFFDIO_REGISTER, &range) == 0;
}

static void make_never(struct layout *layout)
{
	layout->has_never = true;
	for (size_t i = 0; i < ROUNDS; i++) {
		unsigned char *pages = layout->never + i * (NEVER + 1) * PAGE;

		pages[0] = 1;
		layout->has_never = layout->has_never && register_never(pages, NEVER);
		/* A missing page keeps the mappings apart. */
		munmap(pages + NEVER * PAGE, PAGE);
	}
}

static void play_child(struct layout layout, int commands, int answers)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	munmap(layout.fresh + FRESH * PAGE, PAGE);
	make_never(&layout);
	if (write(answers, &layout.has_never, 1) != 1)
		_exit(1);
	while (read(commands, &byte, 1) == 1) {
		prctl(PR_SET_DUMPABLE, 0);
		if (write(answers, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static int setup(void **state)
{
	struct child *child = calloc(1, sizeof *child);
	int commands[2];
	int answers[2];
	char path[64];

	*state = child;
	child->layout.fresh = map_pages(FRESH + 1);
	child->layout.never = map_pages((size_t)ROUNDS * (NEVER + 1));
	if (pipe2(commands, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		return -1;
	child->pid = fork();
	if (child->pid == 0) {
		close(commands[1]);
		close(answers[0]);
		play_child(child->layout, commands[0], answers[1]);
	}
	close(commands[0]);
	close(answers[1]);
	child->commands = commands[1];
	child->answers = answers[0];
	if (read(child->answers, &child->layout.has_never, 1) != 1)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)child->pid);
	child->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	child->resident = resident_create(child->pid, child->memory_fd);
	child->prefault = prefault_create();
	resident_set_prefault(child->resident, child->prefault);
	return 0;
}

static int teardown(void **state)
{
	struct child *child = *state;

	prefault_destroy(child->prefault);
	resident_destroy(child->resident);
	close(child->memory_fd);
	close(child->commands);
	close(child->answers);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->layout.fresh, (FRESH + 1) * (size_t)PAGE);
	munmap(child->layout.never, (size_t)ROUNDS * (NEVER + 1) * PAGE);
	free(child);
	return 0;
}

/* The address of a page of a mapping whose pages never arrive. */
static uint64_t never(const struct child *child, size_t mapping, size_t page)
{
	return address_of(child->layout.never + (mapping * (NEVER + 1) + page) * PAGE);
}

static bool is_reader(pid_t pid)
{
	char path[64];
	char name[32] = "";

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	FILE *file = fopen(path, "re");
	bool found = file && fgets(name, sizeof name, file) && !strcmp(name, "tracer-reader\n");

	if (file)
		fclose(file);
	return found;
}

/* Returns the live helper process: a child of another thread of the test; 0: none. */
static pid_t find_reader(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct vec children = VEC_OF(pid_t);
	pid_t found = 0;

	assert_non_null(tasks);
	for (struct dirent *task; (task = readdir(tasks));)
		proc_children(getpid(), atoi(task->d_name), &children);
	closedir(tasks);
	for (size_t i = 0; i < children.count; i++) {
		pid_t pid = *(pid_t *)vec_at(&children, i);

		if (is_reader(pid))
			found = pid;
	}
	vec_deinit(&children);
	return found;
}

static void test_fresh_pages_come(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);

	assert_int_equal(prefault_pages(child->prefault, child->pid, fresh, FRESH), FRESH);
	assert_int_equal(prefault_pages(child->prefault, child->pid, fresh + PAGE, FRESH),
			 FRESH - 1);
	assert_int_equal(prefault_pages(child->prefault, child->pid, fresh + FRESH * PAGE, 1), 0);
	assert_int_equal(prefault_pages(child->prefault, child->pid, UINT64_C(1) << 63, 1), 0);
	assert_int_equal(prefault_pages(child->prefault, 0x7fffffff, fresh, 1), -ESRCH);
}

/* The process keeps nothing of the test open, and ends with it. */
static void test_reader_is_modest(void **state)
{
	struct child *child = *state;
	int ends[2];
	struct pollfd end = {.events = POLLIN};

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(
		prefault_pages(child->prefault, child->pid, address_of(child->layout.fresh), 1), 1);
	pid_t reader = find_reader();

	assert_true(reader > 0);
	close(ends[1]);
	end.fd = ends[0];
	assert_int_equal(poll(&end, 1, 0), 1);
	assert_true(end.revents & POLLHUP);
	close(ends[0]);
	/* waitpid() for the children of this thread does not return it. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL | __WNOTHREAD), 0);
	prefault_destroy(child->prefault);
	child->prefault = NULL;
	resident_set_prefault(child->resident, NULL);
	assert_int_equal(kill(reader, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* A helper process that was killed is replaced. */
static void test_killed_reader(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);

	for (int i = 0; i < 8; i++) {
		assert_int_equal(prefault_pages(child->prefault, child->pid, fresh, FRESH), FRESH);
		pid_t reader = find_reader();

		assert_true(reader > 0);
		kill(reader, SIGKILL);
	}
}

static void need_never(const struct child *child)
{
	if (!child->layout.has_never) {
		print_message("userfaultfd is not allowed here\n");
		skip();
	}
}

static void test_page_that_never_comes(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);

	need_never(child);
	for (int i = 0; i < 8; i++) { /* more often than there are places for retired processes */
		assert_int_equal(prefault_pages(child->prefault, child->pid, never(child, 0, 1), 2),
				 -ETIMEDOUT);
		assert_int_equal(prefault_pages(child->prefault, child->pid, fresh, 1), 1);
	}
	assert_int_equal(prefault_pages(child->prefault, child->pid, never(child, 0, 0), 2),
			 -ETIMEDOUT);
}

static void test_resident(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);
	bool blocked = true;

	/* Twice: pages that are brought in, and pages that are remembered as present. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			resident_bytes(child->resident, child->pid, fresh + 5, 100, &blocked), 100);
		assert_int_equal(resident_bytes(child->resident, child->pid, fresh + 5,
						FRESH * PAGE - 5, &blocked),
				 FRESH * PAGE - 5);
		assert_int_equal(
			resident_bytes(child->resident, child->pid, fresh + 5, 9 * PAGE, &blocked),
			FRESH * PAGE - 5);
		assert_false(blocked);
	}
	assert_true(resident_is_anonymous(child->resident, fresh + 5));
	assert_int_equal(resident_bytes(child->resident, child->pid,
					address_of((void *)test_resident), 1, &blocked),
			 1);
	assert_false(resident_is_anonymous(child->resident, address_of((void *)test_resident)));
	assert_false(resident_is_anonymous(child->resident, fresh + FRESH * PAGE));
	assert_int_equal(
		resident_bytes(child->resident, child->pid, fresh + FRESH * PAGE, 1, &blocked), 0);
	assert_false(blocked);
	assert_int_equal(resident_bytes(child->resident, child->pid, 0, 8, NULL), 0);
	assert_int_equal(resident_bytes(child->resident, child->pid, UINT64_MAX - 3, 8, NULL), 0);
	assert_int_equal(resident_bytes(child->resident, child->pid, fresh, 0, NULL), 0);
}

/* Without a task that could bring the page in, it is left out, and its mapping is not marked. */
static void test_no_task(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);
	bool blocked = true;

	assert_int_equal(resident_bytes(child->resident, 0, fresh, 1, &blocked), 0);
	assert_false(blocked);
	assert_int_equal(resident_bytes(child->resident, child->pid, fresh, 1, NULL), 1);
	assert_int_equal(resident_bytes(child->resident, 0, fresh, 1, NULL), 1);
	resident_set_prefault(child->resident, NULL);
	assert_int_equal(resident_bytes(child->resident, child->pid, fresh, 99 * PAGE, NULL),
			 99 * PAGE);
}

/* A mapping is waited for once; its pages that are present can be read. */
static void test_bad_mapping(void **state)
{
	struct child *child = *state;
	bool blocked = false;

	need_never(child);
	for (size_t i = 0; i < ROUNDS; i++) {
		assert_int_equal(resident_bytes(child->resident, child->pid, never(child, i, 0) + 1,
						3 * PAGE, &blocked),
				 PAGE - 1);
		assert_true(blocked);
		while (find_reader()) /* the process has been killed */
			sched_yield();
		for (size_t page = 1; page < NEVER; page++) {
			assert_int_equal(resident_bytes(child->resident, child->pid,
							never(child, i, page), 8, &blocked),
					 0);
			assert_true(blocked);
		}
		assert_int_equal(resident_bytes(child->resident, child->pid, never(child, i, 0),
						PAGE, &blocked),
				 PAGE);
		assert_false(blocked);
		assert_int_equal(find_reader(), 0); /* no process was asked */
	}
}

/* Drops, or regains, the capability to access undumpable processes, in this thread. */
static void set_ptrace_capability(bool on)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint32_t bit = 1U << CAP_SYS_PTRACE;

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	data[0].effective = on ? data[0].effective | (data[0].permitted & bit)
			       : data[0].effective & ~bit;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

/* If the helper process may not read, harmless memory is read without it. */
static void test_refused(void **state)
{
	struct child *child = *state;
	uint64_t fresh = address_of(child->layout.fresh);
	bool blocked = false;
	char byte = 0;

	assert_int_equal(write(child->commands, &byte, 1), 1);
	assert_int_equal(read(child->answers, &byte, 1), 1);
	set_ptrace_capability(false);
	int refused = prefault_pages(child->prefault, child->pid, fresh, 1);
	size_t mine = resident_bytes(child->resident, child->pid, fresh, 3 * PAGE, &blocked);
	size_t last = resident_bytes(child->resident, child->pid, fresh, FRESH * PAGE + 1, NULL);
	size_t bad = child->layout.has_never
			     ? resident_bytes(child->resident, child->pid, never(child, 0, 0),
					      2 * PAGE, &blocked)
			     : PAGE;

	set_ptrace_capability(true);
	assert_int_equal(refused, -EPERM);
	assert_int_equal(mine, 3 * PAGE);
	assert_int_equal(last, FRESH * PAGE);
	assert_int_equal(bad, PAGE);
	assert_true(blocked || !child->layout.has_never);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fresh_pages_come, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_is_modest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_that_never_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_resident, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_mapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
