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

func TestPingReturnsBestBid(t *testing.T) {
	h := newAuctionExchange(t)
	acme, before := h.requestToken("acme", "ping"), time.Now()
	a := h.ping(acme, "k1", withMembers(pingBody, "zip3", `"941"`, "vehicle_count", "2", "driver_age_band", `"25-34"`, "ai_quality_score", "0.87", "further", `{"x":[1]}`))
	got := decodeAnswer[pingAnswer](t, a, 200)
	if got.Auction != "a1" || got.Bid == nil || got.Bid.Amount != "8" || got.Bid.Currency != "USD" || !strings.HasPrefix(got.Bid.Token, "bid_") {
		t.Fatal(a.body)
	}
	if fmt.Sprint(got.Passed) != "[vertical]" {
		t.Errorf("passed filters: got %v, want only vertical", got.Passed)
	}
	if left := got.Bid.Until.Sub(before); left < 4*time.Second || left > 5*time.Second+time.Since(before) {
		t.Errorf("the bid is valid for %v, want 4 to 5 s", left)
	}
	if a.header.Get("Content-Type") != contentTypeJSON || a.header.Get("X-RateLimit-Limit") != "1000000" || a.header.Get("X-RateLimit-Remaining") == "" || a.header.Get("X-RateLimit-Reset") == "" {
		t.Errorf("%v", a.header)
	}
	// Without the best bid, the second best wins. Bids below the floor do not.
	h.buyers.update(func() { h.buyers.bids["blue.example"] = 0 })
	if got := decodeAnswer[pingAnswer](t, h.ping(acme, "k2", withMembers(pingBody, "auction_id", `"a2"`)), 200); got.Bid == nil || got.Bid.Amount != "7.2" {
		t.Errorf("%+v", got)
	}
	h.buyers.update(func() { h.buyers.bids["red.example"] = 4_999_999 })
	for i, row := range []struct{ change, value, reason string }{
		{"zip3", `"941"`, "below_floor"},
		{"state", `"TX"`, "no_bid"},
		{"vertical", `"boats"`, "no_campaign"},
		{"sub_vertical", `"trucks"`, "no_campaign"},
	} {
		a := h.ping(acme, fmt.Sprint("n", i), withMembers(pingBody, "auction_id", fmt.Sprintf(`"n%d"`, i), row.change, row.value))
		if got := decodeAnswer[pingAnswer](t, a, 200); got.Bid != nil || got.Reason != row.reason || got.Detail == "" || !strings.Contains(a.body, `"bid":null`) {
			t.Errorf("%s: %s", row.reason, a.body)
		}
	}
}

func TestAvailabilityListsBids(t *testing.T) {
	h := newAuctionExchange(t)
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
	a := h.checkAvailability("acme", availabilityBody)
	got := decodeAnswer[answer](t, a, 200).Data
	if len(got.Buyers) != 2 || got.Buyers[0].Buyer != "buy_blue" || got.Buyers[0].Amount != 8 || got.Buyers[1].Amount != 7.2 || got.Buyers[1].Currency != "USD" {
		t.Fatal(a.body)
	}
	if !got.Accepted || got.Campaign != "cmp_auto" || !strings.HasPrefix(got.Ping, "ping_") || got.Expires.IsZero() || got.Buyers[0].Until.After(got.Expires) || a.header.Get("X-RateLimit-Limit") != "1000000" {
		t.Errorf("%s %v", a.body, a.header)
	}
	// Without a key each request is a new ping. With the same key the answer is replayed.
	if again := decodeAnswer[answer](t, h.checkAvailability("acme", availabilityBody), 200).Data; again.Ping == got.Ping {
		t.Error("two requests without a key got the same ping id")
	}
	first := h.checkAvailability("acme", availabilityBody, "Idempotency-Key", "k")
	h.checkAvailability("acme", availabilityBody, "Idempotency-Key", "k").wantReplayOf(t, first)
	h.checkAvailability("acme", withMembers(availabilityBody, "state", `"NV"`), "Idempotency-Key", "k").wantError(t, 422, "idempotency_key_reused")
	h.buyers.update(func() { clear(h.buyers.bids) })
	a = h.checkAvailability("acme", availabilityBody)
	if none := decodeAnswer[answer](t, a, 200).Data; none.Accepted || none.Reason != "no_bid" || !strings.Contains(a.body, `"buyers":[]`) {
		t.Error(a.body)
	}
}

