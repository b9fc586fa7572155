//go:build !race

package buyer

import (
	"bytes"
	"net"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// startFixedEndpoint starts a buyer that answers without allocating memory, so that the
// test counts only the client's allocations.
func startFixedEndpoint(t testing.TB, body string) (address string) {
	t.Helper()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		answer := []byte(dialtest.FormatResponse("200 OK", body))
		buf := make([]byte, 8<<10)
		end := []byte(`"CA"}`)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			for filled := 0; err == nil; {
				var n int
				n, err = conn.Read(buf[filled:])
				if filled += n; bytes.HasSuffix(buf[:filled], end) {
					filled = 0
					_, err = conn.Write(answer)
				}
			}
			_ = conn.Close()
		}
	}()
	return ln.Addr().String()
}

// A ping over a kept connection allocates only the token of its bid.
func TestPingAllocations(t *testing.T) {
	rows := []struct {
		name string
		body string
		want float64
	}{
		{"a bid", bidWith(`"amount":12.5,"currency":"USD","bid_token":"bid_01jd4h8x0k6e3v9q2m7w5t1c0r","valid_until":"2026-03-02T12:00:04.500Z"`) + " ", 1},
		{"no bid", `{"auction_id":"auc_1","bid":null}`, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return "s3cret", true } })
			p := pingTo("http://"+startFixedEndpoint(t, row.body)+"/v1/ping", longTimeout)
			p.Endpoint.Credential, p.Endpoint.Header, p.Endpoint.Scheme = "blue", "Authorization", "Bearer "
			got := testing.AllocsPerRun(2000, func() {
				p.Deadline = time.Now().Add(longTimeout)
				if r := client.Ping(p); r.Fault != market.FaultNone {
					t.Fatalf("%+v", r)
				}
			})
			if got != row.want {
				t.Errorf("%v allocations, want %v", got, row.want)
			}
		})
	}
}

func BenchmarkPing(b *testing.B) {
	client := New(Options{Secrets: func(string) (string, bool) { return "s3cret", true }, TrustedNetworks: loopback})
	b.Cleanup(client.Close)
	p := pingTo("http://"+startFixedEndpoint(b, bidWith(`"amount":12.5,"currency":"USD","bid_token":"tok"`))+"/v1/ping", longTimeout)
	p.Endpoint.Credential, p.Endpoint.Header, p.Endpoint.Scheme = "blue", "Authorization", "Bearer "
	b.ReportAllocs()
	for b.Loop() {
		p.Deadline = time.Now().Add(longTimeout)
		if r := client.Ping(p); r.Outcome != market.OutcomeNone {
			b.Fatalf("%+v", r)
		}
	}
}
