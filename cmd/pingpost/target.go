package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/cmd/pingpost/child"
	"pingpost/internal/timer"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

const (
	// tokenSpare is the time for which an access token stays valid after the test.
	tokenSpare = time.Hour
	// spareConns are connections that the client leaves to others.
	spareConns = 100
	// maxRemembered limits the purchases that a buyer remembers.
	maxRemembered = 2_000_000
)

// temporaryExchange is an exchange that a load test has started for itself, with its buyers, in a
// temporary folder.
type temporaryExchange struct {
	child.ProcessList
	exchange *child.Process
	target   *trial.Target
}

// startTemporaryExchange starts the buyers and the exchange of a load test as child processes. The
// caller must call stopAndRemoveFolder, also after an error.
func startTemporaryExchange(ctx context.Context, s *scenario.Scenario, seed uint64) (t *temporaryExchange, err error) {
	t = new(temporaryExchange)
	if t.Dir, err = os.MkdirTemp("", "pingpost-loadtest-"); err != nil {
		return t, err
	}
	secrets := &loadTestSecrets{apiKey: rand.Text(), client: rand.Text(), password: rand.Text()}
	secrets.webhook = "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text()))
	buyers := expandBuyerGroups(s)
	addresses, err := t.startBuyersAndReceiver(ctx, s, buyers, secrets, seed)
	if err != nil {
		return t, err
	}
	text, ingests, err := encodeExchangeConfig(s, buyers, addresses, secrets)
	if err != nil {
		return t, err
	}
	t.target = &trial.Target{
		Supplier: loadSupplier, APIKey: secrets.apiKey, Campaigns: ingests, Vertical: loadVertical,
		Buyers: addresses.Buyers, Receiver: addresses.Receiver, Whole: true,
	}
	if err := t.startExchangeAndWait(ctx, text); err != nil {
		return t, err
	}
	t.target.Token, err = fetchAccessToken(ctx, "http://"+t.target.Addr, loadClient, secrets.client)
	if err == nil {
		// The buckets towards buyers are empty at the start, and fill within a second.
		timer.WaitUntil(ctx, time.Now().Add(time.Second))
	}
	return t, err
}

// expandBuyerGroups returns the buyers of a scenario, which describes them as groups with a
// count.
func expandBuyerGroups(s *scenario.Scenario) (buyers []loadTestBuyerSpec) {
	for _, group := range s.Buyers {
		for range group.Count {
			buyers = append(buyers, loadTestBuyerSpec{fmt.Sprintf("buy_%d", len(buyers)+1), group})
		}
	}
	return buyers
}

func (t *temporaryExchange) startBuyersAndReceiver(ctx context.Context, s *scenario.Scenario, buyers []loadTestBuyerSpec, secrets *loadTestSecrets, seed uint64) (*buyerAndReceiverAddresses, error) {
	spec := buyersProcessSpec{Seed: seed, Webhooks: s.Webhooks, Secret: secrets.webhook}
	for _, b := range buyers {
		if !b.Recorded {
			spec.Buyers = append(spec.Buyers, b)
		}
	}
	addresses := &buyerAndReceiverAddresses{}
	if len(spec.Buyers) == 0 && spec.Webhooks == nil {
		return addresses, nil
	}
	leads := 0.0
	for _, p := range s.Phases {
		leads += p.Rate * p.For.Seconds()
	}
	spec.Remember = min(int(leads*1.2)+1000, maxRemembered)
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(t.Dir, "buyers.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	process, err := t.StartThisProgram("buyers", []string{"GOGC=400"}, "loadtest-buyers", path)
	if err != nil {
		return nil, err
	}
	line, err := process.WaitForLine(ctx, `"buyers"`)
	if err != nil {
		return nil, err
	}
	return addresses, json.Unmarshal([]byte(line), addresses)
}

func (t *temporaryExchange) startExchangeAndWait(ctx context.Context, configText []byte) (err error) {
	path := filepath.Join(t.Dir, "exchange.json")
	if err := os.WriteFile(path, configText, 0o600); err != nil {
		return err
	}
	if t.exchange, err = t.StartThisProgram("exchange", nil, "serve", "--config", path, "--log-format", "json"); err != nil {
		return err
	}
	public, private, err := t.exchange.WaitForExchange(ctx, "load")
	if err != nil {
		return err
	}
	t.target.Addr, t.target.Admin = public, private
	if err := waitUntilReady(ctx, http.DefaultClient, private, time.Now().Add(child.StartTimeout)); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("the load test's exchange did not become ready (%w); see %s", err, t.exchange.Log))
	}
	return nil
}

// stopAndRemoveFolder stops all processes of the load test and removes their folder. If a process
// failed, the folder stays, because it has the process's output.
func (t *temporaryExchange) stopAndRemoveFolder() error {
	if err := t.StopAll(); err != nil {
		return err
	}
	return os.RemoveAll(t.Dir)
}

