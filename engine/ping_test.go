package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// The error lists all invalid fields. Nothing is logged.
func TestInvalidPingsAreRejected(t *testing.T) {
	long := strings.Repeat("é", 256)
	tests := []struct {
		name    string
		request request
		want    string
	}{
		{"empty body", request{supplier: "acme", key: "k"}, "auction_id:missing_required vertical:missing_required state:missing_required tcpa_consent:missing_required"},
		{"no key", inquiry(1).withKey(""), "Idempotency-Key:missing_required"},
		{"malformed key", func() request { r := inquiry(1).withKey(""); r.badKey = true; return r }(), "Idempotency-Key:invalid_format"},
		{"blank names", inquiry(1, "auction_id", " ", "vertical", "#null"), "auction_id:missing_required vertical:missing_required"},
		{"numbers for names", inquiry(1, "auction_id", "#7", "vertical", "#true", "sub_vertical", "#1"), "auction_id:wrong_type vertical:wrong_type sub_vertical:wrong_type"},
		{"names too long", inquiry(1, "auction_id", long, "vertical", long, "sub_vertical", long), "auction_id:too_long vertical:too_long sub_vertical:too_long"},
		{"names with unprintable characters", inquiry(1, "auction_id", "a\x00", "vertical", "a\u200b"), "auction_id:invalid_format vertical:invalid_format"},
		{"invalid time", inquiry(1, "expires_at", "soon"), "expires_at:invalid_format"},
		{"a number for a time", inquiry(1, "expires_at", "#5"), "expires_at:wrong_type"},
		{"past time", inquiry(1, "expires_at", "1999-12-31T23:59:59Z"), "expires_at:expired"},
		{"present time", inquiry(1, "expires_at", "2000-01-01T02:00:00+02:00"), "expires_at:expired"},
		{"fields of the wrong type", inquiry(1, "state", "ZZ", "tcpa_consent", "yes", "source", "#1", "ai_quality_score", "high", "zip3", "94", "consent_cert_url", "http://x.example"), "state:invalid_format source:wrong_type tcpa_consent:wrong_type consent_cert_url:invalid_format zip3:invalid_format ai_quality_score:wrong_type"},
		{"signals of the wrong type", inquiry(1, "currently_insured", "yes", "vehicle_count", "#1.5", "driver_age_band", "#30"), "currently_insured:wrong_type vehicle_count:wrong_type driver_age_band:wrong_type"},
		{"campaign field of the wrong type", inquiry(1, "vehicles", "two"), "vehicles:wrong_type"},
		{"contact fields", inquiry(1, "first_name", "Pat", "EMAIL", "p@example.com", "street", "1 Main St"), "first_name:contact_field_not_allowed EMAIL:contact_field_not_allowed street:contact_field_not_allowed"},
		{"nested contact field", inquiry(1, "extra", `#{"a":[{"Phone":"1"}]}`), "extra.a.0.Phone:contact_field_not_allowed"},
		{"contact field without a campaign", inquiry(1, "vertical", "boats", "extra", `#{"last_name":"Doe"}`, "vehicle_count", "two"), "extra.last_name:contact_field_not_allowed vehicle_count:wrong_type"},
	}
	bubble(t, "all", func(t *testing.T) {
		r := auctions("blue")
		x := begin(t, r)
		begun := x.log.len()
		for _, test := range tests {
			expectEqual(t, heard(x.ping(test.request)), "invalid_payload "+test.want, test.name)
			expectEqual(t, x.log.len(), begun, test.name, ": log entries")
		}
		if got := x.world.rang(); len(got) > 0 {
			t.Errorf("invalid pings reached the buyers %v", got)
		}
	})
}

// Optional fields may be missing, null or blank.
func TestValidPingsAreAccepted(t *testing.T) {
	for _, r := range []request{
		inquiry(1), inquiry(2, "sub_vertical", " "), inquiry(3, "expires_at", "#null"), inquiry(4, "expires_at", " "),
		inquiry(5, "expires_at", "2000-01-01T00:00:04Z"), inquiry(6, "currently_insured", "#true", "vehicle_count", "#2", "driver_age_band", "25-34"),
		inquiry(7, "vehicle_count", "#null", "zip3", "941", "ai_quality_score", "#0.5", "source", "search"),
		inquiry(8, "auction_id", strings.Repeat("é", 255)), inquiry(9, "vehicles", "#2", "homeowner", "#true"),
	} {
		trading(t, r.key, auctions("blue"), func(t *testing.T, x *exchange) {
			expectEqual(t, heard(x.ping(r)), "10")
		})
	}
}

