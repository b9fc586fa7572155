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

const variablesConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}"}
trusted_networks: [127.0.0.0/8]
tenant: ${TEST_TENANT}
suppliers: [{id: sup, api_key: "${SUP_API_KEY}", ingest_rate: 1000000}]
buyers:
  - {id: first, post_url: "%[1]s/first?Key=${TEST_URL}", auth: {bearer: "${TEST_BEARER}"}}
campaigns:
  - {id: cmp, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: first, price: 1}]}
`

// addedBuyerConfig has one more buyer, which gets every lead first.
var addedBuyerConfig = strings.NewReplacer("campaigns:\n", `  - id: added
    post_url: "%[1]s/added?Key=${TEST_ADDED_URL}"
    auth: {api_key: "${TEST_ADDED}"}
    secrets: [{name: key, value: "${TEST_BODY}"}]
    adapter: {post: {format: form, body: "key={{secret \"key\"}}&name={{.first_name}}", answer: {accepted: ok, yes: [yes]}}}
campaigns:
`, "buyers: [{buyer: first, price: 1}]", "buyers: [{buyer: added, price: 2}, {buyer: first, price: 1}]").Replace(variablesConfig)

// recordingBuyers records the last post and accepts it.
type recordingBuyers struct {
	mu   sync.Mutex
	last string
}

func (c *recordingBuyers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (c *recordingBuyers) mustReceiveLead(t *testing.T, public, want string) {
	t.Helper()
	mustSell(t, public, `"ACCEPTED"`)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != want {
		t.Errorf("a buyer got %q, want %q", c.last, want)
	}
}

// runWithEnv runs the program with more variables than the exchange has.
func runWithEnv(t *testing.T, variables []string, args ...string) commandResult {
	t.Helper()
	cmd := programCommand(t, args...)
	cmd.Env = append(cmd.Env, variables...)
	return runCommand(t, cmd)
}

// TestSecretsThroughApply uses a file with variables: diff and export find no difference,
// apply adds a buyer whose variables only the command has, and restarts work without them.
func TestSecretsThroughApply(t *testing.T) {
	buyers := new(recordingBuyers)
	server := httptest.NewServer(buyers)
	defer server.Close()
	first := []string{"TEST_TENANT=round", "TEST_URL=u-canary", "TEST_BEARER=b-canary"}
	for _, variable := range first {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	path := writeConfig(t, fmt.Sprintf(variablesConfig, server.URL))
	s := startServe(t, "-c", path)
	public, admin := s.addresses("round")
	const atFirst = "/first?Key=u-canary Bearer b-canary"
	buyers.mustReceiveLead(t, public, atFirst)

	mustHaveNoDifference := func(path string, variables ...string) {
		t.Helper()
		if d := runWithEnv(t, variables, "diff", "--admin", admin, path); d.code != 0 || d.out != "no difference\n" {
			t.Errorf("%s: exit %d, %q %q", path, d.code, d.out, d.err)
		}
	}
	mustHaveNoDifference(path)
	exported := mustRun(t, "export", "--admin", admin)
	for _, line := range []string{"password: ${ADMIN_PASSWORD}", "api_key: ${SUP_API_KEY}", "?Key=${TEST_URL}\"", "bearer: ${TEST_BEARER}"} {
		if !strings.Contains(exported, line) {
			t.Errorf("the export lacks %s:\n%s", line, exported)
		}
	}
	mustHaveNoDifference(writeConfig(t, exported))

	// Only the command has the variables of the added buyer.
	writeFile(t, path, fmt.Sprintf(addedBuyerConfig, server.URL))
	mustFail(t, "has no variable TEST_ADDED", "apply", "--admin", admin, path)
	added := []string{"TEST_ADDED=a-canary", "TEST_ADDED_URL=au-canary", "TEST_BODY=ab-canary&=x"}
	if d := runWithEnv(t, added, "diff", "--admin", admin, path); d.code != 2 || !strings.Contains(d.out, "+ buyers[added]") {
		t.Errorf("exit %d, %q %q", d.code, d.out, d.err)
	}
	if applied := runWithEnv(t, added, "apply", "--admin", admin, path); applied.code != 0 || strings.Contains(applied.out, "!") {
		t.Fatalf("exit %d, %q %q", applied.code, applied.out, applied.err)
	}
	const atAdded = "/added?Key=au-canary a-canary key=ab-canary%26%3Dx"
	buyers.mustReceiveLead(t, public, atAdded)
	mustHaveNoDifference(path, added...)
	mustHaveNoDifference(path)
	exported = mustRun(t, "export", "--admin", admin)
	for _, line := range []string{"api_key: ${TEST_ADDED}", "?Key=${TEST_ADDED_URL}\"", "value: ${TEST_BODY}"} {
		if !strings.Contains(exported, line) {
			t.Errorf("the export lacks %s:\n%s", line, exported)
		}
	}
	mustHaveNoDifference(writeConfig(t, exported))

	// A start without the variables uses the sealed values, and so does one with other values.
	s.stop()
	s = startServe(t, "-c", path)
	public, admin = s.addresses("round")
	buyers.mustReceiveLead(t, public, atAdded)
	mustHaveNoDifference(path)
	s.stop()
	for _, variable := range []string{"TEST_ADDED=other-canary", "TEST_ADDED_URL=au-canary", "TEST_BODY=other-canary"} {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	s = startServe(t, "-c", path)
	public, admin = s.addresses("round")
	buyers.mustReceiveLead(t, public, atAdded)
	s.waitForOutput(`buyers\[added\]\.secrets\[key\]\.value: first value only; not applied`)

	// A variable in an address is part of the configuration: another value is a difference.
	another := []string{"TEST_ADDED_URL=new-canary"}
	if d := runWithEnv(t, another, "diff", "--admin", admin, path); d.code != 2 || !strings.Contains(d.out, "~ buyers[added]: the variable TEST_ADDED_URL has another value") {
		t.Errorf("exit %d, %q %q", d.code, d.out, d.err)
	}
	runWithEnv(t, another, "apply", "--admin", admin, path)
	buyers.mustReceiveLead(t, public, "/added?Key=new-canary a-canary key=ab-canary%26%3Dx")
	s.stop()
	eachFile(t, filepath.Join(filepath.Dir(path), "data"), func(file, text string) {
		if strings.Contains(text, "canary") {
			t.Errorf("%s has a secret", file)
		}
	})
}
