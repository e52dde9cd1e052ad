/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends requests by OTLP/HTTP (opentelemetry-proto, docs/specification.md, "OTLP/HTTP") while the
 * trace goes on.
 *
 * The tracing thread must not wait for a network: the traced processes would. So a thread of its
 * own sends, and the tracing thread only copies requests to a queue. The queue is bounded: if the
 * receiver is too slow, what does not fit is dropped, and counted, as what the receiver rejects. A
 * receiver that is far away answers late: all that waits then, up to a limit, is one request.
 *
 * A request is sent again, with growing pauses, if the receiver says that it may be (429, 502, 503,
 * 504; Retry-After says when), or if it cannot be reached. After five minutes it is dropped. At the
 * end there are some seconds for what is left: a progress function ends a transfer that takes
 * longer. A replay waits for the receiver, as nobody waits for the tracer, but gives up when
 * nothing has been taken for half a minute.
 *
 * The thread is started by the first request, since the tracer forks before. It blocks all signals:
 * they are meant for the tracing thread. If it does not end in time, which only a name server that
 * does not answer can do, it is left alone, and so is its memory; the tracer's exit ends it.
 */
#include "sink/otlp/otlp_sender.h"

#include "base/diag.h"

#include <errno.h>

#ifndef HAVE_CURL

int otlp_sender_create(const char *url, struct otlp_sender **sender)
{
	(void)url;
	*sender = NULL;
	diag("--otlp: this tracer was built without libcurl");
	return -ENOTSUP;
}

void otlp_sender_put(struct otlp_sender *sender, const char *resources, size_t length,
		     unsigned spans)
{
	(void)sender;
	(void)resources;
	(void)length;
	(void)spans;
}

uint64_t otlp_sender_finish(struct otlp_sender *sender)
{
	(void)sender;
	return 0;
}

void otlp_sender_wait(struct otlp_sender *sender)
{
	(void)sender;
}

void otlp_sender_destroy(struct otlp_sender *sender)
{
	(void)sender;
}

#else

#include "base/xalloc.h"
#include "sink/otlp/libcurl.h"
#include "sink/otlp/otlp_resource.h"
#include "tracee/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define PAUSE_MIN (500 * NS_PER_MS)
#define PAUSE_MAX (30 * NS_PER_S)
/* How long a request is tried, and how long the end of the trace waits; in a replay, both. */
#define TRIED_MAX (300 * NS_PER_S)
#define END_MAX (5 * NS_PER_S)
#define REPLAY_MAX (30 * NS_PER_S)
#define JOIN_MAX (2 * NS_PER_S) /* behind the end */

enum {
	QUEUE_MAX = 16 << 20,
	REQUEST_MAX = 2 << 20,
	CONNECT_S = 5,
	TRANSFER_S = 10,
	ANSWER_MAX = 4096
};

/* Spans that wait, or a request of them. */
struct request {
	struct request *next;
	uint64_t begun; /* clock_now() of the first attempt; 0: there was none */
	unsigned spans;
	size_t length;
	char body[];
};

struct answer {
	size_t length;
	char text[ANSWER_MAX + 1];
};

struct otlp_sender {
	/* Not changed while the thread runs. */
	struct libcurl curl;
	char *url, *host; /* `host`: for messages, without a password; from libcurl */
	struct curl_slist *headers;
	pthread_t thread;
	bool is_started, is_finished;
	bool waits; /* otlp_sender_wait() */

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t news;  /* CLOCK_MONOTONIC: a request, the end, or that the thread is done */
	struct request *first, **last;
	size_t queued;		 /* bytes */
	struct request *current; /* which is being sent, and no longer in the queue; or NULL */
	uint64_t dropped;
	uint64_t end; /* clock_now() at which the thread has to end; 0: not yet */
	bool is_done;
	bool has_complained;
};

/* ------------------------------------------------------------------ options */

static bool add_header(struct otlp_sender *sender, const char *name, const char *value)
{
	char *line = xasprintf("%s: %s", name, value);
	const bool is_right = !strpbrk(line, "\r\n");

	if (is_right)
		sender->headers = sender->curl.slist_append(sender->headers, line);
	free(line);
	return is_right;
}

static void add_headers(struct otlp_sender *sender)
{
	const char *text = getenv("OTEL_EXPORTER_OTLP_HEADERS");
	struct vec pairs = VEC_OF(struct otlp_pair);
	bool is_right = !text || !otlp_resource_parse(text, &pairs);

	add_header(sender, "Content-Type", "application/json");
	add_header(sender, "User-Agent", "tracer/" PACKAGE_VERSION);
	add_header(sender, "Expect", ""); /* the body is sent at once */
	for (size_t i = 0; i < pairs.count; i++) {
		const struct otlp_pair *pair = vec_at(&pairs, i);

		is_right &= add_header(sender, pair->key, pair->value);
	}
	otlp_resource_free(&pairs);
	if (!is_right)
		diag("OTEL_EXPORTER_OTLP_HEADERS is not KEY=VALUE,KEY=VALUE");
}

