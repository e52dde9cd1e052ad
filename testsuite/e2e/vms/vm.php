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

function connect()
{
	global $argv;

	load($argv[2]);
	if ($argv[2] == "pdo")
		return new PDO("mysql:unix_socket=$argv[1]", "root", "");
	return new mysqli("localhost", "root", "", "", 0, $argv[1]);
}

function query($sql)
{
	$db = connect();
	return $db instanceof PDO ? $db->query($sql)->fetchColumn() : $db->query($sql)->fetch_row()[0];
}

// Prepared by the server, and executed twice; the one that is executed last is kept.
function prepared($sql)
{
	static $statement;
	$db = connect();

	if ($db instanceof PDO)
		$db->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
	$statement = $db->prepare($sql);
	foreach ([1, 2] as $time) {
		$statement->execute();
		$result = $db instanceof PDO ? $statement->fetchAll(PDO::FETCH_NUM)[0] : $statement->get_result()->fetch_row();
	}
	return $result[0];
}

// Prepared by the server, to be executed later.
function prepare($sql)
{
	global $kept;

	$db = connect();
	$db->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
	$kept = $db->prepare($sql);
	return "prepared";
}

function execute()
{
	global $kept;

	$kept->execute();
	return $kept->fetchAll(PDO::FETCH_NUM)[0][0];
}

// Sent, and the answer fetched later.
function async($sql)
{
	$db = connect();
	$db->query($sql, MYSQLI_ASYNC);
	return $db->reap_async_query()->fetch_row()[0];
}

if ($argc > 3)
	query("SELECT 1");
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
	[$verb, $sql] = explode(" ", rtrim($line, "\n"), 2);
	if (in_array($verb, ["query", "prepared", "prepare", "execute", "async"])) {
		echo "result ", $verb($sql), "\n";
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
