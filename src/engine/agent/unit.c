/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes units (agent_abi.h) by remote calls of one stopped thread. Each mapping is in the journal
 * before it exists. The shared part is a memory file that the tracee makes, as a process cannot map
 * a file into another one; the tracer opens it through /proc, and it is closed in the tracee at
 * once.
 *
 * The program can write to the shared part, too. By this it can spoil its own counts, and make the
 * agent's code accept a word that is no return address. The tracer uses nothing from there but
 * numbers.
 */
#include "engine/agent/unit.h"

#include "base/memory_file.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/plans.h"
#include "engine/agent/return_trampolines.h"
#include "engine/agent/script_lines.h"
#include "engine/agent/stack_rules.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/journal.h"
#include "tracee/remote.h"
#include "tracee/remote_map.h"
#include "tracee/space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORTH_A_LOOK = AGENT_PROBE_COUNT / 8 };

static int call(struct thread *thread, long number, const uint64_t arguments[6])
{
	int64_t result = 0;
	int error = remote_syscall(thread, number, arguments, &result);

	return error ? error : (int)result;
}

/* The clock may be forbidden to the thread (prctl(2), PR_SET_TSC): reading it would be fatal. */
static int check_clock(struct thread *thread, const struct agent_arch *arch, uint64_t base)
{
	const uint64_t arguments[6] = {PR_GET_TSC, base + AGENT_TRAMPOLINES};
	static const uint32_t nothing;
	struct space *space = thread->process->space;
	uint32_t answer = 0;
	int error = call(thread, arch->sys_prctl, arguments);

	if (!error &&
	    (!memory_read_exact(&space->memory, base + AGENT_TRAMPOLINES, &answer, sizeof answer) ||
	     answer != PR_TSC_ENABLE))
		error = -ENOTSUP;
	space_write(space, base + AGENT_TRAMPOLINES, &nothing, sizeof nothing);
	return error;
}

static uint8_t *open_shared(const struct thread *thread, int fd, uint64_t length)
{
	char path[64];
	void *memory = MAP_FAILED;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->tid, fd);
	int file = open(path, O_RDWR | O_CLOEXEC);

	if (file >= 0 && memory_file_resize(file, length) == 0)
		memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Puts the file's name in `scratch` for the system call. */
static int open_file(struct thread *thread, const struct agent_arch *arch, uint64_t scratch)
{
	static const char name[] = AGENT_FILE;
	static const char nothing[sizeof name];
	const uint64_t create[6] = {scratch, MFD_CLOEXEC};
	int error = space_write(thread->process->space, scratch, name, sizeof name);
	int fd = error ? error : call(thread, arch->sys_memfd_create, create);

	space_write(thread->process->space, scratch, nothing, sizeof nothing);
	return fd;
}

static int map_file(struct thread *thread, uint64_t scratch, uint64_t address, uint64_t length,
		    uint8_t **memory)
{
	const struct agent_arch *arch = thread->process->space->arch->agent;
	struct journal *journal = thread->process->space->journal;
	int fd = open_file(thread, arch, scratch);

	if (fd < 0)
		return fd;
	const uint64_t map[6] = {
		address,      length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		(uint64_t)fd, 0};
	const uint64_t done[6] = {(uint64_t)fd};
	size_t entry = journal_mapping(journal, address, length);
	uint64_t mapped;

	*memory = open_shared(thread, fd, length);
	int error = *memory ? remote_map_by(thread, map, &mapped) : -EACCES;

	call(thread, arch->sys_close, done);
	if (!error) {
		arena_add_region(thread->process->space->arena, address, length);
		return 0;
	}
	journal_forget(journal, entry);
	if (*memory)
		munmap(*memory, length);
	*memory = NULL;
	return error;
}

int unit_map_file(struct thread *thread, uint64_t scratch, uint64_t address, uint64_t length,
		  uint8_t **memory)
{
	struct journal *journal = thread->process->space->journal;
	size_t entry = journal_descriptor(journal);
	int error = map_file(thread, scratch, address, length, memory);

	journal_forget(journal, entry);
	return error;
}

bool agent_is_unit(const struct journal_entry *entry)
{
	return entry && entry->kind == JOURNAL_AGENT && entry->length == AGENT_TEXT_BYTES;
}

static void find_safe(struct thread *thread, void *context)
{
	struct thread **safe = context;

	if (!*safe && thread_is_safe_stop(thread))
		*safe = thread;
}

