# SPDX-License-Identifier: GPL-2.0-or-later
# Each call of open(2) has its own file and line in its name, hundreds of them: see script_lines.test.
$| = 1;
use strict;
sub recursive {
    my $depth = shift;
    open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    if ($depth) {
        recursive($depth - 1);
    } else {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    }
    unless ($depth) {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    }
}
package Thing {
    sub new { return bless {} }
    sub DESTROY {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    }
    our $AUTOLOAD;
    sub AUTOLOAD {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    }
    sub TIESCALAR { return bless {} }
    sub FETCH {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
        return 1;
    }
}
sub evaluated {
    my $number = shift;
    my $line = $number + 30;
    eval "#line $line \"/tmp/made.pl\"\nopen(my \$h, '<', '/nonexistent/made.pl:$line');\n";
}
sub one_round {
    my $number = shift;
    recursive(2);
    my $thing = Thing->new;
    $thing->anything;
    undef $thing;
    tie my $tied, "Thing";
    my $value = "$tied";
    untie $tied;
    my @found = grep { open(my $h, "<", "/nonexistent/many.pl:" . __LINE__); 1 } 1, 2;
    for my $v (1, 2) {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    }
    eval {
        eval { die "x" };
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
        die "y";
    };
    local $SIG{__WARN__} = sub {
        open(my $h, "<", "/nonexistent/many.pl:" . __LINE__);
    };
    warn "w";
    "ab" =~ /a(?{ open(my $h, "<", "\/nonexistent\/many.pl:" . __LINE__) })b/;
    evaluated($number);
}
print "ready\n";
readline(STDIN);
one_round($_) for 0 .. 19;
print "done\n";
readline(STDIN);
