package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

// targetFlags say which exchange is tested, where it is not one of the test's own.
type targetFlags struct {
	Target       string            `group:"Another exchange" placeholder:"URL" help:"The exchange to test, such as http://127.0.0.1:8080. By default one is started for the test, with buyers, and removed after it."`
	Admin        string            `group:"Another exchange" placeholder:"URL" help:"The address of its operators, for its own figures."`
	Supplier     string            `group:"Another exchange" placeholder:"ID" help:"The supplier to be."`
	APIKey       string            `group:"Another exchange" name:"api-key" env:"PINGPOST_API_KEY" placeholder:"KEY" help:"Its API key, for ingests; better in PINGPOST_API_KEY."`
	Campaign     []string          `group:"Another exchange" placeholder:"ID" help:"Campaign that ingests are for; several in turn."`
	Vertical     string            `group:"Another exchange" placeholder:"NAME" help:"Vertical of the pings."`
	ClientID     string            `group:"Another exchange" env:"PINGPOST_CLIENT_ID" placeholder:"ID" help:"OAuth client, for pings and posts."`
	ClientSecret string            `group:"Another exchange" env:"PINGPOST_CLIENT_SECRET" placeholder:"SECRET" help:"Its secret; better in PINGPOST_CLIENT_SECRET."`
	Buyer        map[string]string `group:"Another exchange" placeholder:"ID=URL" help:"Where a reference buyer can be asked what it took."`
	Receiver     string            `group:"Another exchange" placeholder:"URL" help:"Where the supplier's reference receiver of webhooks can be asked what it heard."`
	YesRemote    string            `group:"Another exchange" placeholder:"WHOSE" help:"Needed for a target that is not on this machine: whose machine it is, and that they know."`
}

// target finds out about an exchange that is there already.
func (f *targetFlags) target(ctx context.Context, s *scenario.Scenario) (*trial.Target, error) {
	to, err := url.Parse(f.Target)
	if err != nil || to.Host == "" || to.Scheme != "http" {
		return nil, fmt.Errorf("--target %q: give an address such as http://127.0.0.1:8080; the load test speaks plain HTTP, to the exchange itself", f.Target)
	}
	if !onLoopback(to.Hostname()) && f.YesRemote == "" {
		return nil, fmt.Errorf("--target %s is not on this machine: a load test is an attack on whoever does not expect it; say whose machine it is with --yes-remote", f.Target)
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
		return nil, fmt.Errorf("for scenario %s against %s:\n%w", s.Name, f.Target, errors.Join(missing...))
	}
	addr := to.Host
	if to.Port() == "" {
		addr = net.JoinHostPort(to.Hostname(), "80")
	}
	there, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--target %s: nobody is there: %w", f.Target, err)
	}
	_ = there.Close()
	t := &trial.Target{
		Addr: addr, Admin: f.Admin, Supplier: f.Supplier, APIKey: f.APIKey, Campaigns: f.Campaign,
		Vertical: f.Vertical, Buyers: f.Buyer, Receiver: f.Receiver,
	}
	if auctions {
		t.Token, err = grantedToken(ctx, strings.TrimRight(f.Target, "/"), f.ClientID, f.ClientSecret)
	}
	return t, err
}

func onLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
