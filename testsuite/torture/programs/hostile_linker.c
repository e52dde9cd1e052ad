/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic linker's list, damaged in memory, and then shown to whoever watches it: r_brk is
 * called here just as the linker does, so that the linker itself never walks what is damaged.
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The linker's own structure: the name _r_debug may stand for a copy in the program. */
static struct r_debug *debug(void)
{
	const ElfW(Dyn) *entry = _DYNAMIC;

	while (entry->d_tag != DT_DEBUG)
		entry++;
	return (struct r_debug *)entry->d_un.d_ptr;
}

static void show(void)
{
	void (*changed)(void) = (void (*)(void))(uintptr_t)debug()->r_brk;

	changed();
}

static struct link_map *last_node(void)
{
	struct link_map *node = debug()->r_map;

	while (node->l_next)
		node = node->l_next;
	return node;
}

static void make_writable(const void *start, size_t length)
{
	uintptr_t page = (uintptr_t)start & ~(uintptr_t)(PAGE - 1);

	if (mprotect((void *)page, (uintptr_t)start + length - page,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		cannot("mprotect");
}

/* Shows the list with the end of it pointing there, and again when it is right. */
static void with_end(void *next)
{
	struct link_map *last = last_node();

	last->l_next = next;
	show();
	plain(2);
	last->l_next = NULL;
	show();
	plain(2);
}

static void loops(void)
{
	with_end(debug()->r_map);
	with_end(last_node());
	with_end(debug()->r_map->l_next);
}

static void wild(void)
{
	static const uint64_t places[] = {1, 0x10, 0xffff, 0x7fffffff, 0xdeadbeef00000000, -1ULL};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		with_end((void *)(uintptr_t)places[i]);
}

/* A list of objects that are none, with what a terminal should not see for names. */
static void many(void)
{
	int count = argument(2000);
	struct link_map *nodes = calloc((size_t)count, sizeof *nodes);

	if (!nodes)
		cannot("memory");
	for (int i = 0; i < count; i++) {
		nodes[i].l_addr = (uintptr_t)i * PAGE;
		nodes[i].l_name = (char[]){"\033[2J\033]0;owned\007lib\n\200\377.so"};
		nodes[i].l_ld = (void *)(uintptr_t)(0x10000000 + 16 * i);
		nodes[i].l_next = i + 1 < count ? &nodes[i + 1] : NULL;
	}
	with_end(nodes);
	free(nodes);
}

static const struct link_map *traced_library(void)
{
	const struct link_map *node = debug()->r_map;

	while (node && !strstr(node->l_name, "libhostile"))
		node = node->l_next;
	if (!node)
		cannot("no libhostile");
	return node;
}

/* Names without an end, in nowhere; objects in memory of odd kinds. */
static void names(void)
{
	size_t length = 1 << 20;
	char *endless = malloc(length);
	struct link_map node = {.l_addr = 0x1000, .l_ld = (void *)&node};

	if (!endless)
		cannot("memory");
	memset(endless, '\033', length);
	node.l_name = endless;
	with_end(&node);
	node.l_name = (char *)1;
	with_end(&node);
	node.l_name = NULL;
	node.l_ld = (void *)endless;
	with_end(&node);
	node.l_ld = (void *)(uintptr_t)debug()->r_map->l_ld;
	with_end(&node);
	node = *debug()->r_map; /* the program a second time */
	node.l_next = NULL;
	with_end(&node);
	node.l_addr += 16;
	with_end(&node);
	/* The traced library, a little further on: whoever believes it writes into its code. */
	node = *traced_library();
	node.l_next = NULL;
	node.l_addr += 4;
	node.l_ld = (void *)((char *)node.l_ld + 4);
	with_end(&node);
	node.l_addr += PAGE;
	node.l_ld = (void *)((char *)node.l_ld + PAGE);
	with_end(&node);
	free(endless);
}

static volatile bool rewriting;

static void *rewrite(void *argument)
{
	struct link_map *node = argument;
	static char name[] = "/lib/libc.so.6";
	uint64_t state = 88172645463325252U;

	while (rewriting) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		node[state % 4].l_next = state & 16 ? NULL : &node[state >> 8 & 3];
		node[state % 4].l_addr = state >> 16;
		node[state % 4].l_ld = (void *)(uintptr_t)(state & 32 ? state >> 20
								      : (uintptr_t)_DYNAMIC);
		node[state % 4].l_name = state & 64 ? name : (char *)(uintptr_t)(state >> 24);
	}
	return NULL;
}

/* Another thread writes to the list all the time. */
static void race(void)
{
	static struct link_map nodes[4];
	struct link_map *last = last_node();
	pthread_t thread;

	last->l_next = nodes;
	rewriting = true;
	if (pthread_create(&thread, NULL, rewrite, nodes))
		cannot("thread");
	for (int i = 0; i < argument(100); i++) {
		show();
		plain(1);
	}
	rewriting = false;
	pthread_join(thread, NULL);
	last->l_next = NULL;
	show();
}

static void debug_structure(void)
{
	struct r_debug *list = debug();
	uintptr_t *next = &((uintptr_t *)(void *)list)[5]; /* r_next, from version 2 on */
	struct r_debug good = *list;
	uintptr_t good_next = *next;

	list->r_map = (struct link_map *)8;
	show();
	plain(2);
	*list = good;
	list->r_version = 0x7fffffff;
	*next = (uintptr_t)list;
	show();
	plain(2);
	*next = 0x123456;
	show();
	plain(2);
	*next = good_next;
	*list = good;
	list->r_state = 77;
	show();
	plain(2);
	*list = good;
	list->r_map = NULL;
	show();
	plain(2);
	*list = good;
	show();
	plain(2);
}

/* The program's own dynamic section leads somewhere else, or nowhere. */
static void dynamic_section(void)
{
	static struct r_debug other = {.r_version = 1};
	void (*changed)(void) = (void (*)(void))(uintptr_t)debug()->r_brk;
	ElfW(Dyn) *entry = _DYNAMIC;

	while (entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG)
		entry++;
	if (entry->d_tag != DT_DEBUG)
		cannot("no DT_DEBUG");
	make_writable(_DYNAMIC, sizeof *entry * (size_t)(entry - _DYNAMIC + 1));
	uintptr_t good = entry->d_un.d_ptr;
	uintptr_t places[] = {0, 8, (uintptr_t)-8, (uintptr_t)&other, (uintptr_t)_DYNAMIC};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		entry->d_un.d_ptr = places[i];
		changed();
		plain(2);
	}
	entry->d_un.d_ptr = good;
	changed();
	plain(2);
	/* No end, and nothing that is known; the linker needs it again. */
	static ElfW(Dyn) kept[64];
	size_t length = sizeof *entry * (size_t)(entry - _DYNAMIC + 1);

	if (length > sizeof kept)
		cannot("a dynamic section so long");
	memcpy(kept, _DYNAMIC, length);
	memset(_DYNAMIC, 0x5a, length);
	changed();
	plain(2);
	memcpy(_DYNAMIC, kept, length);
	changed();
}

