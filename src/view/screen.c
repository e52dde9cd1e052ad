/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A full-screen display by ncurses.
 *
 * A terminal may take text slowly, or none at all (Ctrl-S, a connection that hangs), and ncurses
 * waits for it. The thread that traces must not wait, as the traced process would wait for it. So
 * all of ncurses is used in a thread of its own, which sleeps until there is a key or a frame. Of
 * several frames that it has not come to draw, only the last one is drawn.
 *
 * The tracer stays in the C locale (cli/main.c), so the thread has a locale of its own, by which
 * ncurses decodes and encodes characters. The signal handlers that ncurses installs are taken back:
 * the tracer receives its signals by another way, and Ctrl-Z and a change of the size are handled
 * where the frames are made.
 */
#include "view/screen.h"

#include "base/xalloc.h"
#include "view/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

enum { KEYS_MAX = 1024, ESCAPE_MS = 50, PATIENCE_MS = 300, LINE_MAX_WIDE = 1024 };
enum { CTRL_H = 8, CTRL_U = 21, CTRL_Z = 26, ESCAPE = 27, DELETE = 127 };

enum { COLOR_OF_ERRORS = 1, COLOR_OF_TITLES };

struct screen {
	struct screen_options options;
	pthread_t thread;
	int wake; /* an eventfd: there is something to do */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct frame *frame; /* the next one; NULL: none */
	struct view_key keys[KEYS_MAX];
	unsigned key_count;
	bool has_started; /* or failed to, with `error` */
	int error;
	bool is_to_suspend, is_suspended;
	bool is_to_stop;

	/* of the thread alone */
	FILE *in, *out;
	SCREEN *curses;
	locale_t locale; /* NULL: the C locale */
	bool is_hung_up;
};

bool screen_is_built(void)
{
	return true;
}

/* ------------------------------------------------------------------ begin and end */

static const int HANDLED[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
enum { HANDLED_COUNT = sizeof HANDLED / sizeof HANDLED[0] };

static SCREEN *open_curses(const struct screen *screen)
{
	struct sigaction actions[HANDLED_COUNT];

	for (unsigned i = 0; i < HANDLED_COUNT; i++)
		sigaction(HANDLED[i], NULL, &actions[i]);
	SCREEN *curses = newterm(NULL, screen->out, screen->in);

	for (unsigned i = 0; i < HANDLED_COUNT; i++)
		sigaction(HANDLED[i], &actions[i], NULL);
	return curses;
}

/* Ctrl-Z is a key: whoever suspends the tracer makes the traced process wait. */
static void disable_suspend(const struct screen *screen)
{
	struct termios modes;

	if (tcgetattr(screen->options.fd, &modes) != 0)
		return;
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(screen->options.fd, TCSANOW, &modes);
	def_prog_mode();
}

/* Tells the terminal's keeper what ends the display. */
static void tell_ending(const struct screen *screen)
{
	static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
	char ending[256] = "";

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = tigetstr(names[i]);

		if (text && text != (char *)-1 && strlen(ending) + strlen(text) < sizeof ending)
			strcat(ending, text);
	}
	terminal_set_ending(screen->options.terminal, ending);
}

static bool can_move_cursor(void)
{
	const char *text = tigetstr("cup");

	return text && text != (char *)-1;
}

static FILE *open_stream(int fd, const char *mode)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *stream = copy < 0 ? NULL : fdopen(copy, mode);

	if (!stream && copy >= 0)
		close(copy);
	return stream;
}

static void close_all(struct screen *screen)
{
	if (screen->curses)
		delscreen(screen->curses);
	if (screen->in)
		fclose(screen->in);
	if (screen->out)
		fclose(screen->out);
	if (screen->locale) {
		uselocale(LC_GLOBAL_LOCALE);
		freelocale(screen->locale);
	}
}

