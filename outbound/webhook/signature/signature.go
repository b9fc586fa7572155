// Package signature signs webhooks, so that their receivers can tell who sent
// them and that nothing of them was changed.
//
// Each delivery is signed in two forms over the same bytes by the same secret.
// One is that of Standard Webhooks, which stock libraries verify; the other is a
// single header, for who verifies by hand. A receiver needs either.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// Prefix is what a secret begins with; base64 follows, with padding or without.
const Prefix = "whsec_"

// PreviousName is the name of the secret that one of this name has taken the place
// of, and that receivers may still verify by.
func PreviousName(name string) string { return name + "/previous" }

// Key is what signs: the bytes that a secret stands for, never its text.
type Key []byte

// ParseSecret reads a secret. Not ok: it has no bytes to sign with.
func ParseSecret(secret string) (key Key, ok bool) {
	encoded, ok := strings.CutPrefix(secret, Prefix)
	if !ok {
		return nil, false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		key, err = base64.RawStdEncoding.DecodeString(encoded)
	}
	return key, err == nil && len(key) > 0
}

// AppendStandard appends the value of webhook-signature: "v1," and the base64 of
// an HMAC-SHA256 of "<id>.<at>.<body>", one for each key, with a space between.
// At is webhook-timestamp, in Unix seconds.
func AppendStandard(dst []byte, keys []Key, id string, at int64, body []byte) []byte {
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ' ')
		}
		sum := sumOf(key, id+"."+strconv.FormatInt(at, 10)+".", body)
		dst = base64.StdEncoding.AppendEncode(append(dst, "v1,"...), sum[:])
	}
	return dst
}

// AppendOwn appends the value of X-Pingpost-Signature: "t=<at>", and for each key
// ",v1=" and the hex of an HMAC-SHA256 of "<at>.<body>".
func AppendOwn(dst []byte, keys []Key, at int64, body []byte) []byte {
	seconds := strconv.FormatInt(at, 10)
	dst = append(append(dst, "t="...), seconds...)
	for _, key := range keys {
		sum := sumOf(key, seconds+".", body)
		dst = hex.AppendEncode(append(dst, ",v1="...), sum[:])
	}
	return dst
}

func sumOf(key Key, before string, body []byte) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(before))
	h.Write(body)
	h.Sum(sum[:0])
	return sum
}