/* Checks a URL and completes its path. Returns false if it is none. */
static bool parse_url(struct otlp_sender *sender, const char *text)
{
	CURLU *url = sender->curl.url();
	char *scheme = NULL, *path = NULL;
	bool is_right = url && !sender->curl.url_set(url, CURLUPART_URL, text, 0) &&
			!sender->curl.url_get(url, CURLUPART_SCHEME, &scheme, 0) &&
			(!strcmp(scheme, "http") || !strcmp(scheme, "https")) &&
			!sender->curl.url_get(url, CURLUPART_PATH, &path, 0);

	if (is_right && !strcmp(path, "/"))
		is_right = !sender->curl.url_set(url, CURLUPART_PATH, "/v1/traces", 0);
	if (is_right)
		is_right = !sender->curl.url_get(url, CURLUPART_URL, &sender->url, 0) &&
			   !sender->curl.url_get(url, CURLUPART_HOST, &sender->host, 0);
	sender->curl.free(scheme);
	sender->curl.free(path);
	sender->curl.url_cleanup(url);
	return is_right;
}

int otlp_sender_create(const char *url, struct otlp_sender **sender)
{
	struct otlp_sender *made = xcalloc(1, sizeof *made);
	pthread_condattr_t monotonic;
	char safe[256];

	*sender = NULL;
	made->last = &made->first;
	if (libcurl_load(&made->curl)) {
		free(made);
		return -ENOTSUP;
	}
	made->curl.global_init(CURL_GLOBAL_DEFAULT);
	if (!parse_url(made, url)) {
		diag("--otlp: this is no URL of http or https: %s",
		     diag_safe(safe, sizeof safe, url));
		made->is_finished = true;
		otlp_sender_destroy(made);
		return -EINVAL;
	}
	add_headers(made);
	pthread_mutex_init(&made->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&made->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*sender = made;
	return 0;
}

/* ------------------------------------------------------------------ the thread */

static struct timespec timespec_of(uint64_t time)
{
	return (struct timespec){.tv_sec = (time_t)(time / NS_PER_S),
				 .tv_nsec = (long)(time % NS_PER_S)};
}

/* Says once that the receiver does not take what it gets; `status`: 0 if it did not answer. */
static void complain(struct otlp_sender *sender, CURLcode code, long status, bool is_final)
{
	const char *then = is_final ? "spans are dropped" : "it is tried again";

	if (sender->has_complained)
		return;
	sender->has_complained = true;
	if (status)
		diag("--otlp: %s answers %ld; %s", sender->host, status, then);
	else
		diag("--otlp: %s: %s; %s", sender->host, sender->curl.easy_strerror(code), then);
}

/* libcurl asks whether to go on: not if the tracer has ended and waited long enough. */
static int go_on(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
		 curl_off_t up_now)
{
	struct otlp_sender *sender = context;

	(void)total;
	(void)now;
	(void)up_total;
	(void)up_now;
	pthread_mutex_lock(&sender->lock);
	const bool is_over = sender->end && clock_now() >= sender->end;

	pthread_mutex_unlock(&sender->lock);
	return is_over;
}

static size_t take_answer(char *text, size_t size, size_t count, void *context)
{
	struct answer *answer = context;
	const size_t room = ANSWER_MAX - answer->length, length = size * count;

	memcpy(answer->text + answer->length, text, length < room ? length : room);
	answer->length += length < room ? length : room;
	answer->text[answer->length] = '\0';
	return length;
}

/* Returns how many spans a receiver that took the request has rejected all the same. */
static uint64_t rejected(const struct answer *answer)
{
	static const char member[] = "\"rejectedSpans\"";
	const char *at = strstr(answer->text, member);

	if (!at)
		return 0;
	at += sizeof member - 1;
	at += strspn(at, " \t\r\n:\"");
	return strtoull(at, NULL, 10);
}

enum outcome { SENT, REJECTED, AGAIN };

/* Sends one request. *pause: how long to wait before the next attempt, if the receiver says so. */
static enum outcome send_one(struct otlp_sender *sender, CURL *curl, const struct request *request,
			     uint64_t *pause, uint64_t *lost)
{
	struct answer answer = {0};
	const char *body = request->body;
	curl_off_t after = 0;
	long status = 0;

	sender->curl.easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	sender->curl.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
	sender->curl.easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	const CURLcode code = sender->curl.easy_perform(curl);

	if (code != CURLE_OK) {
		if (code != CURLE_ABORTED_BY_CALLBACK)
			complain(sender, code, 0, false);
		return AGAIN;
	}
	sender->curl.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300) {
		*lost = rejected(&answer);
		return SENT;
	}
	const bool is_final = status != 429 && status != 502 && status != 503 && status != 504;

	complain(sender, code, status, is_final);
	if (is_final)
		return REJECTED;
	sender->curl.easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
	if (after > 0)
		*pause = (uint64_t)after > TRIED_MAX / NS_PER_S ? TRIED_MAX
								: (uint64_t)after * NS_PER_S;
	return AGAIN;
}

