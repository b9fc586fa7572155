package refbuyer

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"time"

	"pingpost/engine/market"
)

// A bid token contains the bid, so that the buyer need not store it:
//
//	"bid_" base64url( amount:6 valid until:6 signature:12 )
//
// The amount is in millionths and the time in milliseconds since 1970, both big-endian.
// The signature covers both and the auction id, so a token is only valid in its own
// auction.
const (
	tokenPrefix    = "bid_"
	tokenNumber    = 6
	tokenTerms     = 2 * tokenNumber
	tokenSignature = 12
	tokenSize      = len(tokenPrefix) + (tokenTerms+tokenSignature)*4/3
)

// terms are the promises of a bid.
type terms struct {
	amount market.Money
	until  int64 // milliseconds since 1970
}

func (t terms) validUntil() time.Time { return time.UnixMilli(t.until).UTC() }

// expired reports whether the bid's validity has ended.
func (t terms) expired(now time.Time) bool { return now.UnixMilli() > t.until }

func (c chance) appendToken(dst, auction []byte, t terms) []byte {
	var raw [tokenTerms + tokenSignature]byte
	putNumber(raw[:tokenNumber], uint64(t.amount))
	putNumber(raw[tokenNumber:tokenTerms], uint64(t.until))
	c.signToken(&raw, auction)
	dst = append(dst, tokenPrefix...)
	return base64.RawURLEncoding.AppendEncode(dst, raw[:])
}

func (c chance) signToken(raw *[tokenTerms + tokenSignature]byte, auction []byte) {
	var buffer [tokenTerms + maxID]byte
	sum := c.sign(tokenPrefix, append(append(buffer[:0], raw[:tokenTerms]...), auction...))
	copy(raw[tokenTerms:], sum[:tokenSignature])
}

// readToken returns the terms of a token. ok is false if the buyer issued no such token
// for this auction.
func (c chance) readToken(token, auction string) (t terms, ok bool) {
	var raw, proper [tokenTerms + tokenSignature]byte
	if len(token) != tokenSize || token[:len(tokenPrefix)] != tokenPrefix {
		return t, false
	}
	if _, err := base64.RawURLEncoding.Decode(raw[:], []byte(token[len(tokenPrefix):])); err != nil {
		return t, false
	}
	proper = raw
	c.signToken(&proper, []byte(auction))
	t = terms{market.Money(readNumber(raw[:tokenNumber])), int64(readNumber(raw[tokenNumber:tokenTerms]))}
	return t, subtle.ConstantTimeCompare(raw[:], proper[:]) == 1
}

// putNumber writes the low six bytes of a number.
func putNumber(dst []byte, n uint64) {
	copy(dst, binary.BigEndian.AppendUint64(nil, n)[8-tokenNumber:])
}

func readNumber(src []byte) uint64 {
	return binary.BigEndian.Uint64(append(make([]byte, 8-tokenNumber, 8), src...))
}
