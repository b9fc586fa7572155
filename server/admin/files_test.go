package admin

import (
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fasthttp/router"
	"github.com/goccy/go-yaml"

	"pingpost/api"
	"pingpost/internal/must"
	"pingpost/server/apidocs"
	"pingpost/server/dashboard"
	"pingpost/server/docsite"
	"pingpost/server/servertest"
)

// The files of the dashboard need no authentication, are compressed and cached, and have a
// strict policy.
func TestDashboardIsServed(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	for _, at := range dashboard.Paths() {
		file := dashboard.FindFile(at)
		status, header, body := servertest.SendOverNewConn(t, address, "GET", at)
		if status != 200 || body != string(file.Plain.Body) || header["Content-Type"][0] != file.Type || header["Content-Encoding"] != nil {
			t.Fatalf("%s: %d %v", at, status, header)
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": dashboard.Policy, "Cache-Control": file.Cache, "Etag": file.Plain.Tag, "Vary": "Accept-Encoding",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := strings.Join(header[name], ", "); got != value {
				t.Errorf("%s: %s: %q, want %q", at, name, got, value)
			}
		}
		_, packed, text := servertest.SendOverNewConn(t, address, "GET", at, "Accept-Encoding: br, gzip")
		unpacked, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v %v", at, packed, err)
		}
		if plain, err := io.ReadAll(unpacked); err != nil || string(plain) != body || packed["Etag"][0] == file.Plain.Tag {
			t.Errorf("%s: the compressed file differs: %v, %v", at, packed, err)
		}
		if status, _, empty := servertest.SendOverNewConn(t, address, "GET", at, "If-None-Match: "+file.Plain.Tag); status != 304 || empty != "" {
			t.Errorf("%s with the current ETag: got %d %.20q, want 304", at, status, empty)
		}
		k := servertest.Dial(t, address)
		must.Value(io.WriteString(k, "HEAD "+at+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))(t)
		if text, err := io.ReadAll(k.Answer); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(string(text), "\r\n\r\n") {
			t.Errorf("HEAD %s: %.200s, %v", at, text, err)
		}
	}
	for _, at := range []string{"/index.html", "/assets/", "/assets/none.js", "/admin/v1/config"} {
		if status, _, _ := servertest.SendOverNewConn(t, address, "GET", at); status != 401 {
			t.Errorf("%s without a password: got %d, want 401", at, status)
		}
	}
}

// The console links to the documentation at its own address, which the public address may not have for
// the operator's browser.
func TestDocumentationIsServedOnAdminAddress(t *testing.T) {
	k := servertest.Dial(t, serveAdmin(t, stubOperator{}))
	for _, at := range []string{docsite.Home, docsite.Prefix + "adapters", docsite.Prefix + "site.css", apidocs.PathYAML, apidocs.PathJSON} {
		if status, header, body := k.Send(servertest.FormatRequest("GET "+help+at, "", "")); status != 200 || body == "" {
			t.Fatalf("%s: got %d %v", at, status, header)
		}
	}
	_, header, _ := k.Send(servertest.FormatRequest("GET "+help+docsite.Home, "", ""))
	if got := header["Content-Security-Policy"]; len(got) != 1 || got[0] != docsite.Policy {
		t.Errorf("the policy is %q, want %q", got, docsite.Policy)
	}
	status, moved := servertest.CallHandler(newAdmin(t, stubOperator{}).http.Handler, "GET", docsite.Home, "") // the checked client knows the public path only
	if status != 308 || len(moved["Location"]) != 1 || moved["Location"][0] != "./help/docs" {
		t.Errorf("%s: got %d %v, want a redirect to the same page", docsite.Home, status, moved)
	}
}

// documentedRoles returns the required role of each operation in the document of the admin
// API, by keys such as GET /admin/v1/hash.
func documentedRoles(t *testing.T) map[string]string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			Role string `yaml:"x-role"`
		} `yaml:"paths"`
	}
	must.Succeed(t, yaml.Unmarshal(api.AdminYAML(), &document))
	all := map[string]string{}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			all[strings.ToUpper(method)+" "+path] = operation.Role
		}
	}
	return all
}

// The routes and the document of the admin API have the same paths, parameter names and
// roles. A route with a wildcard is documented once per value.
func TestRoutesMatchDocument(t *testing.T) {
	a := newAdmin(t, stubOperator{})
	routes := router.New()
	a.addAuthenticatedRoutes(routes)
	open := map[string]bool{"GET /healthz": true, "GET /readyz": true, "GET /leader": true, "GET /metrics": true, "POST " + pathSession: true}
	for operation := range a.unauthenticatedTeamOperations() {
		open[operation] = true
	}
	exact, prefixes := maps.Clone(open), map[string]bool{}
	for method, paths := range routes.List() {
		for _, path := range paths {
			if before, _, follows := strings.Cut(path, "{name:*}"); follows {
				prefixes[method+" "+before] = false
			} else {
				exact[method+" "+path] = true
			}
		}
	}
	if len(exact) < 60 || len(prefixes) != 2 {
		t.Fatalf("%d routes, and %v", len(exact), prefixes)
	}
	for operation, role := range documentedRoles(t) {
		found, route := exact[operation], operation
		delete(exact, operation)
		for prefix := range prefixes {
			if strings.HasPrefix(operation, prefix) {
				found, prefixes[prefix], route = true, true, prefix+"{name:*}"
			}
		}
		if !found {
			t.Errorf("%s is in the document, but has no route", operation)
		}
		method, path, _ := strings.Cut(route, " ")
		if need := requiredRole(method, path).String(); !open[operation] && role != need || open[operation] && role != "" {
			t.Errorf("%s requires the role %q, but the document says %q", operation, need, role)
		}
	}
	for prefix, found := range prefixes {
		if !found {
			t.Errorf("the route %s… is not in the document", prefix)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(exact)) {
		t.Errorf("the route %s is not in the document", operation)
	}
}

// Authenticated callers get the OpenAPI document unchanged, and 304 for a current copy.
func TestAdminDocument(t *testing.T) {
	address, at := serveAdmin(t, stubOperator{}), "GET /admin/v1/openapi.yaml"
	k := servertest.Dial(t, address)
	status, header, body := k.Send(servertest.FormatRequest(at, servertest.BasicAuth, ""))
	if status != http.StatusOK || body != string(api.AdminYAML()) || header.Get("Etag") != apidocs.AdminOpenAPI().Plain.Tag {
		t.Errorf("%d %v, %d bytes", status, header, len(body))
	}
	if status, header, body = k.Send(servertest.FormatRequest(at, servertest.BasicAuth+"Accept-Encoding: gzip\r\n", "")); header.Get("Content-Encoding") != "gzip" || len(body) >= len(api.AdminYAML())/5 {
		t.Errorf("compressed: %d %v, %d bytes", status, header, len(body))
	}
	if status, _, body = k.Send(servertest.FormatRequest(at, servertest.BasicAuth+"If-None-Match: "+apidocs.AdminOpenAPI().Plain.Tag+"\r\n", "")); status != http.StatusNotModified || body != "" {
		t.Errorf("with the current ETag: got %d, %d bytes, want 304", status, len(body))
	}
	if status, _, _ = k.Send(servertest.FormatRequest(at, "", "")); status != http.StatusUnauthorized {
		t.Errorf("without a password: got %d, want 401", status)
	}
}
