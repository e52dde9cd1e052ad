/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINKED_H
#define LINKED_H

struct list {
	int x;
	struct list *next;
};

struct leaf {
	const char *name;
	struct tree *up;
};

struct tree {
	int id;
	struct tree *left, *right;
	struct leaf *leaf;
	void *data;
};

struct two;

struct one {
	struct two *two;
	int x;
};

struct two {
	struct one *one;
};

/* Called like words of the .conf language. */
struct file {
	int n;
	struct string *string;
};

struct string {
	const char *text;
	struct file *file;
};

struct inside {
	union {
		struct list *list;
		long number;
	} either;
	struct list *rows[2];
	struct list *_Own;
	struct undefined *undefined;
	struct list **indirect;
	struct {
		struct list *list;
	} within;
};

typedef struct {
	struct far *far;
} unnamed;

struct far {
	unnamed *back;
};

/* One behind the other. */
struct fifth {
	int x;
};

struct fourth {
	struct fifth *fifth;
};

struct third {
	struct fourth *fourth;
};

struct second {
	struct third *third;
};

struct first {
	struct second *second;
};

struct bush {
	int x;
	struct bush *branches[4];
	const char *name;
};

int k_list(struct list *);
int k_tree(const struct tree *, const char *name);
int k_loop(struct one *);
int k_words(struct file *);
int k_by_value(struct one, struct list *);
int k_inside(struct inside *);
int k_unnamed(unnamed *);
struct list *k_result(struct list *);
int k_chain(struct first *);
int k_bush(struct bush *, const char *behind);

#endif
