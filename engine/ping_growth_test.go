package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// recorded lists the fields of the last auction in the log as "name=text", sorted.
func (x *exchange) recorded(t testing.TB) string {
	t.Helper()
	var fields []string
	for _, f := range last(t, recordsOf[*event.PingAuctionCompleted](x)).Fields {
		fields = append(fields, fmt.Sprintf("%s=%s", f.Name, f.Text))
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

// TestFieldsThatTheLogHasOfAPing holds a ping's log entry to the fields that the
// post may need: those of the campaign's mapping. Unknown members go to buyers and
// not into the log, and a ping without a campaign leaves no fields.
func TestFieldsThatTheLogHasOfAPing(t *testing.T) {
	padding := strings.Repeat("x", 60_000)
	for _, test := range []struct {
		what    string
		request request
		hops    int
		want    string
		longest int
	}{
		{"a campaign's", inquiry(1, "zip3", "941", "vehicles", "#2", "source", "search", "padding", padding, "driver_age_band", padding), 0, "source=search state=CA tcpa_consent=true vehicles=2 zip=941", 600},
		{"a loop's", inquiry(1, "vehicles", "#2", "padding", padding), 4, "state=CA tcpa_consent=true vehicles=2", 300},
		{"no campaign's", inquiry(1, "vertical", "boats", "source", "search", "padding", padding), 0, "", 200},
		{"no campaign's, known fields padded", inquiry(1, "vertical", "boats", "source", padding[:4000], "consent_text", padding[:16000]), 0, "", 200},
	} {
		trading(t, test.what, auctions("blue"), func(t *testing.T, x *exchange) {
			test.request.hops = test.hops
			x.pingAll(t, test.request)
			expectEqual(t, x.recorded(t), test.want, "recorded")
			entries := x.log.durable()
			if size := len(entries[len(entries)-1].data); size > test.longest {
				t.Errorf("the entry has %d bytes, want at most %d", size, test.longest)
			}
			if strings.HasPrefix(test.what, "a campaign") && !strings.Contains(string(x.world.pings[0].body), `"padding":"`+padding) {
				t.Error("the buyer did not get the unknown member")
			}
		})
	}
	bubble(t, "an availability ping's", func(t *testing.T) {
		r := auctions("blue")
		r.campaigns[0].unknown = market.UnknownKeep
		x := begin(t, r)
		must.Value(x.available(availability("vehicles", "#2", "padding", padding)))(t)
		expectEqual(t, x.recorded(t), "state=CA vehicles=2", "recorded")
	})
}

// TestMemoryOfPingsWithoutACampaign holds memory to one row for the answer: the
// auction's name, by which there is nothing to sell, goes after five seconds. The
// answer itself is repeated for as long as any, over restarts.
func TestMemoryOfPingsWithoutACampaign(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		boats := inquiry(1, "vertical", "boats")
		first, err := x.ping(boats)
		if err != nil || first.Reason != market.ReasonNoCampaign {
			t.Fatalf("%+v %v", first, err)
		}
		time.Sleep(5*time.Second - time.Millisecond)
		expectEqual(t, heard(x.ping(inquiry(2, "auction_id", "a1"))), "auction_exists", "within five seconds, under another key")
		const each = 2000 // of pings in ten seconds
		for n := range 3 * each {
			if x.pingAll(t, inquiry(10+n, "vertical", "boats")); n%each == 0 {
				time.Sleep(10 * time.Second)
			}
		}
		if n := x.state.AuctionCount(); n > each+each/2 {
			t.Errorf("memory has %d names of auctions, want the last %d and few more", n, each)
		}
		expectEqual(t, heard(x.ping(inquiry(2, "auction_id", "a1"))), "10", "later, under another key")
		first.Replayed = true
		time.Sleep(29 * 24 * time.Hour)
		x.crash()
		again, err := x.ping(boats)
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("first\n%+v, after 29 days and a restart\n%+v %v", first, again, err)
		}
		expectEqual(t, heard(x.ping(inquiry(1, "vertical", "ships"))), "idempotency_key_reused", "another body under the key")
	})
}
