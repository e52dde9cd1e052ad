// SPDX-License-Identifier: GPL-2.0-or-later

// usage: gocalls grow|hop|leave. Its functions are called in ways that only Go has; it prints what came of it.
package main

import (
	"os"
	"runtime"
	"syscall"
)

// Calls itself n times; on a new stack it needs a larger one several times meanwhile.
//
//go:noinline
func grow(n int) int {
	var pad [512]byte
	pad[n%512] = byte(n)
	if n == 0 {
		return 1
	}
	return grow(n-1) + int(pad[n%512])&1
}

// Needs a larger stack at once.
//
//go:noinline
func leaf(n int) int {
	var pad [40000]byte
	pad[n%40000] = 3
	return int(pad[(n*7)%40000]) + n
}

// Returns in another thread than it was called in: who comes back from a system call that took long has
// to wait for the only processor, which another thread has been given, and is run by that.
//
//go:noinline
func hop(pipe int, n int) int {
	before := syscall.Gettid()
	for syscall.Gettid() == before {
		syscall.Read(pipe, make([]byte, 1))
	}
	return n + 1
}

//go:noinline
func fails(n int) int {
	if n >= 0 {
		panic("as expected")
	}
	return n
}

// Calls fails(), which does not return.
//
//go:noinline
func recovers(n int) (result int) {
	defer func() {
		if recover() != nil {
			result = n
		}
	}()
	return fails(n) + 1
}

func main() {
	total := 0
	switch os.Args[1] {
	case "grow":
		for i := 0; i < 3; i++ {
			c := make(chan int)
			go func() { c <- grow(40) + leaf(i) }()
			total += <-c
			runtime.GC()
		}
	case "hop":
		var pipe [2]int
		runtime.GOMAXPROCS(1)
		syscall.Pipe(pipe[:])
		go func() {
			for {
				for i := 0; i < 1000000; i++ {
				}
				syscall.Write(pipe[1], []byte("."))
			}
		}()
		for i := 0; i < 5; i++ {
			total += hop(pipe[0], i)
		}
	case "leave":
		for i := 0; i < 20; i++ {
			total += recovers(i)
		}
	}
	os.Stdout.WriteString("total ")
	for i := 100; i > 0; i /= 10 {
		os.Stdout.WriteString(string(rune('0' + total/i%10)))
	}
	os.Stdout.WriteString("\n")
}
