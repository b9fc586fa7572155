package dial

import (
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// connNumbers returns the number of the connection of each request.
func connNumbers(e *dialtest.Endpoint) (conns []int) {
	for _, request := range e.Requests() {
		conns = append(conns, request.Conn)
	}
	return conns
}

// answerFollowedBy writes an answer and more bytes after it.
func answerFollowedBy(more string) dialtest.ReplyFunc {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, dialtest.FormatResponse("200 OK", `1`)+more)
		return err == nil
	}
}

// A host that sent an extra answer gets a new connection for each request, of both kinds,
// for an hour. Then connections are reused again. A 408 or a blank line has no such
// effect.
func TestExtraAnswerEndsReuse(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	again := dialtest.FormatResponse("200 OK", `1`)
	idle := func(text string) func(*testing.T, *dialtest.Endpoint, *Target) {
		return func(t *testing.T, e *dialtest.Endpoint, target *Target) {
			must.Value(io.WriteString(e.ServerConn(0), text))(t)
			waitForPendingData(t, target)
		}
	}
	quiet := func(*testing.T, *dialtest.Endpoint, *Target) {}
	for name, row := range map[string]struct {
		first    dialtest.ReplyFunc
		then     func(*testing.T, *dialtest.Endpoint, *Target)
		reported bool
		conns    []int // connection numbers of the first request and of four more
	}{
		"one answer":                 {answerFollowedBy(""), quiet, false, []int{0, 0, 0, 0, 0}},
		"a second answer":            {answerFollowedBy(again), quiet, true, []int{0, 1, 2, 3, 4}},
		"a second answer, later":     {answerFollowedBy(""), idle(again), true, []int{0, 1, 2, 3, 4}},
		"the beginning of an answer": {answerFollowedBy(""), idle("H"), true, []int{0, 1, 2, 3, 4}},
		"an extra end of line":       {answerFollowedBy("\r\n"), quiet, false, []int{0, 1, 1, 1, 1}},
		"a 408":                      {answerFollowedBy(""), idle(dialtest.FormatResponse("408 Request Timeout", ``)), false, []int{0, 1, 1, 1, 1}},
		"a closed connection": {answerFollowedBy(""), func(t *testing.T, e *dialtest.Endpoint, target *Target) {
			_ = e.ServerConn(0).Close()
			waitForPendingData(t, target)
		}, false, []int{0, 1, 1, 1, 1}},
	} {
		for _, secure := range []bool{false, true} {
			rowName := name
			if secure {
				rowName += " over TLS"
			}
			t.Run(rowName, func(t *testing.T) {
				e, hosts, scheme := dialtest.StartEndpoint(t, row.first, dialtest.ReplyWithAnswer("200 OK", `1`)), newHosts(t, nil), "http://"
				if secure {
					e, hosts, scheme = listenTLS(t, certificate, row.first, dialtest.ReplyWithAnswer("200 OK", `1`)), newTLSHosts(t, certificate), "https://"
				}
				var reports []string
				hosts.options.OnExtraAnswer = func(host string) { reports = append(reports, host) }
				now := time.Minute
				hosts.clock = func() time.Duration { return now }
				target := findTarget(t, hosts, scheme+e.Address+"/")
				sendRequest(target, true)
				row.then(t, e, target)
				for range 4 {
					if done, body := sendRequest(target, true); done.Status != 200 || body != "1" {
						t.Errorf("%+v %q", done, body)
					}
				}
				if got := connNumbers(e); !slices.Equal(got, row.conns) {
					t.Errorf("connections %v, want %v", got, row.conns)
				}
				if reported := slices.Equal(reports, []string{e.Address}); reported != row.reported || len(reports) > 1 {
					t.Errorf("reported %q", reports)
				}
				now += distrustPeriod
				sendRequest(target, true)
				sendRequest(target, true)
				if got := connNumbers(e); got[6] != got[5] {
					t.Errorf("an hour later: connections %v", got)
				}
			})
		}
	}
}

// A host repeats its answer to a ping when the next request arrives on that connection,
// after the check for unexpected data. A post never reads that answer, and a ping never
// reads a repeated answer to a post.
func TestRepeatedAnswerIsIgnored(t *testing.T) {
	for _, isPing := range []bool{true, false} {
		var e *dialtest.Endpoint
		e = dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("302 Found", ``), func(c net.Conn) bool {
			if c == e.ServerConn(0) {
				_, _ = io.WriteString(c, dialtest.FormatResponse("302 Found", ``))
			}
			_, _ = io.WriteString(c, dialtest.FormatResponse("201 Created", `mine`))
			return true
		})
		target := findTarget(t, newHosts(t, nil), "http://"+e.Address+"/")
		first := newRequest(time.Now().Add(longTimeout))
		first.Ping = isPing
		if done, _ := sendTo(target, first); done.Status != 302 {
			t.Fatalf("%+v", done)
		}
		second := newRequest(time.Now().Add(longTimeout))
		second.Ping = !isPing
		if done, body := sendTo(target, second); done.Status != 201 || body != "mine" {
			t.Errorf("%+v %q", done, body)
		}
		if got := connNumbers(e); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("connections %v", got)
		}
		if all, idle := target.CountConnsToHost(); all != 2 || idle != 2 {
			t.Errorf("%d connections, %d idle", all, idle)
		}
	}
}

// A host answers a post twice, and the second answer arrives with the answer to the next
// post on that connection. It is unknown which of the two belongs to the next post, so its
// result is unknown. A ping's answer names its auction.
func TestExtraPostAnswerMakesResultUnknown(t *testing.T) {
	for _, isPing := range []bool{true, false} {
		e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("201 Created", `1`), func(c net.Conn) bool {
			_, err := io.WriteString(c, dialtest.FormatResponse("422 Unprocessable Entity", `2`)+dialtest.FormatResponse("201 Created", `3`))
			return err == nil
		})
		target := findTarget(t, newHosts(t, nil), "http://"+e.Address+"/")
		for i, want := range []int{201, 0} {
			r := newRequest(time.Now().Add(longTimeout))
			r.Ping = isPing
			done, _ := sendTo(target, r)
			if isPing && i == 1 {
				want = 422
			}
			if done.Status != want || !done.Sent || (done.Fault != market.FaultNone) != (want == 0) {
				t.Errorf("ping %v, request %d: %+v", isPing, i, done)
			}
		}
		if got := connNumbers(e); !slices.Equal(got, []int{0, 0}) {
			t.Errorf("connections %v", got)
		}
	}
}
