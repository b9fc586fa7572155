package admin

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// getStatementHTTP10 requests a statement over HTTP/1.0 and reads to the end of the connection.
func getStatementHTTP10(t *testing.T, address string) (text string, err error) {
	t.Helper()
	k := servertest.Dial(t, address)
	must.Value(io.WriteString(k, "GET /admin/v1/statement?buyer=buy_blue&format=ndjson HTTP/1.0\r\nConnection: keep-alive\r\n"+servertest.BasicAuth+"\r\n"))(t)
	all, err := io.ReadAll(k.Answer)
	return string(all), err
}

// A statement over HTTP/1.0 is not chunked and ends with its connection.
func TestStatementInHTTP10(t *testing.T) {
	o, closed := newStatementOperator(t)
	address := serveAdmin(t, o)
	_, _, want := readStatement(t, address, "buyer=buy_blue&format=ndjson")
	for range 2 * maxStatements { // each must release its slot
		text, err := getStatementHTTP10(t, address)
		head, body, _ := strings.Cut(text, "\r\n\r\n")
		if err != nil || body != want || strings.Contains(strings.ToLower(head), "transfer-encoding") || !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || !strings.Contains(head, "Connection: close") || !strings.Contains(head, "application/x-ndjson") {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if n := closed.Load(); n != 2*maxStatements+1 {
		t.Errorf("%d statements were closed, want all", n)
	}
	if text, _ := getStatementHTTP10(t, serveAdmin(t, o)); strings.Contains(text, http.StatusText(http.StatusInternalServerError)) {
		t.Error(text)
	}
}

// An incomplete statement does not end like a complete one.
func TestTruncatedStatementInHTTP10(t *testing.T) {
	o, closed := newStatementOperator(t)
	o.entries = func() StatementEntryIterator { return &entryList{blues, errors.New("the log is gone"), closed} }
	if text, err := getStatementHTTP10(t, serveAdmin(t, o)); err == nil {
		t.Errorf("the truncated statement ends without an error: %s", text)
	}
}
