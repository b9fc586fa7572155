package instructions

import (
	"encoding/base64"
	"testing"

	"pingpost/internal/must"
)

func TestLinkRoundTrip(t *testing.T) {
	key := [32]byte{1}
	want := linkClaims{supplier: 7, campaign: 1 << 31, expires: 1_800_000_000, generation: [generationSize]byte{9, 8}}
	token := signLinkToken(&key, &want)
	if got, ok := verifyLinkToken(&key, []byte(token)); !ok || got != want {
		t.Errorf("got %+v, %t, want %+v", got, ok, want)
	}
	if _, ok := verifyLinkToken(&[32]byte{2}, []byte(token)); ok {
		t.Error("a token of another key is valid")
	}
}

// TestForgedLinks changes each bit of a token.
func TestForgedLinks(t *testing.T) {
	key := [32]byte{1}
	raw := must.Value(base64.RawURLEncoding.DecodeString(signLinkToken(&key, &linkClaims{supplier: 1, campaign: 2, expires: 3})))(t)
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		if _, ok := verifyLinkToken(&key, []byte(base64.RawURLEncoding.EncodeToString(raw))); ok {
			t.Errorf("the token is valid although bit %d is changed", bit)
		}
		raw[bit/8] ^= 1 << (bit % 8)
	}
	good := base64.RawURLEncoding.EncodeToString(raw)
	for _, token := range []string{"", "x", good[:len(good)-1], good + "A", good[:10] + "\n" + good[10:], good[:len(good)-1] + "="} {
		if _, ok := verifyLinkToken(&key, []byte(token)); ok {
			t.Errorf("%q is valid", token)
		}
	}
}

func TestParseGeneration(t *testing.T) {
	for stored, valid := range map[string]bool{"0102030405060708": true, "": false, "01": false, "zz02030405060708": false, "010203040506070809": false} {
		if got, ok := parseGeneration(stored); ok != valid || ok && got != [generationSize]byte{1, 2, 3, 4, 5, 6, 7, 8} {
			t.Errorf("%q: got %v, %t", stored, got, ok)
		}
	}
}
