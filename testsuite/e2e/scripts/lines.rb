# SPDX-License-Identifier: GPL-2.0-or-later
# Each call of open(2) has the number of its own line in its name: see script_lines.test.
$stdout.sync = true
def one
  File.open("/nonexistent/#{__LINE__}") rescue nil
end
class C
  def two(n)
    begin
      File.open("/nonexistent/#{__LINE__}")
    rescue SystemCallError
      two(n - 1) if n > 0
    end
  end
end
puts "ready"
$stdin.gets
one
C.new.two(2)
[1, 2].each do |v|
  File.open("/nonexistent/#{__LINE__}") rescue nil
end
f = Fiber.new do
  File.open("/nonexistent/#{__LINE__}") rescue nil
  Fiber.yield
  File.open("/nonexistent/#{__LINE__}") rescue nil
end
f.resume
f.resume
Thread.new { File.open("/nonexistent/#{__LINE__}") rescue nil }.join
e = Enumerator.new do |y|
  File.open("/nonexistent/#{__LINE__}") rescue nil
  y << 1
end
e.next
[3, 1].sort_by { |v| File.open("/nonexistent/#{__LINE__}") rescue nil; v }
puts "done"
$stdin.gets
