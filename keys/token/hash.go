package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// What a hash is of: one of the one kind is never one of the other.
const (
	ofClient   = 1
	ofBearer   = 2
	ofPersonal = 3
)

// HashClient is the hash of a client's id with one of its secrets. It is keyed:
// who has the log, but not the exchange's key, cannot try out secrets, and a
// caller cannot steer the hash that is looked up. So the time of a look-up by it
// says nothing about which clients there are.
func (m *Mint) HashClient(id, secret []byte) [32]byte { return m.hash(ofClient, id, secret) }

// HashBearer is the hash of a sandbox's static token.
func (m *Mint) HashBearer(token []byte) [32]byte { return m.hash(ofBearer, token, nil) }

func (m *Mint) hash(kind byte, first, second []byte) (sum [32]byte) {
	h := hmac.New(sha256.New, m.hashKey)
	var head [9]byte
	head[0] = kind
	binary.BigEndian.PutUint64(head[1:], uint64(len(first)))
	_, _ = h.Write(head[:])
	_, _ = h.Write(first)
	_, _ = h.Write(second)
	h.Sum(sum[:0])
	return sum
}

// HashPersonal is the hash of an operator's personal API token.
func (m *Mint) HashPersonal(token []byte) [32]byte { return m.hash(ofPersonal, token, nil) }
