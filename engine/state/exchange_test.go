package state

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

const (
	dollar = market.Money(1_000_000)
	second = int64(time.Second)
	hour   = int64(time.Hour)
	day    = 24 * hour
	// monday is the start of a week, of a day and of an hour in UTC.
	monday = int64(1_798_416_000) * second
)

// logEntry is an encoded event of the log.
type logEntry struct {
	at   int64
	data []byte
}

// testExchange is a state with two campaigns, three buyers with caps and money, and a log of all
// applied events.
type testExchange struct {
	*State
	seq         uint64
	at          int64
	log         []logEntry
	ids         uint64
	capsByBuyer map[market.PermanentNumber][]*market.Cap // by buyer: the campaign's, the buyer's, the pair's
	buyers      []*market.Buyer
	campaigns   []market.PermanentNumber
}

func newTestExchange() *testExchange {
	x := &testExchange{State: New(), at: monday, capsByBuyer: make(map[market.PermanentNumber][]*market.Cap), campaigns: []market.PermanentNumber{1, 2}}
	x.logAndApply(&event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: x.at})
	x.logAndApply(&event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{
		{Kind: event.ObjectSupplier, Ref: 1, ID: "sup"},
		{Kind: event.ObjectList, Ref: 1, ID: "dnc"},
		{Kind: event.ObjectBuyer, Ref: 1, ID: "red"},
		{Kind: event.ObjectBuyer, Ref: 2, ID: "green"},
		{Kind: event.ObjectBuyer, Ref: 3, ID: "blue"},
		{Kind: event.ObjectCampaign, Ref: 1, ID: "auto"},
		{Kind: event.ObjectCampaign, Ref: 2, ID: "home"},
	}})
	caps := []*market.Cap{
		{Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: calendar.Day, Limit: 40},
		{Scope: market.ScopeBuyer, Unit: market.UnitMoney, Period: calendar.Hour, Limit: int64(40 * dollar)},
		{Scope: market.ScopePair, Unit: market.UnitCount, Period: calendar.Total, Limit: 30},
	}
	var assigned event.ConfigObjectNumbersAssigned
	for i, limit := range caps {
		limit.Ref, limit.Zone = market.PermanentNumber(i+1), time.UTC
		assigned.Caps = append(assigned.Caps, event.CapNumberAssignment{Ref: limit.Ref, Key: market.CapKey{
			Scope: limit.Scope, Campaign: 1, Buyer: 1, Unit: limit.Unit, Period: limit.Period, Zone: "UTC",
			Entry: []string{"", "", "texas"}[i],
		}})
	}
	x.logAndApply(&assigned)
	x.capsByBuyer[1], x.capsByBuyer[2] = caps, caps[:1]
	for ref := range market.PermanentNumber(3) {
		x.buyers = append(x.buyers, &market.Buyer{Ref: ref + 1, Funded: ref < 2, Credit: market.Money(ref) * 5 * dollar})
	}
	x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 500 * dollar, Opening: true, At: x.at})
	return x
}

// logAndApply logs an event and applies the event itself, as live operation does, and not its
// decoded copy.
func (x *testExchange) logAndApply(e event.Event) {
	x.seq++
	x.log = append(x.log, logEntry{x.at, event.AppendRecord(nil, e)})
	x.Apply(x.seq, x.at, e)
}

// newID returns an identifier in one of few shards.
func (x *testExchange) newID() (newID [16]byte) {
	x.ids++
	binary.BigEndian.PutUint64(newID[4:], x.ids*0x9e3779b97f4a7c15)
	newID[14], newID[15] = 0, byte(x.ids%3)
	return newID
}

// replay applies the log's entries after the state's position, up to sequence number upTo, as a
// start of the exchange does.
func replay(s *State, log []logEntry, upTo uint64) {
	queue := s.NewLogReplay()
	var frames [][]byte
	flush := func() {
		queue.ApplyQueuedEntries()
		for _, data := range frames { // overwrites the frames, so that a state that keeps a part of one differs
			for i := range data {
				data[i] = 0xee
			}
		}
		frames = frames[:0]
	}
	for position, _ := s.Position(); position < upTo; position++ {
		data := append([]byte(nil), log[position].data...)
		more, err := queue.QueueEntry(position+1, log[position].at, data)
		if err != nil {
			panic(err)
		}
		if frames = append(frames, data); !more {
			flush()
		}
	}
	flush()
}

func TestUnixSecondsRoundedUpClamps(t *testing.T) {
	for nanos, want := range map[int64]uint32{
		-1: 0, 0: 0, 1: 1, second: 1, second + 1: 2,
		math.MaxUint32 * second: math.MaxUint32, math.MaxUint32*second + 1: math.MaxUint32,
		math.MaxInt64: math.MaxUint32, math.MinInt64: 0,
	} {
		if got := unixSecondsRoundedUp(nanos); got != want {
			t.Errorf("unixSecondsRoundedUp(%d) = %d, want %d", nanos, got, want)
		}
	}
}
