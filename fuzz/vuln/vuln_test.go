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

// object is a JSON object of a database.
type object map[string]any

const when = "2026-01-01T00:00:00Z"

// advisory is an invented advisory for one function.
type advisory struct {
	id, module, symbol string
}

// writeDatabase writes a database with one advisory, in the layout of
// https://go.dev/doc/security/vuln/database, and returns its URL.
func (a *advisory) writeDatabase(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]any{
		"index/db.json":      object{"modified": when},
		"index/modules.json": []object{{"path": a.module, "vulns": []object{{"id": a.id, "modified": when}}}},
		"index/vulns.json":   []object{{"id": a.id, "modified": when}},
		"ID/" + a.id + ".json": object{
			"schema_version": "1.3.1", "id": a.id, "modified": when, "published": when,
			"summary": "an invented vulnerability in " + a.module, "details": "For a test.",
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

// runMake runs `make vuln` against a database, without the variables of a make that runs
// this test.
func runMake(t *testing.T, database string) (output string, code int) {
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
	output = string(out)
	if strings.Contains(output, "cannot build govulncheck") {
		t.Skip(strings.TrimSpace(output))
	}
	return output, cmd.ProcessState.ExitCode()
}

func TestVulnFinds(t *testing.T) {
	if os.Getenv("VULN_FINDS") == "" {
		t.Skip("long: make vuln-finds analyses the whole program several times")
	}
	const http = "github.com/valyala/fasthttp"
	for _, test := range []struct {
		name string
		advisory
		fails bool
		says  []string
	}{
		{"a function that is called", advisory{"GO-2099-0001", http, "Server.Serve"}, true, []string{
			"GO-2099-0001", "an invented vulnerability in " + http, "Your code is affected by 1 vulnerability", "fasthttp.Server.Serve",
		}},
		{"a function without calls", advisory{"GO-2099-0002", http, "SaveMultipartFile"}, false, []string{
			"Your code is affected by 0 vulnerabilities", "1 vulnerability in packages you import",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, code := runMake(t, test.writeDatabase(t))
			if (code != 0) != test.fails {
				t.Errorf("make vuln ended with %d", code)
			}
			for _, want := range test.says {
				if !strings.Contains(output, want) {
					t.Errorf("the output does not contain %q", want)
				}
			}
			if t.Failed() {
				t.Logf("output:\n%s", output)
			}
		})
	}
	t.Run("a missing database", func(t *testing.T) {
		if output, code := runMake(t, "file://"+filepath.ToSlash(t.TempDir())+"/nowhere"); code == 0 {
			t.Errorf("make vuln passes without a database:\n%s", output)
		}
	})
}
