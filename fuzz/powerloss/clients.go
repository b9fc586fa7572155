package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"pingpost/fuzz/witness"
)

// clients are the suppliers and the reporting buyers of a recording.
type clients struct {
	locator   *witness.Locator
	answers   answerLog
	tokens    map[string]string // OAuth tokens by client
	leadCount atomic.Int64
	stop      context.CancelFunc
	workers   sync.WaitGroup
}

const workerCount = 12

func newClients(d *witness.Locator) *clients {
	return &clients{locator: d, tokens: map[string]string{}}
}

// start starts the workers.
func (c *clients) start(ctx context.Context, seed uint64) {
	ctx, c.stop = context.WithCancel(ctx)
	for i := range workerCount {
		c.workers.Go(func() {
			desk := c.newWorker(c.locator, fmt.Sprintf("desk-%d-%d", seed, i), rand.New(rand.NewPCG(seed, uint64(i))))
			defer desk.Close()
			for desk.sendRandomRequest(ctx) {
				desk.requestCount++
			}
		})
	}
}

func (c *clients) shutDown() {
	c.stop()
	c.workers.Wait()
}

// worker sends one request after another.
type worker struct {
	*clients
	*witness.Client
	name         string
	random       *rand.Rand
	requestCount int
}

// newWorker returns a worker that sends to the locator's address.
func (c *clients) newWorker(locator *witness.Locator, name string, random *rand.Rand) *worker {
	return &worker{clients: c, Client: witness.NewClient(locator, witness.APIKey, random), name: name, random: random}
}

// sendRandomRequest sends one random request. It returns false when the context ends.
func (d *worker) sendRandomRequest(ctx context.Context) bool {
	key := fmt.Sprintf("%s-%d", d.name, d.requestCount)
	switch n := d.random.IntN(100); {
	case n < 45:
		return d.ingest(ctx, key)
	case n < 75:
		return d.pingAndPost(ctx, key)
	case n < 85:
		return d.askAndIngest(ctx, key)
	default:
		return d.repeatRequest(ctx)
	}
}

// newLead returns a lead about a new person.
func (d *worker) newLead(campaign string) object {
	n := d.leadCount.Add(1)
	return object{
		"flo_campaign_id": campaign, "flo_supplier_id": witness.SupplierID, "state": "CA", "first_name": "Ann", "last_name": "Example",
		"phone": fmt.Sprintf("+1415%03d%04d", 230+n/10_000, n%10_000), "email": fmt.Sprintf("person%d@example.com", n),
	}
}

// sendAndRecord sends a request and records a final answer. It does not record answers that a
// repetition need not get again, such as an expired bid after a power loss.
func (d *worker) sendAndRecord(ctx context.Context, o *witness.Request) (witness.Response, bool) {
	a, ok := d.Send(ctx, o)
	final := a.Status < 300 || (a.Status == http.StatusUnprocessableEntity && strings.Contains(a.Body, `"post_rejected"`))
	if ok && a.RequestID != "" && final {
		d.answers.add(o, a)
	}
	return a, ok
}

// ingest sends a lead. Some leads that are sold without a post are followed by a status report.
func (d *worker) ingest(ctx context.Context, key string) bool {
	lead := d.newLead(campaigns[d.random.IntN(len(campaigns))])
	a, ok := d.sendAndRecord(ctx, &witness.Request{Path: "/api/v1/ingest", Key: key, Body: witness.Encode(lead)})
	if !ok {
		return false
	}
	var said ingestAnswer
	_ = json.Unmarshal([]byte(a.Body), &said) // without a buyer there is no status report
	token := d.tokens[said.Data.Buyer]
	if token == "" || d.random.IntN(3) > 0 {
		return true
	}
	status := []string{"contacted", "qualified", "sold"}[d.random.IntN(3)]
	_, ok = d.sendAndRecord(ctx, &witness.Request{Path: "/v1/leads/" + said.Data.ID + "/status", Key: "report-" + key, Token: token, Body: witness.Encode(object{"status": status})})
	return ok
}

// ingestAnswer is the answer to an ingest or an availability request.
type ingestAnswer struct {
	Data struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Buyer    string `json:"buyer_id"`
		Ping     string `json:"ping_id"`
		Accepted bool   `json:"accepted"`
		Buyers   []struct {
			Buyer string `json:"buyer_id"`
		} `json:"buyers"`
	} `json:"data"`
}

// pingAndPost sends a ping, and a post if there is a bid.
func (d *worker) pingAndPost(ctx context.Context, key string) bool {
	a, ok := d.sendAndRecord(ctx, &witness.Request{Path: "/v1/ping", Key: "ping-" + key, Token: d.tokens[witness.ClientID], Body: witness.Encode(object{
		"auction_id": key, "vertical": "auto", "state": "CA", "tcpa_consent": true,
	})})
	var said struct {
		Bid *struct {
			Token string `json:"bid_token"`
		} `json:"bid"`
	}
	if !ok || json.Unmarshal([]byte(a.Body), &said) != nil || said.Bid == nil {
		return ok
	}
	lead := d.newLead("")
	_, ok = d.sendAndRecord(ctx, &witness.Request{Path: "/v1/post", Key: "post-" + key, Token: d.tokens[witness.ClientID], Body: witness.Encode(object{
		"auction_id": key, "bid_token": said.Bid.Token, "lead": object{
			"lead_uuid": "of " + key, "first_name": "Ann", "last_name": "Example", "phone": lead["phone"], "email": lead["email"],
			"address": object{"state": "CA"}, "tcpa": object{},
		},
	})})
	return ok
}

// askAndIngest sends an availability request, and the lead for one of the offered buyers.
func (d *worker) askAndIngest(ctx context.Context, key string) bool {
	a, ok := d.sendAndRecord(ctx, &witness.Request{Path: "/api/v1/ping", Key: "asks-" + key, Body: witness.Encode(object{
		"flo_campaign_id": "cmp_bids", "flo_supplier_id": witness.SupplierID, "state": "CA",
	})})
	var said ingestAnswer
	if !ok || json.Unmarshal([]byte(a.Body), &said) != nil || len(said.Data.Buyers) == 0 {
		return ok
	}
	lead := d.newLead("cmp_bids")
	lead["flo_ping_id"], lead["flo_buyer_id"] = said.Data.Ping, said.Data.Buyers[0].Buyer
	_, ok = d.sendAndRecord(ctx, &witness.Request{Path: "/api/v1/ingest", Key: "chosen-" + key, Body: witness.Encode(lead)})
	return ok
}

// repeatRequest repeats a request. The answer must be equal.
func (d *worker) repeatRequest(ctx context.Context) bool {
	old := d.answers.pickRandom(d.random)
	if old == nil {
		return d.ingest(ctx, fmt.Sprintf("%s-first-%d", d.name, d.requestCount))
	}
	a, ok := d.Send(ctx, old.Request)
	if ok {
		d.answers.compareRepeat(old, a)
	}
	return ok
}
