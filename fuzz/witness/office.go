//go:build unix

package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Office is an operator who makes users, tokens, entries of the configuration and
// suppression lists all the while, over the admin API, and remembers of each what was
// acknowledged. Of an operation without an answer nobody knows: it may have been done or
// not, and nothing else; once that was looked at, it stays so. One operation is under way
// at a time, which is what tells a half-done one.
type Office struct {
	x      *Exchange
	chance *rand.Rand
	stop   chan struct{}
	gone   chan struct{}

	mu     sync.Mutex // held while something is done, and while all is looked at
	things []*thing
	tokens []*paper
	turn   int // what is made next has this number, as nothing else has
	found  findings
	done   Tally
}

// officePause is between two operations.
const officePause = 20 * time.Millisecond

// thing is one that is made, changed and removed.
type thing struct {
	path  string
	may   []string // what it may be; empty text: it is not there. The last is what was asked for last
	acked []string // what was acknowledged, the oldest first
	tried []string // likewise, and what had no answer
}

// paper is a token.
type paper struct {
	user *thing
	name string
	text string // empty: nobody was told of it
	id   string
	may  []string // good, ended
}

const (
	good  = "good"
	ended = "ended"
)

// openOffice begins it. It works until it is closed.
func openOffice(x *Exchange, seed uint64) *Office {
	o := &Office{x: x, chance: rand.New(rand.NewPCG(seed, 1<<35)), stop: make(chan struct{}), gone: make(chan struct{}), done: Tally{}}
	for _, path := range []string{
		"users/office_ann", "users/office_bob", "config/suppliers/office_sup", "config/buyers/office_buy", "config/buyers/office_other",
		"config/campaigns/office_cmp", officeList,
	} {
		o.things = append(o.things, &thing{path: path, may: []string{""}})
	}
	go o.work()
	x.t.Cleanup(o.Close)
	return o
}

func (o *Office) work() {
	defer close(o.gone)
	for {
		select {
		case <-o.stop:
			return
		case <-time.After(officePause):
		}
		if o.x.Address() == "" {
			continue // there is nobody to ask
		}
		o.mu.Lock()
		o.step()
		o.mu.Unlock()
	}
}

// Close ends its work. What it did can still be looked at.
func (o *Office) Close() {
	select {
	case <-o.stop:
	default:
		close(o.stop)
	}
	<-o.gone
}

// Pause has it do nothing until it is told to go on.
func (o *Office) Pause() (goOn func()) {
	o.mu.Lock()
	return o.mu.Unlock
}

// verdict is what became of an operation, as far as its asker knows.
type verdict int

const (
	notDone    verdict = iota // it was not done
	nobodySaid                // nobody said
	isDone                    // it was done
)

// judge takes an answer for a verdict. An operator who is told that it was not done has
// to be able to rely on that; a fault of the exchange is no word on it.
func (o *Office) judge(what string, status int, text []byte, err error) verdict {
	switch {
	case err != nil || status >= 500:
		o.done.add(what, "no answer, or a fault", 1)
		return nobodySaid
	case status < 300:
		o.done.add(what, "done", 1)
		return isDone
	case status != 409 && status != 429:
		o.found.add("the office: %s was answered %d %.300s", what, status, text)
	}
	o.done.add(what, fmt.Sprint(status), 1)
	return notDone
}

// becomes notes what an operation made of a thing.
func (t *thing) becomes(next string, v verdict) {
	switch v {
	case isDone:
		t.may = []string{next}
		t.acked, t.tried = append(t.acked, next), append(t.tried, next)
	case nobodySaid:
		t.may, t.tried = append(t.may, next), append(t.tried, next)
	}
}

// is notes what a thing was seen to be, by what of it can be seen.
func (o *Office) is(t *thing, seen string, matches func(may string) bool) {
	if may := slices.DeleteFunc(slices.Clone(t.may), func(may string) bool { return !matches(may) }); len(may) > 0 {
		t.may = may
		return
	}
	o.found.add("the office: %s may be one of %q, by what was acknowledged, and is %q", t.path, t.may, seen)
	t.may = []string{seen}
}

// Count adds what it did to a tally.
func (o *Office) Count(t Tally) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, answers := range o.done {
		for answer, n := range answers {
			t.add("office: "+kind, answer, n)
		}
	}
}

// A Clerk takes down what is wrong. *testing.T is one, and so is a program's own.
// Fatal and Fatalf do not return; they may be called by the goroutine alone that
// runs the show.
type Clerk interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}
