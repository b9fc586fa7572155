package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/engine/state"
)

func TestIsDry(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "dry=0": false, "dry=false": false, "dry=no": false, "wet=1": false,
		"dry": true, "dry=": true, "dry=1": true, "dry=true": true, "dry=TRUE": true, "dry=please": true,
	} {
		var args fasthttp.Args
		args.Parse(query)
		if got := isDryRun(&args); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// A new key has an unused hint, even if most hints are in use.
func TestNewKeyHasUnusedHint(t *testing.T) {
	var live []state.Credential
	for i := range 16 * 16 * 16 * 15 {
		live = append(live, state.Credential{Hint: fmt.Sprintf("key_%04x", i)})
	}
	key := newSecretWithUniqueHint("key_", live)
	if len(key) != 52 || !strings.HasPrefix(key, "key_f") {
		t.Error(key[:8])
	}
}
