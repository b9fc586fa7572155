package notify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/outbound/mail"
)

func partly(accepted, refused, deferred []string) error {
	return fmt.Errorf("attempt: %w", &mail.RecipientError{Accepted: accepted, Refused: refused, Deferred: deferred})
}

// An e-mail that reached some recipients is not repeated to these, and ends when the others have
// it or are refused.
func TestPartlyAcceptedEmail(t *testing.T) {
	a, b, c := []string{"a"}, []string{"b"}, []string{"c"}
	for name, test := range map[string]struct {
		attempts []error
		want     string // outcome and number of attempts
		known    string // recipients that had it before the last attempt
		healthy  bool   // without an error in the channel's health
	}{
		"the rest is refused":              {[]error{partly(a, b, nil)}, "sent 1", "[]", false},
		"the rest accepts later":           {[]error{partly(a, nil, b), nil}, "sent 2", "[a]", true},
		"the rest is refused later":        {[]error{partly(a, nil, b), partly(nil, b, nil)}, "sent 2", "[a]", false},
		"one accepts, one is refused":      {[]error{partly(a, nil, []string{"b", "c"}), partly(b, c, nil)}, "sent 2", "[a]", false},
		"each accepts at its own attempt":  {[]error{partly(a, nil, []string{"b", "c"}), partly(b, nil, c), errors.New("no answer"), nil}, "sent 4", "[a b]", true},
		"all are refused until it is over": {[]error{partly(nil, a, nil)}, "failed 1000", "[]", false},
	} {
		attempts, known := 0, []string{}
		f := newReceivers(t, nil)
		ended := make(chan string, 1)
		q := NewQueue(QueueOptions{
			Now: f.clock, Sleep: f.sleep,
			Send: func(_ context.Context, i Item) error {
				attempts++
				known = i.Accepted
				return test.attempts[min(attempts, len(test.attempts))-1]
			},
			Done: func(_ Item, outcome FinalOutcome, _ error) {
				ended <- [...]string{Sent: "sent", Failed: "failed", Dropped: "dropped"}[outcome]
			},
		})
		q.Add(item(1, "mail"))
		outcome := <-ended
		q.Close()
		if outcome == "failed" {
			attempts = 1000
		}
		if got := fmt.Sprintf("%s %d", outcome, attempts); got != test.want || fmt.Sprint(known) != test.known {
			t.Errorf("%s: %s, known %v, want %s, %s", name, got, known, test.want, test.known)
		}
		if h := q.HealthByChannel()["mail"]; (h.LastError == "") != test.healthy || h.FailingSince.IsZero() != (outcome == "sent") {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// A closing queue records an e-mail that no attempt can complete.
func TestClosingQueueRecordsRefusedRecipients(t *testing.T) {
	var q *Queue
	ended := make(chan FinalOutcome, 1)
	sending := make(chan struct{})
	q = NewQueue(QueueOptions{
		Now: newReceivers(t, nil).clock, Sleep: func(context.Context, time.Duration) {},
		Send: func(ctx context.Context, _ Item) error {
			close(sending)
			<-ctx.Done()
			return partly([]string{"a"}, []string{"b"}, nil)
		},
		Done: func(_ Item, outcome FinalOutcome, _ error) { ended <- outcome },
	})
	q.Add(item(1, "mail"))
	<-sending
	q.Close()
	select {
	case outcome := <-ended:
		if outcome != Sent {
			t.Error(outcome)
		}
	default:
		t.Error("no outcome; a restart sends it again")
	}
}
