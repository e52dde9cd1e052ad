// SPDX-License-Identifier: GPL-2.0-or-later

// A library for C programs: GoAdd(a, b) calls deep() so often as `a` says, and once more.
package main

import "C"

//export GoAdd
func GoAdd(a, b C.int) C.int { return b + C.int(deep(int(a))) }

//go:noinline
func deep(n int) int {
	var pad [256]byte
	pad[n%256] = 1
	if n <= 0 {
		return 0
	}
	return deep(n-1) + int(pad[n%256])
}

func main() {}
