<?php
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each call of open(2) has its own file and line in its name, hundreds of them: see script_lines.test. */
function recursive($depth) {
    @fopen("/nonexistent/many.php:" . __LINE__, "r");
    if ($depth) {
        recursive($depth - 1);
    }
    try {
        throw new Exception;
    } catch (Exception $e) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    } finally {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    }
}
class Thing {
    function __get($name) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    }
    static function __callStatic($name, $arguments) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    }
    function __destruct() {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    }
}
function generator($n) {
    for ($i = 0; $i < $n; $i++) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
        yield $i;
    }
    yield from [1, 2];
}
function delegating() {
    yield from generator(2);
    @fopen("/nonexistent/many.php:" . __LINE__, "r");
}
function one_round($number) {
    recursive(2);
    $thing = new Thing;
    $thing->anything;
    Thing::anything();
    unset($thing);
    foreach (delegating() as $v) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    }
    $array = [3, 1, 2];
    usort($array, function ($a, $b) {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
        return $a <=> $b;
    });
    $fiber = new Fiber(function () {
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
        Fiber::suspend();
        @fopen("/nonexistent/many.php:" . __LINE__, "r");
    });
    $fiber->start();
    $fiber->resume();
    array_map(fn($v) => @fopen("/nonexistent/many.php:" . __LINE__, "r"), [1, 2]);
}
echo "ready\n";
fgets(STDIN);
for ($number = 0; $number < 20; $number++) {
    $array = [1];
    one_round($number);
}
echo "done\n";
fgets(STDIN);
