/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types that debug information tells of. */
#ifndef DEBUG_H
#define DEBUG_H

#include <stdio.h>

enum color { RED, GREEN = 5, BLUE };
enum flags { FIRST = 1, SECOND = 2, THIRD = 4 };
enum level { LOW = -1, HIGH = 1 };

struct pt {
	int x;
	double y;
	const char *name;
};

struct pair {
	int a, b;
};

struct list {
	int value;
	struct list *next;
};

struct mixed {
	char tag[8];
	short numbers[3];
	struct pair inner;
	unsigned low : 3, high : 5;
	enum color color;
	void (*call)(int);
};

struct __attribute__((packed)) tight {
	char first;
	int second;
};

union either {
	int number;
	float fraction;
};

struct hidden;
typedef const struct pt *point;

int use_pt(struct pt *, int);
double d_numbers(signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
		 long long, unsigned long long, float, double, long double);
char d_char(char, _Bool);
enum color d_next(enum color, enum flags, enum level);
const char *d_text(const char *, char *, const unsigned char *, void *);
point d_point(point, const int *, int *);
struct pair d_pair(struct pair);
int d_list(struct list *);
int d_mixed(const struct mixed *);
int d_tight(struct tight *);
int d_union(union either *, struct hidden *);
int d_by_union(union either);
int d_stream(FILE *, int (*)(void));
int d_format(int, const char *format, ...);
int d_many(int count, ...);
void d_nothing(void);
float d_quarter(float, long, int);

#endif
