package refbuyer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// draw names one random decision. Each has its own sequence, so that one setting does not
// change the others.
type draw uint8

const (
	drawReject draw = iota + 1
	drawFail
	drawTaken // whether the buyer accepts a failed post first
	drawDelay
	drawNoBid
	drawAmount
	drawMalformed
	drawMalformation // kind of malformed answer
	drawExpireEarly
	drawUses // uses of a token that expires early
	drawTwice
	drawForget
)

// chance makes the random decisions of one seed.
type chance uint64

// draw returns a number from 0 up to, but not including, 1. It is FNV-1a of the key with a
// strong finisher: the hash must be uniform and fast, not secret.
func (c chance) draw(what draw, key []byte, attempt int) float64 {
	const offset, prime = 14695981039346656037, 1099511628211
	sum := uint64(offset)
	for _, b := range key {
		sum = (sum ^ uint64(b)) * prime
	}
	sum = mixBits(sum + mixBits(uint64(c)+mixBits(uint64(attempt)<<8|uint64(what))))
	return float64(sum>>11) / (1 << 53)
}

// Draw returns a draw for other packages. what numbers their decisions.
func Draw(seed uint64, what uint8, key []byte, attempt int) float64 {
	return chance(seed).draw(draw(what), key, attempt)
}

// happens reports whether an event of this probability occurs.
func (c chance) happens(share float64, what draw, key []byte, attempt int) bool {
	return share > 0 && c.draw(what, key, attempt) < share
}

// mixBits mixes all bits (the finisher of splitmix64).
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// name returns an identifier derived from a key.
func (c chance) name(prefix, key string) string {
	sum := c.sign(prefix, []byte(key))
	return prefix + hex.EncodeToString(sum[:12])
}

// sign returns a hash of a text that depends on the seed.
func (c chance) sign(purpose string, text []byte) [sha256.Size]byte {
	var buffer [256]byte
	message := binary.BigEndian.AppendUint64(buffer[:0], uint64(c))
	message = append(message, byte(len(purpose))) // separates purpose and text unambiguously
	message = append(message, purpose...)
	return sha256.Sum256(append(message, text...))
}
