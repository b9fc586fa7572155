package supplier

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/wal"
)

// ignored is a waiter without interest in the result.
type ignored struct{}

func (ignored) Committed(uint64, int64) {}
func (ignored) Failed(error)            {}

// TestCountMissing: the log has one lead, another one twice, and lacks a third.
func TestCountMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := must.Value(wal.Open(dir, wal.Options{}))(t)
	ids := make([]market.LeadID, 3)
	for i := range ids {
		ids[i] = market.LeadID(market.ComposeID(int64(i), [10]byte{9: byte(i)}))
	}
	for _, id := range []market.LeadID{ids[0], ids[1], ids[1]} {
		must.Succeed(t, log.Append(event.AppendRecord(nil, &event.LeadDecided{Lead: id}), ignored{}))
	}
	must.Succeed(t, log.Close())
	acknowledged := func(of ...market.LeadID) (list []Acknowledgment) {
		for _, id := range of {
			list = append(list, Acknowledgment{Lead: id.String()})
		}
		return list
	}
	for want, leads := range [][]Acknowledgment{acknowledged(ids[0]), acknowledged(ids[0], ids[1]), acknowledged(ids...)} {
		if got, last, err := CountMissing(dir, leads); err != nil || got != want || last != 3 {
			t.Errorf("%d leads: %d missing, last entry %d, %v; want %d missing and entry 3", len(leads), got, last, err, want)
		}
	}
}
