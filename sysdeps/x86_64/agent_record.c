/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes records in the tracee. agent_entry.S calls this at the entry of a probed function and at
 * its return, with the registers saved. It runs in the middle of the program's code, so it must not
 * fault, wait, or make system calls. It uses less than 400 bytes of the program's stack; code that
 * needs more runs on a stack of the thread's behind its ring. A plan's memory is read by
 * agent_copy() and agent_copy_string() (agent_services.S): if they fault, the tracer makes the
 * thread continue behind the instruction, and less has been read.
 *
 * Calls that cannot be handled here (the return address is not accepted, the thread has no ring,
 * the ring is full, no return trampoline is free) are left to the tracer: the thread is sent to a
 * breakpoint. If the tracer is gone, the thread continues behind it with its call.
 *
 * Signal handlers do not run in between, as engine/agent/agent.c has the thread step out first. So
 * a ring has one writer and a trampoline one owner. This does not hold if the tracer was killed:
 * until the guardian has turned records off, a handler may run here and make calls that are caught.
 * These make no records, because the ring is busy, and so is the stack behind it.
 */
#include "engine/agent/rings_abi.h"
#include "engine/agent/scripts_abi.h"
#include "record/capture_plain.h"
#include "record/condition.h"
#include "record/sampling.h"
#include "x86_64/agent_line.h"
#include "x86_64/agent_memory.h"
#include "x86_64/agent_process.h"

/* A record that is being made. */
struct making {
	struct ring_thread *thread;
	uint64_t position;     /* in the ring */
	struct record *record; /* the first part of its head, like a record's; then the values */
};

enum { SP = 4 };

/*
 * Where a thread continues, and the call in front of a return trampoline by which it gets there, or
 * 0.
 */
struct onward {
	uint64_t target, call;
};

#define NO_ROOM UINT64_MAX

void agent_capture(struct record *record, const struct agent_plan *plan, struct frame *frame,
		   struct return_trampoline *slot, void *stack);
void agent_capture_there(struct record *record, const struct agent_plan *plan, struct frame *frame,
			 struct return_trampoline *slot);
struct onward agent_enter(struct frame *frame);
uint64_t agent_returned(struct frame *frame, int unrecorded);

/* These bytes are those of read_clock in agent_entry.S, and may become a call. */
static inline uint64_t read_clock(void)
{
	uint64_t time;

	__asm__ volatile("rdtsc\n\tshl\t$32, %%rdx\n\tor\t%%rdx, %%rax"
			 : "=a"(time)
			 :
			 : "rdx", "cc", "memory");
	return time;
}

static inline uint64_t word_at(uint64_t offset)
{
	return *(volatile uint64_t *)(void *)(base + offset);
}

static inline struct return_trampoline *slot_at(uint64_t number)
{
	return (struct return_trampoline *)(void *)(base + AGENT_TRAMPOLINES) + number;
}

static void read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ranges[i].done = read_bytes(context, ranges[i].address, ranges[i].buffer,
					    ranges[i].length);
}

/* ------------------------------------------------------------------ checks at the entry */

static bool is_stub(uint64_t address)
{
	return address - (uint64_t)(base + AGENT_RETURN_STUBS) <
	       AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB;
}

/* Returns true if the address is in one of the sets at `sites`. */
static bool is_among(const unsigned char *sites, unsigned bits, uint64_t address)
{
	uint32_t set = ((uint32_t)address * (uint32_t)AGENT_HASH) >> (32 - bits);
	const uint64_t *words = (const uint64_t *)(const void *)sites + set * AGENT_SET_WORDS;

	return words[0] == address || words[1] == address || words[2] == address ||
	       words[3] == address;
}

