package state

import (
	"sync"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// monthlySaleCounts counts, for each campaign, buyer and month, the leads sold and the leads
// among them that were returned or have a pending return. The limits on a buyer's share of
// returns use these counts. The month is that of the lead's decision, in UTC.
//
// When the first lead of a later month arrives, months older than monthRetention are dropped, so
// that the map stays bounded.
type monthlySaleCounts struct {
	mu     sync.Mutex
	byKey  map[monthlyCountKey]*monthlyCount
	latest int64 // the latest month that has a count

	start, end int64 // of the last computed month
}

// monthlyCountKey names a campaign, a buyer and a month of monthlySaleCounts.
type monthlyCountKey struct {
	campaign, buyer market.Ref
	month           int64 // its beginning in UTC, Unix nanoseconds
}

// monthlyCount counts the leads sold in a month, and how many of them were returned or have a
// pending return.
type monthlyCount struct{ sold, returned int64 }

// monthRetention is the time in nanoseconds for which monthly counts and pending returns are
// kept.
const monthRetention = int64(2 * 366 * 24 * time.Hour)

// MonthlySaleCounts returns how many leads the campaign sold to the buyer in a month. returned is
// the number of them that were returned or have a pending return. monthStart is the beginning of
// the month (see market.StartOfMonth).
func (s *State) MonthlySaleCounts(campaign, buyer market.Ref, monthStart int64) (sold, returned int64) {
	s.monthlySales.mu.Lock()
	defer s.monthlySales.mu.Unlock()
	if count := s.monthlySales.byKey[monthlyCountKey{campaign, buyer, monthStart}]; count != nil {
		return count.sold, count.returned
	}
	return 0, 0
}

// countSale counts a sold lead in the month that contains decidedAt.
func (m *monthlySaleCounts) countSale(campaign, buyer market.Ref, decidedAt int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if decidedAt < m.start || decidedAt >= m.end {
		m.start, m.end = calendar.Month.WindowContaining(decidedAt, time.UTC)
	}
	m.getOrCreateLocked(monthlyCountKey{campaign, buyer, m.start}).sold++
}

// adjustReturns adds leads to the number of returns in the month that begins at monthStart; leads
// is -1 if a pending return was rejected.
func (m *monthlySaleCounts) adjustReturns(campaign, buyer market.Ref, monthStart, leads int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.getOrCreateLocked(monthlyCountKey{campaign, buyer, monthStart}).returned += leads
}

// getOrCreateLocked returns the count for key and creates it if necessary. The first key of a new
// month drops months older than monthRetention. The caller holds mu.
func (m *monthlySaleCounts) getOrCreateLocked(key monthlyCountKey) *monthlyCount {
	if count := m.byKey[key]; count != nil {
		return count
	}
	if key.month > m.latest {
		m.latest = key.month
		for old := range m.byKey {
			if old.month < m.latest-monthRetention {
				delete(m.byKey, old)
			}
		}
	}
	count := new(monthlyCount)
	m.byKey[key] = count
	return count
}

func (m *monthlySaleCounts) snapshotFields(c *sectionCodec) {
	intField(c, &m.latest)
	mapField(c, m.byKey, func(key *monthlyCountKey, count **monthlyCount) {
		uintField(c, &key.campaign)
		uintField(c, &key.buyer)
		if intField(c, &key.month); c.decoding {
			*count = new(monthlyCount)
		}
		intField(c, &(*count).sold)
		intField(c, &(*count).returned)
	})
}

func (m *monthlySaleCounts) digest() (sum uint64) {
	for key, count := range m.byKey {
		sum += newDigest(19).addWord(uint64(key.campaign) | uint64(key.buyer)<<32).addWord(uint64(key.month)).
			addWord(uint64(count.sold)).addWord(uint64(count.returned)).sum()
	}
	return sum
}
