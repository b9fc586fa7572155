package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/market"
	"pingpost/loadtest/leads"
)

// demoSeller sells in two steps: it pings for a bid, and posts the lead to whoever
// made it.
type demoSeller struct {
	url    string
	client *http.Client // that fetches the token once, and shows it
	lines  *http.Transport
}

func newDemoSeller(x *demoExchange) *demoSeller {
	config := clientcredentials.Config{
		ClientID: demoClient, ClientSecret: x.set.secret, Scopes: []string{"ping", "post"},
		TokenURL: x.public + "/oauth/token",
	}
	lines := &http.Transport{MaxIdleConns: sellerWidth, MaxIdleConnsPerHost: sellerWidth, IdleConnTimeout: 10 * time.Second}
	plain := &http.Client{Transport: lines, Timeout: sendTimeout}
	client := config.Client(context.WithValue(context.Background(), oauth2.HTTPClient, plain))
	client.Timeout = sendTimeout
	return &demoSeller{url: x.public, client: client, lines: lines}
}

// deal is what became of one offer.
type deal struct {
	offer int // from 0
	err   error

	ping, post heardBack
	bid        bidAnswer
	sale       saleAnswer
	refused    saleFault
}

// heardBack is an answer as it came.
type heardBack struct {
	status int
	body   []byte
}

// saleAnswer is a post that was accepted.
type saleAnswer struct {
	ID     string `json:"id"`
	Buyer  string `json:"buyer_id"`
	Status string `json:"status"`
	Price  struct {
		Amount market.Money `json:"amount"`
	} `json:"price"`
}

// saleFault is a post that was not.
type saleFault struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

func (f *saleFault) String() string {
	if f.Reason == "" || f.Reason == f.Error {
		return f.Error
	}
	return f.Error + " " + f.Reason
}

// sellerWidth is how many of the seller's auctions are open at once, at most.
const sellerWidth = 32

// sell offers all, spread over a time. When the context ends no further offer is
// begun, but those under way are waited for.
func (s *demoSeller) sell(ctx context.Context, offers []leads.Lead, over time.Duration) []*deal {
	began, places := time.Now(), make(chan struct{}, sellerWidth)
	deals := make([]*deal, 0, len(offers))
	var open sync.WaitGroup
	for i := range offers {
		if !pauseUntil(ctx, began.Add(over*time.Duration(i)/time.Duration(len(offers)))) {
			break
		}
		places <- struct{}{}
		d := &deal{offer: i}
		deals = append(deals, d)
		open.Go(func() {
			d.err = s.make(d, offers[i].Body)
			<-places
		})
	}
	open.Wait()
	s.lines.CloseIdleConnections()
	return deals
}

// make pings and, where there is a bid, posts. The keys are the offer's own: the
// same offer again is the same deal.
func (s *demoSeller) make(d *deal, lead []byte) error {
	auction := fmt.Sprintf("offer-%d", d.offer+1)
	ping, post, err := twoSteps(auction, lead)
	if err != nil {
		return err
	}
	if d.ping, err = s.call("/v1/ping", "ping-"+auction, ping); err != nil {
		return err
	}
	if err := json.Unmarshal(d.ping.body, &d.bid); err != nil || d.bid.Bid == nil {
		return err
	}
	post["bid_token"] = d.bid.Bid.Token
	if d.post, err = s.call("/v1/post", "post-"+auction, post); err != nil {
		return err
	}
	if d.post.status == http.StatusCreated {
		return json.Unmarshal(d.post.body, &d.sale)
	}
	return json.Unmarshal(d.post.body, &d.refused)
}

func (s *demoSeller) call(path, key string, members map[string]any) (r heardBack, err error) {
	body, err := json.Marshal(members)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := s.client.Do(req)
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	r.status = res.StatusCode
	r.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return r, err
}

// Of a lead as it is sent, these go into the ping, and these into the post's own
// objects. The certificate of consent goes into both.
var (
	pingMembers    = []string{"state", "source", "tcpa_consent", "consent_cert_url", "ai_quality_score", "vehicle_count", "driver_age_band", "currently_insured"}
	addressMembers = []string{"line1", "city", "state", "zip"}
	consentMembers = []string{"consent_text", "consent_timestamp", "ip_address", "consent_cert_url"}
	personMembers  = []string{"first_name", "last_name", "email", "phone"}
)

// twoSteps makes a ping and a post of a lead; the post lacks its bid_token.
func twoSteps(auction string, body []byte) (ping, post map[string]any, err error) {
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, nil, fmt.Errorf("an offer that is no JSON object: %w", err)
	}
	take := func(names []string) map[string]any {
		taken := map[string]any{}
		for _, name := range names {
			if value, ok := members[name]; ok {
				taken[name] = value
			}
		}
		return taken
	}
	ping = take(pingMembers)
	ping["auction_id"], ping["vertical"] = auction, demoVertical
	if zip, ok := members["zip"].(string); ok && len(zip) >= 3 {
		ping["zip3"] = zip[:3]
	}
	lead := take(personMembers)
	lead["lead_uuid"], lead["address"], lead["tcpa"] = auction, take(addressMembers), take(consentMembers)
	return ping, map[string]any{"auction_id": auction, "lead": lead}, nil
}
