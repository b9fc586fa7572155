package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/cmd/pingpost/client"
	"pingpost/exchange/golden"
	"pingpost/internal/must"
)

// TestStatementCommand prints statements of a lead that a running exchange sold.
func TestStatementCommand(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, strings.Replace(testConfig, "{id: buy}", "{id: buy, funds: {balance: 1000}}", 1)))
	public, admin := s.addresses("production")
	id := sellLead(t, public)
	for _, row := range []struct {
		args     []string
		patterns []string
	}{
		{[]string{"--buyer", "buy"}, []string{
			`^buy, from 20\d\d-\d\d-01 to 20\d\d-\d\d-01 UTC\nread from the log up to entry \d+, of 20`,
			`\nopening balance +0\.00  USD\n  opening +1 +1,000\.00  USD\n  sale +cmp +1 +-12\.05  USD\nclosing balance +987\.95  USD\n\n`,
			`\nTIME \(UTC\) +KIND +CAMPAIGN +LEAD +AMOUNT +BALANCE\n20\S+ \S+  opening +1,000\.00 +1,000\.00\n20\S+ \S+  sale      cmp       ` + id + ` +-12\.05 +987\.95\n$`,
		}},
		{[]string{"--supplier", "sup", "--from", "2026-01-01", "--to", "2150-06-01T12:00:00+02:00"}, []string{
			`^sup, from 2026-01-01 to 2150-06-01 10:00:00 UTC\n`, `\n\n  sale +cmp +1 +12\.05  USD\nin all +12\.05  USD\n\nTIME.* AMOUNT\n`, ` ` + id + ` +12\.05\n$`,
		}},
		{[]string{"--buyer", "buy", "--to", "2020-01-01"}, []string{`\nopening balance +0\.00 +USD\nclosing balance +0\.00 +USD\nno movements in this period\n$`}},
		{[]string{"--buyer", "buy", "--format", "csv"}, []string{`^at,entry,kind,`, `,sale,` + id + `,cmp,USD,-12\.05,987\.95,\r\n$`}},
	} {
		text := mustRun(t, append([]string{"statement", "--admin", admin}, row.args...)...)
		for _, pattern := range row.patterns {
			if !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%v: no match for %s in\n%s", row.args, pattern, text)
			}
		}
	}
	var answer struct {
		Buyer   string `json:"buyer_id"`
		Entries []any
	}
	if err := json.Unmarshal([]byte(mustRun(t, "statement", "--buyer", "buy", "--format", "json", "--admin", admin)), &answer); err != nil || answer.Buyer != "buy" || len(answer.Entries) != 2 {
		t.Errorf("JSON statement %+v: %v", answer, err)
	}
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--admin", admin}, "--buyer"},
		{[]string{"--buyer", "a", "--supplier", "b", "--admin", admin}, "--buyer"},
		{[]string{"--buyer", "none", "--admin", admin}, "ever configured"},
		{[]string{"--buyer", "buy", "--from", "yesterday", "--admin", admin}, "from: expected a day"},
		{[]string{"--buyer", "buy", "--format", "xml", "--admin", admin}, "--format"},
		{[]string{"--buyer", "buy", "--admin", admin, "--password", "wrong"}, "password"},
	} {
		mustFail(t, row.want, append([]string{"statement"}, row.args...)...)
	}
	mustPrint(t, "pingpost statement --buyer buy_vault", "statement", "--help")
}

