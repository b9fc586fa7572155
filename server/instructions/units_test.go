package instructions

import (
	"strings"
	"testing"
)

func TestUnits(t *testing.T) {
	for size, want := range map[int]string{999: "999 bytes", 999_960: "1 MB (999,960 bytes)", 65_536: "65.5 KB (65,536 bytes)", 1_572_864: "1.6 MB (1,572,864 bytes)", 2_000_000: "2 MB (2,000,000 bytes)"} {
		if got := formatSize(size); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
	for text, want := range map[string]string{"30d": "30 days", "1d12h": "1 day 12 hours", "1m0s": "1 minute 0 seconds", "1.5s": "1.5s", "": ""} {
		if got := spellDuration(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The supplier's page has no sentence for the operator.
func TestPageHasNoSentenceForOperator(t *testing.T) {
	d := hostileDocument(t)
	d.BaseURLSet = false
	d.Retention[pathIngest] = "30d"
	text := string(d.AppendHTML(nil, nil))
	if strings.Contains(text, "public_url") || !strings.Contains(text, "Ask the operator whether") || !strings.Contains(text, "for 30 days") {
		t.Errorf("%.2000s", text)
	}
}
