package refbuyer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"pingpost/internal/must"
)

// TestAnswersTwice: with the rate, each answer is sent twice with the same bytes and the
// connection stays open. Without the rate it is sent once.
func TestAnswersTwice(t *testing.T) {
	for rate, want := range map[float64]int{0: 1, 1: 2} {
		b, _ := start(t, Options{TwiceRate: rate, Bid: Fixed(10 * cent)})
		conn := must.Value(net.Dial("tcp", b.Addr().String()))(t)
		answers := bufio.NewReader(conn)
		for round, body := range []string{aPing, lead("uuid-1"), lead("uuid-1")} {
			path := map[bool]string{true: "/v1/ping", false: "/v1/post"}[round == 0]
			_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nIdempotency-Key: k%d\r\nContent-Length: %d\r\n\r\n%s", path, min(round, 1), len(body), body)
			first := answerOf(t, answers)
			for range want - 1 {
				if again := answerOf(t, answers); again != first {
					t.Errorf("rate %v, round %d: %s, and then %s", rate, round, first, again)
				}
			}
		}
		if stats := b.Stats(); stats.Accepted != 1 || stats.Posts != 2 || stats.Bids != 1 {
			t.Errorf("rate %v: %+v", rate, stats)
		}
		_ = conn.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// answerOf reads one valid answer.
func answerOf(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	must.Succeed(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode > 201 {
		t.Fatalf("%d %s, %v", response.StatusCode, text, err)
	}
	return string(text)
}
