package ceiling

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
	"pingpost/wal"
)

const (
	entrySize   = 640
	outcomeSize = 90
	answerSize  = 150
)

var leads = load.Leads{Supplier: "sup", Campaigns: []string{"cmp"}}

func startBuyer(t *testing.T, options refbuyer.Options) *refbuyer.Buyer {
	t.Helper()
	b := must.Value(refbuyer.New(options))(t)
	served := make(chan error, 1)
	go func() { served <- b.Serve(t.Context()) }()
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return b
}

// serve serves a ceiling until the test ends, and returns its URL.
func serve(t *testing.T, server *Server) (url string) {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := errors.Join(server.Shutdown(), <-served); err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func openLog(t *testing.T, options wal.Options) *wal.Log {
	t.Helper()
	log := must.Value(wal.Open(t.TempDir(), options))(t)
	t.Cleanup(func() { _ = log.Close() }) // some tests let the log fail
	return log
}

// startIngest serves the ceiling of ingest; buyer may be nil.
func startIngest(t *testing.T, log *wal.Log, buyer *refbuyer.Buyer) (url string) {
	t.Helper()
	options := &Options{Entry: entrySize, Answer: answerSize, Outcome: outcomeSize}
	if buyer != nil {
		options.Buyers = []string{buyer.Addr().String()}
	}
	return serve(t, NewIngest(log, options))
}

// TestHashAndEncrypt checks the entry of a ceiling that hashes and encrypts: the last hash of each kind,
// the sealed half of the body, and the size.
func TestHashAndEncrypt(t *testing.T) {
	log := openLog(t, wal.Options{})
	url := serve(t, NewIngest(log, &Options{Entry: entrySize, Answer: answerSize, HashAndEncrypt: true}))
	body := leads.AppendBody(nil, 1)
	if status, answer := post(t, url, "key", string(body)); status != http.StatusCreated {
		t.Fatalf("%d %q", status, answer)
	}
	var lead Lead
	must.Succeed(t, json.Unmarshal(body, &lead))
	reader := must.Value(log.NewReader(1))(t)
	t.Cleanup(func() { reader.Close() })
	entry := must.Value(reader.Next())(t).Data
	var key [32]byte
	whole, email := sha256.Sum256(append(key[:], body...)), fingerprint.HMAC(&key, []byte(lead.Email))
	half := body[:len(body)/2]
	chacha := must.Value(chacha20poly1305.New(key[:]))(t)
	associated := append(append([]byte("pingpost/contact/1"), make([]byte, 23)...), 1)
	sealed := entry[64 : 64+leadkeys.Overhead+len(half)]
	plain, err := chacha.Open(nil, sealed[:12], sealed[12:], associated)
	if err != nil || !bytes.Equal(plain, half) || !bytes.HasPrefix(entry, append(whole[:], email[:]...)) || len(entry) != entrySize {
		t.Errorf("%v: %q in %q", err, plain, entry)
	}
}

// startAuction serves the ceiling of auctions; log may be nil.
func startAuction(t *testing.T, log *wal.Log, timeout time.Duration, buyers ...*refbuyer.Buyer) (url string) {
	t.Helper()
	options := &Options{Timeout: timeout, Entry: entrySize}
	for _, b := range buyers {
		options.Buyers = append(options.Buyers, b.Addr().String())
	}
	return serve(t, NewAuction(log, options))
}

func post(t *testing.T, url, key, body string) (status int, answer string) {
	t.Helper()
	request := must.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body)))(t)
	request.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text)
}