// A ping goes to the active ping_post campaign of its vertical that accepts its supplier.
func TestPingCampaignSelection(t *testing.T) {
	r := auctions("blue", "gold", "tan", "red", "grey")
	seats := r.campaigns[0].seats
	r.suppliers = []string{"other", "third"}
	r.campaigns = []campaign{
		{id: "cars", method: market.PingPost, vertical: "auto", seats: seats[:1], suppliers: []string{"acme"}},
		{id: "cars2", method: market.PingPost, vertical: "auto", seats: seats[1:2], suppliers: []string{"other"}},
		{id: "sports", method: market.PingPost, vertical: "auto", sub: "sports", seats: seats[2:3]},
		{id: "flats", method: market.Waterfall, vertical: "home", seats: seats[3:4]},
		{id: "houses", method: market.PingPost, vertical: "home", sub: "house", seats: seats[4:]},
	}
	tests := []struct{ vertical, sub, supplier, want string }{
		{"auto", "", "acme", "blue"},
		{"auto", "", "other", "gold"},
		{"auto", "", "third", "no_campaign"},
		{"auto", "sports", "third", "tan"},
		{"auto", "Sports", "acme", "no_campaign"},
		{"auto", "trucks", "acme", "no_campaign"},
		{"home", "", "acme", "no_campaign"},
		{"home", "house", "acme", "grey"},
		{"boats", "", "acme", "no_campaign"},
	}
	trading(t, "by vertical and supplier", r, func(t *testing.T, x *exchange) {
		for i, test := range tests {
			answer, err := x.ping(inquiry(i, "vertical", test.vertical, "sub_vertical", test.sub).by(test.supplier))
			got := heard(answer, err)
			if held := last(t, recordsOf[*event.PingAuctionCompleted](x)); answer.Bid {
				got = x.state.NameOf(event.ObjectBuyer, held.Bids[0].Buyer)
			} else if held.Campaign != 0 || len(held.Bids)+len(held.Trail) > 0 {
				t.Errorf("%+v: ping without a campaign is logged as %+v", test, held)
			}
			expectEqual(t, got, test.want, test)
		}
	})
	trading(t, "paused campaign", r, func(t *testing.T, x *exchange) {
		for i, paused := range []bool{true, false} {
			must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectCampaign, "cars", paused))
			want := map[bool]string{true: "no_campaign", false: "10"}[paused]
			expectEqual(t, heard(x.ping(inquiry(i, "vertical", "auto"))), want)
		}
	})
}

// These answers are final, like any answer with a bid.
func TestPingsWithoutBidBeforeBuyersArePinged(t *testing.T) {
	four := "4"
	tests := []struct {
		name    string
		request request
		want    string
	}{
		{"no campaign", inquiry(1, "vertical", "boats"), "no_campaign"},
		{"campaign filter", inquiry(1, "vehicles", "#5"), "filtered"},
		{"filter on a missing field", inquiry(1), "filtered"},
		{"hop limit exceeded", func() request { r := inquiry(1, "vehicles", "#2"); r.hops = 4; return r }(), "loop"},
		{"last allowed hop", func() request { r := inquiry(1, "vehicles", "#2"); r.hops = 3; return r }(), "10"},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			r := auctions("blue")
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", Max: &four}}
			x := begin(t, r)
			first, err := x.ping(test.request)
			expectEqual(t, heard(first, err), test.want)
			again, err := x.ping(test.request)
			if first.Replayed = true; err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("first answer %+v, repeat %+v, error %v", first, again, err)
			}
			expectEqual(t, heard(x.ping(test.request.withKey("another"))), "auction_exists", "under another key")
			if pings := len(x.world.pings); (pings == 1) != (test.want == "10") {
				t.Errorf("%d pings", pings)
			}
			for _, p := range x.world.pings {
				if p.hops != 4 {
					t.Errorf("buyer got %d hops, want 4", p.hops)
				}
			}
		})
	}
}

