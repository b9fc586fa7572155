package market

import (
	"encoding/binary"

	"pingpost/engine/market/fingerprint"
	"pingpost/engine/market/format"
)

// DuplicateRule defines when two leads of a campaign are the same person. Values are
// compared in their stored form, an email in lower case; an empty value equals no other.
type DuplicateRule struct {
	Phone, Email bool
	All          bool  // every field must match; else any one of them
	Window       int64 // retention of an accepted lead in nanoseconds; 0: no rule
	PerBuyer     bool  // a lead is a duplicate only for a buyer that has it
}

// DuplicateKey is a keyed hash of a lead's value. Without the secret it does not reveal the
// value.
type DuplicateKey [16]byte

// AppendKeys appends the lead's keys: two leads are duplicates if they share one. If any field
// may match, each field has a key; if all must match, there is one key in total, and no key
// if a value is empty. The scope is the campaign's Ref << 32, plus the buyer's if the rule
// is per buyer.
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

// appendIdentityValue appends a value so that different lists of values have different
// encodings. It ignores case; a phone number has none.
func appendIdentityValue(dst []byte, slot Slot, value []byte) []byte {
	dst = append(dst, byte(slot))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return format.AppendLower(dst, value)
}

func hashDuplicateKey(secret *[32]byte, message []byte) (key DuplicateKey) {
	sum := fingerprint.HMAC(secret, message)
	copy(key[:], sum[:])
	return key
}
