package request

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// Exchanges on different ports of a host have different cookies. A Host header that has no proper port
// cannot become part of the name.
func TestCookieNameHasPort(t *testing.T) {
	for host, want := range map[string]string{
		"localhost":        "c",
		"localhost:9090":   "c-9090",
		"example.com:443":  "c-443",
		"[::1]":            "c",
		"[::1]:9091":       "c-9091",
		"localhost:":       "c",
		"localhost:99999":  "c",
		"localhost:000080": "c",
		"localhost:+80":    "c",
		"localhost:a;b=c":  "c",
	} {
		var header fasthttp.RequestHeader
		header.SetRequestURI("/")
		header.SetHost(host)
		if got := CookieNameWithPort(&header, "c"); got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
	var header fasthttp.RequestHeader
	header.SetRequestURI("http://example.com:9092/admin")
	header.SetHost("other:1")
	if got := CookieNameWithPort(&header, "c"); got != "c-9092" {
		t.Errorf("a target with a host: got %q, want c-9092", got)
	}
}
