package refbuyer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestForgets: the first post of a lead gets no answer, each retry is rejected, and the
// buyer keeps the lead.
func TestForgets(t *testing.T) {
	b, _ := start(t, Options{ForgetRate: 1})
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	for attempt, want := range []int{0, 422, 422} {
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := lead("uuid-1")
		_, _ = fmt.Fprintf(conn, "POST /v1/post HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		answers := bufio.NewReader(conn)
		if _, err := answers.Peek(1); want == 0 && !errors.Is(err, io.EOF) {
			t.Errorf("the first post: %v, want the end of the connection", err)
		}
		if want != 0 {
			response, err := http.ReadResponse(answers, nil)
			if err != nil || response.StatusCode != want {
				t.Fatalf("repeat %d: %v, %v", attempt, response, err)
			}
			_ = response.Body.Close()
		}
		_ = conn.Close()
	}
	if leads := b.Leads(); len(leads) != 1 || !leads[0].AnsweredAt.IsZero() {
		t.Errorf("it holds %+v", leads)
	}
}
