package exchange

import (
	"fmt"
	"strings"
	"testing"
)

// TestFramingRefused: a request whose end two readers could see in two places,
// or that is no HTTP, gets an error in the interface's form and no second
// request on its connection.
func TestFramingRefused(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	good := lead(1)
	length := fmt.Sprintf("Content-Length: %d", len(good))
	rows := []struct {
		name   string
		say    string
		status int
		code   string
	}{
		{"a length and chunks", framed(chunked(good, 64), length, "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"chunks and a length", framed(chunked(good, 64), "Transfer-Encoding: chunked", length), 400, "malformed_request"},
		{"chunks and a length of nothing", framed(chunked(good, 64), "Transfer-Encoding: chunked", "Content-Length: 0"), 400, "malformed_request"},
		{"the same in odd case", framed(chunked(good, 64), "tRANSFER-eNCODING: Chunked", "cONTENT-lENGTH: 3"), 400, "malformed_request"},
		{"a length and an identity", framed(good, length, "Transfer-Encoding: identity"), 400, "malformed_request"},
		{"an identity alone", framed(good, "Transfer-Encoding: identity"), 400, "malformed_request"},
		{"an unknown coding", framed(chunked(good, 64), "Transfer-Encoding: gzip, chunked"), 400, "malformed_request"},
		{"a coding twice", framed(chunked(good, 64), "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a coding behind a space", framed(chunked(good, 64), "Transfer-Encoding : chunked"), 400, "malformed_request"},
		{"two lengths", framed(good, length, "Content-Length: 5"), 400, "malformed_request"},
		{"the same length twice", framed(good, length, length), 400, "malformed_request"},
		{"a length with a sign", framed(good, "Content-Length: +5"), 400, "malformed_request"},
		{"a length below zero", framed(good, "Content-Length: -1"), 400, "malformed_request"},
		{"a length that is a list", framed(good, "Content-Length: 5, 5"), 400, "malformed_request"},
		{"a length past all counting", framed(good, "Content-Length: 99999999999999999999"), 400, "malformed_request"},
		{"a chunk without a length", framed("zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a chunk that is longer than it says", framed("1\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a NUL in a header", post(good, "X-Odd: a\x00b"), 400, "malformed_request"},
		{"a bare CR in a header", post(good, "X-Odd: a\rb"), 400, "malformed_request"},
		{"a header without a colon", post(good, "X-Odd"), 400, "malformed_request"},
		{"a header with a space in its name", post(good, "X Odd: a"), 400, "malformed_request"},
		{"a folded header", post(good, "X-Odd: a", " b"), 400, "malformed_request"},
		{"two hosts", post(good, "Host: y"), 400, "malformed_request"},
		{"no HTTP", "HELO example.com\r\n\r\n", 400, "malformed_request"},
		{"no line of HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "malformed_request"},
		{"a header over the limit", post(good, "X-Odd: "+strings.Repeat("a", 1<<20)), 431, "header_too_large"},
		{"a path over the limit", "POST /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "header_too_large"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.say(row.say + post(good))
			w.next("POST").mustFail(t, row.status, row.code)
			w.ends()
		})
	}
	if leads := x.state.LeadCount(); leads != 0 {
		t.Errorf("%d leads were taken all the same", leads)
	}
}

// TestFramingTaken: what is odd and means one thing only is taken.
func TestFramingTaken(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	old := strings.Replace(post(lead(1)), "HTTP/1.1", "HTTP/1.0", 1)
	rows := []struct {
		name string
		say  string
		ends bool
	}{
		{"plain", post(lead(1)), false},
		{"chunks", framed(chunked(lead(1), 7), "Transfer-Encoding: chunked"), false},
		{"one chunk", framed(chunked(lead(1), 1<<16), "Transfer-Encoding: CHUNKED"), false},
		{"HTTP/1.0", old, true},
		{"HTTP/1.0, kept", strings.Replace(old, "Host", "Connection: keep-alive\r\nHost", 1), false},
		{"a last request", post(lead(1), "Connection: close"), true},
		{"lower case", strings.Replace(post(lead(1)), "X-Api-Key", "x-api-key", 1), false},
		{"a charset", strings.Replace(post(lead(1)), "application/json", "Application/JSON ; charset=utf-8", 1), false},
		{"an empty query", strings.Replace(post(lead(1)), "/ingest", "/ingest?", 1), false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.say(row.say)
			w.next("POST").mustHave(t, 201)
			if row.ends {
				w.ends()
				return
			}
			w.say(post(lead(2)))
			w.next("POST").mustHave(t, 201)
		})
	}
}

// TestPipelined: many requests in one breath are answered one by one, in order.
func TestPipelined(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	w := dial(t, x.PublicAddress())
	var all strings.Builder
	const many = 50
	for i := range many {
		switch i % 3 {
		case 0:
			all.WriteString(post(lead(i)))
		case 1:
			all.WriteString(post("{"))
		default:
			all.WriteString(framed(chunked(lead(i), 50), "Transfer-Encoding: chunked"))
		}
	}
	go w.say(all.String())
	ids := make(map[string]bool)
	for i := range many {
		a := w.next("POST")
		if i%3 == 1 {
			a.mustFail(t, 400, "malformed_json")
		} else if a.status != 201 {
			t.Fatalf("request %d: %d %s", i, a.status, a.body)
		}
		ids[a.id()] = true
	}
	if len(ids) != many {
		t.Errorf("%d request ids for %d requests", len(ids), many)
	}
}

// TestOversize: a body over the limit is refused, in whatever form it comes,
// but not before the credential was looked at, and the refusal arrives although
// the sender is still sending.
func TestOversize(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	stranger := func(request string) string { return strings.Replace(request, acmeKey, "nobody", 1) }
	lost := func(request string) string { return strings.Replace(request, "/ingest", "/elsewhere", 1) }
	wrong := func(request string) string { return strings.Replace(request, "POST", "PUT", 1) }
	atLimit := lead(1, "note", `"`+strings.Repeat("n", 64<<10-len(lead(1, "note", `""`)))+`"`)
	for _, form := range []struct {
		name  string
		frame func(body string) string
	}{
		{"plain", func(body string) string { return post(body) }},
		{"in chunks", func(body string) string { return framed(chunked(body, 1000), "Transfer-Encoding: chunked") }},
		{"expecting", func(body string) string { return post(body, "Expect: 100-continue") }},
	} {
		for _, row := range []struct {
			name   string
			say    string
			status int
			code   string
		}{
			{"a byte", form.frame(atLimit + " "), 413, "payload_too_large"},
			{"ten megabytes", form.frame(atLimit + strings.Repeat(" ", 10<<20)), 413, "payload_too_large"},
			{"a byte, without a key", stranger(form.frame(atLimit + " ")), 401, "unauthorized"},
			{"ten megabytes, without a key", stranger(form.frame(atLimit + strings.Repeat(" ", 10<<20))), 401, "unauthorized"},
			{"ten megabytes, elsewhere", lost(form.frame(atLimit + strings.Repeat(" ", 10<<20))), 404, "not_found"},
			{"ten megabytes, by another method", wrong(form.frame(atLimit + strings.Repeat(" ", 10<<20))), 405, "method_not_allowed"},
		} {
			t.Run(form.name+"/"+row.name, func(t *testing.T) {
				w := dial(t, x.PublicAddress())
				go w.say(row.say)
				a := w.next("POST")
				if a.status == 100 {
					a = w.next("POST")
				}
				a.mustFail(t, row.status, row.code)
				w.ends()
			})
		}
	}
	w := dial(t, x.PublicAddress())
	w.say(post(atLimit))
	w.next("POST").mustHave(t, 201)
}

// TestSlowClient: who sends a byte now and then is told so once the time for a
// request is over, wherever in the request that is.
func TestSlowClient(t *testing.T) {
	x := start(t, newPlace(t, recorded+"limits: {read_timeout: 200ms}\n"))
	whole := post(lead(1))
	_, body, _ := strings.Cut(whole, "\r\n\r\n")
	for name, quick := range map[string]int{"from the line on": 0, "in the header": 40, "in the body": len(whole) - len(body) + 5} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			answered := make(chan struct{})
			go func() {
				w.say(whole[:quick])
				for i := quick; i < len(whole); i++ {
					select {
					case <-answered:
						return
					default:
					}
					w.say(whole[i : i+1])
					pause()
				}
			}()
			w.next("POST").mustFail(t, 408, "request_timeout")
			close(answered)
			w.ends()
		})
	}
}

// TestSilence: a connection on which nothing comes is closed without a word.
func TestSilence(t *testing.T) {
	x := start(t, newPlace(t, recorded+"limits: {read_timeout: 200ms, idle_timeout: 200ms}\n"))
	w := dial(t, x.PublicAddress())
	w.say(post(lead(1)))
	w.next("POST").mustHave(t, 201)
	w.ends()
}
