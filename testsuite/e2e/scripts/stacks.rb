# SPDX-License-Identifier: GPL-2.0-or-later
# Stops in many kinds of Ruby frames, and says what Ruby thinks of the stack: see stacks.py.

$lock = Mutex.new

def tid
  File.readlink("/proc/thread-self").split("/").last
end

# A function of C has the line of its caller in Ruby's list: those are left out by their names, which
# no function of this file has.
OF_C = %w[each map sort_by sort times loop tap call instance_eval class_eval define_method send public_send
          catch new initialize require load eval each_with_index inject resume then
          instance_exec synchronize each_pair yield_self gsub collect join backtrace caller_locations
          require_relative].freeze

def own_stack(frames)
  text = "thread #{tid}\n"
  frames.each do |frame|
    label = frame.label
    next if OF_C.include?(label.sub(/.*[#.]/, "")) && !label.include?("block") && !frame.path.to_s.start_with?("<internal:")

    text << "#{frame.lineno}\t#{frame.path}\t#{label}\n"
  end
  text
end

def write(text)
  $lock.synchronize { STDOUT.syswrite(text) }
end

def stop(name)
  write(own_stack(caller_locations(0)) + "ready #{name}\n"); STDIN.sysread(1)
end

def recursive(depth)
  return recursive(depth - 1) if depth > 0

  stop("recursive")
end

module Mixin
  def mixed
    yield 1
  end
end

class Thing
  include Mixin

  def self.of_class
    new_thing.a_method
  end

  def self.new_thing
    allocate
  end

  def a_method
    mixed do |x|
      stop("block")
      [3, 1, 2].sort_by { |y| y == 1 ? (stop("sort_by"); y) : y }
    end
    singleton = self
    def singleton.only_here
      stop("singleton")
    end
    singleton.only_here
  end

  define_method(:defined_by_block) do |x|
    stop("define_method")
  end

  def method_missing(name, *arguments)
    stop("missing #{name}")
  end

  def respond_to_missing?(*)
    true
  end

  def <=>(other)
    stop("spaceship")
    0
  end

  def to_s
    stop("to_s")
    "thing"
  end
end

def closures
  captured = 1
  inner = lambda { |x|
    captured += x
    stop("lambda")
  }
  inner.call(1)
  proc { stop("proc") }.call
  inner.(2)
  method(:by_name).to_proc.call(3)
end

def by_name(x)
  stop(
    "by name"
  )
end

def exceptions
  begin
    begin
      raise ArgumentError
    rescue ArgumentError
      stop("rescue")
      raise KeyError
    ensure
      stop("ensure")
    end
  rescue KeyError
    stop("outer rescue")
  end
  catch(:done) do
    stop("catch")
    throw :done
  end
end

def callbacks
  [1].each { |x| [2].map { |y| stop("each map") } }
  [Thing.new, Thing.new].sort
  1.times { stop("times") }
  { a: 1 }.each_pair { |k, v| stop("each_pair") }
  Thing.new.defined_by_block(1)
  Thing.new.no_such_method(1)
  "a".gsub("a") { stop("gsub"); "b" }
  "#{Thing.new}"
  Thing.new.instance_eval { stop("instance_eval") }
  Thing.class_eval { stop("class_eval") }
  eval("\n\nstop('eval')", binding, "/tmp/evaluated é.rb", 10)
  [1, 2].inject { |a, b| stop("inject"); a }
  Thing.new.public_send(:a_method)
end

def fibers
  fiber = Fiber.new do |x|
    recursive(3)
    Fiber.yield 1
    stop("fiber")
  end
  fiber.resume(1)
  fiber.resume(2)
  numbers = Enumerator.new do |y|
    stop("enumerator")
    y << 1
  end
  numbers.next
end

$ready = IO.pipe
$go_on = IO.pipe

def work(depth)
  return work(depth - 1) if depth > 0

  [1].each do
    write(own_stack(caller_locations(0))); $ready[1].syswrite("r"); $go_on[0].sysread(1)
  end
end

def threads
  workers = Array.new(4) { Thread.new { work(3) } }
  workers.each { $ready[0].sysread(1) }
  stop("threads")
  workers.each { $go_on[1].syswrite("g") }
  workers.map(&:join)
end

# A method of 170 lines and some 700 instructions: Ruby keeps the lines of such a one in blocks.
eval("def long_method(x)\n" + "x += 1; " * 9 + "\n" + "x += 1\n" * 9 + "stop('after 60 instructions')\n" + "x += 1\n" * 160 +
     "stop('after 700 instructions')\nend", TOPLEVEL_BINDING, __FILE__, 1000)

# Code that is freed, and other code that is made at its place.
def replaced
  140.times do |i|
    eval("#{"\n" * (i % 7)}def f#{i % 3}\n#{"1\n" * (i % 2)}stop('replaced')\nend\nf#{i % 3}", binding, "/tmp/file#{i % 5}.rb", 1 + i % 4)
    GC.start if i % 3 == 0
  end
end

recursive(0); recursive(30)
replaced
Thing.of_class
closures
exceptions
callbacks
fibers
threads
long_method(1)
class Body
  stop("class body")
end
BEGIN { nil }
stop("main")
