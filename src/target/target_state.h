/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is traced, and how: state that the files of src/target share. */
#ifndef TRACER_TARGET_TARGET_STATE_H
#define TRACER_TARGET_TARGET_STATE_H

#include "base/map.h"
#include "engine/agent/agent.h"
#include "engine/syscall/syscall.h"
#include "engine/trap/trap.h"
#include "object/elf.h"
#include "object/linkmap.h"
#include "probe/match.h"
#include "proto/plan.h"
#include "proto/search.h"
#include "sink/spans.h"
#include "target/accessors.h"
#include "target/debuginfo/debuginfo.h"
#include "target/deferred_work.h"
#include "target/session_options.h"
#include "target/untraced.h"
#include "target/waiting_matches.h"

/* How often the rings of processes are drained: agent_policy.c. */
struct ring_polling {
	unsigned period_us; /* 0: there are no rings */
	uint64_t last;	    /* time of the last drain, as clock_now() */
};

/* What the session is told by the files that know what is traced. `context` is the session. */
struct target_events {
	void (*record)(void *context, const struct record *record);
	/* All known functions are planted in a process. */
	void (*planted)(void *context, struct process *process);
	/* A probe is about to be freed. */
	void (*forgotten)(void *context, const struct probe_info *info);
	void *context;
};

/* What is traced, in all processes, and by what. Owned by the session. */
struct target {
	struct target_events notify;
	const struct session_options *options;
	struct tracees *tracees;
	struct guardian *guardian;
	struct call_tracker *tracker;
	struct trap *trap;
	struct agent *agent; /* NULL: all calls are caught by breakpoints */
	struct engine_events events;
	struct elf_cache *files;
	struct proto_search *prototypes;
	struct debuginfo *debuginfo; /* NULL: debug information is not used */
	struct match_filters filters;
	bool calls_named;	   /* -e or -l was given: a line begins with the caller */
	struct syscalls *syscalls; /* NULL: system calls are not traced */
	struct map system_sites;   /* sites of system calls: syscalls.c */
	struct probe_table *probes;
	struct map sites;	 /* probe id → struct planted: sites.c */
	struct vec prefetched;	 /* struct prefetched: prefetched.h */
	size_t sweep_at;	 /* number of sites and hooks at which sweep_sites() frees some */
	struct hook sigaction;	 /* libc's functions that set signal dispositions */
	struct hook sigmask;	 /* libc's functions that set signal masks: sigmask_hooks.c */
	struct hook mask_blocks; /* libc's system calls that may block signals */
	struct hook mask_opens;	 /* libc's system calls that unblock signals */
	struct hook action_call; /* libc's system calls that set dispositions */
	struct hook long_jump;	 /* longjmp() of other C libraries than glibc */
	struct hook long_jump_glibc; /* longjmp() of glibc */
	struct hook stack_growth;    /* Go's runtime.morestack */
	struct hook go_sigaction;    /* Go's runtime.rt_sigaction */
	struct hook linker;	     /* the function at r_brk */
	uint64_t planted;	     /* number of breakpoints of probes ever planted */
	struct hook unwinder;	     /* entries of unwinders: unwinders.c */
	struct hook landing;	     /* _Unwind_SetIP(), called with the landing pad */
	struct hook backtrace;	     /* _Unwind_Backtrace(): walks, leaves no frame */
	struct hook asking;	     /* dlopen(), dlsym(): they look up their caller */
	struct hook ptrace;	     /* ptrace(): debuggers.c */
	struct vec ifuncs;	     /* struct ifunc_hook * */
	struct accessors accessors;
	struct vec pointers;		 /* struct pointer_hook *: indirect_calls.c */
	struct call_stacks *call_stacks; /* NULL: no stacks are shown */
	struct untraced *untraced;	 /* what cannot be traced */
	struct active_spans spans;	 /* spans that -x names: span_filters.c */
	struct vec entry_filters;	 /* const char *: -x, with functions instead of spans */
	struct vec optional_filters;	 /* those of them that a recipe names */
	struct deferred_work work;
	struct ring_polling polling;
	uint64_t unloaded; /* counts modules and spaces that have gone */
	bool leaving;	   /* the session detaches: nothing is planted any more */
	bool looked;	   /* a program was read whole, so rules may be listed as unmatched */
	bool bad_filter;   /* a filter could not be parsed */
};

