package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatTheExchangeSays: of a payload that does not fit, also which fields, and
// what is expected of them.
func TestWhatTheExchangeSays(t *testing.T) {
	for _, row := range []struct {
		status     int
		body, want string
	}{
		{404, `{"message":"There is nothing."}`, "the exchange says: There is nothing."},
		{502, `<html>`, "the exchange says: 502 Bad Gateway"},
		{
			422, `{"message":"It does not fit.","field_errors":[{"field":"id","code":"invalid_format","expected":"the id of a lead"},{"field":"b","expected":"c"}]}`,
			"the exchange says: It does not fit.\n  id: expected the id of a lead\n  b: expected c",
		},
		{
			422, `{"message":"document:1:1: a: is wrong\ndocument:2:1: b: is bad","field_errors":[{"field":"a","expected":"is wrong"},{"field":"b","expected":"is bad"}]}`,
			"the exchange says: document:1:1: a: is wrong\ndocument:2:1: b: is bad",
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(row.status)
			_, _ = w.Write([]byte(row.body))
		}))
		_, err := (&adminFlags{Admin: server.URL}).callAdminAPI("GET", "/x", nil)
		server.Close()
		if err == nil || strings.TrimSpace(err.Error()) != row.want {
			t.Errorf("%d: %v, want %s", row.status, err, row.want)
		}
	}
}

// TestTheWrongPassword: whoever is not let in hears where the password goes, and
// never what it was.
func TestTheWrongPassword(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"message":"The password, please."}`))
	}))
	defer server.Close()
	for password, want := range map[string]string{"": "The command sent no credential; ", "hunter2": "The exchange rejected the configured password; "} {
		_, err := (&adminFlags{Admin: server.URL, Password: password}).callAdminAPI("GET", "/x", nil)
		if err == nil || !strings.Contains(err.Error(), "The password, please.\n") || !strings.Contains(err.Error(), "PINGPOST_ADMIN_PASSWORD") ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", password, err)
		}
	}
}
