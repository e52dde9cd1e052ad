/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that makes its reader wait for somebody who never answers: pages of a userfaultfd, and of a file
 * on a FUSE file system whose server takes each READ and keeps it. The server speaks the protocol
 * of linux/fuse.h by itself. It lives on when this program has ended, until somebody kills its process group,
 * so that a tracer that waits for it waits for ever.
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <sched.h>
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

enum { MAPPINGS = 4 };

static unsigned char *blocked[MAPPINGS]; /* nothing of them is there */

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

static void serve_request(int device, const struct fuse_in_header *request, bool asynchronous)
{
	struct fuse_entry_out entry = {.nodeid = FILE_NODE,
				       .entry_valid = 1000,
				       .attr_valid = 1000,
				       .attr = attributes(FILE_NODE)};
	struct fuse_attr_out attr = {.attr_valid = 1000, .attr = attributes(request->nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (request->opcode) {
	case FUSE_INIT:
		answer_init(device, request->unique, asynchronous);
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
	case FUSE_READ: /* never */
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

static void serve(int device, bool asynchronous)
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
			serve_request(device, &request.header, asynchronous);
	}
}

static void mount_fuse(const char *directory, bool asynchronous)
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
		serve(device, asynchronous);
	close(device); /* the connection ends with the server */
}

static void prepare_fuse(bool asynchronous)
{
	char directory[] = "/tmp/never-XXXXXX";
	char path[64];

	if (!mkdtemp(directory))
		cannot("mkdtemp");
	mount_fuse(directory, asynchronous);
	snprintf(path, sizeof path, "%s/file", directory);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		cannot("opening a file on FUSE");
	for (size_t i = 0; i < MAPPINGS; i++) {
		blocked[i] = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
		if (blocked[i] == MAP_FAILED)
			cannot("mapping a file on FUSE");
		/* Without readahead a page is read by whoever touches it, who then cannot be killed. */
		if (!asynchronous)
			madvise(blocked[i], PAGES * PAGE, MADV_RANDOM);
	}
	umount2(directory, MNT_DETACH);
	rmdir(directory);
}

static void prepare_fuse_async(void)
{
	prepare_fuse(true);
}

static void prepare_fuse_sync(void)
{
	prepare_fuse(false);
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

const struct act blocked_acts[] = {{"uffd", prepare_uffd, pass_pointers},
				   {"fuse", prepare_fuse_async, pass_pointers},
				   {"fuse-sync", prepare_fuse_sync, pass_pointers},
				   {"uffd-stack", prepare_uffd, stack_that_never_comes},
				   {"fuse-stack", prepare_fuse_async, stack_that_never_comes},
				   {NULL, NULL, NULL}};
