package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// parseLine reads a command line as main does.
func parseLine(t *testing.T, line string) (*commands, error) {
	t.Helper()
	var cli commands
	parser := must.Value(kong.New(&cli, kong.Name("pingpost")))(t)
	_, err := parser.Parse(strings.Fields(line))
	return &cli, err
}

// buyerOptions returns the options of a buyer's command line.
func buyerOptions(t *testing.T, line string) (refbuyer.Options, error) {
	t.Helper()
	cli := must.Value(parseLine(t, "buyer "+line))(t)
	return cli.Buyer.parseOptions()
}

// defaultOptions returns a buyer's options without flags, changed by change.
func defaultOptions(t *testing.T, change func(o *refbuyer.Options)) refbuyer.Options {
	t.Helper()
	o := refbuyer.Options{
		Listen: "127.0.0.1:8090", Seed: 1, Currency: "USD", Valid: 5 * time.Second, States: market.AllStates,
		Bid: refbuyer.Fixed(10_000_000), TokenLifetime: time.Hour,
	}
	change(&o)
	return o
}

func TestBuyerFlags(t *testing.T) {
	t.Parallel()
	texas := must.Value(market.ParseUSStatesOrAll([]string{"TX", "CA"}))(t)
	byState := must.Value(refbuyer.ParsePricing("CA=20,TX=10-15,*=9"))(t)
	const ms = time.Millisecond
	rows := []struct {
		line   string
		change func(o *refbuyer.Options)
	}{
		{"", func(*refbuyer.Options) {}},
		{"-q --listen 127.0.0.1:0 --seed 7", func(o *refbuyer.Options) { o.Listen, o.Seed = "127.0.0.1:0", 7 }},
		{"--bid 12.50 --token t", func(o *refbuyer.Options) { o.Bid, o.Token = refbuyer.Fixed(12_500_000), "t" }},
		{"--bid CA=20,TX=10-15,*=9 --states CA,TX --currency EUR", func(o *refbuyer.Options) { o.Bid, o.States, o.Currency = byState, texas, "EUR" }},
		{"--valid 750ms --no-bid-rate 0.2", func(o *refbuyer.Options) { o.Valid, o.NoBidRate = 750*ms, 0.2 }},
		{"--latency 10ms-50ms --reject-rate 0.1 --fail-rate 0.05", func(o *refbuyer.Options) {
			o.Latency, o.RejectRate, o.FailRate = refbuyer.Uniform{Min: 10 * ms, Max: 50 * ms}, 0.1, 0.05
		}},
		{"--latency lognormal:20ms,0.5+hang:0.01 --post-latency exp:20ms", func(o *refbuyer.Options) {
			o.Latency = refbuyer.Hanging{Share: 0.01, Latency: refbuyer.LogNormal{Median: 20 * ms, Sigma: 0.5}}
			o.PostLatency = refbuyer.Exponential{Mean: 20 * ms}
		}},
		{"--malformed-rate 0.1 --malformed-post-rate 0.2 --rate 100", func(o *refbuyer.Options) { o.MalformedRate, o.MalformedPostRate, o.PingsASecond = 0.1, 0.2, 100 }},
		{"--oauth acme:s3:cret --token-lifetime 30s --expire-early-rate 0.5", func(o *refbuyer.Options) {
			o.OAuth, o.TokenLifetime, o.ExpireEarly = refbuyer.OAuth{Client: "acme", Secret: "s3:cret"}, 30*time.Second, 0.5
		}},
		{"--chaos --fail-rate 0.5", func(o *refbuyer.Options) {
			o.FailRate = 0.5
			o.Disturb()
		}},
	}
	for _, row := range rows {
		t.Run(row.line, func(t *testing.T) {
			got := must.Value(buyerOptions(t, row.line))(t)
			if want := defaultOptions(t, row.change); !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestBuyerRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	rows := []struct{ line, wantError string }{
		{"--bid ten", `bid "ten"`},
		{"--bid 20-8", `bid "20-8"`},
		{"--bid ZZ=5", `"ZZ" is not a state`},
		{"--states ZZ", "states: "},
		{"--states CA,CA", "CA is listed twice"},
		{"--valid 0s", `valid "0s"`},
		{"--valid soon", `valid "soon"`},
		{"--latency fast", `--latency: latency "fast"`},
		{"--post-latency 20ms+hang:2", `--post-latency: latency "20ms+hang:2"`},
		{"--token-lifetime -1h", `--token-lifetime "-1h"`},
		{"--oauth acme", "client:secret"},
		{"--oauth :secret", "client:secret"},
		{"--oauth acme:", "client:secret"},
	}
	for _, row := range rows {
		if _, err := buyerOptions(t, strings.Replace(row.line, " ", "=", 1)); err == nil || !strings.Contains(err.Error(), row.wantError) {
			t.Errorf("%s: %v", row.line, err)
		}
	}
	if _, err := buyerOptions(t, "--bid=x --valid=y --oauth=z"); err == nil || strings.Count(err.Error(), "\n") != 2 || strings.Contains(err.Error(), `"z"`) {
		t.Errorf("three mistakes: %v; want three lines without the secret", err)
	}
}

// TestHelpExamplesRun runs the examples in the help of the buyer and the receiver.
func TestHelpExamplesRun(t *testing.T) {
	t.Parallel()
	for help, minExamples := range map[string]int{new(referenceBuyerCmd).Help(): 5, new(webhookReceiverCmd).Help(): 2} {
		examples := 0
		for line := range strings.Lines(help) {
			command, ok := strings.CutPrefix(line, "  pingpost ")
			if !ok {
				continue
			}
			examples++
			if err := startAndCloseServer(t, command+" --listen 127.0.0.1:0"); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if examples < minExamples {
			t.Errorf("only %d examples in:\n%s", examples, help)
		}
	}
	for _, name := range []string{"/stats", "/leads", "double_sold", "contact_seen", "a redirect"} {
		if help := new(referenceBuyerCmd).Help(); !strings.Contains(help, name) {
			t.Errorf("the help does not mention %s", name)
		}
	}
}

// startAndCloseServer starts the buyer or the receiver of a command line, and closes it.
func startAndCloseServer(t *testing.T, line string) error {
	t.Helper()
	cli, err := parseLine(t, line)
	if err != nil {
		return err
	}
	if strings.HasPrefix(line, "receiver") {
		options, err := cli.Receiver.parseOptions()
		if err != nil {
			return err
		}
		r, err := refreceiver.New(options)
		if err != nil {
			return err
		}
		return r.Close()
	}
	options, err := cli.Buyer.parseOptions()
	if err != nil {
		return err
	}
	b, err := refbuyer.New(options)
	if err != nil {
		return err
	}
	return b.Close()
}

// TestBuyerSecretsFromEnvironment: secrets can come from the environment, because other users
// see command lines.
func TestBuyerSecretsFromEnvironment(t *testing.T) {
	t.Setenv("PINGPOST_BUYER_TOKEN", "tok")
	t.Setenv("PINGPOST_BUYER_OAUTH", "acme:s3cret")
	o, err := buyerOptions(t, "")
	if err != nil || o.Token != "tok" || o.OAuth != (refbuyer.OAuth{Client: "acme", Secret: "s3cret"}) {
		t.Errorf("%+v %v", o, err)
	}
}
