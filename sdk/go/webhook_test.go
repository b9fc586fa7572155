package pingpost

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A Standard Webhooks library created the message and its signature; OpenSSL created the other
// signature.
const (
	knownSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	knownID       = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	knownTime     = "1614265330"
	knownBody     = `{"test": 2432232314}`
	knownStandard = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	knownOwn      = "t=1614265330,v1=e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef"
)

func knownHeader() http.Header {
	h := http.Header{}
	for name, value := range map[string]string{
		"X-Pingpost-Signature": knownOwn, "webhook-id": knownID, "webhook-timestamp": knownTime, "webhook-signature": knownStandard,
	} {
		h.Set(name, value)
	}
	return h
}

func verifier(secrets ...string) Verifier {
	return Verifier{Secrets: secrets, Now: func() time.Time { return time.Unix(1614265330, 0) }}
}

// A change of any byte of the body or of a header must be detected by each signature format
// alone.
func TestVerifyDetectsAnyChangedByte(t *testing.T) {
	if _, err := verifier(knownSecret).Verify([]byte(knownBody), knownHeader()); err != nil {
		t.Fatal(err)
	}
	for i := range knownBody {
		body := []byte(knownBody)
		body[i] ^= 1
		for _, form := range [][]string{{"X-Pingpost-Signature"}, {"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}} {
			h := http.Header{}
			for _, name := range form {
				h[name] = knownHeader()[name]
			}
			var rejected *SignatureError
			if _, err := verifier(knownSecret).Verify(body, h); !errors.As(err, &rejected) {
				t.Errorf("byte %d of the body, by %s: %v", i, form[0], err)
			}
		}
	}
	for name, values := range knownHeader() {
		for i := range values[0] {
			h := knownHeader()
			changed := []byte(values[0])
			changed[i] ^= 1
			h.Set(name, string(changed))
			if _, err := verifier(knownSecret).Verify([]byte(knownBody), h); err == nil && !strings.EqualFold(string(changed), values[0]) {
				t.Errorf("%s with the value %s was accepted", name, changed)
			}
		}
	}
}

func TestVerifySecrets(t *testing.T) {
	for _, c := range []struct {
		secrets  []string
		accepted bool
		usage    bool
	}{
		{[]string{knownSecret}, true, false},
		{[]string{"whsec_AAEC", knownSecret}, true, false},
		{[]string{"whsec_AAEC"}, false, false},
		{[]string{"whsec_AAECAw=="}, false, false},
		{nil, false, true},
		{[]string{""}, false, true},
		{[]string{"whsec_"}, false, true},
		{[]string{"whsec_-_-_"}, false, true},
		{[]string{knownSecret, "AAEC"}, false, true},
	} {
		_, err := verifier(c.secrets...).Verify([]byte(knownBody), knownHeader())
		var usage *UsageError
		if (err == nil) != c.accepted || errors.As(err, &usage) != c.usage {
			t.Errorf("%q: %v", c.secrets, err)
		}
		for _, secret := range c.secrets {
			if err != nil && len(secret) > 6 && strings.Contains(err.Error(), secret) {
				t.Errorf("the error contains a secret: %v", err)
			}
		}
	}
}
