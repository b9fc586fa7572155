package buyer

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// The test pins the exact bytes of requests.
func TestRequestBytes(t *testing.T) {
	newAdapter := func(d market.AdapterProtocol) *validatedAdapter {
		d.Answer = market.BuyerAnswerValuePaths{Format: market.FormatForm, Price: "price"}
		validated, fault := validateAdapter(&market.OutboundEndpoint{AdapterProtocol: &d})
		if fault != market.FaultNone {
			t.Fatal(fault)
		}
		return validated
	}
	post := &market.AdapterProtocol{Method: "PUT", ContentType: "text/xml", Headers: "X-Fixed: a b\nX-Too: c\n", KeyHeader: "X-Key"}
	get := &market.AdapterProtocol{Method: "GET", ContentType: "application/x-www-form-urlencoded"}
	const own = "User-Agent: pingpost\r\nHost: blue.example:81\r\n"
	rows := []struct {
		name     string
		protocol *market.AdapterProtocol
		path     string
		sending  buyerRequest
		secret   string
		want     string
	}{
		{
			"the contract", nil, "/v1/ping?a=b",
			buyerRequest{key: "k1", hops: 2, body: []byte(`{"a":1}`)},
			"s3cret",
			"POST /v1/ping?a=b HTTP/1.1\r\n" + own + "Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: 7\r\n" +
				"Idempotency-Key: k1\r\nX-Pingpost-Hops: 2\r\nAuthorization: Bearer s3cret\r\n\r\n" + `{"a":1}`,
		},
		{
			"a test", nil, "/v1/post",
			buyerRequest{key: "k1", test: true, body: []byte(`{}`)},
			"",
			"POST /v1/post HTTP/1.1\r\n" + own + "Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: 2\r\n" +
				"Idempotency-Key: k1\r\nX-Pingpost-Test: 1\r\n\r\n{}",
		},
		{
			"a test in an adapter protocol", get, "/in",
			buyerRequest{key: "k1", test: true, body: []byte("a=1")},
			"",
			"GET /in?a=1 HTTP/1.1\r\n" + own + "Accept: application/x-www-form-urlencoded, text/plain\r\nX-Pingpost-Test: 1\r\n\r\n",
		},
		{
			"all empty", nil, "/",
			buyerRequest{},
			"",
			"POST / HTTP/1.1\r\n" + own + "Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: 0\r\n\r\n",
		},
		{
			"line ends in values are replaced", nil, "/",
			buyerRequest{key: "k\r\nX-Evil: 1"},
			"s\nX-Evil: 2",
			"POST / HTTP/1.1\r\n" + own + "Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: 0\r\n" +
				"Idempotency-Key: k  X-Evil: 1\r\nAuthorization: Bearer s X-Evil: 2\r\n\r\n",
		},
		{
			"an adapter protocol", post, "/in",
			buyerRequest{key: "k1", hops: 2, body: []byte("<a/>")},
			"",
			"PUT /in HTTP/1.1\r\n" + own + "Content-Type: text/xml\r\nAccept: application/x-www-form-urlencoded, text/plain\r\n" +
				"X-Fixed: a b\r\nX-Too: c\r\nContent-Length: 4\r\nX-Key: k1\r\n\r\n<a/>",
		},
		{
			"a form in the query", get, "/in",
			buyerRequest{key: "k1", body: []byte("a=1&b=2")},
			"s3cret",
			"GET /in?a=1&b=2 HTTP/1.1\r\n" + own + "Accept: application/x-www-form-urlencoded, text/plain\r\nAuthorization: Bearer s3cret\r\n\r\n",
		},
		{
			"a form after a query", get, "/in?x=y",
			buyerRequest{body: []byte("a=1")},
			"",
			"GET /in?x=y&a=1 HTTP/1.1\r\n" + own + "Accept: application/x-www-form-urlencoded, text/plain\r\n\r\n",
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a := &buyerEndpoint{Target: &dial.Target{Authority: "blue.example:81", Path: row.path}, header: "Authorization", scheme: "Bearer "}
			if row.protocol != nil {
				a.protocol = newAdapter(*row.protocol)
			}
			a.encodeConstantHead()
			s := row.sending
			s.endpoint = a
			if got := string(s.appendHTTPRequest([]byte("prefix|"), row.secret)); got != "prefix|"+row.want {
				t.Errorf("\n got %q\nwant %q", got, "prefix|"+row.want)
			}
		})
	}
}

// A large body does not keep its memory.
func TestLargeBufferIsNotPooled(t *testing.T) {
	for size, kept := range map[int]bool{maxKeptBuffer: true, maxKeptBuffer + 1: false} {
		l := &requestBuffer{text: make([]byte, size)}
		l.releaseToPool()
		if (l.text != nil) != kept {
			t.Errorf("buffer of %d bytes: kept is %v", size, !kept)
		}
	}
}

// The client writes the rest of a request that the socket did not accept at once.
func TestLongBodyIsSentCompletely(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{"lead_id":"b1"}`))
	client := newClient(t, nil)
	p := postTo(buyer.post(), longTimeout)
	p.Body = []byte(`{"note":"` + strings.Repeat("long ", 4<<20) + `"}`)
	for range 2 { // over a new connection, and over a kept one
		if got := client.Post(p); got.BuyerLeadID != "b1" {
			t.Fatalf("got %+v", got)
		}
	}
	for i, request := range buyer.Requests() {
		if request.Conn != 0 || request.Body != string(p.Body) {
			t.Errorf("request %d: got %d bytes over connection %d, want the whole body over connection 0", i, len(request.Body), request.Conn)
		}
	}
}
