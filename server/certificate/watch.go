package certificate

import (
	"log/slog"
	"time"
)

// How often the files are looked at, how long before its end a certificate is told
// of, and how often.
const (
	lookEvery = 5 * time.Second
	warnAhead = 14 * 24 * time.Hour
	warnEvery = 24 * time.Hour
)

// Watcher keeps a pair in step with its files, and tells of its end.
type Watcher struct {
	pair   *Pair
	logger *slog.Logger
	told   time.Time // when its end was last told
}

// NewWatcher returns one that looks when it is told to.
func NewWatcher(pair *Pair, logger *slog.Logger) *Watcher {
	return &Watcher{pair: pair, logger: logger}
}

// Run looks at the files every five seconds, and whenever something comes over again,
// until gone is closed.
func (w *Watcher) Run(again, gone <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		w.look(time.Now())
		select {
		case <-tick.C:
		case <-again:
		case <-gone:
			return
		}
	}
}

func (w *Watcher) look(now time.Time) {
	changed, err := w.pair.Look(now)
	switch {
	case err != nil:
		w.logger.Warn("the certificate's files are not a pair that can be shown; the one before is shown on", "error", err)
	case changed:
		w.told = time.Time{}
		w.logger.Info("another certificate is shown", "not_after", w.pair.NotAfter())
	}
	end := w.pair.NotAfter()
	if now.Before(end.Add(-warnAhead)) || !w.told.IsZero() && now.Sub(w.told) < warnEvery {
		return
	}
	w.told = now
	if now.Before(end) {
		w.logger.Warn("the certificate runs out soon; put another in its files", "not_after", end, "days", int(end.Sub(now)/(24*time.Hour)))
	} else {
		w.logger.Error("the certificate has run out, and clients refuse it; put another in its files", "not_after", end)
	}
}
