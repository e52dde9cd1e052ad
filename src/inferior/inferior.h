/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes: threads, processes and address spaces, and the loop that waits for
 * them. This floor knows how to stop, read, write and resume; it does not know what a
 * breakpoint, a symbol or a traced call is. What the floors above keep per thread or per space
 * hangs on typed pointers that only they look into.
 *
 * A *space* is an address space: shared by the threads of a process, and by a vfork child with
 * its parent until it execs. All patches belong to a space.
 *
 * Only the thread that created the inferior may call any of this (a rule of ptrace).
 */
#ifndef TRACER_INFERIOR_INFERIOR_H
#define TRACER_INFERIOR_INFERIOR_H

#include "base/arch.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "inferior/maps.h"
#include "inferior/status.h"
#include "inferior/waiting.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct identity;
struct guardian;
struct callstacks; /* engine/trap: the pending calls of a thread */
struct inferior;
struct journal;
struct original_signals;
struct prefault;
struct pulse;
struct resident;
struct rescue;
struct system_call; /* engine/syscall: the one that a thread is in */
struct modules;	    /* session: what is loaded in a space */
struct trap_space;  /* engine/trap: the breakpoints of a space */
struct agent_space;

struct space {
	unsigned references; /* processes that live in it */
	const struct arch *arch;
	int memory_fd; /* /proc/PID/mem */
	pid_t reader;  /* a live thread in it, for process_vm_readv */
	struct memory_source memory;
	struct memory_source readable; /* the same, but only what the program may read itself */
	struct resident *resident;     /* which of it can be read without waiting */
	struct gather *gather;	       /* gather.h; NULL: each read and write is made at once */
	struct pulse *pulse;	       /* shows that we are in there; NULL: nobody looks */
	struct journal *journal;
	struct guardian *guardian; /* holds the journal by that number */
	uint64_t guardian_number;
	struct arena *arena;
	struct rescue *rescue; /* NULL: none could be installed */
	struct trap_space *trap;
	struct agent_space *agent; /* engine/agent: what is counted inside; NULL: nothing */
	struct modules *modules;
	struct maps kept_maps; /* see kept_maps.h */
	/* The vDSO, where code of ours calls it; zeros: it does not. */
	struct {
		uint64_t low, high;
	} kernel_code;
	bool has_remains;  /* code of a tracer that was killed before is ours now (engine/agent) */
	uint64_t landing;  /* where arch->landing stands, 0: nowhere; see remote.c */
	uint64_t watch[4]; /* addresses under hardware watch, 0: free */
	unsigned watch_generation;
};

enum thread_state { THREAD_RUNNING, THREAD_STOPPED };

/* How a program wants SIGTRAP; anything but the default has to be looked after. */
enum sigtrap_state { SIGTRAP_DEFAULT, SIGTRAP_HANDLED, SIGTRAP_IGNORED };

struct process {
	pid_t pid;
	struct space *space; /* NULL until its program is known */
	struct inferior *inferior;
	unsigned threads; /* live ones we know of */
	unsigned ending;  /* those of them that have been at STOP_ENDING */
	bool launched;	  /* by us: gets our signals, its status is ours */
	bool of_command;  /* launched, or a descendant of what was launched */
	bool silent;   /* shares a traced space but is not traced itself (vfork child without -f) */
	bool borrower; /* made to live in its parent's memory until it has a program of its own */
	struct process *borrows; /* lives in the memory of this one, whose space is not known yet */
	enum sigtrap_state sigtrap;
	uint8_t sigtrap_action[32]; /* the kernel's struct sigaction for it, or the start of it */
	bool sigtrap_guarded;	    /* the kernel has been given our handler instead */
	bool sigtrap_earlier;	    /* it had that of an earlier tracer, which was killed */
	bool sigtrap_reset; /* the kernel has reset it, which is known and left for the moment */
	uint64_t sigtrap_checked; /* when that was looked at last: ns of inferior_clock() */
	uint64_t sigtrap_set;	  /* when we have set it last */
	uint64_t sigtrap_sets;	  /* how often */
	uint64_t
		handler_masks[64]; /* what each signal's handler blocks; 0: not known, or nothing */
	uint64_t handlers_opened;  /* sigtrap_go.c: bits of signals whose handlers do not block
				      SIGTRAP any more, though the program wanted that */
	bool starting;		   /* attached or exec'd; its modules have not been looked at yet */
	bool execed;		   /* STOP_EXEC was seen at least once */
	bool born;		   /* made by a process of ours */
	pid_t vforker;		   /* the thread in whose vfork(2) it was made, or 0 */
	bool calls_pass;	   /* is about to be let go: no stops at system calls any more */
	bool let_go;	  /* asked to be traced by its parent: detached at its next clean stop */
	bool pretends;	  /* was told that its parent traces it now */
	bool to_announce; /* attached to, and the user has not been told that tracing has begun */
};

