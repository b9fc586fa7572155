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

// lastUsed is what an owner's listing says of each credential, by how it begins.
func (r *running) lastUsed(path string) map[string]string {
	r.t.Helper()
	type secret struct {
		Hint     string
		LastUsed *string `json:"last_used"`
	}
	listed := decode[struct {
		Keys, Tokens []secret
		Clients      []struct{ Secrets []secret }
	}](r.t, r.must(200, "GET", "/admin/v1/"+path, ""))
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
			r.t.Errorf("%s: a key was used at %s; it is %s: %v", path, *s.LastUsed, now.UTC(), err)
		}
	}
	return used
}

// TestLastUsed: a key is used by a request that shows it, and by no other; after a
// restart it is known still.
func TestLastUsed(t *testing.T) {
	const acme, other = "suppliers/sup_acme/keys", "suppliers/sup_other/keys"
	x := start(t, newPlace(t, recorded))
	second := x.newKey("sup_acme", "")
	x.wantOpen(map[string]bool{second + "x": false})
	for _, path := range []string{acme, other} {
		for hint, at := range x.lastUsed(path) {
			if at != "" {
				t.Errorf("%s, which nobody showed, was used at %s", hint, at)
			}
		}
	}
	x.wantOpen(map[string]bool{second: true})
	used := x.lastUsed(acme)
	if len(used) != 2 || used[second[:8]] == "" || used[admin.KeyHint(acmeKey)] != "" {
		t.Errorf("one of two keys was used: %v", used)
	}
	x = x.again()
	if after := x.lastUsed(acme); len(after) != 2 || after[second[:8]] != used[second[:8]] || after[admin.KeyHint(acmeKey)] != "" {
		t.Errorf("before a restart %v, after it %v", used, after)
	}
	x.must(204, "DELETE", "/admin/v1/"+acme+"/"+second[:8], "")
	x = x.again()
	if text, err := os.ReadFile(x.lastUses.path); err != nil || len(text) != 0 {
		t.Errorf("of a key that has ended there is kept %q, %v", text, err)
	}
}

// TestLastUsedOfClients: a secret is used where a token is asked for by it, and with
// each request that shows such a token.
func TestLastUsedOfClients(t *testing.T) {
	const path = "suppliers/sup_acme/clients"
	x := start(t, newPlace(t, traded))
	second, hint := x.newSecret("suppliers/sup_acme", "acme", "")
	token := x.token("acme", second)
	if used := x.lastUsed(path); len(used) != 2 || used[hint] == "" {
		t.Errorf("a token was given for one secret of two: %v", used)
	}
	x.stop()
	must.Succeed(t, os.Remove(x.lastUses.path))
	x = start(t, x.place)
	if used := x.lastUsed(path); used[hint] != "" {
		t.Errorf("without the file it is known when secrets were used: %v", used)
	}
	a := request(t, "POST", "http://"+x.PublicAddress()+"/v1/ping", "{", "Authorization", "Bearer "+token, "Content-Type", typeIsOwn)
	if a.status == 401 || a.status == 403 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if used := x.lastUsed(path); used[hint] == "" {
		t.Errorf("the token of a secret was used: %v", used)
	}
}

// TestLastUsedDamaged: whatever the file has become, an exchange starts, and believes
// no line that is damaged, in the future, or of a credential that there is not.
func TestLastUsedDamaged(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.wantOpen(map[string]bool{acmeKey: true})
	want := x.lastUsed("suppliers/sup_acme/keys")
	x.lastUses.saveIfChanged(x.Exchange)
	good, err := os.ReadFile(x.lastUses.path)
	if err != nil || bytes.Count(good, []byte("\n")) != 1 {
		t.Fatalf("%q, %v", good, err)
	}
	if info, err := os.Stat(x.lastUses.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	line := strings.TrimSuffix(string(good), "\n")
	hash, minute, _ := strings.Cut(line, " ")
	never := strings.Repeat("00", 32) + " " + minute + "\n"
	for what, row := range map[string]struct {
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
		"nobody's":         {never, false},
		"mixed":            {"\n \n" + never + "x y z\n" + line + "\n", true},
	} {
		x.stop()
		must.Succeed(t, os.WriteFile(x.lastUses.path, []byte(row.text), 0o600))
		x = start(t, x.place)
		for hint, at := range x.lastUsed("suppliers/sup_acme/keys") {
			if known := at != ""; known != row.known || known && at != want[hint] {
				t.Errorf("%s: %s was used at %q, and that was %q", what, hint, at, want[hint])
			}
		}
	}
	if _, err := os.Stat(filepath.Join(x.settings.DataDir, "last-used.new")); !os.IsNotExist(err) {
		t.Errorf("something unfinished is left: %v", err)
	}
}
