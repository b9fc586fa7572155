package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// recordingProxy forwards requests between two parties and records parts of them.
type recordingProxy struct {
	*httptest.Server

	mu            sync.Mutex
	hops          []string // X-Pingpost-Hops of the pings
	rejectReasons []string // of answers without a bid
	testHeaders   []string // X-Pingpost-Test of pings and posts
	posts         int
}

func startRecordingProxy(t *testing.T, targetAddress string) *recordingProxy {
	t.Helper()
	target := must.Value(url.Parse("http://" + targetAddress))(t)
	p := &recordingProxy{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var rejected struct {
			Reason string `json:"reject_reason"`
		}
		if json.Unmarshal(body, &rejected) == nil && rejected.Reason != "" {
			p.mu.Lock()
			p.rejectReasons = append(p.rejectReasons, rejected.Reason)
			p.mu.Unlock()
		}
		return err
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		if r.URL.Path != "/oauth/token" {
			p.testHeaders = append(p.testHeaders, r.Header.Get("X-Pingpost-Test"))
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

func (p *recordingProxy) address() string { return strings.TrimPrefix(p.URL, "http://") }

// recorded returns copies of the records.
func (p *recordingProxy) recorded() (hops, rejectReasons, testHeaders []string, posts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.hops), slices.Clone(p.rejectReasons), slices.Clone(p.testHeaders), p.posts
}

// unusedAddress returns an address without a listener.
func unusedAddress(t *testing.T) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().String()
}

// chain is a supplier, two exchanges, and a buyer. The back exchange is the front one's buyer.
type chain struct {
	t           *testing.T
	front, back *exchange.Exchange
	between     *recordingProxy // between the two exchanges
	beforeBuyer *recordingProxy
	buyer       *refbuyer.Buyer
	token       string // of the supplier
}

func startChain(t *testing.T, options refbuyer.Options) *chain {
	t.Helper()
	options.Token = secretOf("BLUE_TOKEN")
	c := &chain{t: t, buyer: startBuyer(t, options)}
	c.beforeBuyer = startRecordingProxy(t, c.buyer.Addr().String())
	c.back = startExample(t, "chain/back.yaml", "127.0.0.1:8082", "127.0.0.1:0", "127.0.0.1:9082", "127.0.0.1:0", "127.0.0.1:8090", c.beforeBuyer.address())
	c.between = startRecordingProxy(t, c.back.PublicAddress())
	c.front = startExample(t, "chain/front.yaml", "127.0.0.1:8081", "127.0.0.1:0", "127.0.0.1:9081", "127.0.0.1:0", "127.0.0.1:8082", c.between.address())
	c.token = fetchToken(t, c.front)
	return c
}

// fetchToken returns an OAuth token of the supplier.
func fetchToken(t *testing.T, x *exchange.Exchange) string {
	t.Helper()
	got := send(t, x, "/oauth/token", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"`+secretOf("ACME_CLIENT_SECRET")+`","scope":"ping post"}`)
	var granted struct {
		Token string `json:"access_token"`
	}
	decode(t, got.body, &granted)
	return granted.Token
}

// sendAsSupplier sends a ping or a post to the front exchange.
func (c *chain) sendAsSupplier(path, key, body string, headers ...string) answer {
	c.t.Helper()
	return send(c.t, c.front, path, body, append(headers, "Authorization", "Bearer "+c.token, "Idempotency-Key", key)...)
}

// pingAnswer is the front exchange's answer to a ping.
type pingAnswer struct {
	Bid *struct {
		Amount market.Money `json:"amount"`
		Token  string       `json:"bid_token"`
	} `json:"bid"`
	Reason string `json:"reject_reason"`
}

// postAnswer is the front exchange's answer to a sold post.
type postAnswer struct {
	ID     string `json:"id"`
	LeadID string `json:"lead_id"`
	Price  struct {
		Amount market.Money `json:"amount"`
	} `json:"price"`
}

const pingBody = `{"auction_id":"a-1","vertical":"auto_insurance","state":"CA","zip3":"941","vehicle_count":2,"tcpa_consent":true}`

// mustPing sends a ping that must get a bid.
func (c *chain) mustPing(headers ...string) (raw answer, bid pingAnswer) {
	c.t.Helper()
	raw = c.sendAsSupplier("/v1/ping", "k-ping", pingBody, headers...)
	if decode(c.t, raw.body, &bid); bid.Bid == nil {
		c.t.Fatalf("no bid: %+v", raw)
	}
	return raw, bid
}

// postBody returns the body of a post at a bid.
func (b *pingAnswer) postBody() string {
	return fmt.Sprintf(`{"auction_id":"a-1","bid_token":%q,"lead":{"lead_uuid":"a-1","first_name":"Ann","last_name":"Lee",`+
		`"email":"ann@example.com","phone":"4155550132","vehicle_count":2,"address":{"state":"CA","zip":"94105"}}}`, b.Bid.Token)
}

const ingestBody = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","first_name":"Bob","last_name":"Ray",` +
	`"email":"bob@example.com","phone":"4155550133","state":"CA","zip":"94105","vehicle_count":1}`

func (c *chain) ingest(key string, headers ...string) answer {
	c.t.Helper()
	return send(c.t, c.front, "/api/v1/ingest", ingestBody, append(headers, "x-api-key", secretOf("ACME_API_KEY"), "Idempotency-Key", key)...)
}
