package projection

import (
	"strings"
	"testing"
)

// Lead sources get numbers unless they are too long, too many, or may identify a person.
func TestSources(t *testing.T) {
	s := NewSourceNumbers()
	for text, want := range map[string]bool{
		"facebook": true, " Google Ads / 2026 ": true, "größe": true, "": false, "  ": false,
		"a@b.example": false, "call 2125550142": false, "x\x00y": false, "\xff": false, strings.Repeat("x", 65): false,
	} {
		if ref := s.ref([]byte(text)); (ref > OtherSource) != want || ref == NoSource && strings.TrimSpace(text) != "" {
			t.Errorf("%q is source %d", text, ref)
		}
	}
	if s.ref([]byte("facebook")) != s.ref([]byte(" facebook")) {
		t.Error("one source has two numbers")
	}
	for i := range 2 * maxSources {
		s.ref([]byte("s" + string(rune(0x4e00+i))))
	}
	if len(s.refs) != maxSources || s.ref([]byte("one more")) != OtherSource || s.ref([]byte("facebook")) <= OtherSource {
		t.Errorf("%d sources have numbers", len(s.refs))
	}
}