// fetchAccessToken requests an access token from the exchange for an OAuth client, with the
// scopes ping and post.
func fetchAccessToken(ctx context.Context, exchangeURL, client, secret string) (string, error) {
	place := strings.TrimRight(exchangeURL, "/") + "/oauth/token"
	config := clientcredentials.Config{ClientID: client, ClientSecret: secret, Scopes: []string{"ping", "post"}, TokenURL: place}
	granted, err := config.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("the exchange at %s issued no access token to client %s: %w", place, client, err)
	}
	return granted.AccessToken, nil
}

// runningExchangeFlags describe a running exchange for a load test. Without them, the test starts an
// exchange of its own.
type runningExchangeFlags struct {
	Target       string            `group:"Another exchange" placeholder:"URL" help:"The exchange to test, such as http://127.0.0.1:8080. By default one is started for the test, with buyers, and removed after it."`
	Admin        string            `group:"Another exchange" placeholder:"URL" help:"The exchange's admin address, to read its own figures."`
	Supplier     string            `group:"Another exchange" placeholder:"ID" help:"The supplier that sends the leads."`
	APIKey       string            `group:"Another exchange" name:"api-key" env:"PINGPOST_API_KEY" placeholder:"KEY" help:"Its API key, for ingests; better in PINGPOST_API_KEY."`
	Campaign     []string          `group:"Another exchange" placeholder:"ID" help:"Campaign for ingests; several get leads in turn."`
	Vertical     string            `group:"Another exchange" placeholder:"NAME" help:"Vertical of the pings."`
	ClientID     string            `group:"Another exchange" env:"PINGPOST_CLIENT_ID" placeholder:"ID" help:"OAuth client, for pings and posts."`
	ClientSecret string            `group:"Another exchange" env:"PINGPOST_CLIENT_SECRET" placeholder:"SECRET" help:"Its secret; better in PINGPOST_CLIENT_SECRET."`
	Buyer        map[string]string `group:"Another exchange" placeholder:"ID=URL" help:"Id and address of a reference buyer, to read its own counts."`
	Receiver     string            `group:"Another exchange" placeholder:"URL" help:"Address of the supplier's reference receiver of webhooks, to read its own counts."`
	YesRemote    string            `group:"Another exchange" placeholder:"OWNER" help:"Required for a target on another machine: its owner's name. The owner must know of the test."`
}

// checkFlagsAndProbeTarget checks the target flags against the scenario and connects to the exchange
// once. If the scenario has auctions, it requests an access token.
func (f *runningExchangeFlags) checkFlagsAndProbeTarget(ctx context.Context, s *scenario.Scenario) (*trial.Target, error) {
	to, err := url.Parse(f.Target)
	if err != nil || to.Host == "" || to.Scheme != "http" {
		return nil, fmt.Errorf("--target %q: give an address such as http://127.0.0.1:8080; the load test speaks plain HTTP, to the exchange itself", f.Target)
	}
	if !isLoopback(to.Hostname()) && f.YesRemote == "" {
		return nil, fmt.Errorf("--target %s is not on this machine: a load test can take an exchange down, so name its owner with --yes-remote", f.Target)
	}
	var missing []error
	need := func(value, flag, what string) {
		if value == "" {
			missing = append(missing, fmt.Errorf("%s: %s", flag, what))
		}
	}
	auctions := s.Kinds[scenario.Ping]+s.Kinds[scenario.PingPost] > 0
	if s.Kinds[scenario.Ingest] > 0 {
		need(f.APIKey, "--api-key", "ingests need one")
		need(f.Supplier, "--supplier", "ingests name it")
		need(strings.Join(f.Campaign, ""), "--campaign", "ingests are for one")
	}
	if auctions {
		need(f.ClientID, "--client-id", "pings need a token")
		need(f.ClientSecret, "--client-secret", "pings need a token")
		need(f.Vertical, "--vertical", "pings name one")
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("scenario %s against %s needs more flags:\n%w", s.Name, f.Target, errors.Join(missing...))
	}
	addr := to.Host
	if to.Port() == "" {
		addr = net.JoinHostPort(to.Hostname(), "80")
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--target %s: cannot connect: %w", f.Target, err)
	}
	_ = conn.Close()
	t := &trial.Target{
		Addr: addr, Admin: f.Admin, Supplier: f.Supplier, APIKey: f.APIKey, Campaigns: f.Campaign,
		Vertical: f.Vertical, Buyers: f.Buyer, Receiver: f.Receiver,
	}
	if auctions {
		t.Token, err = fetchAccessToken(ctx, strings.TrimRight(f.Target, "/"), f.ClientID, f.ClientSecret)
	}
	return t, err
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
