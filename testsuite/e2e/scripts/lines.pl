# SPDX-License-Identifier: GPL-2.0-or-later
# Each call of open(2) has the number of its own line in its name: see script_lines.test.
$| = 1;
use strict;
sub one {
    open(my $h, "<", "/nonexistent/" . __LINE__);
}
sub two {
    my $n = shift;
    if ($n) {
        open(my $h, "<", "/nonexistent/" . __LINE__);
        two($n - 1);
    }
}
print "ready\n";
readline(STDIN);
one();
two(3);
map { open(my $h, "<", "/nonexistent/" . __LINE__) } 1, 2;
my @s = sort {
    open(my $h, "<", "/nonexistent/" . __LINE__);
    $a <=> $b
} 3, 1;
eval {
    open(my $h, "<", "/nonexistent/" . __LINE__);
    die "x";
};
my $c = sub {
    open(my $h, "<", "/nonexistent/" . __LINE__);
};
$c->();
print "done\n";
readline(STDIN);
