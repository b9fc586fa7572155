package wal

import "time"

// A pacer keeps what runs in the background from the disk that the committer needs.
type pacer struct {
	rate  int64 // bytes a second; 0 for no limit
	start time.Time
	bytes int64
	hurry <-chan struct{} // once closed there is no limit any more; nil: there is one
}

func newPacer(rate int64) *pacer { return &pacer{rate: max(rate, 0), start: time.Now()} }

// wait waits as long as delay says, or until there is no limit any more.
func (p *pacer) wait(n int) {
	pause := time.NewTimer(p.delay(n))
	defer pause.Stop()
	select {
	case <-p.hurry:
	case <-pause.C:
	}
}

// delay is how long to wait after n more bytes. Time in which nothing was done is
// not made up for by a burst.
func (p *pacer) delay(n int) time.Duration {
	if p.rate == 0 {
		return 0
	}
	p.bytes += int64(n)
	due := time.Duration(float64(p.bytes) / float64(p.rate) * float64(time.Second))
	wait := due - time.Since(p.start)
	if wait < 0 {
		p.start, p.bytes = time.Now(), 0
		return 0
	}
	return wait
}
