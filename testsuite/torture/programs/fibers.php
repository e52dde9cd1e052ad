<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Fibers that give way to each other between and inside traced calls.
$flow = FFI::cdef('
long flow_add(long a, long b);
void flow_mark(int around);
long flow_keep(void (*callback)(void *), void *argument, long value);
', $argv[1]);
$rounds = (int)$argv[2];
$counted = ['flow_add' => 0, 'flow_mark' => 0, 'flow_keep' => 0];
$sum = 0;

function add(int $a, int $b): void
{
    global $flow, $counted, $sum;
    $counted['flow_add']++;
    $sum = ($sum * 33 ^ $flow->flow_add($a, $b)) & 0xffffffff;
}

function mark(int $around): void
{
    global $flow, $counted;
    $counted['flow_mark']++;
    $flow->flow_mark($around);
}

function keep(callable $callback, int $value): void
{
    global $flow, $counted, $sum;
    $counted['flow_keep']++;
    $sum = ($sum * 33 ^ $flow->flow_keep(fn($unused) => $callback(), null, $value)) & 0xffffffff;
}

function body(int $number): void
{
    global $rounds;
    for ($i = 0; $i < $rounds; $i++) {
        mark(0);
        keep(function () use ($number, $i) {
            mark(1);
            Fiber::suspend();
            keep(function () use ($i) {
                mark(2);
                if ($i % 2)
                    Fiber::suspend();
            }, $number);
            mark(1);
            add($number, $i);
        }, 1000 * $number + $i);
        mark(0);
        try {
            mark(0);
            Fiber::suspend();
            throw new Exception('caught');
        } catch (Exception $error) {
            add($i, strlen($error->getMessage()));
        }
    }
}

echo "ready\n";
fgets(STDIN);
$fibers = [];
for ($number = 0; $number < 8; $number++) {
    $fibers[] = $fiber = new Fiber('body');
    $fiber->start($number);
    mark(0);
}
do {
    $alive = 0;
    foreach ($fibers as $fiber) {
        if ($fiber->isTerminated())
            continue;
        $fiber->resume();
        mark(0);
        $alive++;
    }
} while ($alive);
foreach ($counted as $name => $number)
    echo "counted $name $number\n";
printf("checksum %x\n", $sum);
exit(13);
