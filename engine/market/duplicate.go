package market

import "encoding/binary"

// DuplicateRule says when two leads of a campaign are the same person. Values
// are compared as they are stored, an email wholly lowercased; a value that is
// empty is like no other.
type DuplicateRule struct {
	Phone, Email bool
	All          bool  // every field must match; else any one of them
	Window       int64 // nanoseconds for which an accepted lead is remembered; 0: no rule
	PerBuyer     bool  // a lead is a duplicate only where this buyer has it
}

// DupKey stands for a value of a lead. Whoever has no secret cannot tell which.
type DupKey [16]byte

// Keys appends what the lead is remembered by: two leads are duplicates when
// they share a key. For any matching field there is one key a field; for all of
// them one key in total, and none where a value is empty. The scope is the
// campaign's Ref << 32, and the buyer's where the rule is per buyer.
func (r DuplicateRule) Keys(l *Lead, scope uint64, secret *[32]byte, dst []DupKey) []DupKey {
	if r.Window == 0 {
		return dst
	}
	var buf [longestKeyed]byte
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
		message = appendIdentity(message, slot, value)
		if !r.All {
			dst = append(dst, dupKey(secret, message))
		}
	}
	if r.All && len(message) > len(head) {
		dst = append(dst, dupKey(secret, message))
	}
	return dst
}

// appendIdentity appends a value so that no two lists of values look alike.
// Case is ignored in both fields: a phone number has none.
func appendIdentity(dst []byte, slot Slot, value []byte) []byte {
	dst = append(dst, byte(slot))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return AppendLower(dst, value)
}

func dupKey(secret *[32]byte, message []byte) (key DupKey) {
	sum := keyedHash(secret, message)
	copy(key[:], sum[:])
	return key
}
