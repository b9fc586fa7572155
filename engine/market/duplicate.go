package market

import (
	"encoding/binary"

	"pingpost/engine/market/fingerprint"
	"pingpost/engine/market/format"
)

// DuplicateRule defines by which fields a campaign recognizes that two leads are the same person.
// An email is compared in lower case. An empty value equals no other value.
type DuplicateRule struct {
	Phone, Email bool
	All          bool  // every field must match; else any one of them
	Window       int64 // retention of an accepted lead in nanoseconds; 0: no rule
	PerBuyer     bool  // a lead is a duplicate only for a buyer that has it
}

// DuplicateKey is a keyed hash of a lead's phone, email or both. Without the key of the hash it
// does not reveal the value.
type DuplicateKey [16]byte

// AppendKeys appends the lead's duplicate keys to dst: two leads are duplicates if they share a
// key. If one equal field is enough, each field has a key. If all fields must be equal (All),
// there is one key for all, and no key if a value is empty.
//
// scope separates campaigns, and buyers if the rule is per buyer. It is the campaign's Ref << 32,
// plus the buyer's Ref in that case. secret is the key of the hash.
func (r DuplicateRule) AppendKeys(l *Lead, scope uint64, secret *[32]byte, dst []DuplicateKey) []DuplicateKey {
	if r.Window == 0 {
		return dst
	}
	var buf [fingerprint.MaxInlineMessage]byte
	head := binary.BigEndian.AppendUint64(buf[:0], scope)
	message := head
	for _, slot := range [2]Slot{SlotPhone, SlotEmail} {
		if slot == SlotPhone && !r.Phone || slot == SlotEmail && !r.Email {
			continue
		}
		value := l.Values[slot].Text
		switch {
		case len(value) == 0 && r.All:
			return dst
		case len(value) == 0:
			continue
		case !r.All:
			message = head
		}
		message = appendIdentityValue(message, slot, value)
		if !r.All {
			dst = append(dst, hashDuplicateKey(secret, message))
		}
	}
	if r.All && len(message) > len(head) {
		dst = append(dst, hashDuplicateKey(secret, message))
	}
	return dst
}

// appendIdentityValue appends a field's value to the message that is hashed. It adds the slot and
// the length, so that different values never give one message. Letters are in lower case.
func appendIdentityValue(dst []byte, slot Slot, value []byte) []byte {
	dst = append(dst, byte(slot))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return format.AppendLower(dst, value)
}

// hashDuplicateKey returns the first 16 bytes of the keyed hash of message.
func hashDuplicateKey(secret *[32]byte, message []byte) (key DuplicateKey) {
	sum := fingerprint.HMAC(secret, message)
	copy(key[:], sum[:])
	return key
}
