package child

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
	"pingpost/exchange"
	"pingpost/wal"
)

// LogSpec describes a log to write or to read.
type LogSpec struct {
	Dir    string
	Leads  int
	Bids   int  // bids of each lead's auction; 0: no auction
	Append bool // the log of an exchange, which already has the names
}

// LogResult is the size of a log and the time to write or read it.
type LogResult struct {
	Events  int
	Bytes   int64
	Seconds float64
}

// writeLog writes a log of leads through package wal, in the largest possible batches.
func writeLog(spec *LogSpec) (result *LogResult, err error) {
	began := time.Now()
	log, err := wal.Open(spec.Dir, wal.Options{MaxBatch: 4096, QueueLen: 8192})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	events := newLeadEvents(began.Add(-time.Duration(spec.Leads) * leadInterval).UnixNano())
	out := &logWriter{log: log, free: make(chan *pendingWrite, 8000)}
	for range cap(out.free) {
		out.free <- &pendingWrite{of: out}
	}
	if !spec.Append {
		if err := out.write(events.namesGiven()); err != nil {
			return nil, err
		}
	}
	for i := range spec.Leads {
		lead := events.leadDecided(i)
		if spec.Bids > 0 {
			events.addAuction(spec.Bids)
		}
		if err := out.write(lead); err != nil {
			return nil, err
		}
	}
	out.pending.Wait()
	stats := log.Stats()
	return &LogResult{Events: int(stats.Entries), Bytes: int64(stats.Bytes), Seconds: time.Since(began).Seconds()}, log.Err()
}

// logWriter keeps the log's queue full without exceeding it.
type logWriter struct {
	log     *wal.Log
	free    chan *pendingWrite
	pending sync.WaitGroup
}

type pendingWrite struct {
	of   *logWriter
	data []byte
}

func (w *logWriter) write(e event.Event) error {
	slot := <-w.free
	slot.data = event.AppendRecord(slot.data[:0], e)
	w.pending.Add(1)
	return w.log.Append(slot.data, slot)
}

// Committed makes the buffer free again.
func (s *pendingWrite) Committed(uint64, int64) {
	s.of.free <- s
	s.of.pending.Done()
}

// Failed makes the buffer free again; the log keeps the error.
func (s *pendingWrite) Failed(error) { s.Committed(0, 0) }

// replayLog replays a log as an exchange does when it starts.
func replayLog(spec *LogSpec) (*LogResult, error) {
	began := time.Now()
	reader, err := wal.NewReader(spec.Dir, 1)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s := state.New()
	if _, err := exchange.ReplayLog(reader, s, 0); err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	if s.LeadCountWithExpired() != spec.Leads {
		return nil, fmt.Errorf("%d leads were replayed of %d", s.LeadCountWithExpired(), spec.Leads)
	}
	seq, _ := s.Position()
	return &LogResult{Events: int(seq), Seconds: took}, nil
}

// scanLog reads the log's files and computes a checksum.
func scanLog(spec *LogSpec) (*LogResult, error) {
	began := time.Now()
	segments, err := wal.Segments(spec.Dir)
	if err != nil {
		return nil, err
	}
	result := new(LogResult)
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
