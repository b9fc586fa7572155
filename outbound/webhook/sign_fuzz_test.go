package webhook

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial"
	"pingpost/outbound/webhook/signature"
)

// parseKey decodes a secret by its definition: whsec_ and base64, padded or not.
func parseKey(secret string) []byte {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		if key, err = base64.RawStdEncoding.DecodeString(encoded); err != nil {
			return nil
		}
	}
	return key
}

// FuzzSign checks that for any secrets, body and address the client sends exactly one HTTP
// request. Standard Webhooks' own library verifies it with each live secret and with no
// other.
func FuzzSign(f *testing.F) {
	for _, secret := range []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAE", "whsec_", "whsec_-_-_", "AAEC", "whsec_AA\nEC", ""} {
		f.Add(secret, "whsec_AAEC", "https://hooks.example/in?x=1", []byte(`{"id":"evt_1"}`), int64(1614265330))
		f.Add("whsec_AAEC", secret, "http://[::1]:80/%20", []byte("\r\n\r\nGET / HTTP/1.1\r\n"), int64(0))
	}
	f.Add("whsec_AAEC", "", "https://a.example/\r\nX: y", []byte("x"), int64(-1))
	f.Add("whsec_AAEC", "", "https://a.example", []byte{}, int64(1))
	hosts := dial.New(dial.Options{})
	f.Cleanup(hosts.Close)
	f.Fuzz(func(t *testing.T, present, previous, address string, body []byte, at int64) {
		secrets := map[string]string{"hook": present, "hook/previous": previous}
		c := Client{secrets: func(name string) (string, bool) { return secrets[name], true }}
		keys := c.signingKeys("hook")
		first, second := parseKey(present), parseKey(previous)
		if (len(keys) > 0) != (len(first) > 0) || len(first) > 0 && (len(keys) == 2) != (len(second) > 0) {
			t.Fatalf("secrets %q and %q gave %d keys", present, previous, len(keys))
		}
		target, fault := hosts.FindOrCreateTarget(dial.ConnOwner{}, address)
		if len(keys) == 0 || fault != market.FaultNone {
			return
		}
		text := encodeRequest(target, &market.WebhookRequest{ID: "evt_1", Body: body}, keys, at)
		in := bufio.NewReader(bytes.NewReader(text))
		request, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, err := io.ReadAll(request.Body)
		rest, _ := io.ReadAll(in)
		if err != nil || request.Method != http.MethodPost || request.Host != target.Authority || !bytes.Equal(got, body) || len(rest) > 0 || len(request.Header) != 7 {
			t.Fatalf("%q is %+v, and %q after it: %v", text, request, rest, err)
		}
		checkSigned(t, request.Header, [][]byte{first, second}[:len(keys)], body, at)
	})
}

func checkSigned(t *testing.T, header http.Header, keys [][]byte, body []byte, at int64) {
	want := fmt.Sprintf("t=%d", at)
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%d.%s", at, body)
		want += ",v1=" + hex.EncodeToString(mac.Sum(nil))
		verifier := must.Value(standardwebhooks.NewWebhookRaw(key))(t)
		if err := verifier.VerifyIgnoringTimestamp(body, header); err != nil {
			t.Fatalf("the stock library rejects %v: %v", header, err)
		}
		if verifier.VerifyIgnoringTimestamp(append(bytes.Clone(body), ' '), header) == nil {
			t.Fatal("another body verifies")
		}
	}
	if got := header.Get("X-Pingpost-Signature"); got != want {
		t.Fatalf("X-Pingpost-Signature is %s, want %s", got, want)
	}
	other, _ := standardwebhooks.NewWebhookRaw(append(bytes.Clone(keys[0]), 1))
	if string(keys[len(keys)-1]) != string(keys[0])+"\x01" && other.VerifyIgnoringTimestamp(body, header) == nil {
		t.Fatal("another secret verifies the request")
	}
	if key, ok := signature.ParseSecret(signature.Prefix + base64.StdEncoding.EncodeToString(keys[0])); !ok || !bytes.Equal(key, keys[0]) {
		t.Fatal("ParseSecret does not return the encoded key")
	}
}
