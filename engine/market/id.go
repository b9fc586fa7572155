package market

import "encoding/binary"

// Names that operators choose in the configuration.
type (
	SupplierID string
	BuyerID    string
	CampaignID string
	ListID     string // a suppression list
)

// PermanentNumber is the permanent number of a configured name (or of a cap). A name gets it when a
// configuration first contains it, and the log records it. When the name leaves the
// configuration, the number is never reused, so old events keep their meaning. Zero means no
// name.
type PermanentNumber uint32

// Identifiers that the exchange creates: 48 bits of milliseconds since 1970, so that they
// sort by age, and 80 random bits, so that an attacker cannot guess them.
type (
	LeadID    [16]byte
	AuctionID [16]byte
	RequestID [16]byte
)

// PingID identifies an auction to the supplier that requested it by a ping. It has the same 128
// bits as the AuctionID and another prefix, because buyers see the AuctionID.
type PingID AuctionID

// ExchangeBidToken is 128 random bits that the exchange sends with its own bid to a seller. The seller
// returns it with the lead, which proves that it received the bid.
type ExchangeBidToken [16]byte

// The prefixes of identifiers.
const (
	leadPrefix    = "lead_"
	auctionPrefix = "auc_"
	requestPrefix = "req_"
	pingPrefix    = "ping_"
	bidPrefix     = "bid_"
)

// idTextLength is the length of an identifier's 128 bits in base 32.
const idTextLength = 26

// base32Alphabet holds the 32 digits of an identifier's text, without letters that look like
// digits. They are in ASCII order, so identifiers sort as texts in the same order as their bytes.
const base32Alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// ComposeID returns the bytes of an identifier: a time in Unix milliseconds, then ten random
// bytes.
func ComposeID(unixMillis int64, random [10]byte) [16]byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(unixMillis)<<16)
	copy(id[6:], random[:])
	return id
}

// AppendAsText appends the identifier as text, such as lead_01jd….
func (id LeadID) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, leadPrefix...), id)
}
func (id LeadID) String() string { return string(id.AppendAsText(nil)) }
func (id LeadID) IsZero() bool   { return id == LeadID{} }

// AppendAsText appends the identifier as text, such as auc_01jd….
func (id AuctionID) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, auctionPrefix...), id)
}
func (id AuctionID) String() string { return string(id.AppendAsText(nil)) }
func (id AuctionID) IsZero() bool   { return id == AuctionID{} }

// AppendAsText appends the identifier as text, such as req_01jd….
func (id RequestID) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, requestPrefix...), id)
}
func (id RequestID) String() string { return string(id.AppendAsText(nil)) }
func (id RequestID) IsZero() bool   { return id == RequestID{} }

// ParseLeadID reads the text that LeadID.AppendAsText writes. ok is false for any other text.
func ParseLeadID(s string) (id LeadID, ok bool) {
	return parseID[LeadID](leadPrefix, s)
}

// AppendAsText appends the identifier as text, such as ping_01jd….
func (id PingID) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, pingPrefix...), id)
}
func (id PingID) String() string { return string(id.AppendAsText(nil)) }

// AppendAsText appends the token as text, such as bid_1h6k….
func (b ExchangeBidToken) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, bidPrefix...), b)
}
func (b ExchangeBidToken) IsZero() bool { return b == ExchangeBidToken{} }

// ParseAuctionID reads the text that AuctionID.AppendAsText writes. ok is false for any other text.
func ParseAuctionID(s string) (id AuctionID, ok bool) {
	return parseID[AuctionID](auctionPrefix, s)
}

// ParseRequestID reads the text that RequestID.AppendAsText writes. ok is false for any other text.
func ParseRequestID(s string) (id RequestID, ok bool) {
	return parseID[RequestID](requestPrefix, s)
}

// ParsePingID reads the text that PingID.AppendAsText writes. ok is false for any other text.
func ParsePingID(s string) (id PingID, ok bool) {
	return parseID[PingID](pingPrefix, s)
}

// ParseExchangeBidToken reads the text that ExchangeBidToken.AppendAsText writes. ok is false for any
// other text.
func ParseExchangeBidToken(s string) (b ExchangeBidToken, ok bool) {
	return parseID[ExchangeBidToken](bidPrefix, s)
}

// appendBase32ID appends the 128 bits of an identifier as 26 digits of base 32.
func appendBase32ID(dst []byte, id [16]byte) []byte {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	for shift := 125; shift >= 0; shift -= 5 {
		var digit uint64
		switch {
		case shift >= 64:
			digit = high >> (shift - 64)
		case shift > 59: // five bits that straddle the two halves
			digit = high<<(64-shift) | low>>shift
		default:
			digit = low >> shift
		}
		dst = append(dst, base32Alphabet[digit&31])
	}
	return dst
}

// parseID reads an identifier's text: the prefix and 26 digits of base 32. ok is false for any
// other text.
func parseID[T ~[16]byte](prefix, s string) (id T, ok bool) {
	if len(s) != len(prefix)+idTextLength || s[:len(prefix)] != prefix {
		return id, false
	}
	var high, low uint64
	for i := len(prefix); i < len(s); i++ {
		digit := base32DigitValue(s[i])
		if digit > 31 || (i == len(prefix) && digit > 7) {
			return id, false
		}
		high = high<<5 | low>>59
		low = low<<5 | uint64(digit)
	}
	binary.BigEndian.PutUint64(id[:8], high)
	binary.BigEndian.PutUint64(id[8:], low)
	return id, true
}

// base32DigitValue returns the value of a digit of base32Alphabet, or 255 for any other character.
func base32DigitValue(c byte) byte {
	for i := range len(base32Alphabet) {
		if base32Alphabet[i] == c {
			return byte(i)
		}
	}
	return 255
}
