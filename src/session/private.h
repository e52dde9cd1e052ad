/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of src/session share: the session's own state. */
#ifndef TRACER_SESSION_PRIVATE_H
#define TRACER_SESSION_PRIVATE_H

#include "engine/agent/agent.h"
#include "engine/syscall/syscall.h"
#include "engine/trap/trap.h"
#include "image/elf.h"
#include "image/linkmap.h"
#include "inferior/identity.h"
#include "inferior/interrupts.h"
#include "output/render.h"
#include "probe/match.h"
#include "proto/plan.h"
#include "proto/search.h"
#include "session/accessors.h"
#include "session/debuginfo.h"
#include "session/session.h"
#include "session/untraced.h"

struct agent_hook {
	struct hook hook; /* first: the engine hands this back */
	struct agent *agent;
};

struct session {
	const struct session_options *options;
	struct inferior *inferior;
	struct guardian *guardian;
	struct interrupts *interrupts;
	struct trap *trap;
	struct agent *agent; /* NULL: all calls are caught by breakpoints */
	struct engine_events events;
	struct elf_cache *files;
	struct proto_search *prototypes;
	struct debuginfo *debuginfo; /* NULL: it is not to be used */
	struct match_filters filters;
	bool calls_named;	   /* -e or -l was given: lines begin with the caller */
	struct syscalls *syscalls; /* NULL: system calls are not traced */
	struct map system_sites;   /* of system calls, see syscalls.c */
	struct probe_table *probes;
	struct map sites;	      /* probe id → struct planted, see sites.c */
	struct vec prepared;	      /* struct prepared, see prepare.c */
	size_t sweep_at;	      /* so many of them are looked through */
	struct output_options output; /* the options', and our own patience */
	bool is_leaving;	      /* processes are being detached from, as a signal said */
	struct writer *writer;
	struct code_names code;	     /* for the writer: module_code_name() */
	struct hook sigaction;	     /* libc's functions that change dispositions */
	struct hook sigmask;	     /* its functions that change masks: masking.c */
	struct hook mask_blocks;     /* its system calls that may block signals */
	struct hook mask_opens;	     /* and those that end that */
	struct hook action_call;     /* and those that set dispositions */
	struct hook long_jump;	     /* longjmp() and its like */
	struct hook long_jump_glibc; /* the same, of glibc */
	struct hook stack_growth;    /* runtime.morestack of Go */
	struct hook go_sigaction;    /* and runtime.rt_sigaction */
	struct hook linker;	     /* r_brk */
	uint64_t planted;	     /* probes, ever */
	struct agent_hook unwinder;  /* who looks at stacks: inprocess.c */
	struct hook landing;	     /* where that goes on */
	struct agent_hook backtrace; /* and does so without leaving any of its frames */
	struct agent_hook asking;    /* who asks who called him */
	struct hook ptrace;	     /* ptrace(): see debuggers.c */
	struct vec ifuncs;	     /* struct ifunc_hook * */
	struct accessors accessors;
	struct vec pointers;	   /* struct pointer_hook *, see pointers.c */
	struct untraced *untraced; /* what cannot be traced */
	struct identity identity;  /* -u */
	struct map unprivileged;   /* programs that were said to run without their rights */
	int stop_wanted;	   /* by the terminal; done when the command has stopped: job.c */
	int output_error;	   /* -errno of the writer; ends the session */
	bool dirty;		   /* records since the last flush */
	/* processes make records that have to be fetched so often; 0: they do not */
	unsigned poll_us;
	uint64_t polled;   /* when they were, as inferior_clock() */
	bool busy;	   /* and made many since they were fetched last */
	bool install_soon; /* so it is in some space: inprocess_install_soon() */
	bool has_waiting;  /* functions are to be planted in some space: later.c */
	bool leaving;	   /* detaching: nothing is planted any more */
	bool recovering;   /* what another tracer has left behind (recover.c) */
	bool looked;	   /* some program was looked at, and lived: what it has not is missing */
	size_t unattached; /* processes that could not be attached to */
	struct session_result *result;
};

