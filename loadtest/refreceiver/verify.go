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

// delivery is what came in one request.
type delivery struct {
	id, timestamp string // webhook-id and webhook-timestamp
	standard, own string // the two signatures: webhook-signature and X-Pingpost-Signature
	body          []byte
}

// verify says what is wrong with a delivery, if anything is: both signatures have
// to be right, and to speak of one time, which is now or nearly so.
func (d *delivery) verify(key signature.Key, now time.Time) error {
	seconds, err := strconv.ParseInt(d.timestamp, 10, 64)
	if err != nil || d.id == "" {
		return errors.New("no webhook-id, or no webhook-timestamp")
	}
	if off := now.Sub(time.Unix(seconds, 0)).Abs(); off > tolerance {
		return errors.New("the timestamp is " + off.Round(time.Second).String() + " off")
	}
	if !anyOf(strings.Fields(d.standard), "v1,", base64.StdEncoding.DecodeString, sumOf(key, d.id+"."+d.timestamp+".", d.body)) {
		return errors.New("webhook-signature is none by this secret")
	}
	parts := strings.Split(d.own, ",")
	if parts[0] != "t="+d.timestamp {
		return errors.New("X-Pingpost-Signature has another time, or none")
	}
	if !anyOf(parts[1:], "v1=", hex.DecodeString, sumOf(key, d.timestamp+".", d.body)) {
		return errors.New("X-Pingpost-Signature is none by this secret")
	}
	return nil
}

// anyOf tells whether one of the signatures is the sum: while secrets are rotated
// there are two.
func anyOf(signatures []string, version string, decode func(string) ([]byte, error), sum []byte) bool {
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
