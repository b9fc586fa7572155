package exchange

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/wal"
)

// Contact data and secrets that may appear only in posts to buyers. All tests use these and search
// all other output for the canaries.
const (
	adminPassword = "admin-canary-password"
	acmeKey       = "acme-key-of-a-canary-0001"
	otherKey      = "other-key-of-a-canary-0002"
	blueToken     = "canary-bearer-of-blue"
	lastName      = "Quetzalcott"
	mailHost      = "zebulonia.example"
	areaCode      = "646867"
	waitTimeout   = 20 * time.Second
	jsonType      = "application/json"
)

var canaries = []string{"canary", lastName, mailHost, areaCode}

// env returns the environment of all exchanges in these tests.
func env(name string) (string, bool) {
	value, ok := map[string]string{
		"PASSWORD": adminPassword, "ACME_KEY": acmeKey, "OTHER_KEY": otherKey, "BLUE_TOKEN": blueToken,
	}[name]
	return value, ok
}

// configHead begins a configuration. Suppliers, buyers and campaigns follow. Reloads apply them.
const configHead = `data_dir: data
provisioning: enforce
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${PASSWORD}"}
trusted_networks: [127.0.0.0/8]
report: {keep: 0s}
`

const configSuppliers = `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 1000000}
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
`

// baseConfig has one buyer without an endpoint, so its sales are only recorded.
const baseConfig = configHead + configSuppliers + `buyers:
  - {id: buy_blue, states: [CA, NV]}
campaigns:
  - id: cmp
    method: waterfall
    payout: {share: 0.8}
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 12.05}]
  - id: cmp_other
    method: waterfall
    suppliers: [sup_other]
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 1}]
  - id: cmp_shut
    paused: true
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 1}]
`

// testDir is a folder with a configuration. logged has the log lines of all exchanges that ran on
// the folder.
type testDir struct {
	dir    string
	logged *logBuffer
}

func newTestDir(t testing.TB, config string) testDir {
	t.Helper()
	p := newTestDirWithoutConfig(t)
	p.writeConfig(t, config)
	return p
}

func newTestDirWithoutConfig(t testing.TB) testDir {
	t.Helper()
	return testDir{t.TempDir(), new(logBuffer)}
}

func (p testDir) configPath() string { return filepath.Join(p.dir, "exchange.yaml") }
func (p testDir) dataDir() string    { return filepath.Join(p.dir, "data") }

func (p testDir) writeConfig(t testing.TB, config string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(p.configPath(), []byte(config), 0o600))
}

// copyFiles copies the folder without stopping the exchange: at most what a crash now would leave
// on the disk.
func (p testDir) copyFiles(t testing.TB) testDir {
	t.Helper()
	other := newTestDirWithoutConfig(t)
	must.Succeed(t, os.CopyFS(other.dir, os.DirFS(p.dir)))
	return other
}

// testExchange is a running exchange under test.
type testExchange struct {
	*Exchange
	testDir
	t      testing.TB
	closed bool

	endPost func() // ends the post in progress of startGoldenDay
}

func start(t testing.TB, p testDir) *testExchange {
	t.Helper()
	return startWith(t, p, func(*Exchange) {})
}

// startWith starts an exchange after a change of its options or fields.
func startWith(t testing.TB, p testDir, change func(*Exchange)) *testExchange {
	t.Helper()
	r, err := tryStart(t, p, change)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return r
}

func tryStart(t testing.TB, p testDir, change func(*Exchange)) (*testExchange, error) {
	t.Helper()
	built, err := loadConfiguration(p.configPath(), env)
	if err != nil {
		return nil, err
	}
	if err := p.writePreparedKeys(t, built.Settings.DataDir); err != nil {
		return nil, err
	}
	x := newExchange(p.configPath(), Options{Env: env, Logger: p.logger()}, built)
	change(x)
	if err := x.startConfigured(built); err != nil {
		return nil, err
	}
	r := &testExchange{Exchange: x, testDir: p, t: t}
	t.Cleanup(r.stop)
	return r, nil
}

