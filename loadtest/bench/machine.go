package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine.
func (b *bench) machine() []string {
	return []string{
		"Processor: " + processorOf(readFileOrEmpty("/proc/cpuinfo")) + fmt.Sprintf(", %d cores", runtime.NumCPU()),
		"Kernel: " + runtime.GOOS + " " + orUnknown(strings.TrimSpace(readFileOrEmpty("/proc/sys/kernel/osrelease"))) + ", " + runtime.GOARCH,
		"Data: on " + filesystemOf(readFileOrEmpty("/proc/mounts"), b.dir),
		"Go: " + runtime.Version(),
		"Date: " + time.Now().UTC().Format(time.DateOnly),
	}
}

// conditions describes how the measurements are done.
func (b *bench) conditions() []string {
	lines := []string{
		fmt.Sprintf("Each pair ran %d times, the two sides in turn, %s each after %s of warm-up. The column measured has the median of the pairs' ratios, and range the lowest and the highest.",
			b.size.runs, b.size.duration, b.size.warmup),
		b.cores.String(),
		"Exchanges run with their default settings, and other servers with " + gcSetting + " and, like exchanges, one processor more than cores. The ceiling of ingest has the same timeouts and limits, decodes the same body into a struct, commits the same number of bytes for a lead through the same log, and answers with the same number of bytes.",
		"Leads are about 500 bytes of JSON, each with a phone number, an e-mail address and a new Idempotency-Key; buyers have no endpoint. Exchanges have the default configuration and keep a report, except in the rows without one and in those of clusters.",
		fmt.Sprintf("The ceiling of auctions decodes the same ping, sends it to the same reference buyers over persistent connections, decodes their bids and answers with the best; it has no rules and no log. The buyers are one process on the client's cores. CPU time is that of the server only, with its durable record of every auction, at %d concurrent auctions and buyers that answer at once.",
			auctionConnections),
		fmt.Sprintf("Auctions in an open loop arrive as a Poisson process for %s a run, and their latency counts from the time when they were due. The time of a post is from its sending by the seller to the buyer's 201, by one clock.", b.size.openDuration),
		"The nodes of a cluster are three processes on this machine, with one disk. The leader under load runs on the cores of servers, as the single node does, and the other two represent other machines and run on the client's cores. The nodes are not paused while the single node is measured.",
	}
	if b.flags.Quick {
		lines = append(lines, "This was a --quick run: it shows that the benchmarks work. Its figures mean nothing.")
	}
	return lines
}

func readFileOrEmpty(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

func processorOf(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return orUnknown(strings.TrimSpace(value))
		}
	}
	return "unknown"
}

// filesystemOf returns the type of the filesystem that holds a folder. It is the mount
// with the longest path above the folder, and the last one of equal length.
func filesystemOf(mounts, dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "unknown"
	}
	kind, longest := "unknown", -1
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		at := strings.TrimSuffix(fields[1], "/")
		if (dir == at || strings.HasPrefix(dir, at+"/")) && len(at) >= longest {
			kind, longest = fields[2], len(at)
		}
	}
	return kind
}

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
