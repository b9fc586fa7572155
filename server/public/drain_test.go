package public

import (
	"io"
	"net"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/connection"
	"pingpost/server/servertest"
)

// TestLastWordIsHeard: whose request is refused before it was read to its end hears why,
// and then that the connection ends, however much it was still sending. A reset could
// take the answer away from it.
func TestLastWordIsHeard(t *testing.T) {
	plain := public(t, 100)
	behind, theirs, _ := secured(t, 100)
	operators := serveAdmin(t, stubOperator{})
	long := strings.Repeat("x", 200_000)
	for name, row := range map[string]struct{ request, want string }{
		"header lines over the limit": {"GET /docs HTTP/1.1\r\nHost: x\r\nX-Long: " + long + "\r\n\r\n", "HTTP/1.1 431 "},
		"a key twice":                 {headOf(long, "Idempotency-Key: a\r\n", "Idempotency-Key: b\r\n") + long, "HTTP/1.1 400 "},
		"another version":             {strings.Replace(headOf(long), "HTTP/1.1", "HTTP/2.0", 1) + long, "HTTP/1.1 505 "},
	} {
		for over, k := range map[string]net.Conn{"plain": servertest.Dial(t, plain), "TLS": servertest.DialTLS(t, behind, theirs), "admin": servertest.Dial(t, operators)} {
			if over == "admin" && !strings.Contains(row.want, "431") {
				continue // it reads no head of its own
			}
			if _, err := io.WriteString(k, row.request); err != nil {
				t.Errorf("%s, %s: it could not be sent: %v", name, over, err)
			}
			if said, err := io.ReadAll(k); err != nil || !strings.HasPrefix(string(said), row.want) || !strings.HasSuffix(string(said), "}") {
				t.Errorf("%s, %s: %v after %.200q", name, over, err, said)
			}
		}
	}
}

// TestFarewellEnds: whoever goes on sending is not listened to for long, nor at length.
func TestFarewellEnds(t *testing.T) {
	k := servertest.Dial(t, public(t, 100))
	long := strings.Repeat("x", 200_000)
	must.Value(io.WriteString(k, "GET /docs HTTP/1.1\r\nHost: x\r\nX-Long: "))(t)
	for sent := 0; ; sent += len(long) {
		if _, err := io.WriteString(k, long); err != nil {
			return // it was cut off
		}
		if sent > 100*connection.MaxDrain {
			t.Fatal("it is listened to without an end")
		}
	}
}
