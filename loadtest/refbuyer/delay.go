package refbuyer

import "time"

// delay holds an answer back for a random time.
func (b *Buyer) delay(latency Latency, key []byte, attempt int) {
	if latency != nil {
		b.pause(latency.At(b.chance.draw(drawDelay, key, attempt)))
	}
}

// pause waits, and reports whether the buyer is still open.
func (b *Buyer) pause(t time.Duration) bool {
	if t <= 0 {
		return true
	}
	timer, ok := b.timers.Get().(*time.Timer)
	if ok {
		timer.Reset(t)
	} else {
		timer = time.NewTimer(t)
	}
	defer b.timers.Put(timer)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-b.Closing():
		return false
	}
}
