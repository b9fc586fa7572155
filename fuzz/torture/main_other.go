//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "torture: this program needs Linux, because its faults use Linux signals, mounts, limits and ptrace")
	os.Exit(2)
}
