//go:build !race

package token

import "testing"

// Each ping reads a token.
func TestReadingDoesNotAllocate(t *testing.T) {
	token := mint.AppendToken(nil, &someClaims)
	forged := append([]byte(nil), token...)
	forged[50] ^= 1
	for what, token := range map[string][]byte{"a token": token, "a forged one": forged, "none": []byte("Bearer")} {
		if n := testing.AllocsPerRun(1000, func() { mint.VerifyToken(token, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
