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

// SignatureError says that a webhook is not what it says it is, or too old. It says
// nothing of what stands in it.
type SignatureError struct{ Message string }

func (e *SignatureError) isPingpost() {}

func (e *SignatureError) Error() string { return "pingpost: webhook refused: " + e.Message }

// DefaultTolerance is how far the time of a webhook may be from now.
const DefaultTolerance = 5 * time.Minute

// Verifier verifies webhooks. Its zero value with secrets is ready.
type Verifier struct {
	Secrets   []string         // whsec_…; several while one is rotated
	Tolerance time.Duration    // DefaultTolerance where it is 0
	Now       func() time.Time // time.Now where it is nil
}

// VerifyWebhook reads an event out of a webhook, if it is signed by one of the secrets and
// not too old. Body is the request's body, to the byte. The error is a [*SignatureError], or a
// [*UsageError] where the secrets are none.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*model.LeadEvent, error) {
	return Verifier{Secrets: secrets}.Verify(body, header)
}

// Verify is [VerifyWebhook] with the verifier's settings. Of the two forms of signature
// each that is there has to be right, and one has to be there.
func (v Verifier) Verify(body []byte, header http.Header) (*model.LeadEvent, error) {
	keys, err := v.keys()
	if err != nil {
		return nil, err
	}
	own, hasOwn := lookUp(header, "X-Pingpost-Signature")
	id, hasID := lookUp(header, "webhook-id")
	at, hasTime := lookUp(header, "webhook-timestamp")
	standard, hasStandard := lookUp(header, "webhook-signature")
	if !hasOwn && !hasID && !hasTime && !hasStandard {
		return nil, &SignatureError{"it has no signature"}
	}
	if hasOwn {
		if err := v.checkOwn(keys, own, body); err != nil {
			return nil, err
		}
	}
	if hasID || hasTime || hasStandard {
		if !hasID || !hasTime || !hasStandard {
			return nil, &SignatureError{"webhook-id, webhook-timestamp and webhook-signature go together"}
		}
		if err := v.checkStandard(keys, id, at, standard, body); err != nil {
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

// checkOwn reads t=<seconds>,v1=<hex>, with more of v1 while a secret is rotated.
func (v Verifier) checkOwn(keys [][]byte, text string, body []byte) error {
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
	return checkSums(keys, signatures, at+".", body)
}

// checkStandard reads v1,<base64>, with more of them after spaces.
func (v Verifier) checkStandard(keys [][]byte, id, at, text string, body []byte) error {
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
	return checkSums(keys, signatures, id+"."+at+".", body)
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

// checkSums compares all with all, so that how long it takes tells nothing.
func checkSums(keys, signatures [][]byte, before string, body []byte) error {
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

// lookUp finds a header by its name in any case, also where the map was not made by
// http.Header's own methods.
func lookUp(header http.Header, name string) (string, bool) {
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return strings.Join(values, ","), true
		}
	}
	return "", false
}
