package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/engine/event"
	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/ceiling"
	"pingpost/loadtest/load"
)

// auctionSetup is an exchange with the process of its buyers. For each number of buyers it
// has a ceiling, and a ceiling that commits as many bytes for an auction as the exchange.
// All processes except the buyers are paused while they are not measured.
type auctionSetup struct {
	b         *bench
	buyers    *process
	exchange  *process
	data      string // data directory of the exchange
	token     string // access token of the seller
	ceilings  map[int]*process
	recording map[int]*process // ceilings that write a record for each auction
	next      uint64           // number of the next lead; each server gets other leads
	counted   uint64           // first log record of the exchange whose size was not counted yet
}

// auctionSetupSpec describes an auctionSetup.
type auctionSetupSpec struct {
	name     string
	sizes    []int         // numbers of buyers; the catalog has one campaign for each
	delay    time.Duration // response time of the buyers
	pingRate int           // ping_rate of each buyer; 0: the default

	withoutReport bool
}

const (
	clientID      = "bench"
	clientSecret  = "bench-secret-of-no-value"
	bidTimeout    = 2 * time.Second // the exchange's default
	unlimitedRate = 1_000_000       // a second: the highest configurable rate
)

// newAuctionSetup starts the buyers and the exchange, and pauses the exchange.
func (b *bench) newAuctionSetup(spec *auctionSetupSpec) (*auctionSetup, error) {
	buyers, err := b.startBuyers(child.BuyersSpec{Buyers: slices.Max(spec.sizes), Delay: spec.delay})
	if err != nil {
		return nil, err
	}
	d := auctionCatalog(buyers.Buyers, spec.sizes, spec.pingRate)
	if spec.withoutReport {
		d.withoutReport()
	}
	exchange, err := b.startExchange(spec.name, d)
	if err != nil {
		return nil, err
	}
	token, err := b.fetchToken(exchange.Listen)
	if err != nil {
		return nil, err
	}
	return &auctionSetup{
		b: b, buyers: buyers, exchange: exchange.process, data: exchange.data, token: token,
		ceilings: map[int]*process{}, recording: map[int]*process{},
	}, pause(exchange.cmd.Process)
}

// startCeilings starts a ceiling for each number of buyers and pauses it.
func (h *auctionSetup) startCeilings(sizes []int) error {
	for _, n := range sizes {
		if err := h.addCeiling(h.ceilings, n, child.CeilingSpec{}); err != nil {
			return err
		}
	}
	return nil
}

// startRecordingCeiling starts a ceiling that writes log records, and pauses it. It
// returns the size of a record, which it takes from some auctions of the exchange.
func (h *auctionSetup) startRecordingCeiling(n int) (entry int, err error) {
	_, err = h.runSeller(h.exchange, child.LoadSpec{Vertical: verticalOf(n), Duration: h.b.size.calibration})
	if err != nil {
		return 0, err
	}
	if entry, h.counted, err = averageRecordFrom(h.data, event.KindPingAuctionCompleted, h.counted); err != nil {
		return 0, err
	}
	dir, err := h.b.folder(filepath.Join(filepath.Base(h.data), fmt.Sprintf("keeping-%d", n)))
	if err != nil {
		return 0, err
	}
	return entry, h.addCeiling(h.recording, n, child.CeilingSpec{Dir: dir, Options: ceiling.Options{Entry: entry}})
}

func (h *auctionSetup) addCeiling(into map[int]*process, n int, spec child.CeilingSpec) error {
	spec.Buyers, spec.Timeout = h.buyers.Buyers[:n], bidTimeout
	bare, err := h.b.startCeiling(spec)
	if err != nil {
		return err
	}
	into[n] = bare
	return pause(bare.cmd.Process)
}

// auctionCatalog returns a catalog with a campaign for each number of buyers. A campaign
// asks that many of the first buyers. Campaigns and buyers have caps and filters as in
// production, and every lead matches.
func auctionCatalog(buyers []string, sizes []int, pingRate int) *document {
	d := newDocument()
	d.Trusted = []string{"127.0.0.0/8"}
	d.Suppliers = []any{object{
		"id": child.SupplierID, "api_key": apiKey, "ping_rate": unlimitedRate, "ingest_rate": unlimitedRate,
		"oauth_clients": []any{object{"client_id": clientID, "client_secret": clientSecret, "scopes": []string{"ping", "post"}}},
	}}
	for i, addr := range buyers {
		d.Buyers = append(d.Buyers, buyerForm{
			ID: fmt.Sprintf("buy_%05d", i), Endpoint: "http://" + addr, PingRate: pingRate, Caps: unreachedCap,
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

// pingFields are the fields of the API's ping.
var pingFields = []any{
	object{"name": "currently_insured", "type": "boolean", "ping": true},
	object{"name": "vehicle_count", "type": "integer", "min": 0, "max": 20, "ping": true},
	object{"name": "driver_age_band", "type": "enum", "values": []string{"18-24", "25-34", "35-44", "45-54", "55+"}, "ping": true},
}

func verticalOf(buyers int) string { return "bench_" + strconv.Itoa(buyers) }

// fetchToken returns an access token for the seller.
func (b *bench) fetchToken(addr string) (string, error) {
	config := clientcredentials.Config{ClientID: clientID, ClientSecret: clientSecret, Scopes: []string{"ping", "post"}, TokenURL: "http://" + addr + "/oauth/token"}
	granted, err := config.Token(b.ctx)
	if err != nil {
		return "", err
	}
	return granted.AccessToken, nil
}

// runSeller resumes a server, runs the seller against it, and pauses the server.
func (h *auctionSetup) runSeller(server *process, spec child.LoadSpec) (r child.LoadResult, err error) {
	err = server.whileResumed(func() error {
		heapBefore, err := server.heapTotals(h.b.ctx)
		if err != nil {
			return err
		}
		spec.Token, spec.Connections = h.token, auctionConnections
		buyersBefore := h.buyers.cpuSeconds()
		began := time.Now()
		if r, err = h.b.runLoadClient(server, spec, &h.next); err != nil {
			return err
		}
		r.BuyerCores = (h.buyers.cpuSeconds() - buyersBefore) / time.Since(began).Seconds()
		heapAfter, err := server.heapTotals(h.b.ctx)
		r.Objects = float64(heapAfter.objects-heapBefore.objects) / float64(r.Sent)
		r.Bytes = float64(heapAfter.bytes-heapBefore.bytes) / float64(r.Sent)
		return err
	})
	return r, err
}

// clientEnv returns the environment of an open-loop client. It gets one processor more
// than cores, because one sleeps until the next arrival.
func (b *bench) clientEnv() []string {
	return []string{fmt.Sprintf("GOMAXPROCS=%d", len(b.cores.client)+1)}
}

func (b *bench) startCeiling(spec child.CeilingSpec) (*process, error) {
	// The exchange also runs with one processor more than cores; see processors.
	list := b.cores.servers
	return b.startChild(list, "role-ceiling", spec, fmt.Sprintf("GOMAXPROCS=%d", len(list)+1))
}
