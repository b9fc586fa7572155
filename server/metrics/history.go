package metrics

import (
	"sync"
	"time"
)

// History samples the meter every five seconds and stores the samples of the last ten minutes.
// The overview computes rates from them. Sampling takes no lock of the meter.
type History struct {
	meter *Meter
	stop  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	ring [historySteps + 1]Reading
	n    int // number of samples ever taken
}

const (
	historyStep  = 5 * time.Second
	historySteps = 120 // ten minutes
	buyersEvery  = 6   // steps between samples of the buyers, which are larger
)

func NewHistory(meter *Meter) *History { return &History{meter: meter, stop: make(chan struct{})} }

// Run takes samples until Stop is called. It runs in its own goroutine.
func (w *History) Run() {
	ticker := time.NewTicker(historyStep)
	defer ticker.Stop()
	for now := time.Now(); ; {
		w.takeSample(now)
		select {
		case now = <-ticker.C:
		case <-w.stop:
			return
		}
	}
}

func (w *History) Stop() { w.once.Do(func() { close(w.stop) }) }

func (w *History) takeSample(now time.Time) {
	r := w.meter.readCounters(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n%buyersEvery == 0 {
		r.buyers = w.meter.readBuyers()
	}
	w.ring[w.n%len(w.ring)] = r
	w.n++
}

// samplesLocked returns the stored samples, oldest first. The caller holds w.mu.
func (w *History) samplesLocked() []*Reading {
	first := max(0, w.n-len(w.ring))
	all := make([]*Reading, 0, w.n-first)
	for i := first; i < w.n; i++ {
		all = append(all, &w.ring[i%len(w.ring)])
	}
	return all
}

// Summary has the meter's counts now and at some earlier times, from which the overview
// computes rates.
type Summary struct {
	Now                                     Reading
	TenSecondsAgo, MinuteAgo, TenMinutesAgo Reading
	BuyersNow, BuyersTenMinutesAgo          map[string]BuyerReading
	Intervals                               []HistoryInterval
}

// HistoryInterval has the number of leads, sales and pings between two samples.
type HistoryInterval struct {
	At                 time.Time
	Leads, Sold, Pings uint64
}

// Summary returns the meter's counts now, ten seconds ago, a minute ago and ten minutes ago. If
// the process is too young for one of these, the first sample takes its place.
func (w *History) Summary(now time.Time) (g Summary) {
	g.Now, g.BuyersNow = w.meter.readCounters(now), w.meter.readBuyers()
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.samplesLocked()
	g.TenSecondsAgo, g.MinuteAgo, g.TenMinutesAgo = g.Now, g.Now, g.Now
	for i := len(kept) - 1; i >= 0; i-- {
		r := kept[i]
		for span, into := range map[time.Duration]*Reading{10 * time.Second: &g.TenSecondsAgo, time.Minute: &g.MinuteAgo, historySteps * historyStep: &g.TenMinutesAgo} {
			if now.Sub(into.At) < span {
				*into = *r
			}
		}
		if r.buyers != nil && (g.BuyersTenMinutesAgo == nil || now.Sub(r.At) <= historySteps*historyStep) {
			g.BuyersTenMinutesAgo = r.buyers
		}
	}
	for i := 1; i < len(kept); i++ {
		a, b := kept[i-1], kept[i]
		g.Intervals = append(g.Intervals, HistoryInterval{b.At, b.Leads - a.Leads, b.Sold - a.Sold, b.Pings - a.Pings})
	}
	return g
}

// RatePerSecond returns the average rate per second if a counter rose from then to now during
// the time span.
func RatePerSecond(now, then uint64, span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(now-then) / span.Seconds()
}
