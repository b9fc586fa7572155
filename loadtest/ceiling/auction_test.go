package ceiling

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
	"pingpost/wal"
)

// buyer starts a reference buyer until the test ends.
func buyer(t *testing.T, options refbuyer.Options) *refbuyer.Buyer {
	t.Helper()
	b, err := refbuyer.New(options)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(t.Context()) }()
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return b
}

// auctioneer starts an auction ceiling with these buyers.
func auctioneer(t *testing.T, timeout time.Duration, buyers ...*refbuyer.Buyer) (addr string) {
	t.Helper()
	return recorder(t, nil, 0, timeout, buyers...)
}

// recorder is an auctioneer that commits a record of this size for each auction.
func recorder(t *testing.T, log *wal.Log, entry int, timeout time.Duration, buyers ...*refbuyer.Buyer) (addr string) {
	t.Helper()
	var addrs []string
	for _, b := range buyers {
		addrs = append(addrs, b.Addr().String())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewAuction(&AuctionOptions{
		Buyers: addrs, Timeout: timeout, Log: log, Entry: entry, Body: 64 << 10, Header: 16 << 10, Connections: 100,
		ReadTimeout: time.Second, WriteTimeout: time.Second, IdleTimeout: time.Second,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(), <-served); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// hold holds the auction of one lead.
func hold(t *testing.T, addr string, n uint64) (status int, answer Answer, text string) {
	t.Helper()
	pings := load.Auctions{Host: addr, Token: "t", Vertical: "auto"}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := strings.Replace(string(pings.AppendPing(nil, n)), "\r\n", "\r\nConnection: close\r\n", 1)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(all), "\r\n\r\n")
	if _, after, found := strings.Cut(head, "HTTP/1.1 "); found && strings.HasPrefix(after, "200") {
		status = http.StatusOK
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
	}
	return status, answer, string(all)
}

func price(cents market.Money) refbuyer.Pricing { return refbuyer.Fixed(cents * 10_000) }

func TestTheBestBidOfAllIsTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		cents []market.Money // bid of each buyer; 0: none
		want  float64
	}{
		"one":               {[]market.Money{1250}, 12.5},
		"the first":         {[]market.Money{900, 800, 700}, 9},
		"the last":          {[]market.Money{700, 800, 925}, 9.25},
		"the only one":      {[]market.Money{0, 300, 0, 0}, 3},
		"nobody":            {[]market.Money{0, 0}, 0},
		"as many as it has": {[]market.Money{1, 2, 3, 4, 5, 6, 7, 8}, 0.08},
	} {
		t.Run(name, func(t *testing.T) {
			var buyers []*refbuyer.Buyer
			for _, cents := range test.cents {
				buyers = append(buyers, buyer(t, refbuyer.Options{Bid: price(cents)}))
			}
			addr := auctioneer(t, 5*time.Second, buyers...)
			for n := range uint64(3) {
				status, answer, text := hold(t, addr, n)
				switch {
				case status != http.StatusOK || answer.Auction == "":
					t.Fatal(text)
				case test.want == 0:
					if answer.Bid != nil || answer.Reason == "" {
						t.Errorf("a bid of nobody: %s", text)
					}
				case answer.Bid == nil || answer.Bid.Amount != test.want || answer.Bid.Token == "" || answer.Bid.Currency != "USD" || answer.Bid.ValidUntil == "":
					t.Errorf("want %v: %s", test.want, text)
				}
			}
			for i, b := range buyers {
				if s := b.Stats(); s.Pings != 3 || s.Invalid != 0 {
					t.Errorf("buyer %d has had %d pings, %d of them bad", i, s.Pings, s.Invalid)
				}
			}
		})
	}
}

func TestWhoDoesNotAnswerInTimeIsLeftOut(t *testing.T) {
	quick := buyer(t, refbuyer.Options{Bid: price(100)})
	slow := buyer(t, refbuyer.Options{Bid: price(900), Latency: refbuyer.Uniform{Min: time.Second, Max: time.Second}})
	n := uint64(0)
	for name, buyers := range map[string][]*refbuyer.Buyer{"the last": {quick, slow}, "the first": {slow, quick}} {
		addr := auctioneer(t, 100*time.Millisecond, buyers...)
		for range 2 { // a seat is reused
			n++
			if _, answer, text := hold(t, addr, n); answer.Bid == nil || answer.Bid.Amount != 1 {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// An auction is answered when its record is durable, and refused if the log fails.
func TestARecordIsCommittedBeforeTheAnswer(t *testing.T) {
	log, err := wal.Open(t.TempDir(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr := recorder(t, log, 321, time.Second, buyer(t, refbuyer.Options{Bid: price(100)}))
	for n := range uint64(3) {
		if status, _, text := hold(t, addr, n); status != http.StatusOK {
			t.Fatal(text)
		}
		if s := log.Stats(); s.Entries != n+1 || s.Bytes < 321*(n+1) {
			t.Fatalf("after %d auctions: %+v", n+1, s)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if status, _, text := hold(t, addr, 9); status == http.StatusOK {
		t.Errorf("without a log: %s", text)
	}
}

func TestAPingIsDecoded(t *testing.T) {
	b := buyer(t, refbuyer.Options{Bid: price(100)})
	url := "http://" + auctioneer(t, time.Second, b) + "/v1/ping"
	for name, body := range map[string]string{
		"no JSON":     `{"auction_id":`,
		"wrong type":  `{"auction_id":"a","vertical":"auto","state":"CA","tcpa_consent":"yes"}`,
		"no consent":  `{"auction_id":"a","vertical":"auto","state":"CA"}`,
		"no auction":  `{"vertical":"auto","state":"CA","tcpa_consent":true}`,
		"no vertical": `{"auction_id":"a","state":"CA","tcpa_consent":true}`,
		"no state":    `{"auction_id":"a","vertical":"auto","tcpa_consent":true}`,
	} {
		if status, answer := post(t, url, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %q", name, status, answer)
		}
	}
	if s := b.Stats(); s.Pings+s.Invalid != 0 {
		t.Errorf("the buyer was asked: %+v", s)
	}
}

func TestABuyerThatIsGoneBidsNothing(t *testing.T) {
	there, gone := buyer(t, refbuyer.Options{Bid: price(300)}), buyer(t, refbuyer.Options{Bid: price(900)})
	addr := auctioneer(t, time.Second, there, gone)
	if _, answer, text := hold(t, addr, 1); answer.Bid == nil || answer.Bid.Amount != 9 {
		t.Error(text)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if _, answer, text := hold(t, addr, 2); answer.Bid == nil || answer.Bid.Amount != 3 {
		t.Error(text)
	}
}
