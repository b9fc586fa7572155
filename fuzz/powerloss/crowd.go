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

// crowd is all who speak to the exchange: suppliers, sellers, and buyers that
// report on their leads.
type crowd struct {
	door   *witness.Locator
	ledger ledger
	tokens map[string]string // by client
	people atomic.Int64
	stop   context.CancelFunc
	desks  sync.WaitGroup
}

const desks = 12

func gather(d *witness.Locator) *crowd {
	return &crowd{door: d, tokens: map[string]string{}}
}

// work lets the desks begin.
func (c *crowd) work(ctx context.Context, seed uint64) {
	ctx, c.stop = context.WithCancel(ctx)
	for i := range desks {
		c.desks.Go(func() {
			desk := c.desk(c.door, fmt.Sprintf("desk-%d-%d", seed, i), rand.New(rand.NewPCG(seed, uint64(i))))
			defer desk.Close()
			for desk.serve(ctx) {
				desk.served++
			}
		})
	}
}

func (c *crowd) dismiss() {
	c.stop()
	c.desks.Wait()
}

// desk does one thing after the other.
type desk struct {
	*crowd
	*witness.Client
	name   string
	chance *rand.Rand
	served int
}

// desk is one that finds the exchange by a door.
func (c *crowd) desk(door *witness.Locator, name string, chance *rand.Rand) *desk {
	return &desk{crowd: c, Client: witness.NewClient(door, apiKey, chance), name: name, chance: chance}
}

// serve does one thing; false: the context has ended.
func (d *desk) serve(ctx context.Context) bool {
	key := fmt.Sprintf("%s-%d", d.name, d.served)
	switch n := d.chance.IntN(100); {
	case n < 45:
		return d.ingest(ctx, key)
	case n < 75:
		return d.offer(ctx, key)
	case n < 85:
		return d.choose(ctx, key)
	default:
		return d.askAgain(ctx)
	}
}

// person makes up somebody.
func (d *desk) person(campaign string) object {
	n := d.people.Add(1)
	return object{
		"flo_campaign_id": campaign, "flo_supplier_id": supplier, "state": "CA", "first_name": "Ann", "last_name": "Example",
		"phone": fmt.Sprintf("+1415%03d%04d", 230+n/10_000, n%10_000), "email": fmt.Sprintf("person%d@example.com", n),
	}
}

func encode(value object) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}

// ask sends an order and keeps its answer, where it is one that is repeated: of a bid
// that went with the power, for one, is not.
func (d *desk) ask(ctx context.Context, o *witness.Request) (witness.Response, bool) {
	a, ok := d.Send(ctx, o)
	final := a.Status < 300 || (a.Status == http.StatusUnprocessableEntity && strings.Contains(a.Body, `"post_rejected"`))
	if ok && a.RequestID != "" && final {
		d.ledger.enter(o, a)
	}
	return a, ok
}

// ingest sends a lead. One that is recorded for a buyer may be reported on.
func (d *desk) ingest(ctx context.Context, key string) bool {
	lead := d.person(campaigns[d.chance.IntN(len(campaigns))])
	a, ok := d.ask(ctx, &witness.Request{Path: "/api/v1/ingest", Key: key, Body: encode(lead)})
	if !ok {
		return false
	}
	var said saidOfLead
	_ = json.Unmarshal([]byte(a.Body), &said) // where it is none there is no report
	token := d.tokens[said.Data.Buyer]
	if token == "" || d.chance.IntN(3) > 0 {
		return true
	}
	status := []string{"contacted", "qualified", "sold"}[d.chance.IntN(3)]
	_, ok = d.ask(ctx, &witness.Request{Path: "/v1/leads/" + said.Data.ID + "/status", Key: "report-" + key, Token: token, Body: encode(object{"status": status})})
	return ok
}

// saidOfLead is what an ingest is answered.
type saidOfLead struct {
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

// offer pings, and posts where there is a bid.
func (d *desk) offer(ctx context.Context, key string) bool {
	a, ok := d.ask(ctx, &witness.Request{Path: "/v1/ping", Key: "ping-" + key, Token: d.tokens[clientID], Body: encode(object{
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
	lead := d.person("")
	_, ok = d.ask(ctx, &witness.Request{Path: "/v1/post", Key: "post-" + key, Token: d.tokens[clientID], Body: encode(object{
		"auction_id": key, "bid_token": said.Bid.Token, "lead": object{
			"lead_uuid": "of " + key, "first_name": "Ann", "last_name": "Example", "phone": lead["phone"], "email": lead["email"],
			"address": object{"state": "CA"}, "tcpa": object{},
		},
	})})
	return ok
}

// choose asks who would buy, and sends the lead for one of them.
func (d *desk) choose(ctx context.Context, key string) bool {
	a, ok := d.ask(ctx, &witness.Request{Path: "/api/v1/ping", Key: "asks-" + key, Body: encode(object{
		"flo_campaign_id": "cmp_bids", "flo_supplier_id": supplier, "state": "CA",
	})})
	var said saidOfLead
	if !ok || json.Unmarshal([]byte(a.Body), &said) != nil || len(said.Data.Buyers) == 0 {
		return ok
	}
	lead := d.person("cmp_bids")
	lead["flo_ping_id"], lead["flo_buyer_id"] = said.Data.Ping, said.Data.Buyers[0].Buyer
	_, ok = d.ask(ctx, &witness.Request{Path: "/api/v1/ingest", Key: "chosen-" + key, Body: encode(lead)})
	return ok
}

// askAgain repeats an order: it is to hear the same.
func (d *desk) askAgain(ctx context.Context) bool {
	old := d.ledger.pick(d.chance)
	if old == nil {
		return d.ingest(ctx, fmt.Sprintf("%s-first-%d", d.name, d.served))
	}
	a, ok := d.Send(ctx, old.Request)
	if ok {
		d.ledger.compare(old, a)
	}
	return ok
}
