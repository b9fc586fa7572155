package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/exchange/golden"
	"pingpost/loadtest/refbuyer"
)

// explain asks the admin address what became of something.
func (r *running) explain(id string) *Explanation {
	r.t.Helper()
	told := decode[Explanation](r.t, r.must(200, "GET", "/admin/v1/explain/"+id, ""))
	return &told
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
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func (r *running) golden(t *testing.T, name, id string) {
	t.Helper()
	golden.Compare(t, name, plain(t, r.must(200, "GET", "/admin/v1/explain/"+id, "").body))
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
	if told.outcomes() != others+"buy_takes won, buy_last not_asked" || told.Method != "waterfall" || told.Delivery != "none" {
		t.Errorf("%s, %s: %s", told.Method, told.Delivery, told.outcomes())
	}
	x.golden(t, "waterfall", sold)
	for _, buyer := range []string{"buy_takes", "buy_last"} {
		x.must(204, "POST", "/admin/v1/buyers/"+buyer+"/pause", "")
	}
	unsold := x.explain(x.ingest(lead(1, "rooms", "2")).leadID())
	if unsold.outcomes() != others+"buy_takes paused, buy_last paused" || unsold.Status != "UNMATCHED" || unsold.Price != nil || !strings.Contains(unsold.Why, "Of 7 candidates: 3 paused, 1 filtered,") {
		t.Errorf("%s %s: %s", unsold.Status, unsold.Why, unsold.outcomes())
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
		if code := refused.Posts[i].Settlements[0].Code; code != withheld {
			t.Errorf("post %d: %q", i, code)
		}
	}
	if !strings.Contains(refused.Why, "HTTP 422 "+withheld) {
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

// TestExplainUnknown: what is no id, what nothing has, and who may not ask.
func TestExplainUnknown(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1))
	for _, id := range []string{"lead_01jd0000000000000000000000", "auc_01jd0000000000000000000000", "ping_7zzzzzzzzzzzzzzzzzzzzzzzzz", "lead_00000000000000000000000000"} {
		x.operate("GET", "/admin/v1/explain/"+id, "").mustFail(t, 404, "not_found")
	}
	x.operate("GET", "/admin/v1/explain", "").mustFail(t, 422, "invalid_payload")
	request(t, "GET", "http://"+x.Admin()+"/admin/v1/explain/lead_01jd0000000000000000000000", "").mustFail(t, 401, "unauthorized")
	x.operate("POST", "/admin/v1/explain/lead_01jd0000000000000000000000", "").mustFail(t, 405, "method_not_allowed")
	x.draining.Store(true)
	x.operate("GET", "/admin/v1/explain/lead_01jd0000000000000000000000", "").mustFail(t, 503, "unavailable")
}
