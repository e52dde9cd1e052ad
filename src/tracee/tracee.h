/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes: threads, processes, address spaces, and the loop that waits for their
 * stops. Code in this directory stops, reads, writes and resumes tasks; it does not know
 * breakpoints, symbols or traced calls. Higher layers keep their per-thread and per-space state
 * behind pointers to types that are opaque here.
 *
 * A *space* is an address space. The threads of a process share it, and a vfork child shares its
 * parent's until it execs. Every patch belongs to a space.
 *
 * Only the thread that called tracees_create() may call these functions: ptrace(2) binds a tracee
 * to one thread of the tracer.
 */
#ifndef TRACER_TRACEE_TRACEE_H
#define TRACER_TRACEE_TRACEE_H

#include "base/arch.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "tracee/maps.h"
#include "tracee/status.h"
#include "tracee/waiting.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct identity;
struct guardian;
struct tracees;
struct journal;
struct original_signals;
struct prefault;
struct state_sizes; /* state.h */
struct watchdog;
struct resident;
struct rescue;
struct space;
struct system_call;	/* engine/syscall: the system call that a thread is in */
struct modules;		/* session: the modules loaded in a space */
struct session_process; /* target/task_state.h */
struct session_thread;	/* target/task_state.h */
struct thread_calls;	/* engine/trap/thread_calls.h */
struct trap_space;	/* engine/trap/breakpoint.h */
struct trap_process;	/* engine/trap/trap_state.h */
struct trap_thread;	/* engine/trap/trap_state.h */
struct agent_space;	/* engine/agent/agent_state.h */
struct agent_thread;	/* engine/agent/agent_state.h */

/* What a space asks of the file that keeps its SIGTRAP handler. */
struct rescue_ops {
	/* Frees the tracer's data; the tracee's memory stays. */
	void (*destroy)(struct rescue *rescue);
	/* Forgets tables that are not in the memory of a forked child. */
	void (*forget_missing)(struct space *space);
	/* Returns true if the address is in a block of the handler's. */
	bool (*holds)(const struct space *space, uint64_t address);
};

struct space {
	unsigned references; /* number of processes that live in the space */
	const struct arch *arch;
	/* It is a core dump's: no task has it, kept_maps are its mappings, nothing is written. */
	bool is_dumped;
	int memory_fd; /* /proc/PID/mem */
	pid_t reader;  /* a live thread of the space, for process_vm_readv(2); 0: none is known */
	struct memory_source memory;
	/* The space's memory, but only what the program may read itself. */
	struct memory_source readable;
	struct resident *resident; /* which pages can be read without waiting */
	struct gather *gather;	   /* memory_batch.h; NULL: every read and write is made at once */
	/* Told when the tracer enters a blocking memory access; NULL: there is none. */
	struct watchdog *watchdog;
	struct journal *journal;
	struct guardian *guardian; /* holds the journal, under guardian_number */
	uint64_t guardian_number;
	/* Withdraws the journal; NULL: no guardian was ever given it. */
	void (*guardian_forget)(struct guardian *guardian, uint64_t number);
	struct arena *arena;
	struct rescue *rescue; /* the SIGTRAP handler in the space; NULL: none could be installed */
	const struct rescue_ops *rescue_ops; /* set with `rescue` */
	/* What the floors above keep of the space; made by each when it first has something. */
	struct trap_space *trap;
	struct agent_space *agent;
	struct modules *modules;
	struct maps kept_maps; /* a copy of the mappings: maps_snapshot.h */
	/* The vDSO, if the tracer's code in the space calls it; else both are 0. */
	struct {
		uint64_t low, high;
	} kernel_code;
	/* Address of arch->remote_stub in the space, 0: not written yet; see remote.c. */
	uint64_t remote_stub;
};

enum thread_state { THREAD_RUNNING, THREAD_STOPPED };

