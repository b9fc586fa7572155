package exchange

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guarded has tight limits at its doors, so that attacks are over soon.
const guarded = recorded + `limits: {connections: 40, max_conns_per_ip: 1000, read_timeout: 2s, write_timeout: 2s, auth_failures: 3}
`

// attack opens a connection and does its worst until the exchange ends it.
type attack struct {
	what string
	do   func(conn net.Conn)
}

// trickle writes a text byte by byte, for as long as it is taken.
func trickle(conn net.Conn, text string) {
	for i := 0; ; i++ {
		if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var attacks = []attack{
	{"silence", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }},
	{"a head without an end", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\n")
		trickle(conn, "X-A: b\r\n")
	}},
	{"a body without an end", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: wrong\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{")
		trickle(conn, " ")
	}},
	{"chunks without an end", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		trickle(conn, "1\r\n \r\n")
	}},
	{"huge cookies", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "GET /api/v1/leads/x HTTP/1.1\r\nHost: x\r\nCookie: "+strings.Repeat("a=b; ", 100_000)+"\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}},
	{"answers that nobody reads", func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, strings.Repeat("GET /none HTTP/1.1\r\nHost: x\r\n\r\n", 100)); err != nil {
				return
			}
		}
	}},
	{"a handshake byte by byte", func(conn net.Conn) { trickle(conn, "\x16\x03\x01\x3f\x00\x01\x00\x3e\xfc\x03\x03") }},
}

// TestSlowloris: strangers who hold every place by each means that there is are parted
// with in their time; meanwhile a supplier on a connection of its own is served, and
// after it one that comes anew. All of it holds over TLS.
func TestSlowloris(t *testing.T) {
	for name, config := range map[string]string{"plain": guarded, "TLS": strings.Replace(guarded, "data_dir: data\n", "data_dir: data\ntls: {cert: cert.pem, key: key.pem}\n", 1)} {
		for _, a := range attacks {
			t.Run(name+", "+a.what, func(t *testing.T) {
				t.Parallel()
				is := newIssuer(t)
				p, _ := tlsPlace(t, is)
				p.write(t, config)
				x := start(t, p)
				client, scheme := is.client(true), "http://"
				if name == "TLS" {
					scheme = "https://"
				}
				sell := func() {
					a, _, err := x.request(client, "POST", scheme+x.PublicAddress()+"/api/v1/ingest", lead(1), "X-Api-Key", acmeKey, "Content-Type", typeIsOwn, "Idempotency-Key", "k")
					if err != nil || a.status != 201 {
						t.Errorf("the supplier: %v, %v", a, err)
					}
				}
				sell()
				var attackers sync.WaitGroup
				var ended atomic.Int64
				for range 60 {
					attackers.Go(func() {
						defer ended.Add(1)
						conn, err := net.Dial("tcp", x.PublicAddress())
						if err != nil {
							return
						}
						defer conn.Close()
						if name == "TLS" && !strings.HasPrefix(a.what, "a handshake") {
							sealed := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
							if sealed.Handshake() == nil {
								a.do(sealed)
							}
							return
						}
						a.do(conn)
					})
				}
				for ended.Load() < 60 {
					sell()
					time.Sleep(20 * time.Millisecond)
				}
				attackers.Wait()
				client.CloseIdleConnections()
				sell()
				client.CloseIdleConnections()
			})
		}
	}
}

// TestNothingIsReflected: whatever stands in a caller's headers, the answer's own are
// the exchange's alone, and no line of an answer is the caller's.
func TestNothingIsReflected(t *testing.T) {
	x := start(t, newPlace(t, guarded+"trusted_proxies: [127.0.0.0/8]\n"))
	evil := "reflected-word"
	for _, header := range []string{
		"X-Forwarded-For", "X-Request-Id", "Idempotency-Key", "Origin", "Cookie", "Host", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded",
		"X-Pingpost-Hops", "X-Pingpost-Test", "User-Agent", "Referer", "Traceparent", "Authorization", "X-Api-Key", "Content-Type", "Content-Encoding", "Connection", "Upgrade",
	} {
		for _, value := range []string{evil, evil + "\t" + evil, evil + "%0d%0aX-Evil:%201", "127.0.0.1, " + evil, evil + strings.Repeat(",127.0.0.1", 500), evil + "\rX-Evil: 1", evil + "\u2028X-Evil: 1"} {
			w := dial(t, x.PublicAddress())
			credential := "X-Api-Key: " + acmeKey + "\r\n"
			if header == "X-Api-Key" {
				credential = ""
			}
			w.say(fmt.Sprintf("POST /api/v1/ingest?%s HTTP/1.1\r\nHost: x\r\n%s%s: %s\r\nContent-Length: 2\r\n\r\n{}", evil, credential, header, value))
			a := w.next("POST")
			for name, values := range a.header {
				if strings.Contains(name+fmt.Sprint(values), "reflected") || strings.EqualFold(name, "X-Evil") {
					t.Errorf("%s: %q: %s is %q", header, value, name, values)
				}
			}
			if strings.Contains(a.body, evil) || !requestID.MatchString(a.id()) {
				t.Errorf("%s: %q: %s, %s", header, value, a.id(), a.body)
			}
			w.Close()
		}
	}
	if strings.Contains(spoken.String(), evil) {
		t.Error("the log has a word of the caller's")
	}
}
