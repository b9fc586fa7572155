//go:build unix

package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
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
	t       testing.TB
	target  editorTarget
	random  *rand.Rand
	stop    context.CancelFunc
	running sync.WaitGroup

	mu         sync.Mutex // held during an edit and during CheckEdits
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

// apiToken is a token of a user. Its values are tokenValid and tokenEnded.
type apiToken struct {
	adminObject
	user *adminObject
	name string
	text string // the secret; empty: the answer with it was lost
	id   string
}

const (
	tokenValid = "good"
	tokenEnded = "ended"
)

// editorTarget is the exchange that an AdminEditor edits.
type editorTarget struct {
	adminURL func() string // for the next request
	isUp     func() bool
	patience time.Duration // a read may fail for so long
}

// startAdminEditor starts an editor. It works until Close.
func startAdminEditor(t testing.TB, target editorTarget, seed uint64) *AdminEditor {
	o := &AdminEditor{t: t, target: target, random: rand.New(rand.NewPCG(seed, 1<<35)), tally: Tally{}}
	for _, path := range []string{
		"users/office_ann", "users/office_bob", "config/suppliers/office_sup", "config/buyers/office_buy", "config/buyers/office_other",
		"config/campaigns/office_cmp", editedList,
	} {
		o.objects = append(o.objects, &adminObject{path: path, possible: []string{""}})
	}
	var ctx context.Context
	ctx, o.stop = context.WithCancel(context.Background())
	o.running.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(editPause) {
			if o.target.isUp() {
				o.mu.Lock()
				o.makeRandomEdit()
				o.mu.Unlock()
			}
		}
	})
	t.Cleanup(o.Close)
	return o
}

// Close stops the editor. CheckEdits still works afterwards.
func (o *AdminEditor) Close() {
	o.stop()
	o.running.Wait()
}

// PauseEdits stops new edits until the caller calls resume.
func (o *AdminEditor) PauseEdits() (resume func()) {
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

// classifyAnswer returns the result that an answer promises. A refusal is a promise that the edit
// was not applied. A 5xx answer promises nothing.
func (o *AdminEditor) classifyAnswer(edit string, status int, text []byte, err error) editResult {
	switch {
	case err != nil || status >= 500:
		o.tally.add(edit, "no answer, or a fault", 1)
		return resultUnknown
	case status < 300:
		o.tally.add(edit, "done", 1)
		return applied
	case status != 409 && status != 429:
		o.findings.add("admin edits: %s returned status %d: %.300s", edit, status, text)
	}
	o.tally.add(edit, fmt.Sprint(status), 1)
	return notApplied
}

// recordResult updates the object's possible values after an edit.
func (t *adminObject) recordResult(newValue string, result editResult) {
	switch result {
	case applied:
		t.possible = []string{newValue}
		t.acknowledged, t.attempted = append(t.acknowledged, newValue), append(t.attempted, newValue)
	case resultUnknown:
		t.possible, t.attempted = append(t.possible, newValue), append(t.attempted, newValue)
	}
}

// checkSeenValue reduces the possible values to those that match the seen one: the exchange shows
// only the first word of a user's value. It adds a finding if no possible value matches.
func (o *AdminEditor) checkSeenValue(t *adminObject, seen string) {
	differs := func(may string) bool { return may != seen && (seen == "" || !strings.HasPrefix(may, seen+" ")) }
	if may := slices.DeleteFunc(slices.Clone(t.possible), differs); len(may) > 0 {
		t.possible = may
		return
	}
	o.findings.add("admin edits: %s: the acknowledged edits allow one of %q, but the exchange shows %q", t.path, t.possible, seen)
	t.possible = []string{seen}
}

// AddCountsTo adds the editor's answers to a tally.
func (o *AdminEditor) AddCountsTo(t Tally) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, answers := range o.tally {
		for answer, n := range answers {
			t.add("admin edit: "+kind, answer, n)
		}
	}
}
