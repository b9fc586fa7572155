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

// askOld requests a statement in HTTP/1.0 and reads all that comes.
func askOld(t *testing.T, address string) (text string, err error) {
	t.Helper()
	k := servertest.Dial(t, address)
	must.Value(io.WriteString(k, "GET /admin/v1/statement?buyer=buy_blue&format=ndjson HTTP/1.0\r\nConnection: keep-alive\r\n"+servertest.BasicAuth+"\r\n"))(t)
	all, err := io.ReadAll(k.Answer)
	return string(all), err
}

// TestStatementInHTTP10 checks that a statement over HTTP/1.0 is not chunked and ends with
// its connection.
func TestStatementInHTTP10(t *testing.T) {
	o, closed := newOffice(t)
	address := serveAdmin(t, o)
	_, _, want := statementOf(t, address, "buyer=buy_blue&format=ndjson")
	for range 2 * maxStatements { // each gives its place back
		text, err := askOld(t, address)
		head, body, _ := strings.Cut(text, "\r\n\r\n")
		if err != nil || body != want || strings.Contains(strings.ToLower(head), "transfer-encoding") || !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || !strings.Contains(head, "Connection: close") || !strings.Contains(head, "application/x-ndjson") {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if n := closed.Load(); n != 2*maxStatements+1 {
		t.Errorf("%d of the readings are closed", n)
	}
	if text, _ := askOld(t, serveAdmin(t, o)); strings.Contains(text, http.StatusText(http.StatusInternalServerError)) {
		t.Error(text)
	}
}

// TestHalfAStatementInHTTP10 checks that an incomplete statement does not end like a
// complete one.
func TestHalfAStatementInHTTP10(t *testing.T) {
	o, closed := newOffice(t)
	o.entries = func() StatementEntryIterator { return &booked{blues, errors.New("the log is gone"), closed} }
	if text, err := askOld(t, serveAdmin(t, o)); err == nil {
		t.Errorf("it ends well: %s", text)
	}
}
