// SPDX-License-Identifier: GPL-2.0-or-later
/* A server with Perl inside, which waits for the first line of its input and then has Perl wait. */
#include <EXTERN.h>
#include <perl.h>

int main(int argc, char **argv, char **env)
{
	char name[] = "server", option[] = "-e",
	     script[] = "sub doze { select undef, undef, undef, 600 }";
	char *arguments[] = {name, option, script, NULL};
	PerlInterpreter *my_perl;

	PERL_SYS_INIT3(&argc, &argv, &env);
	my_perl = perl_alloc();
	perl_construct(my_perl);
	if (perl_parse(my_perl, NULL, 3, arguments, NULL) != 0 || perl_run(my_perl) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	getchar();
	eval_pv("doze();", FALSE);
	return 0;
}
