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
	copies snapshotCopies[monthlyCountKey, monthlyCount]

	latestAtSnapshot int64 // latest when the newest snapshot began

	start, end int64 // of the last computed month
}

// monthlyCountKey names a campaign, a buyer and a month of monthlySaleCounts.
type monthlyCountKey struct {
	campaign, buyer market.PermanentNumber
	month           int64 // its beginning in UTC, Unix nanoseconds
}

// monthlyCount counts the leads sold in a month, and how many of them were returned or have a
// pending return.
type monthlyCount struct {
	sold, returnedOrPending int64

	lastCopied uint32 // see snapshotCopies
}

// monthRetention is the time in nanoseconds for which monthly counts and pending returns are
// kept.
const monthRetention = int64(2 * 366 * 24 * time.Hour)

// MonthlySaleCounts returns how many leads the campaign sold to the buyer in a month. returned is
// the number of them that were returned or have a pending return. monthStartUnixNanos is the
// beginning of the month (see market.StartOfUTCMonth).
func (s *State) MonthlySaleCounts(campaign, buyer market.PermanentNumber, monthStartUnixNanos int64) (sold, returnedOrPending int64) {
	s.monthlySales.mu.Lock()
	defer s.monthlySales.mu.Unlock()
	if count := s.monthlySales.byKey[monthlyCountKey{campaign, buyer, monthStartUnixNanos}]; count != nil {
		return count.sold, count.returnedOrPending
	}
	return 0, 0
}

// countSale counts a sold lead in the month that contains decidedAtUnixNanos.
func (m *monthlySaleCounts) countSale(campaign, buyer market.PermanentNumber, decidedAtUnixNanos int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if decidedAtUnixNanos < m.start || decidedAtUnixNanos >= m.end {
		m.start, m.end = calendar.Month.WindowContaining(decidedAtUnixNanos, time.UTC)
	}
	m.getOrCreateCountLocked(monthlyCountKey{campaign, buyer, m.start}).sold++
}

// adjustReturns adds returnedLeadsChange to the number of returns in the month that begins at
// monthStartUnixNanos; it is -1 if a pending return was rejected.
func (m *monthlySaleCounts) adjustReturns(campaign, buyer market.PermanentNumber, monthStartUnixNanos, returnedLeadsChange int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.getOrCreateCountLocked(monthlyCountKey{campaign, buyer, monthStartUnixNanos}).returnedOrPending += returnedLeadsChange
}

// beginSnapshot begins a snapshot of the counts as they are now.
func (m *monthlySaleCounts) beginSnapshot() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.copies.begin(len(m.byKey))
	m.latestAtSnapshot = m.latest
}

// copyLocked copies a count for the newest snapshot before it changes. The caller holds mu.
func (m *monthlySaleCounts) copyLocked(key monthlyCountKey, count *monthlyCount) {
	m.copies.addOnce(&count.lastCopied, key, *count)
}

// getOrCreateCountLocked returns the count for key, which the caller then changes, and creates it if
// necessary. The first key of a new month drops months older than monthRetention. The caller holds mu.
func (m *monthlySaleCounts) getOrCreateCountLocked(key monthlyCountKey) *monthlyCount {
	if count := m.byKey[key]; count != nil {
		m.copyLocked(key, count)
		return count
	}
	if key.month > m.latest {
		m.latest = key.month
		for old, count := range m.byKey {
			if old.month < m.latest-monthRetention {
				m.copyLocked(old, count)
				delete(m.byKey, old)
			}
		}
	}
	count := &monthlyCount{lastCopied: m.copies.snapshot}
	m.byKey[key] = count
	return count
}

func (m *monthlySaleCounts) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	if encodeOrDecodeZigzag(c, &m.latestAtSnapshot); c.decoding {
		m.latest = m.latestAtSnapshot
	}
	encodeOrDecodeCopies(c, &m.mu, 64, m.byKey, &m.copies, m.copyLocked, func(key *monthlyCountKey, count *monthlyCount) {
		encodeOrDecodeUvarint(c, &key.campaign)
		encodeOrDecodeUvarint(c, &key.buyer)
		encodeOrDecodeZigzag(c, &key.month)
		encodeOrDecodeZigzag(c, &count.sold)
		if encodeOrDecodeZigzag(c, &count.returnedOrPending); c.decoding {
			decoded := *count
			m.byKey[*key] = &decoded
		}
	})
}

func (m *monthlySaleCounts) sumOfEntryHashes() (sum uint64) {
	for key, count := range m.byKey {
		sum += newRunningHash(19).addWord(uint64(key.campaign) | uint64(key.buyer)<<32).addWord(uint64(key.month)).
			addWord(uint64(count.sold)).addWord(uint64(count.returnedOrPending)).sum()
	}
	return sum
}