// A key repeats its first answer until it expires, also after restarts. An auction id
// stays used for the same time.
func TestPingKeysAndAuctionIDs(t *testing.T) {
	trading(t, "repeated key", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("9.5").in(300*ms), bids("1"))
		first, err := x.ping(inquiry(1))
		if err != nil || first.Amount.String() != "10" || first.SellerAuction != "a1" || first.Request.IsZero() {
			t.Fatalf("%+v %v", first, err)
		}
		first.Replayed = true
		for range 3 {
			again, err := x.ping(inquiry(1))
			if err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("first answer\n%+v, repeat\n%+v, error %v", first, again, err)
			}
			time.Sleep(9 * 24 * time.Hour)
			x.crash()
		}
		expectEqual(t, heard(x.ping(inquiry(1, "vehicles", "#2"))), "idempotency_key_reused", "another body")
		expectEqual(t, heard(x.ping(inquiry(2, "auction_id", "a1"))), "auction_exists", "another key")
		expectEqual(t, len(x.world.pings), 2, "pings")
		time.Sleep(4 * 24 * time.Hour)
		if got := heard(x.ping(inquiry(1))); got != "10" || len(x.world.pings) != 4 {
			t.Errorf("after 30 days: bid %s, want 10; %d pings, want 4", got, len(x.world.pings))
		}
	})
	bubble(t, "keys of two suppliers", func(t *testing.T) {
		r := auctions("blue")
		r.suppliers = []string{"other"}
		x := begin(t, r)
		x.pingAll(t, inquiry(1), inquiry(1).by("other"))
		expectEqual(t, len(recordsOf[*event.PingAuctionCompleted](x)), 2, "auctions")
	})
	trading(t, "same key for ping, ingest and availability", auctions("blue"), func(t *testing.T, x *exchange) {
		expectEqual(t, heard(x.ping(inquiry(1).withKey("k")))+" "+x.tell(person(1).withKey("k"))+" "+heard(x.available(availability().withKey("k"))), "10 blue blue:10")
	})
	trading(t, "rejected ping uses no key and no auction id", auctions("blue"), func(t *testing.T, x *exchange) {
		if got := heard(x.ping(inquiry(1, "state", "-"))); !strings.HasPrefix(got, "invalid_payload") {
			t.Error(got)
		}
		expectEqual(t, heard(x.ping(inquiry(1))), "10")
	})
}

// Two concurrent pings are one auction: the second waits for the event of the first.
func TestConcurrentPingsWithSameKeyOrAuctionID(t *testing.T) {
	trading(t, "one key", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("7").in(300*ms))
		all := []*pinging{x.goPing(inquiry(1)), x.goPing(inquiry(1)), x.goPing(inquiry(1))}
		replays := 0
		for _, p := range all {
			if got := fmt.Sprint(p.wait(), " ", p.took); got != "7 300ms" || p.answer.Token != all[0].answer.Token {
				t.Errorf("got %s with token %v", got, p.answer.Token)
			}
			if p.answer.Replayed {
				replays++
			}
		}
		if replays != 2 || len(x.world.pings) != 1 {
			t.Errorf("%d replays, want 2; %d pings, want 1", replays, len(x.world.pings))
		}
	})
	trading(t, "one auction id", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("7").in(300*ms))
		first := x.goPing(inquiry(1))
		synctest.Wait()
		second := x.goPing(inquiry(2, "auction_id", "a1"))
		expectEqual(t, first.wait()+" "+second.wait()+" "+second.took.String(), "7 auction_exists 300ms")
	})
	bubble(t, "first ping fails", func(t *testing.T) {
		rejected := false
		x := begin(t, auctions("blue"), logThatRejects(func(kind event.Kind) error {
			if kind == event.KindPingAuctionCompleted && !rejected {
				rejected = true
				return engine.ErrBusy
			}
			return nil
		}))
		x.world.offers("blue", bids("7").in(300*ms))
		first := x.goPing(inquiry(1))
		synctest.Wait()
		second, third := x.goPing(inquiry(1)), x.goPing(inquiry(2, "auction_id", "a1"))
		got := second.wait() + " " + third.wait()
		expectEqual(t, first.wait(), "error: "+engine.ErrBusy.Error(), "the first")
		if got != "7 auction_exists" && got != "auction_exists 7" {
			t.Errorf("the other pings: got %s, want one bid of 7 and one auction_exists", got)
		}
	})
	trading(t, "first ping takes too long", auctions("blue"), func(t *testing.T, x *exchange) {
		x.log.slow(10 * time.Second)
		first := x.goPing(inquiry(1))
		synctest.Wait()
		second := x.goPing(inquiry(1))
		if got := second.wait(); got != "error: "+engine.ErrUnavailable.Error() || second.took > 5*time.Second {
			t.Errorf("second ping: got %s after %s, want unavailable within 5s", got, second.took)
		}
		first.wait()
		x.log.slow(0)
	})
}

// The power fails before the auction is durable, or after it and before the answer. The
// key then has one answer, that of the event in the log.
func TestPowerCutDuringAuction(t *testing.T) {
	for _, durable := range []bool{false, true} {
		trading(t, fmt.Sprintf("durable=%v", durable), auctions("blue"), func(t *testing.T, x *exchange) {
			x.world.offers("blue", bids("7"), bids("8"))
			n := x.log.len()
			if durable {
				n++
			}
			x.log.die(n, x.life.die)
			x.log.unheard = durable
			expectEqual(t, heard(x.ping(inquiry(1))), "error: "+errDead.Error(), "answer before the power cut")
			x.life.die()
			x.bury()
			x.rise()
			want, replayed := "8", false
			if durable {
				want, replayed = "7", true
			}
			answer, err := x.ping(inquiry(1))
			if got := heard(answer, err); got != want || answer.Replayed != replayed {
				t.Errorf("got %s, replayed=%v, want %s, replayed=%v", got, answer.Replayed, want, replayed)
			}
			again, err := x.ping(inquiry(1))
			if answer.Replayed = true; err != nil || !reflect.DeepEqual(again, answer) {
				t.Errorf("repeat %+v, error %v, want %+v", again, err, answer)
			}
		})
	}
}

