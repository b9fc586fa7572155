package refreceiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"pingpost/outbound/webhook/signature"
)

// delivery is one request.
type delivery struct {
	id, timestamp string // webhook-id and webhook-timestamp
	standard, own string // webhook-signature and X-Pingpost-Signature
	body          []byte
}

// verify returns an error unless both signatures are right and have the same time, which
// must be close to now.
func (d *delivery) verify(key signature.Key, now time.Time) error {
	seconds, err := strconv.ParseInt(d.timestamp, 10, 64)
	if err != nil || d.id == "" {
		return errors.New("webhook-id or webhook-timestamp is missing or invalid")
	}
	if off := now.Sub(time.Unix(seconds, 0)).Abs(); off > tolerance {
		return errors.New("the timestamp is " + off.Round(time.Second).String() + " off")
	}
	if !hasSignature(strings.Fields(d.standard), "v1,", base64.StdEncoding.DecodeString, sumOf(key, d.id+"."+d.timestamp+".", d.body)) {
		return errors.New("webhook-signature does not match the secret")
	}
	parts := strings.Split(d.own, ",")
	if parts[0] != "t="+d.timestamp {
		return errors.New("X-Pingpost-Signature has no t= or another time than webhook-timestamp")
	}
	if !hasSignature(parts[1:], "v1=", hex.DecodeString, sumOf(key, d.timestamp+".", d.body)) {
		return errors.New("X-Pingpost-Signature does not match the secret")
	}
	return nil
}

// hasSignature reports whether one of the signatures matches. While a secret is rotated,
// there are two.
func hasSignature(signatures []string, version string, decode func(string) ([]byte, error), sum []byte) bool {
	for _, text := range signatures {
		encoded, ok := strings.CutPrefix(text, version)
		if !ok {
			continue
		}
		if got, err := decode(encoded); err == nil && hmac.Equal(got, sum) {
			return true
		}
	}
	return false
}

func sumOf(key signature.Key, before string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(before))
	h.Write(body)
	return h.Sum(nil)
}
