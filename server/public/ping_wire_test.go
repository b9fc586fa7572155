package public

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

func TestPing(t *testing.T) {
	h := holding(t)
	acme, before := h.token("acme", "ping"), time.Now()
	a := h.ping(acme, "k1", with(aPing, "zip3", `"941"`, "vehicle_count", "2", "driver_age_band", `"25-34"`, "ai_quality_score", "0.87", "further", `{"x":[1]}`))
	said := read[pinged](t, a, 200)
	if said.Auction != "a1" || said.Bid == nil || said.Bid.Amount != "8" || said.Bid.Currency != "USD" || !strings.HasPrefix(said.Bid.Token, "bid_") {
		t.Fatal(a.body)
	}
	if fmt.Sprint(said.Passed) != "[vertical]" {
		t.Errorf("passed: %v; nothing else is asked for", said.Passed)
	}
	if left := said.Bid.Until.Sub(before); left < 4*time.Second || left > 5*time.Second+time.Since(before) {
		t.Errorf("open for %v", left)
	}
	if a.header.Get("Content-Type") != asJSON || a.header.Get("X-RateLimit-Limit") != "1000000" || a.header.Get("X-RateLimit-Remaining") == "" || a.header.Get("X-RateLimit-Reset") == "" {
		t.Errorf("%v", a.header)
	}
	// The floor is the buyer's bid, and the second best wins where the best is gone.
	h.buyers.set(func() { h.buyers.bids["blue.example"] = 0 })
	if said := read[pinged](t, h.ping(acme, "k2", with(aPing, "auction_id", `"a2"`)), 200); said.Bid == nil || said.Bid.Amount != "7.2" {
		t.Errorf("%+v", said)
	}
	h.buyers.set(func() { h.buyers.bids["red.example"] = 4_999_999 })
	for i, row := range []struct{ change, value, reason string }{
		{"zip3", `"941"`, "below_floor"},
		{"state", `"TX"`, "no_bid"},
		{"vertical", `"boats"`, "no_campaign"},
		{"sub_vertical", `"trucks"`, "no_campaign"},
	} {
		a := h.ping(acme, fmt.Sprint("n", i), with(aPing, "auction_id", fmt.Sprintf(`"n%d"`, i), row.change, row.value))
		if said := read[pinged](t, a, 200); said.Bid != nil || said.Reason != row.reason || said.Detail == "" || !strings.Contains(a.body, `"bid":null`) {
			t.Errorf("%s: %s", row.reason, a.body)
		}
	}
}

func TestAvailability(t *testing.T) {
	h := holding(t)
	type answer struct {
		Data struct {
			Ping     string    `json:"ping_id"`
			Campaign string    `json:"campaign_id"`
			Accepted bool      `json:"accepted"`
			Expires  time.Time `json:"expires_at"`
			Reason   string    `json:"reason"`
			Buyers   []struct {
				Buyer    string    `json:"buyer_id"`
				Amount   float64   `json:"amount"`
				Currency string    `json:"currency"`
				Until    time.Time `json:"valid_until"`
			} `json:"buyers"`
		} `json:"data"`
	}
	a := h.ask("acme", aQuestion)
	said := read[answer](t, a, 200).Data
	if len(said.Buyers) != 2 || said.Buyers[0].Buyer != "buy_blue" || said.Buyers[0].Amount != 8 || said.Buyers[1].Amount != 7.2 || said.Buyers[1].Currency != "USD" {
		t.Fatal(a.body)
	}
	if !said.Accepted || said.Campaign != "cmp_auto" || !strings.HasPrefix(said.Ping, "ping_") || said.Expires.IsZero() || said.Buyers[0].Until.After(said.Expires) || a.header.Get("X-RateLimit-Limit") != "1000000" {
		t.Errorf("%s %v", a.body, a.header)
	}
	// Without a key each is a ping of its own; with one it is repeated.
	if again := read[answer](t, h.ask("acme", aQuestion), 200).Data; again.Ping == said.Ping {
		t.Error("the same ping twice")
	}
	first := h.ask("acme", aQuestion, "Idempotency-Key", "k")
	h.ask("acme", aQuestion, "Idempotency-Key", "k").isReplayOf(t, first)
	h.ask("acme", with(aQuestion, "state", `"NV"`), "Idempotency-Key", "k").mustFail(t, 422, "idempotency_key_reused")
	h.buyers.set(func() { clear(h.buyers.bids) })
	a = h.ask("acme", aQuestion)
	if none := read[answer](t, a, 200).Data; none.Accepted || none.Reason != "no_bid" || !strings.Contains(a.body, `"buyers":[]`) {
		t.Error(a.body)
	}
}

