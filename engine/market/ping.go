package market

import "time"

// PingHead is what a ping says beside the lead.
type PingHead struct {
	Auction     AuctionID
	Vertical    string
	SubVertical string // empty: the ping has none
	ExpiresAt   int64  // Unix nanoseconds; told to the millisecond, rounded down
}

// pingTime is RFC 3339 in UTC.
const pingTime = "2006-01-02T15:04:05.000Z"

// AppendPing appends the body of a ping to a buyer: the head, then every field
// that is known and marked ping, under its name for buyers. The zip goes as
// zip3, and tcpa_consent always, false where it is not known.
//
// A person never gets in, by two rules. A contact field has no part in the loop
// below, whatever else is said of it. And members that the mapping does not
// know go on only where the lead was filled from a ping, since only those were
// searched for contact details; an ingest's stay with its post.
//
// The bytes are the same for every buyer of the auction.
func (m *Mapping) AppendPing(dst []byte, l *Lead, head PingHead) []byte {
	dst = append(dst, `{"auction_id":"`...)
	dst = head.Auction.AppendTo(dst)
	dst = append(dst, `","vertical":`...)
	dst = AppendJSONString(dst, []byte(head.Vertical))
	if head.SubVertical != "" {
		dst = append(dst, `,"sub_vertical":`...)
		dst = AppendJSONString(dst, []byte(head.SubVertical))
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.ping && !r.contact {
			dst = m.appendPingField(dst, l, Slot(slot))
		}
	}
	if l.searched {
		for i := range l.Extras {
			dst = append(dst, ',')
			dst = AppendJSONString(dst, l.Extras[i].Name)
			dst = append(dst, ':')
			dst = l.Extras[i].Value.AppendJSON(dst)
		}
	}
	dst = append(dst, `,"expires_at":"`...)
	dst = time.Unix(0, head.ExpiresAt).UTC().AppendFormat(dst, pingTime)
	return append(dst, `"}`...)
}

func (m *Mapping) appendPingField(dst []byte, l *Lead, slot Slot) []byte {
	value := &l.Values[slot]
	switch {
	case slot == SlotZip:
		if zip3 := ZIP3(value.Text); zip3 != nil {
			dst = append(append(append(dst, `,"zip3":"`...), zip3...), '"')
		}
		return dst
	case slot == SlotTCPAConsent && value.Kind == KindAbsent:
		return append(dst, `,"tcpa_consent":false`...)
	}
	return m.appendField(dst, l, slot)
}
