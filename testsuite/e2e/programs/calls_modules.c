/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that come and go. */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static void *plugin;
static void *plugin_address;

static void open_plugin(void)
{
	int (*run)(int);

	plugin = dlopen(next(), RTLD_NOW);
	if (!plugin) {
		say("%s", dlerror());
		_exit(94);
	}
	run = (int (*)(int))dlsym(plugin, "plugin_run");
	say("opened %s", (void *)run == plugin_address ? "at the same address" : "elsewhere");
	plugin_address = (void *)run;
}

static void open_namespace(void)
{
	plugin = dlmopen(LM_ID_NEWLM, next(), RTLD_NOW);
	if (!plugin) {
		say("%s", dlerror());
		_exit(94);
	}
	say("opened");
}

static void run_plugin(void)
{
	int (*run)(int) = (int (*)(int))dlsym(plugin, "plugin_run");

	say("plugin %d", run(number()));
}

static void close_plugin(void)
{
	say("closed %d", dlclose(plugin));
}

/* Takes the place where the plugin was, so that it must go elsewhere next time. */
static void block(void)
{
	void *place = (void *)((uintptr_t)plugin_address & ~(uintptr_t)4095);
	void *got = mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	say(got == place ? "blocked" : "not blocked");
}

const struct verb module_verbs[] = {
	{"dlopen", open_plugin},
	{"dlmopen", open_namespace},
	{"run", run_plugin},
	{"dlclose", close_plugin},
	{"block", block},
	{0},
};
