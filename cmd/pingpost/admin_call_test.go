package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAPIErrors: the command prints the exchange's message, and the expected values of invalid
// fields. After a 401 it says which credential it sent, and never the credential.
func TestAPIErrors(t *testing.T) {
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
		{401, "hunter2", login, "the exchange says: The password, please.\nThe exchange rejected the configured password; set PINGPOST_ADMIN_PASSWORD, or give --password"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(row.status)
			_, _ = w.Write([]byte(row.body))
		}))
		_, err := (&adminFlags{Admin: server.URL, Password: row.password}).callAdminAPI("GET", "/x", nil)
		server.Close()
		if err == nil || strings.TrimSpace(err.Error()) != row.want {
			t.Errorf("%d: %v, want %s", row.status, err, row.want)
		}
	}
}
