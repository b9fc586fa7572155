package refbuyer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

var noon = time.Unix(1_700_000_000, 0)

// bidAnswer is an answer to a ping as a seller reads it.
type bidAnswer struct {
	AuctionID string `json:"auction_id"`
	Bid       *struct {
		Amount     json.Number `json:"amount"`
		Currency   string      `json:"currency"`
		BidToken   string      `json:"bid_token"`
		ValidUntil time.Time   `json:"valid_until"`
	} `json:"bid"`
	Passed []string `json:"buyer_filters_passed"`
	Reason string   `json:"reject_reason"`
	Detail string   `json:"reject_detail"`
}

func pingOf(auction string) string { return pingIn(auction, "CA") }

func pingIn(auction, state string) string {
	return fmt.Sprintf(`{"auction_id":%q,"vertical":"auto","state":%q,"tcpa_consent":true}`, auction, state)
}

// ask sends a ping and reads the answer.
func ask(t *testing.T, base, key, body string) (got bidAnswer, text string, header http.Header) {
	t.Helper()
	status, text, header := send(t, "POST", base+"/v1/ping", body, "Idempotency-Key", key)
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	return got, text, header
}

func withToken(lead, token string) string {
	return strings.Replace(lead, `"lead":`, `"bid_token":"`+token+`","lead":`, 1)
}

func TestBid(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(12_500_000), Currency: "EUR", Valid: 3 * time.Second})
	b.now = func() time.Time { return noon }
	got, text, _ := ask(t, base, "p1", pingOf("auc_1"))
	if got.AuctionID != "auc_1" || got.Bid == nil || got.Reason != "" || strings.Join(got.Passed, " ") != "vertical state tcpa" {
		t.Fatalf("got %s", text)
	}
	if bid := got.Bid; bid.Amount != "12.5" || bid.Currency != "EUR" || bid.BidToken == "" || !bid.ValidUntil.Equal(noon.Add(3*time.Second)) {
		t.Errorf("got %s", text)
	}
	if s := b.Stats(); s.Pings != 1 || s.Bids != 1 || s.NoBids != 0 || s.PeakPings != 1 {
		t.Errorf("stats %+v", s)
	}
}

