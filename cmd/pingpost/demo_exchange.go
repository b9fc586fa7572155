package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"pingpost/cmd/pingpost/client"
	"pingpost/exchange"
	"pingpost/internal/version"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

// demoBuyerSpec describes a reference buyer of the demonstration and its faults.
type demoBuyerSpec struct {
	loadTestBuyerSpec
	pingLimit int     // pings a second that it answers; 0: no limit
	malformed float64 // share of pings that it answers with malformed bids
}

// demoBuyers lists the buyers with an endpoint. buy_shaky rejects no lead: a rejection
// after a failed attempt may arrive after the lead's answer, and the accounts of buyer
// and exchange would differ rightly.
var demoBuyers = []demoBuyerSpec{
	{loadTestBuyerSpec: loadTestBuyerSpec{"buy_swift", scenario.Buyers{Bid: "12.50", Latency: "5ms-25ms", Reject: 0.02}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"buy_picky", scenario.Buyers{Bid: "14", Latency: "20ms-60ms", Reject: 0.15}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"buy_shaky", scenario.Buyers{Bid: "11", Latency: "30ms-120ms", Fail: 0.05}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_fixed", scenario.Buyers{Bid: "12.50", Latency: "5ms-30ms", Reject: 0.1}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_range", scenario.Buyers{Bid: "6-19", Latency: "20ms-60ms", Reject: 0.1}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_state", scenario.Buyers{Bid: "CA=17,TX=16,NY=15,*=7", Latency: "10ms-40ms"}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_slow", scenario.Buyers{Bid: "8-18", Latency: "300ms+hang:0.02", PostLatency: "50ms"}}},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_quota", scenario.Buyers{Bid: "10-17", Latency: "10ms"}}, pingLimit: 30},
	{loadTestBuyerSpec: loadTestBuyerSpec{"bid_wild", scenario.Buyers{Bid: "4-18", Latency: "10ms-90ms"}}, malformed: 0.2},
}

// buysOnlyInAuctions reports whether the buyer bids in auctions and has no fixed price.
func (b *demoBuyerSpec) buysOnlyInAuctions() bool { return strings.HasPrefix(b.ID, "bid_") }

// runningDemo is the running demonstration: the buyers, the supplier's webhook
// receiver, the exchange and its sandbox, all in this process.
type runningDemo struct {
	dir     string
	buyers  map[string]*refbuyer.Buyer
	tenants []*exchange.Exchange // the exchange, then the sandbox
	log     *os.File
	stop    context.CancelFunc // of the buyers and the receiver
	serving chan error         // gets one value from each of them
	servers int

	// Values of the configuration templates.
	Password, APIKey, ClientSecret, Token, SandboxToken, WebhookSecret string
	Receiver                                                           string
	URLs                                                               map[string]string
	Bidders                                                            []string
}

var (
	//go:embed demo.yaml
	demoConfig string
	//go:embed demo_sandbox.yaml
	demoSandboxConfig string
)

// startDemo starts the buyers, the webhook receiver, the exchange and its sandbox with files
// in the folder dir. The caller must call stopAllServers, also after an error.
func startDemo(dir string) (*runningDemo, error) {
	ctx, stop := context.WithCancel(context.Background())
	x := &runningDemo{
		dir: dir, buyers: map[string]*refbuyer.Buyer{}, stop: stop, serving: make(chan error, len(demoBuyers)+1), URLs: map[string]string{},
		Password: newRandomSecret(), APIKey: "key_" + newRandomSecret(), ClientSecret: newRandomSecret(), Token: newRandomSecret(), SandboxToken: newRandomSecret(),
		WebhookSecret: "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text())),
	}
	// Each buyer has its own seed. With a common one, all would fail in the same auctions.
	for i := range demoBuyers {
		b := &demoBuyers[i]
		options, err := b.referenceBuyerOptions(uint64(i+1), 0)
		if err != nil {
			return x, fmt.Errorf("demo: buyer %s: %w", b.ID, err)
		}
		options.Token, options.PingsASecond, options.MalformedRate = x.Token, b.pingLimit, b.malformed
		buyer, err := refbuyer.New(options)
		if err != nil {
			return x, fmt.Errorf("demo: cannot start buyer %s: %w", b.ID, err)
		}
		x.serveInBackground(ctx, buyer)
		x.buyers[b.ID], x.URLs[b.ID] = buyer, "http://"+buyer.Addr().String()
		if b.buysOnlyInAuctions() {
			x.Bidders = append(x.Bidders, b.ID)
		}
	}
	receiver, err := refreceiver.New(refreceiver.Options{Secret: x.WebhookSecret})
	if err != nil {
		return x, fmt.Errorf("demo: cannot start the webhook receiver: %w", err)
	}
	x.serveInBackground(ctx, receiver)
	x.Receiver = "http://" + receiver.Addr().String()
	if x.log, err = os.Create(filepath.Join(dir, "exchange.log")); err != nil {
		return x, fmt.Errorf("demo: %w", err)
	}
	logger := slog.New(slog.NewJSONHandler(x.log, nil))
	for _, file := range []struct{ name, template string }{{"exchange.yaml", demoConfig}, {"sandbox.yaml", demoSandboxConfig}} {
		if err := x.writeConfigFromTemplate(file.name, file.template); err != nil {
			return x, fmt.Errorf("demo: cannot write %s: %w", file.name, err)
		}
		tenant, err := exchange.Start(filepath.Join(dir, file.name), exchange.Options{Env: os.LookupEnv, Logger: logger, Version: version.String()})
		if err != nil {
			return x, fmt.Errorf("demo: cannot start the exchange with the configuration %s: %w", file.name, err)
		}
		x.tenants = append(x.tenants, tenant)
	}
	return x, nil
}

