package timeline

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/exchange/explain"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// testExchange is a running exchange with these buyers:
//
//	buy_high, buy_low  bid 12.50 and 9, and accept all posts
//	buy_choosy         bids 20 and refuses all posts
//	buy_shy            never bids
//	buy_gone           cannot be connected to
//	buy_vault          has no endpoint
//	buy_nevada         buys in another state; buy_poor has no money
type testExchange struct {
	t   *testing.T
	x   *exchange.Exchange
	url string
}

const testConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
trusted_networks: [127.0.0.0/8]
suppliers:
  - id: sup_acme
    api_key: the-api-key
    ping_rate: 1000000
    ingest_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: the-secret}]
suppression_lists: [{id: dnc, field: phone, file: dnc.txt}]
buyers:
%s  - {id: buy_gone, endpoint: "http://%s", ping_rate: 1000000}
  - {id: buy_nevada, endpoint: "http://%[2]s", states: [NV]}
  - {id: buy_vault}
  - {id: buy_poor, funds: {balance: 1}}
campaigns:
  - {id: cmp_list, method: waterfall, buyers: [{buyer: buy_nevada, price: 9}, {buyer: buy_poor, price: 9}, {buyer: buy_vault, price: 5}, {buyer: buy_low, price: 4}]}
  - {id: cmp_harsh, method: waterfall, buyers: [{buyer: buy_choosy, price: 9}, {buyer: buy_gone, price: 8}]}
  - {id: cmp_picky, method: waterfall, fields: [{name: rooms, type: integer}], filters: [{field: rooms, min: 3}], buyers: [{buyer: buy_vault, price: 5}]}
  - {id: cmp_quiet, method: waterfall, suppression: [dnc], buyers: [{buyer: buy_vault, price: 5}]}
  - {id: cmp_auto, vertical: auto, method: ping_post, payout: {share: 0.8}, buyers: [{buyer: buy_choosy}, {buyer: buy_low}, {buyer: buy_shy}, {buyer: buy_gone}, {buyer: buy_nevada}]}
  - {id: cmp_pair, vertical: pair, method: ping_post, payout: {share: 0.8}, buyers: [{buyer: buy_high}, {buyer: buy_low}]}
  - {id: cmp_dear, vertical: dear, method: ping_post, floor: 50, buyers: [{buyer: buy_high}, {buyer: buy_shy}]}
