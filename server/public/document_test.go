package public

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pingpost/api"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// The documents support conditional requests, compression and HEAD, and reject other
// methods.
func TestDocumentsCachingAndMethods(t *testing.T) {
	address := startPublicServer(t, 100)
	for path, kind := range map[string]string{"/openapi.yaml": "application/yaml", "/openapi.json": "application/json", "/docs": "text/html; charset=utf-8"} {
		t.Run(path, func(t *testing.T) {
			status, header, body := servertest.SendOverNewConn(t, address, "GET", path)
			tag := header["Etag"]
			if status != 200 || header["Content-Type"][0] != kind || len(tag) != 1 || header["Cache-Control"] == nil || header["Content-Encoding"] != nil {
				t.Fatalf("%d %v", status, header)
			}
			if status, again, empty := servertest.SendOverNewConn(t, address, "GET", path, "If-None-Match: W/\"other\", "+tag[0]); status != 304 || empty != "" || again["Etag"][0] != tag[0] {
				t.Errorf("with the current ETag: got %d %v %.20q, want 304", status, again, empty)
			}
			if status, _, whole := servertest.SendOverNewConn(t, address, "GET", path, `If-None-Match: "other"`); status != 200 || whole != body {
				t.Errorf("with another ETag: got %d, want the whole document", status)
			}
			status, packed, text := servertest.SendOverNewConn(t, address, "GET", path, "Accept-Encoding: br, gzip")
			unpacked, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%d %v: %v", status, packed, err)
			}
			plain, err := io.ReadAll(unpacked)
			if err != nil || string(plain) != body || packed["Etag"][0] == tag[0] || packed["Content-Encoding"][0] != "gzip" {
				t.Errorf("compressed: %d bytes for %d, %v, %v", len(plain), len(body), packed, err)
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
				if status, header, _ := servertest.SendOverNewConn(t, address, method, path, "Content-Length: 0"); status != 405 || header["Allow"][0] != "GET, HEAD" {
					t.Errorf("%s: %d %v", method, status, header)
				}
			}
			k := servertest.Dial(t, address)
			must.Value(io.WriteString(k, "HEAD "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))(t)
			head, rest, _ := strings.Cut(string(must.Value(io.ReadAll(k.Answer))(t)), "\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || rest != "" || !strings.Contains(head, "ETag: "+tag[0]) || !strings.Contains(head, "Content-Length: "+header["Content-Length"][0]+"\r\n") {
				t.Errorf("HEAD: got %s and a body of %d bytes", head, len(rest))
			}
		})
	}
}

// The served YAML has the bytes of the source, and the JSON has the same content.
func TestServedDocumentEqualsSource(t *testing.T) {
	address := startPublicServer(t, 100)
	_, _, text := servertest.SendOverNewConn(t, address, "GET", "/openapi.yaml")
	if text != string(api.PublicYAML()) {
		t.Error("the YAML differs from the source")
	}
	_, _, converted := servertest.SendOverNewConn(t, address, "GET", "/openapi.json")
	var one, other any
	must.Succeed(t, yaml.Unmarshal([]byte(text), &one))
	must.Succeed(t, json.Unmarshal([]byte(converted), &other))
	first := must.Value(json.Marshal(one))(t)
	second, err := json.Marshal(other)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the JSON differs from the YAML: %v", err)
	}
}

// The policy of the pages allows only files of this address, and no inline code.
func TestDocsPolicyAllowsOnlyOwnFiles(t *testing.T) {
	address := startPublicServer(t, 100)
	for _, path := range []string{"/", "/docs", "/docs/api", "/docs/concepts"} {
		_, header, body := servertest.SendOverNewConn(t, address, "GET", path)
		policy := header["Content-Security-Policy"][0]
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy lacks %s: %s", path, part, policy)
			}
		}
		for _, way := range []string{"unsafe", "*", "http:", "https:", "blob:", "data:"} {
			if strings.Contains(policy, way) {
				t.Errorf("%s: the policy allows %s: %s", path, way, policy)
			}
		}
		if strings.Contains(body, "<script>") || strings.Contains(body, "<style") {
			t.Errorf("%s has inline code", path)
		}
	}
}

// Files of the documentation have their types, and unknown names are unknown paths.
func TestDocsFiles(t *testing.T) {
	address := startPublicServer(t, 100)
	for path, kind := range map[string]string{
		"/docs/api": "text/html; charset=utf-8", "/docs/site.css": "text/css; charset=utf-8", "/docs/search.json": "application/json", "/docs/favicon.svg": "image/svg+xml", "/docs/overview.webp": "image/webp",
	} {
		if status, header, body := servertest.SendOverNewConn(t, address, "GET", path); status != 200 || header["Content-Type"][0] != kind || body == "" || header["Access-Control-Allow-Origin"] != nil {
			t.Errorf("%s: got %d %v, want 200 and %s", path, status, header, kind)
		}
		if status, header, _ := servertest.SendOverNewConn(t, address, "POST", path, "Content-Length: 0"); status != 405 || header["Allow"][0] != "GET, HEAD" {
			t.Errorf("POST %s: got %d %v, want 405", path, status, header)
		}
	}
	for _, path := range []string{"/docs/none", "/docs/index", "/docs/api.html", "/docs/api/", "/docs/../docs/api/", "/docsapi"} {
		if status, header, body := servertest.SendOverNewConn(t, address, "GET", path); status != 404 || header["Content-Type"][0] != "application/json" || !strings.Contains(body, `"error":"not_found"`) {
			t.Errorf("%s: got %d %v, want the 404 of an unknown path", path, status, header)
		}
	}
}

// TestDocsWithSlashRedirect: /docs/ leads to the first page, also behind a proxy that serves the
// exchange below a path.
func TestDocsWithSlashRedirect(t *testing.T) {
	address := startPublicServer(t, 100)
	status, header, body := servertest.SendOverNewConn(t, address, "GET", "/docs/")
	if status != 308 || header["Location"][0] != "../docs" || body != "" || header["X-Request-Id"] == nil {
		t.Errorf("got %d %v, want 308 to ../docs", status, header)
	}
	if status, header, _ := servertest.SendOverNewConn(t, address, "POST", "/docs/", "Content-Length: 0"); status != 405 || header["Allow"][0] != "GET, HEAD" {
		t.Errorf("POST: got %d %v, want 405", status, header)
	}
}