// stop closes the exchange in order, once.
func (r *testExchange) stop() {
	r.t.Helper()
	if r.closed {
		return
	}
	r.closed = true
	http.DefaultClient.CloseIdleConnections()
	if err := r.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
}

// restart stops the exchange and starts it on the same folder.
func (r *testExchange) restart() *testExchange {
	r.t.Helper()
	r.stop()
	return start(r.t, r.testDir)
}

// mustReload reloads the configuration file.
func (r *testExchange) mustReload() {
	r.t.Helper()
	must.Succeed(r.t, r.ReloadConfiguration())
}

// reloadWith writes another configuration file and reloads it.
func (r *testExchange) reloadWith(config string) {
	r.t.Helper()
	r.writeConfig(r.t, config)
	r.mustReload()
}

// countChangesAfter counts the log entries after seq that change the state. Records of the audit log do
// not.
func (r *testExchange) countChangesAfter(seq uint64) (changes int) {
	r.t.Helper()
	forEachLogEntry(r.t, r.dataDir(), func(entry wal.Entry, ev event.Event) {
		if entry.Seq > seq && ev.Kind() != event.KindOperatorActionRecorded {
			changes++
		}
	})
	return changes
}

// mustSnapshot writes a snapshot now.
func (r *testExchange) mustSnapshot() {
	r.t.Helper()
	must.Succeed(r.t, r.writeSnapshot())
}

// answer is an HTTP response that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a *answer) requestID() string { return a.header.Get("X-Request-Id") }

// request sends a request with the default HTTP client. Headers come in pairs.
func request(t testing.TB, method, url, body string, headers ...string) *answer {
	t.Helper()
	req := must.Value(http.NewRequest(method, url, strings.NewReader(body)))(t)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header[headers[i]] = append(req.Header[headers[i]], headers[i+1])
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return readAnswer(t, response)
}

func readAnswer(t testing.TB, response *http.Response) *answer {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("cannot read the body of an answer with status %d: %v", response.StatusCode, err)
	}
	a := &answer{response.StatusCode, response.Header, string(text)}
	a.checkNoCanaries(t)
	return a
}

// checkNoCanaries checks that the answer has no contact data and no configured secret.
func (a *answer) checkNoCanaries(t testing.TB) {
	t.Helper()
	if found := findCanaries(a.body); len(found) > 0 {
		t.Errorf("answer with status %d contains %q: %s", a.status, found, a.body)
	}
}

// ingest sends a body with sup_acme's API key. Headers come in pairs.
func (r *testExchange) ingest(body string, headers ...string) *answer {
	r.t.Helper()
	headers = append([]string{"X-Api-Key", acmeKey, "Content-Type", jsonType}, headers...)
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ingest", body, headers...)
}

// mustSell sends a lead and expects that it is sold.
func (r *testExchange) mustSell(body string, headers ...string) *answer {
	r.t.Helper()
	a := r.ingest(body, headers...)
	if a.status != 201 || !strings.Contains(a.body, `"status":"ACCEPTED"`) {
		r.t.Fatalf("got %d %s, want 201 ACCEPTED", a.status, a.body)
	}
	return a
}

// adminRequest sends a request to the admin address with the password.
func (r *testExchange) adminRequest(method, path, body string, headers ...string) *answer {
	r.t.Helper()
	credential := "Basic " + base64.StdEncoding.EncodeToString([]byte("operator:"+adminPassword))
	return request(r.t, method, "http://"+r.AdminAddress()+path, body, append([]string{"Authorization", credential}, headers...)...)
}

// mustAdmin sends an admin request and expects the status.
func (r *testExchange) mustAdmin(status int, method, path, body string, headers ...string) *answer {
	r.t.Helper()
	a := r.adminRequest(method, path, body, headers...)
	if a.status != status {
		r.t.Fatalf("%s %s: got %d %s, want %d", method, path, a.status, a.body, status)
	}
	return a
}

