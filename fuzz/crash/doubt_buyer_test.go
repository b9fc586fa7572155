//go:build unix

package crash

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pingpost/internal/must"
)

// Ways in which a buyer ends the first send of a lead.
var firstOutcomes = []string{"close", "reset", "half a status line", "body cut short", "timeout", "503"}

// The buyer's answers to repeats, by their name in the table.
var repeatAnswers = map[string]string{
	"201":            message("201 Created", `{"lead_id":"theirs"}`),
	"200 with error": message("200 OK", `{"error":"rejected"}`),
	"400":            message("400 Bad Request", `{"error":"invalid_payload"}`),
	"404":            message("404 Not Found", `no such page`),
	"409":            message("409 Conflict", `{"error":"already_sold"}`),
	"422":            message("422 Unprocessable Content", `{"error":"post_rejected"}`),
}

func message(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

var (
	uuidIn    = regexp.MustCompile(`"lead_uuid":"([^"]*)"`)
	auctionIn = regexp.MustCompile(`"auction_id":"([^"]*)"`)
)

// find returns the first group of the pattern in the text.
func find(pattern *regexp.Regexp, text []byte) string {
	if found := pattern.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// uncertainBuyer makes the receipt of one lead uncertain, over a fresh or a kept connection. It
// accepts every other lead.
type uncertainBuyer struct {
	first, repeat string
	kept          bool
	address       string

	mu    sync.Mutex
	lead  string   // the uncertain lead; empty: it has not arrived
	sends []string // key and body of each send of that lead
}

func newUncertainBuyer(t *testing.T, first, repeat string, kept bool) *uncertainBuyer {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	b := &uncertainBuyer{first: first, repeat: repeat, kept: kept, address: "http://" + listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
	return b
}

// serve answers the requests of one connection.
func (b *uncertainBuyer) serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for posts := 0; ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		answer := message("200 OK", fmt.Sprintf(`{"auction_id":%q,"bid":{"amount":10,"currency":"USD","bid_token":"token"}}`, find(auctionIn, body)))
		if strings.HasSuffix(request.URL.Path, "/v1/post") {
			answer = b.post(request.Header.Get("Idempotency-Key"), body, posts > 0)
			posts++
		}
		if !b.end(conn, reader, answer) {
			return
		}
	}
}

// post returns the answer to a post, or the name of the first outcome.
func (b *uncertainBuyer) post(key string, body []byte, kept bool) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lead := find(uuidIn, body)
	if b.lead == "" && kept == b.kept {
		b.lead = lead
	}
	if lead != b.lead {
		return repeatAnswers["201"]
	}
	b.sends = append(b.sends, key+" "+string(body))
	if len(b.sends) == 1 {
		return b.first
	}
	return repeatAnswers[b.repeat]
}

// end writes an answer, or ends the connection in the named way.
func (b *uncertainBuyer) end(conn net.Conn, reader io.Reader, answer string) (whole bool) {
	switch answer {
	case "close":
		return false
	case "reset":
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	case "half a status line":
		_, _ = io.WriteString(conn, "HTTP/1.1 2")
		return false
	case "body cut short":
		_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 40\r\n\r\n{\"lead_id\":")
		return false
	case "timeout":
		_, _ = io.Copy(io.Discard, reader) // until the exchange closes the connection
		return false
	case "503":
		answer = message("503 Service Unavailable", "{}")
	}
	_, err := io.WriteString(conn, answer)
	return err == nil
}

// uncertainLead returns the uncertain lead and its sends so far.
func (b *uncertainBuyer) uncertainLead() (lead string, sends []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lead, append([]string(nil), b.sends...)
}
