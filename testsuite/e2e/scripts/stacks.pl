# SPDX-License-Identifier: GPL-2.0-or-later
# Stops in many kinds of Perl frames, and says what Perl thinks of the stack: see stacks.py.
package main;
use strict;
use warnings;
no warnings "void";
use Config;
use List::Util qw(first reduce);

my $here = __FILE__;

sub tid {
    my ($tid) = readlink("/proc/thread-self") =~ /(\d+)$/;
    return $tid;
}

# The frames below the function that asks. Blocks of eval are no frames of their own.
sub own_stack {
    my ($line) = @_;
    my $text = "thread " . tid() . "\n";
    my @frames;
    for (my $i = 1; my @frame = caller($i); $i++) {
        my ($package, $file, $line, $sub, $evaltext) = @frame[0 .. 3, 6];
        next if $sub eq "(eval)" && !defined $evaltext;
        push @frames, [$sub, $line, $file];
    }
    my ($file, $function) = ($here, undef);
    for my $frame (@frames) {
        $text .= "$line\t$file\t$frame->[0]\n";
        ($line, $file) = ($frame->[1], $frame->[2]);
    }
    return $text . "$line\t$file\t<main>\n";
}

sub stop {
    my ($name) = @_;
    # The line of the statement that reads, as warn() sees it.
    local $_; syswrite(STDOUT, own_stack(__LINE__) . "ready $name\n"); sysread(STDIN, my $byte, 1);
}

sub recursive {
    my ($depth) = @_;
    return recursive($depth - 1) if $depth;
    stop("recursive");
}

sub nulled {
    my ($x) = @_;
    if ($x) {
        stop("if");
    }
    if (!$x) {
        1;
    } else {
        stop("else");
    }
    unless (!$x) {
        stop("unless");
    }
    for my $y (1) {
        stop("for");
    }
    while ($x) {
        stop("while");
        last;
    }
    {
        stop("bare block");
    }
    if (!$x) {
        2;
    }
    elsif ($x == 1) {
        if ($x) {
            stop("elsif");
        }
    }
    $x
        and stop("and")
        and 1;
    my @list = (
        1,
        stop("list"),
        2
    );
    do {
        stop("do");
    };
    my $value = $x
        ? stop("ternary")
        : 0;
    foreach (1) { stop("one line") }
    stop("modifier") if $x;
    stop("modifier for") for 1;
}

package Thing;

sub new { my $class = shift; return bless {@_}, $class; }

sub method {
    my $self = shift;
    $self->inner(sub { main::stop("closure") });
}

sub inner {
    my ($self, $code) = @_;
    if ($self) {
        $code->(1);
    }
}

sub AUTOLOAD {
    our $AUTOLOAD;
    return if $AUTOLOAD =~ /DESTROY/;
    main::stop("autoload");
}

use overload '""' => sub { main::stop("overload"); "" }, '<=>' => sub { main::stop("<=>"); 0 }, 'bool' => sub { 1 };

package Dying;

sub new { return bless [], shift }

sub DESTROY {
    if (1) {
        main::stop("destroy");
    }
}

package main;

sub exceptions {
    eval {
        eval {
            die "x";
        };
        if ($@) {
            stop("caught");
        }
        die "y";
    };
    stop("after eval");
    local $SIG{__DIE__} = sub {
        stop("die handler");
    };
    eval {
        my $dying = Dying->new;
        die "z";
    };
    local $SIG{__WARN__} = sub { stop("warn handler") };
    if (1) {
        warn "w";
    }
}

sub by_comparison {
    stop("sort sub") if $a == 1;
    $a <=> $b;
}

sub callbacks {
    my @sorted = sort { if ($a == 1) { stop("sort") } $a <=> $b } 1, 2;
    @sorted = sort by_comparison 1, 2;
    my @mapped = map { stop("map"); $_ } 1;
    my @grepped = grep {
        stop("grep")
    } 1;
    first { stop("first"); 1 } 1;
    reduce { stop("reduce"); 1 } 1, 2;
    my $text = "a";
    $text =~ s/a/stop("replace")/e;
    Thing->new->anything;
    "" . Thing->new;
    eval "\n\nstop('eval text')";
    eval "#line 77 \"elsewhere.pl\"\nif (1) {\n stop('eval line')\n}";
    my $by_reference = \&recursive;
    &$by_reference(1);
    goto_sub();
    my $local = sub {
        local $_ = 1;
        stop("anonymous");
    };
    $local->();
    "x" =~ /x(?{ stop("regex") })/;
}

sub goto_sub { goto &after_goto }

sub after_goto {
    stop("goto");
}

sub threads_too {
    require threads;
    my @workers = map { threads->create(sub {
        my ($depth) = @_;
        worker($depth);
    }, 3) } 1 .. 3;
    sleep 1;
    stop("threads");
    $_->kill('KILL') for @workers;
    $_->join for @workers;
}

sub worker {
    my ($depth) = @_;
    local $SIG{KILL} = sub { threads->exit };
    if ($depth) {
        return worker($depth - 1);
    }
    syswrite(STDOUT, own_stack(__LINE__)); select(undef, undef, undef, 0.01) while 1;
}

# Code that is freed, and other code that is made at its place.
sub replaced {
    no warnings "redefine";
    for my $i (0 .. 139) {
        my ($lines, $more, $name) = ("\n" x ($i % 7), "1;\n" x ($i % 2), "f" . $i % 3);
        eval "${lines}sub $name { if (1) {\n$more stop('replaced'); }\n}\n$name();";
        eval "#line 3 \"/tmp/file" . $i % 5 . "\"\n$more stop('replaced text');";
    }
}

recursive(0);
replaced();
recursive(30);
nulled(1);
Thing->new(a => 1)->method;
exceptions();
callbacks();
do "./included.pl";
require "./required.pl";
threads_too() if $Config{usethreads};
if (1) {
    stop("main if");
}
stop("main");
