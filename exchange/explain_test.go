package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pingpost/engine/redaction"
	"pingpost/exchange/explain"
	"pingpost/exchange/golden"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/outbound/dial/dialtest"
)

// explain requests an explanation.
func (r *testExchange) explain(id string) *explain.Explanation {
	r.t.Helper()
	explanation := decode[explain.Explanation](r.t, r.mustAdmin(200, "GET", "/admin/v1/explain/"+id, ""))
	return &explanation
}

// outcomesOf returns the candidates with their outcomes.
func outcomesOf(doc *explain.Explanation) string {
	var words []string
	for i := range doc.Candidates {
		words = append(words, doc.Candidates[i].Buyer+" "+doc.Candidates[i].Outcome)
	}
	return strings.Join(words, ", ")
}

// answerOf returns the status and the result of an explained answer.
func answerOf(doc *explain.Explanation) string {
	return strings.TrimSpace(fmt.Sprint(doc.Answer.Status, " ", doc.Answer.Result, " ", doc.Answer.Reason))
}

// Parts of a document that differ in each run.
var (
	idPattern        = regexp.MustCompile(`\b(lead|auc|ping|req|bid)_[0-9a-hj-km-np-tv-z]{26}\b`)
	timePattern      = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	buyerLeadPattern = regexp.MustCompile(`"ref_[0-9a-f]+"`)
	elapsedPattern   = regexp.MustCompile(`("elapsed_ms":) ?[0-9.]+`)
)

// normalize numbers the ids in a document and removes its times.
func normalize(t testing.TB, document string) string {
	t.Helper()
	known := map[string]string{}
	text := idPattern.ReplaceAllStringFunc(document, func(id string) string {
		kind, random, _ := strings.Cut(id, "_")
		name, ok := known[random]
		if !ok {
			name = fmt.Sprint(len(known) + 1)
			known[random] = name
		}
		return kind + "_" + name
	})
	text = buyerLeadPattern.ReplaceAllString(text, `"(theirs)"`)
	text = elapsedPattern.ReplaceAllString(timePattern.ReplaceAllString(text, `"(time)"`), `${1}0`)
	var out bytes.Buffer
	must.Succeed(t, json.Indent(&out, []byte(text), "", "  "))
	return out.String()
}

func (r *testExchange) compareExplanation(t *testing.T, name, id string) {
	t.Helper()
	golden.CompareWithFile(t, name, normalize(t, r.mustAdmin(200, "GET", "/admin/v1/explain/"+id, "").body))
}

// TestExplainIngest: the winner of an auction refuses the lead and the next bidder gets it. The
// explanation is found by the ids of lead and auction.
func TestExplainIngest(t *testing.T) {
	t.Parallel()
	high := startReferenceBuyer(t, "12.5", func(o *refbuyer.Options) { o.RejectRate = 1 })
	low := startReferenceBuyer(t, "9")
	x := start(t, newTestDir(t, referenceConfig("ping_post", high, low)))
	id := x.mustSell(leadBody(1)).leadID()
	x.compareExplanation(t, "ingest", id)
	doc := x.explain(id)
	if again := x.explain(doc.AuctionID); again.LeadID != id || again.Why != doc.Why {
		t.Errorf("explanation by the auction's id: %+v", again)
	}
	if h, l := high.Stats(), low.Stats(); h.Rejected != 1 || l.Won != 1 || l.Revenue != 9_000_000 || h.ContactSeen+l.ContactSeen != 0 {
		t.Errorf("buyers' counters: %+v and %+v", h, l)
	}
}

// TestExplainPost: a seller's ping and the lead posted at its bid, each with the other.
func TestExplainPost(t *testing.T) {
	t.Parallel()
	low, high := startReferenceBuyer(t, "9"), startReferenceBuyer(t, "12.5")
	x := start(t, newTestDir(t, referenceConfig("ping_post", low, high)))
	id := x.postToBid("theirs-1", x.pingForBid("auto", "theirs-1"), 1).leadID()
	x.compareExplanation(t, "post", id)
	auction := x.explain(id).Auction.ID
	x.compareExplanation(t, "ping", auction)
	x = x.restart()
	x.compareExplanation(t, "ping", auction)
}

