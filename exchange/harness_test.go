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

	"pingpost/internal/must"
)

// What must never be seen outside of the posts to buyers. The tests use these
// and no other names, numbers and secrets, and look for them everywhere.
const (
	password  = "admin-canary-password"
	acmeKey   = "acme-key-of-a-canary-0001"
	otherKey  = "other-key-of-a-canary-0002"
	bearer    = "canary-bearer-of-blue"
	lastName  = "Quetzalcott"
	mailHost  = "zebulonia.example"
	areaCode  = "646867"
	patience  = 20 * time.Second
	typeIsOwn = "application/json"
)

var canaries = []string{"canary", lastName, mailHost, areaCode}

// env is the environment of every exchange.
func env(name string) (string, bool) {
	value, ok := map[string]string{
		"PASSWORD": password, "ACME_KEY": acmeKey, "OTHER_KEY": otherKey, "BLUE_TOKEN": bearer,
	}[name]
	return value, ok
}

// head of a configuration: the rest is suppliers, buyers and campaigns.
const head = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${PASSWORD}"}
trusted_networks: [127.0.0.0/8]
report: {keep: 0s}
`

const acme = `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 1000000}
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
`

// recorded is an exchange whose one buyer has no endpoint.
const recorded = head + acme + `buyers:
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

// place is a folder with a configuration in it.
type place struct{ dir string }

func newPlace(t testing.TB, config string) place {
	t.Helper()
	p := place{t.TempDir()}
	p.write(t, config)
	return p
}

func (p place) config() string { return filepath.Join(p.dir, "exchange.yaml") }
func (p place) data() string   { return filepath.Join(p.dir, "data") }

func (p place) write(t testing.TB, config string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(p.config(), []byte(config), 0o600))
}

// copy is what a crash at this instant would leave on the disk, or a little
// less: the files, without asking the process.
func (p place) copy(t testing.TB) place {
	t.Helper()
	other := place{t.TempDir()}
	must.Succeed(t, os.CopyFS(other.dir, os.DirFS(p.dir)))
	return other
}

// running is an exchange under test.
type running struct {
	*Exchange
	place
	t      testing.TB
	closed bool
}

func start(t testing.TB, p place) *running {
	t.Helper()
	return startWith(t, p, func(*Exchange) {})
}

// startWith starts an exchange after a change of its options or fields.
func startWith(t testing.TB, p place, change func(*Exchange)) *running {
	t.Helper()
	r, err := tryStart(t, p, change)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return r
}

func tryStart(t testing.TB, p place, change func(*Exchange)) (*running, error) {
	t.Helper()
	built, err := loadConfiguration(p.config(), env)
	if err != nil {
		return nil, err
	}
	x := newExchange(p.config(), Options{Env: env, Logger: logger}, built)
	change(x)
	if err := x.startConfigured(built); err != nil {
		return nil, err
	}
	r := &running{Exchange: x, place: p, t: t}
	t.Cleanup(r.stop)
	return r, nil
}

// stop closes the exchange in order, once.
func (r *running) stop() {
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

// again is a restart.
func (r *running) again() *running {
	r.t.Helper()
	r.stop()
	return start(r.t, r.place)
}

// mustReload reloads the configuration file.
func (r *running) mustReload() {
	r.t.Helper()
	must.Succeed(r.t, r.ReloadConfiguration())
}

// reloadWith reloads another configuration.
func (r *running) reloadWith(config string) {
	r.t.Helper()
	r.write(r.t, config)
	r.mustReload()
}

// snapshot writes a snapshot now.
func (r *running) snapshot() {
	r.t.Helper()
	must.Succeed(r.t, r.writeSnapshot())
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a *answer) id() string { return a.header.Get("X-Request-Id") }

// request makes one over a connection of net/http.
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
	return hear(t, response)
}

func hear(t testing.TB, response *http.Response) *answer {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading an answer of status %d: %v", response.StatusCode, err)
	}
	a := &answer{response.StatusCode, response.Header, string(text)}
	a.isDiscreet(t)
	return a
}

// isDiscreet sees that no answer of the exchange carries a person, or a secret
// that was not made for it.
func (a *answer) isDiscreet(t testing.TB) {
	t.Helper()
	for _, canary := range canaries {
		if strings.Contains(a.body, canary) {
			t.Errorf("an answer of status %d carries %q: %s", a.status, canary, a.body)
		}
	}
}