// auction pings for lead n and returns the best bid, or 0 for none.
func auction(t *testing.T, url string, n uint64) (status int, bid float64) {
	t.Helper()
	pings := load.Auctions{Vertical: "auto"}
	_, ping, _ := bytes.Cut(pings.AppendPing(nil, n), []byte("\r\n\r\n"))
	status, text := post(t, url+"/v1/ping", fmt.Sprint("ping-", n), string(ping))
	var answer Answer
	if status != http.StatusOK {
		return status, 0
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Auction == "" || (answer.Bid == nil) == (answer.Reason == "") {
		t.Fatalf("%v: %s", err, text)
	}
	if answer.Bid == nil {
		return status, 0
	}
	if answer.Bid.Token == "" || answer.Bid.Currency != "USD" || answer.Bid.ValidUntil == "" {
		t.Errorf("an incomplete bid: %s", text)
	}
	return status, answer.Bid.Amount
}

// TestALeadIsDurableBeforeTheAnswer: as many bytes as configured are durable, after the
// post also those of its outcome.
func TestALeadIsDurableBeforeTheAnswer(t *testing.T) {
	for _, buyer := range []*refbuyer.Buyer{nil, startBuyer(t, refbuyer.Options{})} {
		sizes := []int{entrySize}
		if buyer != nil {
			sizes = append(sizes, outcomeSize)
		}
		log := openLog(t, wal.Options{})
		url := startIngest(t, log, buyer)
		for n := range uint64(3) {
			status, answer := post(t, url, fmt.Sprint("key-", n), string(leads.AppendBody(nil, n)))
			if status != http.StatusCreated || len(answer) != answerSize || !strings.Contains(answer, `"ACCEPTED"`) {
				t.Fatalf("%d %q", status, answer)
			}
			if seq, _ := log.LastEntry(); seq != (n+1)*uint64(len(sizes)) {
				t.Errorf("lead %d was answered with %d entries durable", n, seq)
			}
		}
		if buyer != nil {
			if s := buyer.Stats(); s.Accepted != 3 || s.Invalid != 0 {
				t.Errorf("the buyer has taken %d leads, and found %d invalid", s.Accepted, s.Invalid)
			}
		}
		reader := must.Value(log.NewReader(1))(t)
		t.Cleanup(func() { reader.Close() })
		for n := range 3 * len(sizes) {
			entry, err := reader.Next()
			isLead := n%len(sizes) == 0
			if err != nil || len(entry.Data) != sizes[n%len(sizes)] || isLead && !bytes.HasPrefix(entry.Data, leads.AppendBody(nil, uint64(n/len(sizes)))) {
				t.Errorf("entry %d has %d bytes: %v", n+1, len(entry.Data), err)
			}
		}
	}
}

func TestIngestAtFault(t *testing.T) {
	good := string(leads.AppendBody(nil, 1))
	refusing := startBuyer(t, refbuyer.Options{RejectRate: 1})
	for name, test := range map[string]struct {
		log    wal.Options
		buyer  *refbuyer.Buyer
		body   string
		status int
		seq    uint64 // durable entries
	}{
		"no JSON":           {body: `{"first_name":`, status: 400},
		"wrong type":        {body: strings.Replace(good, `"vehicle_count":1`, `"vehicle_count":"one"`, 1), status: 400},
		"not a lead":        {body: `{}`, status: 400},
		"no campaign":       {body: strings.Replace(good, "flo_campaign_id", "x", 1), status: 400},
		"the disk is gone":  {log: wal.Options{Faults: wal.Faults{Sync: func() error { return errors.New("gone") }}}, body: good, status: 503},
		"the buyer refuses": {buyer: refusing, body: good, status: 503, seq: 1},
	} {
		log := openLog(t, test.log)
		if status, answer := post(t, startIngest(t, log, test.buyer), "key", test.body); status != test.status {
			t.Errorf("%s: %d %q", name, status, answer)
		}
		if seq, _ := log.LastEntry(); seq != test.seq {
			t.Errorf("%s: %d entries are durable", name, seq)
		}
	}
}

func TestTheBestBidIsTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		cents []market.Money // bid of each buyer; 0: none
		want  float64
	}{
		"one":          {[]market.Money{1250}, 12.5},
		"the first":    {[]market.Money{900, 800, 700}, 9},
		"the last":     {[]market.Money{700, 800, 925}, 9.25},
		"the only one": {[]market.Money{0, 300, 0, 0}, 3},
		"none":         {[]market.Money{0, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var buyers []*refbuyer.Buyer
			for _, cents := range test.cents {
				buyers = append(buyers, startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(cents * 10_000)}))
			}
			url := startAuction(t, nil, 5*time.Second, buyers...)
			for n := range uint64(3) { // a seat is reused
				if status, bid := auction(t, url, n); status != 200 || bid != test.want {
					t.Errorf("%d, %v, want %v", status, bid, test.want)
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

// TestABuyerWithoutAnAnswerBidsNothing: one that is too slow, and one that is gone.
func TestABuyerWithoutAnAnswerBidsNothing(t *testing.T) {
	quick := startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(1_000_000)})
	slow := startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(9_000_000), Latency: refbuyer.Uniform{Min: time.Minute, Max: time.Minute}})
	gone := startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(9_000_000)})
	must.Succeed(t, gone.Close())
	for i, buyers := range [][]*refbuyer.Buyer{{quick, slow, gone}, {gone, slow, quick}} {
		t.Run(fmt.Sprint("order ", i), func(t *testing.T) {
			t.Parallel()                                          // each auction waits for its timeout
			url := startAuction(t, nil, 2*time.Second, buyers...) // enough for the quick buyer on a busy machine
			for n := range uint64(2) {
				if status, bid := auction(t, url, 10*uint64(i)+n); status != 200 || bid != 1 {
					t.Errorf("%d, %v", status, bid)
				}
			}
		})
	}
}

// TestARecordIsCommittedBeforeTheAnswer, and an auction is refused if the log fails.
func TestARecordIsCommittedBeforeTheAnswer(t *testing.T) {
	log := openLog(t, wal.Options{})
	url := startAuction(t, log, time.Second, startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(1_000_000)}))
	for n := range uint64(3) {
		if status, _ := auction(t, url, n); status != http.StatusOK {
			t.Fatal(status)
		}
		if s := log.Stats(); s.Entries != n+1 || s.Bytes < entrySize*(n+1) {
			t.Fatalf("after %d auctions: %+v", n+1, s)
		}
	}
	must.Succeed(t, log.Close())
	if status, _ := auction(t, url, 9); status == http.StatusOK {
		t.Error("an answer without a log")
	}
}

func TestAPingIsDecoded(t *testing.T) {
	b := startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(1_000_000)})
	url := startAuction(t, nil, time.Second, b)
	for name, body := range map[string]string{
		"no JSON":     `{"auction_id":`,
		"wrong type":  `{"auction_id":"a","vertical":"auto","state":"CA","tcpa_consent":"yes"}`,
		"no consent":  `{"auction_id":"a","vertical":"auto","state":"CA"}`,
		"no auction":  `{"vertical":"auto","state":"CA","tcpa_consent":true}`,
		"no vertical": `{"auction_id":"a","state":"CA","tcpa_consent":true}`,
		"no state":    `{"auction_id":"a","vertical":"auto","tcpa_consent":true}`,
	} {
		if status, answer := post(t, url, "key", body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %q", name, status, answer)
		}
	}
	if s := b.Stats(); s.Pings+s.Invalid != 0 {
		t.Errorf("the buyer was asked: %+v", s)
	}
}
