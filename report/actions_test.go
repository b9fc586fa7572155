package report

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/report/projection"
)

// actionID returns the id of the nth action, at a time after start.
func actionID(n byte, after time.Duration) market.RequestID {
	return market.RequestID(market.ComposeID(start.Add(after).UnixMilli(), [10]byte{n}))
}

// logAction logs the first event of an action.
func (l *testLog) logAction(n byte, after time.Duration) market.RequestID {
	id := actionID(n, after)
	l.log(after, &event.OperatorActionRecorded{
		Action: id, Phase: event.ActionBegun, At: start.Add(after).UnixNano(), By: fmt.Sprint("op", n%2), Credential: event.BySession, Role: market.RoleAdmin,
		Address: "192.0.2.7", Operation: "POST /pause", TargetKind: "buyer", Target: fmt.Sprint("buy_", n), Before: `{"paused":false}`,
	})
	return id
}

// actions returns all actions that the query selects, newest first, each with its state.
func (r *testReport) actions(q ActionQuery) (shown []string) {
	r.t.Helper()
	r.waitCaughtUp()
	q.Limit = 100
	found, next, err := r.SearchActions(context.Background(), &q)
	if err != nil || !next.IsZero() {
		r.t.Fatalf("SearchActions: next %s, %v", next, err)
	}
	for i := range found {
		a := &found[i]
		shown = append(shown, fmt.Sprint(a.Target, " ", a.Actor, " ", a.Ended != 0, " ", a.Status, " ", a.Before, a.After))
	}
	return shown
}

// TestActionsHaveBothEvents: the events of an action give one row, in one transaction or in several. An
// action without an end stays without an outcome.
func TestActionsHaveBothEvents(t *testing.T) {
	log := newTestLog()
	r := startReport(t, log, testOptions(log, t.TempDir()))
	end := func(id market.RequestID, after time.Duration, status uint32) {
		log.log(after, &event.OperatorActionRecorded{Action: id, Phase: event.ActionEnded, At: start.Add(after).UnixNano(), Status: status, After: `{"paused":true}`})
	}
	first := log.logAction(1, time.Second)
	r.waitCaughtUp()
	end(first, 2*time.Second, 204)
	second := log.logAction(2, 3*time.Second)
	end(second, 4*time.Second, 503)
	log.logAction(3, 5*time.Second)
	lost := actionID(4, 6*time.Second)
	end(lost, 6*time.Second, 200) // the log no longer has its first event
	want := []string{`  true 200 {"paused":true}`, `buy_3 op1 false 0 {"paused":false}`, `buy_2 op0 true 503 {"paused":false}{"paused":true}`, `buy_1 op1 true 204 {"paused":false}{"paused":true}`}
	if got := r.actions(ActionQuery{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for outcome, n := range map[string]int{"done": 2, "failed": 1, "unknown": 1} {
		if got := r.actions(ActionQuery{Outcome: outcome}); len(got) != n {
			t.Errorf("%s: %q", outcome, got)
		}
	}
	if got := r.actions(ActionQuery{Actor: "op1", From: start.Add(4 * time.Second).UnixNano()}); len(got) != 1 {
		t.Errorf("op1 since the fourth second: %q", got)
	}
	if got := r.actions(ActionQuery{Text: "BUY_2"}); len(got) != 1 {
		t.Errorf("with a text: %q", got)
	}
}

// TestActionsOfOneMillisecondKeepOrder: actions are in the order of the log, on one page and on
// several, although their ids have another order. A page after a removed action has the earlier ones.
func TestActionsOfOneMillisecondKeepOrder(t *testing.T) {
	log := newTestLog()
	r := startReport(t, log, testOptions(log, t.TempDir()))
	for _, n := range []byte{9, 3, 7, 1} {
		log.logAction(n, time.Second)
	}
	r.waitCaughtUp()
	var targets []string
	q := ActionQuery{Limit: 1}
	for {
		found, next, err := r.SearchActions(context.Background(), &q)
		must.Succeed(t, err)
		targets = append(targets, found[0].Target)
		if next.IsZero() {
			break
		}
		q.After = next
	}
	if want := []string{"buy_1", "buy_7", "buy_3", "buy_9"}; !slices.Equal(targets, want) {
		t.Errorf("got %q, want %q", targets, want)
	}
	if got := r.actions(ActionQuery{After: actionID(0, 2*time.Second)}); len(got) != 4 {
		t.Errorf("after a later action that was removed: %q", got)
	}
}

// TestRetentionRemovesActionsAndPersons: actions and hashes of persons end with the leads of their time.
func TestRetentionRemovesActionsAndPersons(t *testing.T) {
	log := newTestLog()
	opt := testOptions(log, t.TempDir())
	opt.Retention = 24*time.Hour - 30*time.Minute // by the clock of the tests
	hash := projection.ContactHash{7}
	opt.HashContact = func(*event.LeadDecided) []projection.ContactHash { return []projection.ContactHash{hash} }
	r := startReport(t, log, opt)
	for i, after := range []time.Duration{time.Minute, 40 * time.Minute, 50 * time.Minute} {
		log.logAction(byte(i+1), after)
		log.log(after, &event.LeadDecided{Lead: market.ComposeID(start.Add(after).UnixMilli(), [10]byte{byte(i + 1)}), Supplier: 1, Campaign: 1, Reason: market.ReasonNoBuyer})
	}
	r.waitUntil("old rows are removed", func() bool { return len(r.actions(ActionQuery{})) == 2 })
	found, _, err := r.FindLeadsOfPerson(context.Background(), hash, market.LeadID{}, 10)
	if must.Succeed(t, err); len(found) != 2 || found[0].ID[6] != 3 || found[0].Seq != 6 {
		t.Fatalf("found %+v", found)
	}
	log.log(51*time.Minute, &event.PersonalDataOfLeadsErased{Leads: []market.LeadID{found[0].ID}})
	r.waitCaughtUp()
	if found, _, err = r.FindLeadsOfPerson(context.Background(), hash, market.LeadID{}, 10); err != nil || len(found) != 1 || found[0].ID[6] != 2 {
		t.Errorf("after the erasure: %+v, %v", found, err)
	}
}
