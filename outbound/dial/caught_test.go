package dial

import (
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// overConns is which connection each request came over.
func overConns(e *dialtest.Endpoint) (conns []int) {
	for _, request := range e.Got() {
		conns = append(conns, request.Conn)
	}
	return conns
}

// answersAlso answers, with something behind it.
func answersAlso(more string) dialtest.Reply {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, dialtest.Message("200 OK", `1`)+more)
		return err == nil
	}
}

// TestWary: a host that was caught saying more than it was asked gets a connection
// for each request, for an hour, whichever sort it is; then it is trusted again.
// Whoever only said farewell is not.
func TestWary(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	again := dialtest.Message("200 OK", `1`)
	idle := func(text string) func(*testing.T, *dialtest.Endpoint, *Target) {
		return func(t *testing.T, e *dialtest.Endpoint, target *Target) {
			if _, err := io.WriteString(e.Conn(0), text); err != nil {
				t.Fatal(err)
			}
			waitsFor(t, target)
		}
	}
	quiet := func(*testing.T, *dialtest.Endpoint, *Target) {}
	for name, row := range map[string]struct {
		first  dialtest.Reply
		then   func(*testing.T, *dialtest.Endpoint, *Target)
		caught bool
		conns  []int // of the first request, and of four more
	}{
		"nothing but the answer":     {answersAlso(""), quiet, false, []int{0, 0, 0, 0, 0}},
		"an answer twice":            {answersAlso(again), quiet, true, []int{0, 1, 2, 3, 4}},
		"an answer twice, but later": {answersAlso(""), idle(again), true, []int{0, 1, 2, 3, 4}},
		"the beginning of one":       {answersAlso(""), idle("H"), true, []int{0, 1, 2, 3, 4}},
		"an end of line too many":    {answersAlso("\r\n"), quiet, false, []int{0, 1, 1, 1, 1}},
		"a farewell":                 {answersAlso(""), idle(dialtest.Message("408 Request Timeout", ``)), false, []int{0, 1, 1, 1, 1}},
		"the end": {answersAlso(""), func(t *testing.T, e *dialtest.Endpoint, target *Target) {
			_ = e.Conn(0).Close()
			waitsFor(t, target)
		}, false, []int{0, 1, 1, 1, 1}},
	} {
		for _, secure := range []bool{false, true} {
			what := name
			if secure {
				what += " over TLS"
			}
			t.Run(what, func(t *testing.T) {
				e, hosts, scheme := dialtest.Listen(t, row.first, dialtest.Answers("200 OK", `1`)), open(t, nil), "http://"
				if secure {
					e, hosts, scheme = overTLS(t, certificate, row.first, dialtest.Answers("200 OK", `1`)), trusting(t, certificate), "https://"
				}
				var caught []string
				hosts.options.Caught = func(host string) { caught = append(caught, host) }
				now := time.Minute
				hosts.clock = func() time.Duration { return now }
				target := find(t, hosts, scheme+e.Address+"/")
				send(target, true)
				row.then(t, e, target)
				for range 4 {
					if done, body := send(target, true); done.Status != 200 || body != "1" {
						t.Errorf("%+v %q", done, body)
					}
				}
				if got := overConns(e); !slices.Equal(got, row.conns) {
					t.Errorf("connections %v, want %v", got, row.conns)
				}
				if told := slices.Equal(caught, []string{e.Address}); told != row.caught || len(caught) > 1 {
					t.Errorf("told of %q", caught)
				}
				now += wariness
				send(target, true)
				send(target, true)
				if got := overConns(e); got[6] != got[5] {
					t.Errorf("an hour later: connections %v", got)
				}
			})
		}
	}
}

// TestAnAnswerTooManyIsNobodysAnswer: a host says the answer to a ping again when it
// hears the next request on that connection, which no look at the line can see. A post
// does not hear it, nor does a ping hear a post's.
func TestAnAnswerTooManyIsNobodysAnswer(t *testing.T) {
	for _, asks := range []bool{true, false} {
		var e *dialtest.Endpoint
		e = dialtest.Listen(t, dialtest.Answers("302 Found", ``), func(c net.Conn) bool {
			if c == e.Conn(0) {
				_, _ = io.WriteString(c, dialtest.Message("302 Found", ``))
			}
			_, _ = io.WriteString(c, dialtest.Message("201 Created", `mine`))
			return true
		})
		target := find(t, open(t, nil), "http://"+e.Address+"/")
		first := anything(time.Now().Add(ample))
		first.Asks = asks
		if done, _ := ask(target, first); done.Status != 302 {
			t.Fatalf("%+v", done)
		}
		second := anything(time.Now().Add(ample))
		second.Asks = !asks
		if done, body := ask(target, second); done.Status != 201 || body != "mine" {
			t.Errorf("%+v %q", done, body)
		}
		if got := overConns(e); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("connections %v", got)
		}
		if all, idle := target.Connections(); all != 2 || idle != 2 {
			t.Errorf("%d connections, %d idle", all, idle)
		}
	}
}

// TestTwoAnswersToAPost: a host answers a post twice, and the second of its answers comes
// with the answer to the next post on that connection. Nothing tells which of them is for
// the next post, so its fate is unknown. A ping has its auction to tell.
func TestTwoAnswersToAPost(t *testing.T) {
	for _, asks := range []bool{true, false} {
		e := dialtest.Listen(t, dialtest.Answers("201 Created", `1`), func(c net.Conn) bool {
			_, err := io.WriteString(c, dialtest.Message("422 Unprocessable Entity", `2`)+dialtest.Message("201 Created", `3`))
			return err == nil
		})
		target := find(t, open(t, nil), "http://"+e.Address+"/")
		for i, want := range []int{201, 0} {
			r := anything(time.Now().Add(ample))
			r.Asks = asks
			done, _ := ask(target, r)
			if asks && i == 1 {
				want = 422
			}
			if done.Status != want || !done.Sent || (done.Fault != market.FaultNone) != (want == 0) {
				t.Errorf("asks %v, request %d: %+v", asks, i, done)
			}
		}
		if got := overConns(e); !slices.Equal(got, []int{0, 0}) {
			t.Errorf("connections %v", got)
		}
	}
}
