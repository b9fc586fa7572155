package engine

import (
	"crypto/sha256"
	"encoding/binary"

	"pingpost/engine/market"
)

// nameKind says which identifier an auction's name is made from. Its letters are part of the
// hashed names in the log.
//
// Auctions for test leads have separate names. So a production lead cannot use a test bid, nor
// a test lead a production bid, and a test does not use up a seller's id.
type nameKind byte

const (
	bySellerID nameKind = 'a' // the seller's own id, from POST /v1/ping
	byPingID   nameKind = 'p' // the exchange's 16 bytes, from the answer to POST /api/v1/ping

	byTestSellerID nameKind = 'A'
	byTestPingID   nameKind = 'P'
)

// forTest returns the kind for test leads if test is set.
func (by nameKind) forTest(test bool) nameKind {
	switch {
	case !test:
		return by
	case by == bySellerID:
		return byTestSellerID
	}
	return byTestPingID
}

// auctionName hashes an auction's identifier with its supplier. So names have a fixed size,
// and no supplier can name another one's auction.
func (e *Engine) auctionName(by nameKind, supplier *market.Supplier, id []byte) (name [16]byte) {
	buf := append(make([]byte, 0, 128), e.opt.Secret[:]...)
	buf = append(buf, byte(by))
	buf = binary.BigEndian.AppendUint32(buf, uint32(supplier.Ref))
	sum := sha256.Sum256(append(buf, id...))
	copy(name[:], sum[:])
	return name
}

// SellerAuctionName returns the name of an auction with the seller's own id. The auction need
// not exist.
func (e *Engine) SellerAuctionName(supplier market.Ref, sellerID string, test bool) (name [16]byte) {
	return e.auctionName(bySellerID.forTest(test), &market.Supplier{Ref: supplier}, []byte(sellerID))
}
