/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which scripts are the application's. The user wants to know which line of the program at hand
 * made a call; that it went through a database driver on the way is known. Only the path tells.
 */
#include "unwind/script/application.h"

#include <string.h>

/* A part of a path that an application's file does not have. */
struct place {
	const char *language;
	const char *part;
	bool is_beginning; /* the path begins with it */
};

static const struct place places[] = {
	{"Python", "/site-packages/", false},
	{"Python", "/dist-packages/", false},
	{"Python", "/lib/python3.", false}, /* the standard library */
	{"Python", "/lib64/python3.", false},
	{"Python", "/lib/python3/", false}, /* Debian's packages */
	{"Python", "<frozen ", true},	    /* parts of the interpreter */
	{"Ruby", "/gems/", false},
	{"Ruby", "/lib/ruby/", false}, /* the standard library, vendor_ruby, site_ruby */
	{"Ruby", "/rubygems/", false},
	{"Ruby", "/rubygems-integration/", false},
	{"Ruby", "<internal:", true}, /* parts of the interpreter */
	{"PHP", "/vendor/", false},   /* Composer */
	{"PHP", "/usr/share/php/", true},
	{"PHP", "/pear/", false},
	{"PHP", "/PEAR/", false},
	{"Perl", "/site_perl/", false},
	{"Perl", "/vendor_perl/", false},
	{"Perl", "/perl5/", false}, /* Debian's packages, and local::lib */
	{"Perl", "/usr/share/perl/", true},
	{"Perl", "/usr/lib/", true}, /* …/TRIPLET/perl, perl-base, perl5 */
	{"Perl", "/lib/perl5", false},
	{"Perl", "/local/share/perl/", false},
	{"Perl", "/local/lib/", false},
};

bool script_is_application(const char *language, const char *file)
{
	if (!file)
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const struct place *place = &places[i];

		if (strcmp(place->language, language) != 0)
			continue;
		if (place->is_beginning ? !strncmp(file, place->part, strlen(place->part))
					: strstr(file, place->part) != NULL)
			return false;
	}
	return true;
}
