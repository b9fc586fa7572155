package refbuyer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// draw is one thing that is left to chance. Each has draws of its own, so that
// one setting does not shift the others.
type draw uint8

const (
	drawReject draw = iota + 1
	drawFail
	drawTaken // whether a failed post was taken first
	drawDelay
	drawNoBid
	drawAmount
	drawMalformed
	drawMalformation // which of them
	drawExpireEarly
	drawUses // of a token that expires early
	drawTwice
	drawForget
)

// chance makes the decisions of one seed.
type chance uint64

// draw is a number from 0 up to, and not including, 1. The hash is FNV-1a of
// the key under a strong finisher: it has to be even and quick, not secret.
func (c chance) draw(what draw, key []byte, attempt int) float64 {
	const offset, prime = 14695981039346656037, 1099511628211
	sum := uint64(offset)
	for _, b := range key {
		sum = (sum ^ uint64(b)) * prime
	}
	sum = scatter(sum + scatter(uint64(c)+scatter(uint64(attempt)<<8|uint64(what))))
	return float64(sum>>11) / (1 << 53)
}

// Draw is a draw for who leaves other things to chance in this way: what numbers
// them.
func Draw(seed uint64, what uint8, key []byte, attempt int) float64 {
	return chance(seed).draw(draw(what), key, attempt)
}

// happens tells whether something of this share comes to pass.
func (c chance) happens(share float64, what draw, key []byte, attempt int) bool {
	return share > 0 && c.draw(what, key, attempt) < share
}

// scatter spreads every bit over all of them (the finisher of splitmix64).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// name makes up an identifier for a key.
func (c chance) name(prefix, key string) string {
	sum := c.sign(prefix, []byte(key))
	return prefix + hex.EncodeToString(sum[:12])
}

// sign is a hash of a text that only this seed makes.
func (c chance) sign(purpose string, text []byte) [sha256.Size]byte {
	var room [256]byte
	message := binary.BigEndian.AppendUint64(room[:0], uint64(c))
	message = append(message, byte(len(purpose))) // so that no two pairs of texts run together alike
	message = append(message, purpose...)
	return sha256.Sum256(append(message, text...))
}
