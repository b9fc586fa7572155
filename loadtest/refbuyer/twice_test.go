package refbuyer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestAnswersTwice: each answer stands on the connection twice, the same both
// times, and the connection goes on; without the rate once.
func TestAnswersTwice(t *testing.T) {
	for rate, want := range map[float64]int{0: 1, 1: 2} {
		b, _ := start(t, Options{TwiceRate: rate, Bid: Fixed(10 * cent)})
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		answers := bufio.NewReader(conn)
		for round, body := range []string{aPing, lead("uuid-1"), lead("uuid-1")} {
			path := map[bool]string{true: "/v1/ping", false: "/v1/post"}[round == 0]
			_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nIdempotency-Key: k%d\r\nContent-Length: %d\r\n\r\n%s", path, min(round, 1), len(body), body)
			var first string
			for n := range want {
				response, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode > 201 || n > 0 && string(text) != first {
					t.Errorf("rate %v, round %d, answer %d: %d %s, %v; the first was %s", rate, round, n, response.StatusCode, text, err, first)
				}
				first = string(text)
			}
		}
		if stats := b.Stats(); stats.Accepted != 1 || stats.Posts != 2 || stats.Bids != 1 {
			t.Errorf("rate %v: %+v", rate, stats)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
