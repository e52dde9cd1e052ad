/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The view of --top while the trace goes on.
 *
 * The main loop sleeps in waitpid(2). An alarm wakes it up for each refresh, and the screen's
 * thread when a key was pressed (tracee/interrupts.c), so nothing is polled. What is shown is
 * handed to that thread as a frame; the tracing thread never waits for the terminal. Only where a
 * job is stopped or continued does it wait, for a moment.
 *
 * A tracer that is continued in the background (bg) shows nothing until it is in the foreground.
 */
#include "session/live_view.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "session/session_state.h"
#include "sink/tables/top.h"
#include "target/agent_policy.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "view/screen.h"
#include "view/terminal.h"
#include "view/top_view.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct live_view {
	struct terminal *terminal;
	struct screen *screen;
	struct top_view *view;
	uint64_t next; /* clock_now() of the next refresh */
	bool is_suspended;
};

/* ------------------------------------------------------------------ what is traced */

static void add_safe(struct strbuf *text, const char *word)
{
	char safe[256];

	strbuf_add(text, diag_safe(safe, sizeof safe, word));
}

static bool has_item(const struct vec *texts, const char *text)
{
	for (size_t i = 0; texts && i < texts->count; i++)
		if (*(const char **)vec_at(texts, i) == text)
			return true;
	return false;
}

/* Appends the filters but those of `left_out`, which may be NULL. */
static void add_filters(struct strbuf *text, const char *option, const struct vec *filters,
			const struct vec *left_out)
{
	for (size_t i = 0; i < filters->count; i++) {
		const char *filter = *(const char **)vec_at(filters, i);

		if (has_item(left_out, filter))
			continue;
		strbuf_printf(text, " %s ", option);
		add_safe(text, filter);
	}
}

/* Appends what the user has asked for. */
static void describe(struct strbuf *text, const struct session_options *options)
{
	char name[16];

	strbuf_add(text, "tracer:");
	for (size_t i = 0; i < options->pid_count; i++) {
		proc_name(options->pids[i], name);
		strbuf_add(text, " ");
		add_safe(text, name);
		strbuf_printf(text, " (%d)", (int)options->pids[i]);
	}
	for (size_t i = 0; options->command && options->command[i]; i++) {
		strbuf_add(text, " ");
		add_safe(text, options->command[i]);
	}
	strbuf_add(text, " ");
	if (options->recipes)
		add_safe(text, options->recipes);
	add_filters(text, "-e", options->call_filters, NULL);
	add_filters(text, "-l", options->callee_filters, NULL);
	/* A recipe names the functions of all drivers: its name says more on one line. */
	add_filters(text, "-x", options->entry_filters, options->optional_filters);
	strbuf_add(text, options->system_calls ? " -S" : "");
}

/* ------------------------------------------------------------------ begin and end */

static void has_key(void *context)
{
	const struct session *session = context;

	interrupts_ask(session->interrupts);
}

static int start_screen(struct session *session, struct live_view *live)
{
	const struct session_options *options = session->target.options;
	const struct screen_options screen = {.fd = options->view_fd,
					      .terminal = live->terminal,
					      .color = options->output->color,
					      .utf8 = options->output->utf8,
					      .has_key = has_key,
					      .context = session};

	return screen_start(&screen, &live->screen);
}

static void show(struct session *session)
{
	struct live_view *live = session->live_view;
	unsigned lines, columns;

	if (live->is_suspended)
		return;
	terminal_size(session->target.options->view_fd, &lines, &columns);
	screen_show(live->screen, top_view_draw(live->view, lines, columns));
}

static void refresh(struct session *session)
{
	struct live_view *live = session->live_view;

	agent_policy_drain_rings(&session->target);
	top_view_tick(live->view, clock_wall(), agent_policy_lost(&session->target),
		      terminal_message(live->terminal));
	show(session);
}

int live_view_start(struct session *session)
{
	const struct session_options *options = session->target.options;
	struct strbuf what = {0};

	if (!options->view_ns)
		return 0;
	struct live_view *live = xcalloc(1, sizeof *live);

	live->terminal = terminal_take(options->view_fd);
	const int error = start_screen(session, live);

	if (error) {
		terminal_give_back(live->terminal, false);
		free(live);
		diag("--top: %s; -c --interval=1s needs no screen",
		     error == -ENOTSUP ? "this kind of terminal (TERM) has no full-screen display"
				       : strerror(-error));
		return error;
	}
	describe(&what, options);
	live->view = top_view_create(session->top, what.text);
	strbuf_deinit(&what);
	session->live_view = live;
	live->next = clock_now() + options->view_ns;
	interrupts_set_request(session->interrupts, SIGWINCH);
	interrupts_set_alarm(session->interrupts, live->next);
	refresh(session);
	return 0;
}

void live_view_stop(struct session *session)
{
	struct live_view *live = session->live_view;

	if (!live)
		return;
	session->live_view = NULL;
	interrupts_set_alarm(session->interrupts, 0);
	terminal_give_back(live->terminal, screen_stop(live->screen));
	top_view_destroy(live->view);
	free(live);
}

/* ------------------------------------------------------------------ while the trace goes on */

static void check_time(struct session *session)
{
	struct live_view *live = session->live_view;
	const uint64_t period = session->target.options->view_ns;

	if (!interrupts_take_alarm(session->interrupts))
		return;
	if (live->is_suspended)
		live_view_resume(session);
	refresh(session);
	const uint64_t now = clock_now();

	live->next += period;
	if (live->next <= now)
		live->next = now + period;
	interrupts_set_alarm(session->interrupts, live->next);
}

void live_view_check(struct session *session)
{
	struct live_view *live = session->live_view;
	struct view_key key;
	bool has_keys = false;

	if (!live)
		return;
	check_time(session);
	if (!interrupts_take_asked(session->interrupts))
		return;
	while (screen_take_key(live->screen, &key)) {
		/* From a command, too, as at the end of --duration. */
		if (!top_view_key(live->view, &key))
			interrupts_set_end(session->interrupts, clock_now());
		has_keys = true;
	}
	if (has_keys)
		show(session);
}

bool live_view_signal(struct session *session, int signal)
{
	if (signal != SIGWINCH)
		return false;
	if (session->live_view)
		show(session);
	return true;
}

void live_view_suspend(struct session *session)
{
	struct live_view *live = session->live_view;

	if (!live || live->is_suspended)
		return;
	live->is_suspended = true;
	screen_suspend(live->screen);
}

void live_view_resume(struct session *session)
{
	struct live_view *live = session->live_view;

	if (!live || !live->is_suspended || !terminal_is_ours(session->target.options->view_fd))
		return;
	live->is_suspended = false;
	screen_resume(live->screen);
	show(session);
}
