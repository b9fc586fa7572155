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

	kindInvitation = 4
	kindRecovery   = 5
)

// HashClientCredentials returns the hash under which the exchange stores and looks up an OAuth client's
// id and secret. The hash is keyed, so the log alone, without the exchange's key, does not
// allow guessing secrets. A caller cannot choose the hash that is looked up. The time of a
// look-up therefore does not reveal which clients exist.
func (m *Issuer) HashClientCredentials(id, secret []byte) [32]byte {
	return m.keyedHashOfSecret(kindClient, id, secret)
}

// HashStaticBearerToken returns the keyed hash under which the exchange stores and looks up a sandbox's
// static bearer token.
func (m *Issuer) HashStaticBearerToken(token []byte) [32]byte {
	return m.keyedHashOfSecret(kindBearer, token, nil)
}

func (m *Issuer) keyedHashOfSecret(secretKind byte, firstPart, secondPart []byte) (sum [32]byte) {
	h := hmac.New(sha256.New, m.hashKey)
	var head [9]byte
	head[0] = secretKind
	binary.BigEndian.PutUint64(head[1:], uint64(len(firstPart)))
	_, _ = h.Write(head[:])
	_, _ = h.Write(firstPart)
	_, _ = h.Write(secondPart)
	h.Sum(sum[:0])
	return sum
}

// HashOperatorAPIToken returns the keyed hash under which the exchange stores and looks up an
// operator's personal API token.
func (m *Issuer) HashOperatorAPIToken(token []byte) [32]byte {
	return m.keyedHashOfSecret(kindPersonal, token, nil)
}

// HashInvitation returns the keyed hash under which the exchange stores and looks up the token of an
// invitation.
func (m *Issuer) HashInvitation(token []byte) [32]byte {
	return m.keyedHashOfSecret(kindInvitation, token, nil)
}

// HashRecoveryCode returns the keyed hash of a user's one-time recovery code.
func (m *Issuer) HashRecoveryCode(user, code []byte) [32]byte {
	return m.keyedHashOfSecret(kindRecovery, user, code)
}
