package server

import (
	"compress/gzip"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/server/dashboard"
)

// TestDashboardIsServed: the page's files come to anybody, packed where that is taken, once
// to each who keeps them, and under a policy that lets nothing in.
func TestDashboardIsServed(t *testing.T) {
	a := NewAdmin(desk{}, NewMeter(metrics.NewSet(), func(what string, err error) { t.Errorf("%s: %v", what, err) }), secretWord, slog.New(slog.DiscardHandler))
	address := listen(t, a.Serve, a.Shutdown)
	for _, at := range dashboard.Paths() {
		file := dashboard.Find(at)
		status, header, body := published(t, address, "GET", at)
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
		_, packed, text := published(t, address, "GET", at, "Accept-Encoding: br, gzip")
		unpacked, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v %v", at, packed, err)
		}
		if plain, err := io.ReadAll(unpacked); err != nil || string(plain) != body || packed["Etag"][0] == file.Plain.Tag {
			t.Errorf("%s: packed it is another file: %v, %v", at, packed, err)
		}
		if status, _, empty := published(t, address, "GET", at, "If-None-Match: "+file.Plain.Tag); status != 304 || empty != "" {
			t.Errorf("%s, kept already: %d %.20q", at, status, empty)
		}
		k := speak(t, address)
		if _, err := io.WriteString(k, "HEAD "+at+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(k.answer); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(string(text), "\r\n\r\n") {
			t.Errorf("HEAD %s: %.200s, %v", at, text, err)
		}
	}
	for _, at := range []string{"/index.html", "/assets/", "/assets/none.js", "/admin/v1/config"} {
		if status, _, _ := published(t, address, "GET", at); status != 401 {
			t.Errorf("%s without a password: %d", at, status)
		}
	}
}
