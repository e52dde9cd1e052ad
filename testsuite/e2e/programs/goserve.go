// SPDX-License-Identifier: GPL-2.0-or-later

// Says "ready"; then goroutines call deep(), always on new stacks, until a line is said to it. At the end
// it says whether the handlers of its runtime block SIGTRAP, as they do untraced.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
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
	var action [4]uint64 // the kernel's struct sigaction: the mask comes last
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGURG), 0, uintptr(unsafe.Pointer(&action)), 8, 0, 0)
	if action[3]&(1<<(syscall.SIGTRAP-1)) != 0 {
		syscall.Write(1, []byte("blocked\n"))
	}
	syscall.Write(1, []byte("done\n"))
}
