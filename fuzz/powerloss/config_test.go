package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/config"
	"pingpost/internal/must"
)

// Every revision is valid and differs from the previous one.
func TestConfigDocumentIsValid(t *testing.T) {
	dir := t.TempDir()
	ends := map[string]string{"buy_fussy": "http://127.0.0.1:81", "buy_flaky": "http://127.0.0.1:82"}
	var before string
	for revision := range 4 {
		path := filepath.Join(dir, "exchange.json")
		text := configDocument(ends, "http://127.0.0.1:83", revision)
		must.Succeed(t, os.WriteFile(path, text, 0o600))
		source := must.Value(config.Load(path, os.LookupEnv))(t)
		built := must.Value(source.Compile())(t)
		if len(built.Catalog.Lists) != revision+1 {
			t.Errorf("revision %d has %d lists", revision, len(built.Catalog.Lists))
		}
		found := revisions.FindAllStringSubmatch(string(built.Canonical), -1)
		if len(found) != len(campaigns) || found[0][1] != string(rune('0'+revision)) {
			t.Errorf("revision %d bears the marks %q", revision, found)
		}
		if string(built.Canonical) == before {
			t.Errorf("revision %d is the one before", revision)
		}
		before = string(built.Canonical)
	}
}

func TestListContentsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for n := range 30 {
		text := string(suppressionListContent(n))
		if seen[text] || strings.Count(text, "\n") != 2 {
			t.Errorf("list %d: %q", n, text)
		}
		seen[text] = true
	}
}
