package fingerprint

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"
)

var testKey = [32]byte{1, 2, 3, 31: 32}

func TestHMACMatchesStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		message := rapid.SliceOfN(rapid.Byte(), 0, 2*MaxInlineMessage).Draw(t, "message")
		mac := hmac.New(sha256.New, key[:])
		mac.Write(message)
		if got := HMAC(&key, message); !hmac.Equal(got[:], mac.Sum(nil)) {
			t.Fatalf("%d bytes: %x, want %x", len(message), got, mac.Sum(nil))
		}
	})
}

func TestHMACAroundInlineLimit(t *testing.T) {
	for _, n := range []int{0, 1, MaxInlineMessage - 1, MaxInlineMessage, MaxInlineMessage + 1} {
		message := make([]byte, n)
		if got, want := HMAC(&testKey, message), hmacOfLongMessage(testKey, message); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}
