/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions by their stubs, and by addresses that it has loaded from the GOT: linked as position-independent by ld.bfd
 * both go by the same slot.
 */
char *getenv(const char *name);
char *secure_getenv(const char *name);

__attribute__((noipa)) static char *by_choice(int first, const char *name)
{
	return (first ? getenv : secure_getenv)(name);
}

__attribute__((noipa)) static int in_turns(const char *name)
{
	char *(*function)(const char *) = getenv;
	int found = 0;

	for (int i = 0; i < 4; i++) {
		found += function(name) ? 1 : 0;
		function = function == getenv ? secure_getenv : getenv;
	}
	return found;
}

int main(void)
{
	int found = getenv("A") ? 1 : 0;

	found += secure_getenv("B") ? 1 : 0;
	found += by_choice(1, "C") ? 1 : 0;
	found += by_choice(0, "D") ? 1 : 0;
	found += in_turns("E");
	return found > 8;
}
