/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user that a command runs as (option -u). */
#ifndef TRACER_TRACEE_IDENTITY_H
#define TRACER_TRACEE_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned; includes the primary group */
	int group_count;
};

/*
 * Looks a user up by name or, if there is no such name, by number, with all groups: 0; -ENOENT if
 * there is none, or the -errno of the user database.
 */
int identity_find(const char *user, struct identity *identity);
void identity_deinit(struct identity *identity);

/*
 * Becomes that user for good: sets groups, group and user id, in this order, as the rights to set
 * the former go with the latter. 0 or -errno; -EPERM without CAP_SETUID and CAP_SETGID.
 * Async-signal-safe: for a child that is about to exec.
 */
int identity_take(const struct identity *identity);

#endif
