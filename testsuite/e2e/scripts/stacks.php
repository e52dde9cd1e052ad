<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Stops in many kinds of PHP frames, and says what PHP thinks of the stack: see stacks.py.

function own_stack(): string
{
    $text = "thread " . getmypid() . "\n";
    $frames = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
    foreach ($frames as $i => $frame) {
        // A frame has where it was called. Where C calls PHP, there is no such place.
        if (!isset($frame['file']))
            continue;
        // The function that has this place is the next one that is not of an extension.
        $function = "{main}";
        for ($j = $i + 1; $j < count($frames); $j++) {
            $caller = $frames[$j];
            if (is_internal($caller))
                continue;
            $function = (isset($caller['class']) ? $caller['class'] . "::" : "") . $caller['function'];
            break;
        }
        if (in_array($function, ["include", "require", "eval"]))
            $function = "{main}";
        // What is behind a NUL is PHP's own affair.
        $function = preg_replace('/\0.*?(?=::)/s', "", $function);
        $text .= "{$frame['line']}\t{$frame['file']}\t$function\n";
    }
    return $text;
}

function is_internal(array $frame): bool
{
    if (in_array($frame["function"], ["include", "require", "eval"]) || strpos($frame['function'], "{closure") !== false)
        return false;
    if (isset($frame['class']))
        return !method_exists($frame['class'], $frame['function'])
            ? false : (new ReflectionMethod($frame['class'], $frame['function']))->isInternal();
    return (new ReflectionFunction($frame['function']))->isInternal();
}

function stop(string $name)
{
    fwrite(STDOUT, own_stack() . "ready $name\n") . fflush(STDOUT) . fread(STDIN, 1);
}

function recursive(int $depth)
{
    if ($depth)
        return recursive($depth - 1);
    stop("recursive");
}

abstract class Base
{
    function method() { $this->inner(); }
    abstract function inner();
    static function of_class() { (new static())->method(); }
    function __call($name, $arguments) { stop("call $name"); }
    static function __callStatic($name, $arguments) { stop("callStatic"); }
    function __get($name) { stop("get"); return 1; }
    function __toString(): string { stop("toString"); return ""; }
    function __destruct() { stop("destruct"); }
    function __invoke($x) { stop("invoke"); }
}

class Thing extends Base
{
    function inner()
    {
        $closure = function () {
            stop("closure");
        };
        $closure();
        (fn() => stop("arrow"))();
    }
}

function generator()
{
    yield 1;
    stop("generator");
    yield 2;
}

function delegating()
{
    yield 0;
    yield from generator();
}

function delegating_twice()
{
    foreach ([1] as $x) {
        yield from
            delegating();
    }
    yield from [1, 2];
    stop("behind delegation");
}

function exceptions()
{
    try {
        try {
            throw new Exception("x");
        } catch (Exception $e) {
            stop("catch");
            throw new RuntimeException("y");
        } finally {
            stop("finally");
        }
    } catch (RuntimeException $e) {
    }
    try {
        with_destructor();
    } catch (Exception $e) {
    }
}

function with_destructor()
{
    $thing = new class extends Thing { };
    throw new Exception("x");
}

function callbacks()
{
    array_map(function ($x) { stop("array_map"); }, [1]);
    $sorted = [2, 1];
    usort($sorted, fn($a, $b) => stop("usort") ?? $a <=> $b);
    array_walk($sorted, 'by_name');
    call_user_func_array([new Thing(), 'unknown'], [1]);
    array_filter([1], new Thing());
    preg_replace_callback('/a/', function ($m) {
        stop("preg");
        return "b";
    }, "a");
    Thing::something();
    $thing = new Thing();
    "$thing" . $thing->nothing;
    eval("\n\nstop('eval');");
    (new ReflectionFunction('by_name'))->invoke(1, 2);
    iterator_to_array((function () { stop("iterator"); yield 1; })());
    spl_autoload_register(function ($class) { stop("autoload"); });
    class_exists('Nothing_Of_This_Name');
}

function by_name($value, $key)
{
    stop(
        "by name"
    );
}

function fibers()
{
    $fiber = new Fiber(function (int $x): void {
        in_fiber($x);
    });
    $fiber->start(1);
    $fiber->resume(2);
}

function in_fiber(int $x)
{
    stop("fiber started");
    Fiber::suspend();
    (new Thing())->method();
}

// Code that is freed, and other code that is made at its place.
function replaced()
{
    for ($i = 0; $i < 140; $i++) {
        $lines = str_repeat("\n", $i % 7);
        $more = str_repeat("1;\n", $i % 2);
        if ($i % 3)
            eval("$lines(function () {\n$more stop('replaced'); })();");
        else
            eval("$lines (new class { function m$i() {\n$more stop('replaced'); } })->m$i();");
    }
}

recursive(0);
replaced();
recursive(30);
Thing::of_class();
foreach (generator() as $x);
foreach (delegating() as $x);
foreach (delegating_twice() as $x);
exceptions();
callbacks();
if (class_exists('Fiber'))
    fibers();
include __DIR__ . "/included.php";
stop("main");
