//go:build !race

package token

import "testing"

// TestVerifyTokenDoesNotAllocate: each ping verifies a token.
func TestVerifyTokenDoesNotAllocate(t *testing.T) {
	token := mint.AppendSealedToken(nil, &testClaims)
	forged := append([]byte(nil), token...)
	forged[50] ^= 1
	for name, token := range map[string][]byte{"valid": token, "forged": forged, "no token": []byte("Bearer")} {
		if n := testing.AllocsPerRun(1000, func() { mint.OpenUnexpiredToken(token, 0) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}