struct thread {
	pid_t tid;
	struct process *process;
	enum thread_state state;
	bool fresh;	     /* its first stop has not been handled yet */
	bool ending;	     /* see thread_note_ending() */
	enum stop_kind stop; /* while stopped */
	int stop_signal;
	bool at_breakpoint; /* has run into a breakpoint instruction, and pc is still behind it */
	bool has_deferred;  /* its stop was taken by a synchronous wait and waits to be handled */
	int deferred_status;
	uint64_t deferred_since; /* inferior_clock() then */
	/*
	 * An interrupt came in the middle of a call or a step of ours, and was passed over: who
	 * waits for one has to ask again, when the thread goes on.
	 */
	bool interrupt_taken;
	struct callstacks *calls;
	unsigned watch_generation;
	uint64_t backtrace_place,
		backtrace_return; /* session/inprocess.c: the backtrace under way */
	/* engine/agent: where the stack that it ran on once ended, as maps(5) said; 0: not known */
	uint64_t stack_end;
	/* engine/agent: the fs base of the thread that made it, then; 0: not known */
	uint64_t maker_base;
	uint64_t sent_again;  /* engine/agent: a call's place on the stack, see agent_redirect() */
	bool is_out;	      /* nothing leads it into our code any more: session/clearing.c */
	uint64_t slot;	      /* the only out-of-line slot that it may be inside of; 0: none */
	bool announced;	      /* RECORD_THREAD was made */
	uint64_t cost;	      /* ns this thread has spent stopped for us, see engine/trap */
	bool sigtrap_changes; /* a sigaction() under way sets SIGTRAP */
	uint64_t sigtrap_flags;
	uint64_t sigtrap_handler; /* what it sets */
	bool sigtrap_gone; /* at this stop: the disposition is to be set again before it goes on */
	bool sigtrap_own;  /* stopped for a SIGTRAP of the program's in place of the breakpoint's */
	uint64_t sigtrap_sets; /* the process's number of them when the thread was sent on last */
	bool sigtrap_blocked;  /* at this stop: it was blocked when the breakpoint was hit */
	size_t unblocked;      /* number of the journal's entry of its mask, plus 1: unblock.h */
	bool mask_due;	       /* it is to get this one in a moment: unblock.c */
	uint64_t mask_next;
	uint64_t masks[6];    /* signal masks that it has had, the last one first: masks.h */
	unsigned masks_known; /* so many */
	uint64_t sigtrap_old; /* where a sigaction() under way stores what was, 0: nowhere */
	struct {
		bool asked;	    /* since the first signal in a traced call */
		bool disarms;	    /* SS_AUTODISARM: the kernel does not know it in a handler */
		uint64_t low, high; /* then: where it is */
		bool again; /* asked at a signal that is about to come once more (requeue.h) */
	} signal_stack;
	bool signalled; /* has had a signal since we know it */
	/*
	 * Calls that a handler may begin anew (engine/trap/landed.c): while there are any, the
	 * thread stops at system calls.
	 */
	unsigned interrupted;
	struct system_call *system_call; /* one block, freed with the thread; NULL: none is known */
};

/* What inferior_next() found. */
struct stop {
	enum stop_kind kind;
	int signal;	       /* signal, or exit status */
	struct thread *thread; /* NULL for a task we do not know any more */
	unsigned long message; /* new tid; former tid at STOP_EXEC */
	uint64_t time;	       /* CLOCK_MONOTONIC ns, taken as soon as the kernel told */
	uint64_t since;	       /* the same of a stop that was kept meanwhile: when it was taken */
	bool first;	       /* the first stop of a new task */
};

struct inferior {
	struct map threads;   /* tid → struct thread */
	struct map processes; /* pid → struct process */
	struct vec early;     /* stops of tasks whose parent has not announced them yet */
	struct vec abandoned; /* threads that did not stop for detaching: let go when they do */
	struct vec deferred;  /* tids with has_deferred */
	unsigned long ptrace_options;
	struct prefault *prefault;	  /* brings in pages of all spaces */
	struct pulse *pulse;		  /* of all spaces: guardian_pulse(), or NULL */
	const struct identity *launch_as; /* whom a command is run as, NULL: the tracer's user */
	/*
	 * When set, threads of processes that are not `silent` stop at all of their system calls.
	 * It is called at those stops that somebody passes over who waits for another one; those
	 * that inferior_next() tells of are not its business.
	 */
	void (*passed_syscall)(void *context, struct thread *thread);
	void *passed_context;
	/* How long a stop that is about to come is looked for without sleeping: where there is
	   another processor for the tracee. */
	uint64_t spin_ns;
	struct waiting waiting;
	pid_t last_stopped; /* that inferior_next() told about */
	/* inferior_clock() when the last stop came that is being served; 0: none is. */
	uint64_t event;
	/* The same by the system's clock, of the `event` that was asked for last. */
	uint64_t wall, wall_event;
};

