package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: a hundredth of a second on every Linux that Go
// supports.
const tick = 10 * time.Millisecond

// noiseGuard detects other load on the machine. Without /proc it detects none, and the
// notes say so.
type noiseGuard struct {
	share   float64 // highest share of the machine's time that other processes may use
	retries int
	logf    func(string, ...any)
	own     []*process // servers of the benchmark

	runs, discarded, kept int
	blind                 bool
}

// measure runs f, and repeats it if other processes used too much of the machine
// meanwhile. Children that f starts and waits for belong to the benchmark without being listed.
func (g *noiseGuard) measure(f func() error) error {
	for try := 0; ; try++ {
		before, ok := g.readUsage()
		if err := f(); err != nil {
			return err
		}
		after, okAfter := g.readUsage()
		g.runs++
		if !ok || !okAfter {
			g.blind = true
			return nil
		}
		others := after.others(&before)
		if others <= g.share {
			return nil
		}
		if try == g.retries {
			g.kept++
			return nil
		}
		g.discarded++
		g.logf("other programs used %.0f %% of the machine: repeating this run", 100*others)
	}
}

// guarded returns f with the guard's measure around it.
func guarded[R any](g *noiseGuard, f func() (R, error)) func() (R, error) {
	return func() (result R, err error) {
		err = g.measure(func() (err error) {
			result, err = f()
			return err
		})
		return result, err
	}
}

// repeat returns the results of all runs of f, each guarded.
func repeat[R any](b *bench, f func() (R, error)) ([]R, error) {
	results, err := alternate(b.size.runs, guarded(b.guard, f))
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

func (g *noiseGuard) notes() []string {
	if g.blind {
		return []string{"Other load could not be watched here: there is no /proc/stat."}
	}
	return []string{fmt.Sprintf("Other load: of %d runs, %d were thrown away and repeated since other programs used over %.0f %% of the machine's time, and %d were kept in spite of it.",
		g.runs, g.discarded, 100*g.share, g.kept)}
}

// usage is CPU time in ticks, of the whole machine and of the benchmark.
type usage struct {
	total, busy, own int64
}

// others returns the share of the machine's time since before that other processes used.
// Interrupts do not count.
func (m *usage) others(before *usage) float64 {
	total := m.total - before.total
	if total <= 0 {
		return 0
	}
	return max(0, float64((m.busy-before.busy)-(m.own-before.own))/float64(total))
}

// readUsage reads the current usage. ok is false if /proc is missing or has another
// format.
func (g *noiseGuard) readUsage() (m usage, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return m, false
	}
	if m.total, m.busy, err = machineTicks(string(text)); err != nil {
		return m, false
	}
	if m.own, err = ticksOf("/proc/self/stat", true); err != nil {
		return m, false
	}
	g.own = slices.DeleteFunc(g.own, (*process).hasEnded)
	for _, p := range g.own {
		ticks, err := p.ticks()
		if err != nil {
			return m, false
		}
		m.own += ticks
	}
	return m, true
}

var errProc = errors.New("a file of /proc is not as expected")

// machineTicks parses /proc/stat. busy is the time of programs, without interrupts, idle
// time and waiting for I/O.
func machineTicks(text string) (total, busy int64, err error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, errProc
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, errProc
		}
		total += n
		if i <= 2 || i == 7 { // user, nice, system, steal
			busy += n
		}
	}
	return total, busy, nil
}

// ticksOf reads the CPU time of a process, with or without the children that it waited
// for.
func ticksOf(path string, children bool) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return processTicks(string(text), children)
}

func processTicks(text string, children bool) (sum int64, err error) {
	name := strings.LastIndexByte(text, ')') // the process name may contain any character
	fields := strings.Fields(text[name+1:])
	if name < 0 || len(fields) < 15 {
		return 0, errProc
	}
	last := 12 // fields starts with the third field; utime and stime are the 14th and 15th
	if children {
		last = 14
	}
	for _, field := range fields[11 : last+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, errProc
		}
		sum += n
	}
	return sum, nil
}
