//go:build unix

package history

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// step returns an operation from call to end; end 0 means without a clear result.
func step(call, end int64, r request, a answer) operation {
	o := operation{request: r, answer: a, call: call, end: end}
	o.isKnown = end != 0
	if !o.isKnown {
		o.end = openEnd
	}
	return o
}

func created(text string, replayed bool) answer {
	a := newAnswer(http.StatusCreated, http.Header{}, []byte(text))
	a.replayed = replayed
	return a
}

func failed(status int, code string) answer {
	return newAnswer(status, http.Header{}, []byte(`{"error":"`+code+`"}`))
}

func unsold(reason string) answer {
	return created(`{"data":{"status":"UNMATCHED","reason":"`+reason+`"}}`, false)
}

func soldTo(buyer string) answer {
	return created(`{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"`+buyer+`"}}`, false)
}

func found(status string) answer {
	return newAnswer(http.StatusOK, http.Header{}, []byte(`{"data":{"status":"`+status+`"}}`))
}

// modelCase is a history and the model that accepts or rejects it.
type modelCase struct {
	name  string
	valid bool
	all   []operation
}

// expectResults checks that each model accepts the valid histories and rejects the others.
func expectResults(t *testing.T, model *porcupine.Model, operations func([]operation) []operation, cases []modelCase) {
	t.Helper()
	for _, c := range cases {
		selected := operations(c.all)
		if len(selected) == 0 {
			t.Errorf("%s: the model selects no operation", c.name)
		}
		if valid := porcupine.CheckOperations(*model, forPorcupine(selected)); valid != c.valid {
			t.Errorf("%s: valid is %t, want %t", c.name, valid, c.valid)
		}
	}
}

func TestKeyModel(t *testing.T) {
	a, b := request{kind: ingest, key: "k"}, request{kind: ingest, key: "k", variant: 1}
	one, two := created("1", false), created("2", false)
	again := created("1", true)
	reused := failed(http.StatusUnprocessableEntity, "idempotency_key_reused")
	expectResults(t, &keyModel, keyOperations, []modelCase{
		{"a repeat", true, []operation{step(1, 2, a, one), step(3, 4, a, again)}},
		{"a repeat that ends first", true, []operation{step(1, 5, a, one), step(2, 3, a, again)}},
		{"a repeat before the request", false, []operation{step(4, 5, a, one), step(2, 3, a, again)}},
		{"two decisions", false, []operation{step(1, 5, a, one), step(2, 3, a, two)}},
		{"another replay", false, []operation{step(1, 2, a, one), step(3, 4, a, created("2", true))}},
		{"another body", true, []operation{step(1, 2, a, one), step(3, 4, b, reused)}},
		{"another body that is accepted", false, []operation{step(1, 2, a, one), step(3, 4, b, two)}},
		{"another body at the same time", true, []operation{step(1, 4, a, reused), step(2, 3, b, one)}},
		{"reused without a use", false, []operation{step(1, 2, a, reused), step(3, 4, a, one)}},
		{"an unknown result that took effect", true, []operation{step(1, 0, a, answer{}), step(3, 4, a, again)}},
		{"an unknown result without effect", true, []operation{step(1, 0, a, answer{}), step(3, 4, a, one)}},
		{"an unknown result of another body", true, []operation{step(1, 0, b, answer{}), step(2, 0, a, answer{}), step(3, 4, a, reused)}},
		{"an unknown result with two effects", false, []operation{step(1, 0, a, answer{}), step(3, 4, a, again), step(5, 6, a, created("2", true))}},
		{"an error", false, []operation{step(1, 2, a, failed(http.StatusNotFound, "not_found"))}},
	})
}

func TestPersonModel(t *testing.T) {
	lead := func(key string) request { return request{kind: ingest, key: key, person: "p"} }
	duplicate, sold := unsold("duplicate"), soldTo(restBuyer)
	expectResults(t, &personModel, personOperations, []modelCase{
		{"sold once", true, []operation{step(1, 2, lead("a"), sold), step(3, 4, lead("b"), duplicate)}},
		{"sold twice", false, []operation{step(1, 4, lead("a"), sold), step(2, 3, lead("b"), sold)}},
		{"a duplicate of no lead", false, []operation{step(1, 2, lead("a"), duplicate), step(3, 4, lead("b"), sold)}},
		{"an unknown lead is sold", true, []operation{step(1, 0, lead("a"), answer{}), step(3, 4, lead("b"), duplicate)}},
		{"a later attempt has the result", true, []operation{step(1, 0, lead("a"), answer{}), step(3, 4, lead("b"), duplicate), step(5, 6, lead("a"), sold)}},
		{"no buyer", false, []operation{step(1, 2, lead("a"), unsold("no_buyer"))}},
	})
}

