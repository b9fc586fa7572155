package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/logtest"
)

// answered is what a call was answered, and how many seconds after dawn.
func (x *Explanation) answered() string {
	if x.Answer == nil {
		return "nothing"
	}
	text := fmt.Sprint(x.Answer.Status, " ", x.Answer.Result)
	if x.Answer.Reason != "" {
		text += " " + x.Answer.Reason
	}
	return fmt.Sprintf("%s at %ds", text, (int64(x.Answer.At)-logtest.Start)/1e9)
}

// cameTo is a fact of a story, which begins at dawn and goes on second by second.
type cameTo struct {
	how    event.Settlement
	status uint32
	fault  market.Fault
	next   int // the buyer that it goes on to
	url    string
}

type answerRow struct {
	what       string
	records    []cameTo
	ingest     string
	post       string // empty: the lead cannot have come by a post
	ingestSays string // of what was told, in the reason why; empty: nothing, since it is as it was told
	postSays   string
}

var answers = []answerRow{
	{"on its way", nil, "nothing", "nothing", "", ""},
	{"taken", []cameTo{{how: event.SettledDelivered, status: 201}}, "201 ACCEPTED at 1s", "201 ACCEPTED at 1s", "", ""},
	{"refused", []cameTo{{how: event.SettledRefused, status: 422}}, "201 UNMATCHED post_rejected at 1s", "422 post_rejected post_rejected at 1s", "", ""},
	{
		"still hanging when the answer is due",
		[]cameTo{{how: event.SettledPending, fault: market.FaultTimeout}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "", "answered 504 buyer_timeout, and the delivery went on",
	},
	{
		"not reached until then",
		[]cameTo{{how: event.SettledPending, fault: market.FaultConnect}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "answered 502 buyer_unavailable, and the delivery went on",
	},
	{
		"failing until then",
		[]cameTo{{how: event.SettledPending, status: 503}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "answered 502 buyer_unavailable",
	},
	{
		"taken after that",
		[]cameTo{{how: event.SettledPending, status: 503}, {how: event.SettledDelivered, status: 201}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "answered 502 buyer_unavailable",
	},
	{
		"refused after that",
		[]cameTo{{how: event.SettledPending, fault: market.FaultTimeout}, {how: event.SettledRefused, status: 422}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "The supplier had been told ACCEPTED.", "answered 504 buyer_timeout",
	},
	{
		"unknown at once",
		[]cameTo{{how: event.SettledUnknown, fault: market.FaultUnreadable, status: 200}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "answered 502 buyer_unavailable",
	},
	{
		"unknown at once, and then taken back",
		[]cameTo{{how: event.SettledUnknown, fault: market.FaultTimeout}, {how: event.SettledReleased}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "The supplier had been told ACCEPTED.", "answered 504 buyer_timeout",
	},
	{"cut off by a crash", []cameTo{{how: event.SettledPending}}, "nothing", "nothing", "", ""},
	{"cut off by a crash, and taken then", []cameTo{{how: event.SettledPending}, {how: event.SettledDelivered, status: 201}}, "nothing", "nothing", "", ""},
	{"refused, and taken by the next", []cameTo{{how: event.SettledRefused, status: 422, next: 3, url: "https://next.example"}, {how: event.SettledDelivered, status: 201}}, "201 ACCEPTED at 2s", "", "", ""},
	{"refused, and on its way to the next", []cameTo{{how: event.SettledRefused, status: 422, next: 3, url: "https://next.example"}}, "nothing", "", "", ""},
	{"refused, and recorded for the next", []cameTo{{how: event.SettledRefused, status: 422, next: 3}}, "201 ACCEPTED at 1s", "", "", ""},
}

// TestExplainAnswers: what was told on which path, whatever came later.
func TestExplainAnswers(t *testing.T) {
	for _, row := range answers {
		t.Run(row.what, func(t *testing.T) {
			c := newHistory(t)
			c.configured(1, "buy_1", "buy_2", "buy_3")
			ingest := c.LeadID(1)
			c.AddPosted(ingest)
			c.goes(ingest, row.records)
			row.judge(t, "an ingest", c.explained(ingest), row.ingest, row.ingestSays)
			if row.post == "" {
				return
			}
			c = newHistory(t)
			c.configured(1, "buy_1", "buy_2")
			held, post := c.offering(1, "theirs"), c.LeadID(2)
			c.Add(held)
			c.takenUp(post, held, 1, 0)
			c.goes(post, row.records, func(s *event.PostSettled) { s.Sale = atBid(held, 1) })
			row.judge(t, "a post", c.explained(post), row.post, row.postSays)
		})
	}
}

// goes writes what a post comes to, second by second.
func (c *history) goes(id market.LeadID, records []cameTo, change ...func(*event.PostSettled)) {
	c.t.Helper()
	for _, ev := range records {
		c.Advance(time.Second)
		c.AddSettled(id, ev.how, append([]func(*event.PostSettled){func(s *event.PostSettled) {
			s.Status, s.Fault, s.Post.URL = ev.status, ev.fault, ev.url
			switch {
			case ev.next != 0:
				s.Next = logtest.SaleTo(ev.next)
			case ev.how == event.SettledRefused || ev.how == event.SettledReleased:
				s.Reason = market.ReasonPostRejected
			}
		}}, change...)...)
	}
}

func (row *answerRow) judge(t *testing.T, path string, doc *Explanation, want, says string) {
	t.Helper()
	if got := doc.answered(); got != want {
		t.Errorf("%s is answered %s, want %s", path, got, want)
	}
	if !strings.Contains(doc.Why, says) || says == "" && strings.Contains(doc.Why, "answered") {
		t.Errorf("%s: %s", path, doc.Why)
	}
	crashed := strings.HasPrefix(row.what, "cut off")
	if noted := len(doc.Notes) == 1 && doc.Notes[0] == noteUnanswered; noted != crashed {
		t.Errorf("%s: %q", path, doc.Notes)
	}
}

// TestExplainAnswersAtOnce: of leads that are posted to nobody.
func TestExplainAnswersAtOnce(t *testing.T) {
	c := newHistory(t)
	sold, unsoldReasons, rejected := c.LeadID(1), c.LeadID(2), c.LeadID(3)
	c.Add(&event.LeadDecided{Lead: sold, Campaign: 1, Supplier: 1, Sale: logtest.SaleTo(1), Keep: c.Now + 1e15})
	c.Add(&event.LeadDecided{Lead: unsoldReasons, Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull, Keep: c.Now + 1e15})
	c.Add(&event.LeadDecided{
		Lead: rejected, Campaign: 1, Supplier: 1, Reason: market.ReasonDuplicate, Keep: c.Now + 1e15,
		Fields: []event.Field{{Name: sellerLeadField, Kind: market.KindString, Text: []byte("u")}},
	})
	for id, want := range map[market.LeadID]string{
		sold: "201 ACCEPTED at 0s", unsoldReasons: "201 UNMATCHED caps_full at 0s", rejected: "422 post_rejected duplicate at 0s",
	} {
		if got := c.explained(id).answered(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestExplainAnswersInAGap: where the facts between are out of reach, nothing is said
// of the answer: the last of them was not it.
func TestExplainAnswersInAGap(t *testing.T) {
	c := newHistory(t)
	id := c.LeadID(1)
	c.AddPosted(id)
	c.AddOtherLeads(10)
	c.AddSettled(id, event.SettledPending, func(s *event.PostSettled) { s.Fault = market.FaultTimeout })
	c.AddSettled(id, event.SettledDelivered)
	c.limits.entries = 3
	if doc := c.explained(id); doc.Delivery != "delivered" || !doc.Truncated || doc.Answer != nil {
		t.Errorf("%s, %s", doc.Delivery, doc.answered())
	}
	c.limits = defaultLimits
	if doc := c.explained(id); doc.answered() != "201 ACCEPTED at 0s" {
		t.Error(doc.answered())
	}
}
