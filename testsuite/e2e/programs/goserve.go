// SPDX-License-Identifier: GPL-2.0-or-later

// Says "ready"; then goroutines call deep(), always on new stacks, until a line is said to it.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

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
	var stop int32
	var wait sync.WaitGroup
	syscall.Write(1, []byte("ready\n"))
	for i := 0; i < 2; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for atomic.LoadInt32(&stop) == 0 {
				c := make(chan int)
				go func() { c <- deep(50) }()
				if <-c != 50 {
					syscall.Exit(3)
				}
				runtime.GC()
			}
		}()
	}
	syscall.Read(0, make([]byte, 1))
	atomic.StoreInt32(&stop, 1)
	wait.Wait()
	syscall.Write(1, []byte("done\n"))
}
