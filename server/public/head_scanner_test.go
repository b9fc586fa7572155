package public

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// A head with a line that ends in a bare line feed is rejected at once, on both addresses,
// as a first or as a later request.
func TestBareLineFeedInHeadIsRejected(t *testing.T) {
	for name, row := range map[string]struct{ address, path, line string }{
		"public": {startPublicServer(t, 100), "/openapi.yaml", "A: b"},
		"admin":  {serveAdmin(t, stubOperator{}), "/admin/v1/hash", strings.TrimSuffix(servertest.BasicAuth, "\r\n")},
	} {
		whole := "GET " + row.path + " HTTP/1.1\r\nHost: x\r\n" + row.line + "\r\n\r\n"
		heads := map[string]string{"each line": strings.ReplaceAll(whole, "\r\n", "\n")}
		for i := range strings.Count(whole, "\r\n") {
			parts := strings.SplitN(whole, "\r\n", i+2)
			heads[fmt.Sprintf("line %d", i)] = strings.Join(parts[:i+1], "\r\n") + "\n" + parts[i+1]
		}
		heads["in a value"] = "GET " + row.path + " HTTP/1.1\r\nHost: x\r\nX: a\nY: b\r\n\r\n"
		heads["a long line"] = "GET " + row.path + "?" + strings.Repeat("a", 3000) + " HTTP/1.1\nHost: x\r\n\r\n"
		heads["no header lines"] = "GET / HTTP/1.0\r\n\n"
		for what, head := range heads {
			for before, first := range map[string]string{"alone": "", "later": whole} {
				t.Run(name+"/"+what+"/"+before, func(t *testing.T) {
					k := servertest.Dial(t, row.address)
					if first != "" {
						if status, _, body := k.Send(first); status != 200 {
							t.Fatalf("first %d %.80s", status, body)
						}
					}
					status, header, body := k.Send(head)
					if status != 400 || !strings.Contains(body, `{"error":"malformed_request"`) || header.Get("X-Request-Id") == "" || !k.IsClosedOnNextRequest() {
						t.Errorf("%d %v %.80s", status, header, body)
					}
				})
			}
		}
		pipelined := whole + strings.Replace(whole, " HTTP/1.1\r\n", "?b HTTP/1.1\n", 1) + whole
		t.Run(name+"/pipelined", func(t *testing.T) {
			for _, piece := range []int{len(pipelined), 7, 1} {
				k := servertest.Dial(t, row.address)
				first := statusOfPieces(t, k, pipelined, piece)
				if second, _, body := k.ReadAnswer(); first != 200 || second != 400 || !k.IsClosedOnNextRequest() {
					t.Errorf("in pieces of %d: got %d, then %d %.80s; want 200, then 400", piece, first, second, body)
				}
			}
		})
	}
}

// statusOfPieces sends a text in pieces of so many bytes, and returns the first status.
func statusOfPieces(t *testing.T, k *servertest.RawClientConn, text string, piece int) int {
	t.Helper()
	for len(text) > 0 {
		n := min(piece, len(text))
		if _, err := io.WriteString(k, text[:n]); err != nil {
			break // the server has rejected the request
		}
		text = text[n:]
	}
	status, _, _ := k.ReadAnswer()
	return status
}

// A body may contain request lines and bare line feeds. The server reads the next requests
// correctly.
func TestLineFeedInBodyIsAccepted(t *testing.T) {
	k := servertest.Dial(t, serveAdmin(t, stubOperator{}))
	for range 3 {
		body := "\n# PUT /x HTTP/1.1\n# HTTP/1.0\r\n\n# 0\r\n\ntenant: x\n\n\n"
		if status, _, text := k.Send(servertest.FormatRequest("PUT /admin/v1/config?dry=1", servertest.BasicAuth, body)); status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		chunked := fmt.Sprintf("PUT /admin/v1/config?dry=1 HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n0%x;a=b\r\n%s\r\n0\r\n\r\n", servertest.BasicAuth, len(body), body)
		if status, _, text := k.Send(chunked + servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth, "")); status != 200 {
			t.Fatalf("in chunks: %d %s", status, text)
		}
		if status, _, text := k.ReadAnswer(); status != 200 {
			t.Fatalf("after the chunks: got %d %s", status, text)
		}
	}
}

