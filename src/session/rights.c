/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that give privileges: set-user-ID, set-group-ID, file capabilities.
 *
 * A tracer can do anything with its tracee, so the kernel gives a traced program only privileges
 * that its tracer has, too. Under an ordinary user's tracer such a program runs without them. This
 * is the one thing that tracing changes about a program, so it is reported.
 */
#include "session/rights.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "session/session_state.h"
#include "tracee/files.h"
#include "tracee/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SAID_MAX = 1000 };

static bool has_capabilities(int place)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Returns which privilege the file gives and the process does not have, or NULL. */
static const char *lost_right(int place, const struct stat *status, pid_t pid)
{
	struct statvfs system;

	if (fstatvfs(place, &system) < 0 || system.f_flag & ST_NOSUID ||
	    proc_status_number(pid, "NoNewPrivs") == 1)
		return NULL;
	if (status->st_mode & S_ISUID && proc_effective_id(pid, "Uid") != (long)status->st_uid)
		return "set-user-ID";
	if (status->st_mode & S_ISGID && status->st_mode & S_IXGRP &&
	    proc_effective_id(pid, "Gid") != (long)status->st_gid)
		return "set-group-ID";
	if (geteuid() && has_capabilities(place))
		return "privileged by file capabilities";
	return NULL;
}

void rights_check(struct session *session, const struct thread *thread)
{
	_cleanup_free_ char *path = NULL;
	struct file_view view;
	struct maps maps;
	struct stat status;
	char safe[256];

	if (maps_read(thread->tid, &maps) < 0)
		return;
	file_view_init(&view, thread->tid);
	_cleanup_close_ int place = file_view_program_place(&view, &maps, &path);
	const char *what = place >= 0 && !fstat(place, &status)
				   ? lost_right(place, &status, thread->process->pid)
				   : NULL;

	if (what && !map_get(&session->unprivileged, status.st_ino) &&
	    session->unprivileged.count < SAID_MAX) {
		map_put(&session->unprivileged, status.st_ino, session);
		if (!session->target.options->quiet)
			diag("process %d: %s is %s, but runs without these rights, as it is traced by a "
			     "user who does not have them (root can use -u)",
			     (int)thread->process->pid, diag_safe(safe, sizeof safe, path), what);
	}
	file_view_deinit(&view);
	maps_deinit(&maps);
}
