package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"pingpost/loadtest/bench/child"
)

const (
	apiKey = "bench-key-of-no-value"
)

// document is the part of a configuration that the benchmark needs. The exchange reads
// its JSON form.
type document struct {
	DataDir   string          `json:"data_dir"`
	Listen    string          `json:"listen"`
	Admin     map[string]any  `json:"admin"`
	Trusted   []string        `json:"trusted_networks,omitempty"`
	Sandbox   bool            `json:"sandbox,omitempty"`
	Report    map[string]any  `json:"report,omitempty"`
	HotFor    string          `json:"hot_for,omitempty"`
	Suppliers []any           `json:"suppliers"`
	Buyers    []buyerForm     `json:"buyers"`
	Lists     []any           `json:"suppression_lists,omitempty"`
	Campaigns []*campaignForm `json:"campaigns"`
	Cluster   object          `json:"cluster,omitempty"`
}

type buyerForm struct {
	ID       string   `json:"id"`
	Endpoint string   `json:"endpoint,omitempty"`
	PingRate int      `json:"ping_rate,omitempty"`
	States   []string `json:"states,omitempty"`
	Filters  []any    `json:"filters,omitempty"`
	Caps     []any    `json:"caps,omitempty"`
}

type campaignForm struct {
	ID          string   `json:"id"`
	Method      string   `json:"method"`
	Vertical    string   `json:"vertical,omitempty"`
	SubVertical string   `json:"sub_vertical,omitempty"`
	Floor       int      `json:"floor,omitempty"`
	Payout      any      `json:"payout"`
	Suppression []string `json:"suppression,omitempty"`
	Fields      []any    `json:"fields"`
	Caps        []any    `json:"caps"`
	Buyers      []any    `json:"buyers"`
}

type object map[string]any

const unreachedCount = 1_000_000_000

// unreachedCap is a cap that counts every lead and is never reached.
var unreachedCap = []any{object{"per": "day", "count": unreachedCount}}

func newDocument() *document {
	return &document{
		Listen: "127.0.0.1:0", Admin: object{"listen": "127.0.0.1:0", "password": apiKey},
		Suppliers: []any{object{"id": child.SupplierID, "api_key": apiKey, "ingest_rate": 1_000_000}},
	}
}

// withoutReport turns the report off, which an exchange keeps by default.
func (d *document) withoutReport() *document {
	d.Report = object{"keep": "0s"}
	return d
}

var fields = []any{
	object{"name": "homeowner", "type": "boolean", "to": "owns_home"},
	object{"name": "vehicle_count", "type": "integer", "min": 0, "max": 20},
	object{"name": "driver_age_band", "type": "enum", "values": []string{"18-24", "25-34", "35-44", "45-54", "55+"}},
}

// addBuyers adds buyers with different states and filters. One in four accepts every
// lead, so that every lead is sold.
func (d *document) addBuyers(n int) {
	for i := range n {
		buyer := buyerForm{ID: fmt.Sprintf("buy_%05d", i), Caps: unreachedCap}
		switch i % 4 {
		case 0:
			buyer.States = statesFrom(i)
		case 1:
			buyer.Filters = []any{object{"field": "vehicle_count", "min": i / 4 % 3}}
		case 2:
			buyer.States = statesFrom(i)
			buyer.Filters = []any{object{"field": "driver_age_band", "in": []string{"25-34", "35-44"}}}
		}
		d.Buyers = append(d.Buyers, buyer)
	}
}

// statesFrom returns twelve states that depend on i.
func statesFrom(i int) []string {
	all := strings.Fields("AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY")
	states := make([]string, 12)
	for k := range states {
		states[k] = all[(i*7+k*4)%len(all)]
	}
	return states
}

// addCampaign adds a campaign with filter sets for count buyers, starting at buyer from.
func (d *document) addCampaign(id, method string, from, count int) *campaignForm {
	c := &campaignForm{ID: id, Method: method, Payout: object{"share": 0.8}, Fields: fields, Caps: unreachedCap}
	for i := range count {
		c.Buyers = append(c.Buyers, object{"buyer": d.Buyers[(from+i)%len(d.Buyers)].ID, "price": 10 + i%5})
	}
	d.Campaigns = append(d.Campaigns, c)
	return c
}

const (
	waterfall  = "waterfall"
	roundRobin = "round_robin"
)

// catalogWithCampaigns returns a catalog whose campaigns alternate between waterfall and
// round robin. Each campaign has four of forty buyers.
func catalogWithCampaigns(campaigns int) *document {
	d := newDocument()
	d.addBuyers(40)
	for i := range campaigns {
		method := waterfall
		if i%2 == 1 {
			method = roundRobin
		}
		d.addCampaign(fmt.Sprintf("cmp_%05d", i), method, 4*i, 4)
	}
	return d
}

// catalogWithBuyers returns a catalog of two campaigns with this number of buyers each.
func catalogWithBuyers(buyers int) *document {
	d := newDocument()
	d.addBuyers(buyers)
	d.addCampaign("cmp_waterfall", waterfall, 0, buyers)
	d.addCampaign("cmp_round_robin", roundRobin, 0, buyers)
	return d
}

// catalogWithCaps returns a catalog of round-robin campaigns, each with buyersPerCampaign of 200 buyers. In each campaign
// one buyer accepts every lead. The others have caps between one lead a day and mostLeads.
func catalogWithCaps(campaigns, mostLeads int) *document {
	d := newDocument()
	d.addBuyers(200)
	for i := range campaigns {
		c := d.addCampaign(fmt.Sprintf("cmp_%05d", i), roundRobin, buyersPerCampaign*i, buyersPerCampaign)
		for n, set := range c.Buyers {
			if n == 3 { // it accepts every lead
				continue
			}
			count := mostLeads
			if mostLeads < unreachedCount {
				count = 1 + (i+n)%mostLeads // so that in each second some caps fill
			}
			set.(object)["caps"] = []any{object{"per": "day", "count": count}}
		}
	}
	return d
}

// addSuppressionList makes every campaign check a list of phone numbers.
func (d *document) addSuppressionList(file string) {
	d.Lists = []any{object{"id": "dnc", "field": "phone", "hash": "plain", "file": file}}
	for _, c := range d.Campaigns {
		c.Suppression = []string{"dnc"}
	}
}

// writeList writes a list of phone numbers. Their area codes do not occur in leads.
func writeList(path string, entries int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	for i := range entries {
		fmt.Fprintf(out, "+1%d%d%04d\n", 901+i/7_000_000%4, 200+i/10_000%700, i%10_000)
	}
	if err := out.Flush(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// campaignIDs returns the campaigns of one method, or all for an empty method.
func (d *document) campaignIDs(method string) (ids []string) {
	for _, c := range d.Campaigns {
		if method == "" || c.Method == method {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
