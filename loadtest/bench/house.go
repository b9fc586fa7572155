package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/event"
	"pingpost/loadtest/load"
)

// house is an exchange with its buyers' process, and for each number of buyers a
// bare server, and one that commits as many bytes for an auction as the exchange
// does. All but the buyers are halted while they are not measured.
type house struct {
	b        *bench
	buyers   *process
	exchange *process
	data     string // the exchange's folder
	token    string // of the seller
	bare     map[int]*process
	keeping  map[int]*process // a record of every auction
	next     uint64           // number of the next lead; no two servers get the same one
	counted  uint64           // entry of the exchange's log whose size is not known yet
}

// houseSpec says what a house is for.
type houseSpec struct {
	name     string
	sizes    []int         // how many buyers an auction asks: one campaign for each
	delay    time.Duration // of the buyers
	pingRate int           // that the exchange may ask each of them at; 0: its default
}

const (
	clientID     = "bench"
	clientSecret = "bench-secret-of-no-value"
	bidTimeout   = 2 * time.Second // the exchange's default
	plenty       = 1_000_000       // a second: the highest rate that can be configured
)

// openHouse starts the buyers and the exchange, which is halted.
func (b *bench) openHouse(spec *houseSpec) (*house, error) {
	h, err := b.settle(spec)
	if err != nil {
		return nil, err
	}
	if err := h.openExchange(spec); err != nil {
		h.end()
		return nil, err
	}
	return h, nil
}

func (h *house) openExchange(spec *houseSpec) error {
	exchange, err := h.b.startExchange(spec.name, auctionsOf(h.buyers.Buyers, spec.sizes, spec.pingRate))
	if err != nil {
		return err
	}
	h.exchange, h.data = exchange.process, exchange.data
	if h.token, err = h.b.tokenOf(h.exchange.Listen); err != nil {
		return err
	}
	return halt(h.exchange.cmd.Process)
}

// settle starts the buyers.
func (b *bench) settle(spec *houseSpec) (*house, error) {
	buyers, err := b.startBuyers(buyersSpec{Buyers: slices.Max(spec.sizes), Delay: spec.delay})
	if err != nil {
		return nil, err
	}
	return &house{b: b, buyers: buyers, bare: map[int]*process{}, keeping: map[int]*process{}}, nil
}

// openBare starts a bare server for each number of buyers, halted.
func (h *house) openBare(sizes []int) error {
	for _, n := range sizes {
		if err := h.startBare(h.bare, n, bareSpec{}); err != nil {
			return err
		}
	}
	return nil
}

// openKeeping starts a bare server that keeps a record, halted, and says how large
// one is: as the exchange shows in some auctions of its own.
func (h *house) openKeeping(n int) (entry int, err error) {
	_, err = h.sell(h.exchange, sellerSpec{Vertical: verticalOf(n), Lines: auctionLines, Lasting: h.b.size.calibration})
	if err != nil {
		return 0, err
	}
	if entry, h.counted, err = averageFrom(h.data, event.KindAuctionHeld, h.counted); err != nil {
		return 0, err
	}
	dir, err := h.b.folder(filepath.Join(filepath.Base(h.data), fmt.Sprintf("keeping-%d", n)))
	if err != nil {
		return 0, err
	}
	return entry, h.startBare(h.keeping, n, bareSpec{Dir: dir, Entry: entry})
}

func (h *house) startBare(into map[int]*process, n int, spec bareSpec) error {
	spec.Buyers, spec.Timeout = h.buyers.Buyers[:n], bidTimeout
	bare, err := startCeiling(h.b.ctx, h.b.cores.servers, spec)
	if err != nil {
		return err
	}
	into[n] = bare
	return halt(bare.cmd.Process)
}

func (h *house) end() {
	for _, p := range h.live() {
		p.end()
	}
}

// live is all the processes.
func (h *house) live() (list []*process) {
	for _, p := range []*process{h.exchange, h.buyers} {
		if p != nil {
			list = append(list, p)
		}
	}
	for _, some := range []map[int]*process{h.bare, h.keeping} {
		list = slices.AppendSeq(list, maps.Values(some))
	}
	return list
}

