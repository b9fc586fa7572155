package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine describes where this is measured.
func (b *bench) machine() []string {
	return []string{
		"Processor: " + processorOf(readText("/proc/cpuinfo")) + fmt.Sprintf(", %d cores", runtime.NumCPU()),
		"Kernel: " + runtime.GOOS + " " + orUnknown(strings.TrimSpace(readText("/proc/sys/kernel/osrelease"))) + ", " + runtime.GOARCH,
		"Data: on " + filesystemOf(readText("/proc/mounts"), b.dir),
		"Go: " + runtime.Version(),
		"Date: " + time.Now().UTC().Format(time.DateOnly),
	}
}

// conditions say how it is measured.
func (b *bench) conditions() []string {
	lines := []string{
		fmt.Sprintf("Each pair was run %d times, the two sides in turn, %s each after %s to warm up. Measured is the median of the pairs' ratios, range their least and greatest.",
			b.size.runs, b.size.lasting, b.size.warmup),
		b.cores.String(),
		"Servers run with " + collector + ", the exchange's default, and a processor more than cores. The ceiling of ingest has the same timeouts and limits, decodes the same body into a struct, commits as many bytes a lead through the same log, and answers as many.",
		"Leads are about 500 bytes of JSON, each with a phone number, an e-mail address and an Idempotency-Key of its own; buyers are recorded alone. Exchanges keep no report, but in the rows that name one.",
		fmt.Sprintf("The ceiling of auctions decodes the same ping, sends it to the same reference buyers over kept connections, decodes their bids and answers with the best; it has no rules and no log. The buyers are one process on the client's cores. Processor time is the server's alone, its durable record of every auction included, with %d auctions at a time and buyers that answer at once.",
			auctionLines),
		fmt.Sprintf("Auctions in an open loop come as a Poisson process and are measured from when they were due, %s a run. Posts are timed from when the seller sends one to when the buyer writes its 201, by one clock.", b.size.openLasting),
	}
	if b.flags.Quick {
		lines = append(lines, "This was a --quick run: it shows that the benchmarks work. Its figures mean nothing.")
	}
	return lines
}

func readText(path string) string {
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

// filesystemOf is the kind of filesystem that a folder is on: the mount with
// the longest path that leads to it, the last one of equals.
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
