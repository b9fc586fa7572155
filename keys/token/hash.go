package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Kinds of hashed secrets. The hashes of different kinds never match.
const (
	kindClient   = 1
	kindBearer   = 2
	kindPersonal = 3
)

// HashClient returns the hash under which the exchange stores and looks up an OAuth client's
// id and secret. The hash is keyed, so the log alone, without the exchange's key, does not
// allow guessing secrets. A caller cannot choose the hash that is looked up. The time of a
// look-up therefore does not reveal which clients exist.
func (m *Issuer) HashClient(id, secret []byte) [32]byte { return m.hashOfKind(kindClient, id, secret) }

// HashBearer returns the keyed hash under which the exchange stores and looks up a sandbox's
// static bearer token.
func (m *Issuer) HashBearer(token []byte) [32]byte { return m.hashOfKind(kindBearer, token, nil) }

func (m *Issuer) hashOfKind(kind byte, first, second []byte) (sum [32]byte) {
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

// HashPersonal returns the keyed hash under which the exchange stores and looks up an
// operator's personal API token.
func (m *Issuer) HashPersonal(token []byte) [32]byte { return m.hashOfKind(kindPersonal, token, nil) }
