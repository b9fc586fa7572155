package operate

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange"
	"pingpost/internal/must"
)

const (
	adminPassword = "a password of an operator"
	apiKey        = "an-api-key-of-a-supplier"
)

const document = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "` + adminPassword + `"}
report: {keep: 400d}
trusted_networks: [127.0.0.0/8]
suppliers: [{id: sup_acme, api_key: ` + apiKey + `, ingest_rate: 1000000}]
buyers: [{id: buy_blue, states: [CA]}, {id: buy_red, states: [NV], filters: [{field: rooms, min: 3}]}]
campaigns:
  - id: cmp_solar
    method: waterfall
    duplicates: {window: 0s}
    fields: [{name: rooms, type: integer, max: 9, required: true}]
    buyers: [{buyer: buy_blue, price: 12.5}, {buyer: buy_red, price: 9}]
`

// testExchange is a running exchange and the addresses of its APIs.
type testExchange struct {
	t             *testing.T
	exchange      *exchange.Exchange
	public, admin string
}

func startExchange(t *testing.T) *testExchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(document), 0o600))
	x := must.Value(exchange.Start(path, exchange.Options{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { must.Succeed(t, x.Close()) })
	started := &testExchange{t, x, "http://" + x.PublicAddress(), "http://" + x.AdminAddress()}
	started.waitForReport()
	return started
}

// waitForReport waits until the report has all log entries, however slow the machine is.
func (x *testExchange) waitForReport() {
	hasNewest := false
	for !hasNewest && x.t.Context().Err() == nil {
		hasNewest = x.exchange.Report().WaitBrieflyForNewestEntries(x.t.Context(), 0)
	}
}

// request sends a request with a JSON body and returns the answer's body.
func (x *testExchange) request(method, url, body string, edit func(*http.Request)) string {
	x.t.Helper()
	req := must.Value(http.NewRequest(method, url, strings.NewReader(body)))(x.t)
	req.Header.Set("Content-Type", "application/json")
	edit(req)
	answer, err := http.DefaultClient.Do(req)
	must.Succeed(x.t, err)
	defer answer.Body.Close()
	text := must.Value(io.ReadAll(answer.Body))(x.t)
	if answer.StatusCode >= 300 {
		x.t.Fatalf("%s %s: %d %s", method, url, answer.StatusCode, text)
	}
	return string(text)
}

func (x *testExchange) operate(method, path, body string) {
	x.t.Helper()
	x.request(method, x.admin+"/admin/v1/"+path, body, func(r *http.Request) { r.SetBasicAuth("operator", adminPassword) })
	x.waitForReport()
}

const janeLead = `{"flo_campaign_id":"cmp_solar","flo_supplier_id":"sup_acme","first_name":"Jane","last_name":"Quetzalcott","phone":"(415) 555-0142",
"email":"jane@quux.example","state":"CA","zip":"94105","rooms":4,"tcpa_consent":true}`

func (x *testExchange) sellJane() (leadID string) {
	x.t.Helper()
	text := x.request("POST", x.public+"/api/v1/ingest", janeLead, func(r *http.Request) {
		r.Header.Set("X-Api-Key", apiKey)
		r.Header.Set("Idempotency-Key", "jane")
	})
	var answer struct{ Data struct{ ID, Status string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Data.Status != "ACCEPTED" {
		x.t.Fatalf("the lead was not sold: %v, %s", err, text)
	}
	x.waitForReport()
	return answer.Data.ID
}

// testCommands are the commands of this package, as the program has them.
type testCommands struct {
	Audit  AuditCommand  `cmd:""`
	Alerts AlertsCommand `cmd:""`
	Find   FindCommand   `cmd:""`
	DryRun DryRunCommand `cmd:""`
}

// run runs a command line with an input. It returns the output and the exit code.
func (x *testExchange) run(input string, args ...string) (output string, exitCode int) {
	x.t.Helper()
	path := filepath.Join(x.t.TempDir(), "input")
	must.Succeed(x.t, os.WriteFile(path, []byte(input), 0o600))
	in := must.Value(os.Open(path))(x.t)
	defer in.Close()
	var out strings.Builder
	parser := must.Value(kong.New(&testCommands{}, kong.Name("pingpost"), kong.Bind(in), kong.BindTo(&out, (*io.Writer)(nil))))(x.t)
	run := must.Value(parser.Parse(append(args, "--admin", x.admin, "--password", adminPassword)))(x.t)
	err := run.Run()
	var code terminal.ExitCodeError
	switch {
	case errors.As(err, &code):
		return out.String(), int(code)
	case err != nil:
		return err.Error(), 1
	}
	return out.String(), 0
}

// check compares the output of a command with texts that it must have, and its exit code.
func (x *testExchange) check(wantCode int, input string, args []string, want ...string) {
	x.t.Helper()
	out, code := x.run(input, args...)
	if code != wantCode {
		x.t.Errorf("%q: exit %d, want %d: %s", args, code, wantCode, out)
	}
	for _, text := range want {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), text) {
			x.t.Errorf("%q prints\n%s\nwithout %q", args, out, text)
		}
	}
}

// TestAudit lists, filters and exports operators' actions.
func TestAudit(t *testing.T) {
	t.Parallel()
	x := startExchange(t)
	x.operate("POST", "campaigns/cmp_solar/pause", "")
	x.operate("POST", "campaigns/cmp_solar/resume", "")
	x.check(0, "", []string{"audit"}, "operator 127.0.0.1 done POST /admin/v1/campaigns/{id}/pause campaign cmp_solar", "start configuration")
	x.check(0, "", []string{"audit", "--limit", "1"}, "/resume campaign cmp_solar There are more entries;")
	x.check(0, "", []string{"audit", "--actor", "ann"}, "no entries")
	x.check(0, "", []string{"audit", "--target-kind", "campaign", "--target", "cmp_solar", "--outcome", "done", "--text", "resume", "--json"}, `"before":{"paused":true},"after":{"paused":false}`)
	x.check(0, "", []string{"audit", "--format", "csv"}, "id,at,ended_at,actor,", "{id}/pause,campaign,cmp_solar,")
	x.check(0, "", []string{"audit", "--format", "ndjson", "--operation", "POST /admin/v1/campaigns/{id}/pause"}, `"after":{"paused":true}`)
	x.check(1, "", []string{"audit", "--from", "yesterday"}, "the exchange says:", "from: expected a day")
}

// TestAlerts prints an alert that fires, and the history.
func TestAlerts(t *testing.T) {
	t.Parallel()
	x := startExchange(t)
	x.check(0, "", []string{"alerts", "--json"}, `"firing":[]`)
	x.check(0, "", []string{"alerts", "--history"}, "no changes")
	x.check(0, "", []string{"alerts", "--history", "--limit", "3", "--json"}, `"entries":[]`)
	x.check(1, "", []string{"alerts", "--history", "--limit", "0"}, "limit: expected a whole number")
}

// TestAlertsExitCode: a firing alert is exit code 2, unless it is silenced.
func TestAlertsExitCode(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{
		`{"evaluated_at":"2026-11-30T12:00:00Z","firing":[{"rule":"a","silenced":true},{"rule":"b","silenced":false}]}`: 2,
		`{"evaluated_at":"2026-11-30T12:00:00Z","firing":[{"rule":"a","silenced":true}]}`:                               0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		x := &testExchange{t: t, admin: server.URL}
		x.check(want, "", []string{"alerts"}, "silenced a")
		x.check(want, "", []string{"alerts", "--json"}, answer)
		server.Close()
	}
}

// TestFormatAlerts covers each kind of line, and texts that a terminal could interpret.
func TestFormatAlerts(t *testing.T) {
	t.Parallel()
	var status alertsOverview
	must.Succeed(t, json.Unmarshal([]byte(`{"evaluated_at":"2026-11-30T12:00:00Z","firing":[
{"rule":"caps","subject":"buy_blue","since":"2026-11-30T11:00:00Z","title":"Cap\u001b[31m 80 % used"},
{"rule":"disk","subject":null,"since":"2026-11-30T10:00:00Z","silenced":true,"title":"Disk full"}],
"pending":[{"rule":"rate","subject":"cmp","since":"2026-11-30T11:59:00Z","fires_at":"2026-11-30T12:04:00Z","title":"Few sales"}],
"channels":[{"id":"ops","health":{"failing_since":"2026-11-30T09:00:00Z","last_error":"HTTP 500"}},{"id":"mail","health":{}}]}`), &status))
	const want = `firing    caps  buy_blue  since 2026-11-30T11:00:00Z        Cap` + "\uFFFD" + `[31m 80 % used
silenced  disk  -         since 2026-11-30T10:00:00Z        Disk full
pending   rate  cmp       fires 2026-11-30T12:04:00Z        Few sales
channel   ops   -         fails since 2026-11-30T09:00:00Z  HTTP 500
`
	if got := formatAlertsAndFailingChannels(&status); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := formatAlertsAndFailingChannels(&alertsOverview{}); got != "The rules were not evaluated yet.\n" {
		t.Errorf("got %s", got)
	}
}

// TestFind finds a person by both kinds of value, which come from the input.
func TestFind(t *testing.T) {
	t.Parallel()
	x := startExchange(t)
	lead := x.sellJane()
	for _, value := range []string{"+1 415 555 0142\n", "JANE@quux.example", "  4155550142\r\nignored"} {
		x.check(0, value, []string{"find"}, lead, "cmp_solar ACCEPTED buy_blue 12.50 USD J*** Q*** ***-***-0142 j***@quux.example")
	}
	x.check(0, "4155550142", []string{"find", "--json"}, `"id":"`+lead+`"`, `"complete":true`)
	x.check(2, "4155550143", []string{"find"}, "no lead of this person")
	x.check(2, "4155550142", []string{"find", "--after", lead}, "no lead of this person")
	x.check(1, " \n", []string{"find"}, "standard input is empty")
	x.check(1, "none", []string{"find"}, "phone: expected a phone number")
}

// TestDryRun decides about leads of a file, of the input and of the exchange.
func TestDryRun(t *testing.T) {
	t.Parallel()
	x := startExchange(t)
	path := filepath.Join(t.TempDir(), "lead.json")
	must.Succeed(t, os.WriteFile(path, []byte(janeLead), 0o600))
	x.check(0, "", []string{"dry-run", "cmp_solar", path}, "decision sold to buy_blue", "buy_red", "state: required one of NV, got CA")
	x.check(0, strings.Replace(janeLead, `"CA"`, `"NV"`, 1), []string{"dry-run", "cmp_solar", "-", "--supplier", "sup_acme"}, "decision sold to buy_red", "state: required one of CA, got NV")
	unsold := strings.NewReplacer(`"CA"`, `"NV"`, `"rooms":4`, `"rooms":2`).Replace(janeLead)
	x.check(2, unsold, []string{"dry-run", "cmp_solar", "-"}, "decision unsold: ", "rooms: required >= 3, got 2")
	x.check(2, strings.Replace(janeLead, `"rooms":4`, `"rooms":44`, 1), []string{"dry-run", "cmp_solar", "-"}, "invalid lead: HTTP 422", "rooms: expected")
	x.check(0, "", []string{"dry-run", "cmp_solar"}, `lead {"`, "decision sold to buy_")
	x.check(0, janeLead, []string{"dry-run", "cmp_solar", "-", "--json"}, `"dry_run":{"decision":"sold"`)
	x.check(1, "", []string{"dry-run", "cmp_none"}, "campaign: expected the id of a campaign")
	x.check(1, "[]", []string{"dry-run", "cmp_solar", "-"}, "- has no lead: expected one JSON object")
	x.check(1, "", []string{"dry-run", "cmp_solar", path, "--supplier", "sup_none"}, "supplier: expected")
}
