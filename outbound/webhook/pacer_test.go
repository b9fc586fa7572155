package webhook

import (
	"testing"
	"time"

	"pingpost/engine/market"
)

// Events that become due together begin at the rate, plus one burst of pacerSlack.
func TestPacer(t *testing.T) {
	const rate = 1000
	p := pacer{rate: rate}
	now, begun := int64(0), 0
	for ; now < second; now += second / 1000 {
		for p.nextStartNanosOrZero(now) == 0 {
			p.recordStart(now)
			begun++
		}
	}
	if most := rate + rate/100 + 1; begun < rate || begun > most {
		t.Errorf("%d began in a second, want %d to %d", begun, rate, most)
	}
	p.nextStart = 0 // an idle hour gives no credit
	now, begun = 3600*second, 0
	for ; p.nextStartNanosOrZero(now) == 0; begun++ {
		p.recordStart(now)
	}
	if begun > rate/100+1 {
		t.Errorf("%d began at once after a rest", begun)
	}
	if at := p.nextStartNanosOrZero(now); at <= now || at > now+second/rate {
		t.Errorf("the next may begin %d after now", at-now)
	}
	if without := new(pacer); without.nextStartNanosOrZero(0) != 0 {
		t.Error("without a rate one has to wait")
	}
}

// The sender keeps the rate and continues without being woken.
func TestSenderKeepsAttemptRate(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.addLeads(1, 200)
		pace := 100
		b.startSender(t, func(o *Options) { o.MaxPerEndpoint, o.AttemptRate = 64, func() int { return pace } })
		advance(time.Second)
		if sent := 200 - b.pending(); sent < 90 || sent > 110 {
			t.Errorf("%d of 100 a second", sent)
		}
		advance(2 * time.Second)
		if b.pending() != 0 {
			t.Errorf("%d are left", b.pending())
		}
		b.add(1, 201, market.WebhookPosted, 0)
		advance(10 * time.Millisecond)
		if b.pending() != 0 {
			t.Error("a single event had to wait")
		}
	})
}