static CURL *set_up(struct otlp_sender *sender)
{
	CURL *curl = sender->curl.easy_init();

	if (!curl)
		return NULL;
	sender->curl.easy_setopt(curl, CURLOPT_URL, sender->url);
	sender->curl.easy_setopt(curl, CURLOPT_HTTPHEADER, sender->headers);
	sender->curl.easy_setopt(curl, CURLOPT_POST, 1L);
	sender->curl.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	sender->curl.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	sender->curl.easy_setopt(curl, CURLOPT_TIMEOUT, (long)TRANSFER_S);
	sender->curl.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	sender->curl.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	sender->curl.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, go_on);
	sender->curl.easy_setopt(curl, CURLOPT_XFERINFODATA, sender);
	return curl;
}

static void add(struct request *request, const char *text, size_t length)
{
	memcpy(request->body + request->length, text, length);
	request->length += length;
}

/* Makes a request of what is first in the queue, which is not empty. */
static struct request *take(struct otlp_sender *sender)
{
	const struct request *one = sender->first;
	size_t length = one->length;

	for (one = one->next; one && length + 1 + one->length <= REQUEST_MAX; one = one->next)
		length += 1 + one->length;
	struct request *made = xmalloc(sizeof *made + length + sizeof OTLP_REQUEST_BEGIN +
				       sizeof OTLP_REQUEST_END);

	*made = (struct request){0};
	add(made, OTLP_REQUEST_BEGIN, sizeof OTLP_REQUEST_BEGIN - 1);
	while (sender->first != one) {
		struct request *first = sender->first;

		if (made->spans)
			add(made, ",", 1);
		add(made, first->body, first->length);
		made->spans += first->spans;
		sender->queued -= sizeof *first + first->length;
		sender->first = first->next;
		free(first);
	}
	if (!sender->first)
		sender->last = &sender->first;
	add(made, OTLP_REQUEST_END, sizeof OTLP_REQUEST_END - 1);
	return made;
}

/* Waits for a request: the current one, or the next. Returns NULL if it is time to end. */
static struct request *next(struct otlp_sender *sender)
{
	struct request *request = NULL;

	pthread_mutex_lock(&sender->lock);
	while (!sender->current && !sender->first && !sender->end)
		pthread_cond_wait(&sender->news, &sender->lock);
	if (!sender->end || clock_now() < sender->end) {
		if (!sender->current && sender->first)
			sender->current = take(sender);
		/* Whoever waits for room in the queue. */
		pthread_cond_broadcast(&sender->news);
		request = sender->current;
	}
	pthread_mutex_unlock(&sender->lock);
	return request;
}

/* The current request was sent, or is given up; `lost` spans of it are. */
static void drop_current(struct otlp_sender *sender, bool is_sent, uint64_t lost)
{
	pthread_mutex_lock(&sender->lock);
	if (is_sent && sender->waits && sender->end)
		sender->end = clock_now() + REPLAY_MAX;
	free(sender->current);
	sender->current = NULL;
	sender->dropped += lost;
	pthread_cond_broadcast(&sender->news);
	pthread_mutex_unlock(&sender->lock);
}

/* Waits for a time, but no longer than until the trace has ended, when there is no time for it. */
static void wait_for(struct otlp_sender *sender, uint64_t pause)
{
	const uint64_t begun = clock_now();
	uint64_t until = begun + pause;

	pthread_mutex_lock(&sender->lock);
	while (clock_now() < until) {
		/* At the end there are some more attempts, whatever was said. */
		if (sender->end && until > begun + PAUSE_MIN)
			until = begun + PAUSE_MIN > clock_now() ? begun + PAUSE_MIN : clock_now();
		const struct timespec time = timespec_of(until);

		pthread_cond_timedwait(&sender->news, &sender->lock, &time);
	}
	pthread_mutex_unlock(&sender->lock);
}