// Each error of a ping names the faulty member.
func TestPingErrorsNameMembers(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "ping")
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
			a := h.ping(acme, fmt.Sprint("k", i), withMembers(pingBody, strings.Split(row.changes, "|")...))
			if got := a.wantError(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	for key, want := range map[string]string{
		"": "Idempotency-Key missing_required", "a b": "Idempotency-Key invalid_format", `""`: "Idempotency-Key invalid_format", strings.Repeat("k", 256): "Idempotency-Key invalid_format",
	} {
		if got := h.ping(acme, key, pingBody).wantError(t, 422, "invalid_payload"); got != want {
			t.Errorf("key %q: %s", key, got)
		}
	}
	if n := h.buyers.pingCount(); n > 0 {
		t.Errorf("buyers got %d pings, want 0", n)
	}
	// 2.0 is an integer.
	if a := h.ping(acme, "two", withMembers(pingBody, "auction_id", `"two"`, "vehicle_count", "2.0")); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	// Rejected pings claim neither the key nor the auction id.
	if a := h.ping(acme, "k0", pingBody); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestAvailabilityErrorsNameMembers(t *testing.T) {
	h := newAuctionExchange(t)
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
			if got := h.checkAvailability("acme", withMembers(availabilityBody, strings.Split(row.changes, "|")...)).wantError(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	h.checkAvailability("acme", withMembers(availabilityBody, "flo_supplier_id", `"sup_other"`)).wantError(t, 403, "forbidden")
	h.checkAvailability("other", withMembers(availabilityBody, "flo_supplier_id", `"sup_other"`, "flo_campaign_id", `"cmp_acme"`)).wantError(t, 403, "forbidden")
	if got := h.checkAvailability("acme", availabilityBody, "Idempotency-Key", "a b").wantError(t, 422, "invalid_payload"); got != "Idempotency-Key invalid_format" {
		t.Error(got)
	}
}

// A ping may have an expiry time in any zone and at any distance.
func TestPingExpiresAtZonesAndDistances(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "ping")
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
		got := decodeAnswer[pingAnswer](t, h.ping(acme, fmt.Sprint("k", i), withMembers(pingBody, "auction_id", strconv.Quote(at), "expires_at", strconv.Quote(at))), 200)
		if got.Bid == nil || got.Bid.Until.After(time.Now().Add(5*time.Second)) || got.Bid.Until.Location() != time.UTC {
			t.Errorf("%s: %+v", at, got)
		}
	}
}

// An idempotency key belongs to one auction, and an auction id to one key. Repeats are
// replayed without pings.
func TestRepeatedPing(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "ping")
	first := h.ping(acme, "k1", pingBody)
	before := h.buyers.pingCount()
	for _, key := range []string{"k1", `"k1"`} {
		h.ping(acme, key, pingBody).wantReplayOf(t, first)
	}
	h.ping(h.requestToken("acme", "ping"), "k1", pingBody).wantReplayOf(t, first)
	h.ping(acme, "k1", pingBody+" ").wantError(t, 422, "idempotency_key_reused")
	h.ping(acme, "k1", withMembers(pingBody, "state", `"TX"`)).wantError(t, 422, "idempotency_key_reused")
	h.ping(acme, "k2", pingBody).wantError(t, 409, "auction_exists")
	h.ping(acme, "k2", withMembers(pingBody, "state", `"TX"`)).wantError(t, 409, "auction_exists")
	if n := h.buyers.pingCount(); n != before {
		t.Errorf("buyers got %d pings for repeats, want 0", n-before)
	}
	// Keys and auction ids of other sellers are independent.
	other := h.ping(h.requestToken("other", "ping"), "k1", pingBody)
	if got := decodeAnswer[pingAnswer](t, other, 200); got.Bid == nil || other.header.Get(httperror.HeaderReplayed) != "" || other.body == first.body {
		t.Error(other.body)
	}
	// A no-bid is replayed too.
	none := h.ping(acme, "k3", withMembers(pingBody, "auction_id", `"a3"`, "vertical", `"boats"`))
	h.ping(acme, "k3", withMembers(pingBody, "auction_id", `"a3"`, "vertical", `"boats"`)).wantReplayOf(t, none)
	// A replay is not checked again, so it may have expired.
	soon := withMembers(pingBody, "auction_id", `"a4"`, "expires_at", strconv.Quote(time.Now().Add(4*time.Second).Format(time.RFC3339Nano)))
	short := h.ping(acme, "k4", soon)
	h.advance(5 * time.Second)
	h.ping(acme, "k4", soon).wantReplayOf(t, short)
	if got := h.ping(acme, "k5", soon).wantError(t, 422, "invalid_payload"); got != "expires_at expired" {
		t.Error(got)
	}
}

