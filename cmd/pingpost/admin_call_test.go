package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/client"
	"pingpost/internal/must"
)

// stubAdmin returns the flags for an admin address that gives the same answer to each request.
// lastRequest holds the method, the URI and the body of the last request.
func stubAdmin(t *testing.T, status int, answer string) (flags client.AdminFlags, lastRequest *string) {
	t.Helper()
	lastRequest = new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*lastRequest = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(must.Value(io.ReadAll(r.Body))(t)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return client.AdminFlags{Admin: server.URL}, lastRequest
}

// TestAdminCommandRequests checks the request that a command with these flags sends.
func TestAdminCommandRequests(t *testing.T) {
	t.Parallel()
	const report, statement = "GET /admin/v1/report?", "GET /admin/v1/statement?"
	flags, lastRequest := stubAdmin(t, http.StatusOK, `{"erased":3,"left":0,"left_leads":[],"entries":[]}`)
	for want, command := range map[string]interface{ Run(out io.Writer) error }{
		`POST /admin/v1/erase {"email":"","lead":"lead_1","phone":""}`: &eraseContactDataCmd{AdminFlags: flags, Lead: "lead_1"},
		`POST /admin/v1/erase {"email":"","lead":"","phone":"+1 2"}`:   &eraseContactDataCmd{AdminFlags: flags, Phone: "+1 2"},
		`POST /admin/v1/erase {"email":"a@b.c","lead":"","phone":""}`:  &eraseContactDataCmd{AdminFlags: flags, Email: "a@b.c"},

		report + "format=csv": &reportShowCmd{AdminFlags: flags, Format: "csv"},
		report + "by=day%2Cbuyer&format=ndjson&zone=Asia%2FKolkata": &reportShowCmd{AdminFlags: flags, Format: "ndjson", By: []string{"day", "buyer"}, Zone: "Asia/Kolkata"},
		report + "by=hour&format=parquet":                           &reportShowCmd{AdminFlags: flags, Format: "parquet", By: []string{"hour"}},
		report + "buyer=b&campaign=c&format=csv&from=2026-11-01&supplier=a&to=2026-12-01": &reportShowCmd{
			AdminFlags: flags, Format: "csv", From: "2026-11-01", To: "2026-12-01", Supplier: "a", Buyer: "b", Campaign: "c",
		},
		report + "format=csv&reason=no_bid&source=s+t&state=CA": &reportShowCmd{AdminFlags: flags, Format: "csv", Source: "s t", State: "CA", Reason: "no_bid"},

		statement + "buyer=b": &statementCmd{AdminFlags: flags, Buyer: "b", Format: "text"},
		statement + "from=2026-11-01&supplier=s+1&to=2026-12-01": &statementCmd{AdminFlags: flags, Supplier: "s 1", From: "2026-11-01", To: "2026-12-01", Format: "json"},
		statement + "buyer=b&format=csv":                         &statementCmd{AdminFlags: flags, Buyer: "b", Format: "csv"},
		statement + "buyer=b&format=parquet":                     &statementCmd{AdminFlags: flags, Buyer: "b", Format: "parquet"},
	} {
		var out strings.Builder
		if err := command.Run(&out); err != nil || *lastRequest != want || out.Len() == 0 {
			t.Errorf("%s, %v, %q; want %s", *lastRequest, err, out.String(), want)
		}
	}
}

// TestAPIErrorMessages: the command prints the exchange's message, and the expected values of invalid
// fields. After a 401 it says which credential it sent, and never the credential.
func TestAPIErrorMessages(t *testing.T) {
	t.Parallel()
	const login = `{"message":"The password, please."}`
	for _, row := range []struct {
		status               int
		password, body, want string
	}{
		{404, "", `{"message":"There is nothing."}`, "the exchange says: There is nothing."},
		{502, "", `<html>`, "the exchange says: 502 Bad Gateway"},
		{
			422, "", `{"message":"It does not fit.","field_errors":[{"field":"id","code":"invalid_format","expected":"the id of a lead"},{"field":"b","expected":"c"}]}`,
			"the exchange says: It does not fit.\n  id: expected the id of a lead\n  b: expected c",
		},
		{
			422, "", `{"message":"document:1:1: a: is wrong\ndocument:2:1: b: is bad","field_errors":[{"field":"a","expected":"is wrong"},{"field":"b","expected":"is bad"}]}`,
			"the exchange says: document:1:1: a: is wrong\ndocument:2:1: b: is bad",
		},
		{401, "", login, "the exchange says: The password, please.\nThe command sent no credential; set PINGPOST_ADMIN_PASSWORD or PINGPOST_ADMIN_TOKEN, or give --user or --password"},
		{401, "hunter2", login, "the exchange says: The password, please.\nThe exchange rejected the password as its admin.password; correct PINGPOST_ADMIN_PASSWORD or --password, or give --user for an account's password"},
	} {
		flags, _ := stubAdmin(t, row.status, row.body)
		flags.Password = row.password
		_, err := flags.Call("GET", "/x", nil)
		if err == nil || strings.TrimSpace(err.Error()) != row.want {
			t.Errorf("%d: %v, want %s", row.status, err, row.want)
		}
	}
}
