package server

import (
	"sync"
	"time"
)

// watch reads the meter every few seconds and keeps what it said for ten minutes, so
// that rates can be told, and what was lately. It reads atomics alone.
type watch struct {
	meter *Meter
	stop  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	ring [watchedSteps + 1]reading
	n    int // readings that were ever taken
}

const (
	watchStep    = 5 * time.Second
	watchedSteps = 120 // ten minutes
	buyersEvery  = 6   // steps: what is read of buyers is more
)

func newWatch(meter *Meter) *watch { return &watch{meter: meter, stop: make(chan struct{})} }

// run reads until end is called.
func (w *watch) run() {
	ticker := time.NewTicker(watchStep)
	defer ticker.Stop()
	for now := time.Now(); ; {
		w.sample(now)
		select {
		case now = <-ticker.C:
		case <-w.stop:
			return
		}
	}
}

func (w *watch) end() { w.once.Do(func() { close(w.stop) }) }

func (w *watch) sample(now time.Time) {
	r := w.meter.read(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n%buyersEvery == 0 {
		r.buyers = w.meter.readBuyers()
	}
	w.ring[w.n%len(w.ring)] = r
	w.n++
}

// kept are the readings there are, oldest first. The caller holds the lock.
func (w *watch) kept() []*reading {
	first := max(0, w.n-len(w.ring))
	all := make([]*reading, 0, w.n-first)
	for i := first; i < w.n; i++ {
		all = append(all, &w.ring[i%len(w.ring)])
	}
	return all
}

// glance is what was lately, up to a reading of now.
type glance struct {
	now                   reading
	second, minute, whole reading // of ten seconds before, a minute, and ten minutes
	buyersNow, buyersThen map[string]buyerReading
	steps                 []step
}

// step is what was counted up to a time since the one before.
type step struct {
	at                 time.Time
	leads, sold, pings uint64
}

// look reads the meter and what it said before. Where the process is younger than a
// span, its beginning is taken.
func (w *watch) look(now time.Time) (g glance) {
	g.now, g.buyersNow = w.meter.read(now), w.meter.readBuyers()
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.kept()
	g.second, g.minute, g.whole = g.now, g.now, g.now
	for i := len(kept) - 1; i >= 0; i-- {
		r := kept[i]
		for span, into := range map[time.Duration]*reading{10 * time.Second: &g.second, time.Minute: &g.minute, watchedSteps * watchStep: &g.whole} {
			if now.Sub(into.at) < span {
				*into = *r
			}
		}
		if r.buyers != nil && (g.buyersThen == nil || now.Sub(r.at) <= watchedSteps*watchStep) {
			g.buyersThen = r.buyers
		}
	}
	for i := 1; i < len(kept); i++ {
		a, b := kept[i-1], kept[i]
		g.steps = append(g.steps, step{b.at, b.leads - a.leads, b.sold - a.sold, b.pings - a.pings})
	}
	return g
}

// perSecond is how many a second there were between two counts.
func perSecond(now, then uint64, span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(now-then) / span.Seconds()
}
