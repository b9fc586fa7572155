package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/procfs"
)

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

// rerunWhileNoisy returns a function that calls f, and repeats it as the guard does.
func rerunWhileNoisy[R any](g *noiseGuard, f func() (R, error)) func() (R, error) {
	return func() (result R, err error) {
		err = g.measure(func() (err error) {
			result, err = f()
			return err
		})
		return result, err
	}
}

// runEachRepetition returns the results of all runs of f, each repeated while other load was too high.
func runEachRepetition[R any](b *bench, f func() (R, error)) ([]R, error) {
	results, err := alternate(b.size.runs, rerunWhileNoisy(b.guard, f))
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

// usage is CPU time in seconds, of the whole machine and of the benchmark.
type usage struct {
	total, busy, own float64
}

// others returns the share of the machine's time since before that other processes used.
// Interrupts do not count.
func (m *usage) others(before *usage) float64 {
	total := m.total - before.total
	if total <= 0 {
		return 0
	}
	return min(1, max(0, ((m.busy-before.busy)-(m.own-before.own))/total)) // above 1 by rounding
}

// readUsage reads the current usage. ok is false if /proc is missing or has another
// format.
func (g *noiseGuard) readUsage() (m usage, ok bool) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return m, false
	}
	stat, err := fs.Stat()
	if err != nil {
		return m, false
	}
	c := &stat.CPUTotal
	m.busy = c.User + c.Nice + c.System + c.Steal
	m.total = m.busy + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ
	self, err := procStat(os.Getpid())
	if err != nil {
		return m, false
	}
	m.own = self.CPUTime() + float64(self.CUTime+self.CSTime)/100 // with the children that it waited for
	g.own = slices.DeleteFunc(g.own, (*process).hasEnded)
	for _, p := range g.own {
		stat, err := procStat(p.cmd.Process.Pid)
		if err != nil {
			return m, false
		}
		m.own += stat.CPUTime()
	}
	return m, true
}

// procStat reads /proc/PID/stat.
func procStat(pid int) (procfs.ProcStat, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return proc.Stat()
}