struct inferior *inferior_create(void);
/* Frees all; whatever is still attached is let go by the kernel when the tracer exits. */
void inferior_destroy(struct inferior *inferior);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t inferior_clock(void);
/* Nanoseconds since the Epoch: what records are stamped with. */
uint64_t inferior_wall_clock(void);
/*
 * What inferior_clock() and inferior_wall_clock() were at the stop that is being served, or are
 * when none is. That is what records of it say: other threads go on meanwhile, and what they do is
 * to come behind it.
 */
uint64_t inferior_event_clock(const struct inferior *inferior);
uint64_t inferior_event_wall_clock(struct inferior *inferior);

/*
 * Waits for the next stop. 0 with *stop filled in; -EINTR when a signal came to the tracer;
 * -EAGAIN when `block` is false and there is nothing; -ECHILD when no tracee is left.
 */
int inferior_next(struct inferior *inferior, bool block, struct stop *stop);

struct thread *inferior_thread(const struct inferior *inferior, pid_t tid);
struct process *inferior_process(const struct inferior *inferior, pid_t pid);

/* Makes the structures of a task; used by launch, attach and when a parent announces a child. */
struct process *process_create(struct inferior *inferior, pid_t pid);
struct thread *thread_create(struct inferior *inferior, struct process *process, pid_t tid);
/*
 * Forgets a task that is gone; the process goes with its last thread, the space with its last
 * process.
 */
void thread_destroy(struct inferior *inferior, struct thread *thread);
/* Nobody waits for the space of this process any more: the program that they live in is gone. */
void process_end_lending(struct inferior *inferior, const struct process *lender);
/*
 * Forgets all threads of a process but `keep` (exec), which takes over the process's pid as
 * tid.
 */
void process_keep_only(struct inferior *inferior, struct process *process, struct thread *keep);

/* Calls `visit` for each thread of a process, or of every process in a space. */
typedef void thread_visit(struct thread *thread, void *context);
void process_each_thread(struct process *process, thread_visit *visit, void *context);
void space_each_thread(struct inferior *inferior, struct space *space, thread_visit *visit,
		       void *context);
/* Whether it is stopped and the only one in its space. */
bool space_has_only(const struct thread *thread);

/*
 * Resumes a stopped thread, delivering `signal` unless 0. A thread that died meanwhile is no
 * error.
 */
void thread_resume(struct thread *thread, int signal);
/*
 * Sends a thread on that has been found at a STOP_SYSCALL by somebody who waits for another stop.
 */
void thread_pass_syscall(struct thread *thread);
/* The thread is at STOP_ENDING: whether it is the last one of its process to come there. */
bool thread_note_ending(struct thread *thread);
/* Keeps a thread in its group-stop. */
void thread_listen(struct thread *thread);

/*
 * At a stop that is none of the program's doing: has a system call that it ended with EINTR made
 * again, unless a handler runs. See retry.c.
 */
void thread_retry_call(struct thread *thread);
/* Whether it does that with a system call of that number and first argument. */
bool syscall_may_be_retried(const struct arch *arch, uint64_t number, uint64_t first);

/*
 * Stops a thread and waits for it, at most `timeout_ms`: 0, -ESRCH when it is gone, -ETIMEDOUT.
 * A stop for any other reason is kept and comes from inferior_next() later.
 */
int thread_stop(struct inferior *inferior, struct thread *thread, unsigned timeout_ms);
/*
 * Stops a thread, or takes one whose stop is to be told of yet, and lets it run on for moments,
 * with its signals, as long as `inside` holds of it; not for ever, and not past a SIGTRAP, which
 * may be that of a breakpoint.
 */
typedef bool thread_test(const struct thread *thread, const void *context);
void thread_stop_outside(struct thread *thread, thread_test *inside, const void *context);
/* Forgets a thread that does not stop; it is detached as soon as it does. */
void thread_abandon(struct inferior *inferior, struct thread *thread);
/* Gives abandoned threads some time to be let go properly, when nothing else is traced any more. */
void inferior_settle_abandoned(struct inferior *inferior, unsigned timeout_ms);
/* Keeps a status for inferior_next(), which gives it out before it waits for anything new. */
void thread_defer(struct thread *thread, int wait_status);
/*
 * The same for a stop that the thread stands at until that is given out or taken. If it is one by
 * which the thread's program is over (stop_ends_program()), thread_resume() leaves it so.
 */
