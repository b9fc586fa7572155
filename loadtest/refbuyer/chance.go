package refbuyer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// What is left to chance, each with draws of its own, so that one setting does
// not shift the others.
const (
	drawReject = "reject"
	drawFail   = "fail"
	drawTaken  = "taken" // whether a failed post was taken first
	drawDelay  = "delay"
)

// chance makes the decisions of one seed.
type chance uint64

// draw is a number from 0 up to, and not including, 1.
func (c chance) draw(what, key string, attempt int) float64 {
	sum := c.digest(what, key, attempt)
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// name makes up an identifier for a key.
func (c chance) name(prefix, key string) string {
	sum := c.digest(prefix, key, 0)
	return prefix + hex.EncodeToString(sum[:12])
}

func (c chance) digest(what, key string, attempt int) (sum [sha256.Size]byte) {
	h := sha256.New()
	number(h, uint64(c))
	number(h, uint64(attempt))
	number(h, uint64(len(what))) // so that no two pairs of texts run together alike
	h.Write([]byte(what))
	h.Write([]byte(key))
	h.Sum(sum[:0])
	return sum
}

func number(h hash.Hash, n uint64) {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], n)
	h.Write(bytes[:])
}
