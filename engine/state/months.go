package state

import (
	"sync"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// months counts, for each buyer in each campaign, the leads sold in a month and the
// returned or return-pending ones among them. Shares of returns refer to these counts. The
// month is that of the lead's decision, in UTC.
//
// When the first lead of a later month arrives, months older than monthRetention are
// dropped, so that the map stays bounded.
type months struct {
	mu    sync.Mutex
	byKey map[monthKey]*monthCount
	last  int64 // the latest month that has a count

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
	s.months.mu.Lock()
	defer s.months.mu.Unlock()
	if count := s.months.byKey[monthKey{campaign, buyer, month}]; count != nil {
		return count.sold, count.returned
	}
	return 0, 0
}

// sell counts a delivered lead that was decided at that time.
func (m *months) sell(campaign, buyer market.Ref, decided int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if decided < m.start || decided >= m.end {
		m.start, m.end = calendar.Month.Window(decided, time.UTC)
	}
	m.getLocked(monthKey{campaign, buyer, m.start}).sold++
}

// giveBack adds to the returns of a month's leads; -1 removes one.
func (m *months) giveBack(campaign, buyer market.Ref, month, leads int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.getLocked(monthKey{campaign, buyer, month}).returned += leads
}

func (m *months) getLocked(key monthKey) *monthCount {
	if count := m.byKey[key]; count != nil {
		return count
	}
	if key.month > m.last {
		m.last = key.month
		for old := range m.byKey {
			if old.month < m.last-monthRetention {
				delete(m.byKey, old)
			}
		}
	}
	count := new(monthCount)
	m.byKey[key] = count
	return count
}

func (m *months) write(w *writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.int(m.last)
	w.uint(uint64(len(m.byKey)))
	for key, count := range m.byKey {
		w.uint(uint64(key.campaign))
		w.uint(uint64(key.buyer))
		w.int(key.month)
		w.int(count.sold)
		w.int(count.returned)
	}
}

func (m *months) read(r *reader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = r.int()
	for range r.count() {
		key := monthKey{market.Ref(r.uint()), market.Ref(r.uint()), r.int()}
		m.byKey[key] = &monthCount{r.int(), r.int()}
	}
}

func (m *months) digest() (sum uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, count := range m.byKey {
		sum += newDigest(19).word(uint64(key.campaign) | uint64(key.buyer)<<32).word(uint64(key.month)).
			word(uint64(count.sold)).word(uint64(count.returned)).sum()
	}
	return sum
}