// TestBidsOf checks the bids for pings.
func TestBidsOf(t *testing.T) {
	byState := must.Value(ParsePricing("CA=20,TX=15.5"))(t)
	california := must.Value(market.ParseUSStatesOrAll([]string{"CA", "NY"}))(t)
	rows := []struct {
		name    string
		options Options
		ping    string
		amount  json.Number // empty: no bid
		reason  string
		passed  string
	}{
		{"a fixed price", Options{Bid: Fixed(1)}, pingIn("a", "TX"), "0.000001", "", "vertical state tcpa"},
		{"the price of a state", Options{Bid: byState}, pingIn("a", "TX"), "15.5", "", "vertical state tcpa"},
		{"no price in a state", Options{Bid: byState}, pingIn("a", "NY"), "", "no_bid", "vertical state tcpa"},
		{"no price anywhere", Options{}, pingIn("a", "NY"), "", "no_bid", "vertical state tcpa"},
		{"a state it buys", Options{Bid: Fixed(1), States: california}, pingIn("a", "NY"), "0.000001", "", "vertical state tcpa"},
		{"a state it does not", Options{Bid: Fixed(1), States: california}, pingIn("a", "TX"), "", "no_state_match", "vertical tcpa"},
		{"passing at times", Options{Bid: Fixed(1), NoBidRate: 1}, pingIn("a", "TX"), "", "no_bid", "vertical state tcpa"},
		{"no consent", Options{Bid: Fixed(1)}, strings.Replace(pingOf("a"), "true", "false", 1), "0.000001", "", "vertical state"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b, base := start(t, row.options)
			got, text, _ := ask(t, base, "k", row.ping)
			if strings.Join(got.Passed, " ") != row.passed || got.Reason != row.reason || (got.Detail == "") != (row.reason == "") {
				t.Errorf("got %s", text)
			}
			if got.Bid == nil {
				if row.amount != "" || !strings.Contains(text, `"bid":null`) {
					t.Errorf("got %s, want %s", text, row.amount)
				}
			} else if got.Bid.Amount != row.amount {
				t.Errorf("got %s, want %s", text, row.amount)
			}
			if s := b.Stats(); s.Pings != 1 || s.Bids+s.NoBids != 1 || (s.Bids == 1) != (row.amount != "") {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// TestPingAgain: a repeated key gets the same bytes, also later, but not with another
// body.
func TestPingAgain(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1), NoBidRate: 0.5, RememberPings: 100})
	var mu sync.Mutex
	at := noon
	b.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
	var first [40]string
	for round := range 3 {
		for i := range first {
			_, text, header := ask(t, base, fmt.Sprint("k", i), pingOf(fmt.Sprint("auc_", i)))
			if replayed := header.Get("Idempotent-Replayed"); (replayed == "true") != (round > 0) {
				t.Errorf("round %d: replayed %q", round, replayed)
			}
			if round == 0 {
				first[i] = text
			} else if text != first[i] {
				t.Errorf("first %s\nthen  %s", first[i], text)
			}
		}
	}
	if status, text, _ := send(t, "POST", base+"/v1/ping", pingOf("auc_2"), "Idempotency-Key", "k1"); status != 422 || !strings.Contains(text, "idempotency_key_reused") {
		t.Errorf("another body: %d %s", status, text)
	}
	if _, again, _ := ask(t, base, `"k1"`, pingOf("auc_1")); again != first[1] {
		t.Errorf("the key in quotes: %s, want %s", again, first[1])
	}
	s := b.Stats()
	if s.Pings != 121 || s.PingsReplayed != 81 || s.Bids+s.NoBids != 40 || s.Bids < 8 || s.NoBids < 8 {
		t.Errorf("stats %+v", s)
	}
}

// TestPingRefused has the pings that are refused for their content.
func TestPingRefused(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1)})
	b.now = func() time.Time { return noon }
	with := func(member string) string { return strings.Replace(pingOf("auc_1"), "{", "{"+member+",", 1) }
	without := func(old, replacement string) string { return strings.Replace(pingOf("auc_1"), old, replacement, 1) }
	deep := `"a":{"b":[1,{"c":{"Email":"x"}}]}`
	rows := []struct {
		name, body string
		want       string // fields and their codes; empty: accepted
	}{
		{"everything", with(`"sub_vertical":"sr22","zip3":"941","currently_insured":true,"vehicle_count":2,"driver_age_band":"25-34","ai_quality_score":0.82,"source":"search","consent_cert_url":"https://cert.example/1","expires_at":"2023-11-14T22:13:21Z"`), ""},
		{"fields of a campaign's own", with(`"pets":{"cats":[1,2,{"email_count":3}],"first":"name"},"phones":2,"mail":"x"`), ""},
		{"optional ones null", with(`"zip3":null,"source":null,"vehicle_count":null,"expires_at":null`), ""},
		{"optional ones blank", with(`"zip3":" ","source":"","expires_at":"\t","vehicle_count":" "`), ""},
		{"a round number of cars", with(`"vehicle_count":2.0`), ""},
		{"no car count at all", with(`"vehicle_count":1e400`), "vehicle_count wrong_type"},
		{"nothing", `{}`, "auction_id missing_required, vertical missing_required, state missing_required, tcpa_consent missing_required"},
		{"no auction", without(`"auc_1"`, `null`), "auction_id missing_required"},
		{"a blank auction", without(`"auc_1"`, `" "`), "auction_id missing_required"},
		{"an auction of a number", without(`"auc_1"`, `1`), "auction_id wrong_type"},
		{"a long auction", without(`auc_1`, strings.Repeat("a", 65)), "auction_id too_long"},
		{"no vertical", without(`"auto"`, `null`), "vertical missing_required"},
		{"a vertical of a number", without(`"auto"`, `1`), "vertical wrong_type"},
		{"no state", without(`"state"`, `"stat"`), "state missing_required"},
		{"no such state", without(`CA`, `XX`), "state invalid_format"},
		{"a small state", without(`CA`, `ca`), "state invalid_format"},
		{"a state of a number", without(`"CA"`, `5`), "state wrong_type"},
		{"no consent", without(`true`, `null`), "tcpa_consent missing_required"},
		{"consent in a text", without(`true`, `"true"`), "tcpa_consent wrong_type"},
		{"zip3 of a number", with(`"zip3":941`), "zip3 wrong_type"},
		{"a whole zip", with(`"zip3":"94107"`), "zip3 invalid_format"},
		{"half a car", with(`"vehicle_count":1.5`), "vehicle_count wrong_type"},
		{"cars in a text", with(`"vehicle_count":"2"`), "vehicle_count wrong_type"},
		{"a score in a text", with(`"ai_quality_score":"0.8"`), "ai_quality_score wrong_type"},
		{"insurance of a number", with(`"currently_insured":1`), "currently_insured wrong_type"},
		{"a source in a list", with(`"source":["x"]`), "source wrong_type"},
		{"a plain certificate", with(`"consent_cert_url":"http://cert.example/1"`), "consent_cert_url invalid_format"},
		{"a certificate of a number", with(`"consent_cert_url":1`), "consent_cert_url wrong_type"},
		{"expiry of a number", with(`"expires_at":1700000000`), "expires_at wrong_type"},
		{"expiry of words", with(`"expires_at":"soon"`), "expires_at invalid_format"},
		{"expired this instant", with(`"expires_at":"2023-11-14T22:13:20Z"`), "expires_at expired"},
		{"expired in another zone", with(`"expires_at":"2023-11-14T23:13:19+01:00"`), "expires_at expired"},
		{"two at once", with(`"zip3":1,"source":2`), "zip3 wrong_type, source wrong_type"},
		{"a phone", with(`"phone":null`), "phone contact_field_not_allowed"},
		{"a name in capitals", with(`"First_Name":"A"`), "First_Name contact_field_not_allowed"},
		{"a street", with(`"address":{"city":"x","line1":"y"}`), "address.line1 contact_field_not_allowed"},
		{"a person in the depth", with(deep), "a.b.1.c.Email contact_field_not_allowed"},
		{"a person in disguise", with(`"x":{"last\u005fname":1}`), "x.last_name contact_field_not_allowed"},
	}
	contacts, late, invalid := int64(0), int64(0), int64(0)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			status, text, _ := send(t, "POST", base+"/v1/ping", row.body, "Idempotency-Key", fmt.Sprint("k", i))
			var body refusal
			must.Succeed(t, json.Unmarshal([]byte(text), &body))
			var fields []string
			for _, f := range body.FieldErrors {
				fields = append(fields, f.Field+" "+f.Code)
				if f.Expected == "" {
					t.Errorf("%s: nothing is expected", f.Field)
				}
			}
			if got := strings.Join(fields, ", "); got != row.want || (status == 200) != (row.want == "") || status != 200 && (status != 422 || body.Error != "invalid_payload") {
				t.Errorf("%d %s, want %s", status, text, row.want)
			}
		})
		if strings.Contains(row.want, codeContact) {
			contacts++
		}
		switch row.want {
		case "":
		case "expires_at expired":
			late++
		default:
			invalid++
		}
		if s := b.Stats(); s.ContactSeen != contacts || s.Late != late || s.Invalid != invalid {
			t.Errorf("%s: %d contacts were seen, %d pings were late, %d invalid; want %d, %d, %d", row.name, s.ContactSeen, s.Late, s.Invalid, contacts, late, invalid)
		}
	}
}