// exclusionsConfig is a waterfall in which each buyer is excluded for another reason until one
// buys.
const exclusionsConfig = configHead + configSuppliers + `suppression_lists: [{id: nobody, field: phone, file: nobody.txt}]
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

// TestExplainWaterfall: a sold and an unsold lead of a method without an auction.
func TestExplainWaterfall(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, exclusionsConfig)
	p.writeFile(t, "nobody.txt", "+1"+areaCode+"0001\n")
	x := start(t, p)
	sold := x.mustSell(leadBody(1, "rooms", "2")).leadID()
	const others = "buy_away wrong_state, buy_choosy filtered, buy_poor no_funds, buy_wary suppressed, buy_paused paused, "
	doc := x.explain(sold)
	if outcomesOf(doc) != others+"buy_takes won, buy_last not_asked" || doc.Method != "waterfall" || doc.Delivery != "none" {
		t.Errorf("sold lead: unexpected explanation %s, %s: %s", doc.Method, doc.Delivery, outcomesOf(doc))
	}
	x.compareExplanation(t, "waterfall", sold)
	for _, buyer := range []string{"buy_takes", "buy_last"} {
		x.mustAdmin(204, "POST", "/admin/v1/buyers/"+buyer+"/pause", "")
	}
	unsold := x.explain(x.ingest(leadBody(1, "rooms", "2")).leadID())
	if outcomesOf(unsold) != others+"buy_takes paused, buy_last paused" || unsold.Status != "UNMATCHED" || unsold.Price != nil || !strings.Contains(unsold.Why, "Of 7 candidates: 3 paused, 1 ") {
		t.Errorf("unsold lead: unexpected explanation %s %s: %s", unsold.Status, unsold.Why, outcomesOf(unsold))
	}
}

// TestExplainWithholdsContactData: a buyer's answer that repeats contact data is withheld.
func TestExplainWithholdsContactData(t *testing.T) {
	t.Parallel()
	blue := newFakeBuyer(t, reply(422, `{"error":"seen_`+areaCode+`0001"}`), reply(201, `{"lead_id":"`+areaCode+`0002"}`))
	red := newFakeBuyer(t, reply(422, `{"error":"no.`+strings.ToLower(lastName)+`"}`))
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	refused := x.explain(x.ingest(leadBody(1)).leadID())
	for i := range refused.Posts {
		if code := refused.Posts[i].Settlements[0].Code; code != redaction.Withheld {
			t.Errorf("post %d: %q", i, code)
		}
	}
	if !strings.Contains(refused.Why, "HTTP 422 "+redaction.Withheld) {
		t.Errorf("code of the refusal is not withheld: %v", refused.Why)
	}
	repeating := x.explain(x.mustSell(leadBody(2)).leadID())
	if id := repeating.Posts[0].Settlements[0].BuyerLead; id != "" {
		t.Errorf("buyer's id %q repeats contact data, want it withheld", id)
	}
	accepted := x.explain(x.mustSell(leadBody(3)).leadID())
	if id := accepted.Posts[0].Settlements[0].BuyerLead; id != "theirs" {
		t.Errorf("buyer's id %q, want theirs", id)
	}
}

func TestExplainUnknownID(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.mustSell(leadBody(1))
	for _, id := range []string{"lead_01jd0000000000000000000000", "auc_01jd0000000000000000000000", "ping_7zzzzzzzzzzzzzzzzzzzzzzzzz", "lead_00000000000000000000000000"} {
		x.adminRequest("GET", "/admin/v1/explain/"+id, "").mustFail(t, 404, "not_found")
	}
	x.adminRequest("GET", "/admin/v1/explain", "").mustFail(t, 422, "invalid_payload")
}

// unreachableBuyersConfig has two campaigns whose buyers bid but cannot be posted to: one has no
// listener, one never answers.
func unreachableBuyersConfig(t testing.TB) string {
	t.Helper()
	bidder := startReferenceBuyer(t, "10", func(o *refbuyer.Options) { o.OAuth, o.Token = refbuyer.OAuth{}, blueToken })
	silent := newFakeBuyer(t, hang, hang, hang, hang)
	buyer := func(id, post string) string {
		return fmt.Sprintf("  - {id: %s, ping_rate: 1000000, ping_url: \"http://%s/v1/ping\", post_url: %q, auth: {bearer: %q}}\n", id, bidder.Addr(), post, blueToken)
	}
	return configHead + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 1000000, ping_rate: 1000000, oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]}
buyers:
` + buyer("buy_gone", "http://"+dialtest.UnusedAddress(t)+"/v1/post") + buyer("buy_silent", silent.URL) + `campaigns:
  - {id: cmp_gone, vertical: gone, method: ping_post, duplicates: {window: 0s}, buyers: [{buyer: buy_gone}]}
  - {id: cmp_silent, vertical: silent, method: ping_post, duplicates: {window: 0s}, buyers: [{buyer: buy_silent}]}
`
}