// TestPingIsChecked: every fault of a ping, on the member that has it.
func TestPingIsChecked(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "ping")
	past := time.Now().Add(-time.Second)
	for i, row := range []struct{ changes, want string }{
		{"auction_id|", "auction_id missing_required"},
		{"auction_id|7", "auction_id wrong_type"},
		{"vertical|", "vertical missing_required"},
		{"vertical|null", "vertical missing_required"},
		{"sub_vertical|[]", "sub_vertical wrong_type"},
		{"state|", "state missing_required"},
		{`state|"XX"`, "state invalid_format"},
		{"state|5", "state wrong_type"},
		{"tcpa_consent|", "tcpa_consent missing_required"},
		{`tcpa_consent|"yes"`, "tcpa_consent wrong_type"},
		{`zip3|"94"`, "zip3 invalid_format"},
		{`currently_insured|"no"`, "currently_insured wrong_type"},
		{"zip|\"94105\"|zip3|{}", "zip3 wrong_type"},
		{"zip|\"9410\"|zip3|\"94\"", "zip invalid_format, zip3 invalid_format"},
		{"vehicle_count|1.5", "vehicle_count wrong_type"},
		{"vehicle_count|9223372036854775808", "vehicle_count out_of_range"},
		{"driver_age_band|25", "driver_age_band wrong_type"},
		{`consent_cert_url|"http://cert.test/1"`, "consent_cert_url invalid_format"},
		{`rooms|"two"`, "rooms wrong_type"},
		{`first_name|"Ann"`, "first_name contact_field_not_allowed"},
		{`phone|"4155550132"`, "phone contact_field_not_allowed"},
		{`Email|"a@b.test"`, "Email contact_field_not_allowed"},
		{`line1|"1 Main St"`, "line1 contact_field_not_allowed"},
		{`further|{"deep":[{"LAST_NAME":"Lee"}]}`, "further.deep.0.LAST_NAME contact_field_not_allowed"},
		{`lead|{"phone":"1"}`, "lead.phone contact_field_not_allowed"},
		{`firstName|"Ann"`, "firstName contact_field_not_allowed"},
		{`further|{"e-mail":"a@b.test"}`, "further.e-mail contact_field_not_allowed"},
		{"further|{\"\u200bрhone\":1}", "further.\u200bрhone contact_field_not_allowed"},
		{`expires_at|"` + past.Format(time.RFC3339Nano) + `"`, "expires_at expired"},
		{`expires_at|"` + past.In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339Nano) + `"`, "expires_at expired"},
		{`expires_at|"tomorrow"`, "expires_at invalid_format"},
		{"expires_at|1700000000", "expires_at wrong_type"},
		{`state||phone|"1"`, "phone contact_field_not_allowed, state missing_required"},
	} {
		t.Run(row.changes, func(t *testing.T) {
			a := h.ping(acme, fmt.Sprint("k", i), with(aPing, strings.Split(row.changes, "|")...))
			if got := a.mustFail(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	for key, want := range map[string]string{
		"": "Idempotency-Key missing_required", "a b": "Idempotency-Key invalid_format", `""`: "Idempotency-Key invalid_format", strings.Repeat("k", 256): "Idempotency-Key invalid_format",
	} {
		if got := h.ping(acme, key, aPing).mustFail(t, 422, "invalid_payload"); got != want {
			t.Errorf("key %q: %s", key, got)
		}
	}
	if n := h.buyers.asked(); n > 0 {
		t.Errorf("buyers were asked %d times", n)
	}
	// 2.0 is an integer.
	if a := h.ping(acme, "two", with(aPing, "auction_id", `"two"`, "vehicle_count", "2.0")); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	// What was refused has used up neither the key nor the auction's id.
	if a := h.ping(acme, "k0", aPing); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestQuestionIsChecked(t *testing.T) {
	h := holding(t)
	for _, row := range []struct{ changes, want string }{
		{"flo_campaign_id|", "flo_campaign_id missing_required"},
		{`flo_campaign_id|"cmp_none"`, "flo_campaign_id unknown"},
		{"flo_supplier_id|", "flo_supplier_id missing_required"},
		{`first_name|"Ann"`, "first_name contact_field_not_allowed"},
		{`x|{"y":{"phone":"1"}}`, "x.y.phone contact_field_not_allowed"},
		{`rooms|"two"`, "rooms wrong_type"},
		{`zip|"94105"|zip3|7`, "zip3 wrong_type"},
	} {
		t.Run(row.changes, func(t *testing.T) {
			if got := h.ask("acme", with(aQuestion, strings.Split(row.changes, "|")...)).mustFail(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	h.ask("acme", with(aQuestion, "flo_supplier_id", `"sup_other"`)).mustFail(t, 403, "forbidden")
	h.ask("other", with(aQuestion, "flo_supplier_id", `"sup_other"`, "flo_campaign_id", `"cmp_acme"`)).mustFail(t, 403, "forbidden")
	if got := h.ask("acme", aQuestion, "Idempotency-Key", "a b").mustFail(t, 422, "invalid_payload"); got != "Idempotency-Key invalid_format" {
		t.Error(got)
	}
}

// TestExpiresAt checks expiry times in any zone and at any distance.
func TestExpiresAt(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "ping")
	for i, row := range []struct {
		ahead time.Duration
		zone  *time.Location
	}{
		{3 * time.Second, time.UTC},
		{3 * time.Second, time.FixedZone("", -8*3600)},
		{time.Hour, time.UTC},
		{20 * 365 * 24 * time.Hour, time.FixedZone("", 14*3600)},
	} {
		before := time.Now()
		at := before.Add(row.ahead).In(row.zone).Format(time.RFC3339Nano)
		said := read[pinged](t, h.ping(acme, fmt.Sprint("k", i), with(aPing, "auction_id", strconv.Quote(at), "expires_at", strconv.Quote(at))), 200)
		if said.Bid == nil || said.Bid.Until.After(time.Now().Add(5*time.Second)) || said.Bid.Until.Location() != time.UTC {
			t.Errorf("%s: %+v", at, said)
		}
	}
}

// TestPingAgain: one auction a key, and one key an auction.
func TestPingAgain(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "ping")
	first := h.ping(acme, "k1", aPing)
	asked := h.buyers.asked()
	for _, key := range []string{"k1", `"k1"`} {
		h.ping(acme, key, aPing).isReplayOf(t, first)
	}
	h.ping(h.token("acme", "ping"), "k1", aPing).isReplayOf(t, first)
	h.ping(acme, "k1", aPing+" ").mustFail(t, 422, "idempotency_key_reused")
	h.ping(acme, "k1", with(aPing, "state", `"TX"`)).mustFail(t, 422, "idempotency_key_reused")
	h.ping(acme, "k2", aPing).mustFail(t, 409, "auction_exists")
	h.ping(acme, "k2", with(aPing, "state", `"TX"`)).mustFail(t, 409, "auction_exists")
	if n := h.buyers.asked(); n != asked {
		t.Errorf("buyers were asked %d times more", n-asked)
	}
	// Both are the seller's own: another's are others.
	other := h.ping(h.token("other", "ping"), "k1", aPing)
	if said := read[pinged](t, other, 200); said.Bid == nil || other.header.Get(httperror.HeaderReplayed) != "" || other.body == first.body {
		t.Error(other.body)
	}
	// A no-bid is an answer too.
	none := h.ping(acme, "k3", with(aPing, "auction_id", `"a3"`, "vertical", `"boats"`))
	h.ping(acme, "k3", with(aPing, "auction_id", `"a3"`, "vertical", `"boats"`)).isReplayOf(t, none)
	// A replay comes before what a ping is checked for.
	soon := with(aPing, "auction_id", `"a4"`, "expires_at", strconv.Quote(time.Now().Add(4*time.Second).Format(time.RFC3339Nano)))
	short := h.ping(acme, "k4", soon)
	h.wait(5 * time.Second)
	h.ping(acme, "k4", soon).isReplayOf(t, short)
	if got := h.ping(acme, "k5", soon).mustFail(t, 422, "invalid_payload"); got != "expires_at expired" {
		t.Error(got)
	}
}

func TestLoops(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "ping")
	for i, row := range []struct {
		hops   string
		onward int // 0: no buyer is asked
	}{{"0", 1}, {"1", 2}, {"3", 4}, {"4", 0}, {"-1", 0}, {"x", 0}, {"99999999999999999999", 0}} {
		before := h.buyers.asked()
		said := read[pinged](t, h.ping(acme, fmt.Sprint("k", i), with(aPing, "auction_id", fmt.Sprintf(`"a%d"`, i)), "x-pingpost-hops", row.hops), 200)
		asked := h.buyers.hops[before:]
		switch {
		case row.onward == 0:
			if said.Bid != nil || said.Reason != "loop" || len(asked) > 0 {
				t.Errorf("%q: %+v, pings %v", row.hops, said, asked)
			}
		case said.Bid == nil || len(asked) != 2 || asked[0] != row.onward:
			t.Errorf("%q: %+v, pings %v", row.hops, said, asked)
		}
	}
	if a := h.ask("acme", aQuestion, "X-Pingpost-Hops", "4"); !strings.Contains(a.body, `"reason":"loop"`) {
		t.Error(a.body)
	}
}

// TestOpenAuctions checks that an auction over the limit is a 429 and uses up neither the
// key nor the id.
func TestOpenAuctions(t *testing.T) {
	h := holding(t)
	other, hold := h.token("other", "ping"), make(chan struct{})
	h.buyers.set(func() { h.buyers.hold = hold })
	first := make(chan *heard)
	go func() { first <- h.ping(other, "k1", aPing) }()
	servertest.WaitUntil(t, "the first auction is open", func() bool { return h.buyers.asked() == 2 })
	for range 2 {
		a := h.ping(other, "k2", with(aPing, "auction_id", `"a2"`))
		a.mustFail(t, 429, "rate_limited")
		h.limitsAuctions(a)
	}
	question := h.ask("other", with(aQuestion, "flo_supplier_id", `"sup_other"`))
	question.mustFail(t, 429, "rate_limited")
	h.limitsAuctions(question)
	close(hold)
	if a := <-first; a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.ping(other, "k2", with(aPing, "auction_id", `"a2"`)); a.status != 200 || a.header.Get(httperror.HeaderReplayed) != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// limitsAuctions checks that the rate headers are those of the limit on open
// auctions, which is 1 for sup_other, and not those of the ping rate.
func (h *house) limitsAuctions(a *heard) {
	h.t.Helper()
	reset, _ := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	now := h.clock.Now() / int64(time.Second)
	if a.header.Get("X-RateLimit-Limit") != "1" || a.header.Get("X-RateLimit-Remaining") != "0" || reset < now || reset > now+6 || a.header.Get("Retry-After") != "1" {
		h.t.Errorf("at %d: %v", now, a.header)
	}
}

// TestOneBucketOfPings: both kinds share it, and posts have another.
func TestOneBucketOfPings(t *testing.T) {
	h := holding(t)
	slow := h.token("slow", "")
	supplier := (*h.suppliers.Load())[h.ref("sup_slow")]
	drain := func(l *tokenBucketsByOwner) {
		(*l.buckets.Load())[supplier.Ref].takeTokens(1, time.Unix(0, h.clock.Now()))
	}
	ping := func() *heard { return h.ping(slow, "k", "{") }
	ask := func() *heard { return h.ask("slow", "{") }
	post := func() *heard { return h.post(slow, "k", "{") }
	for _, row := range []struct {
		what         string
		call         func() *heard
		own, another *tokenBucketsByOwner
	}{{"a ping", ping, &h.pingLimits, &h.postLimits}, {"a question", ask, &h.pingLimits, &h.postLimits}, {"a post", post, &h.postLimits, &h.pingLimits}} {
		drain(row.own)
		a := row.call()
		a.mustFail(t, 429, "rate_limited")
		if a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Limit") != "1" || a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%s: %v", row.what, a.header)
		}
		h.wait(time.Second)
		drain(row.another)
		drain(&h.ingestLimits)
		row.call().mustFail(t, 400, "malformed_json")
	}
}

// ref is a supplier's number.
func (h *house) ref(id market.SupplierID) market.PermanentNumber {
	for ref, supplier := range *h.suppliers.Load() {
		if supplier.ID == id {
			return ref
		}
	}
	h.t.Fatalf("no supplier %s", id)
	return 0
}
