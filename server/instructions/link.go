package instructions

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"

	"pingpost/engine/market"
)

// linkClaims are the content of a link: the documents of one supplier and one campaign, until a time.
type linkClaims struct {
	supplier, campaign market.PermanentNumber
	expires            int64 // Unix seconds; the link is invalid from this time on
	generation         [generationSize]byte
}

const (
	linkVersion    = 1
	generationSize = 8
	claimsSize     = 1 + 4 + 4 + 8 + generationSize
	linkSize       = claimsSize + sha256.Size
)

// linkLength is the length of a link's token in characters.
var linkLength = base64.RawURLEncoding.EncodedLen(linkSize)

// signLinkToken returns the token with these claims: the claims and their HMAC with SHA-256.
//
// The claims are not encrypted, because they are two numbers, a time and a random number. Rejected:
// a random token that the exchange stores. Each link would need a row in the state, and an expired
// one a sweep.
func signLinkToken(key *[32]byte, c *linkClaims) string {
	raw := make([]byte, 0, linkSize)
	raw = append(raw, linkVersion)
	raw = binary.BigEndian.AppendUint32(raw, uint32(c.supplier))
	raw = binary.BigEndian.AppendUint32(raw, uint32(c.campaign))
	raw = binary.BigEndian.AppendUint64(raw, uint64(c.expires))
	raw = append(raw, c.generation[:]...)
	return base64.RawURLEncoding.EncodeToString(append(raw, macOfLink(key, raw)...))
}

// verifyLinkToken returns the claims of a token. ok is false if the token was not made with this key.
func verifyLinkToken(key *[32]byte, token []byte) (c linkClaims, ok bool) {
	if len(token) != linkLength {
		return c, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(token))
	if err != nil || len(raw) != linkSize || raw[0] != linkVersion || !hmac.Equal(raw[claimsSize:], macOfLink(key, raw[:claimsSize])) {
		return c, false
	}
	c.supplier = market.PermanentNumber(binary.BigEndian.Uint32(raw[1:]))
	c.campaign = market.PermanentNumber(binary.BigEndian.Uint32(raw[5:]))
	c.expires = int64(binary.BigEndian.Uint64(raw[9:]))
	copy(c.generation[:], raw[17:])
	return c, true
}

func macOfLink(key *[32]byte, claims []byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(claims)
	return mac.Sum(nil)
}

// linkSecretPrefix begins the names of the stored secrets with the generations of links.
const linkSecretPrefix = "instructions/"

// linkSecretName returns the name of the stored secret with the generation of a supplier's links.
func linkSecretName(supplierID string) string { return linkSecretPrefix + supplierID }

// parseGeneration returns the generation in a stored secret. ok is false if the secret has another form.
func parseGeneration(stored string) (generation [generationSize]byte, ok bool) {
	raw, err := hex.DecodeString(stored)
	if err != nil || len(raw) != generationSize {
		return generation, false
	}
	return [generationSize]byte(raw), true
}
