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

// The error lists all invalid fields. The log is unchanged.
func TestInvalidPingsAreRejected(t *testing.T) {
	long := strings.Repeat("é", 256)
	tests := []struct {
		name    string
		request request
		want    string
	}{
		{"empty body", request{supplier: "acme", key: "k"}, "auction_id:missing_required vertical:missing_required state:missing_required tcpa_consent:missing_required"},
		{"no key", supplierPing(1).withKey(""), "Idempotency-Key:missing_required"},
		{"malformed key", func() request { r := supplierPing(1).withKey(""); r.badKey = true; return r }(), "Idempotency-Key:invalid_format"},
		{"blank names", supplierPing(1, "auction_id", " ", "vertical", "#null"), "auction_id:missing_required vertical:missing_required"},
		{"numbers for names", supplierPing(1, "auction_id", "#7", "vertical", "#true", "sub_vertical", "#1"), "auction_id:wrong_type vertical:wrong_type sub_vertical:wrong_type"},
		{"names too long", supplierPing(1, "auction_id", long, "vertical", long, "sub_vertical", long), "auction_id:too_long vertical:too_long sub_vertical:too_long"},
		{"names with unprintable characters", supplierPing(1, "auction_id", "a\x00", "vertical", "a\u200b"), "auction_id:invalid_format vertical:invalid_format"},
		{"invalid time", supplierPing(1, "expires_at", "soon"), "expires_at:invalid_format"},
		{"a number for a time", supplierPing(1, "expires_at", "#5"), "expires_at:wrong_type"},
		{"past time", supplierPing(1, "expires_at", "1999-12-31T23:59:59Z"), "expires_at:expired"},
		{"present time", supplierPing(1, "expires_at", "2000-01-01T02:00:00+02:00"), "expires_at:expired"},
		{"fields of the wrong type", supplierPing(1, "state", "ZZ", "tcpa_consent", "yes", "source", "#1", "ai_quality_score", "high", "zip3", "94", "consent_cert_url", "http://x.example"), "state:invalid_format source:wrong_type tcpa_consent:wrong_type consent_cert_url:invalid_format zip3:invalid_format ai_quality_score:wrong_type"},
		{"signals of the wrong type", supplierPing(1, "currently_insured", "yes", "vehicle_count", "#1.5", "driver_age_band", "#30"), "currently_insured:wrong_type vehicle_count:wrong_type driver_age_band:wrong_type"},
		{"campaign field of the wrong type", supplierPing(1, "vehicles", "two"), "vehicles:wrong_type"},
		{"contact fields", supplierPing(1, "first_name", "Pat", "EMAIL", "p@example.com", "street", "1 Main St"), "first_name:contact_field_not_allowed EMAIL:contact_field_not_allowed street:contact_field_not_allowed"},
		{"nested contact field", supplierPing(1, "extra", `#{"a":[{"Phone":"1"}]}`), "extra.a.0.Phone:contact_field_not_allowed"},
		{"contact field without a campaign", supplierPing(1, "vertical", "boats", "extra", `#{"last_name":"Doe"}`, "vehicle_count", "two"), "extra.last_name:contact_field_not_allowed vehicle_count:wrong_type"},
	}
	runInVirtualTime(t, "all", func(t *testing.T) {
		r := auctionMarket("blue")
		x := newExchange(t, r)
		entries := x.log.len()
		for _, test := range tests {
			expectEqual(t, describePing(x.ping(test.request)), "invalid_payload "+test.want, test.name)
			expectEqual(t, x.log.len(), entries, test.name, ": log entries")
		}
		if got := x.buyers.pingAttempts(); len(got) > 0 {
			t.Errorf("invalid pings reached the buyers %v", got)
		}
	})
}

