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

	// Shared means that leads that other campaigns with the same Group accepted are duplicates too. An
	// empty Group is that of all campaigns with the scope exchange.
	Shared bool
	Group  string
}

// DuplicateScope is the set of accepted leads with which a lead is compared: those of one campaign,
// of one buyer in it, or of all campaigns of a group.
type DuplicateScope struct {
	number uint64 // the campaign's Ref << 32, plus the buyer's Ref for one buyer; unused if shared
	shared bool
	group  string
}

// DuplicateScope returns the scope of the campaign's duplicate rule. buyer is zero unless the rule is
// per buyer.
func (c *Campaign) DuplicateScope(buyer PermanentNumber) DuplicateScope {
	if c.Duplicates.Shared {
		return DuplicateScope{shared: true, group: c.Duplicates.Group}
	}
	return DuplicateScope{number: uint64(c.Ref)<<32 | uint64(buyer)}
}

// appendToHashMessage appends the scope to the message that is hashed: the number, or for a group 8 bytes with the
// length of its name, and the name. The upper half of a number is the campaign's Ref, which is never zero; the upper
// half of a length is always zero. So a group and a campaign never share a key, and after a change of the scope a
// campaign does not find the leads of the former one.
//
// Rejected: a permanent number for each group. It would need a new kind of name in the log and in
// snapshots. The name itself separates groups exactly, and a group that is removed and added again
// finds its leads.
func (s DuplicateScope) appendToHashMessage(message []byte) []byte {
	if !s.shared {
		return binary.BigEndian.AppendUint64(message, s.number)
	}
	return append(binary.BigEndian.AppendUint64(message, uint64(len(s.group))), s.group...)
}

// DuplicateKey is a keyed hash of a lead's phone, email or both. Without the key of the hash it
// does not reveal the value.
type DuplicateKey [16]byte

// AppendDuplicateKeys appends the lead's duplicate keys to dst: two leads are duplicates if they share a
// key. If one equal field is enough, each field has a key. If all fields must be equal (All),
// there is one key for all, and no key if a value is empty.
//
// hashKey is the key of the hash. Campaigns of one group may have different rules: each stores and
// looks for the keys of its own rule.
func (r DuplicateRule) AppendDuplicateKeys(l *Lead, scope DuplicateScope, hashKey *[32]byte, dst []DuplicateKey) []DuplicateKey {
	if r.Window == 0 {
		return dst
	}
	var buf [fingerprint.MaxInlineMessage]byte
	head := scope.appendToHashMessage(buf[:0])
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