/* An object loaded in a space. Immutable, shared by forked spaces. */
struct module {
	unsigned references;
	struct elf_file *file;
	uint64_t bias;
	uint64_t low, high; /* addresses its segments span */
	uint64_t dynamic;   /* address of its dynamic section, 0: none */
	dev_t device;	    /* of the file mapped there; not of the program's own */
	ino_t inode;
	char *path;
	const char *base_name; /* of path */
	char *mapped, *listed; /* other names: of the mapping, and of the linker's list; or NULL */
	bool is_main;
	bool is_static;	  /* the program, linked so: libraries are in it */
	bool is_machine;  /* a virtual machine's: generated code calls its functions; runtimes.c */
	bool is_profiled; /* compiled with -pg; the same */
	bool ran_before;  /* it was there when its process was attached to */
	const struct protolib *prototypes; /* its .conf file, or NULL */
	struct debug_source *debug;	   /* its debug information; NULL: not to be used */
	struct vec shared_names;	   /* of char *, in order: naming.c */
};

/* A data word that will hold the address of a function, or leads to such a word: see tables.c. */
struct pending_slot {
	uint64_t address;
	bool is_getter; /* its function returns the address of a table */
	uint64_t table_offset;
	uint64_t watched; /* the word on the way to it that is not filled in yet; 0: not known */
	char *name;
	struct filter_rule *rule; /* that asked for it */
};

/* What is to be traced at an address. */
struct probe_request {
	enum probe_kind kind;
	const char *name;
	const struct module *module; /* that calls or defines it; NULL: not known */
	bool one_of_many;	     /* meant by a pattern, not named */
};

/*
 * For how many ns at once threads of a process stand, or wait for the tracer, when there is much to
 * do in it.
 */
enum { PAUSE_NS = 2000000 };

/* What is loaded in one space. */
struct modules {
	struct vec list;	 /* struct module *, in order of appearance */
	struct linkmap *linkmap; /* NULL: statically linked */
	uint64_t r_debug;
	struct vec slots;     /* struct pending_slot */
	struct vec waiting;   /* struct waiting_matches, see later.c */
	struct vec undefined; /* struct undefined_call, see undefined.c */
	struct vec gates;     /* struct gate_place, see gates.c */
	bool gathers;	      /* what is found waits there */
	pid_t stop_asked;     /* the thread that shall stop to plant some of it, or 0 */
	uint64_t rests_until; /* inferior_clock(): not before */
	bool masks_hooked;    /* masking_matters() */
	bool masks_due;	      /* they are to be, as soon as who has made a child can be stopped */
	bool install_soon;    /* inprocess_install_soon() */
	uint64_t rings_asked; /* when a stop was asked for last to make more at; 0: never */
	bool tables_watched;  /* inprocess.c: _dl_find_object() is hooked */
	bool is_hooked;	      /* inprocess.c: unwinders are, as calls are caught inside */
	uint8_t shadowed;     /* pointers.c: whether threads have shadow stacks; 0: not known */
	uint64_t checked;     /* when modules_check() looked last, inferior_clock() */
	pid_t suspended_for;  /* breakpoints are out until this thread stops; 0: they are in */
};

/* session.c */
void session_record(struct session *session, const struct record *record);
/* Writes out what was recorded so far. */
void session_flush(struct session *session);

/* debug.c: lines of -D */