func TestPingHopLimit(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "ping")
	for i, row := range []struct {
		hops     string
		wantHops int // 0: no ping
	}{{"0", 1}, {"1", 2}, {"3", 4}, {"4", 0}, {"-1", 0}, {"x", 0}, {"99999999999999999999", 0}} {
		before := h.buyers.pingCount()
		got := decodeAnswer[pingAnswer](t, h.ping(acme, fmt.Sprint("k", i), withMembers(pingBody, "auction_id", fmt.Sprintf(`"a%d"`, i)), "x-pingpost-hops", row.hops), 200)
		hops := h.buyers.hops[before:]
		switch {
		case row.wantHops == 0:
			if got.Bid != nil || got.Reason != "loop" || len(hops) > 0 {
				t.Errorf("%q: %+v, pings %v", row.hops, got, hops)
			}
		case got.Bid == nil || len(hops) != 2 || hops[0] != row.wantHops:
			t.Errorf("%q: %+v, pings %v", row.hops, got, hops)
		}
	}
	if a := h.checkAvailability("acme", availabilityBody, "X-Pingpost-Hops", "4"); !strings.Contains(a.body, `"reason":"loop"`) {
		t.Error(a.body)
	}
}

// A ping over the limit of open auctions gets 429 and claims neither the key nor the
// auction id.
func TestOpenAuctionLimit(t *testing.T) {
	h := newAuctionExchange(t)
	other, hold := h.requestToken("other", "ping"), make(chan struct{})
	h.buyers.update(func() { h.buyers.pingGate = hold })
	first := make(chan *apiAnswer)
	go func() { first <- h.ping(other, "k1", pingBody) }()
	servertest.WaitUntil(t, "the first auction is open", func() bool { return h.buyers.pingCount() == 2 })
	for range 2 {
		a := h.ping(other, "k2", withMembers(pingBody, "auction_id", `"a2"`))
		a.wantError(t, 429, "rate_limited")
		h.wantAuctionLimit(a)
	}
	availability := h.checkAvailability("other", withMembers(availabilityBody, "flo_supplier_id", `"sup_other"`))
	availability.wantError(t, 429, "rate_limited")
	h.wantAuctionLimit(availability)
	close(hold)
	if a := <-first; a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.ping(other, "k2", withMembers(pingBody, "auction_id", `"a2"`)); a.status != 200 || a.header.Get(httperror.HeaderReplayed) != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// wantAuctionLimit checks that the rate headers are those of the limit on open auctions,
// which is 1 for sup_other, and not those of the ping rate.
func (h *testExchange) wantAuctionLimit(a *apiAnswer) {
	h.t.Helper()
	reset, _ := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	now := h.clock.Now() / int64(time.Second)
	if a.header.Get("X-RateLimit-Limit") != "1" || a.header.Get("X-RateLimit-Remaining") != "0" || reset < now || reset > now+6 || a.header.Get("Retry-After") != "1" {
		h.t.Errorf("at %d: %v", now, a.header)
	}
}

// Pings and availability requests share a bucket. Posts have another.
func TestPingAndAvailabilityShareRateLimit(t *testing.T) {
	h := newAuctionExchange(t)
	slow := h.requestToken("slow", "")
	supplier := (*h.suppliers.Load())[h.supplierRef("sup_slow")]
	// A bucket drained at a future time stays empty until then, however long a request takes.
	const ahead = 30 * time.Second
	drain := func(l *tokenBucketsByOwner) {
		(*l.buckets.Load())[supplier.Ref].takeTokens(1, time.Unix(0, h.clock.Now()).Add(ahead))
	}
	ping := func() *apiAnswer { return h.ping(slow, "k", "{") }
	available := func() *apiAnswer { return h.checkAvailability("slow", "{") }
	post := func() *apiAnswer { return h.post(slow, "k", "{") }
	for _, row := range []struct {
		name         string
		send         func() *apiAnswer
		own, another *tokenBucketsByOwner
	}{{"a ping", ping, &h.pingLimits, &h.postLimits}, {"an availability request", available, &h.pingLimits, &h.postLimits}, {"a post", post, &h.postLimits, &h.pingLimits}} {
		drain(row.own)
		a := row.send()
		a.wantError(t, 429, "rate_limited")
		if a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Limit") != "1" || a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%s: %v", row.name, a.header)
		}
		h.advance(ahead + time.Second)
		drain(row.another)
		drain(&h.ingestLimits)
		row.send().wantError(t, 400, "malformed_json")
	}
}

// supplierRef returns the permanent number of a supplier.
func (h *testExchange) supplierRef(id market.SupplierID) market.PermanentNumber {
	for ref, supplier := range *h.suppliers.Load() {
		if supplier.ID == id {
			return ref
		}
	}
	h.t.Fatalf("no supplier %s", id)
	return 0
}
