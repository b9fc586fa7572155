package state

import "math/bits"

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
