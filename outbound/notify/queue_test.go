package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const pauseAfterFirstFailure = 5 * time.Second

// fakeReceivers are channels that succeed, fail or hang. Time is virtual: a pause of the queue moves
// it on.
type fakeReceivers struct {
	mu      sync.Mutex
	now     time.Time
	answers map[string]func(attempt int) error
	tries   map[string]int
	outcome chan string
	pauses  []time.Duration
	hanging chan struct{} // closed at the end of the test
}

func newReceivers(t *testing.T, answers map[string]func(attempt int) error) *fakeReceivers {
	f := &fakeReceivers{now: time.Unix(1000, 0), answers: answers, tries: map[string]int{}, outcome: make(chan string, 5000), hanging: make(chan struct{})}
	return f
}

func (f *fakeReceivers) queue(t *testing.T, options QueueOptions) *Queue {
	options.Send, options.Done, options.Now, options.Sleep = f.send, f.done, f.clock, f.sleep
	q := NewQueue(options)
	t.Cleanup(q.Close)
	t.Cleanup(func() { close(f.hanging) }) // runs before Close
	return q
}

func (f *fakeReceivers) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fakeReceivers) sleep(_ context.Context, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now, f.pauses = f.now.Add(d), append(f.pauses, d)
}

func (f *fakeReceivers) send(ctx context.Context, item Item) error {
	f.mu.Lock()
	f.tries[item.Channel]++
	answer, try := f.answers[item.Channel], f.tries[item.Channel]
	f.mu.Unlock()
	if answer == nil { // it hangs
		select {
		case <-ctx.Done():
		case <-f.hanging:
		}
		return errors.New("hangs")
	}
	return answer(try)
}

func (f *fakeReceivers) done(item Item, outcome FinalOutcome, err error) {
	f.outcome <- strings.TrimSpace(fmt.Sprintf("%s %d %s", item.Channel, item.ID, [...]string{Sent: "sent", Failed: "failed", Dropped: "dropped"}[outcome]))
}

// outcomes returns the next outcomes in their order.
func (f *fakeReceivers) outcomes(count int) string {
	var all []string
	for range count {
		all = append(all, <-f.outcome)
	}
	return strings.Join(all, ", ")
}

func item(id uint64, channel string) Item {
	return Item{ID: id, Channel: channel, Due: time.Unix(1000, 0)}
}

func works(int) error { return nil }

func TestItemsAreSentInOrder(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": works})
	q := f.queue(t, QueueOptions{})
	for id := range uint64(5) {
		q.Add(item(id, "a"))
	}
	if got := f.outcomes(5); got != "a 0 sent, a 1 sent, a 2 sent, a 3 sent, a 4 sent" {
		t.Error(got)
	}
	if h := q.HealthByChannel()["a"]; h.Sent != 5 || h.Queued != 0 || h.LastSuccess.IsZero() || !h.FailingSince.IsZero() {
		t.Errorf("%+v", h)
	}
}

// A channel that hangs delays no other one.
func TestHangingChannelBlocksOnlyItself(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": works, "b": works})
	q := f.queue(t, QueueOptions{})
	q.Add(item(1, "hangs"))
	q.Add(item(2, "hangs"))
	for id := range uint64(20) {
		q.Add(item(id, "a"))
		q.Add(item(id, "b"))
	}
	f.outcomes(40)
	if h := q.HealthByChannel()["hangs"]; h.Queued != 2 || h.Sent != 0 {
		t.Errorf("%+v", h)
	}
}

