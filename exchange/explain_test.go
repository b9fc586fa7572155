package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pingpost/engine/redaction"
	"pingpost/exchange/explain"
	"pingpost/exchange/golden"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// explain asks the admin address what became of something.
func (r *running) explain(id string) *explain.Explanation {
	r.t.Helper()
	told := decode[explain.Explanation](r.t, r.must(200, "GET", "/admin/v1/explain/"+id, ""))
	return &told
}

// outcomesOf is a line with each candidate and its outcome.
func outcomesOf(doc *explain.Explanation) string {
	var words []string
	for i := range doc.Candidates {
		words = append(words, doc.Candidates[i].Buyer+" "+doc.Candidates[i].Outcome)
	}
	return strings.Join(words, ", ")
}

// answerOf is the status and the result that a call was answered with.
func answerOf(doc *explain.Explanation) string {
	return strings.TrimSpace(fmt.Sprint(doc.Answer.Status, " ", doc.Answer.Result, " ", doc.Answer.Reason))
}

// What differs from run to run, in the document's text.
var (
	anID       = regexp.MustCompile(`\b(lead|auc|ping|req|bid)_[0-9a-hj-km-np-tv-z]{26}\b`)
	aTime      = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	theirID    = regexp.MustCompile(`"ref_[0-9a-f]+"`)
	someMillis = regexp.MustCompile(`("elapsed_ms":) ?[0-9.]+`)
)

// plain is a document with its identifiers counted, and without its times.
func plain(t testing.TB, document string) string {
	t.Helper()
	known := map[string]string{}
	text := anID.ReplaceAllStringFunc(document, func(id string) string {
		kind, random, _ := strings.Cut(id, "_")
		name, ok := known[random]
		if !ok {
			name = fmt.Sprint(len(known) + 1)
			known[random] = name
		}
		return kind + "_" + name
	})
	text = theirID.ReplaceAllString(text, `"(theirs)"`)
	text = someMillis.ReplaceAllString(aTime.ReplaceAllString(text, `"(time)"`), `${1}0`)
	var out bytes.Buffer
	must.Succeed(t, json.Indent(&out, []byte(text), "", "  "))
	return out.String()
}

func (r *running) golden(t *testing.T, name, id string) {
	t.Helper()
	golden.CompareWithFile(t, name, plain(t, r.must(200, "GET", "/admin/v1/explain/"+id, "").body))
}

// TestExplainIngest: an auction over a lead, whose winner refuses it, so that the
// next best has it; found by the lead's id and by the auction's.
func TestExplainIngest(t *testing.T) {
	high := reference(t, "12.5", func(o *refbuyer.Options) { o.RejectRate = 1 })
	low := reference(t, "9")
	x := start(t, newPlace(t, trading("ping_post", high, low)))
	id := x.sold(lead(1)).leadID()
	x.golden(t, "ingest", id)
	told := x.explain(id)
	if again := x.explain(told.AuctionID); again.LeadID != id || again.Why != told.Why {
		t.Errorf("by the auction: %+v", again)
	}
	if h, l := high.Stats(), low.Stats(); h.Rejected != 1 || l.Won != 1 || l.Revenue != 9_000_000 || h.ContactSeen+l.ContactSeen != 0 {
		t.Errorf("the buyers count %+v and %+v", h, l)
	}
}

// TestExplainPost: a seller's ping, and the lead posted at its bid, each told of
// with the other.
func TestExplainPost(t *testing.T) {
	low, high := reference(t, "9"), reference(t, "12.5")
	x := start(t, newPlace(t, trading("ping_post", low, high)))
	id := x.postAt("theirs-1", x.bidFor("auto", "theirs-1"), 1).leadID()
	x.golden(t, "post", id)
	auction := x.explain(id).Auction.ID
	x.golden(t, "ping", auction)
	x = x.again()
	x.golden(t, "ping", auction)
}

// everyWay is a campaign without an auction in which each buyer stays out in its
// own way, until one buys; the last is not needed.
const everyWay = head + acme + `suppression_lists: [{id: nobody, field: phone, file: nobody.txt}]
buyers:
  - {id: buy_away, states: [NV]}
  - {id: buy_choosy}
  - {id: buy_poor, funds: {balance: 1}}
  - {id: buy_wary, suppression: [nobody]}
  - {id: buy_paused, paused: true}
  - {id: buy_takes}
  - {id: buy_last}
campaigns:
  - id: cmp
    method: waterfall
    floor: 2
    duplicates: {window: 0s}
    fields: [{name: rooms, type: integer}]
    buyers:
      - {buyer: buy_away, price: 9}
      - {buyer: buy_choosy, price: 9, filters: [{field: rooms, min: 3}]}
      - {buyer: buy_poor, price: 9}
      - {buyer: buy_wary, price: 9}
      - {buyer: buy_paused, price: 9}
      - {buyer: buy_takes, price: 9}
      - {buyer: buy_last, price: 9}
`

