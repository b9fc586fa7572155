package refbuyer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// TestChaos runs a persistent seller against a buyer with every fault. No lead is bought
// twice, and the statistics add up.
func TestChaos(t *testing.T) {
	const lanes, leads = 4, 30
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			options := Options{Seed: seed, Bid: Fixed(5_000_000), OAuth: acme, Latency: Uniform{0, time.Millisecond}, PostLatency: Uniform{0, time.Millisecond}}
			options.NoBidRate, options.FailRate, options.MalformedRate, options.MalformedPostRate, options.ExpireEarly = 0.2, 0.3, 0.3, 0.3, 1
			options.Disturb()
			b, base := start(t, options)
			transport := &http.Transport{ResponseHeaderTimeout: time.Second}
			defer transport.CloseIdleConnections()
			seller := &stubborn{base: base, client: &http.Client{Transport: transport, Timeout: 300 * time.Millisecond}, tokens: clientcredentials.Config{
				ClientID: acme.Client, ClientSecret: acme.Secret, TokenURL: base + "/oauth/token",
			}}
			seller.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			var selling sync.WaitGroup
			for lane := range lanes {
				selling.Go(func() {
					for i := range leads {
						name := fmt.Sprint(lane, "_", i)
						seller.once("/v1/ping", "p"+name, pingOf("auc_"+name))
						for range 12 {
							if seller.once("/v1/post", "k"+name, lead(name)) {
								break
							}
						}
					}
				})
			}
			selling.Wait()
			s := b.Stats()
			if s.DoubleSold != 0 || s.ContactSeen != 0 || s.Expired != 0 || s.Won != 0 {
				t.Errorf("stats %+v", s)
			}
			if s.Pings != s.Bids+s.NoBids+s.PingsReplayed+b.book.snapshot().malformed {
				t.Errorf("pings do not add up: %+v", s)
			}
			if s.Accepted+s.Rejected != lanes*leads || int64(len(b.Leads())) != s.Accepted || int64(s.Revenue) != s.Accepted*5_000_000 {
				t.Errorf("leads do not add up: %d in the list, %+v", len(b.Leads()), s)
			}
			if s.Failed == 0 || s.Malformed == 0 || s.NoBids == 0 || s.Rejected == 0 || s.Tokens < 2 || s.Unauthorized == 0 {
				t.Errorf("little of it was chaos: %+v", s)
			}
		})
	}
}

// stubborn is a seller that repeats each request until it is settled.
type stubborn struct {
	base   string
	client *http.Client
	tokens clientcredentials.Config

	mu    sync.Mutex
	token *oauth2.Token
}

// authorize returns a token other than the refused one.
func (s *stubborn) authorize(refused string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == nil || s.token.AccessToken == refused {
		token, err := s.tokens.Token(context.WithValue(context.Background(), oauth2.HTTPClient, s.client))
		if err != nil {
			return ""
		}
		s.token = token
	}
	return s.token.AccessToken
}

// once sends a request and reports whether it is settled.
func (s *stubborn) once(path, key, body string) bool {
	token := s.authorize("")
	for range 5 {
		r, err := http.NewRequest(http.MethodPost, s.base+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := s.client.Do(r)
		if err != nil {
			return false
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode == http.StatusUnauthorized {
			token = s.authorize(token)
			continue
		}
		return err == nil && (response.StatusCode == http.StatusUnprocessableEntity || response.StatusCode == http.StatusCreated && strings.Contains(string(text), `"accepted"`))
	}
	return false
}
