package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// late ingests a request that arrived some time ago.
func (x *exchange) late(r request, ago time.Duration) (engine.Answer, error) {
	return x.engine.Ingest(&engine.IngestRequest{
		Supplier: x.engine.Catalog().Suppliers["acme"], Members: r.members, Body: r.body,
		Request: market.RequestID{1}, Received: time.Now().Add(-ago).UnixNano(),
	})
}

// A slow request that arrived before the hour struck must not let go of what
// others have reserved in the new hour.
func TestSlowRequestAtTheTurnOfTheHour(t *testing.T) {
	bubble(t, "caps", func(t *testing.T) {
		r := rig{buyers: []buyer{{id: "blue", caps: []string{"hour 1"}}}, campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}}}}}
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
