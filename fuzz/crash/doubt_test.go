//go:build unix

package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/fuzz/witness"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// Ways in which leads arrive.
const (
	byWaterfall = "waterfall"
	byAuction   = "auction"
	byPost      = "/v1/post"
	byRecovery  = "recovery"
)

var (
	repeats = []string{"201", "200 with error", "400", "404", "409", "422"}
	ways    = []string{byWaterfall, byAuction, byPost, byRecovery}
)

// cell is one combination of the table. It has its own campaign and first buyer.
type cell struct {
	*uncertainBuyer
	name, way  string
	idempotent bool // the buyer is configured as idempotent

	answer string // the answer to the lead's request
	key    string
	body   string
}

// doubts is the state of the whole test.
type doubts struct {
	*witness.Exchange
	t      *testing.T
	cells  []*cell
	next   *refbuyer.Buyer // gets the leads that do not go to the uncertain buyers
	person atomic.Int64
	calls  sync.WaitGroup // requests of suppliers
}

// TestUncertainLeadStaysWithBuyer makes a lead's receipt uncertain at its first buyer, in every
// way in which a send can fail after its first byte, over fresh and kept connections. The buyer
// answers each repeat in one of six ways. The exchange is the real program; in a quarter of the
// combinations it is killed between the first send and the repeat. No lead may reach a second
// buyer, and each must stay sold to the first one.
func TestUncertainLeadStaysWithBuyer(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long sends the 292 leads")
	}
	program := filepath.Join(t.TempDir(), "pingpost")
	witness.Build(t, program, false)
	d := &doubts{Exchange: witness.NewExchange(t, program, t.TempDir()), t: t, next: must.Value(refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(5_000_000)}))(t)}
	go func() { _ = d.next.Serve(t.Context()) }() // a failure shows in the leads
	for _, first := range firstOutcomes {
		for _, repeat := range repeats {
			for _, kept := range []bool{false, true} {
				for _, way := range ways {
					d.add(&cell{uncertainBuyer: newUncertainBuyer(t, first, repeat, kept), way: way})
				}
			}
		}
	}
	for _, way := range ways {
		d.add(&cell{uncertainBuyer: newUncertainBuyer(t, "close", "422", true), way: way, idempotent: true})
	}
	d.Configure(d.document())
	d.Start()
	d.sendAll(func(c *cell) bool { return c.way == byRecovery })
	d.Kill()
	d.calls.Wait()
	d.Start()
	d.sendAll(func(c *cell) bool { return c.way != byRecovery })
	d.audit()
	d.Stop()
}

func (d *doubts) add(c *cell) {
	c.name = fmt.Sprintf("b%03d", len(d.cells))
	c.key = "key-of-" + c.name
	d.cells = append(d.cells, c)
}

// document returns the configuration: one campaign for each cell, with its buyer and the next
// one.
func (d *doubts) document() []byte {
	type object = map[string]any
	buyers := []object{{"id": "next", "endpoint": "http://" + d.next.Addr().String(), "ping_rate": 100_000}}
	var campaigns []object
	for _, c := range d.cells {
		buyer := object{"id": c.name, "endpoint": c.address, "ping_rate": 100_000, "post_timeout": "1s"}
		if c.idempotent {
			buyer["idempotent"] = true
		}
		buyers = append(buyers, buyer)
		campaign := object{"id": c.name, "vertical": c.name, "method": "waterfall", "duplicates": object{"scope": "buyer"}}
		first, second := object{"buyer": c.name, "price": 10, "priority": 1}, object{"buyer": "next", "price": 5, "priority": 2}
		if c.way == byAuction || c.way == byPost {
			campaign["method"] = "ping_post"
			delete(first, "price")
			delete(second, "price")
		}
		campaign["buyers"] = []object{first, second}
		campaigns = append(campaigns, campaign)
	}
	text, err := json.Marshal(object{
		"data_dir": "data", "listen": "127.0.0.1:0", "admin": object{"listen": "127.0.0.1:0", "password": witness.AdminPassword},
		"sandbox": true, "trusted_networks": []string{"127.0.0.0/8"},
		"suppliers": []object{{
			"id": "sup", "api_key": "key-of-the-supplier-01", "ingest_rate": 100_000, "ping_rate": 100_000,
			"bearer_tokens": []object{{"token": "token-of-the-supplier-01", "scopes": []string{"ping", "post"}}},
		}},
		"buyers": buyers, "campaigns": campaigns,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// sendAll sends leads to the cells until each has an uncertain one. It returns when all
// requests are answered, or for cells with a kill as soon as each has its uncertain lead.
func (d *doubts) sendAll(which func(*cell) bool) {
	var doubts sync.WaitGroup
	for _, c := range d.cells {
		if !which(c) {
			continue
		}
		doubts.Go(func() { d.sendUntilUncertain(c) })
	}
	doubts.Wait()
	if d.t.Failed() {
		d.t.FailNow()
	}
	if !which(&cell{way: byRecovery}) {
		d.calls.Wait()
	}
}

// sendUntilUncertain sends leads to a cell until one is uncertain.
func (d *doubts) sendUntilUncertain(c *cell) {
	for range 50 {
		answered := make(chan struct{})
		d.calls.Go(func() {
			defer close(answered)
			d.sendLead(c)
		})
		for waiting := true; waiting; {
			select {
			case <-answered:
				waiting = false
			case <-time.After(5 * time.Millisecond):
			}
			if lead, _ := c.uncertainLead(); lead != "" {
				return
			}
		}
	}
	d.t.Errorf("%s, %s: no lead became uncertain; last answer %s", c.name, c.way, c.answer)
}

// sendLead sends one lead of a new person in the cell's way. Only a cell's last lead is
// uncertain, so the cell keeps its answer.
func (d *doubts) sendLead(c *cell) {
	person := fmt.Sprintf(`"first_name":"Ann","last_name":"Lee","phone":"415555%04d","email":"p%[1]d@example.com"`, 1000+d.person.Add(1))
	c.key += "-"
	if c.way != byPost {
		c.body = fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup","state":"CA",%s}`, c.name, person)
		c.answer = d.call(c, "/api/v1/ingest")
		return
	}
	auction := c.key
	c.body = fmt.Sprintf(`{"auction_id":%q,"vertical":%q,"state":"CA","tcpa_consent":true}`, auction, c.name)
	var offer struct {
		Bid struct {
			Token string `json:"bid_token"`
		} `json:"bid"`
	}
	said := d.call(c, "/v1/ping")
	c.answer = said
	if _, text, _ := strings.Cut(said, " "); json.Unmarshal([]byte(text), &offer) != nil || offer.Bid.Token == "" {
		return // without a bid another lead follows
	}
	c.body = fmt.Sprintf(`{"auction_id":%[1]q,"bid_token":%[2]q,"lead":{"lead_uuid":%[1]q,%[3]s}}`, auction, offer.Bid.Token, person)
	c.answer = d.call(c, "/v1/post")
}

// call sends the cell's body under its key, and returns the answer's status and text.
func (d *doubts) call(c *cell, path string) string {
	request, err := http.NewRequest(http.MethodPost, d.Address()+path, strings.NewReader(c.body))
	if err != nil {
		return err.Error() // the exchange is down
	}
	request.Header.Set("X-Api-Key", "key-of-the-supplier-01")
	request.Header.Set("Authorization", "Bearer token-of-the-supplier-01")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", c.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error() // the exchange was killed
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(response.StatusCode, " ", string(text))
}
