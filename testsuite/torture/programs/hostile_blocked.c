/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that makes its reader wait for somebody who never answers: pages of a userfaultfd, and of a file
 * on a FUSE file system whose server takes each READ and keeps it, or answers for each page once, so that it can be
 * there at first and go then. The server speaks the protocol
 * of linux/fuse.h by itself. It lives on when this program has ended, until somebody kills its process group,
 * so that a tracer that waits for it waits for ever.
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGES = 16, FILE_NODE = 2, SERVER_S = 600 };

enum { MAPPINGS = 4, RACE_CALLS = 200 };

enum server { SERVER_ASYNC, SERVER_SYNC, SERVER_ONCE };

static unsigned char *blocked[MAPPINGS]; /* nothing of them is there */
static int faults = -1;			 /* the userfaultfd of the last of them */
static int file = -1;			 /* on FUSE */

/* ---- userfaultfd ---- */

unsigned char *pages_that_never_come(size_t count)
{
	unsigned char *memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)memory, count * PAGE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (memory == MAP_FAILED)
		cannot("mmap");
	memory[0] = 1;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		cannot("userfaultfd");
	faults = fd;
	return memory;
}

static void prepare_uffd(void)
{
	for (size_t i = 0; i < MAPPINGS; i++)
		blocked[i] = pages_that_never_come(PAGES + 1) + PAGE;
}

/* ---- FUSE ---- */

static void answer(int device, uint64_t unique, int error, const void *body, size_t length)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof header + length), .error = error, .unique = unique};
	struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)body, length}};

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == FILE_NODE ? PAGES * PAGE : 0,
				  .mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
				  .nlink = 1,
				  .blksize = PAGE};
}

static void answer_init(int device, uint64_t unique, bool asynchronous)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
				     .minor = 31,
				     .max_readahead = 2 * PAGE,
				     .flags = asynchronous ? FUSE_ASYNC_READ : 0,
				     .max_background = 64,
				     .congestion_threshold = 64,
				     .max_write = PAGE};

	answer(device, unique, 0, &init, sizeof init);
}

/* With pages that nobody has asked for before; otherwise never. */
static void answer_read(int device, const struct fuse_in_header *request)
{
	static const unsigned char bytes[PAGES * PAGE] = {[0 ... PAGES * PAGE - 1] = 'x'};
	static bool given[PAGES];
	const struct fuse_read_in *wanted = (const struct fuse_read_in *)(request + 1);
	size_t first = wanted->offset / PAGE;
	size_t end = first + wanted->size / PAGE;
	bool answered = end <= PAGES;

	for (size_t page = first; page < end && page < PAGES; page++) {
		answered = answered && !given[page];
		given[page] = true;
	}
	if (answered)
		answer(device, request->unique, 0, bytes, wanted->size);
}

