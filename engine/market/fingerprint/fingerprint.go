package fingerprint

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
)

// Phone numbers and addresses are few enough to be guessed. So memory, log and files
// hold only keyed hashes of them: truncated HMAC-SHA256.

const (
	hmacBlock = 64
	// longestKeyed is the longest message that is hashed without allocation:
	// a phone number and an email, each with its length, and a scope.
	MaxInlineMessage = 320
)

// Sum returns HMAC-SHA256. It is written out, because a hash.Hash would allocate for every
// lead.
func Sum(key *[32]byte, message []byte) [sha256.Size]byte {
	if len(message) > MaxInlineMessage {
		return streamedHash(*key, bytes.Clone(message)) // a copy, or every caller's buffer would be on the heap
	}
	var inner [hmacBlock + MaxInlineMessage]byte
	var outer [hmacBlock + sha256.Size]byte
	for i := range hmacBlock {
		var k byte
		if i < len(key) {
			k = key[i]
		}
		inner[i], outer[i] = k^0x36, k^0x5c
	}
	copy(inner[hmacBlock:], message)
	sum := sha256.Sum256(inner[:hmacBlock+len(message)])
	copy(outer[hmacBlock:], sum[:])
	return sha256.Sum256(outer[:])
}

// streamedHash hashes a message of any length.
func streamedHash(key [32]byte, message []byte) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(message)
	mac.Sum(sum[:0])
	return sum
}
