package engine

import (
	"crypto/sha256"
	"encoding/binary"

	"pingpost/engine/market"
)

// naming says by whose identifier an auction is found again. The letters are
// hashed into names that the log has.
//
// Auctions over test leads have names of their own: so neither can a lead be sold
// at the bid of a test, nor a test lead at another, and an id that was tried out
// is not used up.
type naming byte

const (
	bySellersID naming = 'a' // the seller's own, of POST /v1/ping
	byPingID    naming = 'p' // ours, that POST /api/v1/ping told: the 16 bytes

	bySellersTestID naming = 'A'
	byTestPingID    naming = 'P'
)

// in is the naming among test leads, or among the others.
func (by naming) in(test bool) naming {
	switch {
	case !test:
		return by
	case by == bySellersID:
		return bySellersTestID
	}
	return byTestPingID
}

// auctionName hashes an auction's identifier with its supplier: what a stranger
// sends is bounded in memory, and no supplier can name another's auction.
func (e *Engine) auctionName(by naming, supplier *market.Supplier, id []byte) (name [16]byte) {
	buf := append(make([]byte, 0, 128), e.opt.Secret[:]...)
	buf = append(buf, byte(by))
	buf = binary.BigEndian.AppendUint32(buf, uint32(supplier.Ref))
	sum := sha256.Sum256(append(buf, id...))
	copy(name[:], sum[:])
	return name
}

// SellersAuction is the name of the auction to which a seller gave an identifier
// of its own, in earnest or over a test lead, whether there is one or not.
func (e *Engine) SellersAuction(supplier market.Ref, theirs string, test bool) (name [16]byte) {
	return e.auctionName(bySellersID.in(test), &market.Supplier{Ref: supplier}, []byte(theirs))
}
