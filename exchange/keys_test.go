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

// newKey makes a key for a supplier. The body names the key that it replaces, if any.
func (r *running) newKey(supplier, body string) string {
	r.t.Helper()
	a := r.must(201, "POST", "/admin/v1/suppliers/"+supplier+"/keys", body)
	made := decode[struct {
		APIKey string `json:"api_key"`
		Hint   string `json:"hint"`
	}](r.t, a)
	if len(made.APIKey) < 40 || !strings.HasPrefix(made.APIKey, made.Hint) {
		r.t.Fatal(a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		r.t.Error("a key may be kept by a cache")
	}
	return made.APIKey
}

// opens tells whether a key is good.
func (r *running) opens(key string) bool {
	r.t.Helper()
	a := request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ingest", "{", "X-Api-Key", key, "Content-Type", typeIsOwn)
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
	x.must(404, "POST", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
	x.must(404, "GET", "/admin/v1/suppliers/sup_none/keys", "").mustFail(t, 404, "not_found")
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+second[:8], "")
	x.wantOpen(map[string]bool{acmeKey: false, second: false, third: false, otherKey: true})
	x.mustReload()
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

// TestGoneSupplier: whose supplier has left the configuration opens nothing,
// and does again when it is back.
func TestGoneSupplier(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.reloadWith(strings.Replace(strings.Replace(recorded, "  - {id: sup_other, api_key: \"${OTHER_KEY}\", ingest_rate: 1000000}\n", "", 1), "    suppliers: [sup_other]\n", "", 1))
	x.wantOpen(map[string]bool{acmeKey: true, otherKey: false})
	x.reloadWith(recorded)
	x.wantOpen(map[string]bool{otherKey: true})
}

func TestNobodysKeys(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.wantOpen(map[string]bool{
		"": false, "x": false, acmeKey + "x": false, acmeKey[:len(acmeKey)-1]: false, strings.ToUpper(acmeKey): false,
		strings.Repeat("k", 513): false, strings.Repeat("k", 9000): false, password: false, " " + acmeKey: true,
	})
	for name, header := range map[string]string{"a bearer": "Authorization: Bearer " + acmeKey, "a query": "X-Odd: 1"} {
		w := dial(t, x.PublicAddress())
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
	hasNone(t, x.data(), made, "canary")
	x.stop()
	hasNone(t, x.data(), made, "canary")
}

// files are all files below a folder.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	found, size := make(map[string][]byte), 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(path)
		size += len(found[path])
		return err
	})
	if err != nil || size < 10_000 {
		t.Fatalf("%d bytes: this is not an exchange's folder: %v", size, err)
	}
	return found
}

// hasNone sees that no file below a folder has one of the words in it, in any case.
func hasNone(t testing.TB, dir string, words ...string) {
	t.Helper()
	for path, data := range files(t, dir) {
		for _, word := range words {
			if bytes.Contains(bytes.ToLower(data), bytes.ToLower([]byte(word))) {
				t.Errorf("%s has %q in it", path, word)
			}
		}
	}
}
