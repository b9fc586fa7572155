package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// start measures how long an exchange takes until it serves: one with nothing,
// and one that holds many leads. The latter then takes leads beside an empty one.
func (b *bench) start() ([]row, error) {
	began := make(series, b.size.runs)
	for i := range began {
		err := b.guard.measure(nil, func() error {
			s, took, err := b.startTimed(fmt.Sprintf("start-%d-%d", i, b.guard.runs))
			if err == nil {
				s.end()
			}
			began[i] = took.Seconds() * 1e3
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	rows, err := b.held()
	return append(rows, row{
		what: "start with nothing, until it serves", measured: fmt.Sprintf("%.0f ms", began.median()),
		spread: began.spread("%.0f"), goal: "100 ms", verdict: atMost(began.median(), 100, 100),
	}), err
}

// startTimed starts an exchange with a small catalog in a folder of the bench.
func (b *bench) startTimed(name string) (s *seller, took time.Duration, err error) {
	if _, err := b.build(); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	s, err = b.startExchange(name, catalogOf(10))
	return s, time.Since(began), err
}

// heldFolder is where the exchange with many leads lives.
const heldFolder = "held"

// held starts an exchange that holds many leads from its snapshot, and compares
// it with an empty one.
func (b *bench) held() ([]row, error) {
	snapshot, err := b.fill()
	if err != nil {
		return nil, err
	}
	ready := make(series, b.size.runs)
	for i := range ready {
		// Ended inside what is measured: a program that lives on is another's load.
		err := b.guard.measure(nil, func() error {
			full, took, err := b.startTimed(heldFolder)
			if err == nil {
				full.end()
			}
			ready[i] = took.Seconds()
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	full, _, err := b.startTimed(heldFolder)
	if err != nil {
		return nil, err
	}
	defer full.end()
	resident, err := full.resident()
	if err != nil {
		return nil, err
	}
	if err := halt(full.cmd.Process); err != nil {
		return nil, err
	}
	rows := []row{{
		what:     fmt.Sprintf("start with %d leads in a snapshot of %d MB, until it serves", b.size.held, snapshot>>20),
		measured: fmt.Sprintf("%.2f s; then %.1f GB resident", ready.median(), float64(resident)/1e9),
		spread:   ready.spread("%.2f"), goal: "15 s", verdict: atMost(ready.median(), 15, 15),
	}}
	empty, err := b.startHalted("empty", catalogOf(10))
	if err != nil {
		return nil, err
	}
	defer empty.end()
	return b.grown(rows, pair{ours: full, theirs: empty}, fmt.Sprintf("%d leads held instead of none", b.size.held), 0)
}

// fill begins an exchange, writes many leads onto its log, and has it replay them
// and stop in order, so that it leaves a snapshot. It returns the snapshot's size.
func (b *bench) fill() (snapshot int64, err error) {
	s, _, err := b.startTimed(heldFolder)
	if err != nil {
		return 0, err
	}
	if err := s.stop(); err != nil {
		return 0, err
	}
	var written logResult
	err = child(b.ctx, nil, nil, "role-write", logSpec{Dir: s.data, Leads: b.size.held, Onto: true}, &written)
	if err != nil {
		return 0, err
	}
	b.say("wrote %d MB of leads in %.1f s", written.Bytes>>20, written.Seconds)
	s, took, err := b.startTimed(heldFolder)
	if err != nil {
		return 0, err
	}
	b.say("replayed them in %s", took.Round(100*time.Millisecond))
	if err := s.stop(); err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(s.data, "snapshot", "*"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			snapshot = max(snapshot, info.Size())
		}
	}
	return snapshot, nil
}

// stop has a server stop in order.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(startPatience):
		p.end()
		return fmt.Errorf("%s does not stop", p.cmd.Path)
	}
}
