package signature

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
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
	if got := string(AppendStandard(nil, []Key{key}, id, at, []byte(body))); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("standard: %s", got)
	}
	if got := string(AppendPingpost([]byte("as it is|"), []Key{key}, at, []byte(body))); got != "as it is|t=1614265330,v1="+ownKnown {
		t.Errorf("own: %s", got)
	}
}

const ownKnown = "e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef"

// The stock library verifies a signature with every signing key, rejects other keys, and
// rejects a changed byte.
func TestStandardLibraryVerifies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Byte(), 1, 64)
		keys := []Key{bytes.Draw(t, "present"), bytes.Draw(t, "previous")}[:rapid.IntRange(1, 2).Draw(t, "live")]
		other := append(bytes.Draw(t, "other"), 0xa5, 0x5a)
		id, body := rapid.StringMatching(`evt_[a-z0-9]{1,60}`).Draw(t, "id"), rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "body")
		now := time.Now().Unix()
		header := http.Header{}
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", strconv.FormatInt(now, 10))
		header.Set("webhook-signature", string(AppendStandard(nil, keys, id, now, body)))
		verify := func(key Key, body []byte) error {
			hook, err := standardwebhooks.NewWebhookRaw(key)
			if err != nil {
				t.Fatal(err)
			}
			return hook.Verify(body, header)
		}
		for _, key := range keys {
			if err := verify(key, body); err != nil {
				t.Fatal(err)
			}
		}
		if verify(other, body) == nil {
			t.Fatal("another key verifies it")
		}
		changed := append([]byte(nil), body...)
		changed[rapid.IntRange(0, len(body)-1).Draw(t, "changed")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if verify(keys[0], changed) == nil {
			t.Fatal("a changed byte is not seen")
		}
		if own := string(AppendPingpost(nil, keys, now, body)); strings.Count(own, ",v1=") != len(keys) {
			t.Fatalf("%d keys, and %s", len(keys), own)
		}
	})
}