struct process {
	pid_t pid;
	struct space *space; /* NULL until its program is known */
	struct tracees *tracees;
	unsigned threads; /* live threads that the tracer knows of */
	unsigned ending;  /* how many of these have reported STOP_ENDING */
	/*
	 * The tracer's command: signals to the tracer are forwarded to it, its exit status becomes
	 * the tracer's.
	 */
	bool launched;
	bool silent; /* shares a traced space but is not traced itself (vfork child without -f) */
	bool shares_parent_vm; /* a CLONE_VM child that has not execed yet */
	/* Shares the memory of that process, whose `space` is still NULL. */
	struct process *vm_parent;
	pid_t refused_by; /* the tracer that an attach has found at it; 0: none */
	bool starting;	  /* attached or just execed; its modules have not been read yet */
	/* The mappings, read before the attach stopped any thread; may be empty. */
	struct maps maps_before;
	/* About to be detached: thread_resume() lets it stop at no system call any more. */
	bool calls_pass;
	/* What the floors above keep of the process: see state.h. */
	struct trap_process *trap;
	struct session_process *session;
};

struct thread {
	pid_t tid;
	struct process *process;
	enum thread_state state;
	bool fresh;	     /* its first stop has not been handled yet */
	bool ending;	     /* see thread_note_ending() */
	enum stop_kind stop; /* the present stop; valid while THREAD_STOPPED */
	int stop_signal;
	bool at_breakpoint; /* has run into a breakpoint instruction, and pc is still behind it */
	/* A synchronous wait has collected its stop, which still has to be handled. */
	bool has_deferred;
	int deferred_status;
	uint64_t deferred_since; /* clock_now() when the stop was collected */
	/*
	 * A PTRACE_INTERRUPT arrived during a remote call or a step and was dropped. Code that
	 * waits for an interrupt must ask again when the thread has been resumed.
	 */
	bool interrupt_taken;
	/*
	 * While this is not 0, the thread stops at its system calls. The trap engine counts here
	 * the displaced system calls that a signal handler may start again (xol_signals.c).
	 */
	unsigned syscall_stops;
	/* What the floors above keep of the thread: see state.h. */
	struct thread_calls *calls;
	struct trap_thread *trap;
	struct agent_thread *agent;
	struct session_thread *session;
	/* One block, freed with the thread; NULL: not in a known call. */
	struct system_call *system_call;
};

/* A stop as returned by tracees_next(). */
struct stop {
	enum stop_kind kind;
	int signal;	       /* signal number or exit status */
	struct thread *thread; /* NULL: the task is not in the tables any more */
	unsigned long message; /* PTRACE_GETEVENTMSG: the new tid, or the former tid at STOP_EXEC */
	uint64_t time;	       /* clock_now() when the stop is handled */
	/* clock_now() when the stop was collected: before `time` if it was deferred. */
	uint64_t since;
	bool first; /* the first stop of a new task */
};

struct tracees {
	const struct state_sizes *sizes; /* not owned */
	struct map threads;		 /* tid → struct thread */
	struct map processes;		 /* pid → struct process */
	struct vec early;     /* stops of tasks whose creation has not been reported yet */
	struct vec abandoned; /* threads that did not stop for detaching: detached when they stop */
	struct vec deferred;  /* tids of threads with has_deferred */
	unsigned long ptrace_options;
	struct prefault *prefault; /* faults in absent pages of all spaces */
	struct watchdog *watchdog; /* for all spaces: guardian_watchdog(), or NULL */
	/* The user that a command runs as, NULL: the tracer's user. */
	const struct identity *launch_as;
	/*
	 * If passed_syscall is set, threads of processes that are not `silent` stop at all of their
	 * system calls. passed_syscall is called for a STOP_SYSCALL that a synchronous wait skips
	 * because it waits for another stop, but not for one that tracees_next() returns.
	 */
	void (*passed_syscall)(void *context, struct thread *thread);
	void *passed_context;
	/*
	 * How long a synchronous wait polls before it sleeps, in ns. 0 on a machine with one
	 * processor, where polling would keep the tracee from running.
	 */
	uint64_t spin_ns;
	struct waiting waiting;
	pid_t last_stopped; /* the tid of the stop that tracees_next() returned last, or 0 */
	/* clock_now() at the stop that is being handled; 0: none is. */
	uint64_t event;
	/*
	 * `event` in wall-clock time (ns since the Epoch), and the `event` that `wall` was computed
	 * for.
	 */
	uint64_t wall, wall_event;
};

