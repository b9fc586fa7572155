package wal

import "time"

// Stats is what a log has done since Open, and how it stands.
type Stats struct {
	Batches  uint64 // fsyncs that covered entries
	Entries  uint64
	Bytes    uint64 // of records
	Segments uint64 // begun

	Queued      int           // entries that wait for the committer
	QueuedBytes int           // and their bytes
	QueueDelay  time.Duration // since the oldest entry that is not durable yet was appended; 0 without one

	Live     int // segments under log/
	Archived int // segments under archive/

	Scrubbed uint64 // segments that were checked in the background
	Damaged  uint64 // and found damaged: history that no replay needs, told in the program's log
}

// Stats returns the present figures. It is cheap enough for each request.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	s := l.stats
	l.mu.Unlock()
	s.Queued, s.QueuedBytes, s.QueueDelay = l.queue.load()
	s.Live, s.Archived = l.shelf.count()
	return s
}
