package child

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/report/projection"
	"pingpost/wal"
)

// RebuildResult is the rate in leads a second and the size in bytes of a lead.
type RebuildResult struct{ Rate, Bytes float64 }

// rebuildReport builds the report of a log and returns when it is complete.
func rebuildReport(spec *LogSpec) (result *RebuildResult, err error) {
	log, err := wal.Open(spec.Dir, wal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	named := state.New()
	now := time.Now().UnixNano()
	named.Apply(1, now, newLeadEvents(now).namesGiven())
	began := time.Now()
	kept, stop := startReport(logSource{log, named}, spec.Dir)
	defer stop()
	if err := waitUntilCurrent(kept); err != nil {
		return nil, err
	}
	took := time.Since(began)
	size, err := folderSize(spec.Dir + "/report")
	return &RebuildResult{Rate: float64(spec.Leads) / took.Seconds(), Bytes: float64(size) / float64(spec.Leads)}, err
}

// logSource provides a log to a report.
type logSource struct {
	log          *wal.Log
	*state.State // names
}

// LogIdentity returns the identity of the log.
func (f logSource) LogIdentity() report.LogIdentity {
	return report.LogIdentity{Exchange: [16]byte{1}, Epoch: f.log.Epoch()}
}

// NewReader returns a reader at an entry.
func (f logSource) NewReader(from uint64) (report.LogReader, error) {
	reader, err := f.log.NewReader(from)
	if err != nil {
		return nil, err
	}
	return reader, nil
}

// LastEntry returns the position of the last entry.
func (f logSource) LastEntry() (seq uint64, at int64) { return f.log.LastEntry() }

// startReport keeps a report of a log, as the exchange does, until stop is called.
func startReport(log report.LogAndConfiguredNames, dir string) (kept *report.Report, stop func()) {
	kept = report.New(report.Options{
		Dir: filepath.Join(dir, "report"), Source: log, Logger: slog.New(slog.DiscardHandler),
		HashContact: func(lead *event.LeadDecided) []projection.ContactHash { // of a phone number and an address
			return []projection.ContactHash{projection.ContactHash(lead.Request), projection.ContactHash(lead.Lead)}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		kept.Run(ctx)
	}()
	return kept, func() { cancel(); <-ended }
}

// waitUntilCurrent waits until a report contains the whole log.
func waitUntilCurrent(kept *report.Report) error {
	for status := kept.ProgressStatus(); status.LagEntries > 0; status = kept.ProgressStatus() {
		if status.Errors > 0 {
			return errors.New("the report met an error")
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
