package state

import (
	"sync"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// monthlySales counts, for each buyer in each campaign, the leads sold in a month and the
// returned or return-pending ones among them. Shares of returns refer to these counts. The
// month is that of the lead's decision, in UTC.
//
// When the first lead of a later month arrives, months older than monthRetention are
// dropped, so that the map stays bounded.
type monthlySales struct {
	mu     sync.Mutex
	byKey  map[monthKey]*monthCount
	latest int64 // the latest month that has a count

	start, end int64 // of the last computed month
}

type monthKey struct {
	campaign, buyer market.Ref
	month           int64 // its beginning in UTC, Unix nanoseconds
}

type monthCount struct{ sold, returned int64 }

const monthRetention = int64(2 * 366 * 24 * time.Hour)

// MonthlySales returns how many leads a buyer got in a campaign in the month that begins
// at month (market.StartOfMonth), and how many of them were returned or are pending
// returns.
func (s *State) MonthlySales(campaign, buyer market.Ref, month int64) (sold, returned int64) {
	s.monthlySales.mu.Lock()
	defer s.monthlySales.mu.Unlock()
	if count := s.monthlySales.byKey[monthKey{campaign, buyer, month}]; count != nil {
		return count.sold, count.returned
	}
	return 0, 0
}

// addSale counts a delivered lead that was decided at that time.
func (m *monthlySales) addSale(campaign, buyer market.Ref, decided int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if decided < m.start || decided >= m.end {
		m.start, m.end = calendar.Month.Window(decided, time.UTC)
	}
	m.getLocked(monthKey{campaign, buyer, m.start}).sold++
}

// addReturns adds to the returns of a month's leads; -1 removes one.
func (m *monthlySales) addReturns(campaign, buyer market.Ref, month, leads int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.getLocked(monthKey{campaign, buyer, month}).returned += leads
}

// getLocked returns the count of a month, and creates it if necessary. The caller holds mu.
func (m *monthlySales) getLocked(key monthKey) *monthCount {
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
	count := new(monthCount)
	m.byKey[key] = count
	return count
}

func (m *monthlySales) encode(w *sectionEncoder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.writeInt(m.latest)
	w.writeUint(uint64(len(m.byKey)))
	for key, count := range m.byKey {
		w.writeUint(uint64(key.campaign))
		w.writeUint(uint64(key.buyer))
		w.writeInt(key.month)
		w.writeInt(count.sold)
		w.writeInt(count.returned)
	}
}

func (m *monthlySales) decode(r *sectionDecoder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest = r.readInt()
	for range r.readCount() {
		key := monthKey{market.Ref(r.readUint()), market.Ref(r.readUint()), r.readInt()}
		m.byKey[key] = &monthCount{r.readInt(), r.readInt()}
	}
}

func (m *monthlySales) digest() (sum uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, count := range m.byKey {
		sum += newDigest(19).addWord(uint64(key.campaign) | uint64(key.buyer)<<32).addWord(uint64(key.month)).
			addWord(uint64(count.sold)).addWord(uint64(count.returned)).sum()
	}
	return sum
}
