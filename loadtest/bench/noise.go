package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks of /proc are hundredths of a second on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// guard watches for other load on the machine. Where there is no /proc nothing
// is seen, and the notes say so.
type guard struct {
	share   float64 // of the machine's time that others may use
	retries int
	say     func(string, ...any)

	runs, discarded, kept int
	blind                 bool
}

// measure runs f; where others used too much of the machine meanwhile it runs f
// again. own are live processes that belong to the measurement; children that
// f starts and waits for are known by themselves.
func (g *guard) measure(own []*process, f func() error) error {
	for try := 0; ; try++ {
		before, seen := look(own)
		if err := f(); err != nil {
			return err
		}
		after, seenAfter := look(own)
		g.runs++
		if !seen || !seenAfter {
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
		g.say("other programs used %.0f %% of the machine: this run is done again", 100*others)
	}
}

func (g *guard) notes() []string {
	if g.blind {
		return []string{"Other load could not be watched here: there is no /proc/stat."}
	}
	return []string{fmt.Sprintf("Other load: of %d runs, %d were thrown away and repeated since other programs used over %.0f %% of the machine's time, and %d were kept in spite of it.",
		g.runs, g.discarded, 100*g.share, g.kept)}
}

// moment is how much time was used, by all and by us, in ticks, up to a time.
type moment struct {
	total, busy, own int64
}

// others is the share of the machine's time between two moments that was used
// by neither us nor the kernel's interrupts.
func (m *moment) others(before *moment) float64 {
	total := m.total - before.total
	if total <= 0 {
		return 0
	}
	return max(0, float64((m.busy-before.busy)-(m.own-before.own))/float64(total))
}

// look is not seen where there is no /proc, or none that this program reads.
func look(own []*process) (m moment, seen bool) {
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
	for _, p := range own {
		ticks, err := p.ticks()
		if err != nil {
			return m, false
		}
		m.own += ticks
	}
	return m, true
}

var errProc = errors.New("a file of /proc is not as expected")

// machineTicks reads /proc/stat. Busy is what programs used; interrupts,
// waiting and idling are not.
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
		if i <= 2 || i == 7 { // user, nice, system; stolen by another machine
			busy += n
		}
	}
	return total, busy, nil
}

// ticksOf reads what a process used, with or without the children that it has
// waited for.
func ticksOf(path string, children bool) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return processTicks(string(text), children)
}

func processTicks(text string, children bool) (sum int64, err error) {
	name := strings.LastIndexByte(text, ')') // the name before may hold anything
	fields := strings.Fields(text[name+1:])
	if name < 0 || len(fields) < 15 {
		return 0, errProc
	}
	last := 12 // fields are those from the third on: utime and stime are the 14th and 15th
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
