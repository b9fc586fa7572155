package exchange

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// answered is what a call was answered, and how many seconds after dawn.
func (x *Explanation) answered() string {
	if x.Answer == nil {
		return "nothing"
	}
	text := fmt.Sprint(x.Answer.Status, " ", x.Answer.Says)
	if x.Answer.Reason != "" {
		text += " " + x.Answer.Reason
	}
	return fmt.Sprintf("%s at %ds", text, (int64(x.Answer.At)-dawn)/1e9)
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
	facts      []cameTo
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
			c := newChronicle(t)
			c.configured(1, "buy_1", "buy_2", "buy_3")
			ingest := c.draw(1)
			c.posted(ingest)
			c.goes(ingest, row.facts)
			row.judge(t, "an ingest", c.told(ingest), row.ingest, row.ingestSays)
			if row.post == "" {
				return
			}
			c = newChronicle(t)
			c.configured(1, "buy_1", "buy_2")
			held, post := c.offering(1, "theirs"), c.draw(2)
			c.add(held)
			c.takenUp(post, held, 1, 0)
			c.goes(post, row.facts, func(s *event.PostSettled) { s.Sale = atBid(held, 1) })
			row.judge(t, "a post", c.told(post), row.post, row.postSays)
		})
	}
}

// goes writes what a post comes to, second by second.
func (c *chronicle) goes(id market.LeadID, facts []cameTo, change ...func(*event.PostSettled)) {
	c.t.Helper()
	for _, fact := range facts {
		c.later(time.Second)
		c.settled(id, fact.how, append([]func(*event.PostSettled){func(s *event.PostSettled) {
			s.Status, s.Fault, s.Post.URL = fact.status, fact.fault, fact.url
			switch {
			case fact.next != 0:
				s.Next = saleTo(fact.next)
			case fact.how == event.SettledRefused || fact.how == event.SettledReleased:
				s.Reason = market.ReasonPostRejected
			}
		}}, change...)...)
	}
}

func (row *answerRow) judge(t *testing.T, path string, told *Explanation, want, says string) {
	t.Helper()
	if got := told.answered(); got != want {
		t.Errorf("%s is answered %s, want %s", path, got, want)
	}
	if !strings.Contains(told.Why, says) || says == "" && strings.Contains(told.Why, "answered") {
		t.Errorf("%s: %s", path, told.Why)
	}
	crashed := strings.HasPrefix(row.what, "cut off")
	if noted := len(told.Notes) == 1 && told.Notes[0] == nobodyAnswered; noted != crashed {
		t.Errorf("%s: %q", path, told.Notes)
	}
}