func TestFailedAttemptsAreRepeatedWithGrowingPauses(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": func(attempt int) error {
		if attempt <= 6 {
			return fmt.Errorf("failure %d", attempt)
		}
		return nil
	}})
	q := f.queue(t, QueueOptions{})
	q.Add(item(1, "a"))
	if got := f.outcomes(1); got != "a 1 sent" {
		t.Error(got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got, want := fmt.Sprint(f.pauses), "[5s 15s 1m0s 5m0s 15m0s 15m0s]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestResumeEndsPause: the next attempt starts at once, and a failure after it begins with the
// shortest pause again.
func TestResumeEndsPause(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": func(attempt int) error {
		if attempt <= 3 {
			return fmt.Errorf("failure %d", attempt)
		}
		return nil
	}})
	pauses := make(chan time.Duration)
	q := NewQueue(QueueOptions{Send: f.send, Done: f.done, Now: f.clock, Sleep: func(ctx context.Context, d time.Duration) {
		pauses <- d
		<-ctx.Done()
	}})
	t.Cleanup(q.Close)
	q.Resume("none")
	q.Add(item(1, "a"))
	for range 3 {
		if d := <-pauses; d != pauseAfterFirstFailure {
			t.Errorf("paused for %v, want %v", d, pauseAfterFirstFailure)
		}
		q.Resume("a")
		if h := q.HealthByChannel()["a"]; h.Sent != 0 {
			t.Errorf("%+v", h)
		}
	}
	if got := f.outcomes(1); got != "a 1 sent" {
		t.Error(got)
	}
}

func TestPanicIsFailedAttempt(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": func(attempt int) error {
		if attempt == 1 {
			panic("a mail library")
		}
		return nil
	}})
	q := f.queue(t, QueueOptions{})
	q.Add(item(1, "a"))
	if got := f.outcomes(1); got != "a 1 sent" {
		t.Error(got)
	}
}

func TestOldItemsFail(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": func(int) error { return errors.New("refused") }})
	q := f.queue(t, QueueOptions{MaxAge: time.Hour})
	q.Add(item(1, "a"))
	q.Add(item(2, "a"))
	if got := f.outcomes(2); got != "a 1 failed, a 2 failed" {
		t.Error(got)
	}
	if h := q.HealthByChannel()["a"]; h.Failed != 2 || h.LastError != "refused" || h.FailingSince.IsZero() {
		t.Errorf("%+v", h)
	}
}

func TestRemovedChannelDropsItems(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"a": func(int) error { return ErrNoChannel }})
	q := f.queue(t, QueueOptions{})
	q.Add(item(1, "a"))
	if got := f.outcomes(1); got != "a 1 dropped" {
		t.Error(got)
	}
	if len(f.pauses) > 0 {
		t.Errorf("pauses %v", f.pauses)
	}
}

// A full queue drops the oldest item about the end of an alert, or else the oldest one. It keeps the
// item that is on its way.
func TestFullQueueDropsOldest(t *testing.T) {
	f := newReceivers(t, nil)
	q := f.queue(t, QueueOptions{Limit: 4})
	for id := range uint64(4) {
		i := item(id, "a")
		i.Resolved = id == 2 || id == 0
		q.Add(i)
	}
	for id := uint64(4); id < 7; id++ {
		q.Add(item(id, "a"))
	}
	if got := f.outcomes(3); got != "a 2 dropped, a 1 dropped, a 3 dropped" {
		t.Error(got)
	}
	if h := q.HealthByChannel()["a"]; h.Queued != 4 || h.Dropped != 3 {
		t.Errorf("%+v", h)
	}
}

func TestQueueIsBounded(t *testing.T) {
	f := newReceivers(t, nil)
	q := f.queue(t, QueueOptions{})
	for id := range uint64(3000) {
		q.Add(item(id, "a"))
	}
	if h := q.HealthByChannel()["a"]; h.Queued != 1000 || h.Dropped != 2000 {
		t.Errorf("%+v", h)
	}
}

// A closed queue gives up the attempts, and reports no outcome for them.
func TestClosedQueueKeepsItemsUnfinished(t *testing.T) {
	f := newReceivers(t, map[string]func(int) error{"b": works})
	q := f.queue(t, QueueOptions{})
	q.Add(item(1, "hangs"))
	q.Close()
	q.Add(item(2, "b"))
	select {
	case got := <-f.outcome:
		t.Error(got)
	default:
	}
}
