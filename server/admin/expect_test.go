package admin

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// The server answers 100 only if path, method, credential, origin and length are valid.
func TestAdminExpect(t *testing.T) {
	address := serveAdmin(t, stubOperator{engine: servertest.NewEngineFixture(t).Engine})
	const wrong = "Authorization: Basic b3A6d3Jvbmc=\r\n"
	for _, row := range []struct {
		line, headers string
		length        int
		status        int
		code          string
	}{
		{"PUT /admin/v1/config", servertest.BasicAuth, 2, 100, ""},
		{"PUT /admin/v1/config", servertest.BasicAuth, maxDocument, 100, ""},
		{"PUT /admin/v1/config", servertest.BasicAuth, maxDocument + 1, 413, "payload_too_large"},
		{"PUT /admin/v1/config", "", 2, 401, "unauthorized"},
		{"PUT /admin/v1/config", wrong, 2, 401, "unauthorized"},
		{"PUT /admin/v1/config", wrong, maxDocument + 1, 401, "unauthorized"},
		{"PUT /admin/v1/config", servertest.BasicAuth + "Origin: https://evil.example\r\n", 2, 403, "forbidden"},
		{"PUT /admin/v1/config", servertest.BasicAuth + servertest.BasicAuth, 2, 400, "malformed_request"},
		{"PUT /admin/v1/config#a", servertest.BasicAuth, 2, 400, "malformed_request"},
		{"PUT /admin/v1/suppression/dnc", servertest.BasicAuth, 2, 100, ""},
		{"PUT /admin/v1/suppression/dnc", "", 2, 401, "unauthorized"},
		{"PUT /admin/v1/suppression/dnc", servertest.BasicAuth, maxUpload + 1, 413, "payload_too_large"},
		{"POST /admin/v1/session", "", 2, 100, ""},
		{"POST /admin/v1/session", "", maxLogin + 1, 413, "payload_too_large"},
		{"POST /admin/v1/none", servertest.BasicAuth, 2, 404, "not_found"},
		{"POST /admin/v1/none", "", 2, 401, "unauthorized"},
		{"POST /admin/v1/config", servertest.BasicAuth, 2, 405, "method_not_allowed"},
		{"POST /admin/v1/config", "", 2, 401, "unauthorized"},
	} {
		t.Run(fmt.Sprint(row.line, " ", row.headers, " ", row.length), func(t *testing.T) {
			k := servertest.Dial(t, address)
			status, header, body := k.Send(fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\n%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", row.line, row.headers, row.length))
			if status != row.status {
				t.Fatalf("%d %s, want %d", status, body, row.status)
			}
			if status != 100 {
				if !strings.Contains(body, `{"error":"`+row.code+`"`) || header.Get("X-Request-Id") == "" || !k.IsClosedOnNextRequest() {
					t.Errorf("%v %s", header, body)
				}
				return
			}
			must.Value(io.WriteString(k, "{}"+strings.Repeat(" ", row.length-2)))(t)
			if status, _, body := k.ReadAnswer(); status < 200 || status == 413 || status >= 500 && row.line != "POST /admin/v1/session" {
				t.Errorf("after 100: got %d %s", status, body)
			}
		})
	}
}

// Both addresses have the same limit for the head of a request.
func TestAdminHeadLimit(t *testing.T) {
	for _, limit := range []int{2 << 10, 16 << 10} {
		a := newAdmin(t, stubOperator{})
		a.SetMaxHeader(limit)
		address := servertest.StartServer(t, a.Serve, a.Shutdown)
		for size, want := range map[int]int{limit - 500: 200, limit + 1: 431} {
			status, _, body := servertest.Dial(t, address).Send("GET /admin/v1/hash HTTP/1.1\r\nHost: x\r\n" + servertest.BasicAuth + "Big: " + strings.Repeat("x", size) + "\r\n\r\n")
			if status != want || status == 431 && !strings.Contains(body, `"header_too_large"`) {
				t.Errorf("%d of %d bytes: %d %.80s", size, limit, status, body)
			}
		}
	}
}
