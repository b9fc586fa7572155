package certificate

import (
	"log/slog"
	"time"
)

// How often the files are read, how long before expiry the watcher starts to warn, and how
// often it warns.
const (
	checkEvery = 5 * time.Second
	warnAhead  = 14 * 24 * time.Hour
	warnEvery  = 24 * time.Hour
)

// Watcher reloads a certificate when its files change, and logs warnings before it expires and errors
// afterwards.
type Watcher struct {
	pair     *KeyPair
	logger   *slog.Logger
	warnedAt time.Time // time of the last warning
}

// NewWatcher returns a watcher for the pair. Its method Run does the work.
func NewWatcher(pair *KeyPair, logger *slog.Logger) *Watcher {
	return &Watcher{pair: pair, logger: logger}
}

// Run checks the files every five seconds, and at once for each value from reload, until stop
// is closed.
func (w *Watcher) Run(reload, stop <-chan struct{}) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		w.reloadAndWarnOfExpiry(time.Now())
		select {
		case <-tick.C:
		case <-reload:
		case <-stop:
			return
		}
	}
}

func (w *Watcher) reloadAndWarnOfExpiry(now time.Time) {
	changed, err := w.pair.ReloadIfChanged(now)
	switch {
	case err != nil:
		w.logger.Warn("the TLS certificate's files cannot be used; the previous certificate stays in use; replace the files", "error", err)
	case changed:
		w.warnedAt = time.Time{}
		w.logger.Info("a new TLS certificate is in use", "not_after", w.pair.NotAfter())
	}
	end := w.pair.NotAfter()
	if now.Before(end.Add(-warnAhead)) || !w.warnedAt.IsZero() && now.Sub(w.warnedAt) < warnEvery {
		return
	}
	w.warnedAt = now
	if now.Before(end) {
		w.logger.Warn("the TLS certificate expires soon; replace its files", "not_after", end, "days", int(end.Sub(now)/(24*time.Hour)))
	} else {
		w.logger.Error("the TLS certificate has expired and clients reject it; replace its files", "not_after", end)
	}
}
