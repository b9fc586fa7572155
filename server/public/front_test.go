package public

import (
	"errors"
	"strings"
	"testing"
)

// The page at / has the exchange's name and status. A client that wants JSON gets the 404 of an
// unknown path, and so do unknown paths beside it.
func TestFrontPage(t *testing.T) {
	var notReady error
	d := newTestServer(t, func(o *Options) { o.Name, o.Ready = "acme", func() error { return notReady } })
	browser := []string{"Accept", "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}
	json := []string{"Accept", "application/json"}
	for name, row := range map[string]struct {
		method, path string
		headers      []string
		notReady     error
		status       int
		has          string
	}{
		"browser":                {"GET", "/", browser, nil, 200, ">Ready.<"},
		"no Accept":              {"GET", "/", nil, nil, 200, "<h1>acme</h1>"},
		"any type":               {"GET", "/", []string{"Accept", "*/*"}, nil, 200, `href="docs"`},
		"not ready":              {"GET", "/", browser, errors.New("secret reason"), 200, "Not ready."},
		"JSON":                   {"GET", "/", json, nil, 404, `"error":"not_found"`},
		"another method":         {"POST", "/", nil, nil, 405, `"error":"method_not_allowed"`},
		"query":                  {"GET", "/?x=1", nil, nil, 422, `"field":"x"`},
		"unknown path":           {"GET", "/x", browser, nil, 404, `"error":"not_found"`},
		"two slashes":            {"GET", "//", browser, nil, 404, `"error":"not_found"`},
		"path of the admin page": {"GET", "/favicon.svg", browser, nil, 404, `"error":"not_found"`},
	} {
		notReady = row.notReady
		r := &d.send(row.method, row.path, "", row.headers...).Response
		body := string(r.Body())
		if r.StatusCode() != row.status || !strings.Contains(body, row.has) || strings.Contains(body, "secret reason") {
			t.Errorf("%s: got %d %s, want %d and %s", name, r.StatusCode(), body, row.status, row.has)
		}
	}
	r := &d.send("HEAD", "/", "").Response
	if r.StatusCode() != 200 || string(r.Header.Peek("Cache-Control")) != "no-store" || string(r.Header.Peek("Vary")) != "Accept" || len(r.Header.Peek("X-Request-Id")) == 0 {
		t.Errorf("HEAD: got %d %s", r.StatusCode(), &r.Header)
	}
}