// checkMetrics checks that the metrics page has the lines.
func (r *testExchange) checkMetrics(lines ...string) {
	r.t.Helper()
	page := request(r.t, "GET", "http://"+r.AdminAddress()+"/metrics", "").body
	for _, line := range lines {
		if !strings.Contains("\n"+page, "\n"+line+"\n") {
			r.t.Errorf("metrics page lacks the line %s", line)
		}
	}
}

// leadBody returns the JSON of a lead. changes are pairs of member and JSON value; an empty value
// removes the member.
func leadBody(number int, changes ...string) string {
	members := []string{
		"flo_campaign_id", `"cmp"`, "flo_supplier_id", `"sup_acme"`,
		"first_name", `"Ann"`, "last_name", `"` + lastName + `"`,
		"phone", fmt.Sprintf(`"+1%s%04d"`, areaCode, number), "email", fmt.Sprintf(`"ann%d@%s"`, number, mailHost),
		"state", `"CA"`,
	}
	for i := 0; i+1 < len(changes); i += 2 {
		members = setMember(members, changes[i], changes[i+1])
	}
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, `,%q:%s`, members[i], members[i+1])
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func setMember(members []string, name, value string) []string {
	for i := 0; i < len(members); i += 2 {
		if members[i] == name {
			if value == "" {
				return append(members[:i], members[i+2:]...)
			}
			members[i+1] = value
			return members
		}
	}
	return append(members, name, value)
}

// mustHave checks the status of an answer, and the texts in its body.
func (a *answer) mustHave(t testing.TB, status int, texts ...string) {
	t.Helper()
	for _, text := range append(texts, "") {
		if a.status != status || !strings.Contains(a.body, text) {
			t.Errorf("got %d %s, want %d with %q", a.status, a.body, status, texts)
			return
		}
	}
}

var requestIDPattern = regexp.MustCompile(`^req_[0-9a-z]{26}$`)

// errorBody is the JSON body of an error.
type errorBody struct {
	Error     string `json:"error"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
	Fields    []struct {
		Field    string `json:"field"`
		Code     string `json:"code"`
		Expected string `json:"expected"`
	} `json:"field_errors"`
}

// mustFail checks that an answer is an error with all parts, and with the request id also in its
// header.
func (a *answer) mustFail(t testing.TB, status int, code string) *errorBody {
	t.Helper()
	var f errorBody
	decoder := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		t.Fatalf("answer with status %d is not an error body: %v: %q", a.status, err, a.body)
	}
	if a.status != status || f.Error != code {
		t.Errorf("got %d %s (%s), want %d %s", a.status, f.Error, f.Message, status, code)
	}
	if f.Message == "" || !requestIDPattern.MatchString(f.RequestID) || f.RequestID != a.requestID() {
		t.Errorf("got message %q, request_id %q, X-Request-Id %q, want a message and equal ids", f.Message, f.RequestID, a.requestID())
	}
	if kind := a.header.Get("Content-Type"); kind != jsonType {
		t.Errorf("got Content-Type %q, want %q", kind, jsonType)
	}
	if (len(f.Fields) > 0) != (code == "invalid_payload") {
		t.Errorf("error %s has %d field errors", code, len(f.Fields))
	}
	for _, field := range f.Fields {
		if field.Field == "" || field.Code == "" || field.Expected == "" {
			t.Errorf("field error is incomplete: %+v", field)
		}
	}
	if status == 503 && a.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	return &f
}

// eventually waits until the condition is true.
func eventually(t testing.TB, condition string, isTrue func() bool) {
	t.Helper()
	eventuallyWithin(t, waitTimeout, condition, isTrue)
}

// eventuallyWithin is eventually with another limit.
func eventuallyWithin(t testing.TB, limit time.Duration, condition string, isTrue func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !isTrue(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("condition did not become true: %s", condition)
		}
	}
}

// writeFile writes a file next to the configuration.
func (p testDir) writeFile(t testing.TB, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}
