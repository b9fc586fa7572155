package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Claims are the content of an access token: its owner, scopes and expiry, and the hash of the
// client secret with which it was requested. If that secret was revoked, the caller must reject the
// token.
type Claims struct {
	Owner   event.ConfigObjectKind // supplier or buyer
	Ref     market.PermanentNumber // the owner's number
	Scopes  event.OAuthScopes
	Secret  [32]byte // hash of the client secret of the token's request
	Expires int64    // Unix nanoseconds; the token is invalid from this time on
}

const (
	prefix  = "ppt_"
	version = 1

	nonceSize  = 12
	plainSize  = 1 + 1 + 1 + 4 + 8 + 32
	tagSize    = 16
	sealedSize = nonceSize + plainSize + tagSize
)

// Length is the length of a token in characters.
const Length = len(prefix) + sealedSize*4/3

// Issuer issues access tokens, reads them, and computes the hashes of other credentials. It
// is safe for concurrent use.
type Issuer struct {
	aead    cipher.AEAD
	hashKey []byte
	buffers sync.Pool // *tokenBuffer
}

// tokenBuffer is the memory for encrypting or decrypting one token. Issuer keeps it in a
// pool, because arrays on the stack would escape to the heap as arguments of the cipher.
type tokenBuffer struct {
	sealed [sealedSize]byte
	plain  [plainSize]byte
}

// New returns an Issuer with this secret key, which must have no other use. An Issuer can
// read exactly the tokens of issuers with the same key.
func New(key [32]byte) *Issuer {
	block, err := aes.NewCipher(deriveKey(key, "seal"))
	if err != nil {
		panic("BUG: AES rejects a key of 32 bytes: " + err.Error())
	}
	m := &Issuer{hashKey: deriveKey(key, "hash")}
	if m.aead, err = cipher.NewGCM(block); err != nil {
		panic("BUG: GCM rejects AES: " + err.Error())
	}
	m.buffers.New = func() any { return new(tokenBuffer) }
	return m
}

func deriveKey(key [32]byte, purpose string) []byte {
	out, err := hkdf.Expand(sha256.New, key[:], purpose, 32)
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	return out
}

// AppendSealedToken appends a new encrypted token with these claims to dst. Each token is
// different, even with the same claims.
func (m *Issuer) AppendSealedToken(dst []byte, c *Claims) []byte {
	b := m.buffers.Get().(*tokenBuffer)
	defer m.buffers.Put(b)
	p := b.plain[:]
	p[0], p[1], p[2] = version, byte(c.Owner), byte(c.Scopes)
	binary.BigEndian.PutUint32(p[3:], uint32(c.Ref))
	binary.BigEndian.PutUint64(p[7:], uint64(c.Expires))
	copy(p[15:], c.Secret[:])
	nonce := b.sealed[:nonceSize]
	_, _ = rand.Read(nonce)
	m.aead.Seal(nonce, nonce, p, nil)
	return base64.RawURLEncoding.AppendEncode(append(dst, prefix...), b.sealed[:])
}

// OpenUnexpiredToken decrypts a token and returns its claims. ok is false if this Issuer's key did not
// make the token, or if it has expired at time now (Unix nanoseconds). The caller must still
// check that the client secret is valid.
func (m *Issuer) OpenUnexpiredToken(token []byte, now int64) (c Claims, ok bool) {
	if len(token) != Length || string(token[:len(prefix)]) != prefix {
		return Claims{}, false
	}
	b := m.buffers.Get().(*tokenBuffer)
	defer m.buffers.Put(b)
	// The decoder skips line breaks and then returns fewer bytes.
	n, err := base64.RawURLEncoding.Decode(b.sealed[:], token[len(prefix):])
	if err != nil || n != sealedSize {
		return Claims{}, false
	}
	p, err := m.aead.Open(b.plain[:0], b.sealed[:nonceSize], b.sealed[nonceSize:], nil)
	if err != nil || p[0] != version {
		return Claims{}, false
	}
	c = Claims{
		Owner: event.ConfigObjectKind(p[1]), Scopes: event.OAuthScopes(p[2]), Ref: market.PermanentNumber(binary.BigEndian.Uint32(p[3:])),
		Expires: int64(binary.BigEndian.Uint64(p[7:])), Secret: [32]byte(p[15:]),
	}
	if now >= c.Expires {
		return Claims{}, false
	}
	return c, true
}
