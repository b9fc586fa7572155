package refbuyer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/internal/strictjson"
	"pingpost/loadtest/refserver"
)

// keysOf returns a key for each malformation of an attempt.
func keysOf(t *testing.T, seed chance, attempt, n int) map[malformation]string {
	t.Helper()
	keys := map[malformation]string{}
	for i := 0; len(keys) < n; i++ {
		if i > 10_000 {
			t.Fatalf("of %d malformations %d are never drawn", n, n-len(keys))
		}
		key := fmt.Sprint("k", i)
		keys[seed.drawMalformation(1, []byte(key), attempt, n)] = key
	}
	return keys
}

// heard is the data received over a connection until its end.
type heard struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// listen sends one request over its own connection.
func listen(t *testing.T, b *Buyer, path, key, body string) heard {
	t.Helper()
	conn := must.Value(net.Dial("tcp", b.Addr().String()))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: buyer\r\nContent-Type: application/json\r\nConnection: close\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", path, key, len(body), body)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return heard{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return heard{response.StatusCode, response.Header, text, err}
}

// TestMalformedPings: each malformed answer has its defect and no other.
func TestMalformedPings(t *testing.T) {
	b, _ := start(t, Options{Bid: Fixed(12_500_000), MalformedRate: 1})
	keys := keysOf(t, 0, 0, len(malformations))
	for m, name := range malformations {
		if malformation(m) == trickle {
			continue
		}
		t.Run(name, func(t *testing.T) {
			body := pingOf("auc_" + fmt.Sprint(m))
			got := listen(t, b, "/v1/ping", keys[malformation(m)], body)
			if !hasOnlyDefect(malformation(m), "auc_"+fmt.Sprint(m), got) {
				t.Errorf("%d %v %.300q %v", got.status, got.header, got.body, got.err)
			}
			again := listen(t, b, "/v1/ping", keys[malformation(m)], body)
			if malformation(m) != reset && (again.status != got.status || string(again.body) != string(got.body)) {
				t.Errorf("again: %d %.300q", again.status, again.body)
			}
		})
	}
	ways := int64(len(malformations) - 1)
	if s := b.Stats(); s.Malformed != ways || s.PingsReplayed != ways || s.Bids != 0 || s.NoBids != 0 {
		t.Errorf("stats %+v", s)
	}
}

// hasOnlyDefect reports whether an answer has the defect of the malformation and no other.
func hasOnlyDefect(m malformation, auction string, got heard) bool {
	var bid bidAnswer
	loose, strict := json.Unmarshal(got.body, &bid) == nil, new(strictjson.Object).Parse(got.body) == nil
	if m == reset || got.err != nil {
		return m == reset && got.err != nil
	}
	switch m {
	case redirect:
		return got.status == 302 && got.header.Get("Location") == "/v1/ping" && len(got.body) == 0
	case noContent:
		return got.status == 204 && len(got.body) == 0
	case notJSON, truncated:
		return got.status == 200 && !strict && !loose
	case repeatedMembers:
		return got.status == 200 && !strict && loose
	case wrongTypes:
		return got.status == 200 && strict && !loose
	}
	if got.status != 200 || !strict || !loose || bid.Bid == nil {
		return false
	}
	for defect, found := range map[malformation]bool{
		negativeAmount: bid.Bid.Amount == "-12.5",
		hugeAmount:     len(bid.Bid.Amount) > 20,
		missingToken:   bid.Bid.BidToken == "",
		wrongAuction:   bid.AuctionID != auction,
		alreadyExpired: bid.Bid.ValidUntil.Before(time.Now()),
		oversized:      len(got.body) == oversize,
	} {
		if found != (defect == m) {
			return false
		}
	}
	return true
}

// TestTrickle: the answer arrives byte by byte until the buyer is closed.
func TestTrickle(t *testing.T) {
	b, _ := start(t, Options{Bid: Fixed(1), MalformedRate: 1})
	conn := must.Value(net.Dial("tcp", b.Addr().String()))(t)
	defer conn.Close()
	body := pingOf("auc_1")
	fmt.Fprintf(conn, "POST /v1/ping HTTP/1.1\r\nHost: buyer\r\nContent-Type: application/json\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		keysOf(t, 0, 0, len(malformations))[trickle], len(body), body)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusOK || response.ContentLength < 100 {
		t.Fatalf("%v %v", response, err)
	}
	defer response.Body.Close()
	var begin [2]byte
	if _, err := io.ReadFull(response.Body, begin[:]); err != nil || string(begin[:]) != `{"` {
		t.Fatalf("%q %v", begin, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) || len(rest) > 50 {
		t.Errorf("%q %v", rest, err)
	}
}

// TestMalformedPosts: the lead is accepted once whatever the answer is, and a later
// attempt gets the receipt.
func TestMalformedPosts(t *testing.T) {
	b, _ := start(t, Options{Bid: Fixed(1_000_000), MalformedPostRate: 1})
	kinds := len(malformations) - int(notJSON)
	for m, key := range keysOf(t, 0, 1, kinds) {
		if m == trickle {
			continue
		}
		t.Run(malformations[m], func(t *testing.T) {
			before := b.Stats()
			got := listen(t, b, "/v1/post", key, lead(key))
			var taken struct {
				LeadID string `json:"lead_id"`
			}
			readable := got.err == nil && got.status == 201 && json.Unmarshal(got.body, &taken) == nil && len(got.body) < refserver.MaxBody
			if readable || got.status >= 300 {
				t.Errorf("an answer that settles it: %d %.200q", got.status, got.body)
			}
			after := b.Stats()
			if after.Accepted != before.Accepted+1 || after.Malformed != before.Malformed+1 {
				t.Errorf("stats %+v", after)
			}
			for _, lead := range b.Leads() {
				if !lead.AnsweredAt.IsZero() {
					t.Errorf("%+v has had no answer worth the name", lead)
				}
			}
		})
	}
	failing, _ := start(t, Options{FailRate: 1, MalformedPostRate: 1})
	if got := listen(t, failing, "/v1/post", "k", lead("k")); got.status != 500 || !strings.Contains(string(got.body), `"internal"`) || failing.Stats().Malformed != 0 {
		t.Errorf("a failed post has a malformed answer as well: %d %s", got.status, got.body)
	}
}

// TestForgets: the first post of a lead gets no answer, each retry is rejected, and the
// buyer keeps the lead.
func TestForgets(t *testing.T) {
	b, _ := start(t, Options{ForgetRate: 1})
	for attempt, want := range []int{0, 422, 422} {
		got := listen(t, b, "/v1/post", "k", lead("uuid-1"))
		if got.status != want || (got.err != nil) != (want == 0) {
			t.Errorf("attempt %d: %d, %v; want %d", attempt+1, got.status, got.err, want)
		}
	}
	if leads := b.Leads(); len(leads) != 1 || !leads[0].AnsweredAt.IsZero() {
		t.Errorf("it holds %+v", leads)
	}
}