// TestExplainAnswersAtOnce: of leads that are posted to nobody.
func TestExplainAnswersAtOnce(t *testing.T) {
	c := newChronicle(t)
	sold, unsold, rejected := c.draw(1), c.draw(2), c.draw(3)
	c.add(&event.LeadDecided{Lead: sold, Campaign: 1, Supplier: 1, Sale: saleTo(1), Keep: c.now + 1e15})
	c.add(&event.LeadDecided{Lead: unsold, Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull, Keep: c.now + 1e15})
	c.add(&event.LeadDecided{
		Lead: rejected, Campaign: 1, Supplier: 1, Reason: market.ReasonDuplicate, Keep: c.now + 1e15,
		Fields: []event.Field{{Name: sellersLead, Kind: market.KindString, Text: []byte("u")}},
	})
	for id, want := range map[market.LeadID]string{
		sold: "201 ACCEPTED at 0s", unsold: "201 UNMATCHED caps_full at 0s", rejected: "422 post_rejected duplicate at 0s",
	} {
		if got := c.told(id).answered(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestExplainAnswersInAGap: where the facts between are out of reach, nothing is said
// of the answer: the last of them was not it.
func TestExplainAnswersInAGap(t *testing.T) {
	c := newChronicle(t)
	id := c.draw(1)
	c.posted(id)
	c.among(10)
	c.settled(id, event.SettledPending, func(s *event.PostSettled) { s.Fault = market.FaultTimeout })
	c.settled(id, event.SettledDelivered)
	c.reach.entries = 3
	if told := c.told(id); told.Delivery != "delivered" || !told.Truncated || told.Answer != nil {
		t.Errorf("%s, %s", told.Delivery, told.answered())
	}
	c.reach = usualReach
	if told := c.told(id); told.answered() != "201 ACCEPTED at 0s" {
		t.Error(told.answered())
	}
}

// vacated is an address at which nobody listens.
func vacated(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// absent is an exchange of two campaigns, each with a buyer that bids and then cannot
// be posted to: one has gone away, and one never answers.
func absent(t testing.TB) string {
	t.Helper()
	bidder := reference(t, "10", func(o *refbuyer.Options) { o.OAuth, o.Token = refbuyer.OAuth{}, bearer })
	silent := newTaker(t, hangs, hangs, hangs, hangs)
	buyer := func(id, post string) string {
		return fmt.Sprintf("  - {id: %s, ping_rate: 1000000, ping_url: \"http://%s/v1/ping\", post_url: %q, auth: {bearer: %q}}\n", id, bidder.Addr(), post, bearer)
	}
	return head + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 1000000, ping_rate: 1000000, oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]}
buyers:
` + buyer("buy_gone", "http://"+vacated(t)+"/v1/post") + buyer("buy_silent", silent.URL) + `campaigns:
  - {id: cmp_gone, vertical: gone, method: ping_post, duplicates: {window: 0s}, buyers: [{buyer: buy_gone}]}
  - {id: cmp_silent, vertical: silent, method: ping_post, duplicates: {window: 0s}, buyers: [{buyer: buy_silent}]}
`
}

// TestExplainWhoIsNotReached: a seller hears 502 of a buyer that has gone away, and
// 504 of one that is silent; a supplier that chose the silent one hears ACCEPTED.
// Each is told of as it was answered, by the request's id, with the fault.
func TestExplainWhoIsNotReached(t *testing.T) {
	x := start(t, newPlace(t, absent(t)))
	gone, silent, ping := x.bidFor("gone", "a-gone"), x.bidFor("silent", "a-silent"), x.choices("cmp_silent")
	paths := []struct {
		buyer, want string
		call        func() *answer
		heard       *answer
	}{
		{"buy_gone", "502 buyer_unavailable", func() *answer { return x.postAt("a-gone", gone, 1) }, nil},
		{"buy_silent", "504 buyer_timeout", func() *answer { return x.postAt("a-silent", silent, 2) }, nil},
		{"buy_silent", "201 ACCEPTED", func() *answer { return x.choose(ping, "buy_silent", 3, "flo_campaign_id", `"cmp_silent"`) }, nil},
	}
	var wait sync.WaitGroup
	for i := range paths {
		wait.Go(func() { paths[i].heard = paths[i].call() })
	}
	wait.Wait()
	for _, p := range paths {
		a := p.heard
		if got := fmt.Sprint(a.status, " ", decode[fault](t, a).Error); a.status >= 500 && got != p.want {
			t.Errorf("%s: %s, want %s", p.buyer, got, p.want)
		}
		told := x.explain(a.id())
		if got := fmt.Sprint(told.Answer.Status, " ", told.Answer.Says); got != p.want || told.Answer.Status != a.status {
			t.Errorf("%s was answered %d, and is told as %s", p.buyer, a.status, got)
		}
		if told.RequestID != a.id() || told.Buyer != p.buyer || told.Delivery != "pending" || told.Auction.Status != "TAKEN" {
			t.Errorf("%s: %s, %s, %s, %s", p.buyer, told.RequestID, told.Buyer, told.Delivery, told.Auction.Status)
		}
		if tried := len(told.Posts[0].Tries) > 0; tried != (p.buyer == "buy_gone") {
			t.Errorf("%s: %+v", p.buyer, told.Posts[0].Tries)
		}
		for _, try := range told.Posts[0].Tries {
			if try.Fault != "connect" {
				t.Errorf("%s: %+v", p.buyer, try)
			}
		}
	}
}

// TestExplainACrash: of a lead whose exchange stopped before it answered, nobody is
// said to have been told anything.
func TestExplainACrash(t *testing.T) {
	blue := newTaker(t, hangs, hangs)
	x := start(t, newPlace(t, delivered(blue, newTaker(t))))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		x.ingest(lead(1))
	}()
	eventually(t, "the post is under way", func() bool { return len(blue.got()) == 1 })
	y := start(t, x.copy(t))
	eventually(t, "the post is tried again", func() bool { return len(blue.got()) == 2 })
	id, _, _ := strings.Cut(strings.SplitAfter(blue.got()[0].body, `"lead_uuid":"`)[1], `"`)
	if told := y.explain(id); told.Answer != nil || told.Status != "ACCEPTED" || told.Delivery != "pending" || len(told.Notes) != 1 || told.Notes[0] != nobodyAnswered {
		t.Errorf("%+v", told)
	}
	blue.CloseClientConnections()
	<-gone
}
