//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "torture: it needs Linux: its faults are done by signals, mounts, limits and ptrace of that system")
	os.Exit(2)
}
