package refbuyer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// TestBidToken: a token is only valid in its own auction and under its own seed, and any
// changed byte makes it invalid.
func TestBidToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := chance(rapid.Uint64().Draw(t, "seed"))
		auction := rapid.StringN(1, maxID, maxID).Draw(t, "auction")
		promised := terms{market.Money(rapid.Int64Range(0, int64(market.MaxMoney)).Draw(t, "amount")), rapid.Int64Range(0, 1<<42).Draw(t, "until")}
		token := string(seed.appendToken(nil, []byte(auction), promised))
		if len(token) != tokenSize || len(token) > maxID || !isVisibleASCII([]byte(token)) {
			t.Fatalf("token %q", token)
		}
		if got, ok := seed.readToken(token, auction); !ok || got != promised {
			t.Fatalf("%q: got %+v, %v, want %+v", token, got, ok, promised)
		}
		if _, ok := seed.readToken(token, auction+"x"); ok {
			t.Fatal("good in another auction")
		}
		if _, ok := (seed + 1).readToken(token, auction); ok {
			t.Fatal("good under another seed")
		}
		at := rapid.IntRange(0, len(token)-1).Draw(t, "at")
		other := rapid.SampledFrom([]byte("AZaz09-_=+/ \x00")).Draw(t, "other")
		changed := token[:at] + string(other) + token[at+1:]
		if _, ok := seed.readToken(changed, auction); ok && changed != token {
			t.Fatalf("%q is as good as %q", changed, token)
		}
		for _, other := range []string{"", token[:len(token)-1], token + "A", " " + token, strings.Repeat("A", tokenSize)} {
			if _, ok := seed.readToken(other, auction); ok {
				t.Fatalf("%q is as good as %q", other, token)
			}
		}
	})
}
