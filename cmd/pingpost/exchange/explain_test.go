package exchange

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pingpost/loadtest/refbuyer"
)

var update = flag.Bool("update", false, "write the golden files anew")

// explain asks the admin address what became of something.
func (r *running) explain(id string) *Explanation {
	r.t.Helper()
	told := decode[Explanation](r.t, r.must(200, "GET", "/admin/v1/explain/"+id, ""))
	return &told
}

// What differs from run to run, in the document's text.
var (
	anID       = regexp.MustCompile(`\b(lead|auc|ping|req|bid)_[0-9a-hj-km-np-tv-z]{26}\b`)
	theirID    = regexp.MustCompile(`"ref_[0-9a-f]{24}"`) // of the reference buyer, made from our key
	aTime      = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
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
	text = theirID.ReplaceAllString(text, `"ref_(theirs)"`)
	text = someMillis.ReplaceAllString(aTime.ReplaceAllString(text, `"(time)"`), `${1}0`)
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: -update writes it anew; got\n%s", path, got)
	}
}

func (r *running) golden(t *testing.T, name, id string) {
	t.Helper()
	golden(t, name, plain(t, r.must(200, "GET", "/admin/v1/explain/"+id, "").body))
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
	const ping = `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true,"vehicle_count":2}`
	token := decode[struct {
		Bid struct {
			Token string `json:"bid_token"`
		}
	}](t, x.seller("/v1/ping", "k1", ping)).Bid.Token
	post := fmt.Sprintf(`{"auction_id":"theirs-1","bid_token":%q,"lead":{"lead_uuid":"u1","first_name":"Ann","last_name":%q,"email":"ann@%s","phone":"+1%s0001","address":{"zip":"94105"}}}`,
		token, lastName, mailHost, areaCode)
	id := x.seller("/v1/post", "k1", post).leadID()
	x.golden(t, "post", id)
	auction := x.explain(id).Auction.ID
	x.golden(t, "ping", auction)
	x = x.again()
	x.golden(t, "ping", auction)
}