// Optional fields may be missing, null or blank.
func TestValidPingsAreAccepted(t *testing.T) {
	for _, r := range []request{
		supplierPing(1), supplierPing(2, "sub_vertical", " "), supplierPing(3, "expires_at", "#null"), supplierPing(4, "expires_at", " "),
		supplierPing(5, "expires_at", "2000-01-01T00:00:04Z"), supplierPing(6, "currently_insured", "#true", "vehicle_count", "#2", "driver_age_band", "25-34"),
		supplierPing(7, "vehicle_count", "#null", "zip3", "941", "ai_quality_score", "#0.5", "source", "search"),
		supplierPing(8, "auction_id", strings.Repeat("é", 255)), supplierPing(9, "vehicles", "#2", "homeowner", "#true"),
	} {
		runWithExchange(t, r.key, auctionMarket("blue"), func(t *testing.T, x *testExchange) {
			expectEqual(t, describePing(x.ping(r)), "10")
		})
	}
}

// A ping goes to the active ping_post campaign of its vertical that accepts its supplier.
func TestPingCampaignSelection(t *testing.T) {
	r := auctionMarket("blue", "gold", "tan", "red", "grey")
	filterSets := r.campaigns[0].filterSets
	r.suppliers = []string{"other", "third"}
	r.campaigns = []campaign{
		{id: "cars", method: market.PingPost, vertical: "auto", filterSets: filterSets[:1], suppliers: []string{"acme"}},
		{id: "cars2", method: market.PingPost, vertical: "auto", filterSets: filterSets[1:2], suppliers: []string{"other"}},
		{id: "sports", method: market.PingPost, vertical: "auto", subVertical: "sports", filterSets: filterSets[2:3]},
		{id: "flats", method: market.Waterfall, vertical: "home", filterSets: filterSets[3:4]},
		{id: "houses", method: market.PingPost, vertical: "home", subVertical: "house", filterSets: filterSets[4:]},
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
	runWithExchange(t, "by vertical and supplier", r, func(t *testing.T, x *testExchange) {
		for i, test := range tests {
			answer, err := x.ping(supplierPing(i, "vertical", test.vertical, "sub_vertical", test.sub).fromSupplier(test.supplier))
			got := describePing(answer, err)
			if held := last(t, eventsOf[*event.PingAuctionCompleted](x)); answer.Bid {
				got = x.state.NameOf(event.ObjectBuyer, held.Bids[0].Buyer)
			} else if held.Campaign != 0 || len(held.Bids)+len(held.Trail) > 0 {
				t.Errorf("%+v: ping without a campaign is logged as %+v", test, held)
			}
			expectEqual(t, got, test.want, test)
		}
	})
	runWithExchange(t, "paused campaign", r, func(t *testing.T, x *testExchange) {
		for i, paused := range []bool{true, false} {
			must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "cars", paused))
			want := map[bool]string{true: "no_campaign", false: "10"}[paused]
			expectEqual(t, describePing(x.ping(supplierPing(i, "vertical", "auto"))), want)
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
		{"no campaign", supplierPing(1, "vertical", "boats"), "no_campaign"},
		{"campaign filter", supplierPing(1, "vehicles", "#5"), "filtered"},
		{"filter on a missing field", supplierPing(1), "filtered"},
		{"hop limit exceeded", func() request { r := supplierPing(1, "vehicles", "#2"); r.hops = 4; return r }(), "loop"},
		{"last allowed hop", func() request { r := supplierPing(1, "vehicles", "#2"); r.hops = 3; return r }(), "10"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue")
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", Max: &four}}
			x := newExchange(t, r)
			first, err := x.ping(test.request)
			expectEqual(t, describePing(first, err), test.want)
			again, err := x.ping(test.request)
			if first.Replayed = true; err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("first answer %+v, repeat %+v, error %v", first, again, err)
			}
			expectEqual(t, describePing(x.ping(test.request.withKey("another"))), "auction_exists", "under another key")
			if pings := len(x.buyers.pings); (pings == 1) != (test.want == "10") {
				t.Errorf("%d pings", pings)
			}
			for _, p := range x.buyers.pings {
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
	runWithExchange(t, "repeated key", auctionMarket("blue", "gold"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("9.5").after(300*ms), bids("1"))
		first, err := x.ping(supplierPing(1))
		if err != nil || first.Amount.String() != "10" || first.SellerAuction != "a1" || first.Request.IsZero() {
			t.Fatalf("first answer %+v, error %v", first, err)
		}
		first.Replayed = true
		for range 3 {
			again, err := x.ping(supplierPing(1))
			if err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("first answer\n%+v, repeat\n%+v, error %v", first, again, err)
			}
			time.Sleep(9 * 24 * time.Hour)
			x.crashAndRestart()
		}
		expectEqual(t, describePing(x.ping(supplierPing(1, "vehicles", "#2"))), "idempotency_key_reused", "another body")
		expectEqual(t, describePing(x.ping(supplierPing(2, "auction_id", "a1"))), "auction_exists", "another key")
		expectEqual(t, len(x.buyers.pings), 2, "pings")
		time.Sleep(4 * 24 * time.Hour)
		if got := describePing(x.ping(supplierPing(1))); got != "10" || len(x.buyers.pings) != 4 {
			t.Errorf("after 30 days: bid %s, want 10; %d pings, want 4", got, len(x.buyers.pings))
		}
	})
	runInVirtualTime(t, "keys of two suppliers", func(t *testing.T) {
		r := auctionMarket("blue")
		r.suppliers = []string{"other"}
		x := newExchange(t, r)
		x.pingAll(t, supplierPing(1), supplierPing(1).fromSupplier("other"))
		expectEqual(t, len(eventsOf[*event.PingAuctionCompleted](x)), 2, "auctions")
	})
	runWithExchange(t, "same key for ping, ingest and availability", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		expectEqual(t, describePing(x.ping(supplierPing(1).withKey("k")))+" "+x.ingestResult(leadRequest(1).withKey("k"))+" "+describePing(x.requestAvailability(availabilityRequest().withKey("k"))), "10 blue blue:10")
	})
	runWithExchange(t, "rejected ping uses no key and no auction id", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		if got := describePing(x.ping(supplierPing(1, "state", "-"))); !strings.HasPrefix(got, "invalid_payload") {
			t.Errorf("invalid state: got %s", got)
		}
		expectEqual(t, describePing(x.ping(supplierPing(1))), "10")
	})
}

