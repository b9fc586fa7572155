package engine_test

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine"
)

// A ping that goes wrong in our own house is one buyer's error, and told.
func TestAPanicIsOneBuyersError(t *testing.T) {
	trading(t, "", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", blowsUp)
		expectEqual(t, heard(x.ping(inquiry(1)))+", "+x.came(), "10, blue:error gold:won")
		expectEqual(t, x.noted.faults.Load(), 1, "faults were told")
	})
}

// What comes after the end changes nothing, however many auctions use the same
// memory meanwhile; the harness holds every body to what it was.
func TestLaggards(t *testing.T) {
	trading(t, "", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("99").late(2500*ms), bids("98").late(3100*ms), bids("97").late(2001*ms), bids("1"))
		x.world.offers("gold", bids("2"), bids("3"), bids("4"), bids("5"))
		var got []string
		for n := range 8 {
			got = append(got, heard(x.ping(inquiry(n))))
		}
		if want := "2 3 4 5 5 5 5 5"; strings.Join(got, " ") != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// A stop decides nothing.
func TestAStopEndsAuctions(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("10").in(time.Second))
		p := x.goPing(inquiry(1))
		lead := x.goSend(person(1))
		time.Sleep(500 * ms)
		held := x.log.len()
		x.engine.Close()
		for _, got := range []string{p.wait(), lead.wait()} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error())
		}
		expectEqual(t, x.log.len(), held, "something was logged")
	})
}

// The names of our auctions are ours alone, and sellers' never reach a buyer.
func TestWhatBuyersAreTold(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue")
		r.campaigns[0].sub = "sports_cars"
		x := begin(t, r)
		x.pingAll(t, inquiry(1, "auction_id", "their own", "sub_vertical", "sports_cars", "zip3", "941", "mood", "good", "hobby", `#{"a":[1]}`))
		want := `","vertical":"auto_insurance","sub_vertical":"sports_cars","state":"CA","tcpa_consent":true,"zip3":"941","hobby":{"a":[1]},"mood":"good","expires_at":"2000-01-01T00:00:02.000Z"}`
		got := string(x.world.pings[0].body)
		if _, rest, _ := strings.Cut(got, `{"auction_id":"auc_`); rest[26:] != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		expectEqual(t, x.recorded(t), `state=CA tcpa_consent=true zip=941`, "recorded")
		x.tell(person(1, "flo_campaign_id", "auto", "zip", "94110"))
		if got := string(x.world.pings[1].body); !strings.Contains(got, `"zip3":"941"`) || strings.Contains(got, "94110") {
			t.Errorf("an ingest's ping says %s", got)
		}
	})
}

// pingAll pings and sees that each is answered.
func (x *exchange) pingAll(t testing.TB, all ...request) {
	t.Helper()
	for _, r := range all {
		if _, err := x.ping(r); err != nil {
			t.Fatal(err)
		}
	}
}
