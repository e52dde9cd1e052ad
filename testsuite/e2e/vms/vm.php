<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Queries a MariaDB on the socket named by the first argument, with the driver named by the second one,
// as lines of stdin say; with a third argument the driver is loaded from the beginning.

function load($driver)
{
	static $modules = ["mysqli" => ["mysqlnd", "mysqli"], "pdo" => ["mysqlnd", "pdo", "pdo_mysql"]];

	foreach ($modules[$driver] as $module)
		if (!extension_loaded($module) && !dl("$module.so"))
			exit(3);
}

function query($sql)
{
	global $argv;

	load($argv[2]);
	if ($argv[2] == "pdo") {
		$db = new PDO("mysql:unix_socket=$argv[1]", "root", "");
		return $db->query($sql)->fetchColumn();
	}
	$db = new mysqli("localhost", "root", "", "", 0, $argv[1]);
	return $db->query($sql)->fetch_row()[0];
}

if ($argc > 3)
	query("SELECT 1");
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
	[$verb, $sql] = explode(" ", rtrim($line, "\n"), 2);
	if ($verb == "query") {
		echo "result ", query($sql), "\n";
	} elseif ($verb == "fork") {
		$pid = pcntl_fork();
		if ($pid == 0) {
			query($sql);
			exit(6);
		}
		pcntl_waitpid($pid, $status);
		echo "child ", pcntl_wexitstatus($status), "\n";
	}
	echo "done\n";
}
