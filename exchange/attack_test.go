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

// lowLimitsConfig has low limits, so that attacks end soon.
const lowLimitsConfig = baseConfig + `limits: {connections: 10, max_conns_per_ip: 1000, read_timeout: 2s, write_timeout: 2s, auth_failures: 3}
`

// attack runs on a connection until the exchange closes it.
type attack struct {
	name string
	run  func(conn net.Conn)
}

// trickle writes a text byte by byte until the connection is closed.
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
	{"endless head", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\n")
		trickle(conn, "X-A: b\r\n")
	}},
	{"endless body", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: wrong\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{")
		trickle(conn, " ")
	}},
	{"endless chunks", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		trickle(conn, "1\r\n \r\n")
	}},
	{"huge cookies", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "GET /api/v1/leads/x HTTP/1.1\r\nHost: x\r\nCookie: "+strings.Repeat("a=b; ", 100_000)+"\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}},
	{"unread answers", func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, strings.Repeat("GET /none HTTP/1.1\r\nHost: x\r\n\r\n", 100)); err != nil {
				return
			}
		}
	}},
	{"a handshake byte by byte", func(conn net.Conn) { trickle(conn, "\x16\x03\x01\x3f\x00\x01\x00\x3e\xfc\x03\x03") }},
}

// TestSlowloris: slow clients on all connections lose them in time. Meanwhile a supplier on its own
// connection is served, and afterwards one on a new connection. The same holds over TLS.
func TestSlowloris(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"plain": lowLimitsConfig, "TLS": strings.Replace(lowLimitsConfig, "data_dir: data\n", "data_dir: data\ntls: {cert: cert.pem, key: key.pem}\n", 1)} {
		for _, a := range attacks {
			t.Run(name+", "+a.name, func(t *testing.T) {
				t.Parallel()
				issuer := newCertIssuer(t)
				p, _ := newTLSDir(t, issuer)
				p.writeConfig(t, config)
				x := start(t, p)
				client, scheme := issuer.client(true), "http://"
				if name == "TLS" {
					scheme = "https://"
				}
				sellLead := func() {
					a, _, err := x.requestWith(client, "POST", scheme+x.PublicAddress()+"/api/v1/ingest", leadBody(1), "X-Api-Key", acmeKey, "Content-Type", jsonType, "Idempotency-Key", "k")
					if err != nil || a.status != 201 {
						t.Errorf("supplier's lead: got %v, %v, want 201", a, err)
					}
				}
				sellLead()
				var attackers sync.WaitGroup
				var ended atomic.Int64
				for range 15 {
					attackers.Go(func() {
						defer ended.Add(1)
						conn, err := net.Dial("tcp", x.PublicAddress())
						if err != nil {
							return
						}
						defer conn.Close()
						if name == "TLS" && !strings.HasPrefix(a.name, "a handshake") {
							tlsConn := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
							if tlsConn.Handshake() == nil {
								a.run(tlsConn)
							}
							return
						}
						a.run(conn)
					})
				}
				for ended.Load() < 15 {
					sellLead()
					time.Sleep(20 * time.Millisecond)
				}
				attackers.Wait()
				client.CloseIdleConnections()
				sellLead()
				client.CloseIdleConnections()
			})
		}
	}
}

// TestAnswersRepeatNoCallerInput: no header, body or log line repeats a text of the request.
func TestAnswersRepeatNoCallerInput(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, lowLimitsConfig+"trusted_proxies: [127.0.0.0/8]\n"))
	marker := "reflected-word"
	for _, header := range []string{
		"X-Forwarded-For", "X-Request-Id", "Idempotency-Key", "Origin", "Cookie", "Host", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded",
		"X-Pingpost-Hops", "X-Pingpost-Test", "User-Agent", "Referer", "Traceparent", "Authorization", "X-Api-Key", "Content-Type", "Content-Encoding", "Connection", "Upgrade",
	} {
		for _, value := range []string{marker, marker + "\t" + marker, marker + "%0d%0aX-Evil:%201", "127.0.0.1, " + marker, marker + strings.Repeat(",127.0.0.1", 500), marker + "\rX-Evil: 1", marker + "\u2028X-Evil: 1"} {
			w := dial(t, x.PublicAddress())
			credential := "X-Api-Key: " + acmeKey + "\r\n"
			if header == "X-Api-Key" {
				credential = ""
			}
			w.send(fmt.Sprintf("POST /api/v1/ingest?%s HTTP/1.1\r\nHost: x\r\n%s%s: %s\r\nContent-Length: 2\r\n\r\n{}", marker, credential, header, value))
			a := w.readAnswer("POST")
			for name, values := range a.header {
				if strings.Contains(name+fmt.Sprint(values), "reflected") || strings.EqualFold(name, "X-Evil") {
					t.Errorf("request header %s: %q: answer has the header %s: %q", header, value, name, values)
				}
			}
			if strings.Contains(a.body, marker) || !requestIDPattern.MatchString(a.requestID()) {
				t.Errorf("request header %s: %q: request id %s, body %s", header, value, a.requestID(), a.body)
			}
			w.Close()
		}
	}
	if strings.Contains(x.logged.String(), marker) {
		t.Error("the log contains text from the request")
	}
}
