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

// Claims are what a token says.
type Claims struct {
	Owner   event.NameKind // supplier or buyer
	Ref     market.Ref     // the owner's number
	Scopes  event.Scopes
	Secret  [32]byte // hash of the client's secret that the token was given for
	Expires int64    // Unix nanoseconds; it is good before, and not at them
}

const (
	prefix  = "ppt_"
	version = 1

	nonceSize  = 12
	plainSize  = 1 + 1 + 1 + 4 + 8 + 32
	tagSize    = 16
	sealedSize = nonceSize + plainSize + tagSize
)

// Length is a token's, in characters.
const Length = len(prefix) + sealedSize*4/3

// Mint makes tokens and hashes. It is safe for many goroutines.
type Mint struct {
	aead    cipher.AEAD
	hashKey []byte
	benches sync.Pool // *bench
}

// bench is the memory that reading one token needs: arrays on the stack would
// be moved to the heap for the sake of the cipher.
type bench struct {
	sealed [sealedSize]byte
	plain  [plainSize]byte
}

// New returns a mint over a key that is used for nothing else. Equal keys give
// mints that read each other's tokens; different ones never do.
func New(key [32]byte) *Mint {
	block, err := aes.NewCipher(derive(key, "seal"))
	if err != nil {
		panic("BUG: a key of 32 bytes is none for AES: " + err.Error())
	}
	m := &Mint{hashKey: derive(key, "hash")}
	if m.aead, err = cipher.NewGCM(block); err != nil {
		panic("BUG: AES is none for GCM: " + err.Error())
	}
	m.benches.New = func() any { return new(bench) }
	return m
}

func derive(key [32]byte, purpose string) []byte {
	out, err := hkdf.Expand(sha256.New, key[:], purpose, 32)
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	return out
}

// AppendToken writes a new token with these claims. No two are alike.
func (m *Mint) AppendToken(dst []byte, c *Claims) []byte {
	b := m.benches.Get().(*bench)
	defer m.benches.Put(b)
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

// Read opens a token that this mint made. Not ok: it made no such token, or it
// is past its end at now, in Unix nanoseconds. That the secret is still good
// remains to be asked.
func (m *Mint) Read(token []byte, now int64) (c Claims, ok bool) {
	if len(token) != Length || string(token[:len(prefix)]) != prefix {
		return Claims{}, false
	}
	b := m.benches.Get().(*bench)
	defer m.benches.Put(b)
	// The decoder skips line breaks; then fewer bytes come out.
	n, err := base64.RawURLEncoding.Decode(b.sealed[:], token[len(prefix):])
	if err != nil || n != sealedSize {
		return Claims{}, false
	}
	p, err := m.aead.Open(b.plain[:0], b.sealed[:nonceSize], b.sealed[nonceSize:], nil)
	if err != nil || p[0] != version {
		return Claims{}, false
	}
	c = Claims{
		Owner: event.NameKind(p[1]), Scopes: event.Scopes(p[2]), Ref: market.Ref(binary.BigEndian.Uint32(p[3:])),
		Expires: int64(binary.BigEndian.Uint64(p[7:])), Secret: [32]byte(p[15:]),
	}
	if now >= c.Expires {
		return Claims{}, false
	}
	return c, true
}
