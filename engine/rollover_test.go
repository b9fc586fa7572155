package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// late ingests a request that arrived some time ago.
func (x *exchange) late(r request, ago time.Duration) (engine.IngestAnswer, error) {
	return x.engine.Ingest(&engine.IngestRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers["acme"], Members: r.members, Body: r.body,
		Request: market.RequestID{1}, Received: time.Now().Add(-ago).UnixNano(),
	})
}

// A slow request that arrived before the hour struck must not let go of what
// others have reserved in the new hour.
func TestSlowRequestAtTheTurnOfTheHour(t *testing.T) {
	bubble(t, "caps", func(t *testing.T) {
		r := selling(market.Waterfall, buyer{id: "blue", caps: []string{"hour 1"}})
		x := begin(t, r)
		at(t, "2000-01-01 01:00:00")
		x.log.slow(time.Second)
		first := x.goSend(person(1))
		synctest.Wait()
		slow := make(chan string)
		go func() { slow <- said(x.late(person(2), 10*time.Millisecond)) }()
		synctest.Wait()
		third := x.goSend(person(3))
		got := []string{first.wait(), <-slow, third.wait()}
		if got[0] != "blue" || got[1] != "caps_full" || got[2] != "caps_full" {
			t.Errorf("%q: the hour has room for one", got)
		}
	})
}

// A lead that had to wait is decided by the time at which it goes on: caps that
// rolled over meanwhile are empty, and doors that opened are open.
func TestWaitingLeadIsDecidedLater(t *testing.T) {
	tests := []struct {
		what string
		rig  func(b *buyer)
		want string
	}{
		{"a cap rolled over", func(b *buyer) { b.caps = []string{"hour 1"} }, "gold"},
		{"a door opened", func(b *buyer) { b.schedule = "UTC Sat 01:00-02:00" }, "gold"},
		{"a door shut", func(b *buyer) { b.schedule = "UTC Sat 00:00-01:00" }, "outside_schedule"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := duplicates(anyOf, true)
			r.campaigns[0].seats[0].states, r.campaigns[0].seats[1].states = "NV", "CA"
			r.buyers[1].posts = false
			test.rig(&r.buyers[1])
			x := begin(t, r)
			x.world.script("blue", refuses.in(4*time.Second))
			at(t, "2000-01-01 00:59:58")
			x.tell(person(9))
			first := x.goSend(person(1, "state", "NV"))
			synctest.Wait()
			second := x.goSend(person(1))
			expectEqual(t, first.wait()+" "+second.wait(), "post_rejected "+test.want)
		})
	}
}

// A lead that comes to a full door only because of what others have reserved
// waits for them, in a cascade too, and no longer than the ceiling.
func TestRoomThatOthersReserve(t *testing.T) {
	r := two()
	r.campaigns[0].seats[1].states = "CA"
	r.campaigns = append(r.campaigns, campaign{id: "home", method: market.Waterfall, seats: []seat{{buyer: "gold"}}})
	tests := []struct {
		what  string
		after time.Duration // until blue refuses
		want  string
	}{
		{"in time", time.Second, "post_rejected@1.7s gold"}, // gold's room is taken by then, as a fact
		{"too late", 4900 * ms, "post_rejected@5.6s gold"},
	}
	for _, test := range tests {
		trading(t, test.what, r, func(t *testing.T, x *exchange) {
			x.world.script("blue", refuses.in(test.after))
			first := x.goSend(person(1))
			time.Sleep(test.after - 300*ms)
			x.log.slow(time.Second)
			other := x.goSend(person(2, "flo_campaign_id", "home"))
			time.Sleep(ms)
			x.log.slow(0)
			expectEqual(t, fmt.Sprintf("%s@%s %s", first.wait(), first.took, other.wait()), test.want)
		})
	}
	trading(t, "a request that took too long to arrive", duplicates(anyOf, true), func(t *testing.T, x *exchange) {
		x.world.script("blue", accepts.in(time.Second))
		first := x.goSend(person(1))
		synctest.Wait()
		expectEqual(t, said(x.late(person(1), 6*time.Second)), "timeout")
		first.wait()
	})
}
