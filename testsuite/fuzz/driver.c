/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzzer without libFuzzer: every file of its corpus, then mutations of them, the same in
 * every run of the same numbers.
 *
 *     fuzz_THING [-n ROUNDS] [-s SEED] [FILE|DIR…]
 *
 * Without files, the corpus is testsuite/fuzz/corpus/THING of the source tree that $top_srcdir names.
 * An input that kills the program is found again as ./crash-THING, and can be given as FILE.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS_MAX = 512, INPUT_BYTES = 1 << 16, ROUNDS = 8000, HANG_S = 60 };

struct corpus {
	uint8_t *bytes[INPUTS_MAX];
	size_t length[INPUTS_MAX];
	size_t count;
};

/* The input being run, for what is left of us when it ends us. */
static const uint8_t *current;
static size_t current_length;
static char crash_name[256];

/* What died may have held any lock of libc: system calls only. */
static void save_current(int signal_number)
{
	static const char saved[] = "the input that killed us is in ./crash-THING\n";
	int file = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (file >= 0 && write(file, current, current_length) == (ssize_t)current_length &&
	    write(STDERR_FILENO, saved, sizeof saved - 1) > 0)
		close(file);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static void add_path(struct corpus *corpus, const char *path);

static int compare_names(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static void add_directory(struct corpus *corpus, const char *path)
{
	struct dirent **names;
	char inner[4096];
	int count = scandir(path, &names, NULL, compare_names);

	for (int i = 0; i < count; i++) {
		snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add_path(corpus, inner);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

static void add_file(struct corpus *corpus, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || corpus->count == INPUTS_MAX) {
		fprintf(stderr, "%s: cannot be added to the corpus\n", path);
		exit(1);
	}
	corpus->bytes[corpus->count] = malloc(INPUT_BYTES);
	MUST(corpus->bytes[corpus->count]);
	corpus->length[corpus->count] = fread(corpus->bytes[corpus->count], 1, INPUT_BYTES, file);
	corpus->count++;
	fclose(file);
}

static void add_path(struct corpus *corpus, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		add_directory(corpus, path);
	else
		add_file(corpus, path);
}

static size_t random_place(uint64_t *seed, size_t length)
{
	/* Headers, and what the input begins with, are met more often. */
	if (next_random(seed) % 4 == 0 && length > 64)
		return next_random(seed) % 64;
	return length ? next_random(seed) % length : 0;
}

/* A number that readers stumble over, of 1 to 8 bytes. */
static void put_number(uint64_t *seed, uint8_t *bytes, size_t length)
{
	const uint64_t numbers[] = {0,
				    1,
				    0x7f,
				    0xff,
				    0x7fff,
				    0xffff,
				    0x7fffffff,
				    0x80000000,
				    0xffffffff,
				    INT64_MAX,
				    UINT64_C(1) << 63,
				    UINT64_MAX,
				    UINT64_MAX - 7,
				    length,
				    length - 1,
				    next_random(seed) % (length + 1)};
	uint64_t number = numbers[next_random(seed) % (sizeof numbers / sizeof *numbers)];
	size_t size = (size_t)1 << next_random(seed) % 4;
	size_t place = random_place(seed, length) & ~(size - 1);

	if (place + size <= length)
		memcpy(bytes + place, &number, size);
}

/* Copies a piece of one input over another, or into it. */
static size_t join_parts(uint64_t *seed, const struct corpus *corpus, uint8_t *bytes, size_t length)
{
	size_t other = next_random(seed) % corpus->count;
	size_t from = random_place(seed, corpus->length[other]);
	size_t some = next_random(seed) % 64;
	size_t to = random_place(seed, length);

	if (some > corpus->length[other] - from)
		some = corpus->length[other] - from;
	if (some > INPUT_BYTES - length || next_random(seed) % 2) {
		some = some < length - to ? some : length - to;
	} else {
		memmove(bytes + to + some, bytes + to, length - to);
		length += some;
	}
	memcpy(bytes + to, corpus->bytes[other] + from, some);
	return length;
}

static size_t cut(uint64_t *seed, uint8_t *bytes, size_t length)
{
	size_t from = random_place(seed, length);
	size_t some = next_random(seed) % 32;

	if (some > length - from)
		some = length - from;
	memmove(bytes + from, bytes + from + some, length - from - some);
	return length - some;
}

static size_t mutate(uint64_t *seed, const struct corpus *corpus, uint8_t *bytes)
{
	size_t chosen = next_random(seed) % corpus->count;
	size_t length = corpus->length[chosen];

	memcpy(bytes, corpus->bytes[chosen], length);
	for (uint64_t times = 1 + next_random(seed) % 8; times && length; times--)
		switch (next_random(seed) % 8) {
		case 0:
		case 1:
			bytes[random_place(seed, length)] ^= (uint8_t)(1U << next_random(seed) % 8);
			break;
		case 2:
			bytes[random_place(seed, length)] = (uint8_t)next_random(seed);
			break;
		case 3:
			length = join_parts(seed, corpus, bytes, length);
			break;
		case 4:
			length = cut(seed, bytes, length);
			break;
		default:
			put_number(seed, bytes, length);
			break;
		}
	return next_random(seed) % 16 || !length ? length : next_random(seed) % length;
}

static void run_one(const uint8_t *bytes, size_t length)
{
	/* A block of its exact size: reading behind it is noticed. */
	uint8_t *copy = malloc(length ? length : 1);

	MUST(copy);
	memcpy(copy, bytes, length);
	current = copy;
	current_length = length;
	alarm(HANG_S);
	LLVMFuzzerTestOneInput(copy, length);
	alarm(0);
	free(copy);
}

static void add_default(struct corpus *corpus, const char *thing)
{
	const char *top = getenv("top_srcdir");
	char path[4096];

	snprintf(path, sizeof path, "%s/testsuite/fuzz/corpus/%s", top ? top : ".", thing);
	add_path(corpus, path);
}

int main(int argc, char **argv)
{
	static struct corpus corpus;
	static uint8_t bytes[INPUT_BYTES];
	static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
	const char *slash = strrchr(argv[0], '/');
	const char *thing = strchr(slash ? slash : argv[0], '_');
	long rounds = ROUNDS;
	uint64_t seed = 1;
	int option;

	thing = thing ? thing + 1 : "";
	snprintf(crash_name, sizeof crash_name, "crash-%s", thing);
	while ((option = getopt(argc, argv, "n:s:")) != -1) {
		if (option == 'n')
			rounds = atol(optarg);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		signal(deadly[i], save_current);
	for (int i = optind; i < argc; i++)
		add_path(&corpus, argv[i]);
	if (optind == argc)
		add_default(&corpus, thing);
	MUST(corpus.count);
	for (size_t i = 0; i < corpus.count; i++)
		run_one(corpus.bytes[i], corpus.length[i]);
	for (long i = 0; i < rounds; i++)
		run_one(bytes, mutate(&seed, &corpus, bytes));
	printf("%zu inputs, %ld mutations\n", corpus.count, rounds);
	for (size_t i = 0; i < corpus.count; i++)
		free(corpus.bytes[i]);
	return 0;
}