/* An object loaded in a space. Forked spaces share it, so it stays as it is once planted. */
struct module {
	unsigned references;
	struct elf_file *file;
	uint64_t bias;
	uint64_t low, high; /* range of addresses that its segments span */
	uint64_t dynamic;   /* address of its dynamic section, 0: none */
	dev_t device;	    /* of the mapped file; not set for the program */
	ino_t inode;
	char *path;
	const char *base_name; /* points into path */
	char *mapped, *listed; /* the path of its mapping, and its l_name; each may be NULL */
	bool is_main;
	bool is_static;	  /* the program, linked statically: it contains its libraries */
	bool is_machine;  /* a virtual machine, whose functions generated code calls: runtimes.c */
	bool is_profiled; /* compiled with -pg: its functions may call mcount() */
	bool ran_before;  /* it was loaded before its process was attached to */
	const struct protolib *prototypes; /* its .conf file, or NULL */
	struct debug_source *debug;	   /* its debug information; NULL: not used */
	struct vec shared_names;	   /* char *, sorted: shown_names.c */
	struct map reaches;		   /* address in the file → struct tail_reach */
};

/* A data word that will hold, or leads to, the address of a function: table_functions.c. */
struct pending_word {
	uint64_t address;
	bool is_getter; /* its function returns the address of a table */
	uint64_t table_offset;
	uint64_t watched; /* the first word on the way that is not filled in yet; 0: not known */
	char *name;
	struct filter_rule *rule; /* the rule that asked for the function */
};

/* What is to be traced at an address. */
struct probe_request {
	enum probe_kind kind;
	const char *name;
	const struct module *module; /* the module that calls or defines it; NULL: not known */
	bool one_of_many;	     /* a pattern matched it; the user did not name it */
};

/* What is loaded in one space. */
struct modules {
	struct vec list;	 /* struct module *, in order of loading */
	struct linkmap *linkmap; /* NULL: statically linked */
	uint64_t r_debug;
	struct vec slots; /* struct pending_word */
	struct waiting_list waiting;
	struct vec undefined;		   /* struct undefined_call: unresolved_calls.c */
	struct vec gates;		   /* struct gate_place: hook_gates.c */
	struct native_stacks *native;	   /* NULL: no stack was walked so far */
	struct map known_stacks;	   /* key → number in the stack table: known_stacks.c */
	struct frame_functions *functions; /* of frames with arguments; NULL: none was asked for */
	struct vec machines;		   /* struct script_machine *: script_stacks.c */
	struct vec unready; /* struct module *: machines that are not set up so far */
	unsigned unready_looks;
	size_t looked_at; /* how many of `list` were looked at for a machine */
	struct space_work work;
	bool finds_running;  /* just attached: running_calls.c has not looked yet */
	bool masks_hooked;   /* sigmask_hooks_matters() has planted the mask hooks */
	bool tables_watched; /* _dl_find_object() is hooked: unwinders.c */
	bool is_hooked;	     /* unwinders are hooked, as calls are caught inside: unwinders.c */
	uint8_t shadowed; /* whether threads have shadow stacks, 0: not known: indirect_calls.c */
	uint64_t checked; /* time of the last modules_check(), as clock_now() */
	pid_t suspended_for; /* breakpoints are out until this thread stops; 0: they are in */
};

/* Returns true if a script line belongs to each call. */
bool target_takes_place(const struct output_options *output);
/* Returns how many frames belong to each call; 0: none. */
unsigned target_stack_depth(const struct output_options *output);
/* Return true if values are captured, and if a record of each call is needed. */
bool target_shows_values(const struct target *target);
bool target_needs_each_call(const struct target *target);

#endif
