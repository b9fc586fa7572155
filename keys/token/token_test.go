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

var testClaims = Claims{Owner: event.ObjectSupplier, Ref: 7, Scopes: event.ScopePing | event.ScopePost, Secret: [32]byte{9, 31: 8}, Expires: noon}

func TestTokenRoundTripsClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := Claims{
			Owner:   event.ConfigObjectKind(rapid.Uint8().Draw(t, "owner")),
			Ref:     market.PermanentNumber(rapid.Uint32().Draw(t, "ref")),
			Scopes:  event.OAuthScopes(rapid.Uint8().Draw(t, "scopes")),
			Secret:  [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret")),
			Expires: rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "expires"),
		}
		before := rapid.SliceOf(rapid.Byte()).Draw(t, "before")
		token := mint.AppendSealedToken(before, &claims)
		if !bytes.HasPrefix(token, before) {
			t.Fatal("AppendToken changed the prefix")
		}
		token = token[len(before):]
		if got, ok := mint.OpenUnexpiredToken(token, claims.Expires-1); !ok || got != claims {
			t.Fatalf("issued %+v\ngot    %+v, %t", claims, got, ok)
		}
		if _, ok := other.OpenUnexpiredToken(token, claims.Expires-1); ok {
			t.Fatal("another key verifies the token")
		}
		again := mint.AppendSealedToken(nil, &claims)
		if bytes.Equal(again, token) {
			t.Fatal("two tokens of the same claims are equal")
		}
	})
}

func TestTokenFormat(t *testing.T) {
	token := string(mint.AppendSealedToken(nil, &testClaims))
	if len(token) != Length || Length > 200 || !strings.HasPrefix(token, "ppt_") {
		t.Errorf("token of %d characters or without prefix: %s", len(token), token)
	}
	if strings.ContainsFunc(token, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		t.Errorf("the token has characters invalid in a header: %q", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(token[len(prefix):])
	if err != nil || bytes.Contains(raw, testClaims.Secret[:4]) {
		t.Errorf("%v: the token shows its claims: %x", err, raw)
	}
}

func TestTokenExpires(t *testing.T) {
	token := mint.AppendSealedToken(nil, &testClaims)
	for now, want := range map[int64]bool{noon - 1: true, noon: false, noon + 1: false, 0: true, math.MaxInt64: false} {
		if _, ok := mint.OpenUnexpiredToken(token, now); ok != want {
			t.Errorf("%d ns after expiry: valid %t", now-noon, ok)
		}
	}
}

// TestModifiedTokenIsRejected flips each bit and removes, doubles and inserts characters.
func TestModifiedTokenIsRejected(t *testing.T) {
	token := mint.AppendSealedToken(nil, &testClaims)
	isValid := func(token []byte) bool { _, ok := mint.OpenUnexpiredToken(token, 0); return ok }
	if !isValid(token) {
		t.Fatal("the unmodified token is rejected")
	}
	for i := range token {
		for bit := range 8 {
			modified := bytes.Clone(token)
			modified[i] ^= 1 << bit
			if isValid(modified) {
				t.Errorf("flipped bit %d of character %d is accepted: %s", bit, i, modified)
			}
		}
		without := append(bytes.Clone(token[:i]), token[i+1:]...)
		if isValid(without) || isValid(token[:i]) || isValid(token[i+1:]) {
			t.Errorf("the token without character %d is accepted", i)
		}
		for _, added := range []byte{token[i], '\n', '\r', '=', 'A', 0} {
			longer := append(append(bytes.Clone(token[:i]), added), token[i:]...)
			cut := longer[:len(token)]
			if isValid(longer) || isValid(cut) && !bytes.Equal(cut, token) {
				t.Errorf("the token with %q before character %d is accepted", added, i)
			}
		}
	}
	for _, modified := range []string{"", "ppt_", string(token) + "=", string(token) + " ", strings.ToUpper(string(token)), strings.ToLower(string(token))} {
		if isValid([]byte(modified)) {
			t.Errorf("%q is accepted", modified)
		}
	}
}

// TestMixedTokenIsRejected joins the halves of two valid tokens.
func TestMixedTokenIsRejected(t *testing.T) {
	otherClaims := testClaims
	otherClaims.Scopes |= event.ScopeWebhook
	a, b := mint.AppendSealedToken(nil, &testClaims), mint.AppendSealedToken(nil, &otherClaims)
	for i := 1; i < Length; i++ {
		mixed := append(bytes.Clone(a[:i]), b[i:]...)
		if bytes.Equal(mixed, a) || bytes.Equal(mixed, b) {
			continue
		}
		if _, ok := mint.OpenUnexpiredToken(mixed, 0); ok {
			t.Errorf("the first %d characters of one token with the rest of another are accepted", i)
		}
	}
}

// oldToken was issued by an earlier program with the same key and claims. It stays valid,
// so an upgrade ends no session.
const oldToken = "ppt_ZpkHOsMhjHsCvQ3wYQwK8_TrGuYS6MFLlO1qs4Zyld12qXEdjcKotskTJJRoAT3LFQHWZdSmmag78xkHrXxbPAlq347eph08v4ao"

func TestTokenOfEarlierProgramIsAccepted(t *testing.T) {
	if got, ok := mint.OpenUnexpiredToken([]byte(oldToken), 0); !ok || got != testClaims {
		t.Errorf("claims %+v, %t; a new token is %s", got, ok, mint.AppendSealedToken(nil, &testClaims))
	}
}

func FuzzRead(f *testing.F) {
	token := []byte(oldToken) // must be the same in all fuzz processes
	f.Add(token, int64(0))
	f.Add(token[:40], int64(0))
	f.Add([]byte("ppt_"+strings.Repeat("A", Length-4)), noon)
	f.Add([]byte("ppt_"+strings.Repeat("\n", Length-4)), noon)
	f.Fuzz(func(t *testing.T, data []byte, now int64) {
		claims, ok := mint.OpenUnexpiredToken(data, now)
		if ok && (!bytes.Equal(data, token) || claims != testClaims || now >= noon) {
			t.Errorf("%q is accepted at %d: %+v", data, now, claims)
		}
		if !ok && claims != (Claims{}) {
			t.Errorf("%q is rejected, but returns the claims %+v", data, claims)
		}
	})
}
