package metrics

import (
	"sync"
	"time"
)

// MeterHistory samples the meter every five seconds and stores the samples of the last ten minutes.
// The overview computes rates from them. Sampling takes no lock of the meter.
type MeterHistory struct {
	meter *Meter
	stop  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	ring [historySteps + 1]MeterReading
	n    int // number of samples ever taken
}

const (
	historyStep  = 5 * time.Second
	historySteps = 120 // ten minutes
	buyersEvery  = 6   // steps between samples of the buyers, which are larger
)

func NewMeterHistory(meter *Meter) *MeterHistory {
	return &MeterHistory{meter: meter, stop: make(chan struct{})}
}

// Run takes samples until Stop is called. It runs in its own goroutine.
func (w *MeterHistory) Run() {
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

func (w *MeterHistory) Stop() { w.once.Do(func() { close(w.stop) }) }

func (w *MeterHistory) takeSample(now time.Time) {
	r := w.meter.readCountersWithoutBuyers(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n%buyersEvery == 0 {
		r.buyers = w.meter.readBuyers()
	}
	w.ring[w.n%len(w.ring)] = r
	w.n++
}

// samplesLocked returns the stored samples, oldest first. The caller holds w.mu.
func (w *MeterHistory) samplesLocked() []*MeterReading {
	first := max(0, w.n-len(w.ring))
	all := make([]*MeterReading, 0, w.n-first)
	for i := first; i < w.n; i++ {
		all = append(all, &w.ring[i%len(w.ring)])
	}
	return all
}

// MeterReadingsNowAndEarlier has the meter's counts now and at some earlier times, from which the overview
// computes rates.
type MeterReadingsNowAndEarlier struct {
	Now                                     MeterReading
	TenSecondsAgo, MinuteAgo, TenMinutesAgo MeterReading
	BuyersNow, BuyersTenMinutesAgo          map[string]BuyerReading
	Intervals                               []CountsBetweenSamples
}

// CountsBetweenSamples has the number of leads, sales and pings between two samples.
type CountsBetweenSamples struct {
	At                 time.Time
	Leads, Sold, Pings uint64
}

// ReadNowAndEarlier returns the meter's counts now, ten seconds ago, a minute ago and ten minutes ago.
// It also returns the buyers' counts now and ten minutes ago, and the increases between all stored
// samples. If there is no sample that old, the oldest sample takes its place.
func (w *MeterHistory) ReadNowAndEarlier(now time.Time) (summary MeterReadingsNowAndEarlier) {
	summary.Now, summary.BuyersNow = w.meter.readCountersWithoutBuyers(now), w.meter.readBuyers()
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.samplesLocked()
	summary.TenSecondsAgo, summary.MinuteAgo, summary.TenMinutesAgo = summary.Now, summary.Now, summary.Now
	for i := len(kept) - 1; i >= 0; i-- {
		r := kept[i]
		for span, into := range map[time.Duration]*MeterReading{10 * time.Second: &summary.TenSecondsAgo, time.Minute: &summary.MinuteAgo, historySteps * historyStep: &summary.TenMinutesAgo} {
			if now.Sub(into.At) < span {
				*into = *r
			}
		}
		if r.buyers != nil && (summary.BuyersTenMinutesAgo == nil || now.Sub(r.At) <= historySteps*historyStep) {
			summary.BuyersTenMinutesAgo = r.buyers
		}
	}
	for i := 1; i < len(kept); i++ {
		a, b := kept[i-1], kept[i]
		summary.Intervals = append(summary.Intervals, CountsBetweenSamples{b.At, b.Leads - a.Leads, b.Sold - a.Sold, b.Pings - a.Pings})
	}
	return summary
}

// RatePerSecond returns the average rate per second if a counter went from countBefore to countNow in
// the time span. It returns 0 if span is not positive.
func RatePerSecond(countNow, countBefore uint64, span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(countNow-countBefore) / span.Seconds()
}
