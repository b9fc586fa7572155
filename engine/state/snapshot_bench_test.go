package state

import (
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// newLargeGlobalState returns a state whose global section is large: 1,000 campaigns with 1,000 buyers
// each, a daily cap for each pair, three months of counts for each pair, an account for each buyer, and
// 30 rotations of 1,000 members for each campaign.
func newLargeGlobalState() *State {
	const campaigns, buyers, rotations, months = 1000, 1000, 30, 3
	s := New()
	for campaign := range market.PermanentNumber(campaigns) {
		turns := newCampaignRotations()
		s.rotations.byCampaign[campaign+1] = turns
		for id := range uint64(rotations) {
			counts := make([]uint32, buyers)
			for i := range counts {
				counts[i] = uint32(i % 200)
			}
			turns.rotations[id<<32|1] = &rotationTurnCounts{applied: true, appliedTurnCounts: appliedTurnCounts{lastTurn: 1, counts: counts}}
		}
		turns.appliedRotations, turns.appliedTurns = rotations, 1
		for buyer := range market.PermanentNumber(buyers) {
			s.caps.add(campaign*buyers+buyer+1, market.CapKey{Scope: market.ScopePair, Campaign: campaign + 1, Buyer: buyer + 1, Unit: market.UnitCount, Period: calendar.Day, Zone: "UTC"})
			for month := range int64(months) {
				key := monthlyCountKey{campaign + 1, buyer + 1, market.StartOfUTCMonth(monday - month*31*day)}
				s.monthlySales.getOrCreateCountLocked(key).sold = 7
			}
		}
	}
	for buyer := range market.PermanentNumber(buyers) {
		s.accounts.adjustBalanceAndHeldFunds(buyer+1, 1_000_000*dollar, 0)
	}
	return s
}

// BenchmarkApplyDuringSnapshot applies a sale each half millisecond while another goroutine writes a snapshot of a
// large global state. It reports how long Apply of one sale takes, with and without a snapshot.
func BenchmarkApplyDuringSnapshot(b *testing.B) {
	s := newLargeGlobalState()
	runtime.GC()
	seq, random := uint64(0), uint64(1)
	draw := func(n uint64) uint64 {
		random = random*6364136223846793005 + 1442695040888963407
		return (random >> 33) % n
	}
	applyUntil := func(done <-chan struct{}) (took []time.Duration) {
		for {
			select {
			case <-done:
				return took
			default:
			}
			time.Sleep(500 * time.Microsecond)
			seq++
			campaign, buyer := market.PermanentNumber(draw(1000)), market.PermanentNumber(draw(1000))
			lead := soldLead(seq)
			lead.Campaign, lead.Sale.Buyer = campaign+1, buyer+1
			lead.Sale.Charges = []event.CapCharge{{Cap: campaign*1000 + buyer + 1, Window: monday, Amount: 1}}
			lead.Sale.Turn = event.RotationTurn{Set: draw(30)<<32 | 1, Member: uint32(buyer)}
			began := time.Now()
			s.Apply(seq, monday, lead)
			took = append(took, time.Since(began))
		}
	}
	inBackground := func(f func()) <-chan struct{} {
		done := make(chan struct{})
		go func() { f(); close(done) }()
		return done
	}
	took := map[string][]time.Duration{"quiet": applyUntil(inBackground(func() { time.Sleep(3 * time.Second) }))}
	for b.Loop() {
		took["snapshot"] = append(took["snapshot"], applyUntil(inBackground(func() {
			if _, _, err := s.WriteSnapshot(io.Discard, nil); err != nil {
				b.Error(err)
			}
		}))...)
	}
	for name, times := range took {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), name+"-p99-µs")
		b.ReportMetric(float64(times[len(times)-1].Microseconds()), name+"-max-µs")
	}
}