/* Claims a trampoline for the call at `place`, if it is free, or its own call is over. */
static bool claim_slot(struct return_trampoline *slot, uint64_t place, bool tail_call)
{
	uint64_t owner = slot->place;

	if (owner == place + AGENT_TRAMPOLINE_RESTS) {
		slot->place = place;
		return true;
	}
	return (owner == place && !tail_call) ||
	       (!owner && __atomic_compare_exchange_n(&slot->place, &owner, place, false,
						      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
}

/* A trampoline for a return address at `place`, or NULL; by the same rules as agent_entry.S. */
static struct return_trampoline *take_slot(uint64_t place, bool tail_call)
{
	uint32_t number = agent_trampoline_hash(place);
	struct return_trampoline *slot = slot_at(number);

	if (place % 8)
		return NULL;
	if (claim_slot(slot, place, tail_call))
		return slot;
	for (unsigned i = 0; i < AGENT_TRAMPOLINE_TRIES; i++, number++) {
		slot = slot_at(AGENT_HOME_COUNT | (number & (AGENT_HOME_COUNT - 1)));
		if (claim_slot(slot, place, tail_call))
			return slot;
	}
	return NULL;
}

/* Frees a trampoline whose call, at `place`, is over; a home is put at rest. */
static void leave_slot(struct return_trampoline *slot, uint64_t place)
{
	bool is_home = slot < slot_at(AGENT_HOME_COUNT);

	__atomic_store_n(&slot->place, is_home ? place + AGENT_TRAMPOLINE_RESTS : 0,
			 __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ the ring */

static unsigned char *all_rings(void)
{
	return (unsigned char *)word_at(AGENT_PLANS + AGENT_RINGS);
}

static inline __attribute__((always_inline)) struct ring_thread *find_thread(void)
{
	unsigned char *rings = all_rings();
	uint64_t thread = read_thread();
	uint32_t index = agent_thread_hash(thread);

	for (unsigned i = 0; i < AGENT_THREAD_TRIES; i++, index++) {
		struct ring_thread *entry = (struct ring_thread *)(void *)rings +
					    (index & (AGENT_THREAD_COUNT - 1));

		if (entry->base == thread)
			return thread ? entry : NULL;
	}
	return NULL;
}

/*
 * Finds room for a record of `most` bytes with `kept` bytes behind it, if the room that is known to
 * be free is not enough: looks up how far the tracer has read, or skips the rest of the ring.
 * Returns the position, or NO_ROOM.
 */
static __attribute__((noinline)) uint64_t find_room(struct ring_thread *thread, size_t most,
						    size_t kept)
{
	const uint64_t tail = __atomic_load_n(&thread->tail, __ATOMIC_ACQUIRE);
	const uint64_t place = thread->head % AGENT_RING_BYTES;
	const uint64_t rest = AGENT_RING_BYTES - place;
	const uint64_t skipped = rest < most ? rest : 0;

	if (thread->head - tail + skipped + most + kept > AGENT_RING_BYTES)
		return NO_ROOM;
	const uint64_t position = thread->head + skipped;

	/* At once: free_to counts from there on, even if no record is made now. */
	if (skipped) {
		*(uint32_t *)(void *)(thread->ring + place) = 0;
		__atomic_store_n(&thread->head, position, __ATOMIC_RELEASE);
	}
	const uint64_t end = (position | (AGENT_RING_BYTES - 1)) + 1;
	const uint64_t read_to = tail + AGENT_RING_BYTES;

	thread->free_to = read_to < end ? read_to : end;
	return position;
}

/* Begins a record of up to `most` bytes with `kept` bytes behind it; false: there is no room. */
static inline __attribute__((always_inline)) bool begin(struct making *making, size_t most,
							size_t kept)
{
	struct ring_thread *thread = making->thread;

	making->position = thread->head;
	if (making->position + most + kept > thread->free_to) {
		making->position = find_room(thread, most, kept);
		if (making->position == NO_ROOM)
			return false;
	}
	making->record =
		(struct record *)(void *)(thread->ring + making->position % AGENT_RING_BYTES);
	return true;
}

static struct ring_record *head_of(const struct making *making)
{
	return (struct ring_record *)(void *)making->record;
}

static void fill(const struct making *making, enum record_kind kind,
		 const struct return_trampoline *slot, uint64_t line)
{
	struct record *record = making->record;
	struct ring_record *head = head_of(making);

	record->size = kind == RECORD_CALL ? RING_CALL : RING_RETURN;
	record->version = RECORD_VERSION;
	record->kind = (uint8_t)kind;
	record->value_count = 0;
	/* Written as one word: unit, probe, slot, line. */
	const uint64_t whose = word_at(AGENT_PLANS + AGENT_UNIT) | slot->probe << 16 |
			       (uint64_t)(slot - slot_at(0)) << 32 | line << 48;

	__builtin_memcpy(&head->unit, &whose, sizeof whose);
	head->place = slot->place;
}

/*
 * The tracer has read the ring behind this record, so its processor has these cache lines. They are
 * fetched back while the program runs. Useless prefetches cost nothing.
 */
static void fetch_ahead(const unsigned char *end)
{
	__asm__ volatile("prefetchw 64(%0)\n\tprefetchw 128(%0)\n\tprefetchw 192(%0)" : : "r"(end));
}

static void set_busy(struct ring_thread *thread, uint64_t busy)
{
	__atomic_store_n(&thread->busy, busy, __ATOMIC_RELEASE);
}

/*
 * Claims the ring until the record is complete; false: the ring is in use, by an interrupted
 * record.
 */
static bool claim(struct ring_thread *thread)
{
	if (__atomic_load_n(&thread->busy, __ATOMIC_RELAXED))
		return false;
	set_busy(thread, 1);
	/* From here on, what a handler wrote before is visible. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static inline __attribute__((always_inline)) void publish(const struct making *making)
{
	uint32_t size = making->record->size;

	__atomic_store_n(&making->thread->head, making->position + size, __ATOMIC_RELEASE);
	set_busy(making->thread, 0);
	fetch_ahead((const unsigned char *)making->record + size);
}

/* ------------------------------------------------------------------ calls */

static const struct agent_plan *plan_of(uint64_t probe)
{
	return (const struct agent_plan *)word_at(AGENT_PLAN_ADDRESSES + 8 * probe);
}

static struct capture_saved *saved_of(const struct return_trampoline *slot)
{
	return (struct capture_saved *)(void *)(base + AGENT_SAVED +
						(uint64_t)(slot - slot_at(0)) * AGENT_SAVED_BYTES);
}

/* How many x87 registers the result is in. */
static unsigned returns_st(const struct capture_plan *plan)
{
	const struct capture_op *result = plan->exit;

	if (plan->exit_count && result->place == PLACE_PIECES && result->index == PIECE_ST0)
		return result->size / 16;
	return plan->exit_count && result->place == PLACE_ST0;
}

/* For plans that capture_plain() cannot run. */
void agent_capture_there(struct record *record, const struct agent_plan *plan, struct frame *frame,
			 struct return_trampoline *slot)
{
	struct memory_source memory;
	struct capture_frame registers;
	struct capture_buffer buffer;
	uint8_t xmm[8][16];
	uint8_t st[2][16];
	unsigned in_st;
	bool is_call = record->kind == RECORD_CALL;

	memory.readv = read_ranges;
	memory.read_string = read_string;
	memory.context = NULL;
	registers.gpr = frame->gpr;
	registers.xmm = NULL;
	registers.st = NULL;
	registers.sp = frame->gpr[SP];
	registers.memory = &memory;
	if (is_call ? plan->plan.needs_fp_entry : plan->plan.needs_fp_exit) {
		read_vectors(xmm);
		registers.xmm = (const uint8_t(*)[16])xmm;
	}
	in_st = is_call ? 0 : returns_st(&plan->plan);
	if (in_st) {
		read_st(st, in_st);
		registers.st = (const uint8_t(*)[16])st;
	}
	buffer.bytes = (unsigned char *)record;
	if (is_call) {
		buffer.capacity = plan->entry_max;
		capture_entry(&plan->plan, &registers, &buffer, saved_of(slot));
	} else {
		buffer.capacity = plan->exit_max;
		capture_exit(&plan->plan, &registers, saved_of(slot), &buffer);
	}
}

/* Returns true if there is more of a value in the record than was captured. */
static __attribute__((noinline)) bool is_cut(const struct record *record, size_t head)
{
	const struct record_value *value =
		(const struct record_value *)(const void *)((const unsigned char *)record + head);

	for (unsigned i = 0; i < record->value_count; i++, value = record_value_next(value))
		if (value->flags & VALUE_TRUNCATED && !(value->flags & VALUE_FORMAT_END))
			return true;
	return false;
}

/* Runs plain plans, which need little stack, on the program's; others on the ring's. */
static inline __attribute__((always_inline)) void capture(struct making *making, bool is_call,
							  const struct agent_plan *plan,
							  struct frame *frame,
							  struct return_trampoline *slot)
{
	const struct capture_plan *how = &plan->plan;
	struct plain_memory memory;

	if (is_call ? how->plain_entry : how->plain_exit) {
		memory.read = read_bytes;
		memory.read_string = read_string;
		memory.context = NULL;
		capture_plain(how, is_call ? how->entry : how->exit,
			      is_call ? how->entry_count : how->exit_count, frame->gpr, &memory,
			      making->record);
		return;
	}
	unsigned char *end = (unsigned char *)making->thread->ring + AGENT_RING_STACK;

	agent_capture(making->record, plan, frame, slot, end);
}

/* ------------------------------------------------------------------ the line of the script */

/* Returns false if the tracer has to look first. The search is on the stack behind the ring. */
static inline __attribute__((always_inline)) bool find_line(const struct making *making,
							    const struct frame *frame,
							    uint64_t *line)
{
	const struct agent_scripts *scripts =
		(const struct agent_scripts *)word_at(AGENT_PLANS + AGENT_SCRIPTS);
	unsigned char *end = (unsigned char *)making->thread->ring + AGENT_RING_STACK;
	struct line_search *search = (struct line_search *)(void *)end - 1;

	*line = 0;
	if (!scripts)
		return true;
	search->scripts = scripts;
	search->frame = frame;
	search->memos = (struct memos *)(void *)end;
	search->line = 0;
	search->left = SCRIPTS_DEPTH;
	search->is_unknown = __atomic_load_n(&scripts->pending, __ATOMIC_ACQUIRE) != 0;
	if (!search->is_unknown && (scripts->count || scripts->stacks))
		agent_find_line(search, search);
	*line = search->line;
	return !search->is_unknown;
}

/* Returns false if the arguments tell that the user does not want to see the call. */
static inline __attribute__((always_inline)) bool may_pass(const struct capture_plan *plan,
							   const struct frame *frame,
							   uint64_t place)
{
	struct condition_frame asked;

	asked.gpr = frame->gpr;
	asked.sp = place;
	asked.read = read_bytes;
	asked.context = NULL;
	return condition_holds(plan, &asked);
}

/*
 * Returns true if the call is one of those that --sample chooses. A call is decided once: if the
 * thread is sent to the tracer, and from there here again, it stays chosen.
 */
static bool is_chosen(struct ring_thread *thread, const struct capture_plan *plan, uint64_t place)
{
	if (thread->chosen == place)
		return true;
	thread->chosen = sampling_chooses(&thread->random, plan->chosen_below) ? place : 0;
	return thread->chosen;
}

struct onward agent_enter(struct frame *frame)
{
	uint64_t probe = frame->number;
	uint64_t place = (uint64_t)&frame->return_address;
	uint64_t stub = (uint64_t)(base + AGENT_PROBE_STUBS) + probe * AGENT_PROBE_STUB;
	bool known = is_among(base + AGENT_RETURN_SITES, AGENT_SET_BITS, frame->return_address);
	/* A call from a function that this unit, or another one, has caught. */
	bool tail_call = !known && (is_stub(frame->return_address) ||
				    is_among(base + AGENT_STUB_SITES, AGENT_STUB_SET_BITS,
					     frame->return_address));
	struct making making;

	if (!word_at(AGENT_PLANS + AGENT_ON))
		return (struct onward){stub + AGENT_PROBE_DISPLACED, 0};
	const struct agent_plan *plan = plan_of(probe);
	const struct onward trap = {stub + AGENT_PROBE_BREAKPOINT, 0};

	if (!plan || !(known || tail_call))
		return trap;
	if (plan->plan.condition_count && !may_pass(&plan->plan, frame, place))
		return (struct onward){stub + AGENT_PROBE_DISPLACED, 0};
	making.thread = find_thread();
	if (!making.thread)
		return trap;
	if (plan->plan.chosen_below && !is_chosen(making.thread, &plan->plan, place))
		return (struct onward){stub + AGENT_PROBE_DISPLACED, 0};
	if (!claim(making.thread))
		return trap;
	uint64_t line;

	if (!find_line(&making, frame, &line)) {
		set_busy(making.thread, 0);
		return trap;
	}
	uint64_t lossy = word_at(AGENT_PLANS + AGENT_LOSSY);

	if (!begin(&making, plan->entry_max, lossy ? AGENT_RING_KEPT : 0)) {
		making.thread->dropped += lossy != 0;
		if (lossy)
			making.thread->chosen = 0;
		set_busy(making.thread, 0);
		return lossy ? (struct onward){stub + AGENT_PROBE_DISPLACED, 0} : trap;
	}
	struct return_trampoline *slot = take_slot(place, tail_call);

	if (!slot) {
		set_busy(making.thread, 0);
		return trap;
	}
	frame->gpr[SP] = place;
	slot->return_address = frame->return_address;
	slot->probe = probe;
	fill(&making, RECORD_CALL, slot, line);
	head_of(&making)->return_address = slot->return_address;
	capture(&making, true, plan, frame, slot);
	if (plan->is_limited && is_cut(making.record, RING_CALL)) {
		leave_slot(slot, place);
		set_busy(making.thread, 0);
		return trap;
	}
	const uint64_t call = (uint64_t)(base + AGENT_RETURN_CALLS) +
			      (uint64_t)(slot - slot_at(0)) * AGENT_RETURN_STUB;

	/* The call will write the same there, but readers of the record may look before that. */
	frame->return_address = call + AGENT_RETURN_CALL;
	head_of(&making)->time = read_clock();
	making.thread->chosen = 0;
	publish(&making);
	return (struct onward){stub + AGENT_PROBE_DISPLACED, call};
}

/* Returns false if there is no room for the record. */
static bool record_return(struct frame *frame, const struct agent_plan *plan,
			  struct return_trampoline *slot)
{
	struct making making;

	making.thread = find_thread();
	if (!making.thread || !claim(making.thread))
		return false;
	uint64_t time = read_clock();

	if (!begin(&making, plan->exit_max, 0)) {
		set_busy(making.thread, 0);
		return false;
	}
	frame->gpr[SP] = (uint64_t)&frame->return_address;
	fill(&making, RECORD_RETURN, slot, 0);
	head_of(&making)->time = time;
	capture(&making, false, plan, frame, slot);
	if (plan->is_limited && is_cut(making.record, RING_RETURN)) {
		set_busy(making.thread, 0);
		return false;
	}
	publish(&making);
	return true;
}

/* Returns where the thread continues; 0: at the breakpoint of returns without room for a record. */
uint64_t agent_returned(struct frame *frame, int unrecorded)
{
	struct return_trampoline *slot = slot_at(frame->number);
	const struct agent_plan *plan = plan_of(slot->probe);

	if (!unrecorded && plan && word_at(AGENT_PLANS + AGENT_ON) &&
	    !record_return(frame, plan, slot))
		return 0;
	uint64_t return_address = slot->return_address;

	/* The number is where the return address was. */
	leave_slot(slot, (uint64_t)&frame->number);
	return return_address;
}
