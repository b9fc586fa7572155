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

// entry is a fact as the log has it.
type entry struct {
	at   int64
	data []byte
}

// world is an exchange in small: two campaigns, three buyers with caps and
// money, and a log of what happened.
type world struct {
	*State
	seq       uint64
	at        int64
	log       []entry
	ids       uint64
	limits    map[market.PermanentNumber][]*market.Cap // by buyer: the campaign's, the buyer's, the pair's
	buyers    []*market.Buyer
	campaigns []market.PermanentNumber
}

func newWorld() *world {
	w := &world{State: New(), at: monday, limits: make(map[market.PermanentNumber][]*market.Cap), campaigns: []market.PermanentNumber{1, 2}}
	w.fact(&event.ExchangeFounded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: w.at})
	w.fact(&event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{
		{Kind: event.ObjectSupplier, Ref: 1, ID: "sup"},
		{Kind: event.ObjectList, Ref: 1, ID: "dnc"},
		{Kind: event.ObjectBuyer, Ref: 1, ID: "red"},
		{Kind: event.ObjectBuyer, Ref: 2, ID: "green"},
		{Kind: event.ObjectBuyer, Ref: 3, ID: "blue"},
		{Kind: event.ObjectCampaign, Ref: 1, ID: "auto"},
		{Kind: event.ObjectCampaign, Ref: 2, ID: "home"},
	}})
	of := []*market.Cap{
		{Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: calendar.Day, Limit: 40},
		{Scope: market.ScopeBuyer, Unit: market.UnitMoney, Period: calendar.Hour, Limit: int64(40 * dollar)},
		{Scope: market.ScopePair, Unit: market.UnitCount, Period: calendar.Total, Limit: 30},
	}
	var given event.ConfigNumbersAssigned
	for i, limit := range of {
		limit.Ref, limit.Zone = market.PermanentNumber(i+1), time.UTC
		given.Caps = append(given.Caps, event.CapNumberAssignment{Ref: limit.Ref, Key: market.CapKey{
			Scope: limit.Scope, Campaign: 1, Buyer: 1, Unit: limit.Unit, Period: limit.Period, Zone: "UTC",
		}})
	}
	w.fact(&given)
	w.limits[1], w.limits[2] = of, of[:1]
	for ref := range market.PermanentNumber(3) {
		w.buyers = append(w.buyers, &market.Buyer{Ref: ref + 1, Funded: ref < 2, Credit: market.Money(ref) * 5 * dollar})
	}
	w.fact(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 500 * dollar, Opening: true, At: w.at})
	return w
}

// fact logs a fact and applies it, as serving does: the fact itself, not what
// the log would give back.
func (w *world) fact(e event.Event) {
	w.seq++
	w.log = append(w.log, entry{w.at, event.AppendRecord(nil, e)})
	w.Apply(w.seq, w.at, e)
}

// id makes an identifier whose last bytes choose one of few shards.
func (w *world) id() (id [16]byte) {
	w.ids++
	binary.BigEndian.PutUint64(id[4:], w.ids*0x9e3779b97f4a7c15)
	id[14], id[15] = 0, byte(w.ids%3)
	return id
}

// replay applies a log's entries after the state's position, up to the one of
// that sequence, as a start does.
func replay(s *State, log []entry, upTo uint64) {
	waiting := s.NewLogReplay()
	var lent [][]byte
	flush := func() {
		waiting.ApplyQueuedEntries()
		for _, data := range lent { // whoever kept a part of a frame now has something else
			for i := range data {
				data[i] = 0xee
			}
		}
		lent = lent[:0]
	}
	for position, _ := s.Position(); position < upTo; position++ {
		data := append([]byte(nil), log[position].data...)
		more, err := waiting.QueueEntry(position+1, log[position].at, data)
		if err != nil {
			panic(err)
		}
		if lent = append(lent, data); !more {
			flush()
		}
	}
	flush()
}

func TestSecondsHoldFarAway(t *testing.T) {
	for nanos, want := range map[int64]uint32{
		-1: 0, 0: 0, 1: 1, second: 1, second + 1: 2,
		math.MaxUint32 * second: math.MaxUint32, math.MaxUint32*second + 1: math.MaxUint32,
		math.MaxInt64: math.MaxUint32, math.MinInt64: 0,
	} {
		if got := unixSecondsRoundedUp(nanos); got != want {
			t.Errorf("%d ns are %d s, want %d", nanos, got, want)
		}
	}
}
