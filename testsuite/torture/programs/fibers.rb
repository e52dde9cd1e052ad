# SPDX-License-Identifier: GPL-2.0-or-later
# Fibers that give way to each other inside traced calls; calls left by exceptions, throw and break;
# fibers that never end. Ruby leaves calls by longjmp.
require "fiddle"

Flow = Fiddle.dlopen(ARGV[0])
ROUNDS = ARGV[1].to_i
COUNTED = Hash.new(0)
UNWOUND = Hash.new(0)

def function(name, arguments, result)
  function = Fiddle::Function.new(Flow[name], arguments, result)
  lambda do |*values|
    COUNTED[name] += 1
    function.call(*values)
  end
end

ADD = function("flow_add", [Fiddle::TYPE_LONG, Fiddle::TYPE_LONG], Fiddle::TYPE_LONG)
MARK = function("flow_mark", [Fiddle::TYPE_INT], Fiddle::TYPE_VOID)
KEEP = function("flow_keep", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG], Fiddle::TYPE_LONG)
CALL = function("flow_call", [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)

class Callback < Fiddle::Closure
  def initialize(&block)
    super(Fiddle::TYPE_VOID, [Fiddle::TYPE_VOIDP])
    @block = block
  end

  def call(_)
    @block.call
  end
end

def call(&block)
  CALL.call(Callback.new(&block), nil)
end

def keep(value, &block)
  mix(KEEP.call(Callback.new(&block), nil, value))
end

$sum = 0

def mix(value)
  $sum = ($sum * 33 ^ value) & 0xffffffff
end

def left(number)
  UNWOUND["flow_call"] += number
end

def body(number)
  ROUNDS.times do |i|
    MARK.call(0)
    keep(number * 1000 + i % 1000) do
      MARK.call(1)
      Fiber.yield
      call do
        MARK.call(2)
        Fiber.yield if i.odd?
      end
      MARK.call(1)
      mix(ADD.call(number, i))
    end
    MARK.call(0)
  end
end

def exceptions(i)
  begin
    call { call { raise "out of two" } }
  rescue RuntimeError => error
    mix(error.message.size)
  end
  left(2)
  MARK.call(0)
  mix(catch(:done) { call { throw :done, i } })
  left(1)
  MARK.call(0)
  call do
    begin
      call { raise IndexError }
    rescue IndexError
      left(1)
      MARK.call(1)
    end
  end
  MARK.call(0)
end

def work
  fibers = Array.new(8) { |number| Fiber.new { body(number) } }
  until fibers.none?(&:alive?)
    fibers.each do |fiber|
      fiber.resume if fiber.alive?
      MARK.call(0)
    end
  end
  ROUNDS.times { |i| exceptions(i) }
  Fiber.new { ROUNDS.times { |i| exceptions(i) } }.resume
end

puts "ready"
$stdout.flush
$stdin.gets
work
COUNTED.each { |name, number| puts "counted #{name} #{number}", "unwound #{name} #{UNWOUND[name]}" }
puts format("checksum %x", $sum)
exit 12
