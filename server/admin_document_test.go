package server

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/fasthttp/router"
	"github.com/goccy/go-yaml"

	"pingpost/api"
	"pingpost/server/page"
)

// described are the operations of the admin address's document, such as GET
// /admin/v1/hash, and the role that it says each needs.
func described(t *testing.T) map[string]string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			Role string `yaml:"x-role"`
		} `yaml:"paths"`
	}
	if err := yaml.Unmarshal(api.AdminYAML(), &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			all[strings.ToUpper(method)+" "+path] = operation.Role
		}
	}
	return all
}

// TestRoutesAreDescribed: each route of the admin address is in its document, under the
// names that its path has for its parts and with the role that it asks for, and the other
// way round. A route whose last part may be anything is there by each of what it takes.
func TestRoutesAreDescribed(t *testing.T) {
	a := NewAdmin(desk{}, NewMeter(metrics.NewSet(), func(what string, err error) { t.Errorf("%s: %v", what, err) }), secretWord, slog.New(slog.DiscardHandler))
	routes := router.New()
	a.guarded(routes)
	open := map[string]bool{"GET /healthz": true, "GET /readyz": true, "GET /metrics": true, "POST " + pathSession: true}
	whole, begins := maps.Clone(open), map[string]bool{}
	for method, paths := range routes.List() {
		for _, path := range paths {
			if before, _, follows := strings.Cut(path, "{name:*}"); follows {
				begins[method+" "+before] = false
			} else {
				whole[method+" "+path] = true
			}
		}
	}
	if len(whole) < 60 || len(begins) != 2 {
		t.Fatalf("%d routes, and %v", len(whole), begins)
	}
	for operation, role := range described(t) {
		found, route := whole[operation], operation
		delete(whole, operation)
		for begin := range begins {
			if strings.HasPrefix(operation, begin) {
				found, begins[begin], route = true, true, begin+"{name:*}"
			}
		}
		if !found {
			t.Errorf("%s is described, and no route", operation)
		}
		method, path, _ := strings.Cut(route, " ")
		if need := roleFor(method, path).String(); !open[operation] && role != need || open[operation] && role != "" {
			t.Errorf("%s needs the role %q, and the document says %q", operation, need, role)
		}
	}
	for begin, found := range begins {
		if !found {
			t.Errorf("%s… is a route, and not described", begin)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(whole)) {
		t.Errorf("%s is a route, and not described", operation)
	}
}

// TestAdminDocument: who may ask the admin address has its document from it, as it was
// written, and not again what they have.
func TestAdminDocument(t *testing.T) {
	address, at := admin(t, desk{}), "GET /admin/v1/openapi.yaml"
	k := speak(t, address)
	status, header, body := k.ask(say(at, right, ""))
	if status != http.StatusOK || body != string(api.AdminYAML()) || header.Get("Etag") != page.Admin().Plain.Tag {
		t.Errorf("%d %v, %d bytes", status, header, len(body))
	}
	if status, header, body = k.ask(say(at, right+"Accept-Encoding: gzip\r\n", "")); header.Get("Content-Encoding") != "gzip" || len(body) >= len(api.AdminYAML())/5 {
		t.Errorf("packed: %d %v, %d bytes", status, header, len(body))
	}
	if status, _, body = k.ask(say(at, right+"If-None-Match: "+page.Admin().Plain.Tag+"\r\n", "")); status != http.StatusNotModified || body != "" {
		t.Errorf("of what is there: %d, %d bytes", status, len(body))
	}
	if status, _, _ = k.ask(say(at, "", "")); status != http.StatusUnauthorized {
		t.Errorf("without a password: %d", status)
	}
}