static int scribble(struct dl_phdr_info *info, size_t size, void *context)
{
	const ElfW(Phdr) *header = info->dlpi_phdr;

	(void)size;
	(void)context;
	for (int i = 0; i < info->dlpi_phnum; i++, header++)
		if (header->p_type == PT_LOAD && !header->p_offset && info->dlpi_name &&
		    strstr(info->dlpi_name, "libhostile")) {
			unsigned char *start = (unsigned char *)info->dlpi_addr + header->p_vaddr;

			make_writable(start, 64);
			memset(start, 0xff, 64);
		}
	return 0;
}

/* The ELF header of a library that is traced. */
static void headers(void)
{
	dl_iterate_phdr(scribble, NULL);
	show();
	plain(2);
	void *handle = dlopen("libm.so.6", RTLD_NOW);

	plain(2);
	if (handle)
		dlclose(handle);
	plain(2);
}

static unsigned char *never;

static void prepare_never(void)
{
	never = pages_that_never_come(16);
}

/* The list leads into memory that makes its reader wait. */
static void list_that_never_comes(void)
{
	struct r_debug *list = debug();
	struct r_debug good = *list;
	struct link_map node = {.l_addr = 0x1000, .l_ld = (void *)(never + 9 * PAGE)};

	with_end(never + 2 * PAGE);
	node.l_name = (char *)never + 3 * PAGE;
	with_end(&node);
	list->r_map = (void *)(never + 4 * PAGE);
	show();
	plain(2);
	*list = good;
	show();
	plain(2);
}

const struct act linker_acts[] = {
	{"list-loops", NULL, loops},	    {"list-wild", NULL, wild},
	{"list-many", NULL, many},	    {"list-names", NULL, names},
	{"list-race", NULL, race},	    {"list-never", prepare_never, list_that_never_comes},
	{"r_debug", NULL, debug_structure}, {"dynamic-section", NULL, dynamic_section},
	{"elf-header", NULL, headers},	    {NULL, NULL, NULL}};