// auctionsOf is a catalog with a campaign for each number of buyers, which asks
// the first so many of them. Each has what a campaign in use has, and takes
// every lead.
func auctionsOf(buyers []string, sizes []int, pingRate int) *document {
	d := newDocument()
	d.Trusted = []string{"127.0.0.0/8"}
	d.Suppliers = []any{object{
		"id": supplierID, "api_key": apiKey, "ping_rate": plenty, "ingest_rate": plenty,
		"oauth_clients": []any{object{"client_id": clientID, "client_secret": clientSecret, "scopes": []string{"ping", "post"}}},
	}}
	for i, addr := range buyers {
		d.Buyers = append(d.Buyers, buyerForm{
			ID: fmt.Sprintf("buy_%05d", i), Endpoint: "http://" + addr, PingRate: pingRate, Caps: unreachable,
			Filters: []any{object{"field": "vehicle_count", "min": 0}},
		})
	}
	for _, n := range sizes {
		c := d.addCampaign("cmp_"+verticalOf(n), pingPost, 0, n)
		c.Vertical, c.SubVertical, c.Floor, c.Fields = verticalOf(n), load.SubVertical, 1, pingFields
		c.Buyers = nil
		for i := range n {
			c.Buyers = append(c.Buyers, object{"buyer": d.Buyers[i].ID, "priority": i + 1})
		}
	}
	return d
}

const pingPost = "ping_post"

// pingFields are of the interface's ping.
var pingFields = []any{
	object{"name": "currently_insured", "type": "boolean", "ping": true},
	object{"name": "vehicle_count", "type": "integer", "min": 0, "max": 20, "ping": true},
	object{"name": "driver_age_band", "type": "enum", "values": []string{"18-24", "25-34", "35-44", "45-54", "55+"}, "ping": true},
}

func verticalOf(buyers int) string { return "bench_" + strconv.Itoa(buyers) }

// tokenOf gets the seller an access token.
func (b *bench) tokenOf(addr string) (string, error) {
	config := clientcredentials.Config{ClientID: clientID, ClientSecret: clientSecret, Scopes: []string{"ping", "post"}, TokenURL: "http://" + addr + "/oauth/token"}
	granted, err := config.Token(b.ctx)
	if err != nil {
		return "", err
	}
	return granted.AccessToken, nil
}

// sell runs the seller against one of the servers, which goes on for as long as
// that takes, and is halted otherwise.
func (h *house) sell(server *process, spec sellerSpec) (r sellerResult, err error) {
	if err := proceed(server.cmd.Process); err != nil {
		return r, fmt.Errorf("the server is gone: %w", err)
	}
	defer func() { err = errors.Join(err, halt(server.cmd.Process)) }()
	heapBefore, err := server.allocated(h.b.ctx)
	if err != nil {
		return r, err
	}
	spec.Addr, spec.From, spec.Token = server.Listen, h.next, h.token
	before, _ := server.ticks() // where there is no /proc, no time is told
	buyersBefore, _ := h.buyers.ticks()
	began := time.Now()
	err = child(h.b.ctx, h.b.cores.client, h.b.awake(), "role-seller", spec, &r)
	lasted := time.Since(began).Seconds()
	after, _ := server.ticks()
	buyersAfter, _ := h.buyers.ticks()
	h.next = max(h.next, r.Next)
	if err != nil {
		return r, err
	}
	if r.Done == 0 {
		return r, fmt.Errorf("nothing came of any auction: %s", r.Trouble)
	}
	r.ServerTime = (time.Duration(after-before) * tick).Seconds()
	r.BuyersBusy = (time.Duration(buyersAfter-buyersBefore) * tick).Seconds() / lasted
	heapAfter, err := server.allocated(h.b.ctx)
	r.Objects = float64(heapAfter.objects-heapBefore.objects) / float64(r.Sent)
	r.Bytes = float64(heapAfter.bytes-heapBefore.bytes) / float64(r.Sent)
	return r, err
}

// awake is the environment of a client whose arrivals come at a rate: a processor more
// for the one that sleeps until the next.
func (b *bench) awake() []string {
	return []string{fmt.Sprintf("GOMAXPROCS=%d", len(b.cores.client)+1)}
}

// perAuction is the server's processor time for an auction, in seconds.
func (r *sellerResult) perAuction() float64 { return r.ServerTime / float64(max(1, r.Sent)) }

// unsold is how many measured auctions did not come to the end asked for.
func (r *sellerResult) unsold() uint64 { return r.NoBid + r.Refused + r.Broken }