static int begin(struct screen *screen)
{
	if (screen->options.utf8)
		screen->locale = newlocale(LC_CTYPE_MASK, "", NULL);
	if (screen->locale)
		uselocale(screen->locale);
	screen->in = open_stream(screen->options.fd, "r");
	screen->out = open_stream(screen->options.fd, "w");
	if (!screen->in || !screen->out)
		return -errno;
	screen->curses = open_curses(screen);
	if (!screen->curses)
		return -ENOTSUP;
	if (!can_move_cursor()) {
		endwin();
		return -ENOTSUP;
	}
	tell_ending(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	disable_suspend(screen);
	if (screen->options.color && has_colors() && start_color() == OK) {
		use_default_colors();
		init_pair(COLOR_OF_ERRORS, COLOR_RED, -1);
		init_pair(COLOR_OF_TITLES, COLOR_CYAN, -1);
	}
	return 0;
}

/* ------------------------------------------------------------------ drawing */

static attr_t attributes_of(const struct screen *screen, enum frame_style style)
{
	static const attr_t attributes[FRAME_STYLES] = {[FRAME_PLAIN] = A_NORMAL,
							[FRAME_TITLE] = A_BOLD,
							[FRAME_HEADING] = A_REVERSE,
							[FRAME_SELECTED] = A_BOLD,
							[FRAME_ERROR] = A_BOLD};
	attr_t found = attributes[style];

	if (!screen->options.color || !has_colors())
		return found;
	if (style == FRAME_ERROR)
		found |= (attr_t)COLOR_PAIR(COLOR_OF_ERRORS);
	if (style == FRAME_TITLE)
		found |= (attr_t)COLOR_PAIR(COLOR_OF_TITLES);
	return found;
}

/*
 * Decodes as much of the text as has room in so many columns. Returns how many columns it takes;
 * *count gets the number of characters.
 */
static unsigned decode(const char *text, unsigned room, wchar_t wide[LINE_MAX_WIDE], int *count)
{
	size_t left = strlen(text);
	mbstate_t state = {0};
	unsigned used = 0;

	*count = 0;
	while (left && *count < LINE_MAX_WIDE) {
		wchar_t character;
		const size_t length = mbrtowc(&character, text, left, &state);

		if (length == 0 || length > left)
			break;
		const int known = wcwidth(character);
		/* The C library may know fewer characters than printable.h. */
		const unsigned width = known < 0 ? 1 : (unsigned)known;

		if (used + width > room)
			break;
		wide[(*count)++] = known < 0 ? L'?' : character;
		used += width;
		text += length;
		left -= length;
	}
	return used;
}

static void draw_line(const struct screen *screen, const struct frame *frame, unsigned line)
{
	const struct frame_line *content = &frame->content[line];
	const attr_t attributes = attributes_of(screen, content->style);
	wchar_t wide[LINE_MAX_WIDE];
	int count;
	/* Some terminals scroll when the last place of the last line is written to. */
	const unsigned room = line + 1 == frame->height ? frame->width - 1 : frame->width;
	unsigned used = decode(content->text ? content->text : "", room, wide, &count);

	wmove(stdscr, (int)line, 0);
	wattrset(stdscr, (int)attributes);
	waddnwstr(stdscr, wide, count);
	for (; used < room && content->style == FRAME_HEADING; used++)
		waddch(stdscr, ' ');
	wattrset(stdscr, A_NORMAL);
	if (used < frame->width)
		wclrtoeol(stdscr);
}

static void draw(const struct screen *screen, const struct frame *frame)
{
	wchar_t wide[LINE_MAX_WIDE];
	int count;

	if ((int)frame->height != LINES || (int)frame->width != COLS)
		resizeterm((int)frame->height, (int)frame->width);
	werase(stdscr);
	for (unsigned i = 0; i < frame->height; i++)
		draw_line(screen, frame, i);
	curs_set(frame->cursor >= 0);
	if (frame->cursor >= 0) {
		const char *text = frame->content[frame->cursor].text;

		wmove(stdscr, frame->cursor,
		      (int)decode(text ? text : "", frame->width - 1, wide, &count));
	}
	wrefresh(stdscr);
}

/* ------------------------------------------------------------------ keys */

/* Returns false for a key that means nothing. */
static bool key_of_code(wint_t code, enum view_key_kind *kind)
{
	static const struct {
		wint_t code;
		enum view_key_kind kind;
	} keys[] = {
		{KEY_UP, KEY_IS_UP},	     {KEY_DOWN, KEY_IS_DOWN},
		{KEY_LEFT, KEY_IS_LEFT},     {KEY_RIGHT, KEY_IS_RIGHT},
		{KEY_PPAGE, KEY_IS_PAGE_UP}, {KEY_NPAGE, KEY_IS_PAGE_DOWN},
		{KEY_HOME, KEY_IS_HOME},     {KEY_END, KEY_IS_END},
		{KEY_ENTER, KEY_IS_ENTER},   {KEY_BACKSPACE, KEY_IS_BACKSPACE},
		{KEY_DC, KEY_IS_BACKSPACE},
	};

	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (keys[i].code != code)
			continue;
		*kind = keys[i].kind;
		return true;
	}
	return false;
}

