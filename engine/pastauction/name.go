package pastauction

import (
	"crypto/sha256"
	"encoding/binary"

	"pingpost/engine/market"
)

// NameKind says which identifier an auction's name is made from. Its letters are part of the
// hashed names in the log.
//
// Auctions for test leads have separate names. So a production lead cannot use a test bid, nor
// a test lead a production bid, and a test does not use up a seller's id.
type NameKind byte

const (
	BySellerID NameKind = 'a' // the seller's own id, from POST /v1/ping
	ByPingID   NameKind = 'p' // the exchange's 16 bytes, from the answer to POST /api/v1/ping

	byTestSellerID NameKind = 'A'
	byTestPingID   NameKind = 'P'
)

// ForTest returns the kind for test leads if test is set.
func (kind NameKind) ForTest(test bool) NameKind {
	switch {
	case !test:
		return kind
	case kind == BySellerID:
		return byTestSellerID
	}
	return byTestPingID
}

// NewName hashes an auction's identifier with its supplier. So names have a fixed size, and no
// supplier can name another one's auction. secret keys the hash.
func NewName(secret *[32]byte, kind NameKind, supplier market.Ref, id []byte) (name [16]byte) {
	buf := append(make([]byte, 0, 128), secret[:]...)
	buf = append(buf, byte(kind))
	buf = binary.BigEndian.AppendUint32(buf, uint32(supplier))
	sum := sha256.Sum256(append(buf, id...))
	copy(name[:], sum[:])
	return name
}
