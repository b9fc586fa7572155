package public

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/server/connection"
	"pingpost/server/servertest"
)

// If the server rejects a request before it was read completely, the client still receives
// the answer, even while it is sending. A reset could remove the answer.
func TestClientReceivesErrorBeforeClose(t *testing.T) {
	plain := startPublicServer(t, 100)
	tlsAddress, clientTLS, _ := startTLSServer(t, 100)
	operators := serveAdmin(t, stubOperator{})
	long := strings.Repeat("x", 200_000)
	for name, row := range map[string]struct{ request, want string }{
		"header lines over the limit": {"GET /docs HTTP/1.1\r\nHost: x\r\nX-Long: " + long + "\r\n\r\n", "HTTP/1.1 431 "},
		"a key twice":                 {ingestHead(long, "Idempotency-Key: a\r\n", "Idempotency-Key: b\r\n") + long, "HTTP/1.1 400 "},
		"another version":             {strings.Replace(ingestHead(long), "HTTP/1.1", "HTTP/2.0", 1) + long, "HTTP/1.1 505 "},
	} {
		for over, k := range map[string]net.Conn{"plain": servertest.Dial(t, plain), "TLS": servertest.DialTLS(t, tlsAddress, clientTLS), "admin": servertest.Dial(t, operators)} {
			if over == "admin" && !strings.Contains(row.want, "431") {
				continue // only the public server checks these before reading
			}
			if _, err := io.WriteString(k, row.request); err != nil {
				t.Errorf("%s, %s: cannot send: %v", name, over, err)
			}
			if got, err := io.ReadAll(k); err != nil || !strings.HasPrefix(string(got), row.want) || !strings.HasSuffix(string(got), "}") {
				t.Errorf("%s, %s: error %v after %.200q, want the whole answer", name, over, err, got)
			}
		}
	}
}

// The server discards the rest of a rejected request for a limited time and length.
func TestDrainOfRejectedRequestIsLimited(t *testing.T) {
	k := servertest.Dial(t, startPublicServer(t, 100))
	long := strings.Repeat("x", 200_000)
	must.Value(io.WriteString(k, "GET /docs HTTP/1.1\r\nHost: x\r\nX-Long: "))(t)
	for sent := 0; ; sent += len(long) {
		if _, err := io.WriteString(k, long); err != nil {
			return // the server closed the connection
		}
		if sent > 100*connection.MaxDrain {
			t.Fatal("the server discards more than its limit")
		}
	}
}

// The library's own answers (an error before the handler, 100 Continue) also arrive if the
// connection was idle for longer than the write timeout since its last answer.
func TestAnswerAfterIdleTime(t *testing.T) {
	s := newServer(t)
	s.http.WriteTimeout = time.Second
	address := servertest.StartServer(t, s.Serve, s.Shutdown)
	body := ingestBody(1)
	for request, want := range map[string]int{
		"GET /none HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 20_000) + "\r\n\r\n": 431,
		ingestHead(body, "Expect: 100-continue\r\n"):                                           100,
	} {
		k := servertest.Dial(t, address)
		if status, _, _ := k.Send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n"); status != 404 {
			t.Fatalf("first request: got %d, want 404", status)
		}
		time.Sleep(s.http.WriteTimeout + 200*time.Millisecond)
		if status, _, _ := k.Send(request); status != want {
			t.Errorf("after the idle time: got %d, want %d", status, want)
		}
	}
}