static void close_files(struct thread *thread)
{
	static const char wanted[] = "/memfd:" AGENT_FILE " (";
	char link[sizeof wanted] = "";
	char path[64];
	struct dirent *entry;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)thread->tid);
	DIR *files = opendir(path);

	while (files && (entry = readdir(files))) {
		const uint64_t done[6] = {strtoul(entry->d_name, NULL, 10)};

		if (readlinkat(dirfd(files), entry->d_name, link, sizeof link - 1) > 0 &&
		    !strcmp(link, wanted))
			call(thread, thread->process->space->arch->agent->sys_close, done);
	}
	if (files)
		closedir(files);
}

void agent_close_files(struct tracees *tracees, struct space *space)
{
	struct thread *safe = NULL;

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (!entry || entry->kind != JOURNAL_DESCRIPTOR || !space->arch->agent)
			continue;
		space_each_thread(tracees, space, find_safe, &safe);
		if (safe)
			close_files(safe);
		journal_forget(space->journal, i);
	}
}

static int write_stubs(const struct agent *agent, struct space *space,
		       const struct agent_unit *unit)
{
	const enum agent_returns returns = agent->records   ? AGENT_RETURNS_RECORDED
					   : agent->buckets ? AGENT_RETURNS_TIMED
							    : AGENT_RETURNS_SUMMED;
	size_t length = (size_t)AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB;
	uint8_t *stubs = xmalloc(length);

	for (uint32_t i = 0; i < AGENT_TRAMPOLINE_COUNT; i++)
		space->arch->agent->write_return_stub(unit->base, i, returns,
						      stubs + (size_t)i * AGENT_RETURN_STUB);
	int error = space_write(space, unit->base + AGENT_RETURN_CALLS, stubs, length);

	free(stubs);
	return error;
}

uint8_t *unit_code(const struct agent_arch *arch, bool system_clock)
{
	uint8_t *code = xmalloc(arch->code_length);

	memcpy(code, arch->code, arch->code_length);
	if (system_clock)
		arch->use_system_clock(code, arch->code_length);
	return code;
}

static int write_text(const struct agent *agent, struct space *space, const struct agent_unit *unit)
{
	const struct agent_arch *arch = space->arch->agent;
	const uint64_t *function = &space->agent->clock_function;
	uint8_t *code = unit_code(arch, agent->system_clock);
	int error = write_stubs(agent, space, unit);

	memcpy(code + AGENT_CLOCK_FUNCTION, function, sizeof *function);
	if (!error)
		error = space_write(space, unit->base, code, arch->code_length);
	free(code);
	return error;
}

/* Pages that were never written may not be readable without waiting (tracee/resident.h). */
static int touch_slots(struct space *space, uint64_t base)
{
	enum { LENGTH = AGENT_TRAMPOLINE_COUNT * AGENT_TRAMPOLINE };
	uint8_t *zeros = xcalloc(1, LENGTH);
	int error = space_write(space, base + AGENT_TRAMPOLINES, zeros, LENGTH);

	free(zeros);
	return error;
}

/* Maps a part of a unit; it is unmapped with the arena. */
static int map_piece(struct thread *thread, uint64_t address, uint64_t length, int protection)
{
	uint64_t mapped;
	int error = remote_map(thread, address, length, protection, &mapped);

	if (!error)
		arena_add_region(thread->process->space->arena, address, length);
	return error;
}

/*
 * A copy of the process that the tracer does not know of (CLONE_UNTRACED) must not write to its
 * parent's rings: it finds zeros (madvise(2), MADV_WIPEONFORK; Linux 4.14). So the first page of
 * the plans is a mapping of its own.
 */
static int map_plans(struct thread *thread, const struct agent_arch *arch, uint64_t address)
{
	const uint64_t wipe[6] = {address, AGENT_WORDS_BYTES, MADV_WIPEONFORK};
	int error = map_piece(thread, address, AGENT_WORDS_BYTES, PROT_READ | PROT_WRITE);

	if (!error)
		error = call(thread, arch->sys_madvise, wipe);
	if (!error)
		error = map_piece(thread, address + AGENT_WORDS_BYTES,
				  AGENT_PLANS_BYTES - AGENT_WORDS_BYTES, PROT_READ | PROT_WRITE);
	return error;
}

static int map_all(const struct agent *agent, struct thread *thread, struct agent_unit *unit)
{
	const struct agent_arch *arch = thread->process->space->arch->agent;
	int error = map_piece(thread, unit->base, AGENT_TEXT_BYTES, PROT_READ | PROT_EXEC);

	if (!error)
		error = map_piece(thread, unit->base + AGENT_TRAMPOLINES, AGENT_TRAMPOLINES_BYTES,
				  PROT_READ | PROT_WRITE);
	if (!error)
		error = check_clock(thread, arch, unit->base);
	if (!error)
		error = unit_map_file(thread, unit->base + AGENT_TRAMPOLINES,
				      unit->base + AGENT_SHARED, AGENT_SHARED_BYTES, &unit->shared);
	if (!error && unit->plans)
		error = map_plans(thread, arch, unit->base + AGENT_PLANS);
	if (!error)
		error = touch_slots(thread->process->space, unit->base);
	return error ? error : write_text(agent, thread->process->space, unit);
}

