package exchange

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/server/admin"
)

// createKey creates a supplier's key. The body names the key that it replaces, if any.
func (r *testExchange) createKey(supplier, body string) string {
	r.t.Helper()
	a := r.mustAdmin(201, "POST", "/admin/v1/suppliers/"+supplier+"/keys", body)
	created := decode[struct {
		APIKey string `json:"api_key"`
		Hint   string `json:"hint"`
	}](r.t, a)
	if len(created.APIKey) < 40 || !strings.HasPrefix(created.APIKey, created.Hint) {
		r.t.Fatalf("incomplete answer with a new key: %v", a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		r.t.Error("answer with a key lacks Cache-Control: no-store")
	}
	return created.APIKey
}

// acceptsKey reports whether an API key is valid.
func (r *testExchange) acceptsKey(key string) bool {
	r.t.Helper()
	a := request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ingest", "{", "X-Api-Key", key, "Content-Type", jsonType)
	if a.status != 400 {
		a.mustFail(r.t, 401, "unauthorized")
	}
	return a.status == 400
}

func (r *testExchange) checkKeys(keys map[string]bool) {
	r.t.Helper()
	for key, want := range keys {
		if got := r.acceptsKey(key); got != want {
			r.t.Errorf("key %.12s… is valid: %v, want %v", key, got, want)
		}
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	second := x.createKey("sup_acme", "")
	x.checkKeys(map[string]bool{acmeKey: true, second: true})
	third := x.createKey("sup_acme", replacesBody(admin.SecretPrefixHint(acmeKey)))
	x.checkKeys(map[string]bool{acmeKey: false, second: true, third: true, otherKey: true})
	x = x.restart()
	x.checkKeys(map[string]bool{acmeKey: false, second: true, third: true, otherKey: true})
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+third[:8], "")
	x.checkKeys(map[string]bool{acmeKey: false, second: true, third: false})
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+third[:8], "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_other/keys/"+second[:8], "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "POST", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "GET", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+second[:8], "")
	x.checkKeys(map[string]bool{acmeKey: false, second: false, third: false, otherKey: true})
	x.mustReload()
	x = x.restart()
	x.checkKeys(map[string]bool{acmeKey: false, second: false, third: false, otherKey: true})
	if a := x.mustAdmin(200, "GET", "/admin/v1/suppliers/sup_acme/keys", ""); a.body != `{"keys":[]}`+"\n" {
		t.Errorf("unexpected list of keys: %v", a.body)
	}
}

// replacesBody is a body that names the secret to replace.
func replacesBody(hint string) string { return `{"replaces":"` + hint + `"}` }

// confirmationRequired is the answer to a rotation that must name the secret to end.
type confirmationRequired struct {
	Error, Message string
	Live           []struct {
		Hint     string
		Since    string
		LastUsed *string `json:"last_used"`
		Previous *bool
	}
}

// mustRequireConfirmation rotates without the name of a valid secret. It returns the answer and its
// hints.
func (r *testExchange) mustRequireConfirmation(path, body string) (question confirmationRequired, hints string) {
	r.t.Helper()
	question = decode[confirmationRequired](r.t, r.mustAdmin(409, "POST", path, body))
	if question.Error != "confirmation_required" || !strings.Contains(question.Message, "replaces") {
		r.t.Errorf("unexpected error: %+v", question)
	}
	for _, live := range question.Live {
		hints += live.Hint + " "
	}
	return question, hints
}

// TestThirdKeyNeedsConfirmation: with two valid keys, a third one replaces the key that the
// operator names. Without a name the answer lists both keys with their last use.
func TestThirdKeyNeedsConfirmation(t *testing.T) {
	t.Parallel()
	const path = "/admin/v1/suppliers/sup_acme/keys"
	x := start(t, newTestDir(t, baseConfig))
	second := x.createKey("sup_acme", "")
	x.checkKeys(map[string]bool{acmeKey: true})
	first := admin.SecretPrefixHint(acmeKey)
	for _, body := range []string{"", "{}", replacesBody(""), replacesBody("key_none")} {
		question, hints := x.mustRequireConfirmation(path, body)
		if hints != first+" "+second[:8]+" " || question.Live[0].LastUsed == nil || question.Live[1].LastUsed != nil || question.Live[1].Since == "" {
			t.Errorf("unexpected keys in the confirmation after body %s: %+v", body, question)
		}
	}
	x.mustAdmin(400, "POST", path, "null").mustFail(t, 400, "malformed_json")
	x.mustAdmin(422, "POST", path, `{"replaces":7}`).mustFail(t, 422, "invalid_payload")
	x.checkKeys(map[string]bool{acmeKey: true, second: true})
	third := x.createKey("sup_acme", replacesBody(second[:8])) // the first one stays
	x.checkKeys(map[string]bool{acmeKey: true, second: false, third: true})
	x.mustAdmin(204, "DELETE", path+"/"+third[:8], "")
	fourth := x.createKey("sup_acme", replacesBody(first))
	x.checkKeys(map[string]bool{acmeKey: false, third: false, fourth: true})
	a := x.mustAdmin(422, "POST", path, replacesBody(first)) // it is revoked already
	if a.mustFail(t, 422, "invalid_payload"); !strings.Contains(a.body, `"field":"replaces"`) || !strings.Contains(a.body, "the hint of a valid key or secret: "+fourth[:8]) {
		t.Errorf("replacement of a revoked key: %v", a.body)
	}
	x.checkKeys(map[string]bool{acmeKey: false, fourth: true})
}

// TestRemovedSupplierKeyIsInvalid: until the supplier is in the configuration again.
func TestRemovedSupplierKeyIsInvalid(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.reloadWith(strings.Replace(strings.Replace(baseConfig, "  - {id: sup_other, api_key: \"${OTHER_KEY}\", ingest_rate: 1000000}\n", "", 1), "    suppliers: [sup_other]\n", "", 1))
	x.checkKeys(map[string]bool{acmeKey: true, otherKey: false})
	x.reloadWith(baseConfig)
	x.checkKeys(map[string]bool{otherKey: true})
}

func TestUnknownKeysAreRejected(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.checkKeys(map[string]bool{
		"": false, "x": false, acmeKey + "x": false, acmeKey[:len(acmeKey)-1]: false, strings.ToUpper(acmeKey): false,
		strings.Repeat("k", 513): false, strings.Repeat("k", 9000): false, adminPassword: false, " " + acmeKey: true,
	})
	for name, header := range map[string]string{"a bearer": "Authorization: Bearer " + acmeKey, "a query": "X-Odd: 1"} {
		w := dial(t, x.PublicAddress())
		w.send(strings.Replace(strings.Replace(ingestRequest(leadBody(1)), "X-Api-Key: "+acmeKey, header, 1), "/ingest", "/ingest?x-api-key="+acmeKey, 1))
		if a := w.readAnswer("POST"); a.status != 401 {
			t.Errorf("key as %s: got %d", name, a.status)
		}
	}
}

// TestSecretsAreNotStoredInPlaintext searches all files of an exchange for its secrets.
func TestSecretsAreNotStoredInPlaintext(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "states: [CA, NV]", `endpoint: "http://127.0.0.1:1", auth: {bearer: "${BLUE_TOKEN}"}`, 1)
	x := start(t, newTestDir(t, config))
	created := x.createKey("sup_other", "")
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"canary-second-secret"}`)
	checkNoFileContains(t, x.dataDir(), created, "canary")
	x.stop()
	checkNoFileContains(t, x.dataDir(), created, "canary")
}

// readFiles returns the contents of all files below a folder.
func readFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	contents, size := make(map[string][]byte), 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents[path], err = os.ReadFile(path)
		size += len(contents[path])
		return err
	})
	if err != nil || size < 10_000 {
		t.Fatalf("%d bytes are too few for an exchange's folder: %v", size, err)
	}
	return contents
}

// checkNoFileContains checks that no file below a folder contains one of the words, in any case.
func checkNoFileContains(t testing.TB, dir string, words ...string) {
	t.Helper()
	for path, data := range readFiles(t, dir) {
		lower := lowerASCII(data)
		for _, word := range words {
			if bytes.Contains(lower, lowerASCII([]byte(word))) {
				t.Errorf("%s contains %q", path, word)
			}
		}
	}
}

// lowerASCII returns a copy of the text with lower-case ASCII letters. The files have megabytes, and
// the race detector would check the access to each byte.
//
//go:norace
func lowerASCII(text []byte) []byte {
	lower := bytes.Clone(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return lower
}
