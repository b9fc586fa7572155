package pingpost

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pingpost/sdk/go/model"
)

// SignatureError reports a webhook with a wrong signature or an old timestamp. It contains
// nothing of the body.
type SignatureError struct{ Message string }

func (e *SignatureError) isPingpost() {}

func (e *SignatureError) Error() string { return "pingpost: webhook refused: " + e.Message }

// DefaultTolerance is the largest accepted difference between the webhook's time and now.
const DefaultTolerance = 5 * time.Minute

// Verifier verifies webhooks. It needs only secrets; its other fields have defaults.
type Verifier struct {
	Secrets   []string         // whsec_…; several during a rotation
	Tolerance time.Duration    // 0: DefaultTolerance
	Now       func() time.Time // nil: time.Now
}

// VerifyWebhook verifies a webhook and decodes its event. Body is the unchanged request body.
// One of the secrets must match, and the timestamp must be recent. The error is a
// [*SignatureError], or a [*UsageError] if the secrets are invalid.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*model.LeadEvent, error) {
	return Verifier{Secrets: secrets}.Verify(body, header)
}

// Verify is [VerifyWebhook] with the verifier's settings. Two signature formats exist; at least
// one must be present, and every present one must be correct.
func (v Verifier) Verify(body []byte, header http.Header) (*model.LeadEvent, error) {
	keys, err := v.keys()
	if err != nil {
		return nil, err
	}
	own, hasOwn := findHeader(header, "X-Pingpost-Signature")
	id, hasID := findHeader(header, "webhook-id")
	at, hasTime := findHeader(header, "webhook-timestamp")
	standard, hasStandard := findHeader(header, "webhook-signature")
	if !hasOwn && !hasID && !hasTime && !hasStandard {
		return nil, &SignatureError{"it has no signature"}
	}
	if hasOwn {
		if err := v.checkOwnSignature(keys, own, body); err != nil {
			return nil, err
		}
	}
	if hasID || hasTime || hasStandard {
		if !hasID || !hasTime || !hasStandard {
			return nil, &SignatureError{"webhook-id, webhook-timestamp and webhook-signature go together"}
		}
		if err := v.checkStandardSignature(keys, id, at, standard, body); err != nil {
			return nil, err
		}
	}
	var event model.LeadEvent
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, &SignatureError{"it is signed, and no event"}
	}
	return &event, nil
}

func (v Verifier) keys() (keys [][]byte, err error) {
	for _, secret := range v.Secrets {
		encoded, is := strings.CutPrefix(secret, "whsec_")
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if !is || err != nil || len(key) == 0 {
			return nil, &UsageError{"a webhook's secret is whsec_ and base64"}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, &UsageError{"no secret to verify a webhook by"}
	}
	return keys, nil
}

// checkOwnSignature checks t=<seconds>,v1=<hex>, with several v1 during a rotation.
func (v Verifier) checkOwnSignature(keys [][]byte, text string, body []byte) error {
	var at string
	var signatures [][]byte
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			at = value
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, sum)
			}
		}
	}
	if err := v.checkTime(at); err != nil {
		return err
	}
	return checkSignatures(keys, signatures, at+".", body)
}

// checkStandardSignature checks v1,<base64>, with several of them separated by spaces.
func (v Verifier) checkStandardSignature(keys [][]byte, id, at, text string, body []byte) error {
	if err := v.checkTime(at); err != nil {
		return err
	}
	var signatures [][]byte
	for part := range strings.FieldsSeq(text) {
		if encoded, is := strings.CutPrefix(part, "v1,"); is {
			if sum, err := base64.StdEncoding.DecodeString(encoded); err == nil {
				signatures = append(signatures, sum)
			}
		}
	}
	return checkSignatures(keys, signatures, id+"."+at+".", body)
}

func (v Verifier) checkTime(text string) error {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return &SignatureError{"its time cannot be read"}
	}
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	if away := now().Unix() - seconds; max(away, -away) > int64(tolerance/time.Second) {
		return &SignatureError{"its time is too far from now"}
	}
	return nil
}

// checkSignatures compares all keys with all signatures, so that the time reveals no secret.
func checkSignatures(keys, signatures [][]byte, before string, body []byte) error {
	fits := false
	for _, key := range keys {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(before))
		h.Write(body)
		sum := h.Sum(nil)
		for _, signature := range signatures {
			fits = hmac.Equal(sum, signature) || fits
		}
	}
	if !fits {
		return &SignatureError{"no signature fits"}
	}
	return nil
}

// findHeader finds a header in any case, even if the map was not created by http.Header's
// methods.
func findHeader(header http.Header, name string) (string, bool) {
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return strings.Join(values, ","), true
		}
	}
	return "", false
}