// Two concurrent pings are one auction: the second waits for the event of the first.
func TestConcurrentPingsWithSameKeyOrAuctionID(t *testing.T) {
	runWithExchange(t, "one key", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("7").after(300*ms))
		all := []*pingCall{x.startPing(supplierPing(1)), x.startPing(supplierPing(1)), x.startPing(supplierPing(1))}
		replays := 0
		for _, p := range all {
			if got := fmt.Sprint(p.wait(), " ", p.took); got != "7 300ms" || p.answer.Token != all[0].answer.Token {
				t.Errorf("got %s with token %v", got, p.answer.Token)
			}
			if p.answer.Replayed {
				replays++
			}
		}
		if replays != 2 || len(x.buyers.pings) != 1 {
			t.Errorf("%d replays, want 2; %d pings, want 1", replays, len(x.buyers.pings))
		}
	})
	runWithExchange(t, "one auction id", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("7").after(300*ms))
		first := x.startPing(supplierPing(1))
		synctest.Wait()
		second := x.startPing(supplierPing(2, "auction_id", "a1"))
		expectEqual(t, first.wait()+" "+second.wait()+" "+second.took.String(), "7 auction_exists 300ms")
	})
	runInVirtualTime(t, "first ping fails", func(t *testing.T) {
		rejected := false
		x := newExchange(t, auctionMarket("blue"), logThatRejects(func(kind event.Kind) error {
			if kind == event.KindPingAuctionCompleted && !rejected {
				rejected = true
				return engine.ErrBusy
			}
			return nil
		}))
		x.buyers.scriptBids("blue", bids("7").after(300*ms))
		first := x.startPing(supplierPing(1))
		synctest.Wait()
		second, third := x.startPing(supplierPing(1)), x.startPing(supplierPing(2, "auction_id", "a1"))
		got := second.wait() + " " + third.wait()
		expectEqual(t, first.wait(), "error: "+engine.ErrBusy.Error(), "the first")
		if got != "7 auction_exists" && got != "auction_exists 7" {
			t.Errorf("the other pings: got %s, want one bid of 7 and one auction_exists", got)
		}
	})
	runWithExchange(t, "first ping takes too long", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(10 * time.Second)
		first := x.startPing(supplierPing(1))
		synctest.Wait()
		second := x.startPing(supplierPing(1))
		if got := second.wait(); got != "error: "+engine.ErrUnavailable.Error() || second.took > 5*time.Second {
			t.Errorf("second ping: got %s after %s, want unavailable within 5s", got, second.took)
		}
		first.wait()
		x.log.setSyncTime(0)
	})
}

