package webhook

import (
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// What falls due at once begins at the rate, but for as much as the slack allows.
func TestTempo(t *testing.T) {
	const rate = 1000
	p := tempo{rate: rate}
	now, begun := int64(0), 0
	for ; now < second; now += second / 1000 {
		for p.early(now) == 0 {
			p.begin(now)
			begun++
		}
	}
	if most := rate + rate/100 + 1; begun < rate || begun > most {
		t.Errorf("%d began in a second, want %d to %d", begun, rate, most)
	}
	p.turn = 0 // an hour in which nothing was due is no credit
	now, begun = 3600*second, 0
	for ; p.early(now) == 0; begun++ {
		p.begin(now)
	}
	if begun > rate/100+1 {
		t.Errorf("%d began at once after a rest", begun)
	}
	if at := p.early(now); at <= now || at > now+second/rate {
		t.Errorf("the next may begin %d after now", at-now)
	}
	if without := new(tempo); without.early(0) != 0 {
		t.Error("without a rate one has to wait")
	}
}

// The sender keeps to the tempo it is told, and goes on by itself: nothing else wakes
// it here.
func TestSendingKeepsToTheTempo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		for lead := range byte(200) {
			b.owe(1, lead, posted, 0)
		}
		pace := 100
		b.send(t, func(o *Options) { o.InFlight, o.Pace = 64, func() int { return pace } })
		later(time.Second)
		if sent := 200 - b.left(); sent < 90 || sent > 110 {
			t.Errorf("%d of 100 a second", sent)
		}
		later(2 * time.Second)
		if b.left() != 0 {
			t.Errorf("%d are left", b.left())
		}
		b.owe(1, 201, market.WebhookPosted, 0)
		later(10 * time.Millisecond)
		if b.left() != 0 {
			t.Error("a single event had to wait")
		}
	})
}
