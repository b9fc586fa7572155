package request

import (
	"testing"
)

func TestBasicAuth(t *testing.T) {
	for header, want := range map[string]string{
		"Basic dTpw": "u p", "basic  dTpw ": "u p", "Basic dTo6cDo=": "u :p:", "Basic Og==": " ", "Basic dQ==": "no", "Basic": "no", "": "no", "Bearer dTpw": "no", "Basic ?": "no",
	} {
		got := "no"
		if user, password, ok := ParseBasicAuth(header); ok {
			got = user + " " + password
		}
		if got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