// TestExplainUnreachableBuyers: a seller gets a 502 for a closed port and a 504 for a timeout. A
// supplier that chose the silent buyer gets ACCEPTED. The explanations have these answers and the
// fault.
func TestExplainUnreachableBuyers(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, unreachableBuyersConfig(t)))
	gone, silent, ping := x.pingForBid("gone", "a-gone"), x.pingForBid("silent", "a-silent"), x.pingForOffers("cmp_silent")
	requests := []struct {
		buyer, want string
		call        func() *answer
		answer      *answer
	}{
		{"buy_gone", "502 buyer_unavailable", func() *answer { return x.postToBid("a-gone", gone, 1) }, nil},
		{"buy_silent", "504 buyer_timeout", func() *answer { return x.postToBid("a-silent", silent, 2) }, nil},
		{"buy_silent", "201 ACCEPTED", func() *answer { return x.ingestForBuyer(ping, "buy_silent", 3, "flo_campaign_id", `"cmp_silent"`) }, nil},
	}
	var wait sync.WaitGroup
	for i := range requests {
		wait.Go(func() { requests[i].answer = requests[i].call() })
	}
	wait.Wait()
	for _, p := range requests {
		a := p.answer
		if got := fmt.Sprint(a.status, " ", decode[errorBody](t, a).Error); a.status >= 500 && got != p.want {
			t.Errorf("%s: got %s, want %s", p.buyer, got, p.want)
		}
		doc := x.explain(a.requestID())
		if got := fmt.Sprint(doc.Answer.Status, " ", doc.Answer.Result); got != p.want || doc.Answer.Status != a.status {
			t.Errorf("%s: answer %d, explained as %s", p.buyer, a.status, got)
		}
		if doc.RequestID != a.requestID() || doc.Buyer != p.buyer || doc.Delivery != "pending" || doc.Auction.Status != "TAKEN" {
			t.Errorf("unexpected explanation for %s: %s, %s, %s, %s", p.buyer, doc.RequestID, doc.Buyer, doc.Delivery, doc.Auction.Status)
		}
		if hasAttempts := len(doc.Posts[0].Tries) > 0; hasAttempts != (p.buyer == "buy_gone") {
			t.Errorf("unexpected attempts to post to %s: %+v", p.buyer, doc.Posts[0].Tries)
		}
		for _, attempt := range doc.Posts[0].Tries {
			if attempt.Fault != "connect" {
				t.Errorf("unexpected attempt to post to %s: %+v", p.buyer, attempt)
			}
		}
	}
}