static void serve_request(int device, const struct fuse_in_header *request, enum server server)
{
	struct fuse_entry_out entry = {.nodeid = FILE_NODE,
				       .entry_valid = 1000,
				       .attr_valid = 1000,
				       .attr = attributes(FILE_NODE)};
	struct fuse_attr_out attr = {.attr_valid = 1000, .attr = attributes(request->nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (request->opcode) {
	case FUSE_INIT:
		answer_init(device, request->unique, server != SERVER_SYNC);
		break;
	case FUSE_LOOKUP:
		answer(device, request->unique, 0, &entry, sizeof entry);
		break;
	case FUSE_GETATTR:
		answer(device, request->unique, 0, &attr, sizeof attr);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(device, request->unique, 0, &opened, sizeof opened);
		break;
	case FUSE_READ:
		if (server == SERVER_ONCE)
			answer_read(device, request);
		break;
	case FUSE_INTERRUPT:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(device, request->unique, 0, NULL, 0);
		break;
	default:
		answer(device, request->unique, -ENOSYS, NULL, 0);
		break;
	}
}

static void serve(int device, enum server server)
{
	static union {
		struct fuse_in_header header;
		char bytes[FUSE_MIN_READ_BUFFER * 4];
	} request;
	int nothing = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(nothing, fd);
	alarm(SERVER_S);
	for (;;) {
		ssize_t length = read(device, &request, sizeof request);

		if (length < 0 && errno != EINTR && errno != ENOENT)
			_exit(0);
		if (length >= (ssize_t)sizeof request.header)
			serve_request(device, &request.header, server);
	}
}

static void mount_fuse(const char *directory, enum server server)
{
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (device < 0)
		cannot("/dev/fuse");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		cannot("a mount namespace");
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("never", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		cannot("mounting FUSE");
	pid_t pid = fork();

	if (pid < 0)
		cannot("fork");
	if (pid == 0)
		serve(device, server);
	close(device); /* the connection ends with the server */
}

static void prepare_fuse(enum server server)
{
	char directory[] = "/tmp/never-XXXXXX";
	char path[64];

	if (!mkdtemp(directory))
		cannot("mkdtemp");
	mount_fuse(directory, server);
	snprintf(path, sizeof path, "%s/file", directory);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		cannot("opening a file on FUSE");
	for (size_t i = 0; i < MAPPINGS; i++) {
		blocked[i] = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
		if (blocked[i] == MAP_FAILED)
			cannot("mapping a file on FUSE");
		/* Without readahead a page is read by whoever touches it, who then cannot be killed. */
		if (server == SERVER_SYNC)
			madvise(blocked[i], PAGES * PAGE, MADV_RANDOM);
	}
	umount2(directory, MNT_DETACH);
	rmdir(directory);
}

static void prepare_fuse_async(void)
{
	prepare_fuse(SERVER_ASYNC);
}

static void prepare_fuse_sync(void)
{
	prepare_fuse(SERVER_SYNC);
}

static void prepare_fuse_once(void)
{
	prepare_fuse(SERVER_ONCE);
}

/* ---- the work ---- */

static void pass_pointers(void)
{
	plain(1);
	for (int i = 0; i < argument(1); i++) {
		text(blocked[i]);
		plain(1);
		bytes(blocked[i] + 2 * PAGE + 1, 8);
		bytes(blocked[i] + 3 * PAGE - 1, 3);
		format(blocked[i] + 4 * PAGE);
		plain(1);
		fill(blocked[i] + 5 * PAGE, 5);
		text(blocked[i] + 6 * PAGE);
	}
	plain(1);
}

/* The word that a call returns to is where nobody may look. */
static void stack_that_never_comes(void)
{
	for (int i = 0; i < argument(1); i++) {
		bare_call((uintptr_t)blocked[i] + 7 * PAGE + 64);
		plain(1);
	}
}

/* ---- pages that are there for a while ---- */

static void give_page(unsigned char *page)
{
	struct uffdio_zeropage zero = {.range = {(uintptr_t)page, PAGE}};

	if (ioctl(faults, UFFDIO_ZEROPAGE, &zero) && errno != EEXIST)
		cannot("UFFDIO_ZEROPAGE");
}

/* The first calls have the tracer find the page there, which it believes for a moment. */
static void take_page_away(unsigned char *page)
{
	text(page);
	bytes(page, 8);
	madvise(page, PAGE, MADV_DONTNEED);
	if (file >= 0)
		posix_fadvise(file, page - blocked[0], PAGE, POSIX_FADV_DONTNEED);
	bytes(page, 8);
	text(page);
	plain(1);
}

static void pages_that_go(void)
{
	for (int i = 0; i < argument(1); i++) {
		give_page(blocked[MAPPINGS - 1] + 2 * (i % (PAGES / 2)) * PAGE);
		take_page_away(blocked[MAPPINGS - 1] + 2 * (i % (PAGES / 2)) * PAGE);
	}
}

static void pages_of_a_file_that_go(void)
{
	for (int i = 0; i < argument(1) && i < PAGES / 2; i++) {
		note(*(volatile unsigned char *)(blocked[0] + 2 * i * PAGE));
		take_page_away(blocked[0] + 2 * i * PAGE);
	}
}

/* Takes a page away at some time in each round, and does not give it back before the next one. */
struct race {
	atomic_int round, taken;
	int rounds;
	unsigned char *page;
};

static void *take_away(void *context)
{
	struct race *race = context;

	for (int round = 1; round <= race->rounds; round++) {
		while (atomic_load(&race->round) < round)
			;
		for (volatile int wait = 0; wait < round * 7919 % 100000; wait++)
			;
		madvise(race->page, PAGE, MADV_DONTNEED);
		atomic_store(&race->taken, round);
	}
	return NULL;
}

static void page_taken_by_another_thread(void)
{
	struct race race = {.rounds = 5 * argument(1), .page = blocked[MAPPINGS - 1]};
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_away, &race))
		cannot("pthread_create");
	for (int round = 1; round <= race.rounds; round++) {
		give_page(race.page);
		atomic_store(&race.round, round);
		for (int i = 0; i < RACE_CALLS; i++)
			text(race.page);
		while (atomic_load(&race.taken) < round)
			;
	}
	pthread_join(thread, NULL);
}

const struct act blocked_acts[] = {{"uffd", prepare_uffd, pass_pointers},
				   {"fuse", prepare_fuse_async, pass_pointers},
				   {"fuse-sync", prepare_fuse_sync, pass_pointers},
				   {"uffd-stack", prepare_uffd, stack_that_never_comes},
				   {"fuse-stack", prepare_fuse_async, stack_that_never_comes},
				   {"uffd-goes", prepare_uffd, pages_that_go},
				   {"fuse-goes", prepare_fuse_once, pages_of_a_file_that_go},
				   {"uffd-race", prepare_uffd, page_taken_by_another_thread},
				   {NULL, NULL, NULL}};