void thread_keep_stop(struct thread *thread, int wait_status);
/*
 * A thread that stands can have been killed since, by another one's exec: then it stands at its
 * end, and the exec waits for it. Keeps that stop.
 */
void thread_look_for_end(struct thread *thread);
/*
 * Has the kernel forget the signal that the thread is stopped at: it is not delivered, should the
 * tracer be killed before the thread is resumed (waiting.h).
 */
void thread_take_stop(struct thread *thread);
/* Whether such an end is kept: registers from before must not be given to it any more. */
bool thread_is_over(const struct thread *thread);
/*
 * Takes a stop that was kept for `thread` by thread_stop(), before inferior_next() gives it
 * out.
 */
bool thread_take_deferred(struct inferior *inferior, struct thread *thread, struct stop *stop);
/*
 * Waits for the next status of a thread that was just resumed, at most `timeout_ms`: 0, -ESRCH,
 * -ETIMEDOUT. Uninterruptible sleep does not count as a reason to give up: in a system call that we
 * had it make, it may wait for whoever looks at the same memory map.
 */
int thread_wait(struct thread *thread, int *wait_status, unsigned timeout_ms);
/* Whether registers may be changed and remote calls made at the present stop. */
bool thread_is_clean_stop(const struct thread *thread);

/* A space for the program that `pid` runs now; one reference. NULL with *error = -errno. */
struct space *space_create(pid_t pid, const struct arch *arch, int *error);
/* Has this space read with the help of those who see to it that no read lasts for ever. */
void space_bind(struct space *space, const struct inferior *inferior);
/*
 * Lets `guardian` (or NULL) hold the journal of this space, in which `pid` lives, until it is
 * freed. To be called before anything is changed in it.
 */
void space_guard(struct space *space, struct guardian *guardian, pid_t pid);
struct space *space_ref(struct space *space);
void space_unref(struct space *space);
/*
 * `tid` is gone or has got other memory (exec of a vfork child): nothing of this space may be read
 * through it any more. `space` may be NULL.
 */
void space_forget_reader(struct space *space, pid_t tid);
/* Whether `pc` is in kernel_code. */
static inline bool space_has_kernel_code(const struct space *space, uint64_t pc)
{
	return pc >= space->kernel_code.low && pc < space->kernel_code.high;
}
/* Fills in kernel_code, by a task of the space; false: there is none. */
bool space_find_kernel_code(struct space *space, pid_t tid);
/* Writes through /proc/PID/mem, whatever the page's protection: 0 or -errno. */
int space_write(struct space *space, uint64_t address, const void *bytes, size_t length);
/* The same at once, also where writes are gathered (gather.h), which is who may use it then. */
int space_write_through(struct space *space, uint64_t address, const void *bytes, size_t length);
/*
 * The same of many words (no range crosses a page) that the tracee may write itself, in few system
 * calls; what cannot be written is left out.
 */
void space_write_words(struct space *space, struct memory_range *ranges, size_t count);
/*
 * Whether who touches the page at `address` would wait for it, without end for all that is known.
 */
bool space_is_stuck(const struct space *space, uint64_t address);
/*
 * A forked child's books are copied from its parent's when it is announced, its memory was copied
 * before that. Forgets what is not mapped in it after all: blocks, regions, tables. To be called
 * before anything is mapped there, which would find a place that the books say is taken.
 */
void space_forget_missing(struct space *space);
/* The two processes share one address space (kcmp(2), where the kernel has it). */
bool same_space(pid_t one, pid_t other, bool guess);

/* How launch and attach end for a process that cannot be traced: see launch.c, attach.c. */
int inferior_launch(struct inferior *inferior, char *const argv[],
		    const struct original_signals *original, struct process **process);
/*
 * Attaches to all threads of `pid`: 0, or -errno with *why a text for the user (to be freed). The
 * process is `starting`; at least one of its threads will report STOP_TRAP.
 */
int inferior_attach(struct inferior *inferior, pid_t pid, struct process **process, char **why);
/*
 * Attaches to threads of an attached process, and children in its memory, that its own threads were
 * about to create when those were seized. Complete after each thread has been stopped once since
 * then. How many threads were found (they run), or -errno.
 */
int inferior_seize_new(struct inferior *inferior, struct process *process);

#endif
