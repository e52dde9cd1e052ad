// SPDX-License-Identifier: GPL-2.0-or-later

// Calls functions that take and return what Go passes in each of its ways.
package main

import (
	"errors"
	"runtime"
)

type pair struct{ X, Y int }
type mixed struct {
	A int32
	B bool
	C string
}
type empty struct{}
type number int
type adder interface{ Add(int) int }

//go:noinline
func ints(a int8, b uint16, c int32, d int64, e bool, f uintptr, n number) int {
	return int(a) + int(b) + int(c) + int(d) + int(f) + int(n)
}

//go:noinline
func floats(a float32, b float64, n int, c float64) float64 { return float64(a) + b + c }

// Sixteen numbers do not fit into fifteen registers.
//
//go:noinline
func many_floats(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64) float64 { return o + p }

//go:noinline
func texts(s string, b []byte, l []int, e empty, last string) (string, error) {
	if len(b) > 20 {
		return "", errors.New("too many")
	}
	return s + last, nil
}

// Parameters without a name take registers as well.
//
//go:noinline
func blank(_ int, b string, _ []int, c int) int { return c }

//go:noinline
func structs(p pair, q mixed) pair { return pair{p.X + int(q.A), p.Y} }

// The last string does not fit into nine registers, the number behind it does.
//
//go:noinline
func many(a, b, c, d string, s string, z int) string { return s }

//go:noinline
func arrays(a [3]int, b [1]string, n int) [2]int { return [2]int{a[0], n} }

//go:noinline
func several(n int) (twice int, ok bool, text string) { return 2 * n, true, "several" }

//go:noinline
func (p pair) Add(n int) int { return p.X + p.Y + n }

//go:noinline
func through(a adder, n int) int { return a.Add(n) }

//go:noinline
func generic[T any](x T, n int) int { return n }

//go:noinline
func nothing() { runtime.Gosched() }

func main() {
	total := ints(-1, 2, -3, 4, true, 0x10, 7)
	total += int(floats(1.5, 2.5, 3, 0.25))
	total += int(many_floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
	s, _ := texts("hello", []byte("bytes"), []int{1, 2, 3}, empty{}, "world")
	_, err := texts("", make([]byte, 21), nil, empty{}, "")
	if err != nil {
		total++
	}
	total += len(s) + blank(1, "b", nil, 9)
	total += structs(pair{1, 2}, mixed{3, true, "q"}).X
	total += len(many("a", "bb", "ccc", "dddd", "eeeee", 77))
	total += arrays([3]int{1, 2, 3}, [1]string{"one"}, 5)[0]
	twice, _, text := several(21)
	total += twice + len(text) + through(pair{1, 2}, 3) + generic("s", 5)
	nothing()
	println(total)
}