func TestPingSyntax(t *testing.T) {
	b, base := start(t, Options{})
	bodies := []string{``, `[]`, `null`, `{`, pingOf("a") + `x`, `{"auction_id":"a",` + pingOf("a")[1:], "{\"a\":\"\xff\"}", strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40)}
	for _, body := range bodies {
		if status, text, _ := send(t, "POST", base+"/v1/ping", body, "Idempotency-Key", "k"); status != 400 || !strings.Contains(text, "malformed_json") {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
	for _, kind := range []string{"text/plain", "application/jsonp", ""} {
		if status, text, _ := send(t, "POST", base+"/v1/ping", pingOf("a"), "Idempotency-Key", "k", "Content-Type", kind); status != 415 {
			t.Errorf("%q: %d %s", kind, status, text)
		}
	}
	if s := b.Stats(); s.Pings != 0 || s.Invalid != int64(len(bodies)+3) {
		t.Errorf("stats %+v", s)
	}
	if status, text, _ := send(t, "POST", base+"/v1/ping", pingOf("a"), "Idempotency-Key", "k", "Content-Type", "Application/JSON; charset=utf-8"); status != 200 {
		t.Errorf("with a charset: %d %s", status, text)
	}
}

// TestEcho: every auction id is echoed.
func TestEcho(t *testing.T) {
	_, base := start(t, Options{Bid: Fixed(1)})
	for i, auction := range []string{"a\"b", `a\b`, "Größe", "a\tb", "a\u2028b", "x y", strings.Repeat("z", 64)} {
		body := must.Value(json.Marshal(map[string]any{"auction_id": auction, "vertical": "v", "state": "CA", "tcpa_consent": false}))(t)
		got, text, _ := ask(t, base, fmt.Sprint(i), string(body))
		if got.AuctionID != auction {
			t.Errorf("%q: got %s", auction, text)
		}
	}
}

// TestRate: the limit's headers tell a seller when it may ping again. Posts are unlimited.
func TestRate(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1), PingsASecond: 3})
	var after atomic.Int64
	b.now = func() time.Time { return noon.Add(time.Duration(after.Load())) }
	for i, step := range []struct {
		after  time.Duration
		status int
		want   string // limit, remaining, reset after noon, retry after
	}{
		{time.Millisecond, 200, "3 2 1 "},
		{time.Millisecond, 200, "3 1 1 "},
		{time.Millisecond, 200, "3 0 2 "},
		{time.Millisecond, 429, "3 0 2 1"},
		{200 * time.Millisecond, 429, "3 0 2 1"},
		{400 * time.Millisecond, 200, "3 0 2 "},
		{time.Hour, 200, "3 2 3601 "},
	} {
		after.Store(int64(step.after))
		status, text, header := send(t, "POST", base+"/v1/ping", pingOf("a"), "Idempotency-Key", fmt.Sprint("k", i))
		var reset int64
		_, _ = fmt.Sscan(header.Get("X-RateLimit-Reset"), &reset)
		got := fmt.Sprint(header.Get("X-RateLimit-Limit"), " ", header.Get("X-RateLimit-Remaining"), " ", reset-noon.Unix(), " ", header.Get("Retry-After"))
		if status != step.status || got != step.want {
			t.Errorf("ping %d: %d %s, %q, want %q", i, status, text, got, step.want)
		}
	}
	for i := range 5 {
		if status, text, _ := send(t, "POST", base+"/v1/post", lead(fmt.Sprint("l", i)), "Idempotency-Key", fmt.Sprint("k", i)); status != 201 {
			t.Errorf("posts have no limit: %d %s", status, text)
		}
	}
	if s := b.Stats(); s.Limited != 2 || s.Pings != 5 || s.PeakPings != 6 {
		t.Errorf("stats %+v", s)
	}
}