// The power fails before the auction is durable, or after it and before the answer. The
// key then has one answer, that of the event in the log.
func TestPowerCutDuringAuction(t *testing.T) {
	for _, durable := range []bool{false, true} {
		runWithExchange(t, fmt.Sprintf("durable=%v", durable), auctionMarket("blue"), func(t *testing.T, x *testExchange) {
			x.buyers.scriptBids("blue", bids("7"), bids("8"))
			n := x.log.len()
			if durable {
				n++
			}
			x.log.failAfterEntries(n, x.process.kill)
			x.log.unacknowledged = durable
			expectEqual(t, describePing(x.ping(supplierPing(1))), "error: "+errLogFailed.Error(), "answer before the power cut")
			x.process.kill()
			x.abandonProcess()
			x.restart()
			want, replayed := "8", false
			if durable {
				want, replayed = "7", true
			}
			answer, err := x.ping(supplierPing(1))
			if got := describePing(answer, err); got != want || answer.Replayed != replayed {
				t.Errorf("got %s, replayed=%v, want %s, replayed=%v", got, answer.Replayed, want, replayed)
			}
			again, err := x.ping(supplierPing(1))
			if answer.Replayed = true; err != nil || !reflect.DeepEqual(again, answer) {
				t.Errorf("repeat %+v, error %v, want %+v", again, err, answer)
			}
		})
	}
}

func TestRepeatedPingWithoutLogEntryFails(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, auctionMarket("blue"), failingHistory(&engine.ErrGone))
		x.pingAll(t, supplierPing(1))
		expectEqual(t, describePing(x.ping(supplierPing(1))), "error: "+engine.ErrUnavailable.Error())
		expectEqual(t, x.observed.faults.Load(), 1, "reported faults")
	})
}

// recordedFields returns the fields of the last auction in the log as "name=text", sorted.
func (x *testExchange) recordedFields(t testing.TB) string {
	t.Helper()
	var fields []string
	for _, f := range last(t, eventsOf[*event.PingAuctionCompleted](x)).Fields {
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
		{"campaign", supplierPing(1, "zip3", "941", "vehicles", "#2", "source", "search", "padding", padding, "driver_age_band", padding), 0, "source=search state=CA tcpa_consent=true vehicles=2 zip=941", 600},
		{"hop limit exceeded", supplierPing(1, "vehicles", "#2", "padding", padding), 4, "state=CA tcpa_consent=true vehicles=2", 300},
		{"no campaign", supplierPing(1, "vertical", "boats", "source", "search", "padding", padding), 0, "", 200},
		{"no campaign, long known fields", supplierPing(1, "vertical", "boats", "source", padding[:4000], "consent_text", padding[:16000]), 0, "", 200},
	} {
		runWithExchange(t, test.name, auctionMarket("blue"), func(t *testing.T, x *testExchange) {
			test.request.hops = test.hops
			x.pingAll(t, test.request)
			expectEqual(t, x.recordedFields(t), test.want, "fields in the log")
			entries := x.log.durable()
			if size := len(entries[len(entries)-1].data); size > test.longest {
				t.Errorf("the entry has %d bytes, want at most %d", size, test.longest)
			}
			if strings.HasPrefix(test.name, "campaign") && !strings.Contains(string(x.buyers.pings[0].body), `"padding":"`+padding) {
				t.Error("the buyer did not get the unknown member")
			}
		})
	}
	runInVirtualTime(t, "availability ping", func(t *testing.T) {
		r := auctionMarket("blue")
		r.campaigns[0].unknown = market.UnknownKeep
		x := newExchange(t, r)
		must.Value(x.requestAvailability(availabilityRequest("vehicles", "#2", "padding", padding)))(t)
		expectEqual(t, x.recordedFields(t), "state=CA vehicles=2", "fields in the log")
	})
}

