# One query a request, with a time limit by SIGALRM, of a MariaDB at the socket in $DATABASE.
use strict;
use warnings;
use DBI;

my $connection;

sub {
	$connection ||= DBI->connect("DBI:mysql:mysql_socket=$ENV{DATABASE}", 'root', '', { RaiseError => 1 });
	my ($answer) = eval {
		local $SIG{ALRM} = sub { die "late\n" };
		alarm 5;
		my @row = $connection->selectrow_array('SELECT 42');
		alarm 0;
		@row;
	};
	eval { die "no harm\n" };
	return [200, ['Content-Type' => 'text/plain'], ["answer $answer\n"]];
};
