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

// AppendDuplicateKeys appends the lead's duplicate keys to dst: two leads are duplicates if they share a
// key. If one equal field is enough, each field has a key. If all fields must be equal (All),
// there is one key for all, and no key if a value is empty.
//
// scopeNumber separates campaigns, and buyers if the rule is per buyer. It is the campaign's Ref << 32,
// plus the buyer's Ref in that case. hashKey is the key of the hash.
func (r DuplicateRule) AppendDuplicateKeys(l *Lead, scopeNumber uint64, hashKey *[32]byte, dst []DuplicateKey) []DuplicateKey {
	if r.Window == 0 {
		return dst
	}
	var buf [fingerprint.MaxInlineMessage]byte
	head := binary.BigEndian.AppendUint64(buf[:0], scopeNumber)
	message := head
	for _, slot := range [2]LeadFieldIndex{SlotPhone, SlotEmail} {
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
		message = appendFieldToHashMessage(message, slot, value)
		if !r.All {
			dst = append(dst, computeDuplicateKey(hashKey, message))
		}
	}
	if r.All && len(message) > len(head) {
		dst = append(dst, computeDuplicateKey(hashKey, message))
	}
	return dst
}

// appendFieldToHashMessage appends a field's value to the message that is hashed. It adds the slot and
// the length, so that different values never give one message. Letters are in lower case.
func appendFieldToHashMessage(message []byte, slot LeadFieldIndex, value []byte) []byte {
	message = append(message, byte(slot))
	message = binary.BigEndian.AppendUint32(message, uint32(len(value)))
	return format.AppendLowerASCII(message, value)
}

// computeDuplicateKey returns the first 16 bytes of the keyed hash of message.
func computeDuplicateKey(hashKey *[32]byte, message []byte) (key DuplicateKey) {
	sum := fingerprint.HMAC(hashKey, message)
	copy(key[:], sum[:])
	return key
}