/* DEBUG_FUNCTIONS is wanted by -v, too. */
bool debug_wanted(const struct session *session, unsigned domain);
/* `domain`: one of enum session_debug. Whatever the text holds, printable ASCII comes out. */
void debug_say(const struct session *session, unsigned domain, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void debug_stop(const struct session *session, const struct stop *stop);
void debug_record(const struct session *session, const struct record *record);

/* linker.c: what the dynamic linker's file says */

/* Whether the program that was executed is a dynamic linker, which loads another one. */
bool linker_is_program(const struct module *program);
/* The address of its _r_debug; 0: it has none of that name. */
uint64_t linker_symbol_r_debug(const struct module *linker);
/* The same under any name, when its list has begun; else 0. */
uint64_t linker_r_debug(const struct space *space, const struct module *linker);
/* Hooks what it calls at each change of its list: 0 or -errno. */
int linker_hook(struct session *session, struct thread *thread, const struct module *linker);

/* modules.c: the objects of a space */

/*
 * Looks at the program of `thread` (at a clean stop) for the first time: makes its space, finds
 * what is loaded, plants what is asked for. `at_exec`: the dynamic linker has not run yet. 0 or
 * -errno with the reason said; the process then runs untraced.
 */
int modules_start(struct session *session, struct thread *thread, bool at_exec);
/*
 * Lists functions whose breakpoints the program has written over. `now` as inferior_clock(): it
 * looks once a second at most; 0: at once.
 */
void modules_check(struct session *session, struct space *space, uint64_t now);
/* The dynamic linker says that its list changed. */
void modules_update(struct session *session, struct thread *thread);
struct modules *modules_clone(struct session *session, const struct modules *modules);
void modules_destroy(struct modules *modules);
struct modules *modules_create(void);
/* Makes a module of a file, with one reference; takes that to `file` over. */
struct module *module_create(struct session *session, struct elf_file *file, uint64_t bias,
			     const char *path, bool is_main);
void module_unref(struct module *module);
struct module *modules_find(const struct modules *modules, uint64_t address);
/* The main program, or what was executed to load it. */
const struct module *modules_program(const struct modules *modules);
/*
 * The module that a call by that name leads to, most likely: the first one that defines it, and the
 * symbol there, unless that is NULL. NULL: none does.
 */
const struct module *modules_find_definer(const struct modules *modules, const char *name,
					  const struct elf_symbol **symbol);
/* Its SONAME, or what its file is called. */
const char *module_library(const struct module *module);
/* code_names.find; the context is the session. */
char *module_code_name(void *context, int32_t pid, uint64_t address);

/* sites.c: what is planted */

/*
 * The site of a probe at `address` in a space, made when it is new. `module`: the one that calls or
 * defines it, or NULL.
 */
/* Finds out what sites_get() will need for the same. */
void sites_prepare(const struct session *session, const struct space *space, enum probe_kind kind,
		   uint64_t address, const char *symbol, const struct module *module);
const struct probe_site *sites_get(struct session *session, const struct space *space,
				   enum probe_kind kind, uint64_t address, const char *symbol,
				   const struct module *module);
/* That of the resolver of an IFUNC, whose symbol that is: it is shown as ltrace shows it. */
const struct probe_site *sites_get_resolver(struct session *session, const struct space *space,
					    const char *symbol, const struct module *module);
/* Somebody refers to a site: the next sweep keeps it. */
void sites_mark(struct session *session, const struct probe_site *site);
/*
 * Drops what nobody refers to any more, when there may be much of it. To be called between stops.
 */
void sites_sweep(struct session *session);
void sites_deinit(struct session *session);

/* matching.c: from filters to matches */

/* What filters look at. Valid for as long as the module. */
struct filter_module matching_filtered(const struct module *module);
/* What `filters` find in a module of the space: struct match in `found`. */
void matching_module(const struct session *session, const struct space *space,
		     const struct module *module, const struct match_filters *filters,
		     struct vec *found);
/* The same of the session's, for -l alone. */
void matching_libraries(const struct session *session, const struct space *space,
			const struct module *module, struct vec *found);

/* plant.c: from matches to breakpoints */

/* The implementation that an IFUNC was bound to, as some module's slot tells, or 0. */
uint64_t plant_find_bound(const struct space *space, const struct module *module,
			  const struct match *match);
/* Before the first of so many breakpoints in a module can be hit. */
void plant_begin(struct session *session, struct thread *thread, const struct module *module,
		 size_t count);
/* Plants one of these. */
void plant_match(struct session *session, struct thread *thread, const struct module *module,
		 const struct match *match);
/* Plants everything that the filters ask for in `module`, or leaves it to later_start(). */
void plant_module(struct session *session, struct thread *thread, struct module *module);
/* The same for -l alone, of one that has been planted: there are new libraries that it may call. */
void plant_libraries(struct session *session, struct thread *thread, struct module *module);
/* Plants a hook at the function of that name, if the module has it. */
void plant_hook(struct session *session, struct thread *thread, const struct module *module,
		const char *name, struct hook *hook);
/* Plants a function found by its address at run time (IFUNC implementation, filled data word). */
void plant_found(struct session *session, struct thread *thread, uint64_t address, const char *name,
		 bool one_of_many);
/* Lists what was waited for in vain, at the end of a session. */
void plant_list_waiting(struct session *session);
/* Hooks of plant.c's own: one that is in use is marked, those that are not marked are dropped. */
void plant_mark_hook(struct session *session, struct hook *hook);
void plant_drop_hooks(struct session *session);
void plant_deinit(struct session *session);
/* Lists a place where no breakpoint could be planted. */
void plant_list_refused(struct session *session, const struct thread *thread,
			const struct probe_request *request, int error);

/* pointers.c: calls by pointers */

void pointers_init(struct session *session);
/* Plants a MATCH_POINTER. */
void pointers_plant(struct session *session, struct thread *thread, const struct match *match,
		    const struct probe_request *request);
/* What that function is, is known better now. */
void pointers_settle(struct space *space, uint64_t address, uint64_t slot,
		     const struct probe_site *site);
/* What may be called at the place of a hook, or NULL when it is not one of these. */
const struct probe_site *pointers_site(const struct hook *hook);
/* Visits each of them; none when it is not one of these. */
void pointers_each_site(const struct hook *hook,
			void (*visit)(void *context, const struct probe_site *site), void *context);
/* As plant_mark_hook() and plant_drop_hooks(). */
void pointers_mark(struct session *session, struct hook *hook);
void pointers_drop(struct session *session);
void pointers_deinit(struct session *session);

/* undefined.c: calls of functions that nothing that is loaded defines */

void undefined_init(struct modules *modules);
void undefined_deinit(struct modules *modules);
/* Of a child that is a copy. */
void undefined_clone(struct modules *modules, const struct modules *from);
/* The module goes. */
void undefined_forget(struct modules *modules, const struct module *module);
/*
 * A call has been planted, by a pointer if `slot` is not 0. True: nothing defines what it calls, so
 * that is asked for again, and it is not for the agent before that.
 */
bool undefined_note(struct modules *modules, const struct probe_request *request, uint64_t address,
		    uint64_t slot);
/* A module has come, and may define some of them. */
void undefined_settle(struct session *session, struct space *space, const struct module *fresh);

/* rights.c */

/* Says so once for each program that gives rights, and runs without them as it is traced. */
void rights_check(struct session *session, const struct thread *thread);

/* tasks.c: processes and threads come and go */

/* Handles every stop that is not a breakpoint's. */
void tasks_stop(struct session *session, struct stop *stop);
/* Announces a task to the writers. */
void tasks_announce(struct session *session, struct thread *thread);
/* The thread stopped because it has made a new task. */
void tasks_announced(struct session *session, const struct stop *stop);
/*
 * The same where that stop of `thread` is kept for later (thread_keep_stop()), and is not taken:
 * the first thread of the new task, or the new thread. NULL: it keeps no such stop.
 */
struct thread *tasks_announce_kept(struct session *session, struct thread *thread);
/* Stops a process and all that live in its memory, those that appear meanwhile too. */
void tasks_stop_all(struct session *session, pid_t pid);
/* Lets go of every process (`launched` too when asked for), leaving them as they were. */
void tasks_detach_all(struct session *session, bool launched_too);
/* Lets go of one process, and of all that live in its memory. */
void tasks_let_go(struct session *session, pid_t pid);

/* clearing.c */

/*
 * Stops a process and all that live in its memory, none of them in code of ours that it cannot be
 * moved out of (trap_in_our_code()). False: someone could not be let run out of it, and the code
 * has to stay.
 */
bool clearing_run(struct session *session, pid_t pid);

/* forks.c */

/* Gives the children that were found in a process's memory at attach its space. */
void forks_share_space(struct session *session, struct process *owner);
/*
 * Stops all threads of a process that may be inside fork(2) or clone(2), but for `thread`, which is
 * stopped; they stay so until their stops are served. Threads that turn up then are attached to. To
 * be called before the process gets our handler.
 */
void forks_pass(struct thread *thread);
/*
 * Behind that: gives the children that are in the memory of the process of `thread`, and that were
 * announced by those stops or since, our handler, too. Threads may be stopped as by forks_pass().
 */
void forks_guard(struct session *session, struct thread *thread);

/* job.c: job control */

/* Such a signal came for the tracer. `command`: the launched process, or NULL. */
void job_asked_to_stop(struct session *session, struct process *command, int signal,
		       bool from_terminal);
/* A thread of that process is in a group-stop. */
void job_stopped(struct session *session, const struct process *process);

/* cores.c */

/*
 * To be called before `signal` is delivered to a stopped thread: a core dump shows the program's
 * own text.
 */
void cores_before_signal(struct session *session, struct thread *thread, int signal);

/* masking.c: signal masks as the program sees them */

void masking_init(struct session *session);
/* The hook that a traced function of that name has to have, or NULL. */
struct hook *masking_function_hook(struct session *session, const char *name);
/*
 * Hooks what reads and sets masks in a module as far as it has to be. `traced`: many breakpoints
 * will be planted in it; to be called before.
 */
void masking_module(struct session *session, struct thread *thread, const struct module *module,
		    bool traced);
/*
 * Makes breakpoints safe for those threads of the process of `thread`, which is stopped, that block
 * everything.
 */
void masking_unblock(struct session *session, struct thread *thread);
/* The same for that thread alone. */
void masking_unblock_one(struct session *session, struct thread *thread);
/*
 * engine_events.masks_matter; the context is the session. For a child in its parent's memory it is
 * put off: see the other two.
 */
void masking_matters(void *context, struct thread *thread);
/* The child, if it is one, is about to get another program, or is gone. */
void masking_child_gone(const struct session *session, const struct process *child);
/* `thread` is at a STOP_TRAP, where what was put off can be done. */
void masking_due(struct session *session, struct thread *thread);

/* unwinders.c: hooks where stacks are unwound; only where calls are caught inside */

/* After the agent was made. */
void unwinders_init(struct session *session);
/* Plants those of a module. */
void unwinders_hook(struct session *session, struct thread *thread, struct module *module);
/* Plants those of all modules, once: modules->is_hooked. Whether it did. */
bool unwinders_hook_all(struct session *session, struct thread *thread);

/* inprocess.c: what is counted inside the process */
/* The writer is told how many probes there were, and of which kind. At the end. */
void inprocess_tell_engines(struct session *session);
/* Lists records that were lost. To be called at the end, before what is listed is shown. */
void inprocess_list_lost(struct session *session);

void inprocess_init(struct session *session);
/* A probe of that module has been planted at `address`, for a function with that symbol. */
void inprocess_wish(struct session *session, struct space *space, uint64_t address,
		    const char *symbol, const struct module *module, const struct probe_site *site);
/* The same of a call by a pointer. */
void inprocess_wish_call(struct session *session, struct space *space, const struct module *module,
			 const struct agent_call *call);
/* To be called for each module, when its probes are planted. */
void inprocess_module(struct session *session, struct thread *thread, struct module *module);
/* To be called when that has been done for all there are; `thread` is at a clean stop. */
void inprocess_install(struct session *session, struct thread *thread);
/*
 * The same of a space that was attached to just now, in two parts, so that none of its threads
 * stands still for long: inprocess_look_ahead(), called when they run again, does the longer one
 * without a stop, and has one stopped for the rest.
 */
void inprocess_install_soon(struct session *session, struct space *space);
void inprocess_look_ahead(struct session *session);
/* Whether what could not be done then may be done now, at `now` of inferior_clock(). */
bool inprocess_is_due(const struct session *session, const struct space *space, uint64_t now);
/*
 * Fetches the records that processes have made by themselves, and sees to it that this is done
 * again soon. `is_stopped`: all of them, as a stop is to be served next.
 */
void inprocess_poll(struct session *session, bool is_stopped);
/* engine_events.delayed */
void inprocess_delayed(void *context, struct thread *thread, uint64_t sp, uint64_t time,
		       uint64_t more);
/* engine_events.show_caller */
uint64_t inprocess_show_caller(void *context, struct thread *thread, uint64_t place, uint64_t word);
unsigned inprocess_fetch(struct session *session);
/* At the stop of a thread that has run into what it cannot read for us: lets it go on, true. */
bool inprocess_fault(struct session *session, const struct stop *stop);
/*
 * The same of a SIGTRAP that the trap engine knows nothing of, if the agent's jump has made it of a
 * single step of the program's.
 */
bool inprocess_stepped(struct session *session, const struct stop *stop);
/* Records what has been counted. To be called before its memory or its probes go. */
void inprocess_collect(struct session *session, struct space *space);
/* Lets go of what is counted in a space, whose threads are all stopped; before trap_leave(). */
void inprocess_leave(struct session *session, struct space *space);

/* later.c: what is left for later stops of a process */

void later_init(struct modules *modules);
void later_deinit(struct modules *modules);
/* Of a child that is a copy: what waits in its parent does in it, too. */
void later_clone(struct session *session, struct modules *modules, const struct modules *from);
/* The module goes. */
void later_forget(struct modules *modules, const struct module *module);
/*
 * From here on what is found in modules waits for later_start(), where that can be. A process has
 * been attached to.
 */
void later_begin(const struct session *session, struct modules *modules);
/* Takes what `found` (struct match) has, which is empty then; false: that does not wait. */
bool later_take(struct modules *modules, struct module *module, struct vec *found);
/* Plants what waits; if it is much, only a part, and the rest at later stops. */
void later_start(struct session *session, struct thread *thread);
/* Nothing more is to be done at stops for a moment, so that threads get on; whether that is so. */
void later_rest(struct modules *modules);
bool later_rests(const struct modules *modules);
/*
 * Sees to it that some thread of the process stops: its tid, or 0 when none runs, or none may be.
 */
pid_t later_stop(const struct session *session, struct process *process);
/* The same of all processes in which something waits. True: is to be called again at once. */
bool later_ask(struct session *session);
/* Does what can be done at this stop. True: the thread runs again. */
bool later_serve(struct session *session, const struct stop *stop);

/* filters.c */

/*
 * What the options ask for, to be freed by filters_free() in any case. 0, or -errno after a message
 * (then session->result->bad_filter is set).
 */
int filters_parse(struct session *session, struct match_filters *filters);
void filters_free(struct match_filters *filters);
/* Makes session->filters of them, and looks up what they say of system calls. 0 or -errno. */
int filters_set_up(struct session *session);
/*
 * Lists rules that matched nothing, unless all processes were gone before they could be looked at.
 */
void filters_list_unmatched(struct session *session);

/* prepare.c: what is done for a process before it is attached to */

void prepare_init(struct session *session);
void prepare_deinit(struct session *session);
/*
 * Reads what it has mapped, and what that needs to be read besides, into the session's caches. It
 * is not stopped; where something cannot be had nothing is said, as that is found again when it is
 * attached to. Before anything is attached to.
 */
void prepare_process(struct session *session, pid_t pid);
/* What was read for a process is in use by now, or not needed. */
void prepare_done(struct session *session, pid_t pid);
/*
 * The file that was found to be mapped in that process with its ELF header at that mapping; NULL
 * when there is none. Nobody's reference: elf_ref() it.
 */
struct elf_file *prepare_file(const struct session *session, pid_t pid,
			      const struct mapping *header);
/* What callers_find() has found in a file, until prepare_done(); NULL: it was not asked. */
const struct vec *prepare_callers(const struct session *session, const struct elf_file *file);

/* callers.c: functions that make something of their return address */

/* Whether one of that name does. */
bool callers_are_asked_for(const char *name);
/* But that is seen to where it is called. */
bool callers_are_put_right(const struct session *session, const char *name);
/* Whether the one at `address` of the file's own address space reads it. */
bool callers_are_read(const struct arch *arch, struct elf_file *file, uint64_t address);
/*
 * The same of the function that calls by that name lead to, most likely: the first module that
 * defines it has it.
 */
bool callers_are_read_by(const struct space *space, const char *name);
/*
 * Where functions of a file are that have such a name, and what leads to such in others: addresses
 * of its own address space are added to `found` (uint64_t).
 */
void callers_find(const struct session *session, struct elf_file *file, struct vec *found);
/* Tells the agent of those of a module. */
void callers_note(const struct session *session, struct space *space, const struct module *module);

/* syscalls.c: system calls */

/* Looks up what the filters' rules that are about them ask for. */
void system_calls_set_up(struct session *session);
/*
 * From here on threads stop at them, if they are asked for; when the engine and the inferior are
 * there, before any tracee.
 */
void system_calls_start(struct session *session);
/* To be called at each stop, before anything else is made of it. */
void system_calls_stop(struct session *session, const struct stop *stop);
/* engine_events.system_call_answered; the context is the session. */
void system_calls_answered(void *context, struct thread *thread, const struct regs *regs,
			   uint64_t result);
/* thread_visit: those of its process are not traced any more. */
void system_calls_let_pass(struct thread *thread, void *context);
void system_calls_deinit(struct session *session);

/* debuggers.c: programs that use ptrace(2) */

void debuggers_init(struct session *session);
/* To be called at each stop but breakpoints'. True: the thread was let go. */
bool debuggers_stop(struct session *session, struct thread *thread);

#endif