func TestBudgetModel(t *testing.T) {
	b := &budget{buyer: "b", reason: "caps_full", whole: 2, cost: 2}
	lead := func(key string) request { return request{kind: ingest, key: key, budget: b} }
	back := func(key, lead string) request {
		return request{kind: returnLead, key: key, lead: lead, budget: b}
	}
	add := request{kind: topUp, budget: b, amount: 2}
	read := func(left int64) operation {
		return step(90, 91, request{kind: readBudget, budget: b}, answer{left: left})
	}
	sold, full, done := soldTo("b"), unsold("caps_full"), answer{status: http.StatusOK}
	expectResults(t, &budgetModel, budgetOperations, []modelCase{
		{"sold, then full", true, []operation{step(1, 2, lead("a"), sold), step(3, 4, lead("b"), full), read(0)}},
		{"exceeded", false, []operation{step(1, 2, lead("a"), sold), step(1, 2, lead("b"), sold)}},
		{"full too early", false, []operation{step(1, 2, lead("a"), full), step(3, 4, lead("b"), sold)}},
		{"full after a return", false, []operation{step(1, 2, lead("a"), sold), step(3, 4, back("r", "a"), done), step(5, 6, lead("b"), full)}},
		{"a return", true, []operation{step(1, 2, lead("a"), sold), step(3, 4, back("r", "a"), done), step(5, 6, lead("b"), sold), read(0)}},
		{"two returns of a lead", true, []operation{step(1, 2, lead("a"), sold), step(3, 6, back("r", "a"), done), step(3, 6, back("s", "a"), done), read(2)}},
		{"money back twice", false, []operation{step(1, 2, lead("a"), sold), step(3, 6, back("r", "a"), done), step(3, 6, back("s", "a"), done), read(4)}},
		{"a return is refused", false, []operation{step(1, 2, lead("a"), sold), step(3, 4, back("r", "a"), failed(http.StatusNotFound, "not_found"))}},
		{"a top-up", true, []operation{step(1, 2, lead("a"), sold), step(3, 4, add, done), step(5, 6, lead("b"), sold), read(0)}},
		{"a lost top-up", false, []operation{step(3, 4, add, done), read(2)}},
		{"an unknown top-up has an effect", true, []operation{step(3, 0, add, answer{}), read(4)}},
		{"an unknown top-up has no effect", true, []operation{step(3, 0, add, answer{}), read(2)}},
		{"an unknown lead", true, []operation{step(1, 0, lead("a"), answer{}), step(3, 4, lead("b"), full), read(0)}},
		{"an unknown lead without an effect", true, []operation{step(1, 0, lead("a"), answer{}), step(3, 4, lead("b"), sold), read(0)}},
		{"half a lead", false, []operation{step(1, 0, lead("a"), answer{}), read(1)}},
	})
	b.fallback = restBuyer
	expectResults(t, &budgetModel, budgetOperations, []modelCase{
		{"the next buyer", true, []operation{step(1, 2, lead("a"), sold), step(3, 4, lead("b"), soldTo(restBuyer))}},
		{"the next buyer too early", false, []operation{step(1, 2, lead("b"), soldTo(restBuyer)), step(3, 4, lead("a"), sold)}},
		{"unsold instead", false, []operation{step(1, 2, lead("a"), sold), step(3, 4, lead("b"), full)}},
	})
}

func TestAuctionModel(t *testing.T) {
	by := func(key string) request { return request{kind: post, key: key, auction: "a"} }
	one, two := created(`{"id":"1"}`, false), created(`{"id":"2"}`, false)
	taken, expired := failed(http.StatusConflict, "already_sold"), failed(http.StatusGone, "bid_expired")
	expectResults(t, &auctionModel, auctionOperations, []modelCase{
		{"one sale", true, []operation{step(1, 4, by("k"), taken), step(2, 3, by("m"), one), step(5, 6, by("m"), one)}},
		{"two sales", false, []operation{step(1, 4, by("k"), two), step(2, 3, by("m"), one)}},
		{"two answers", false, []operation{step(1, 4, by("k"), two), step(2, 3, by("k"), one)}},
		{"taken before the sale", false, []operation{step(1, 2, by("k"), taken), step(3, 4, by("m"), one)}},
		{"taken by the own post", false, []operation{step(1, 2, by("k"), one), step(3, 4, by("k"), taken)}},
		{"taken by an unknown post", true, []operation{step(1, 0, by("k"), answer{}), step(3, 4, by("m"), taken)}},
		{"expired", true, []operation{step(1, 2, by("k"), expired), step(3, 4, by("m"), expired)}},
		{"expired after the sale", false, []operation{step(1, 2, by("k"), one), step(3, 4, by("m"), expired)}},
		{"an unknown bid", false, []operation{step(1, 2, by("k"), failed(http.StatusUnprocessableEntity, "invalid_bid_token"))}},
	})
}

func TestLeadModel(t *testing.T) {
	read, back := request{kind: lookup, lead: "l"}, request{kind: returnLead, key: "r", lead: "l"}
	accepted, returned, done := found("ACCEPTED"), found("returned"), answer{status: http.StatusOK}
	expectResults(t, &leadModel, leadOperations, []modelCase{
		{"returned", true, []operation{step(1, 2, read, accepted), step(3, 4, back, done), step(5, 6, read, returned)}},
		{"a stale read", false, []operation{step(3, 4, back, done), step(5, 6, read, accepted)}},
		{"a read during the return", true, []operation{step(1, 6, back, done), step(2, 3, read, accepted), step(4, 5, read, returned)}},
		{"a read that goes back", false, []operation{step(1, 6, back, done), step(2, 3, read, returned), step(4, 5, read, accepted)}},
		{"not found", false, []operation{step(1, 2, read, failed(http.StatusNotFound, "not_found"))}},
		{"an unknown return", true, []operation{step(1, 0, back, answer{}), step(2, 3, read, accepted), step(4, 5, read, returned)}},
	})
}

// failures records the errors of a test instead of failing it.
type failures struct {
	*testing.T
	texts []string
}

func (f *failures) Error(args ...any) { f.texts = append(f.texts, fmt.Sprint(args...)) }

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

// A violation is reported with the operations, and with a page.
func TestViolationIsReported(t *testing.T) {
	back := request{kind: returnLead, key: "r", lead: "l"}
	recorded := &failures{T: t}
	checkHistory(recorded, t.TempDir(), "h", []operation{
		step(1, 2, back, answer{status: http.StatusOK}), step(3, 4, request{kind: lookup, lead: "l"}, found("ACCEPTED")),
	})
	if len(recorded.texts) != 1 || !strings.Contains(recorded.texts[0], "lead model: Illegal: no sequence of these 2 operations") {
		t.Errorf("got %q", recorded.texts)
	}
}
