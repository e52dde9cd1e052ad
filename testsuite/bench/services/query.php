<?php
// One query a request, of a MariaDB at the socket that the server's configuration names.
$connection = new mysqli('p:localhost', 'root', '', '', 0, $_SERVER['DATABASE']);
$row = $connection->query('SELECT 42')->fetch_row();
echo "answer $row[0]\n";
