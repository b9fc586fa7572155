package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const circleConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}"}
trusted_networks: [127.0.0.0/8]
tenant: ${CIRCLE_TENANT}
suppliers: [{id: sup, api_key: "${SUP_API_KEY}", ingest_rate: 1000000}]
buyers:
  - {id: first, post_url: "%[1]s/first?Key=${CIRCLE_URL}", auth: {bearer: "${CIRCLE_BEARER}"}}
campaigns:
  - {id: cmp, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: first, price: 1}]}
`

// circleAdded has one more buyer, which gets every lead first.
var circleAdded = strings.NewReplacer("campaigns:\n", `  - id: added
    post_url: "%[1]s/added?Key=${CIRCLE_ADDED_URL}"
    auth: {api_key: "${CIRCLE_ADDED}"}
    secrets: [{name: key, value: "${CIRCLE_BODY}"}]
    adapter: {post: {format: form, body: "key={{secret \"key\"}}&name={{.first_name}}", answer: {accepted: ok, yes: [yes]}}}
campaigns:
`, "buyers: [{buyer: first, price: 1}]", "buyers: [{buyer: added, price: 2}, {buyer: first, price: 1}]").Replace(circleConfig)

// circleBuyers note what they are posted, and accept it.
type circleBuyers struct {
	mu   sync.Mutex
	last string
}

func (c *circleBuyers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key, _, _ := strings.Cut(string(body), "&")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = fmt.Sprint(r.URL, " ", r.Header.Get("X-Api-Key"), r.Header.Get("Authorization"))
	if r.URL.Path == "/added" {
		c.last += " " + key
		_, _ = io.WriteString(w, "ok=yes")
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{}`)
}

func (c *circleBuyers) sold(t *testing.T, public, want string) {
	t.Helper()
	mustSell(t, public, `"ACCEPTED"`)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != want {
		t.Errorf("a buyer got %q, want %q", c.last, want)
	}
}

// with runs the program with more variables than the exchange has.
func with(t *testing.T, variables []string, args ...string) said {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, variables...)
	return finished(t, cmd)
}

// TestSecretsThroughApply goes the whole way of a file with variables: diff and export
// without a difference, a buyer added by apply with variables that only the command has,
// and starts without them.
func TestSecretsThroughApply(t *testing.T) {
	buyers := new(circleBuyers)
	server := httptest.NewServer(buyers)
	defer server.Close()
	first := []string{"CIRCLE_TENANT=round", "CIRCLE_URL=u-canary", "CIRCLE_BEARER=b-canary"}
	for _, variable := range first {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	path := configuration(t, fmt.Sprintf(circleConfig, server.URL))
	s := serve(t, "-c", path)
	public, admin := s.addresses("round")
	const atFirst = "/first?Key=u-canary Bearer b-canary"
	buyers.sold(t, public, atFirst)

	same := func(path string, variables ...string) {
		t.Helper()
		if d := with(t, variables, "diff", "--admin", admin, path); d.code != 0 || d.out != "no difference\n" {
			t.Errorf("%s: exit %d, %q %q", path, d.code, d.out, d.err)
		}
	}
	same(path)
	exported := mustRun(t, "export", "--admin", admin)
	for _, line := range []string{"password: ${ADMIN_PASSWORD}", "api_key: ${SUP_API_KEY}", "?Key=${CIRCLE_URL}\"", "bearer: ${CIRCLE_BEARER}"} {
		if !strings.Contains(exported, line) {
			t.Errorf("the export lacks %s:\n%s", line, exported)
		}
	}
	same(configuration(t, exported))

	// The variables of the added buyer are only where the command runs.
	rewrite(t, path, fmt.Sprintf(circleAdded, server.URL))
	mustFail(t, "has no variable CIRCLE_ADDED", "apply", "--admin", admin, path)
	added := []string{"CIRCLE_ADDED=a-canary", "CIRCLE_ADDED_URL=au-canary", "CIRCLE_BODY=ab-canary&=x"}
	if d := with(t, added, "diff", "--admin", admin, path); d.code != 2 || !strings.Contains(d.out, "+ buyers[added]") {
		t.Errorf("exit %d, %q %q", d.code, d.out, d.err)
	}
	if did := with(t, added, "apply", "--admin", admin, path); did.code != 0 || strings.Contains(did.out, "!") {
		t.Fatalf("exit %d, %q %q", did.code, did.out, did.err)
	}
	const atAdded = "/added?Key=au-canary a-canary key=ab-canary%26%3Dx"
	buyers.sold(t, public, atAdded)
	same(path, added...)
	same(path)
	exported = mustRun(t, "export", "--admin", admin)
	for _, line := range []string{"api_key: ${CIRCLE_ADDED}", "?Key=${CIRCLE_ADDED_URL}\"", "value: ${CIRCLE_BODY}"} {
		if !strings.Contains(exported, line) {
			t.Errorf("the export lacks %s:\n%s", line, exported)
		}
	}
	same(configuration(t, exported))

	// A start without them uses the sealed values; with others, those of secrets.
	s.stops()
	s = serve(t, "-c", path)
	public, admin = s.addresses("round")
	buyers.sold(t, public, atAdded)
	same(path)
	s.stops()
	for _, variable := range []string{"CIRCLE_ADDED=other-canary", "CIRCLE_ADDED_URL=au-canary", "CIRCLE_BODY=other-canary"} {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	s = serve(t, "-c", path)
	public, admin = s.addresses("round")
	buyers.sold(t, public, atAdded)
	s.hears(`buyers\[added\]\.secrets\[key\]\.value: first value only; not applied`)

	// The variable of an address is the configuration's: another value is a difference.
	another := []string{"CIRCLE_ADDED_URL=new-canary"}
	if d := with(t, another, "diff", "--admin", admin, path); d.code != 2 || !strings.Contains(d.out, "~ buyers[added]: the variable CIRCLE_ADDED_URL has another value") {
		t.Errorf("exit %d, %q %q", d.code, d.out, d.err)
	}
	with(t, another, "apply", "--admin", admin, path)
	buyers.sold(t, public, "/added?Key=new-canary a-canary key=ab-canary%26%3Dx")
	s.stops()
	eachFile(t, filepath.Join(filepath.Dir(path), "data"), func(file, text string) {
		if strings.Contains(text, "canary") {
			t.Errorf("%s has a secret", file)
		}
	})
}