// A chunked body that ends in a bare line feed or trailer fields gets one answer, 400, and
// the connection closes. So no trailer replaces a header field.
func TestTrailerIsRejected(t *testing.T) {
	exchange, document := startPublicServer(t, 100), servertest.FormatRequest("GET /openapi.yaml", "", "")
	ingest := "POST /api/v1/ingest HTTP/1.1\r\nContent-Type: application/json\r\nX-Api-Key: " + supplierKey + "\r\n"
	for name, row := range map[string]struct{ address, head, next string }{
		"public":            {exchange, ingest, document},
		"public, announced": {exchange, ingest + "Trailer: X-Api-Key, Idempotency-Key\r\n", document},
		"admin":             {serveAdmin(t, stubOperator{}), "PUT /admin/v1/config?dry=1 HTTP/1.1\r\n" + servertest.BasicAuth, servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth, "")},
	} {
		body := ingestBody(1)
		if name == "admin" {
			body = "tenant: x\n"
		}
		chunked := fmt.Sprintf("%sHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", row.head, len(body), body)
		for _, end := range []string{
			"0\r\n\n", "000\r\n\n", "0;a=b\r\n\n", "0 \r\n\n", "0;" + strings.Repeat("a", 3000) + "\r\n\n",
			"0\r\nX: y\n\n", "0\r\nX: y\n\r\n", "0\r\nX: y\r\n\n", "0\r\nX: y\r\n\r\n",
			"0\r\nX-Api-Key: wrong\r\n\r\n", "0\r\nIdempotency-Key: good\r\n\r\n",
		} {
			for before, first := range map[string]string{"alone": "", "later": row.next} {
				text := first + chunked + end + row.next
				for _, piece := range []int{len(text), 7, 1} {
					t.Run(fmt.Sprintf("%s/%.12q/%s/%d", name, end, before, piece), func(t *testing.T) {
						k := servertest.Dial(t, row.address)
						status := statusOfPieces(t, k, text, piece)
						if first != "" {
							if status != 200 {
								t.Fatalf("request before: got %d", status)
							}
							status, _, _ = k.ReadAnswer()
						}
						if status != 400 || !k.IsClosedOnNextRequest() {
							t.Errorf("got %d, want 400 and a closed connection", status)
						}
					})
				}
			}
		}
	}
}

// The test sends targets in absolute form, with fragments and with malformed escapes.
func TestRequestTargetForms(t *testing.T) {
	for name, row := range map[string]struct{ address, path, lines string }{
		"public": {startPublicServer(t, 100), "/openapi.yaml", ""},
		"admin":  {serveAdmin(t, stubOperator{}), "/admin/v1/hash", servertest.BasicAuth},
	} {
		for target, want := range map[string]int{
			row.path: 200, row.path + "?a=b": 200, "http://x" + row.path: 200, "HTTP://other.example:81" + row.path: 200, "https://[::1]" + row.path + "?a=b": 200,
			"http://x/none": 404, "ftp://x" + row.path: 404, "http://x/" + row.path: 404,
			row.path + "#a": 400, row.path + "?a#b": 400, "http://x" + row.path + "#a": 400, "/#": 400,
			row.path + "%zz": 400, row.path + "/%": 400, row.path + "/%41": 404, row.path + "?%zz": 200, "http://x/%4": 400,
			"http://" + row.path: 400, "http://:80" + row.path: 400, "http://a@x" + row.path: 400, "http://a:b@x" + row.path: 400, "http://[x" + row.path: 400,
		} {
			t.Run(name+" "+target, func(t *testing.T) {
				status, _, body := servertest.Dial(t, row.address).Send("GET " + target + " HTTP/1.1\r\nHost: x\r\n" + row.lines + "\r\n")
				if strings.Contains(target, "?") && status == http.StatusUnprocessableEntity {
					status = 200 // the path is valid, the parameter is unknown
				}
				if status != want || status == 400 && !strings.Contains(body, `{"error":"malformed_request"`) {
					t.Errorf("%d %.200s, want %d", status, body, want)
				}
			})
		}
	}
}