static bool key_of_character(wint_t character, struct view_key *key)
{
	mbstate_t state = {0};
	char text[16];

	switch (character) {
	case '\r':
	case '\n':
		key->kind = KEY_IS_ENTER;
		return true;
	case ESCAPE:
		key->kind = KEY_IS_ESCAPE;
		return true;
	case CTRL_H:
	case DELETE:
		key->kind = KEY_IS_BACKSPACE;
		return true;
	case CTRL_U:
		key->kind = KEY_IS_ERASE_LINE;
		return true;
	case CTRL_Z:
		key->kind = KEY_IS_SUSPEND;
		return true;
	default:
		break;
	}
	const size_t length = character < ' ' ? 0 : wcrtomb(text, (wchar_t)character, &state);

	if (!length || length >= sizeof key->text)
		return false;
	key->kind = KEY_IS_TEXT;
	memcpy(key->text, text, length);
	return true;
}

/* Reads all keys that were pressed. Keys that nobody takes are dropped. */
static void read_keys(struct screen *screen)
{
	bool has_some = false;
	wint_t code;
	int result;

	while ((result = wget_wch(stdscr, &code)) != ERR) {
		struct view_key key = {0};

		if (!(result == KEY_CODE_YES ? key_of_code(code, &key.kind)
					     : key_of_character(code, &key)))
			continue;
		pthread_mutex_lock(&screen->lock);
		if (screen->key_count < KEYS_MAX)
			screen->keys[screen->key_count++] = key;
		pthread_mutex_unlock(&screen->lock);
		has_some = true;
	}
	if (has_some)
		screen->options.has_key(screen->options.context);
}

/* ------------------------------------------------------------------ the thread */

static void set_suspended(struct screen *screen, bool is_suspended)
{
	if (is_suspended)
		endwin();
	else
		clearok(curscr, TRUE);
	pthread_mutex_lock(&screen->lock);
	screen->is_suspended = is_suspended;
	pthread_cond_broadcast(&screen->changed);
	pthread_mutex_unlock(&screen->lock);
}

/* Does what has been asked for. Returns false when the display is to end. */
static bool obey(struct screen *screen)
{
	pthread_mutex_lock(&screen->lock);
	struct frame *frame = screen->frame;
	const bool is_to_stop = screen->is_to_stop, is_to_suspend = screen->is_to_suspend;
	const bool is_suspended = screen->is_suspended;

	screen->frame = NULL;
	pthread_mutex_unlock(&screen->lock);
	if (!is_to_stop && is_to_suspend != is_suspended)
		set_suspended(screen, is_to_suspend);
	if (!is_to_stop && !is_to_suspend && frame)
		draw(screen, frame);
	frame_destroy(frame);
	return !is_to_stop;
}

static void wait_for_work(struct screen *screen)
{
	const bool listens = !screen->is_hung_up && !screen->is_suspended;
	struct pollfd fds[] = {{.fd = screen->wake, .events = POLLIN},
			       {.fd = listens ? screen->options.fd : -1, .events = POLLIN}};
	uint64_t count;

	poll(fds, 2, -1);
	if (fds[0].revents & POLLIN && read(screen->wake, &count, sizeof count) < 0)
		return; /* somebody else was faster, who does not exist */
	if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		screen->is_hung_up = true;
	else if (fds[1].revents & POLLIN)
		read_keys(screen);
}

