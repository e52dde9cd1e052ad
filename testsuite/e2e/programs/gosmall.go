// SPDX-License-Identifier: GPL-2.0-or-later

// Calls deep() 101 times, 100 of them from itself, in a goroutine whose stack has to grow for that.
package main

//go:noinline
func deep(n int) int {
	var pad [256]byte
	pad[n%256] = 1
	if n <= 0 {
		return 0
	}
	return deep(n-1) + int(pad[n%256])
}

func main() {
	c := make(chan int)
	go func() { c <- deep(100) }()
	println(<-c)
}
