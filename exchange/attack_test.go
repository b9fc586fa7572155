package exchange

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
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
					a, err := post1(client, scheme+x.Addr())
					if err != nil || a != 201 {
						t.Errorf("the supplier: %d, %v", a, err)
					}
				}
				sell()
				var attackers sync.WaitGroup
				var ended atomic.Int64
				for range 60 {
					attackers.Go(func() {
						defer ended.Add(1)
						conn, err := net.Dial("tcp", x.Addr())
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

// post1 sends one lead and says what its answer's status was.
func post1(client *http.Client, base string) (status int, err error) {
	req, err := http.NewRequest(http.MethodPost, base+"/api/v1/ingest", strings.NewReader(lead(1)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Api-Key", acmeKey)
	req.Header.Set("Content-Type", typeIsOwn)
	req.Header.Set("Idempotency-Key", "k")
	answer, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// TestARightCredentialAmongGuessers: while others guess from the same address as fast
// as they can, and are told 429, every right credential is let in, at both addresses.
func TestARightCredentialAmongGuessers(t *testing.T) {
	x := start(t, newPlace(t, guarded))
	var guessers sync.WaitGroup
	var stop atomic.Bool
	var slowed atomic.Int64
	for i := range 4 {
		guessers.Go(func() {
			for !stop.Load() {
				address, headers := "http://"+x.Addr()+"/api/v1/ingest", []string{"X-Api-Key", "wrong", "Content-Type", typeIsOwn}
				if i == 0 {
					address, headers = "http://"+x.Admin()+"/admin/v1/hash", []string{"Authorization", "Basic b3A6d3Jvbmc="}
				}
				if a := request(t, "POST", address, "{}", headers...); a.status == 429 {
					slowed.Add(1)
				} else if a.status != 401 && a.status != 503 {
					t.Errorf("a guess: %d", a.status)
				}
			}
		})
	}
	eventually(t, "guessers are slowed", func() bool { return slowed.Load() > 50 })
	for i := range 50 {
		x.sold(lead(i))
		x.must(200, "GET", "/admin/v1/hash", "")
	}
	stop.Store(true)
	guessers.Wait()
	if text := x.must(200, "GET", "/metrics", "").body; !strings.Contains(text, "pingpost_wrong_credentials_total ") || strings.Contains(text, "pingpost_wrong_credentials_total 0") {
		t.Error("wrong credentials are not counted")
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
			w := dial(t, x.Addr())
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