`

func newTestExchange(t *testing.T) *testExchange {
	t.Helper()
	var buyers strings.Builder
	for _, b := range []struct {
		id      string
		options refbuyer.Options
	}{
		{"buy_high", refbuyer.Options{Bid: refbuyer.Fixed(12_500_000)}},
		{"buy_low", refbuyer.Options{Bid: refbuyer.Fixed(9_000_000)}},
		{"buy_choosy", refbuyer.Options{Bid: refbuyer.Fixed(20_000_000), RejectRate: 1}},
		{"buy_shy", refbuyer.Options{Bid: refbuyer.Fixed(20_000_000), NoBidRate: 1}},
	} {
		fmt.Fprintf(&buyers, "  - {id: %s, endpoint: \"http://%s\", ping_rate: 1000000}\n", b.id, startBuyer(t, b.options))
	}
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	gone := listener.Addr().String()
	must.Succeed(t, listener.Close())
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	must.Succeed(t, os.WriteFile(path, fmt.Appendf(nil, testConfig, buyers.String(), gone), 0o600))
	must.Succeed(t, os.WriteFile(filepath.Join(filepath.Dir(path), "dnc.txt"), []byte("+12125550113\n"), 0o600))
	x := must.Value(exchange.Start(path, exchange.Options{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { must.Succeed(t, x.Close()) })
	return &testExchange{t, x, "http://" + x.PublicAddress()}
}

// startBuyer starts a reference buyer for the test and returns its address.
func startBuyer(t *testing.T, options refbuyer.Options) string {
	t.Helper()
	b := must.Value(refbuyer.New(options))(t)
	served := make(chan error)
	go func() { served <- b.Serve(t.Context()) }()
	t.Cleanup(func() {
		b.Close()
		must.Succeed(t, <-served)
	})
	return b.Addr().String()
}

// call sends a request with the supplier's API key, or as its OAuth client if it has an
// idempotency key. It returns the answer's members and the request's id.
func (b *testExchange) call(path, key, body string) (answer map[string]json.RawMessage, request string) {
	b.t.Helper()
	req := must.Value(http.NewRequest(http.MethodPost, b.url+path, strings.NewReader(body)))(b.t)
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Set("X-Api-Key", "the-api-key"); key != "" {
		req.Header.Set("Idempotency-Key", key)
		req.Header.Set("Authorization", "Bearer "+b.token())
	}
	response, err := http.DefaultClient.Do(req)
	must.Succeed(b.t, err)
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(b.t)
	if err := json.Unmarshal(text, &answer); err != nil {
		b.t.Fatalf("%d %s: %v", response.StatusCode, text, err)
	}
	return answer, response.Header.Get("X-Request-Id")
}

func (b *testExchange) token() string {
	b.t.Helper()
	client := clientcredentials.Config{ClientID: "acme", ClientSecret: "the-secret", TokenURL: b.url + "/oauth/token"}
	return must.Value(client.Token(b.t.Context()))(b.t).AccessToken
}

// personName is the last name in all leads. No explanation may contain it.
const personName = "Quetzalcott"

// contactFields returns the contact data of the nth person as JSON members.
func contactFields(n int) string {
	return fmt.Sprintf(`"first_name":"Ann","last_name":%q,"email":"ann%d@%[1]s.example","phone":"+121255501%02[2]d"`, personName, n)
}

// ingest sends the nth person's lead to a campaign.
func (b *testExchange) ingest(campaign string, n int, more string) (request string) {
	b.t.Helper()
	_, request = b.call("/api/v1/ingest", "", fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup_acme","state":"CA",%s%s}`, campaign, contactFields(n), more))
	return request
}

// ping requests a bid under the seller's auction id.
func (b *testExchange) ping(vertical, auction string) (token, request string) {
	b.t.Helper()
	answer, request := b.call("/v1/ping", auction, fmt.Sprintf(`{"auction_id":%q,"vertical":%q,"state":"CA","zip3":"941","tcpa_consent":true}`, auction, vertical))
	var bid struct {
		Token string `json:"bid_token"`
	}
	must.Succeed(b.t, json.Unmarshal(answer["bid"], &bid))
	return bid.Token, request
}

// post sends the nth person's lead at a bid.
func (b *testExchange) post(auction, token string, n int) (request string) {
	b.t.Helper()
	_, request = b.call("/v1/post", fmt.Sprint(auction, n), fmt.Sprintf(`{"auction_id":%q,"bid_token":%q,"lead":{"lead_uuid":"u-%d",%s}}`, auction, token, n, contactFields(n)))
	return request
}

// explainedText returns the explanation of a request or of a seller's auction, with fixed
// ids and times.
func (b *testExchange) explainedText(id string) string {
	b.t.Helper()
	readDocument := func() ([]byte, error) { return b.x.ExplainBySellersAuctionID("sup_acme", id) }
	if request, ok := market.ParseRequestID(id); ok {
		readDocument = func() ([]byte, error) { return b.x.ExplainRequest(request) }
	}
	document := must.Value(readDocument())(b.t)
	var explanation explain.Explanation
	must.Succeed(b.t, json.Unmarshal([]byte(numberIDs(string(document))), &explanation))
	resetTimes(&explanation)
	text := FormatExplanation(&explanation)
	if strings.Contains(text, personName) {
		b.t.Errorf("the explanation contains contact data:\n%s", text)
	}
	return text
}

var (
	idPattern         = regexp.MustCompile(`\b(lead|auc|ping|req)_[0-9a-hj-km-np-tv-z]{26}\b`)
	timeOfLeadPattern = regexp.MustCompile(` of 20\S+Z with`) // of a duplicate's earlier lead
	buyerLeadPattern  = regexp.MustCompile(`"ref_[0-9a-f]+"`)
)

