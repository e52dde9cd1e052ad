# SPDX-License-Identifier: GPL-2.0-or-later
# Queries a MariaDB on the socket named by the first argument, as lines of stdin say; with a second
# argument the driver is loaded from the beginning.
$stdout.sync = true

def connect
  require "mysql2"
  Mysql2::Client.new(socket: ARGV[0], username: "root")
end

def query(sql, connection = connect)
  connection.query(sql).first.values.first
end

query("SELECT 1") if ARGV.length > 1
puts "ready"
while (line = $stdin.gets)
  verb, sql = line.chomp.split(" ", 2)
  case verb
  when "query"
    puts "result #{query(sql)}"
  when "threads"
    connections = 3.times.map { connect }
    connections.each_with_index.map { |connection, number|
      Thread.new { query(sql.sub("%", number.to_s), connection) }
    }.each(&:join)
  when "fork"
    pid = fork do
      query(sql)
      exit!(6)
    end
    Process.wait(pid)
    puts "child #{$?.exitstatus}"
  end
  puts "done"
end
