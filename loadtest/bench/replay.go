package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/wal"
)

// logSpec is a log to write, or to read.
type logSpec struct {
	Dir   string
	Leads int
	Bids  int  // that each was offered in an auction; 0: it was held for none
	Onto  bool // a log that an exchange has begun, and that has the names already
}

// logResult is what reading took.
type logResult struct {
	Events  int
	Bytes   int64
	Seconds float64
}

// replay compares the replay of a log with a bare scan of its files.
func (b *bench) replay() ([]row, error) {
	dir, err := b.folder("replay")
	if err != nil {
		return nil, err
	}
	spec := logSpec{Dir: dir, Leads: b.size.replayed}
	var written logResult
	if err := child(b.ctx, nil, nil, "role-write", spec, &written); err != nil {
		return nil, err
	}
	b.say("wrote a log of %d events, %d MB, in %.1f s", written.Events, written.Bytes>>20, written.Seconds)
	one := b.cores.servers[:min(1, len(b.cores.servers))]
	alone := []string{"GOMAXPROCS=1", collector}
	replays, scans := make([]logResult, b.size.runs), make([]logResult, b.size.runs)
	for i := range b.size.runs {
		for role, into := range map[string]*logResult{"role-replay": &replays[i], "role-scan": &scans[i]} {
			err := b.guard.measure(nil, func() error { return child(b.ctx, one, alone, role, spec, into) })
			if err != nil {
				return nil, err
			}
		}
	}
	rate := pick(replays, func(r *logResult) float64 { return float64(r.Events) / r.Seconds })
	took := pick(replays, func(r *logResult) float64 { return r.Seconds })
	scanned := pick(scans, func(r *logResult) float64 { return r.Seconds })
	gigabytes := pick(scans, func(r *logResult) float64 { return float64(r.Bytes) / r.Seconds / 1e9 })
	ratio := took.over(scanned)
	return []row{
		{
			what:     fmt.Sprintf("replay of %d leads on one core", b.size.replayed),
			measured: fmt.Sprintf("%.0f events/s", rate.median()),
			spread:   rate.spread("%.0f"), goal: "1,000,000 events/s", verdict: atLeast(rate.median(), 1e6, 1e6),
			figure: figureReplay, value: rate.median(),
		},
		{
			what: "replay over a bare CRC-32C scan of the same files",
			measured: fmt.Sprintf("%.1f times (%.2f and %.2f s; the scan reads %.1f GB/s)",
				ratio.median(), took.median(), scanned.median(), gigabytes.median()),
			spread: ratio.spread("%.1f"),
		},
	}, nil
}

// writeLog writes a log of leads through the log's own code, in batches as large
// as they can be.
func writeLog(spec *logSpec) (result *logResult, err error) {
	began := time.Now()
	log, err := wal.Open(spec.Dir, wal.Options{MaxBatch: 4096, QueueLen: 8192})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	facts := newFacts(began.Add(-time.Duration(spec.Leads) * factsApart).UnixNano())
	out := &logWriter{log: log, free: make(chan *written, 8000)}
	for range cap(out.free) {
		out.free <- &written{of: out}
	}
	if !spec.Onto {
		if err := out.write(facts.names()); err != nil {
			return nil, err
		}
	}
	for i := range spec.Leads {
		lead := facts.lead(i)
		if spec.Bids > 0 {
			facts.auctioned(spec.Bids)
		}
		if err := out.write(lead); err != nil {
			return nil, err
		}
	}
	out.waiting.Wait()
	stats := log.Stats()
	return &logResult{Events: int(stats.Entries), Bytes: int64(stats.Bytes), Seconds: time.Since(began).Seconds()}, log.Err()
}

// logWriter keeps the log's queue full and never over it.
type logWriter struct {
	log     *wal.Log
	free    chan *written
	waiting sync.WaitGroup
}

type written struct {
	of   *logWriter
	data []byte
}

func (w *logWriter) write(e event.Event) error {
	slot := <-w.free
	slot.data = event.Append(slot.data[:0], e)
	w.waiting.Add(1)
	return w.log.Append(slot.data, slot)
}

// Committed takes the buffer back.
func (s *written) Committed(uint64, int64) {
	s.of.free <- s
	s.of.waiting.Done()
}

// Failed does too; the log keeps the error.
func (s *written) Failed(error) { s.Committed(0, 0) }

// replayLog is what an exchange does with its log at a start.
func replayLog(spec *logSpec) (*logResult, error) {
	began := time.Now()
	reader, err := wal.NewReader(spec.Dir, 1)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s := state.New()
	waiting := s.NewReplay()
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		more, err := waiting.Add(entry.Seq, entry.At, entry.Data)
		if err != nil {
			return nil, err
		}
		if !more || !reader.Ready() {
			waiting.Flush()
		}
	}
	waiting.Flush()
	took := time.Since(began).Seconds()
	if s.LeadCount() != spec.Leads {
		return nil, fmt.Errorf("%d leads were replayed of %d", s.LeadCount(), spec.Leads)
	}
	seq, _ := s.Position()
	return &logResult{Events: int(seq), Seconds: took}, nil
}

// scanLog reads the log's files from one end to the other and does nothing but
// their checksum.
func scanLog(spec *logSpec) (*logResult, error) {
	began := time.Now()
	segments, err := wal.Segments(spec.Dir)
	if err != nil {
		return nil, err
	}
	result := new(logResult)
	buf := make([]byte, 1<<20)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for i := range segments {
		read, err := scanFile(segments[i].Path, buf, castagnoli)
		if err != nil {
			return nil, err
		}
		result.Bytes += read
	}
	result.Seconds = time.Since(began).Seconds()
	return result, nil
}

func scanFile(path string, buf []byte, table *crc32.Table) (read int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var sum uint32
	for {
		n, err := file.Read(buf)
		sum = crc32.Update(sum, table, buf[:n])
		read += int64(n)
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}
