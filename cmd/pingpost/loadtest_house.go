package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/internal/timer"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

const (
	// tokenSpare is how much longer than the test an access token is good.
	tokenSpare = time.Hour
	// sparePlaces are connections for others than the client.
	sparePlaces = 100
	// mostRemembered bounds what a buyer remembers of what it took.
	mostRemembered = 2_000_000
)

// loadHouse is an exchange for one load test, with its buyers, in a folder of its own.
type loadHouse struct {
	household
	exchange *child
	target   *trial.Target
}

// openLoadHouse starts the buyers and the exchange. The house is to be closed also
// after an error.
func openLoadHouse(ctx context.Context, s *scenario.Scenario, seed uint64) (h *loadHouse, err error) {
	h = new(loadHouse)
	if h.dir, err = os.MkdirTemp("", "pingpost-loadtest-"); err != nil {
		return h, err
	}
	secrets := &loadSecrets{apiKey: rand.Text(), client: rand.Text(), password: rand.Text()}
	secrets.webhook = "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text()))
	buyers := loadBuyersOf(s)
	at, err := h.startBuyers(ctx, s, buyers, secrets, seed)
	if err != nil {
		return h, err
	}
	text, ingests, err := loadConfig(s, buyers, at, secrets)
	if err != nil {
		return h, err
	}
	h.target = &trial.Target{
		Supplier: loadSupplier, APIKey: secrets.apiKey, Campaigns: ingests, Vertical: loadVertical,
		Buyers: at.Buyers, Receiver: at.Receiver, Whole: true,
	}
	if err := h.startExchange(ctx, text); err != nil {
		return h, err
	}
	h.target.Token, err = grantedToken(ctx, "http://"+h.target.Addr, loadClient, secrets.client)
	if err == nil {
		// Rate limits begin empty, and hold what a second brings.
		timer.WaitUntil(ctx, time.Now().Add(time.Second))
	}
	return h, err
}

// loadBuyersOf are the scenario's buyers, one by one.
func loadBuyersOf(s *scenario.Scenario) (buyers []loadBuyer) {
	for _, group := range s.Buyers {
		for range group.Count {
			buyers = append(buyers, loadBuyer{fmt.Sprintf("buy_%d", len(buyers)+1), group})
		}
	}
	return buyers
}

func (h *loadHouse) startBuyers(ctx context.Context, s *scenario.Scenario, buyers []loadBuyer, secrets *loadSecrets, seed uint64) (*buyersAt, error) {
	spec := buyersSpec{Seed: seed, Webhooks: s.Webhooks, Secret: secrets.webhook}
	for _, b := range buyers {
		if !b.Recorded {
			spec.Buyers = append(spec.Buyers, b)
		}
	}
	at := &buyersAt{}
	if len(spec.Buyers) == 0 && spec.Webhooks == nil {
		return at, nil
	}
	leads := 0.0
	for _, p := range s.Phases {
		leads += p.Rate * p.For.Seconds()
	}
	spec.Remember = min(int(leads*1.2)+1000, mostRemembered)
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(h.dir, "buyers.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	process, err := h.start("buyers", []string{"GOGC=400"}, "loadtest-buyers", path)
	if err != nil {
		return nil, err
	}
	line, err := process.says(ctx, `"buyers"`)
	if err != nil {
		return nil, err
	}
	return at, json.Unmarshal([]byte(line), at)
}

func (h *loadHouse) startExchange(ctx context.Context, config []byte) (err error) {
	path := filepath.Join(h.dir, "exchange.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	if h.exchange, err = h.start("exchange", nil, "serve", "--config", path, "--log-format", "json"); err != nil {
		return err
	}
	public, private, err := h.exchange.serves(ctx, "load")
	if err != nil {
		return err
	}
	h.target.Addr, h.target.Admin = public, private
	for limit := time.Now().Add(patience); ; {
		if ready(ctx, private) {
			return nil
		}
		if time.Now().After(limit) || !timer.WaitUntil(ctx, time.Now().Add(20*time.Millisecond)) {
			return errors.Join(ctx.Err(), fmt.Errorf("the exchange is not ready; see %s", h.exchange.log))
		}
	}
}

func ready(ctx context.Context, private string) bool { return answers(ctx, private+"/readyz") }

// answers reports whether a GET of the URL gets a 200.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// close ends everything and removes the folder; where something ended badly its last
// words are kept.
func (h *loadHouse) close() error {
	if err := h.stop(); err != nil {
		return err
	}
	return os.RemoveAll(h.dir)
}

// grantedToken fetches an access token that pings and posts.
func grantedToken(ctx context.Context, base, client, secret string) (string, error) {
	place := strings.TrimRight(base, "/") + "/oauth/token"
	config := clientcredentials.Config{ClientID: client, ClientSecret: secret, Scopes: []string{"ping", "post"}, TokenURL: place}
	granted, err := config.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("%s gives client %s no token: %w", place, client, err)
	}
	return granted.AccessToken, nil
}