static void send_all(struct otlp_sender *sender, CURL *curl)
{
	struct request *request;
	uint64_t pause = PAUSE_MIN;

	while ((request = next(sender))) {
		uint64_t asked = 0, lost = 0;

		request->begun = request->begun ? request->begun : clock_now();
		const enum outcome outcome = send_one(sender, curl, request, &asked, &lost);

		if (outcome != AGAIN ||
		    clock_now() - request->begun > (sender->waits ? REPLAY_MAX : TRIED_MAX)) {
			drop_current(sender, outcome == SENT,
				     outcome == SENT ? lost : request->spans);
			pause = PAUSE_MIN;
			continue;
		}
		wait_for(sender, asked > pause ? asked : pause);
		pause = 2 * pause < PAUSE_MAX ? 2 * pause : PAUSE_MAX;
	}
}

static void *work(void *context)
{
	struct otlp_sender *sender = context;
	CURL *curl = set_up(sender);

	if (curl)
		send_all(sender, curl);
	sender->curl.easy_cleanup(curl);
	pthread_mutex_lock(&sender->lock);
	sender->is_done = true;
	pthread_cond_broadcast(&sender->news);
	pthread_mutex_unlock(&sender->lock);
	return NULL;
}

static void start(struct otlp_sender *sender)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sender->is_started = !pthread_create(&sender->thread, NULL, work, sender);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ------------------------------------------------------------------ the tracing thread */

void otlp_sender_put(struct otlp_sender *sender, const char *resources, size_t length,
		     unsigned spans)
{
	struct request *made = xmalloc(sizeof *made + length);

	*made = (struct request){.spans = spans, .length = length};
	memcpy(made->body, resources, length);
	if (!sender->is_started)
		start(sender);
	pthread_mutex_lock(&sender->lock);
	/* A receiver that is not there is waited for until the first request is given up. */
	while (sender->waits && sender->first && !sender->dropped && !sender->is_done &&
	       sender->queued + sizeof *made + length > QUEUE_MAX)
		pthread_cond_wait(&sender->news, &sender->lock);
	const bool fits = sender->queued + sizeof *made + length <= QUEUE_MAX || !sender->first;

	if (fits) {
		*sender->last = made;
		sender->last = &made->next;
		sender->queued += sizeof *made + length;
		pthread_cond_broadcast(&sender->news);
	} else {
		sender->dropped += spans;
	}
	pthread_mutex_unlock(&sender->lock);
	if (!fits)
		free(made);
}

/* Returns true if the thread has ended, or there was none. */
static bool end_thread(struct otlp_sender *sender)
{
	if (!sender->is_started)
		return true;
	pthread_mutex_lock(&sender->lock);
	if (!sender->end)
		sender->end = clock_now() +
			      (sender->waits && !sender->dropped ? REPLAY_MAX : END_MAX);
	pthread_cond_broadcast(&sender->news);
	while (!sender->is_done && clock_now() < sender->end + JOIN_MAX) {
		const struct timespec time = timespec_of(sender->end + JOIN_MAX);

		pthread_cond_timedwait(&sender->news, &sender->lock, &time);
	}
	const bool is_done = sender->is_done;

	pthread_mutex_unlock(&sender->lock);
	if (is_done)
		pthread_join(sender->thread, NULL);
	sender->is_started = !is_done;
	return is_done;
}

uint64_t otlp_sender_finish(struct otlp_sender *sender)
{
	uint64_t lost = 0;

	if (sender->is_finished)
		return 0;
	sender->is_finished = true;
	end_thread(sender);
	pthread_mutex_lock(&sender->lock);
	lost = sender->dropped + (sender->current ? sender->current->spans : 0);
	for (const struct request *request = sender->first; request; request = request->next)
		lost += request->spans;
	pthread_mutex_unlock(&sender->lock);
	if (lost)
		diag("--otlp: %llu span%s dropped", (unsigned long long)lost,
		     lost == 1 ? " was" : "s were");
	return sender->waits ? lost : 0;
}

void otlp_sender_wait(struct otlp_sender *sender)
{
	sender->waits = true;
}

void otlp_sender_destroy(struct otlp_sender *sender)
{
	if (!sender)
		return;
	otlp_sender_finish(sender);
	if (sender->is_started)
		return;
	while (sender->first) {
		struct request *request = sender->first;

		sender->first = request->next;
		free(request);
	}
	free(sender->current);
	sender->curl.slist_free_all(sender->headers);
	sender->curl.free(sender->url);
	sender->curl.free(sender->host);
	free(sender);
}

#endif
