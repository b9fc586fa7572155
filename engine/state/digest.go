package state

import (
	"math"
	"math/bits"
)

// runningHash is the running hash of a sequence of words, for State.Hash. The result is the same in
// every process and on every machine, because operators compare the hashes of two states. It
// detects faults; it does not resist attackers.
type runningHash uint64

const (
	digestSeed = 0x9e3779b97f4a7c15
	digestMul  = 0xd6e8feb86659fd93
)

// newRunningHash starts a hash. valueKind separates values of different types: each caller uses its own
// number.
func newRunningHash(valueKind uint64) runningHash { return runningHash(digestSeed).addWord(valueKind) }

// addWord adds one word to the hash. The order of the words matters.
func (d runningHash) addWord(w uint64) runningHash {
	high, low := bits.Mul64(uint64(d)^w^digestSeed, digestMul)
	return runningHash(high ^ low ^ bits.RotateLeft64(w, 32))
}

// addBytes adds the length and the content of b.
func (d runningHash) addBytes(b []byte) runningHash {
	d = d.addWord(uint64(len(b)))
	for len(b) >= 8 {
		d = d.addWord(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56)
		b = b[8:]
	}
	var last uint64
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return d.addWord(last)
}

// sum returns the hash of all added words. State.Hash adds up such hashes, so their bits must be
// well mixed.
func (d runningHash) sum() uint64 {
	x := uint64(d)
	x ^= x >> 32
	x *= digestMul
	return x ^ x>>29
}

// rowHashSums adds up the content hashes of rows, by the minute in which they expire. State.Hash counts a row until
// its expiry minute begins. So the hash does not depend on when, or whether, an expired row is removed or replaced. Only Apply and
// the load of a snapshot change the sums; a nil rowHashSums counts no row.
//
// (Rejected: one sum that a sweep reduces. Then all states with one log would have to sweep at the same
// events, also those that keep some rows in files and not in memory. Auctions are never in files, and many expire
// within seconds. So their rows count until they are swept.)
type rowHashSums struct {
	untilSwept bool // a row counts until it is swept, whatever its expiry

	days  []*hashSumsOfDay // by day since 1970; nil: no row expires on that day
	never uint64           // of the rows that do not expire, or are not counted by their expiry
}

// hashSumsOfDay has the sums of one day, and their total.
type hashSumsOfDay struct {
	total   uint64
	minutes [minutesPerDay]uint64
}

const minutesPerDay = 24 * 60

// add adds the hash of a row with this expiry. The negative hash of a row takes it out again.
func (r *rowHashSums) add(expiryUnixSeconds uint32, hash uint64) {
	if r == nil {
		return
	}
	if expiryUnixSeconds == math.MaxUint32 || r.untilSwept {
		r.never += hash
		return
	}
	day := int(expiryUnixSeconds / 60 / minutesPerDay)
	if day >= len(r.days) {
		r.days = append(r.days, make([]*hashSumsOfDay, day+1-len(r.days))...)
	}
	if r.days[day] == nil {
		r.days[day] = new(hashSumsOfDay)
	}
	r.days[day].total += hash
	r.days[day].minutes[expiryUnixSeconds/60%minutesPerDay] += hash
}

// addAll adds the sums of other.
func (r *rowHashSums) addAll(other *rowHashSums) {
	r.never += other.never
	for day, sums := range other.days {
		if sums == nil {
			continue
		}
		for minute, hash := range &sums.minutes {
			if hash != 0 {
				r.add(uint32(day*minutesPerDay+minute)*60, hash)
			}
		}
	}
}

// sumOfUnexpired returns the sum of the rows whose minute of expiry begins after nowUnixSeconds. It frees the memory
// of days that have ended.
func (r *rowHashSums) sumOfUnexpired(nowUnixSeconds uint32) (sum uint64) {
	minute := int(nowUnixSeconds/60) + 1
	today := minute / minutesPerDay
	clear(r.days[:min(today, len(r.days))])
	for day := today; day < len(r.days); day++ {
		switch sums := r.days[day]; {
		case sums == nil:
		case day == today:
			for _, hash := range sums.minutes[minute%minutesPerDay:] {
				sum += hash
			}
		default:
			sum += sums.total
		}
	}
	return sum + r.never
}
