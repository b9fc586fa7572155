package pastauction

import (
	"crypto/sha256"
	"encoding/binary"

	"pingpost/engine/market"
)

// AuctionIDKind says from which identifier the name (a hash) of an auction is made. Its letters are
// part of the hashed names in the log, so they must not change.
//
// Auctions for test leads have separate names. So a production lead cannot use a test bid, and a
// test lead cannot use a production bid. A test also does not use up an auction id of the seller.
type AuctionIDKind byte

const (
	BySellerID AuctionIDKind = 'a' // the seller's own id, from POST /v1/ping
	ByPingID   AuctionIDKind = 'p' // the exchange's 16 bytes, from the answer to POST /api/v1/ping

	byTestSellerID AuctionIDKind = 'A'
	byTestPingID   AuctionIDKind = 'P'
)

// ForTest returns the kind to use in the hashed name of an auction: for an auction of test leads the
// test variant of kind, otherwise kind itself. So a test auction never has the name of a real one.
func (kind AuctionIDKind) ForTest(isTest bool) AuctionIDKind {
	switch {
	case !isTest:
		return kind
	case kind == BySellerID:
		return byTestSellerID
	}
	return byTestPingID
}

// ComputeAuctionName returns the name of an auction: a hash of its identifier and its supplier, keyed
// with secret. So names have a fixed size, and no supplier can name another one's auction. kind
// says which identifier auctionID is.
func ComputeAuctionName(secret *[32]byte, kind AuctionIDKind, supplier market.PermanentNumber, auctionID []byte) (name [16]byte) {
	buf := append(make([]byte, 0, 128), secret[:]...)
	buf = append(buf, byte(kind))
	buf = binary.BigEndian.AppendUint32(buf, uint32(supplier))
	sum := sha256.Sum256(append(buf, auctionID...))
	copy(name[:], sum[:])
	return name
}
