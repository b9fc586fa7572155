package vuln

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// object is a JSON object that is written here.
type object map[string]any

const when = "2026-01-01T00:00:00Z"

// advisory is one that nobody has published.
type advisory struct {
	id, module, symbol string
}

// database is a folder with one advisory, as https://go.dev/doc/security/vuln/database
// lays them out; its address.
func (a *advisory) database(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]any{
		"index/db.json":      object{"modified": when},
		"index/modules.json": []object{{"path": a.module, "vulns": []object{{"id": a.id, "modified": when}}}},
		"index/vulns.json":   []object{{"id": a.id, "modified": when}},
		"ID/" + a.id + ".json": object{
			"schema_version": "1.3.1", "id": a.id, "modified": when, "published": when,
			"summary": "a made-up hole in " + a.module, "details": "It is there to be found.",
			"affected": []object{{
				"package":            object{"name": a.module, "ecosystem": "Go"},
				"ranges":             []object{{"type": "SEMVER", "events": []object{{"introduced": "0"}}}},
				"ecosystem_specific": object{"imports": []object{{"path": a.module, "symbols": []string{a.symbol}}}},
			}},
			"database_specific": object{"url": "https://pkg.go.dev/vuln/" + a.id, "review_status": "REVIEWED"},
		},
	} {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir)
}

// makes runs `make vuln` against a database, as somebody would at a prompt: what a make
// around this one was told is not for it.
func makes(t *testing.T, database string) (said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "vuln", "ARGS=-db="+database)
	cmd.Dir = root
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=")
	})
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("make vuln: %v\n%s", err, out)
	}
	said = string(out)
	if strings.Contains(said, "cannot be brought here") {
		t.Skip(strings.TrimSpace(said))
	}
	return said, cmd.ProcessState.ExitCode()
}

func TestVulnFinds(t *testing.T) {
	if os.Getenv("VULN_FINDS") == "" {
		t.Skip("it looks at the whole program several times: make vuln-finds")
	}
	const http = "github.com/valyala/fasthttp"
	for _, try := range []struct {
		name string
		advisory
		fails bool
		says  []string
	}{
		{"a function that is called", advisory{"GO-2099-0001", http, "Server.Serve"}, true, []string{
			"GO-2099-0001", "a made-up hole in " + http, "Your code is affected by 1 vulnerability", "fasthttp.Server.Serve",
		}},
		{"a function that nobody calls", advisory{"GO-2099-0002", http, "SaveMultipartFile"}, false, []string{
			"Your code is affected by 0 vulnerabilities", "1 vulnerability in packages you import",
		}},
	} {
		t.Run(try.name, func(t *testing.T) {
			said, code := makes(t, try.database(t))
			if (code != 0) != try.fails {
				t.Errorf("make vuln ended with %d", code)
			}
			for _, want := range try.says {
				if !strings.Contains(said, want) {
					t.Errorf("nothing of %q", want)
				}
			}
			if t.Failed() {
				t.Logf("it said:\n%s", said)
			}
		})
	}
	t.Run("a database that is none", func(t *testing.T) {
		if said, code := makes(t, "file://"+filepath.ToSlash(t.TempDir())+"/nowhere"); code == 0 {
			t.Errorf("make vuln passes without a database:\n%s", said)
		}
	})
}