// fullStatement has an account that was opened in the period, open posts, and a note with
// a terminal escape.
const fullStatement = `{"buyer_id":"buy_vault","from":"2026-11-01T00:00:00Z","to":"2026-11-19T08:30:00Z","as_of":{"entry":1234,"at":"2026-11-20T09:15:00.123456789Z"},
"currency":"USD","opening":{"balance":0,"held":0},"closing":{"balance":204987.96,"held":24.1},"totals":[
{"kind":"opening","currency":"USD","in_account":true,"count":1,"amount":205000},
{"kind":"top_up","currency":"USD","in_account":true,"count":1,"amount":0.01},
{"kind":"sale","campaign_id":"auto_west","currency":"USD","in_account":true,"count":1,"amount":-12.05},
{"kind":"sale","campaign_id":"auto_west","currency":"USD","in_account":false,"count":2000,"amount":-24100}],"count":2003,"later":{"a":[1]},"entries":[
{"at":"2026-11-02T10:00:00.5Z","entry":7,"kind":"sale","lead_id":"lead_01jd0000000000000000000000","campaign_id":"auto_west","currency":"USD","amount":-12.05,"balance":null},
{"at":"2026-11-03T10:00:00Z","entry":8,"kind":"opening","currency":"USD","amount":205000,"balance":205000},
{"at":"2026-11-03T10:00:00Z","entry":9,"kind":"top_up","currency":"USD","amount":0.01,"balance":205000.01,"note":"wire\u001b[2J 17"},
{"at":"2026-11-04T10:00:00Z","entry":10,"kind":"sale","lead_id":"lead_01jd0000000000000000000001","campaign_id":"auto_west","currency":"USD","amount":-12.05,"balance":204987.96}]}
`

func TestStatementText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	must.Succeed(t, printStatement(strings.NewReader(fullStatement), &out))
	golden.CompareWithFile(t, "statement", out.String())
}

// TestStatementTotalsWithoutAccount: the last lines are the totals for each currency.
func TestStatementTotalsWithoutAccount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ totals, want string }{
		{`{"kind":"sale","currency":"USD","amount":76},{"kind":"sale","currency":"EUR","amount":9},{"kind":"reversal","currency":"USD","amount":-17.000001}`, "in all 58.999999 USD in all 9.00 EUR"},
		{`{"kind":"sale","currency":"USD","amount":-12345678.9},{"kind":"return","currency":"USD","amount":0.5}`, "in all -12,345,678.40 USD"},
		{`{"kind":"sale","currency":"USD","amount":-0.5}`, "in all -0.50 USD"},
		{``, ""},
	} {
		var out bytes.Buffer
		must.Succeed(t, printStatement(strings.NewReader(`{"supplier_id":"sup","totals":[`+row.totals+`],"count":3,"entries":[]}`), &out))
		_, got, found := strings.Cut(strings.Join(strings.Fields(out.String()), " "), "in all")
		if found {
			got = "in all" + got
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.totals, got, row.want)
		}
	}
}

// TestIncompleteStatementFails: the command reports an answer that is cut at any byte, and
// a broken connection.
func TestIncompleteStatementFails(t *testing.T) {
	t.Parallel()
	for n := range len(strings.TrimSpace(fullStatement)) {
		if err := printStatement(strings.NewReader(fullStatement[:n]), io.Discard); err == nil {
			t.Fatalf("no error for a statement that ends in %q", fullStatement[max(0, n-40):n])
		}
	}
	for _, text := range []string{`[]`, `{}`, `{"count":1}`, `{"entries":{}}`, `{"from":5,"entries":[]}`, `{"entries":[{"at":5}]}`, `{"entries":[{"amount":1e3}]}`, `{"entries":[{"amount":0.0000001}]}`, `<html>`} {
		if err := printStatement(strings.NewReader(text), io.Discard); err == nil {
			t.Errorf("%s is accepted as a statement", text)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, fullStatement[:len(fullStatement)*3/4])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	for _, format := range []string{"text", "json", "csv"} {
		var out bytes.Buffer
		c := statementCmd{AdminFlags: client.AdminFlags{Admin: server.URL}, Buyer: "b", Format: format}
		if err := c.Run(&out); err == nil || !strings.Contains(err.Error(), "is incomplete") || out.Len() == 0 {
			t.Errorf("%s: %v, %d bytes", format, err, out.Len())
		}
	}
}

func TestFormatDateOrTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-01T00:00:00Z": "2026-11-01", "2026-11-01T00:00:00.5Z": "2026-11-01 00:00:00", "2026-11-01T00:00:00+02:00": "2026-10-31 22:00:00",
	} {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || formatDateOrTime(at) != want {
			t.Errorf("%s: %s, %v", text, formatDateOrTime(at), err)
		}
	}
}
