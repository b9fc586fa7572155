package signature

import (
	"testing"
)

func TestParseSecret(t *testing.T) {
	for secret, want := range map[string]string{
		"whsec_AAEC":         "\x00\x01\x02",
		"whsec_AAECAw==":     "\x00\x01\x02\x03",
		"whsec_AAECAw":       "\x00\x01\x02\x03",
		"whsec_+/+/":         "\xfb\xff\xbf",
		"whsec_":             "",
		"whsec_====":         "",
		"whsec_-_-_":         "", // base64url
		"whsec_AAE":          "\x00\x01",
		"whsec_A":            "",
		"AAEC":               "",
		"":                   "",
		"WHSEC_AAEC":         "",
		"whsec_AAEC whatnot": "",
	} {
		key, ok := ParseSecret(secret)
		if ok != (want != "") || ok && string(key) != want {
			t.Errorf("%q: %q %v, want %q", secret, key, ok, want)
		}
	}
}

// The first signature is the example of the Standard Webhooks libraries. The second one
// signs the same message in our own form, computed by OpenSSL.
func TestKnownSignatures(t *testing.T) {
	key, _ := ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	const id, at, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, `{"test": 2432232314}`
	if got := string(AppendStandardSignatures(nil, []Key{key}, id, at, []byte(body))); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("standard: %s", got)
	}
	if got := string(AppendPingpostSignatures([]byte("prefix|"), []Key{key}, at, []byte(body))); got != "prefix|t=1614265330,v1="+knownPingpostSignature {
		t.Errorf("pingpost: %s", got)
	}
}

const knownPingpostSignature = "e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef"
