package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/api/contract"
	"pingpost/engine"
	"pingpost/server/token"
)

// desk is an operator's process that has no engine.
type desk struct {
	apply func(document []byte, dry bool) ([]string, error)
}

func (desk) Ready() error                        { return nil }
func (desk) Engine() *engine.Engine              { return nil }
func (desk) Hash() (seq, hash uint64, err error) { return 7, 8, nil }
func (desk) Configuration() []byte               { return []byte("{}") }
func (desk) Seal(string, string) []byte          { return nil }
func (desk) Reveal(string) (string, bool)        { return "", false }
func (desk) Tokens() *token.Mint                 { return nil }
func (desk) Sandbox() bool                       { return false }

func (d desk) Apply(document []byte, dry bool, _ string) (changes, unapplied []string, err error) {
	changes, err = d.apply(document, dry)
	return changes, []string{"b: first", `"c"`}, err
}

const secretWord = "the-password"

// admin serves a desk, and says where.
func admin(t *testing.T, d desk) string {
	t.Helper()
	if d.apply == nil {
		d.apply = func([]byte, bool) ([]string, error) { return nil, nil }
	}
	a := NewAdmin(d, NewMeter(metrics.NewSet(), func(what string, err error) { t.Errorf("%s: %v", what, err) }), secretWord, slog.New(slog.DiscardHandler))
	return listen(t, a.Serve, a.Shutdown)
}

func listen(t *testing.T, serve func(net.Listener) error, shutdown func() error) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := shutdown(); err != nil {
			t.Error(err)
		}
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// talk is a bare connection.
type talk struct {
	net.Conn
	t      *testing.T
	answer *bufio.Reader
	asked  bytes.Buffer // and not held against the OpenAPI document yet
}

func speak(t *testing.T, address string) *talk {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &talk{Conn: conn, t: t, answer: bufio.NewReader(conn)}
}

// ask writes and gives the next answer; its body is read.
func (k *talk) ask(text string) (status int, header http.Header, body string) {
	k.t.Helper()
	if _, err := io.WriteString(k, text); err != nil {
		k.t.Fatal(err)
	}
	k.asked.WriteString(text)
	return k.hear()
}

