# SPDX-License-Identifier: GPL-2.0-or-later
# Each call of open(2) has its own file and line in its name, hundreds of them: see script_lines.test.
$stdout.sync = true
def recursive(depth)
  begin
    File.open("/nonexistent/many.rb:#{__LINE__}")
  rescue SystemCallError
    recursive(depth - 1) if depth > 0
  ensure
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
  end
end
class Thing
  include Comparable
  def <=>(other)
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
    0
  end
  def method_missing(name, *arguments)
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
  end
  def respond_to_missing?(*); true; end
end
def evaluated(number)
  eval("def made; File.open('/nonexistent/made.rb:#{number + 7}') rescue nil; end; made",
       TOPLEVEL_BINDING, "/tmp/made.rb", number + 7)
end
def one_round(number)
  recursive(2)
  [Thing.new, Thing.new].max
  Thing.new.anything
  fiber = Fiber.new do
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
    Fiber.yield
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
  end
  fiber.resume
  fiber.resume
  e = Enumerator.new do |y|
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
    y << 1
  end
  e.next
  [1, 2].each_with_index.map { |v, i| File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil }
  catch(:done) do
    File.open("/nonexistent/many.rb:#{__LINE__}") rescue nil
    throw :done
  end
  evaluated(number)
end
puts "ready"
$stdin.gets
15.times { |number| one_round(number) }
4.times.map { Thread.new { 5.times { |number| one_round(number) } } }.each(&:join)
puts "done"
$stdin.gets
