/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are chosen when the library is loaded, by resolvers that say what they return, or do not. */
struct chosen {
	int number;
	const char *name;
};

static int told(const char *text, struct chosen *chosen)
{
	return text[0] + chosen->number;
}

static int by_typedef(const char *text, struct chosen *chosen)
{
	return chosen->number + text[0];
}

static int untold(const char *text, struct chosen *chosen)
{
	return text[0] - -chosen->number;
}

typedef int function(const char *text, struct chosen *chosen);

static int (*resolve(void))(const char *, struct chosen *)
{
	return told;
}

static function *const resolve_by_typedef(void)
{
	return by_typedef;
}

static void *resolve_untold(void)
{
	return (void *)untold;
}

int chosen_told(const char *text, struct chosen *chosen) __attribute__((ifunc("resolve")));
function chosen_by_typedef __attribute__((ifunc("resolve_by_typedef")));
function chosen_untold __attribute__((ifunc("resolve_untold")));
