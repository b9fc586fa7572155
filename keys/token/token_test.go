package token

import (
	"bytes"
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

var (
	mint  = New([32]byte{1, 2, 3})
	other = New([32]byte{1, 2, 4})
)

const noon = int64(1_800_000_000_000_000_000)

// someClaims are the claims of a token that is valid until noon.
var someClaims = Claims{Owner: event.ObjectSupplier, Ref: 7, Scopes: event.ScopePing | event.ScopePost, Secret: [32]byte{9, 31: 8}, Expires: noon}

func TestATokenSaysWhatItWasGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := Claims{
			Owner:   event.ConfigObjectKind(rapid.Uint8().Draw(t, "owner")),
			Ref:     market.PermanentNumber(rapid.Uint32().Draw(t, "ref")),
			Scopes:  event.TokenScopes(rapid.Uint8().Draw(t, "scopes")),
			Secret:  [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret")),
			Expires: rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "expires"),
		}
		before := rapid.SliceOf(rapid.Byte()).Draw(t, "before")
		token := mint.AppendToken(before, &claims)
		if !bytes.HasPrefix(token, before) {
			t.Fatal("what stood before the token has changed")
		}
		token = token[len(before):]
		if got, ok := mint.VerifyToken(token, claims.Expires-1); !ok || got != claims {
			t.Fatalf("given %+v\nread  %+v, %v", claims, got, ok)
		}
		if _, ok := other.VerifyToken(token, claims.Expires-1); ok {
			t.Fatal("another key reads it")
		}
		again := mint.AppendToken(nil, &claims)
		if bytes.Equal(again, token) {
			t.Fatal("two tokens are alike")
		}
	})
}

func TestAToken(t *testing.T) {
	token := string(mint.AppendToken(nil, &someClaims))
	if len(token) != Length || Length > 200 || !strings.HasPrefix(token, "ppt_") {
		t.Errorf("%d characters: %s", len(token), token)
	}
	if strings.ContainsFunc(token, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		t.Errorf("it cannot stand in a header: %q", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(token[len(prefix):])
	if err != nil || bytes.Contains(raw, someClaims.Secret[:4]) {
		t.Errorf("%v: what is sealed can be seen: %x", err, raw)
	}
}

func TestATokenEnds(t *testing.T) {
	token := mint.AppendToken(nil, &someClaims)
	for now, want := range map[int64]bool{noon - 1: true, noon: false, noon + 1: false, 0: true, math.MaxInt64: false} {
		if _, ok := mint.VerifyToken(token, now); ok != want {
			t.Errorf("%d ns from its end it is good: %v", now-noon, ok)
		}
	}
}

// Every bit of every character is flipped, and every character is taken out,
// doubled, and has another put before it.
func TestATokenThatWasTouchedIsNone(t *testing.T) {
	token := mint.AppendToken(nil, &someClaims)
	reads := func(touched []byte) bool { _, ok := mint.VerifyToken(touched, 0); return ok }
	if !reads(token) {
		t.Fatal("the token itself is none")
	}
	for i := range token {
		for bit := range 8 {
			touched := bytes.Clone(token)
			touched[i] ^= 1 << bit
			if reads(touched) {
				t.Errorf("bit %d of character %d is flipped, and it is good: %s", bit, i, touched)
			}
		}
		without := append(bytes.Clone(token[:i]), token[i+1:]...)
		if reads(without) || reads(token[:i]) || reads(token[i+1:]) {
			t.Errorf("without character %d it is good", i)
		}
		for _, added := range []byte{token[i], '\n', '\r', '=', 'A', 0} {
			longer := append(append(bytes.Clone(token[:i]), added), token[i:]...)
			cut := longer[:len(token)]
			if reads(longer) || reads(cut) && !bytes.Equal(cut, token) {
				t.Errorf("with %q before character %d it is good", added, i)
			}
		}
	}
	for _, touched := range []string{"", "ppt_", string(token) + "=", string(token) + " ", strings.ToUpper(string(token)), strings.ToLower(string(token))} {
		if reads([]byte(touched)) {
			t.Errorf("%q is good", touched)
		}
	}
}

// The halves of two tokens are no third one.
func TestTokensCannotBeMixed(t *testing.T) {
	more := someClaims
	more.Scopes |= event.ScopeWebhook
	a, b := mint.AppendToken(nil, &someClaims), mint.AppendToken(nil, &more)
	for i := 1; i < Length; i++ {
		mixed := append(bytes.Clone(a[:i]), b[i:]...)
		if bytes.Equal(mixed, a) || bytes.Equal(mixed, b) {
			continue
		}
		if _, ok := mint.VerifyToken(mixed, 0); ok {
			t.Errorf("the first %d characters of one and the rest of another are good", i)
		}
	}
}

// oldToken was issued by an earlier program with the same key and claims. It stays valid,
// so an upgrade ends no session.
const oldToken = "ppt_ZpkHOsMhjHsCvQ3wYQwK8_TrGuYS6MFLlO1qs4Zyld12qXEdjcKotskTJJRoAT3LFQHWZdSmmag78xkHrXxbPAlq347eph08v4ao"

func TestAnOldTokenIsGood(t *testing.T) {
	if got, ok := mint.VerifyToken([]byte(oldToken), 0); !ok || got != someClaims {
		t.Errorf("%+v, %v; a new one is %s", got, ok, mint.AppendToken(nil, &someClaims))
	}
}

func FuzzRead(f *testing.F) {
	token := []byte(oldToken) // the fuzzer's processes must have the same one
	f.Add(token, int64(0))
	f.Add(token[:40], int64(0))
	f.Add([]byte("ppt_"+strings.Repeat("A", Length-4)), noon)
	f.Add([]byte("ppt_"+strings.Repeat("\n", Length-4)), noon)
	f.Fuzz(func(t *testing.T, data []byte, now int64) {
		claims, ok := mint.VerifyToken(data, now)
		if ok && (!bytes.Equal(data, token) || claims != someClaims || now >= noon) {
			t.Errorf("%q is good at %d: %+v", data, now, claims)
		}
		if !ok && claims != (Claims{}) {
			t.Errorf("%q is refused and says %+v", data, claims)
		}
	})
}
