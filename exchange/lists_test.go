package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/engine/market"
)

// TestListFiles: a list's file has to be one that ends.
func TestListFiles(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("+12125550123\n# none\n\n+12125550124\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(plain, link); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ path, want string }{
		"plain":        {plain, ""},
		"a link to it": {link, ""},
		"none":         {filepath.Join(dir, "none"), "no such file"},
		"a folder":     {dir, "not a regular file"},
		"a device":     {os.DevNull, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			list := &market.SuppressionList{ID: "dnc", Field: market.ListPhone, Hash: market.HashPlain}
			table, _, err := importSuppressionList(t.TempDir(), list, new([32]byte), row.path)
			if row.want == "" {
				if err != nil || table.Len() != 2 {
					t.Errorf("%v, %v", table, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), `"dnc"`) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}
