package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/ledger"
	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// CSV escapes notes that a spreadsheet would evaluate as formulas. Other formats keep the
// note unchanged.
func TestStatementNotesAreNoFormulas(t *testing.T) {
	for note, cell := range map[string]string{
		"wire 17":                     "wire 17",
		"=2+5":                        "'=2+5",
		`=HYPERLINK("//evil","here")`: `"'=HYPERLINK(""//evil"",""here"")"`,
		"+2+5":                        "'+2+5",
		"-2+5":                        "'-2+5",
		"@SUM(A1)":                    "'@SUM(A1)",
		"\t=2+5":                      "'\t=2+5",
		"\r=2+5":                      "\"'=2+5\"", // the CSV library removes the carriage return
		"'=2+5":                       "'=2+5",
		"\n=2+5":                      "\"'\r\n=2+5\"",
		"＝2+5":                        "'＝2+5",
		"＋2+5":                        "'＋2+5",
		"－2+5":                        "'－2+5",
		"＠SUM(A1)":                    "'＠SUM(A1)",
		"1=1":                         "1=1",
	} {
		o, closed := newStatementOperator(t)
		o.entries = func() StatementEntryIterator {
			return &entryList{[]ledger.Entry{{Kind: ledger.EntryTopUp, Amount: -1, Note: note, InAccount: true, Balance: -1}}, io.EOF, closed}
		}
		address := serveAdmin(t, o)
		_, _, body := readStatement(t, address, "buyer=buy_blue&format=csv")
		if _, row, _ := strings.Cut(body, "\r\n"); !strings.HasSuffix(row, ",-0.000001,-0.000001,"+cell+"\r\n") {
			t.Errorf("%q: %q", note, row)
		}
		if _, _, body := readStatement(t, address, "buyer=buy_blue&format=ndjson"); note == "=2+5" && !strings.Contains(body, `"note":"=2+5"`) {
			t.Error(body)
		}
	}
}

// All errors of a top-up are reported with their fields.
func TestTopUpErrors(t *testing.T) {
	d := servertest.NewEngineFixture(t)
	funded := engine.CatalogUpdate{Catalog: d.Engine.ActiveCatalogOrNil(), Document: "funded"}
	funded.Initial.Balances = []engine.BuyerOpeningBalance{{Buyer: "buy_blue", Amount: 1}}
	must.Succeed(t, d.Engine.Configure(funded))
	address := serveAdmin(t, stubOperator{engine: d.Engine})
	topUpBalance := func(body string) (status int, header http.Header, text string) {
		return servertest.Dial(t, address).Send(servertest.FormatRequest("POST /admin/v1/buyers/buy_blue/funds", asOperator, body))
	}
	for body, want := range map[string]string{
		`{"amount":1,"note":"wire 17, é"}`: "",
		`{"amount":1}`:                     "",
		`{}`:                               `{"field":"amount","code":"missing_required"`,
		`{"amount":0,"note":"x"}`:          `{"field":"amount","code":"out_of_range"`,
		`{"amount":1,"note":"` + strings.Repeat("n", 257) + `"}`: `{"field":"note","code":"too_long"`,
		`{"amount":1,"note":"two\nlines"}`:                       `{"field":"note","code":"invalid_format"`,
		`{"amount":1,"note":"\u001b]0;title\u0007"}`:             `{"field":"note","code":"invalid_format"`,
	} {
		status, header, text := topUpBalance(body)
		if want == "" && status == 200 {
			continue
		}
		if status != http.StatusUnprocessableEntity || strings.Count(text, `"field":`) != 1 || !strings.Contains(text, want) || header.Get(httperror.HeaderRequestID) == "" {
			t.Errorf("%s: %d %s, want %s", body, status, text, want)
		}
	}
	if _, _, text := topUpBalance(`{"note":"` + strings.Repeat("n", 257) + `"}`); strings.Count(text, `"field":`) != 2 {
		t.Error(text)
	}
}

// Errors of profile requests have the form of the API.
func TestInvalidProfileRequests(t *testing.T) {
	o, _ := newStatementOperator(t)
	address := serveAdmin(t, o)
	for path, want := range map[string]string{
		"/debug/pprof/none": "404 not_found", "/debug/pprof/cmdline": "404 not_found", "/debug/pprof/symbol": "404 not_found",
		"/debug/pprof/%3Cb%3E": "404 not_found", "/debug/pprof/heap?seconds=x": "422 invalid_payload", "/debug/pprof/heap?debug=1": "200 ",
		"/debug/pprof/": "200 ",
	} {
		k := servertest.Dial(t, address)
		status, header, text := k.Send(servertest.FormatRequest("GET "+path, asOperator, ""))
		code := ""
		if status != 200 {
			_, code, _ = strings.Cut(text, `{"error":"`)
			code, _, _ = strings.Cut(code, `"`)
			if id := header.Get(httperror.HeaderRequestID); id == "" || !strings.Contains(text, id) || header.Get("Content-Type") != httperror.TypeJSON {
				t.Errorf("%s: %v %s", path, header, text)
			}
		}
		if got := fmt.Sprint(status, " ", code); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
