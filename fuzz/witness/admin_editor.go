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

// AdminEditor edits users, tokens, configuration entries and suppression lists through the
// admin API while the faults happen. It remembers each acknowledged edit.
//
// An edit without an answer may have been applied or not. Both results are allowed until the
// editor inspects the object; after that the seen result is final. A half-applied edit is
// always a finding. Only one edit is in flight at a time, so a half-applied edit is
// recognizable.
type AdminEditor struct {
	x       *Exchange
	random  *rand.Rand
	stop    chan struct{}
	stopped chan struct{}

	mu         sync.Mutex // held during an edit and during Check
	objects    []*adminObject
	tokens     []*apiToken
	lastNumber int // number of the newest edit; each edit has its own
	findings   findings
	tally      Tally
}

// editPause is the time between two edits.
const editPause = 20 * time.Millisecond

// adminObject is an object that the editor creates, changes and deletes.
type adminObject struct {
	path         string
	possible     []string // possible current values; "": the object does not exist. The last one is the newest request.
	acknowledged []string // acknowledged values, oldest first
	attempted    []string // acknowledged values and values of edits without an answer
}

// apiToken is a token of a user.
type apiToken struct {
	user     *adminObject
	name     string
	text     string // the secret; empty: the answer with it was lost
	id       string
	possible []string // tokenValid, tokenEnded or both
}

const (
	tokenValid = "good"
	tokenEnded = "ended"
)

// startAdminEditor starts an editor. It works until Close.
func startAdminEditor(x *Exchange, seed uint64) *AdminEditor {
	o := &AdminEditor{x: x, random: rand.New(rand.NewPCG(seed, 1<<35)), stop: make(chan struct{}), stopped: make(chan struct{}), tally: Tally{}}
	for _, path := range []string{
		"users/office_ann", "users/office_bob", "config/suppliers/office_sup", "config/buyers/office_buy", "config/buyers/office_other",
		"config/campaigns/office_cmp", editedList,
	} {
		o.objects = append(o.objects, &adminObject{path: path, possible: []string{""}})
	}
	go o.run()
	x.t.Cleanup(o.Close)
	return o
}

func (o *AdminEditor) run() {
	defer close(o.stopped)
	for {
		select {
		case <-o.stop:
			return
		case <-time.After(editPause):
		}
		if o.x.Address() == "" {
			continue // the exchange is down
		}
		o.mu.Lock()
		o.editOne()
		o.mu.Unlock()
	}
}

// Close stops the editor. Check still works afterwards.
func (o *AdminEditor) Close() {
	select {
	case <-o.stop:
	default:
		close(o.stop)
	}
	<-o.stopped
}

// Pause stops new edits until the caller calls resume.
func (o *AdminEditor) Pause() (resume func()) {
	o.mu.Lock()
	return o.mu.Unlock
}

// editResult is the result of an edit, as far as its sender knows.
type editResult int

const (
	notApplied    editResult = iota // the exchange refused the edit
	resultUnknown                   // no answer, or a 5xx answer
	applied                         // the exchange acknowledged the edit
)

// classify returns the result that an answer promises. A refusal is a promise that the edit was
// not applied. A 5xx answer promises nothing.
func (o *AdminEditor) classify(what string, status int, text []byte, err error) editResult {
	switch {
	case err != nil || status >= 500:
		o.tally.add(what, "no answer, or a fault", 1)
		return resultUnknown
	case status < 300:
		o.tally.add(what, "done", 1)
		return applied
	case status != 409 && status != 429:
		o.findings.add("admin edits: %s returned status %d: %.300s", what, status, text)
	}
	o.tally.add(what, fmt.Sprint(status), 1)
	return notApplied
}

// recordResult updates the object's possible values after an edit.
func (t *adminObject) recordResult(next string, v editResult) {
	switch v {
	case applied:
		t.possible = []string{next}
		t.acknowledged, t.attempted = append(t.acknowledged, next), append(t.attempted, next)
	case resultUnknown:
		t.possible, t.attempted = append(t.possible, next), append(t.attempted, next)
	}
}

// checkSeen reduces the possible values to those that match the seen one. It adds a finding if
// no possible value matches.
func (o *AdminEditor) checkSeen(t *adminObject, seen string, matches func(may string) bool) {
	if may := slices.DeleteFunc(slices.Clone(t.possible), func(may string) bool { return !matches(may) }); len(may) > 0 {
		t.possible = may
		return
	}
	o.findings.add("admin edits: %s: the acknowledged edits allow one of %q, but the exchange shows %q", t.path, t.possible, seen)
	t.possible = []string{seen}
}

// AddTo adds the editor's answers to a tally.
func (o *AdminEditor) AddTo(t Tally) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, answers := range o.tally {
		for answer, n := range answers {
			t.add("admin edit: "+kind, answer, n)
		}
	}
}

// TB receives findings. It is the part of testing.TB that this package needs, so a program can
// implement it as well as *testing.T. Fatal and Fatalf do not return; only the goroutine that
// runs the test may call them.
type TB interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}
