package projection

import (
	"strings"
	"testing"
)

// TestSourceNumbers: sources get no number if they are too long, too many, or may identify a person.
func TestSourceNumbers(t *testing.T) {
	s := NewLeadSourceNumbering()
	for text, want := range map[string]bool{
		"facebook": true, " Google Ads / 2026 ": true, "größe": true, "": false, "  ": false,
		"a@b.example": false, "call 2125550142": false, "x\x00y": false, "\xff": false, strings.Repeat("x", 65): false,
	} {
		if ref := s.findOrAssignNumber([]byte(text)); (ref > OtherSource) != want || ref == NoSource && strings.TrimSpace(text) != "" {
			t.Errorf("source %q has the number %d", text, ref)
		}
	}
	if s.findOrAssignNumber([]byte("facebook")) != s.findOrAssignNumber([]byte(" facebook")) {
		t.Error("the same source has two numbers")
	}
	for i := range 2 * maxSources {
		s.findOrAssignNumber([]byte("s" + string(rune(0x4e00+i))))
	}
	if len(s.refs) != maxSources || s.findOrAssignNumber([]byte("one more")) != OtherSource || s.findOrAssignNumber([]byte("facebook")) <= OtherSource {
		t.Errorf("%d sources have numbers", len(s.refs))
	}
}