// The exchange forgets the auction id after five seconds, because it has no bid to
// sell. The key repeats its answer as usual, also after a restart.
func TestPingWithoutCampaignKeepsOnlyItsKey(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		boats := supplierPing(1, "vertical", "boats")
		first, err := x.ping(boats)
		if err != nil || first.Reason != market.ReasonNoCampaign {
			t.Fatalf("first answer %+v, error %v", first, err)
		}
		time.Sleep(5*time.Second - time.Millisecond)
		expectEqual(t, describePing(x.ping(supplierPing(2, "auction_id", "a1"))), "auction_exists", "same auction id within five seconds, under another key")
		const each = 2000 // pings per ten seconds
		for n := range 3 * each {
			if x.pingAll(t, supplierPing(10+n, "vertical", "boats")); n%each == 0 {
				time.Sleep(10 * time.Second)
			}
		}
		if n := x.state.AuctionCountWithExpired(); n > each+each/2 {
			t.Errorf("memory has %d auctions, want little more than the last %d", n, each)
		}
		expectEqual(t, describePing(x.ping(supplierPing(2, "auction_id", "a1"))), "10", "same auction id later, under another key")
		first.Replayed = true
		time.Sleep(29 * 24 * time.Hour)
		x.crashAndRestart()
		again, err := x.ping(boats)
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("first answer\n%+v, after 29 days and a restart\n%+v, error %v", first, again, err)
		}
		expectEqual(t, describePing(x.ping(supplierPing(1, "vertical", "ships"))), "idempotency_key_reused", "another body with the same key")
	})
}

// TestAgeAtMidnight: a lead is 17 at its ping and 18 at its post, two seconds later on another day. The post
// counts with the day of its ping; a lead without a ping counts with its own.
func TestAgeAtMidnight(t *testing.T) {
	minor := 17
	young := []market.FilterSpec{{Field: "born", MaxAge: &minor}}
	for name, change := range map[string]func(*marketSpec){
		"of the campaign": func(r *marketSpec) { r.campaigns[0].filters = young },
		"of the buyer": func(r *marketSpec) {
			for i := range r.campaigns[0].filterSets {
				r.campaigns[0].filterSets[i].filters = young
			}
		},
	} {
		r := twoBidders()
		change(&r)
		runWithExchange(t, name, r, func(t *testing.T, x *testExchange) {
			sleepUntil(t, "2000-03-01 23:59:59")
			const born = "1982-03-02"
			a := x.pingAuction(supplierPing(1, "born", born))
			time.Sleep(2 * time.Second)
			expectEqual(t, describePing(x.ping(supplierPing(2, "born", born))), "filtered", "a ping after midnight")
			expectEqual(t, x.ingestResult(leadRequest(3, "born", born)), "filtered", "an ingest after midnight")
			expectEqual(t, x.saleResult(postFor(1, a)), soldToBlue, "the post after midnight")
		})
	}
}
