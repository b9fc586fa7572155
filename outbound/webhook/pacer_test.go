package webhook

import (
	"testing"
	"time"

	"pingpost/engine/market"
)

// Events that become due together begin at the rate, plus one burst of pacerSlack.
func TestPacer(t *testing.T) {
	const rate = 1000
	p := attemptRateLimiter{rate: rate}
	now, starts := int64(0), 0
	for ; now < second; now += second / 1000 {
		for p.nextStartNanosOrZero(now) == 0 {
			p.recordStart(now)
			starts++
		}
	}
	if limit := rate + rate/100 + 1; starts < rate || starts > limit {
		t.Errorf("%d starts in a second, want %d to %d", starts, rate, limit)
	}
	p.nextStart = 0 // an idle hour gives no credit
	now, starts = 3600*second, 0
	for ; p.nextStartNanosOrZero(now) == 0; starts++ {
		p.recordStart(now)
	}
	if starts > rate/100+1 {
		t.Errorf("%d starts at once after an idle hour", starts)
	}
	if at := p.nextStartNanosOrZero(now); at <= now || at > now+second/rate {
		t.Errorf("the next start is %d ns from now", at-now)
	}
	if unlimited := new(attemptRateLimiter); unlimited.nextStartNanosOrZero(0) != 0 {
		t.Error("a pacer without a rate delays a start")
	}
}

// The sender keeps the rate and continues without being woken.
func TestSenderKeepsAttemptRate(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.addLeads(1, 200)
		rate := 100
		b.startSender(t, func(o *SenderOptions) { o.MaxPerEndpoint, o.AttemptRate = 64, func() int { return rate } })
		advance(time.Second)
		if sent := 200 - b.pending(); sent < 90 || sent > 110 {
			t.Errorf("%d attempts in a second, want about 100", sent)
		}
		advance(2 * time.Second)
		if b.pending() != 0 {
			t.Errorf("%d events are left", b.pending())
		}
		b.add(1, 201, market.WebhookPosted, 0)
		advance(10 * time.Millisecond)
		if b.pending() != 0 {
			t.Error("a single event was delayed")
		}
	})
}
