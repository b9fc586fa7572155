package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/wal"
)

// followed is a log of facts, as a report knows one.
type followed struct {
	log   *wal.Log
	state *state.State
}

// Life is which log it is.
func (f followed) Life() report.Life {
	return report.Life{Exchange: [16]byte{1}, Epoch: f.log.Epoch()}
}

// NewReader reads from an entry on.
func (f followed) NewReader(from uint64) (report.Reader, error) {
	reader, err := f.log.NewReader(from)
	if err != nil {
		return nil, err
	}
	return reader, nil
}

// Durable is the last entry that is.
func (f followed) Durable() (seq uint64, at int64) { return f.log.Durable() }

// ArrivalName is what a number stands for.
func (f followed) NameOf(kind event.NameKind, ref market.Ref) string {
	return f.state.NameOf(kind, ref)
}

// RefOf is a name's number.
func (f followed) RefOf(kind event.NameKind, id string) market.Ref { return f.state.RefOf(kind, id) }

// follow keeps a report of a log, as the exchange does, until it is stopped.
func follow(log report.Source, dir string) (kept *report.Report, stop func()) {
	kept = report.New(report.Options{
		Dir: filepath.Join(dir, "report"), Source: log, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		kept.Run(ctx)
	}()
	return kept, func() { cancel(); <-ended }
}

// caughtUp waits until a report has all.
func caughtUp(kept *report.Report) error {
	for status := kept.Status(); status.LagEntries > 0; status = kept.Status() {
		if status.Errors > 0 {
			return errors.New("the report met an error")
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