func TestRepeatedPingWithoutLogEntryFails(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, auctions("blue"), historyThatFails(&engine.ErrGone))
		x.pingAll(t, inquiry(1))
		expectEqual(t, heard(x.ping(inquiry(1))), "error: "+engine.ErrUnavailable.Error())
		expectEqual(t, x.noted.faults.Load(), 1, "reported faults")
	})
}

// recorded returns the fields of the last auction in the log as "name=text", sorted.
func (x *exchange) recorded(t testing.TB) string {
	t.Helper()
	var fields []string
	for _, f := range last(t, recordsOf[*event.PingAuctionCompleted](x)).Fields {
		fields = append(fields, fmt.Sprintf("%s=%s", f.Name, f.Text))
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

// The log keeps the fields of the campaign's mapping, because the post may need them.
// Unknown members go to buyers only. A ping without a campaign leaves no fields.
func TestPingFieldsInLog(t *testing.T) {
	padding := strings.Repeat("x", 60_000)
	for _, test := range []struct {
		name    string
		request request
		hops    int
		want    string
		longest int
	}{
		{"campaign", inquiry(1, "zip3", "941", "vehicles", "#2", "source", "search", "padding", padding, "driver_age_band", padding), 0, "source=search state=CA tcpa_consent=true vehicles=2 zip=941", 600},
		{"hop limit exceeded", inquiry(1, "vehicles", "#2", "padding", padding), 4, "state=CA tcpa_consent=true vehicles=2", 300},
		{"no campaign", inquiry(1, "vertical", "boats", "source", "search", "padding", padding), 0, "", 200},
		{"no campaign, long known fields", inquiry(1, "vertical", "boats", "source", padding[:4000], "consent_text", padding[:16000]), 0, "", 200},
	} {
		trading(t, test.name, auctions("blue"), func(t *testing.T, x *exchange) {
			test.request.hops = test.hops
			x.pingAll(t, test.request)
			expectEqual(t, x.recorded(t), test.want, "fields in the log")
			entries := x.log.durable()
			if size := len(entries[len(entries)-1].data); size > test.longest {
				t.Errorf("the entry has %d bytes, want at most %d", size, test.longest)
			}
			if strings.HasPrefix(test.name, "campaign") && !strings.Contains(string(x.world.pings[0].body), `"padding":"`+padding) {
				t.Error("the buyer did not get the unknown member")
			}
		})
	}
	bubble(t, "availability ping", func(t *testing.T) {
		r := auctions("blue")
		r.campaigns[0].unknown = market.UnknownKeep
		x := begin(t, r)
		must.Value(x.available(availability("vehicles", "#2", "padding", padding)))(t)
		expectEqual(t, x.recorded(t), "state=CA vehicles=2", "fields in the log")
	})
}

// The exchange forgets the auction id after five seconds, because there is nothing to
// sell. The key repeats its answer as usual, also after a restart.
func TestPingWithoutCampaignKeepsOnlyItsKey(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		boats := inquiry(1, "vertical", "boats")
		first, err := x.ping(boats)
		if err != nil || first.Reason != market.ReasonNoCampaign {
			t.Fatalf("%+v %v", first, err)
		}
		time.Sleep(5*time.Second - time.Millisecond)
		expectEqual(t, heard(x.ping(inquiry(2, "auction_id", "a1"))), "auction_exists", "same auction id within five seconds, under another key")
		const each = 2000 // of pings in ten seconds
		for n := range 3 * each {
			if x.pingAll(t, inquiry(10+n, "vertical", "boats")); n%each == 0 {
				time.Sleep(10 * time.Second)
			}
		}
		if n := x.state.AuctionCount(); n > each+each/2 {
			t.Errorf("memory has %d auctions, want little more than the last %d", n, each)
		}
		expectEqual(t, heard(x.ping(inquiry(2, "auction_id", "a1"))), "10", "same auction id later, under another key")
		first.Replayed = true
		time.Sleep(29 * 24 * time.Hour)
		x.crash()
		again, err := x.ping(boats)
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("first answer\n%+v, after 29 days and a restart\n%+v, error %v", first, again, err)
		}
		expectEqual(t, heard(x.ping(inquiry(1, "vertical", "ships"))), "idempotency_key_reused", "another body with the same key")
	})
}
