/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another user for a command to run as (-u). */
#ifndef TRACER_INFERIOR_IDENTITY_H
#define TRACER_INFERIOR_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned; the primary one is among them */
	int group_count;
};

/*
 * The user of that name, or of that number when no name is like it, with all groups: 0; -ENOENT
 * when there is none, or -errno of the user database.
 */
int identity_find(const char *user, struct identity *identity);
void identity_deinit(struct identity *identity);

/*
 * Becomes that user for good: groups, group, user, in the order that leaves nothing behind. 0 or
 * -errno; -EPERM without CAP_SETUID and CAP_SETGID. Async-signal-safe: for a child about to exec.
 */
int identity_take(const struct identity *identity);

#endif
