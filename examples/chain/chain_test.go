// Package chain holds the example to what it promises: two exchanges, the second
// of which is the first one's buyer, sell through each other as they are.
package chain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
)

func environment(name string) (string, bool) { return "the-" + name, true }

// passage is a place between two parties that keeps what goes through it.
type passage struct {
	*httptest.Server

	mu      sync.Mutex
	hops    []string // of the pings, as they came
	reasons []string // of the answers without a bid, as they went
	tests   []string // what pings and posts said of being tests
	posts   int
}

func newPassage(t *testing.T, to string) *passage {
	t.Helper()
	target, err := url.Parse("http://" + to)
	if err != nil {
		t.Fatal(err)
	}
	p := &passage{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var said struct {
			Reason string `json:"reject_reason"`
		}
		if json.Unmarshal(body, &said) == nil && said.Reason != "" {
			p.mu.Lock()
			p.reasons = append(p.reasons, said.Reason)
			p.mu.Unlock()
		}
		return err
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		if r.URL.Path != "/oauth/token" {
			p.tests = append(p.tests, r.Header.Get("X-Pingpost-Test"))
		}
		switch r.URL.Path {
		case "/v1/ping":
			p.hops = append(p.hops, r.Header.Get("X-Pingpost-Hops"))
		case "/v1/post":
			p.posts++
		}
		p.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *passage) address() string { return strings.TrimPrefix(p.URL, "http://") }

func (p *passage) seen() (hops, reasons []string, posts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(hops, p.hops...), append(reasons, p.reasons...), p.posts
}

// tested is what pings and posts said of being tests.
func (p *passage) tested() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tests)
}

// free is an address at which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// start starts the exchange of one of the example's files, with other addresses:
// old and new ones in turn. Buckets are empty at a start, so the rates are such
// that they fill at once.
func start(t *testing.T, file string, changes ...string) *exchange.Exchange {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changes = append(changes, "_rate: 1000", "_rate: 1000000")
	for i := 0; i < len(changes); i += 2 {
		if !bytes.Contains(text, []byte(changes[i])) {
			t.Fatalf("%s says nothing of %q", file, changes[i])
		}
		text = bytes.ReplaceAll(text, []byte(changes[i]), []byte(changes[i+1]))
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := exchange.Start(path, exchange.Options{Env: environment, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// chain is a supplier's way to a buyer through two exchanges.
type chain struct {
	t           *testing.T
	front, back *exchange.Exchange
	between     *passage // of the two exchanges
	before      *passage // the buyer
	buyer       *refbuyer.Buyer
	token       string
}

func newChain(t *testing.T, options refbuyer.Options) *chain {
	t.Helper()
	options.Token, _ = environment("BLUE_TOKEN")
	buyer, err := refbuyer.New(options)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- buyer.Serve(t.Context()) }()
	t.Cleanup(func() {
		_ = buyer.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c := &chain{t: t, buyer: buyer}
	c.before = newPassage(t, buyer.Addr().String())
	c.back = start(t, "back.yaml", "127.0.0.1:8082", "127.0.0.1:0", "127.0.0.1:9082", "127.0.0.1:0", "127.0.0.1:8090", c.before.address())
	c.between = newPassage(t, c.back.Addr())
	c.front = start(t, "front.yaml", "127.0.0.1:8081", "127.0.0.1:0", "127.0.0.1:9081", "127.0.0.1:0", "127.0.0.1:8082", c.between.address())
	c.token = token(t, c.front)
	return c
}

// answer is what a request to the front got.
type answer struct {
	status   int
	replayed bool
	body     string
}

func call(t *testing.T, x *exchange.Exchange, path, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+x.Addr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header.Get("Idempotent-Replayed") == "true", string(text)}
}

func token(t *testing.T, x *exchange.Exchange) string {
	t.Helper()
	secret, _ := environment("ACME_CLIENT_SECRET")
	got := call(t, x, "/oauth/token", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"`+secret+`","scope":"ping post"}`)
	var said struct {
		Token string `json:"access_token"`
	}
	read(t, got.body, &said)
	return said.Token
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func (c *chain) seller(path, key, body string) answer {
	c.t.Helper()
	return call(c.t, c.front, path, body, "Authorization", "Bearer "+c.token, "Idempotency-Key", key)
}

// bid is what the front makes of a ping.
type bid struct {
	Bid *struct {
		Amount market.Money `json:"amount"`
		Token  string       `json:"bid_token"`
	} `json:"bid"`
	Reason string `json:"reject_reason"`
}

func pingOf(name string) string {
	return fmt.Sprintf(`{"auction_id":%q,"vertical":"auto_insurance","state":"CA","zip3":"941","vehicle_count":2,"tcpa_consent":true}`, name)
}

func postOf(name, bidToken string) string {
	return fmt.Sprintf(`{"auction_id":%q,"bid_token":%q,"lead":{"lead_uuid":%[1]q,"first_name":"Ann","last_name":"Lee",`+
		`"email":"ann@example.com","phone":"4155550132","vehicle_count":2,"address":{"state":"CA","zip":"94105"}}}`, name, bidToken)
}

const ingested = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","first_name":"Bob","last_name":"Ray",` +
	`"email":"bob@example.com","phone":"4155550133","state":"CA","zip":"94105","vehicle_count":1}`

func (c *chain) ingest(key string) answer {
	c.t.Helper()
	apiKey, _ := environment("ACME_API_KEY")
	return call(c.t, c.front, "/api/v1/ingest", ingested, "x-api-key", apiKey, "Idempotency-Key", key)
}

// explain is what an exchange's log says of a lead.
func explainLead(t *testing.T, x *exchange.Exchange, lead string) *explain.Explanation {
	t.Helper()
	id, ok := market.ParseLeadID(lead)
	if !ok {
		t.Fatalf("%q is no lead", lead)
	}
	text, err := x.ExplainLead(id)
	if err != nil {
		t.Fatal(err)
	}
	var told explain.Explanation
	read(t, string(text), &told)
	return &told
}