int unit_create(const struct agent *agent, struct thread *thread, uint64_t address,
		struct agent_unit **made)
{
	struct space *space = thread->process->space;
	uint64_t length = agent->records ? AGENT_BYTES : AGENT_COUNTING_BYTES;
	uint64_t base;
	int error = arena_room_near(thread, address, length, &base);

	if (error)
		return error;
	struct agent_unit *unit = xcalloc(1, sizeof *unit);

	unit->base = base;
	unit->plans = agent->records ? plans_create() : NULL;
	vec_init(&unit->free, sizeof(uint32_t));
	vec_init(&unit->learned, sizeof(uint64_t));
	vec_init(&unit->buckets, sizeof(struct bucket_file));
	error = map_all(agent, thread, unit);
	if (!error) {
		/*
		 * This entry comes last: before, no return trampoline is in use, and the records
		 * may not be readable.
		 */
		journal_agent(space->journal, base, AGENT_TEXT_BYTES);
		*made = unit;
		return 0;
	}
	arena_unmap_regions(space->arena, thread, base, base + length);
	unit_destroy(unit);
	return error;
}

/* Finds numbers whose probes are gone, and that no call may still return to. */
static void find_free(struct agent_unit *unit, const struct space *space)
{
	struct return_trampolines *slots = return_trampolines_read(space, unit->base);
	bool referred[AGENT_PROBE_COUNT] = {false};

	unit->dropped = 0;

	for (size_t i = 0; slots && i < AGENT_TRAMPOLINE_COUNT; i++)
		if (return_trampoline_in_use(&slots->slots[i]) &&
		    slots->slots[i].probe < AGENT_PROBE_COUNT)
			referred[slots->slots[i].probe] = true;
	for (uint32_t i = 0; slots && i < AGENT_PROBE_COUNT; i++)
		if (!unit->probes[i] && !referred[i])
			vec_push(&unit->free, &i);
	free(slots);
}

bool unit_has_number(struct agent_unit *unit, const struct space *space)
{
	if (unit->probes_used == AGENT_PROBE_COUNT && !unit->free.count &&
	    unit->dropped >= WORTH_A_LOOK)
		find_free(unit, space);
	return unit->probes_used < AGENT_PROBE_COUNT || unit->free.count;
}

uint32_t unit_next_number(const struct agent_unit *unit)
{
	return unit->probes_used < AGENT_PROBE_COUNT
		       ? unit->probes_used
		       : *(uint32_t *)vec_at(&unit->free, unit->free.count - 1);
}

void unit_give_number(struct agent_unit *unit, struct agent_probe *probe)
{
	probe->number = unit_next_number(unit);
	if (unit->probes_used < AGENT_PROBE_COUNT) {
		unit->probes_used++;
		return;
	}
	struct unit_count *counts = unit_counts(unit);

	probe->calls = counts[probe->number].calls;
	probe->time = counts[probe->number].time;
	free(counts);
	vec_remove(&unit->free, unit->free.count - 1);
}

void unit_destroy(struct agent_unit *unit)
{
	vec_deinit(&unit->free);
	vec_deinit(&unit->learned);
	for (size_t i = 0; i < unit->buckets.count; i++) {
		const struct bucket_file *file = vec_at(&unit->buckets, i);

		munmap(file->memory, file->length);
	}
	vec_deinit(&unit->buckets);
	if (unit->shared)
		munmap(unit->shared, AGENT_SHARED_BYTES);
	for (uint32_t i = 0; i < unit->probes_used; i++)
		free(unit->probes[i]);
	plans_destroy(unit->plans);
	script_lines_destroy(unit->lines);
	stack_rules_destroy(unit->rules);
	free(unit);
}

uint64_t unit_probe_stub(const struct agent_unit *unit, uint32_t number)
{
	return unit->base + AGENT_PROBE_STUBS + (uint64_t)number * AGENT_PROBE_STUB;
}

bool unit_is_return_stub(const struct agent_unit *unit, uint64_t address)
{
	return address - (unit->base + AGENT_RETURN_STUBS) <
	       (uint64_t)AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB;
}

/* ------------------------------------------------------------------ the shared part */

static uint64_t *shared_word(const struct agent_unit *unit, uint64_t offset)
{
	return (uint64_t *)(void *)(unit->shared + (offset - AGENT_SHARED));
}

