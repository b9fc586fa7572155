package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/webhook"
	"pingpost/internal/must"
)

// plain is a market whose one buyer has no endpoint and no limit, and whose
// supplier has a webhook.
func plain() rig {
	return hooked(selling(market.Waterfall, buyer{id: "blue"}))
}

// standing is how it goes with acme's webhooks, in a few words.
func (x *exchange) hooksStand() string {
	s := x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, "acme"))
	text := fmt.Sprintf("%d pending %d dead", s.Pending, s.Dead)
	if s.FailingSince != 0 {
		text += fmt.Sprintf(" failing since %s", time.Unix(0, s.FailingSince).Sub(began))
	}
	if s.Off {
		text += " off"
	}
	return text
}

// The whole schedule, through restarts: six attempts inside 24 hours, each with
// the pause before it that it should have, one identifier and one body; then a
// dead letter.
func TestScheduleOfAnEvent(t *testing.T) {
	tests := []struct {
		what    string
		script  []market.WebhookResult
		restart time.Duration // between two restarts; zero: none
		tries   int
		stands  string
	}{
		{"heard at once", nil, 0, 1, "0 pending 0 dead"},
		{"heard at the second", []market.WebhookResult{nacks, acks}, 0, 2, "0 pending 0 dead"},
		{"heard at the last", []market.WebhookResult{nacks, mutes, nacks, mutes, nacks, acks}, 0, 6, "0 pending 0 dead"},
		{"never heard", []market.WebhookResult{nacks}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"never answered", []market.WebhookResult{mutes}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"never heard, with a restart every minute", []market.WebhookResult{nacks}, time.Minute, 6, "0 pending 1 dead failing since 0s"},
		{"never heard, with a restart every hour", []market.WebhookResult{nacks}, time.Hour, 6, "0 pending 1 dead failing since 0s"},
		{"heard at the last, with restarts", []market.WebhookResult{nacks, nacks, nacks, nacks, nacks, acks}, 50 * time.Minute, 6, "0 pending 0 dead"},
	}
	for _, test := range tests {
		trading(t, test.what, plain(), func(t *testing.T, x *exchange) {
			x.tell(person(1))
			r := mail(t)
			r.script = test.script
			for end := began.Add(day); time.Now().Before(end); {
				if test.restart == 0 {
					r.sendFor(x, time.Until(end))
					continue
				}
				r.sendFor(x, min(test.restart, time.Until(end)))
				x.crash()
			}
			expectEqual(t, x.hooksStand(), test.stands, "after a day")
			expectEqual(t, len(r.told), test.tries, "attempts in a day")
			for i := 1; i < len(r.told); i++ {
				pause, want := r.told[i].at-r.told[i-1].at, webhook.PauseAfterAttempt(i)
				if pause < want*9/10 || pause > want*11/10+time.Second {
					t.Errorf("attempt %d comes %s after the one before it, want %s or a tenth to either side", i+1, pause, want)
				}
			}
			r.sendFor(x, 7*day)
			expectEqual(t, len(r.told), test.tries, "attempts after the first day")
		})
	}
}

// An endpoint that has failed for five days without one event heard is told
// nothing more until an operator says so.
func TestEndpointThatFailsForDays(t *testing.T) {
	bubble(t, "fails", func(t *testing.T) {
		notes := new(hookNotes)
		x := begin(t, plain(), func(opt *engine.Options) { notes.noted = opt.Observer.(*noted); opt.Observer = notes })
		r := mail(t)
		r.script = []market.WebhookResult{mutes}
		time.Sleep(3 * time.Hour)
		for n := range 12 { // one lead in half a day
			x.tell(person(n))
			r.sendFor(x, day/2)
			if n == 8 && (x.hooksStand() != "1 pending 8 dead failing since 3h0m0s" && x.hooksStand() != "2 pending 7 dead failing since 3h0m0s") || n == 8 && len(notes.off) != 0 {
				t.Errorf("after four and a half days: %s, %v", x.hooksStand(), notes.off)
			}
		}
		if got := x.hooksStand(); got != "0 pending 12 dead failing since 3h0m0s off" || !slices.Equal(notes.off, []string{"acme"}) {
			t.Fatalf("after six days: %s, %v", got, notes.off)
		}
		tried := len(r.told)
		if last := r.told[tried-1].at; last < 3*time.Hour+5*day || last > 3*time.Hour+5*day+day/2 {
			t.Errorf("given up at %s", last)
		}
		x.crash()
		x.tell(person(20))
		r.sendFor(x, 2*day)
		if got := x.hooksStand(); got != "0 pending 13 dead failing since 3h0m0s off" || len(r.told) != tried {
			t.Errorf("while it is off: %s, %d attempts", got, len(r.told)-tried)
		}
		must.Succeed(t, x.engine.AsOperator("").SetWebhooksOff("acme", false))
		r.script = nil
		x.tell(person(21))
		r.sendFor(x, time.Minute)
		if got := x.hooksStand(); got != "0 pending 13 dead" || len(r.told) != tried+1 {
			t.Errorf("switched on: %s, %d attempts", got, len(r.told)-tried)
		}
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 13 || err != nil {
			t.Errorf("%d resent: %v", n, err)
		}
		r.sendFor(x, time.Minute)
		if got := x.hooksStand(); got != "0 pending 0 dead" || len(r.told) != tried+14 {
			t.Errorf("resent: %s, %d attempts", got, len(r.told)-tried)
		}
		if got := len(notes.outcomes); got != len(r.told) || notes.outcomes[got-1] != "acme delivered" || notes.outcomes[0] != "acme failed" {
			t.Errorf("%d attempts, and noted are %d: %v", len(r.told), got, notes.outcomes)
		}
	})
	trading(t, "with two attempts under way", plain(), func(t *testing.T, x *exchange) {
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		r := mail(t)
		r.script = []market.WebhookResult{nacks}
		x.tell(person(1))
		r.sendFor(x, 5*day)
		x.tell(person(2))
		x.tell(person(3))
		one, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		two, ok := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		if err := errors.Join(x.engine.RecordWebhookAttempt(one, nacks), x.engine.RecordWebhookAttempt(two, nacks)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := x.switches(); got != 1 || x.hooksStand() != "0 pending 3 dead failing since 0s off" {
			t.Errorf("switched off %d times: %s", got, x.hooksStand())
		}
	})
	trading(t, "is heard once in a while", plain(), func(t *testing.T, x *exchange) {
		r := mail(t)
		r.script = []market.WebhookResult{nacks, nacks, nacks, nacks, acks}
		for n := range 20 {
			x.tell(person(n))
			r.sendFor(x, day/2)
		}
		expectEqual(t, x.hooksStand(), "0 pending 0 dead", "after ten days")
	})
}

// The result of an attempt is recorded although the log's queue is full at first, so the webhook
// is sent once.
func TestWebhookResultOutlastsAFullQueue(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		refuse := 100
		x := begin(t, plain(), logThatRejects(func(kind event.Kind) error {
			if kind == event.KindWebhookAttempted && refuse > 0 {
				refuse--
				return engine.ErrBusy
			}
			return nil
		}))
		r := mail(t)
		x.tell(person(1))
		r.sendFor(x, time.Hour)
		expectEqual(t, x.hooksStand(), "0 pending 0 dead")
		expectEqual(t, fmt.Sprint(len(r.told), " told, ", refuse, " refusals left"), "1 told, 0 refusals left")
	})
}
