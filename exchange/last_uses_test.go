package exchange

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/server/admin"
)

// lastUsed returns the times of last use in a list of credentials, by hint.
func (r *testExchange) lastUsed(path string) map[string]string {
	r.t.Helper()
	type secret struct {
		Hint     string
		LastUsed *string `json:"last_used"`
	}
	listed := decode[struct {
		Keys, Tokens []secret
		Clients      []struct{ Secrets []secret }
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/"+path, ""))
	all := append(listed.Keys, listed.Tokens...)
	for _, c := range listed.Clients {
		all = append(all, c.Secrets...)
	}
	used := make(map[string]string)
	for _, s := range all {
		if used[s.Hint] = ""; s.LastUsed == nil {
			continue
		}
		used[s.Hint] = *s.LastUsed
		at, err := time.Parse(time.RFC3339, *s.LastUsed)
		if now := time.Unix(0, r.clock.Now()); err != nil || at.After(now) || at.Second() != 0 || !strings.HasSuffix(*s.LastUsed, "Z") {
			r.t.Errorf("%s: last use %s is invalid at %s: %v", path, *s.LastUsed, now.UTC(), err)
		}
	}
	return used
}

// TestKeyLastUse: only a request with the key counts. A restart keeps the time.
func TestKeyLastUse(t *testing.T) {
	t.Parallel()
	const acme, other = "suppliers/sup_acme/keys", "suppliers/sup_other/keys"
	x := start(t, newTestDir(t, baseConfig))
	second := x.createKey("sup_acme", "")
	x.checkKeys(map[string]bool{second + "x": false})
	for _, path := range []string{acme, other} {
		for hint, at := range x.lastUsed(path) {
			if at != "" {
				t.Errorf("unused key %s has the last use %s", hint, at)
			}
		}
	}
	x.checkKeys(map[string]bool{second: true})
	used := x.lastUsed(acme)
	if len(used) != 2 || used[second[:8]] == "" || used[admin.SecretPrefixHint(acmeKey)] != "" {
		t.Errorf("last uses %v, want only the second key's", used)
	}
	x = x.restart()
	if after := x.lastUsed(acme); len(after) != 2 || after[second[:8]] != used[second[:8]] || after[admin.SecretPrefixHint(acmeKey)] != "" {
		t.Errorf("last uses before a restart %v, after it %v", used, after)
	}
	x.mustAdmin(204, "DELETE", "/admin/v1/"+acme+"/"+second[:8], "")
	x = x.restart()
	if text, err := os.ReadFile(x.lastUses.path); err != nil || len(text) != 0 {
		t.Errorf("file keeps the last use of a revoked key: %q, %v", text, err)
	}
}

// TestClientSecretLastUse: a token request with the secret and each request with its tokens count.
func TestClientSecretLastUse(t *testing.T) {
	t.Parallel()
	const path = "suppliers/sup_acme/clients"
	x := start(t, newTestDir(t, oauthConfig))
	second, hint := x.createClientSecret("suppliers/sup_acme", "acme", "")
	token := x.mustToken("acme", second)
	if used := x.lastUsed(path); len(used) != 2 || used[hint] == "" {
		t.Errorf("last uses %v, want the second secret's", used)
	}
	x.stop()
	must.Succeed(t, os.Remove(x.lastUses.path))
	x = start(t, x.testDir)
	if used := x.lastUsed(path); used[hint] != "" {
		t.Errorf("last uses without the file: %v", used)
	}
	a := request(t, "POST", "http://"+x.PublicAddress()+"/v1/ping", "{", "Authorization", "Bearer "+token, "Content-Type", jsonType)
	if a.status == 401 || a.status == 403 {
		t.Fatalf("request with the token: got %d %s", a.status, a.body)
	}
	if used := x.lastUsed(path); used[hint] == "" {
		t.Errorf("use of a token is not a use of its secret: %v", used)
	}
}

// TestDamagedLastUseFile: the exchange starts with any file, and ignores lines that are damaged, in
// the future or of unknown credentials.
func TestDamagedLastUseFile(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.checkKeys(map[string]bool{acmeKey: true})
	want := x.lastUsed("suppliers/sup_acme/keys")
	x.lastUses.saveIfChanged(x.Exchange)
	content, err := os.ReadFile(x.lastUses.path)
	if err != nil || bytes.Count(content, []byte("\n")) != 1 {
		t.Fatalf("want one line in the file, got %q, %v", content, err)
	}
	if info, err := os.Stat(x.lastUses.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode is %v, want 0600: %v", info.Mode(), err)
	}
	line := strings.TrimSuffix(string(content), "\n")
	hash, minute, _ := strings.Cut(line, " ")
	never := strings.Repeat("00", 32) + " " + minute + "\n"
	for name, row := range map[string]struct {
		text  string
		known bool
	}{
		"empty":            {"", false},
		"cut":              {line[:len(line)-3], false},
		"a hash cut":       {line[2:], false},
		"no hexadecimal":   {"zz" + line[2:], false},
		"zeros":            {strings.Repeat("\x00", 4096), false},
		"one endless line": {strings.Repeat("f", 1<<20), false},
		"the future":       {hash + " 2200-01-01T00:00:00Z\n", false},
		"unknown key":      {never, false},
		"mixed":            {"\n \n" + never + "x y z\n" + line + "\n", true},
	} {
		x.stop()
		must.Succeed(t, os.WriteFile(x.lastUses.path, []byte(row.text), 0o600))
		x = start(t, x.testDir)
		for hint, at := range x.lastUsed("suppliers/sup_acme/keys") {
			if known := at != ""; known != row.known || known && at != want[hint] {
				t.Errorf("%s: %s has the last use %q, before it had %q", name, hint, at, want[hint])
			}
		}
	}
	if _, err := os.Stat(filepath.Join(x.settings.DataDir, "last-used.new")); !os.IsNotExist(err) {
		t.Errorf("temporary file is left: %v", err)
	}
}