/* `sizes` must outlive the tables. */
struct tracees *tracees_create(const struct state_sizes *sizes);
/* Frees everything. The kernel detaches what is still attached when the tracer exits. */
void tracees_destroy(struct tracees *tracees);

/*
 * Waits for the next stop. 0 with *stop filled in; -EINTR if a signal arrived for the tracer;
 * -EAGAIN if `block` is false and no stop is there; -ECHILD if no tracee is left.
 */
int tracees_next(struct tracees *tracees, bool block, struct stop *stop);

/*
 * Waits up to `timeout_ms` for abandoned threads to be detached. For use when nothing else is
 * traced any more.
 */
void tracees_settle_abandoned(struct tracees *tracees, unsigned timeout_ms);

struct thread *tracees_thread(const struct tracees *tracees, pid_t tid);
struct process *tracees_process(const struct tracees *tracees, pid_t pid);

/* Create the structures of a task: at launch, at attach, and when a parent reports a new child. */
struct process *process_create(struct tracees *tracees, pid_t pid);
struct thread *thread_create(struct tracees *tracees, struct process *process, pid_t tid);
/*
 * Removes a task that is gone. The process is freed with its last thread, and the space is released
 * with its last process.
 */
void thread_destroy(struct tracees *tracees, struct thread *thread);
/*
 * Clears `vm_parent` in all CLONE_VM children that wait for the space of `lender`: its program is
 * gone.
 */
void process_end_lending(struct tracees *tracees, const struct process *lender);
/*
 * After an exec: removes all threads of a process but `keep`, which gets the process's pid as its
 * tid.
 */
void process_keep_only(struct tracees *tracees, struct process *process, struct thread *keep);

/* Call `visit` for each thread of a process, or of all processes of a space. */
typedef void thread_visit(struct thread *thread, void *context);
void process_each_thread(struct process *process, thread_visit *visit, void *context);
void space_each_thread(struct tracees *tracees, struct space *space, thread_visit *visit,
		       void *context);

/*
 * Notes that the thread is at STOP_ENDING. Returns true if it is the last of its process to get
 * there.
 */
bool thread_note_ending(struct thread *thread);

/*
 * Stops a thread and waits for it, at most `timeout_ms`. 0; -ESRCH if the thread is gone;
 * -ETIMEDOUT. The thread may stop for another reason than the interrupt. tracees_next() returns its
 * stop later.
 */
int thread_stop(struct tracees *tracees, struct thread *thread, unsigned timeout_ms);
/*
 * Brings a thread to a stop at which `inside` is false. While `inside` is true, the thread is
 * resumed for some 0.2 ms at a time, with its signals. Gives up after 200 tries, and at a SIGTRAP,
 * which may be a breakpoint's; so the caller must test again. A thread with a deferred stop is
 * accepted.
 */
typedef bool thread_test(const struct thread *thread, const void *context);
void thread_stop_outside(struct thread *thread, thread_test *inside, const void *context);
/*
 * Takes the deferred stop of `thread` before tracees_next() returns it. Returns false if there is
 * none.
 */
bool thread_take_deferred(struct tracees *tracees, struct thread *thread, struct stop *stop);
/*
 * Waits for the next status of a thread that was just resumed, at most `timeout_ms`: 0, -ESRCH,
 * -ETIMEDOUT. Waits on if the thread is in uninterruptible sleep: in a remote call, that may be a
 * wait for the lock of its memory map, which is released soon.
 */
int thread_wait(struct thread *thread, int *wait_status, unsigned timeout_ms);
/* Returns true at a safe stop: registers may be changed and remote calls be made. */
bool thread_is_safe_stop(const struct thread *thread);

/* Returns true if `pc` is in kernel_code. */
static inline bool space_has_kernel_code(const struct space *space, uint64_t pc)
{
	return pc >= space->kernel_code.low && pc < space->kernel_code.high;
}

#endif
