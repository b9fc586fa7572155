package server

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pingpost/engine"
)

var asOperator = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("operator:"+secretWord)) + "\r\n"

// TestNotesAreNoFormulas: a spreadsheet takes a cell that begins so for a formula,
// whoever wrote the note. The other forms have it as it was written.
func TestNotesAreNoFormulas(t *testing.T) {
	for note, cell := range map[string]string{
		"wire 17":                     "wire 17",
		"=2+5":                        "'=2+5",
		`=HYPERLINK("//evil","here")`: `"'=HYPERLINK(""//evil"",""here"")"`,
		"+2+5":                        "'+2+5",
		"-2+5":                        "'-2+5",
		"@SUM(A1)":                    "'@SUM(A1)",
		"\t=2+5":                      "'\t=2+5",
		"\r=2+5":                      "\"'=2+5\"", // the library takes the sign away
		"'=2+5":                       "'=2+5",
		"1=1":                         "1=1",
	} {
		o, closed := newOffice(t)
		o.list = func() Entries {
			return &booked{[]engine.Entry{{Kind: engine.EntryTopUp, Amount: -1, Note: note, InAccount: true, Balance: -1}}, io.EOF, closed}
		}
		address := o.serve(t)
		_, _, body := statementOf(t, address, "buyer=buy_blue&format=csv")
		if _, row, _ := strings.Cut(body, "\r\n"); !strings.HasSuffix(row, ",-0.000001,-0.000001,"+cell+"\r\n") {
			t.Errorf("%q: %q", note, row)
		}
		if _, _, body := statementOf(t, address, "buyer=buy_blue&format=ndjson"); note == "=2+5" && !strings.Contains(body, `"note":"=2+5"`) {
			t.Error(body)
		}
	}
}

// TestTopUpFaults: all that is wrong with one is said, of the member that has it.
func TestTopUpFaults(t *testing.T) {
	o := &office{engine: open(t).engine}
	address := o.serve(t)
	topUp := func(body string) (status int, header http.Header, text string) {
		return speak(t, address).ask(say("POST /admin/v1/buyers/buy_blue/funds", asOperator, body))
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
		status, header, text := topUp(body)
		if want == "" && status == 200 {
			continue
		}
		if status != http.StatusUnprocessableEntity || strings.Count(text, `"field":`) != 1 || !strings.Contains(text, want) || header.Get(headerRequestID) == "" {
			t.Errorf("%s: %d %s, want %s", body, status, text, want)
		}
	}
	if _, _, text := topUp(`{"note":"` + strings.Repeat("n", 257) + `"}`); strings.Count(text, `"field":`) != 2 {
		t.Error(text)
	}
}

// TestProfilesThatAreNone: an error is in the interface's form here, too.
func TestProfilesThatAreNone(t *testing.T) {
	o, _ := newOffice(t)
	address := o.serve(t)
	for path, want := range map[string]string{
		"/debug/pprof/none": "404 not_found", "/debug/pprof/cmdline": "404 not_found", "/debug/pprof/symbol": "404 not_found",
		"/debug/pprof/%3Cb%3E": "404 not_found", "/debug/pprof/heap?seconds=x": "422 invalid_payload", "/debug/pprof/heap?debug=1": "200 ",
		"/debug/pprof/": "200 ",
	} {
		k := speak(t, address)
		status, header, text := k.ask(say("GET "+path, asOperator, ""))
		code := ""
		if status != 200 {
			_, code, _ = strings.Cut(text, `{"error":"`)
			code, _, _ = strings.Cut(code, `"`)
			if id := header.Get(headerRequestID); id == "" || !strings.Contains(text, id) || header.Get("Content-Type") != typeJSON {
				t.Errorf("%s: %v %s", path, header, text)
			}
		}
		if got := fmt.Sprint(status, " ", code); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