// ingest sends a body under acme's first key; further headers come in pairs.
func (r *running) ingest(body string, headers ...string) *answer {
	r.t.Helper()
	headers = append([]string{"X-Api-Key", acmeKey, "Content-Type", typeIsOwn}, headers...)
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ingest", body, headers...)
}

// sold sends a lead that must be accepted.
func (r *running) sold(body string, headers ...string) *answer {
	r.t.Helper()
	a := r.ingest(body, headers...)
	if a.status != 201 || !strings.Contains(a.body, `"status":"ACCEPTED"`) {
		r.t.Fatalf("not accepted: %d %s", a.status, a.body)
	}
	return a
}

// operate calls the admin address with the password.
func (r *running) operate(method, path, body string, headers ...string) *answer {
	r.t.Helper()
	credential := "Basic " + base64.StdEncoding.EncodeToString([]byte("operator:"+password))
	return request(r.t, method, "http://"+r.AdminAddress()+path, body, append([]string{"Authorization", credential}, headers...)...)
}

// must operates and expects a status.
func (r *running) must(status int, method, path, body string, headers ...string) *answer {
	r.t.Helper()
	a := r.operate(method, path, body, headers...)
	if a.status != status {
		r.t.Fatalf("%s %s: %d %s, want %d", method, path, a.status, a.body, status)
	}
	return a
}

// measures expects lines of the metrics page.
func (r *running) measures(lines ...string) {
	r.t.Helper()
	page := request(r.t, "GET", "http://"+r.AdminAddress()+"/metrics", "").body
	for _, line := range lines {
		if !strings.Contains("\n"+page, "\n"+line+"\n") {
			r.t.Errorf("the metrics page has no line %s", line)
		}
	}
}

// lead is a lead's body with changes: member and JSON value in turn; an empty
// value takes the member out.
func lead(number int, changes ...string) string {
	members := []string{
		"flo_campaign_id", `"cmp"`, "flo_supplier_id", `"sup_acme"`,
		"first_name", `"Ann"`, "last_name", `"` + lastName + `"`,
		"phone", fmt.Sprintf(`"+1%s%04d"`, areaCode, number), "email", fmt.Sprintf(`"ann%d@%s"`, number, mailHost),
		"state", `"CA"`,
	}
	for i := 0; i+1 < len(changes); i += 2 {
		members = change(members, changes[i], changes[i+1])
	}
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, `,%q:%s`, members[i], members[i+1])
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func change(members []string, name, value string) []string {
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

// mustHave sees that an answer has the status, and the texts in its body.
func (a *answer) mustHave(t testing.TB, status int, texts ...string) {
	t.Helper()
	for _, text := range append(texts, "") {
		if a.status != status || !strings.Contains(a.body, text) {
			t.Errorf("%d %s, want %d with %q", a.status, a.body, status, texts)
			return
		}
	}
}

var requestID = regexp.MustCompile(`^req_[0-9a-z]{26}$`)

// fault is the interface's error body.
type fault struct {
	Error     string `json:"error"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
	Fields    []struct {
		Field    string `json:"field"`
		Code     string `json:"code"`
		Expected string `json:"expected"`
	} `json:"field_errors"`
}

// mustFail sees that an answer is an error in the interface's form, with the
// request's id in the header too.
func (a *answer) mustFail(t testing.TB, status int, code string) *fault {
	t.Helper()
	var f fault
	decoder := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		t.Fatalf("status %d, not an error body: %v: %q", a.status, err, a.body)
	}
	if a.status != status || f.Error != code {
		t.Errorf("got %d %s (%s), want %d %s", a.status, f.Error, f.Message, status, code)
	}
	if f.Message == "" || !requestID.MatchString(f.RequestID) || f.RequestID != a.id() {
		t.Errorf("message %q, request_id %q, X-Request-Id %q", f.Message, f.RequestID, a.id())
	}
	if kind := a.header.Get("Content-Type"); kind != typeIsOwn {
		t.Errorf("Content-Type %q", kind)
	}
	if (len(f.Fields) > 0) != (code == "invalid_payload") {
		t.Errorf("%s has %d field errors", code, len(f.Fields))
	}
	for _, field := range f.Fields {
		if field.Field == "" || field.Code == "" || field.Expected == "" {
			t.Errorf("a field error is not whole: %+v", field)
		}
	}
	if status == 503 && a.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	return &f
}

// eventually waits for what comes by itself.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// beside puts a file beside the configuration.
func (p place) beside(t testing.TB, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}
