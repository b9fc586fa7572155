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

// answerText returns the answer to the call, with the seconds since logtest.Start.
func (x *Explanation) answerText() string {
	if x.Answer == nil {
		return "nothing"
	}
	text := fmt.Sprint(x.Answer.Status, " ", x.Answer.Result)
	if x.Answer.Reason != "" {
		text += " " + x.Answer.Reason
	}
	return fmt.Sprintf("%s at %ds", text, (int64(x.Answer.At)-logtest.Start)/1e9)
}

// settlement is an event of a delivery. The tests record one per second.
type settlement struct {
	result event.PostSettlement
	status uint32
	fault  market.OutboundRequestFault
	next   int // the next buyer; 0 for no other buyer
	url    string
}

type answerRow struct {
	name      string
	records   []settlement
	ingest    string
	post      string // empty if a posted lead cannot have this course
	ingestWhy string // part of Why about the answer; empty if the answer agrees with the current state
	postWhy   string
}

var answers = []answerRow{
	{"in delivery", nil, "nothing", "nothing", "", ""},
	{"accepted", []settlement{{result: event.SettledDelivered, status: 201}}, "201 ACCEPTED at 1s", "201 ACCEPTED at 1s", "", ""},
	{"refused", []settlement{{result: event.SettledRefused, status: 422}}, "201 UNMATCHED post_rejected at 1s", "422 post_rejected post_rejected at 1s", "", ""},
	{
		"no buyer response when the answer is due",
		[]settlement{{result: event.SettledPending, fault: market.FaultTimeout}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "", "got 504 buyer_timeout while the delivery continued",
	},
	{
		"not reached when the answer is due",
		[]settlement{{result: event.SettledPending, fault: market.FaultConnect}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "got 502 buyer_unavailable while the delivery continued",
	},
	{
		"buyer failing when the answer is due",
		[]settlement{{result: event.SettledPending, status: 503}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "the seller got 502 buyer_unavailable",
	},
	{
		"accepted after the answer",
		[]settlement{{result: event.SettledPending, status: 503}, {result: event.SettledDelivered, status: 201}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "the seller got 502 buyer_unavailable",
	},
	{
		"refused after the answer",
		[]settlement{{result: event.SettledPending, fault: market.FaultTimeout}, {result: event.SettledRefused, status: 422}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "The supplier had already received ACCEPTED.", "the seller got 504 buyer_timeout",
	},
	{
		"unknown at once",
		[]settlement{{result: event.SettledUnknown, fault: market.FaultUnreadable, status: 200}},
		"201 ACCEPTED at 1s", "502 buyer_unavailable at 1s", "", "the seller got 502 buyer_unavailable",
	},
	{
		"unknown at once, then released",
		[]settlement{{result: event.SettledUnknown, fault: market.FaultTimeout}, {result: event.SettledReleased}},
		"201 ACCEPTED at 1s", "504 buyer_timeout at 1s", "The supplier had already received ACCEPTED.", "the seller got 504 buyer_timeout",
	},
	{"cut off by a crash", []settlement{{result: event.SettledPending}}, "nothing", "nothing", "", ""},
	{"cut off by a crash, then accepted", []settlement{{result: event.SettledPending}, {result: event.SettledDelivered, status: 201}}, "nothing", "nothing", "", ""},
	{"refused, then accepted by the next buyer", []settlement{{result: event.SettledRefused, status: 422, next: 3, url: "https://next.example"}, {result: event.SettledDelivered, status: 201}}, "201 ACCEPTED at 2s", "", "", ""},
	{"refused, then in delivery to the next buyer", []settlement{{result: event.SettledRefused, status: 422, next: 3, url: "https://next.example"}}, "nothing", "", "", ""},
	{"refused, then recorded for the next buyer", []settlement{{result: event.SettledRefused, status: 422, next: 3}}, "201 ACCEPTED at 1s", "", "", ""},
}

// TestExplainAnswers: the answer that ingest and post gave, regardless of later events.
func TestExplainAnswers(t *testing.T) {
	for _, row := range answers {
		t.Run(row.name, func(t *testing.T) {
			c := newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2", "buy_3")
			ingest := c.NewLeadID(1)
			c.AddLeadPostedToBuyer1(ingest)
			c.addSettlements(ingest, row.records)
			row.check(t, "an ingest", c.mustExplainLead(ingest), row.ingest, row.ingestWhy)
			if row.post == "" {
				return
			}
			c = newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2")
			auction, post := c.newAuction(1, "theirs"), c.NewLeadID(2)
			c.Add(auction)
			c.addClaim(post, auction, 1, 0)
			c.addSettlements(post, row.records, func(s *event.PostSettled) { s.Sale = atBid(auction, 1) })
			row.check(t, "a post", c.mustExplainLead(post), row.post, row.postWhy)
		})
	}
}

// addSettlements records the events of a delivery, one per second.
func (c *history) addSettlements(id market.LeadID, records []settlement, change ...func(*event.PostSettled)) {
	c.t.Helper()
	for _, ev := range records {
		c.AdvanceClock(time.Second)
		c.AddPostResult(id, ev.result, append([]func(*event.PostSettled){func(s *event.PostSettled) {
			s.Status, s.Fault, s.Post.URL = ev.status, ev.fault, ev.url
			switch {
			case ev.next != 0:
				s.Next = logtest.SaleTo(ev.next)
			case ev.result == event.SettledRefused || ev.result == event.SettledReleased:
				s.Reason = market.ReasonPostRejected
			}
		}}, change...)...)
	}
}

func (row *answerRow) check(t *testing.T, path string, doc *Explanation, want, why string) {
	t.Helper()
	if got := doc.answerText(); got != want {
		t.Errorf("%s: got answer %s, want %s", path, got, want)
	}
	if !strings.Contains(doc.Why, why) || why == "" && strings.Contains(doc.Why, "the seller got") {
		t.Errorf("%s: why %q, want %q", path, doc.Why, why)
	}
	crashed := strings.HasPrefix(row.name, "cut off")
	if hasNote := len(doc.Notes) == 1 && doc.Notes[0] == noteUnanswered; hasNote != crashed {
		t.Errorf("%s: notes %q", path, doc.Notes)
	}
}

// TestExplainAnswersAtOnce: the answers for leads that were posted to no buyer.
func TestExplainAnswersAtOnce(t *testing.T) {
	c := newHistory(t)
	sold, unsold, rejected := c.NewLeadID(1), c.NewLeadID(2), c.NewLeadID(3)
	c.Add(&event.LeadDecided{Lead: sold, Campaign: 1, Supplier: 1, Sale: logtest.SaleTo(1), Keep: c.Now + 1e15})
	c.Add(&event.LeadDecided{Lead: unsold, Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull, Keep: c.Now + 1e15})
	c.Add(&event.LeadDecided{
		Lead: rejected, Campaign: 1, Supplier: 1, Reason: market.ReasonDuplicate, Keep: c.Now + 1e15,
		Fields: []event.LeadField{{Name: sellerLeadField, Kind: market.KindString, Text: []byte("u")}},
	})
	for id, want := range map[market.LeadID]string{
		sold: "201 ACCEPTED at 0s", unsold: "201 UNMATCHED caps_full at 0s", rejected: "422 post_rejected duplicate at 0s",
	} {
		if got := c.mustExplainLead(id).answerText(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestExplainOmitsAnswerIfEventsAreMissing: if the search misses the events in between, the explanation
// has no answer. The last event alone does not determine it.
func TestExplainOmitsAnswerIfEventsAreMissing(t *testing.T) {
	c := newHistory(t)
	id := c.NewLeadID(1)
	c.AddLeadPostedToBuyer1(id)
	c.AddUnsoldLeads(10)
	c.AddPostResult(id, event.SettledPending, func(s *event.PostSettled) { s.Fault = market.FaultTimeout })
	c.AddPostResult(id, event.SettledDelivered)
	c.limits.entries = 3
	if doc := c.mustExplainLead(id); doc.Delivery != "delivered" || !doc.Truncated || doc.Answer != nil {
		t.Errorf("%s, %s", doc.Delivery, doc.answerText())
	}
	c.limits = defaultLimits
	if doc := c.mustExplainLead(id); doc.answerText() != "201 ACCEPTED at 0s" {
		t.Error(doc.answerText())
	}
}
