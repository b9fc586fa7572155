package fingerprint

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
)

// An attacker could try all phone numbers and addresses. So memory, log and files contain
// only keyed hashes of them: truncated HMAC-SHA256.

const (
	hmacBlock = 64
	// MaxInlineMessage is the maximum size of a message that is hashed without
	// allocation: a phone number and an email, each with its length, and a scope.
	MaxInlineMessage = 320
)

// HMAC returns the HMAC-SHA256 of message. It does not use hash.Hash for messages of up to
// MaxInlineMessage bytes, because that would allocate memory for every lead.
func HMAC(key *[32]byte, message []byte) [sha256.Size]byte {
	if len(message) > MaxInlineMessage {
		return hmacOfLongMessage(*key, bytes.Clone(message)) // a copy, or every caller's buffer would be on the heap
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

// hmacOfLongMessage returns the HMAC-SHA256 of a message of any length. It allocates memory.
func hmacOfLongMessage(key [32]byte, message []byte) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(message)
	mac.Sum(sum[:0])
	return sum
}
