/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories of the tracer's own files, from the environment. */
#include "base/config_dirs.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static void add(struct vec *paths, const char *base, size_t length, const char *folder,
		const char *below)
{
	char *path = xasprintf("%.*s%s%s", (int)length, base, folder, below);

	vec_push(paths, &path);
}

static void add_absolute(struct vec *paths, const char *base, size_t length, const char *folder,
			 const char *below)
{
	if (length && *base == '/')
		add(paths, base, length, folder, below);
}

void config_dirs_add(struct vec *paths, const char *installed, const char *below)
{
	const char *home = getenv("HOME");
	const char *own = getenv("XDG_CONFIG_HOME");
	const char *list = getenv("XDG_CONFIG_DIRS");

	if (own && *own == '/')
		add(paths, own, strlen(own), "/tracer", below);
	else if (home)
		add_absolute(paths, home, strlen(home), "/.config/tracer", below);
	if (!list || !*list)
		list = "/etc/xdg";
	while (*list) {
		const size_t length = strcspn(list, ":");

		add_absolute(paths, list, length, "/tracer", below);
		list += length + (list[length] == ':');
	}
	if (installed && *installed)
		add(paths, installed, strlen(installed), "", below);
}

const char *config_dirs_installed(void)
{
	const char *given = getenv("TRACER_DATADIR");

	return given ? given : PKGDATADIR;
}