static void *work(void *argument)
{
	struct screen *screen = argument;
	const int error = begin(screen);

	pthread_mutex_lock(&screen->lock);
	screen->has_started = true;
	screen->error = error;
	pthread_cond_broadcast(&screen->changed);
	pthread_mutex_unlock(&screen->lock);
	if (!error) {
		while (obey(screen))
			wait_for_work(screen);
		if (!screen->is_suspended)
			endwin();
	}
	close_all(screen);
	return NULL;
}

static void wake(const struct screen *screen)
{
	const uint64_t one = 1;

	if (write(screen->wake, &one, sizeof one) < 0)
		return; /* it is about to wake up anyway */
}

static void destroy(struct screen *screen)
{
	pthread_mutex_destroy(&screen->lock);
	pthread_cond_destroy(&screen->changed);
	frame_destroy(screen->frame);
	close(screen->wake);
	free(screen);
}

static struct timespec in_a_moment(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += PATIENCE_MS * 1000000L;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* ------------------------------------------------------------------ for the other threads */

static int start_thread(struct screen *screen)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&screen->thread, NULL, work, screen);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

int screen_start(const struct screen_options *options, struct screen **screen)
{
	struct screen *made = xcalloc(1, sizeof *made);

	*screen = NULL;
	made->options = *options;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = made->wake < 0 ? -errno : start_thread(made);

	if (!error) {
		pthread_mutex_lock(&made->lock);
		while (!made->has_started)
			pthread_cond_wait(&made->changed, &made->lock);
		error = made->error;
		pthread_mutex_unlock(&made->lock);
		if (error)
			pthread_join(made->thread, NULL);
	}
	if (error)
		destroy(made);
	else
		*screen = made;
	return error;
}

bool screen_stop(struct screen *screen)
{
	struct timespec limit = in_a_moment();

	pthread_mutex_lock(&screen->lock);
	screen->is_to_stop = true;
	pthread_mutex_unlock(&screen->lock);
	wake(screen);
	if (pthread_timedjoin_np(screen->thread, NULL, &limit) != 0) {
		/* What it waits to write is thrown away. */
		tcflow(screen->options.fd, TCOON);
		tcflush(screen->options.fd, TCOFLUSH);
		limit = in_a_moment();
		if (pthread_timedjoin_np(screen->thread, NULL, &limit) != 0)
			return false; /* it may still use all of the screen's memory */
	}
	destroy(screen);
	return true;
}

void screen_show(struct screen *screen, struct frame *frame)
{
	pthread_mutex_lock(&screen->lock);
	struct frame *before = screen->frame;

	screen->frame = frame;
	pthread_mutex_unlock(&screen->lock);
	frame_destroy(before);
	wake(screen);
}

bool screen_take_key(struct screen *screen, struct view_key *key)
{
	bool has_key;

	pthread_mutex_lock(&screen->lock);
	has_key = screen->key_count != 0;
	if (has_key) {
		*key = screen->keys[0];
		screen->key_count--;
		memmove(screen->keys, screen->keys + 1, screen->key_count * sizeof *screen->keys);
	}
	pthread_mutex_unlock(&screen->lock);
	return has_key;
}

static void ask(struct screen *screen, bool to_suspend)
{
	const struct timespec limit = in_a_moment();
	int error = 0;

	pthread_mutex_lock(&screen->lock);
	screen->is_to_suspend = to_suspend;
	wake(screen);
	while (screen->is_suspended != to_suspend && !error)
		error = pthread_cond_timedwait(&screen->changed, &screen->lock, &limit);
	pthread_mutex_unlock(&screen->lock);
}

void screen_suspend(struct screen *screen)
{
	ask(screen, true);
}

void screen_resume(struct screen *screen)
{
	ask(screen, false);
}