// numberIDs replaces the random ids of a document with numbers.
func numberIDs(document string) string {
	known := map[string]string{}
	document = idPattern.ReplaceAllStringFunc(document, func(id string) string {
		kind, random, _ := strings.Cut(id, "_")
		if known[random] == "" {
			known[random] = fmt.Sprint(len(known) + 1)
		}
		return kind + "_" + known[random]
	})
	document = timeOfLeadPattern.ReplaceAllString(document, " of (time) with")
	return buyerLeadPattern.ReplaceAllString(document, `"(theirs)"`)
}

// resetTimes sets all times to arrival, and moves deadlines accordingly.
func resetTimes(explanation *explain.Explanation) {
	shift := arrival - explanation.Received
	explanation.Received, explanation.Decided, explanation.BidsDue = arrival, arrival, explanation.BidsDue+shift
	if explanation.Answer != nil {
		explanation.Answer.At = arrival
	}
	for i := range explanation.Candidates {
		explanation.Candidates[i].Elapsed = 0
	}
	for i := range explanation.Offers {
		explanation.Offers[i].Until += shift
	}
	for i := range explanation.Posts {
		post := &explanation.Posts[i]
		post.Intended = arrival
		for j := range post.Settlements {
			post.Settlements[j].At, post.Settlements[j].Elapsed = arrival, 0
		}
	}
	for _, lead := range explanation.Leads {
		resetTimes(lead)
	}
	if explanation.Auction != nil {
		resetTimes(explanation.Auction)
	}
}

// TestExplanationsOfRunningExchange compares explanations with golden files. A reader who
// does not know the request must understand them.
func TestExplanationsOfRunningExchange(t *testing.T) {
	b := newTestExchange(t)
	for name, act := range map[string]func() (id string){
		"recorded":     func() string { return b.ingest("cmp_list", 1, "") },
		"passed_on":    func() string { return b.ingest("cmp_auto", 2, "") },
		"nobody_takes": func() string { return b.ingest("cmp_harsh", 3, "") },
		"filtered":     func() string { return b.ingest("cmp_picky", 4, `,"rooms":2`) },
		"suppressed":   func() string { return b.ingest("cmp_quiet", 13, "") },
		"same_person":  func() string { b.ingest("cmp_picky", 5, `,"rooms":4`); return b.ingest("cmp_picky", 5, `,"rooms":5`) },
		"no_campaign":  func() string { _, request := b.ping("boats", "boat-1"); return request },
		"below_floor":  func() string { b.ping("dear", "dear-1"); return "dear-1" },
		"not_taken_up": func() string { b.ping("pair", "pair-1"); return "pair-1" },
		"posted":       func() string { token, _ := b.ping("pair", "pair-2"); b.post("pair-2", token, 6); return "pair-2" },
		"post_refused": func() string { token, _ := b.ping("auto", "auto-1"); return b.post("auto-1", token, 7) },
		"refused_twice": func() string {
			token, _ := b.ping("auto", "auto-2")
			b.post("auto-2", token, 8)
			b.post("auto-2", token, 9)
			return "auto-2"
		},
		"twin_posted": func() string {
			b.ingest("cmp_pair", 10, "")
			token, _ := b.ping("pair", "pair-3")
			return b.post("pair-3", token, 10)
		},
		"second_chosen": func() string {
			answer, request := b.call("/api/v1/ping", "", `{"flo_campaign_id":"cmp_pair","flo_supplier_id":"sup_acme","state":"CA"}`)
			var data struct {
				Ping string `json:"ping_id"`
			}
			must.Succeed(t, json.Unmarshal(answer["data"], &data))
			b.ingest("cmp_pair", 11, `,"flo_buyer_id":"buy_low","flo_ping_id":"`+data.Ping+`"`)
			return request
		},
		"used_already": func() string {
			answer, _ := b.call("/api/v1/ping", "", `{"flo_campaign_id":"cmp_pair","flo_supplier_id":"sup_acme","state":"CA"}`)
			chosen := `,"flo_buyer_id":"buy_high","flo_ping_id":"` + regexp.MustCompile(`ping_[0-9a-z]{26}`).FindString(string(answer["data"])) + `"`
			b.ingest("cmp_pair", 12, chosen)
			return b.ingest("cmp_pair", 14, chosen)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			compareText(t, "explain/"+name, b.explainedText(act()))
		})
	}
}