func newRandomSecret() string { return strings.ToLower(rand.Text()) }

// serveInBackground runs a reference buyer or the webhook receiver in a goroutine until the
// context ends. The goroutine sends the result to x.serving.
func (x *runningDemo) serveInBackground(ctx context.Context, server referenceBuyerOrReceiver) {
	x.servers++
	go func() { x.serving <- server.Serve(ctx) }()
}

func (x *runningDemo) writeConfigFromTemplate(fileName, templateText string) error {
	var config strings.Builder
	if err := template.Must(template.New(fileName).Parse(templateText)).Execute(&config, x); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(x.dir, fileName), []byte(config.String()), 0o600)
}

// publicURL returns the exchange's address for suppliers and buyers.
func (x *runningDemo) publicURL() string { return "http://" + x.tenants[0].PublicAddress() }
func (x *runningDemo) adminURL() string  { return "http://" + x.tenants[0].AdminAddress() }

// newAdminFlags returns the flags with which an operator's command reaches the
// demonstration's exchange.
func (x *runningDemo) newAdminFlags() client.AdminFlags {
	return client.AdminFlags{Admin: x.adminURL(), Password: x.Password}
}

// newLoadTestTarget describes the demonstration's exchange as the target of a load test, with a new
// access token. The campaigns receive leads in turn, so a campaign that is listed twice gets twice
// as many. The number of list entries has no common divisor with the number of places in the
// generated leads. Each campaign therefore gets leads from all places.
func (x *runningDemo) newLoadTestTarget(ctx context.Context) (*trial.Target, error) {
	token, err := fetchAccessToken(ctx, x.publicURL(), "acme", x.ClientSecret)
	if err != nil {
		return nil, err
	}
	return &trial.Target{
		Addr: x.tenants[0].PublicAddress(), Admin: x.adminURL(), Supplier: "sup_acme", APIKey: x.APIKey, Token: token, Vertical: "auto_insurance",
		Campaigns: []string{"cmp_auto", "cmp_bids", "cmp_solar", "cmp_auto", "cmp_life", "cmp_bids", "cmp_life"},
		Buyers:    x.URLs, Receiver: x.Receiver,
	}, nil
}

// fatalExchangeErrors returns a channel that receives an error if the exchange fails for good.
func (x *runningDemo) fatalExchangeErrors() <-chan error { return x.tenants[0].FatalErrors() }

// stopAllServers stops the exchange, and after it the buyers, to which the exchange may post
// leads until its end.
func (x *runningDemo) stopAllServers() error {
	err := closeExchanges(x.tenants)
	x.stop()
	for range x.servers {
		err = errors.Join(err, <-x.serving)
	}
	if x.log != nil {
		err = errors.Join(err, x.log.Close())
	}
	return err
}

// newScenario returns the demonstration's load: leads by ingest, and one tenth as many by
// ping and post.
func (c *demoCmd) newScenario() *scenario.Scenario {
	const pingPosts = 0.1
	return &scenario.Scenario{
		Name: "demo", About: "leads for three campaigns with fixed prices and one that holds auctions",
		Kinds:    map[scenario.Kind]int{scenario.Ingest: 10, scenario.PingPost: 1},
		Phases:   []scenario.Phase{{Name: "demo", For: time.Duration(float64(c.Leads) / c.Rate * float64(time.Second)), Rate: c.Rate * (1 + pingPosts), Arrival: scenario.Fixed}},
		InFlight: 256,
		Webhooks: &scenario.Webhooks{Within: 30 * time.Second},
		Limits:   scenario.Limits{Unsold: 1},
	}
}