// TestExplainWaterfall: a method without an auction is told as well, and a lead
// that nobody takes.
func TestExplainWaterfall(t *testing.T) {
	p := newPlace(t, everyWay)
	p.beside(t, "nobody.txt", "+1"+areaCode+"0001\n")
	x := start(t, p)
	sold := x.sold(lead(1, "rooms", "2")).leadID()
	const others = "buy_away wrong_state, buy_choosy filtered, buy_poor no_funds, buy_wary suppressed, buy_paused paused, "
	told := x.explain(sold)
	if outcomesOf(told) != others+"buy_takes won, buy_last not_asked" || told.Method != "waterfall" || told.Delivery != "none" {
		t.Errorf("%s, %s: %s", told.Method, told.Delivery, outcomesOf(told))
	}
	x.golden(t, "waterfall", sold)
	for _, buyer := range []string{"buy_takes", "buy_last"} {
		x.must(204, "POST", "/admin/v1/buyers/"+buyer+"/pause", "")
	}
	unsold := x.explain(x.ingest(lead(1, "rooms", "2")).leadID())
	if outcomesOf(unsold) != others+"buy_takes paused, buy_last paused" || unsold.Status != "UNMATCHED" || unsold.Price != nil || !strings.Contains(unsold.Why, "Of 7 candidates: 3 paused, 1 filtered,") {
		t.Errorf("%s %s: %s", unsold.Status, unsold.Why, outcomesOf(unsold))
	}
}

// TestExplainIsDiscreet: a buyer that answers with the person is not quoted. (Every
// answer that these tests get is searched for the person as well.)
func TestExplainIsDiscreet(t *testing.T) {
	blue := newTaker(t, says(422, `{"error":"seen_`+areaCode+`0001"}`), says(201, `{"lead_id":"`+areaCode+`0002"}`))
	red := newTaker(t, says(422, `{"error":"no.`+strings.ToLower(lastName)+`"}`))
	x := start(t, newPlace(t, delivered(blue, red)))
	refused := x.explain(x.ingest(lead(1)).leadID())
	for i := range refused.Posts {
		if code := refused.Posts[i].Settlements[0].Code; code != redaction.Withheld {
			t.Errorf("post %d: %q", i, code)
		}
	}
	if !strings.Contains(refused.Why, "HTTP 422 "+redaction.Withheld) {
		t.Error(refused.Why)
	}
	taken := x.explain(x.sold(lead(2)).leadID())
	if id := taken.Posts[0].Settlements[0].BuyerLead; id != "" {
		t.Errorf("their id %q: an id that names the person is none", id)
	}
	plain := x.explain(x.sold(lead(3)).leadID())
	if id := plain.Posts[0].Settlements[0].BuyerLead; id != "theirs" {
		t.Errorf("their id %q, which is nobody's", id)
	}
}

// TestExplainUnknown: ids that the log does not have, and no id.
func TestExplainUnknown(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1))
	for _, id := range []string{"lead_01jd0000000000000000000000", "auc_01jd0000000000000000000000", "ping_7zzzzzzzzzzzzzzzzzzzzzzzzz", "lead_00000000000000000000000000"} {
		x.operate("GET", "/admin/v1/explain/"+id, "").mustFail(t, 404, "not_found")
	}
	x.operate("GET", "/admin/v1/explain", "").mustFail(t, 422, "invalid_payload")
}

// vacated is an address at which nobody listens.
func vacated(t testing.TB) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
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
		doc := x.explain(a.id())
		if got := fmt.Sprint(doc.Answer.Status, " ", doc.Answer.Result); got != p.want || doc.Answer.Status != a.status {
			t.Errorf("%s was answered %d, and is told as %s", p.buyer, a.status, got)
		}
		if doc.RequestID != a.id() || doc.Buyer != p.buyer || doc.Delivery != "pending" || doc.Auction.Status != "TAKEN" {
			t.Errorf("%s: %s, %s, %s, %s", p.buyer, doc.RequestID, doc.Buyer, doc.Delivery, doc.Auction.Status)
		}
		if tried := len(doc.Posts[0].Tries) > 0; tried != (p.buyer == "buy_gone") {
			t.Errorf("%s: %+v", p.buyer, doc.Posts[0].Tries)
		}
		for _, try := range doc.Posts[0].Tries {
			if try.Fault != "connect" {
				t.Errorf("%s: %+v", p.buyer, try)
			}
		}
	}
}
