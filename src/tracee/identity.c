/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up the user of option -u and changes to it in the child. */
#include "tracee/identity.h"

#include "base/xalloc.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_MAX = 65536 };

static const struct passwd *find_user(const char *user)
{
	const struct passwd *found;
	char *end;

	errno = 0;
	found = getpwnam(user);
	if (found)
		return found;
	unsigned long number = strtoul(user, &end, 10);

	if (*user < '0' || *user > '9' || *end || number >= UINT_MAX)
		return NULL;
	errno = 0;
	return getpwuid((uid_t)number);
}

int identity_find(const char *user, struct identity *identity)
{
	const struct passwd *found = find_user(user);
	int room = 16;

	*identity = (struct identity){0};
	if (!found)
		return errno && errno != ESRCH ? -errno : -ENOENT;
	identity->uid = found->pw_uid;
	identity->gid = found->pw_gid;
	for (;;) {
		int count = room;

		identity->groups = xrealloc(identity->groups, (size_t)room * sizeof(gid_t));
		if (getgrouplist(found->pw_name, found->pw_gid, identity->groups, &count) >= 0) {
			identity->group_count = count;
			return 0;
		}
		room = count > room ? count : room * 2;
		if (room > GROUPS_MAX) {
			identity_deinit(identity);
			return -E2BIG;
		}
	}
}

void identity_deinit(struct identity *identity)
{
	free(identity->groups);
	*identity = (struct identity){0};
}

int identity_take(const struct identity *identity)
{
	if (setgroups((size_t)identity->group_count, identity->groups) < 0 ||
	    setgid(identity->gid) < 0 || setuid(identity->uid) < 0)
		return -errno;
	return 0;
}