func (k *talk) hear() (status int, header http.Header, body string) {
	k.t.Helper()
	response, err := http.ReadResponse(k.answer, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	if q, ok := contract.Next(&k.asked); ok && response.StatusCode >= http.StatusOK {
		hold(k.t, q, &contract.Answer{Status: response.StatusCode, Header: response.Header, Body: text})
	}
	if response.Close { // net/http takes the line out
		response.Header.Set("Connection", "close")
	}
	return response.StatusCode, response.Header, string(text)
}

// ends tells whether the connection is closed, rather than kept.
func (k *talk) ends() bool {
	_, _ = io.WriteString(k, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	_, err := k.answer.ReadByte()
	return err != nil
}

const right = "Authorization: Basic b3A6dGhlLXBhc3N3b3Jk\r\n" // op:the-password

// say is a request's text.
func say(line, headers, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", line, headers, len(body), body)
}

// TestNoMemoryBeforePassword: a stranger is answered by the head alone, however
// long a body it promises, and loses the connection the body would come over.
func TestNoMemoryBeforePassword(t *testing.T) {
	address := admin(t, desk{})
	for name, length := range map[string]string{
		"some": "Content-Length: 100000", "much": "Content-Length: 99999999999", "chunks": "Transfer-Encoding: chunked",
	} {
		begun := strings.Repeat("d", 8<<10) // the library reads so much of a body by itself
		for _, path := range []string{"PUT /admin/v1/config", "POST /admin/v1/buyers/b/funds", "POST /elsewhere"} {
			k := speak(t, address)
			status, _, body := k.ask(path + " HTTP/1.1\r\nHost: x\r\n" + length + "\r\n\r\n" + begun)
			if status != 401 || !k.ends() {
				t.Errorf("%s, %s: %d %s", path, name, status, body)
			}
		}
	}
}

func TestAdminBodies(t *testing.T) {
	var got []byte
	address := admin(t, desk{apply: func(document []byte, _ bool) ([]string, error) {
		got = append([]byte(nil), document...)
		return []string{"~ a"}, nil
	}})
	for name, row := range map[string]struct {
		line   string
		length int
		status int
	}{
		"a document at the limit":   {"PUT /admin/v1/config", 4 << 20, 200},
		"a document over the limit": {"PUT /admin/v1/config", 4<<20 + 1, 413},
		"another body at the limit": {"POST /admin/v1/buyers/b/funds", 64 << 10, 503}, // there is no engine
		"another over the limit":    {"POST /admin/v1/buyers/b/funds", 64<<10 + 1, 413},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			k := speak(t, address)
			go func() { _, _ = io.WriteString(k, say(row.line, right, strings.Repeat("d", row.length))) }()
			if status, _, body := k.hear(); status != row.status {
				t.Errorf("%d %s, want %d", status, body, row.status)
			}
			if row.status == 200 && len(got) != row.length {
				t.Errorf("%d bytes came", len(got))
			}
		})
	}
	k := speak(t, address)
	for range 2 {
		status, _, body := k.ask("PUT /admin/v1/config HTTP/1.1\r\nHost: x\r\n" + right + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
		if status != 200 || string(got) != "abc" || body != `{"changes":["~ a"],"unapplied":["b: first","\"c\""]}`+"\n" {
			t.Errorf("in chunks: %d %s, %q", status, body, got)
		}
	}
}

// TestOneDocumentAtATime: a second one is refused while the first is judged.
func TestOneDocumentAtATime(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	address := admin(t, desk{apply: func([]byte, bool) ([]string, error) {
		begun <- true
		<-goOn
		return nil, nil
	}})
	first, second := speak(t, address), speak(t, address)
	put := say("PUT /admin/v1/config", right, "{}")
	if _, err := io.WriteString(first, put); err != nil {
		t.Fatal(err)
	}
	<-begun
	if status, _, body := second.ask(put); status != 409 || !strings.Contains(body, `"conflict"`) {
		t.Errorf("the second: %d %s", status, body)
	}
	goOn <- true
	if status, _, body := first.hear(); status != 200 {
		t.Errorf("the first: %d %s", status, body)
	}
}

func TestAdminOutlivesPanic(t *testing.T) {
	address := admin(t, desk{apply: func([]byte, bool) ([]string, error) { panic("BUG: of the test") }})
	put := say("PUT /admin/v1/config", right, "{}")
	for range 2 { // the lock of the first one is free again
		k := speak(t, address)
		if status, _, body := k.ask(put); status != 500 || !strings.Contains(body, `"internal"`) || !k.ends() {
			t.Errorf("%d %s", status, body)
		}
	}
}

// TestForeignPages: a browser sends the password along for whatever page asks;
// what changes something is taken from this address's pages alone.
func TestForeignPages(t *testing.T) {
	address := admin(t, desk{})
	for headers, foreign := range map[string]bool{
		"":                                  false,
		"Sec-Fetch-Site: same-origin\r\n":   false,
		"Sec-Fetch-Site: none\r\n":          false,
		"Sec-Fetch-Site: same-site\r\n":     true,
		"Sec-Fetch-Site: cross-site\r\n":    true,
		"Origin: http://x\r\n":              false,
		"Origin: https://X\r\n":             false,
		"Origin: http://x:9091\r\n":         true,
		"Origin: http://evil.example\r\n":   true,
		"Origin: http://evil.example/x\r\n": true,
		"Origin: null\r\n":                  true,
		"Origin: x\r\n":                     true,
		"Sec-Fetch-Site: none\r\nOrigin: http://evil.example\r\n": true,
	} {
		want := 200
		if foreign {
			want = 403
		}
		if status, _, body := speak(t, address).ask(say("PUT /admin/v1/config", right+headers, "{}")); status != want {
			t.Errorf("PUT with %q: %d %s, want %d", headers, status, body, want)
		}
		if status, _, body := speak(t, address).ask(say("GET /admin/v1/hash", right+headers, "")); status != 200 {
			t.Errorf("GET with %q: %d %s", headers, status, body)
		}
	}
}

// TestStrangersLearnNothing: no method and no spelling of a path gets anything
// but the challenge out of the address, and a wrong password costs the
// connection.
func TestStrangersLearnNothing(t *testing.T) {
	address := admin(t, desk{})
	k := speak(t, address)
	for _, line := range []string{
		"OPTIONS /admin/v1/config", "OPTIONS *", "DELETE /admin/v1/config", "GET //admin/v1/hash", "GET /admin/v1/%68ash",
		"GET /x/../admin/v1/hash", "GET http://y/admin/v1/hash", "GET /none",
	} {
		status, header, _ := k.ask(say(line, "", ""))
		if status != 401 || header.Get("Allow") != "" {
			t.Errorf("%s: %d, Allow %q", line, status, header.Get("Allow"))
		}
	}
	for _, line := range []string{"GET //admin/v1/hash", "GET /admin/v1/%68ash", "GET /x/../admin/v1/hash", "GET http://y/admin/v1/hash"} {
		if status, _, _ := k.ask(say(line, right, "")); status != 404 {
			t.Errorf("%s with the password: %d", line, status)
		}
	}
	if status, header, _ := k.ask(say("OPTIONS /admin/v1/config", right, "")); status != 405 || header.Get("Allow") != "GET, PUT" {
		t.Errorf("OPTIONS with the password: %d, Allow %q", status, header.Get("Allow"))
	}
	if status, _, _ := k.ask(say("GET http://x/admin/v1/hash", right, "")); status != 200 {
		t.Errorf("the whole address: %d", status)
	}
	if status, _, _ := k.ask(say("GET /admin/v1/hash", "Authorization: Basic b3A6d3Jvbmc=\r\n", "")); status != 401 || !k.ends() {
		t.Errorf("a wrong password: %d", status)
	}
	if status, _, _ := speak(t, address).ask(say("GET /admin/v1/hash", right+right, "")); status != 400 {
		t.Errorf("two passwords: %d", status)
	}
}
