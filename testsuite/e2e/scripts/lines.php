<?php
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each call of open(2) has the number of its own line in its name: see script_lines.test. */
function one() {
    @fopen("/nonexistent/" . __LINE__, "r");
}
class C {
    function two($n) {
        @fopen("/nonexistent/" . __LINE__, "r");
        if ($n) $this->two($n - 1);
    }
}
echo "ready\n";
fgets(STDIN);
one();
(new C)->two(2);
array_map(function ($v) {
    @fopen("/nonexistent/" . __LINE__, "r");
}, [1, 2]);
function gen() {
    yield 1;
    @fopen("/nonexistent/" . __LINE__, "r");
    yield 2;
}
foreach (gen() as $v) {
    @fopen("/nonexistent/" . __LINE__, "r");
}
$f = new Fiber(function () {
    @fopen("/nonexistent/" . __LINE__, "r");
    Fiber::suspend();
    @fopen("/nonexistent/" . __LINE__, "r");
});
$f->start();
$f->resume();
try { throw new Exception; } catch (Exception $e) {
    @fopen("/nonexistent/" . __LINE__, "r");
}
echo "done\n";
fgets(STDIN);
