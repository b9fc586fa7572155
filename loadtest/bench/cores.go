package main

import (
	"fmt"
	"runtime"
)

// cores are the cores of the servers and of the client. Both are empty if the machine has
// fewer than two cores or cannot pin processes.
type cores struct {
	servers, client []int
}

func allCores() cores { return shareCores(availableCores()) }

// shareCores gives the client one core in four, and at least one.
func shareCores(available []int) cores {
	n := len(available)
	if n < 2 {
		return cores{}
	}
	client := max(1, n/4)
	return cores{servers: available[:n-client], client: available[n-client:]}
}

func (c *cores) String() string {
	if len(c.servers) == 0 {
		return fmt.Sprintf("Nothing is pinned: client and server share %d cores.", runtime.NumCPU())
	}
	return fmt.Sprintf("Servers are pinned to core %s, the client, a process of its own, to core %s.", formatCoreRange(c.servers), formatCoreRange(c.client))
}

func formatCoreRange(list []int) string {
	if len(list) == 1 {
		return fmt.Sprint(list[0])
	}
	return fmt.Sprintf("%d-%d", list[0], list[len(list)-1])
}
