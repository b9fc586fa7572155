package main

import (
	"context"
	_ "embed"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

//go:embed testdata/live.yaml
var liveConfig string

//go:embed testdata/sandbox.yaml
var sandboxConfig string

var configs = map[string]string{"live": liveConfig, "sandbox": sandboxConfig}

// environment is the environment of the cases: an exchange of two tenants behind proxies, the
// reference buyer, the gates to the SDK's own buyers, and the supplier's webhook receiver.
type environment struct {
	variables variables // variables of the configurations and the cases
	exchange  *exchange
	proxies   map[string]*proxy // by tenant
	gates     map[string]*proxy // by buyer
	hooks     *webhookReceiver
	buyer     *refbuyer.Buyer
	served    chan error

	stopBuyer context.CancelFunc
}

// credentials are valid only in a folder that is removed at the end. They are long and unusual,
// so that an error that contains one is recognizable.
var credentials = variables{
	"api_key":            "key-canary-3f9c0e6b7a5d4c21",
	"slow_api_key":       "key-canary-slow-51ab0e77",
	"client_id":          "acme",
	"client_secret":      "secret-canary-9d1b4f579a34",
	"ping_client_id":     "acme-pings",
	"ping_client_secret": "secret-canary-pings-77ce",
	"ref_client_id":      "ref",
	"ref_client_secret":  "secret-canary-ref-0aa1",
	"rest_client_id":     "rest",
	"rest_client_secret": "secret-canary-rest-0bb2",
	"sandbox_api_key":    "key-canary-sandbox-c0ffee",
	"sandbox_token":      "token-canary-sandbox-8b6f2c5d",
	"buyer_token":        "token-canary-buyer-1f4e0a52",
	"buyer_key":          "key-canary-buyer-93f34c0b",
	"hook_secret":        "whsec_Y2FuYXJ5LW9mLWEtd2ViaG9vay1zZWNyZXQtMDE=",
	"password":           "password-canary-of-the-operator",
}

func newEnvironment(ctx context.Context, place, program string) (*environment, error) {
	w := &environment{variables: maps.Clone(credentials), proxies: map[string]*proxy{}, gates: map[string]*proxy{}, served: make(chan error, 1)}
	if err := w.open(ctx, place, program); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *environment) open(ctx context.Context, place, program string) error {
	price, err := market.ParseMoney([]byte("12.5"))
	if err != nil {
		return err
	}
	if w.buyer, err = refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(price), Token: credentials["buyer_token"].(string), Seed: 1}); err != nil {
		return err
	}
	going, stop := context.WithCancel(context.Background())
	w.stopBuyer = stop
	go func() { w.served <- w.buyer.Serve(going) }()
	w.hooks = newWebhookReceiver()
	for _, buyer := range []string{"buy_sdk", "buy_key"} {
		w.gates[buyer] = newProxy("")
		w.variables["gate_"+buyer] = w.gates[buyer].server.URL
	}
	w.variables["reference"] = "http://" + w.buyer.Addr().String()
	w.variables["hooks"] = w.hooks.server.URL
	data := filepath.Join(place, "data")
	w.variables["data"] = data
	if err = os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if w.exchange, err = startExchange(ctx, place, program, w.variables); err != nil {
		return err
	}
	for _, tenant := range tenants {
		w.proxies[tenant] = newProxy(w.exchange.listen[tenant])
		w.variables[tenant] = w.proxies[tenant].server.URL
		w.variables["direct_"+tenant] = w.exchange.listen[tenant]
	}
	return nil
}

// startCase clears the records and faults before a case.
func (w *environment) startCase() {
	for _, p := range w.proxies {
		p.reset()
	}
	for _, p := range w.gates {
		p.reset()
		p.setTarget("")
	}
}

func (w *environment) close() (err error) {
	for _, p := range w.proxies {
		p.close()
	}
	if w.exchange != nil {
		err = w.exchange.stop()
	}
	for _, p := range w.gates {
		p.close()
	}
	if w.hooks != nil {
		w.hooks.server.Close()
	}
	if w.buyer != nil {
		w.stopBuyer()
		err = errors.Join(err, <-w.served)
	}
	return err
}
