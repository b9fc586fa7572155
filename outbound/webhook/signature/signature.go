// Package signature signs webhooks, so that receivers can verify the sender and the
// content.
//
// Each attempt has two signature headers for the same body and the same secrets. One follows
// Standard Webhooks, which stock libraries verify. The other contains all that a receiver needs
// to verify by hand. A receiver needs only one of them.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// Prefix is the beginning of every webhook secret. The rest of the secret is base64, with or
// without padding.
const Prefix = "whsec_"

// PreviousSecretName returns the name under which the exchange stores a secret after another one has
// replaced it. Webhooks are signed with both, because receivers may still verify with the older
// one.
func PreviousSecretName(secretName string) string { return secretName + "/previous" }

// Key is a webhook secret in decoded form, for signing.
type Key []byte

// ParseSecret decodes a webhook secret such as whsec_MfKQ9r8G. ok is false if it is malformed
// or empty.
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

// AppendStandardSignatures appends the value of the header webhook-signature, as Standard Webhooks
// defines it. For each key it has "v1," and the base64 of an HMAC-SHA256 of
// "<id>.<unixSeconds>.<body>", separated by spaces. unixSeconds is the webhook-timestamp in Unix
// seconds.
func AppendStandardSignatures(dst []byte, keys []Key, id string, unixSeconds int64, body []byte) []byte {
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ' ')
		}
		sum := signBody(key, id+"."+strconv.FormatInt(unixSeconds, 10)+".", body)
		dst = base64.StdEncoding.AppendEncode(append(dst, "v1,"...), sum[:])
	}
	return dst
}

// AppendPingpostSignatures appends the value of the header X-Pingpost-Signature: "t=<unixSeconds>",
// and for each key ",v1=" and the hex of an HMAC-SHA256 of "<unixSeconds>.<body>". unixSeconds is
// the time in Unix seconds.
func AppendPingpostSignatures(dst []byte, keys []Key, unixSeconds int64, body []byte) []byte {
	seconds := strconv.FormatInt(unixSeconds, 10)
	dst = append(append(dst, "t="...), seconds...)
	for _, key := range keys {
		sum := signBody(key, seconds+".", body)
		dst = hex.AppendEncode(append(dst, ",v1="...), sum[:])
	}
	return dst
}

func signBody(key Key, prefix string, body []byte) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(prefix))
	h.Write(body)
	h.Sum(sum[:0])
	return sum
}