/* The set of a return address, or of another unit's trampoline, as agent_entry.S finds it. */
static uint64_t *set_of(const struct agent_unit *unit, uint64_t address, bool is_stub)
{
	uint64_t sites = is_stub ? AGENT_STUB_SITES : AGENT_RETURN_SITES;
	unsigned bits = is_stub ? AGENT_STUB_SET_BITS : AGENT_SET_BITS;
	uint32_t set = ((uint32_t)address * AGENT_HASH) >> (32 - bits);

	return shared_word(unit, sites + (uint64_t)set * AGENT_SET_WORDS * sizeof(uint64_t));
}

bool unit_knows(const struct agent_unit *unit, uint64_t address, bool is_stub)
{
	const uint64_t *set = set_of(unit, address, is_stub);

	for (int i = 0; i < AGENT_SET_WORDS; i++)
		if (set[i] == address)
			return true;
	return false;
}

/*
 * If the set is full, an address in it is replaced; its next call stops again. Addresses in sets
 * with room are listed in `learned`, as searching all sets in unit_unlearn() would touch much
 * memory.
 */
void unit_learn(struct agent_unit *unit, uint64_t address, bool is_stub)
{
	uint64_t *set = set_of(unit, address, is_stub);
	size_t i = 0;

	while (i < AGENT_SET_WORDS && set[i])
		i++;
	if (i == AGENT_SET_WORDS)
		i = unit->evicted++ % AGENT_SET_WORDS;
	else if (!is_stub)
		vec_push(&unit->learned, &address);
	__atomic_store_n(&set[i], address, __ATOMIC_RELEASE);
}

static void forget_between(uint64_t *words, size_t count, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] >= low && words[i] < high)
			__atomic_store_n(&words[i], 0, __ATOMIC_RELEASE);
}

void unit_unlearn(struct agent_unit *unit, uint64_t low, uint64_t high)
{
	if (unit->evicted)
		forget_between(shared_word(unit, AGENT_RETURN_SITES),
			       (size_t)AGENT_SET_COUNT * AGENT_SET_WORDS, low, high);
	for (size_t i = unit->learned.count; i-- > 0;) {
		const uint64_t address = *(uint64_t *)vec_at(&unit->learned, i);

		if (address < low || address >= high)
			continue;
		forget_between(set_of(unit, address, false), AGENT_SET_WORDS, low, high);
		vec_remove_fast(&unit->learned, i);
	}
}

uint64_t *unit_counter(const struct agent_unit *unit, uint32_t number, unsigned which)
{
	return shared_word(unit, AGENT_COUNTERS + (uint64_t)number * AGENT_COUNTER + which);
}

static uint32_t tally_owner(const uint64_t *tally)
{
	return __atomic_load_n((const uint32_t *)(const void *)(tally + AGENT_TALLY_OWNER / 8),
			       __ATOMIC_ACQUIRE);
}

/* Skips a tally that changes its owner meanwhile: its content is in the counters then. */
static void add_tally(const struct agent_unit *unit, uint64_t index, struct unit_count *counts)
{
	const uint64_t *tally = shared_word(unit, AGENT_TALLIES + index * AGENT_TALLY);
	uint32_t owner = tally_owner(tally);
	uint64_t calls = __atomic_load_n(tally + AGENT_TALLY_CALLS / 8, __ATOMIC_ACQUIRE);
	uint64_t time = __atomic_load_n(tally + AGENT_TALLY_TIME / 8, __ATOMIC_ACQUIRE);

	/* The program may have written over the tally. */
	if (!owner || owner > unit->probes_used || tally_owner(tally) != owner)
		return;
	counts[owner - 1].calls += calls;
	counts[owner - 1].time += time;
}

struct unit_count *unit_counts(const struct agent_unit *unit)
{
	struct unit_count *counts = xcalloc(unit->probes_used + 1, sizeof *counts);

	for (uint32_t i = 0; i < unit->probes_used; i++) {
		counts[i].calls = __atomic_load_n(unit_counter(unit, i, AGENT_COUNTER_CALLS),
						  __ATOMIC_RELAXED);
		counts[i].time = __atomic_load_n(unit_counter(unit, i, AGENT_COUNTER_TIME),
						 __ATOMIC_RELAXED);
	}
	for (uint64_t i = 0; i < (uint64_t)AGENT_TRAMPOLINE_COUNT * AGENT_TALLY_WAYS; i++)
		add_tally(unit, i, counts);
	return counts;
}

void unit_add_call(struct agent_unit *unit, uint32_t number)
{
	__atomic_fetch_add(unit_counter(unit, number, AGENT_COUNTER_CALLS), 1, __ATOMIC_RELAXED);
}
