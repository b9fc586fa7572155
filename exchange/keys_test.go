package exchange

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/server/admin"
)

// newKey makes a key for a supplier. The body names the key that it replaces, if any.
func (r *running) newKey(supplier, body string) string {
	r.t.Helper()
	a := r.must(201, "POST", "/admin/v1/suppliers/"+supplier+"/keys", body)
	var made struct {
		APIKey string `json:"api_key"`
		Hint   string `json:"hint"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || len(made.APIKey) < 40 || !strings.HasPrefix(made.APIKey, made.Hint) {
		r.t.Fatalf("%v: %s", err, a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		r.t.Error("a key may be kept by a cache")
	}
	return made.APIKey
}

// opens tells whether a key is good.
func (r *running) opens(key string) bool {
	r.t.Helper()
	a := request(r.t, "POST", "http://"+r.Addr()+"/api/v1/ingest", "{", "X-Api-Key", key, "Content-Type", typeIsOwn)
	if a.status != 400 {
		a.mustFail(r.t, 401, "unauthorized")
	}
	return a.status == 400
}

func (r *running) wantOpen(keys map[string]bool) {
	r.t.Helper()
	for key, want := range keys {
		if got := r.opens(key); got != want {
			r.t.Errorf("the key that begins with %.12s opens: %v, want %v", key, got, want)
		}
	}
}

func TestKeyRotation(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	second := x.newKey("sup_acme", "")
	x.wantOpen(map[string]bool{acmeKey: true, second: true})
	third := x.newKey("sup_acme", replacing(admin.KeyHint(acmeKey)))
	x.wantOpen(map[string]bool{acmeKey: false, second: true, third: true, otherKey: true})
	x = x.again()
	x.wantOpen(map[string]bool{acmeKey: false, second: true, third: true, otherKey: true})
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+third[:8], "")
	x.wantOpen(map[string]bool{acmeKey: false, second: true, third: false})
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+third[:8], "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_other/keys/"+second[:8], "").mustFail(t, 404, "not_found")
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+second[:8], "")
	x.wantOpen(map[string]bool{acmeKey: false, second: false, third: false, otherKey: true})
	if err := x.Reload(); err != nil {
		t.Fatal(err)
	}
	x = x.again()
	x.wantOpen(map[string]bool{acmeKey: false, second: false, third: false, otherKey: true})
	if a := x.must(200, "GET", "/admin/v1/suppliers/sup_acme/keys", ""); a.body != `{"keys":[]}`+"\n" {
		t.Error(a.body)
	}
}

// replacing is a body that names the secret that a new one ends.
func replacing(hint string) string { return `{"replaces":"` + hint + `"}` }

// unconfirmed is the answer to a rotation that would end a live secret without its name.
type unconfirmed struct {
	Error, Message string
	Live           []struct {
		Hint     string
		Since    string
		LastUsed *string `json:"last_used"`
		Previous *bool
	}
}

// mustAsk rotates without the name of a live secret. It returns the question, and its hints.
func (r *running) mustAsk(path, body string) (asked unconfirmed, hints string) {
	r.t.Helper()
	asked = decode[unconfirmed](r.t, r.must(409, "POST", path, body))
	if asked.Error != "confirmation_required" || !strings.Contains(asked.Message, "replaces") {
		r.t.Errorf("%+v", asked)
	}
	for _, live := range asked.Live {
		hints += live.Hint + " "
	}
	return asked, hints
}

// TestASecondRotationAsks: two keys are live. A third one ends the key that the operator
// names, and no other. Without a name the answer shows both keys with their last use.
func TestASecondRotationAsks(t *testing.T) {
	const path = "/admin/v1/suppliers/sup_acme/keys"
	x := start(t, newPlace(t, recorded))
	second := x.newKey("sup_acme", "")
	x.wantOpen(map[string]bool{acmeKey: true})
	first := admin.KeyHint(acmeKey)
	for _, body := range []string{"", "{}", replacing(""), replacing("key_none")} {
		asked, hints := x.mustAsk(path, body)
		if hints != first+" "+second[:8]+" " || asked.Live[0].LastUsed == nil || asked.Live[1].LastUsed != nil || asked.Live[1].Since == "" {
			t.Errorf("%s: %+v", body, asked)
		}
	}
	x.must(400, "POST", path, "null").mustFail(t, 400, "malformed_json")
	x.must(422, "POST", path, `{"replaces":7}`).mustFail(t, 422, "invalid_payload")
	x.wantOpen(map[string]bool{acmeKey: true, second: true})
	third := x.newKey("sup_acme", replacing(second[:8])) // the first one is in use, and stays
	x.wantOpen(map[string]bool{acmeKey: true, second: false, third: true})
	x.must(204, "DELETE", path+"/"+third[:8], "")
	fourth := x.newKey("sup_acme", replacing(first))
	x.wantOpen(map[string]bool{acmeKey: false, third: false, fourth: true})
	fifth := x.newKey("sup_acme", replacing(first)) // which has ended already
	x.wantOpen(map[string]bool{fourth: true, fifth: true})
}

// TestHintsTellKeysApart: an operator names a key by how it begins, so no two
// live keys of a supplier begin alike.
func TestHintsTellKeysApart(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.newKey("sup_acme", "")
	oldest := admin.KeyHint(acmeKey)
	for range 30 {
		x.newKey("sup_acme", replacing(oldest))
		var listed struct {
			Keys []struct{ Hint, Since string } `json:"keys"`
		}
		a := x.must(200, "GET", "/admin/v1/suppliers/sup_acme/keys", "")
		if err := json.Unmarshal([]byte(a.body), &listed); err != nil || len(listed.Keys) != 2 || listed.Keys[0].Hint == listed.Keys[1].Hint || listed.Keys[0].Since == "" {
			t.Fatalf("%v %s", err, a.body)
		}
		oldest = listed.Keys[0].Hint
	}
	x.must(404, "POST", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
	x.must(404, "GET", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
}

// TestFirstKeyOnly: a key in the file is the first value and no more.
func TestFirstKeyOnly(t *testing.T) {
	p := newPlace(t, recorded)
	x := start(t, p)
	changed := strings.Replace(recorded, `"${ACME_KEY}"`, `second-key-of-a-canary`, 1)
	p.write(t, changed)
	if err := x.Reload(); err != nil {
		t.Fatal(err)
	}
	x.wantOpen(map[string]bool{acmeKey: true, "second-key-of-a-canary": false})
	x = x.again()
	x.wantOpen(map[string]bool{acmeKey: true, "second-key-of-a-canary": false})
}

// TestGoneSupplier: whose supplier has left the configuration opens nothing,
// and does again when it is back.
func TestGoneSupplier(t *testing.T) {
	p := newPlace(t, recorded)
	x := start(t, p)
	p.write(t, strings.Replace(strings.Replace(recorded, "  - {id: sup_other, api_key: \"${OTHER_KEY}\", ingest_rate: 1000000}\n", "", 1), "    suppliers: [sup_other]\n", "", 1))
	if err := x.Reload(); err != nil {
		t.Fatal(err)
	}
	x.wantOpen(map[string]bool{acmeKey: true, otherKey: false})
	p.write(t, recorded)
	if err := x.Reload(); err != nil {
		t.Fatal(err)
	}
	x.wantOpen(map[string]bool{otherKey: true})
}

func TestNobodysKeys(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.wantOpen(map[string]bool{
		"": false, "x": false, acmeKey + "x": false, acmeKey[:len(acmeKey)-1]: false, strings.ToUpper(acmeKey): false,
		strings.Repeat("k", 513): false, strings.Repeat("k", 9000): false, password: false, " " + acmeKey: true,
	})
	for name, header := range map[string]string{"a bearer": "Authorization: Bearer " + acmeKey, "a query": "X-Odd: 1"} {
		w := dial(t, x.Addr())
		w.say(strings.Replace(strings.Replace(post(lead(1)), "X-Api-Key: "+acmeKey, header, 1), "/ingest", "/ingest?x-api-key="+acmeKey, 1))
		if a := w.next("POST"); a.status != 401 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
}

// TestNoSecretOnTheDisk looks for every secret, as it is, in every file that the
// exchange wrote.
func TestNoSecretOnTheDisk(t *testing.T) {
	config := strings.Replace(recorded, "states: [CA, NV]", `endpoint: "http://127.0.0.1:1", auth: {bearer: "${BLUE_TOKEN}"}`, 1)
	x := start(t, newPlace(t, config))
	made := x.newKey("sup_other", "")
	x.must(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"canary-second-secret"}`)
	look := func(when string) {
		for path, data := range files(t, x.data()) {
			for _, secret := range []string{acmeKey, otherKey, made, bearer, password, "canary"} {
				if bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s: %s holds %q", when, path, secret)
				}
			}
		}
	}
	look("running")
	x.stop()
	look("stopped")
}

// files are all files below a folder.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 {
		t.Fatalf("%d files: this is not an exchange's folder", len(found))
	}
	return found
}
