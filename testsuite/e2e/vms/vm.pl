# SPDX-License-Identifier: GPL-2.0-or-later
# Queries a MariaDB on the socket named by the first argument, as lines of stdin say; with a second
# argument the driver is loaded from the beginning.
use strict;
use threads;
use warnings;

$| = 1;

sub query {
	my ($sql) = @_;
	require DBI;
	my $db = DBI->connect("DBI:mysql:mysql_socket=$ARGV[0]", "root", "", {RaiseError => 1});
	my ($result) = $db->selectrow_array($sql);
	$db->disconnect;
	return $result;
}

query("SELECT 1") if @ARGV > 1;
print "ready\n";
while (my $line = readline(STDIN)) {
	chomp $line;
	my ($verb, $sql) = split / /, $line, 2;
	if ($verb eq "query") {
		print "result ", query($sql), "\n";
	} elsif ($verb eq "fork") {
		my $pid = fork();
		if ($pid == 0) {
			query($sql);
			require POSIX;
			POSIX::_exit(6);
		}
		waitpid($pid, 0);
		print "child ", $? >> 8, "\n";
	} elsif ($verb eq "threads") {
		my @threads = map {
			(my $mine = $sql) =~ s/%/$_/;
			threads->create(sub { query($mine) });
		} 0 .. 2;
		$_->join for @threads;
	}
	print "done\n";
}
