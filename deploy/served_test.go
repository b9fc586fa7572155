// Package deploy tests the files for operating the program (a systemd unit, an image, alerts, a
// dashboard) with a running exchange and with the tools that read these files.
package deploy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"pingpost/exchange"
	"pingpost/internal/certtest"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/wal/backup"
	"pingpost/wal/backup/store"
)

const (
	apiKey        = "key-of-a-supplier-0001"
	webhookSecret = "whsec_ZGVwbG95ZGVwbG95ZGVwbG95ZGVw"
)

// measuredConfig configures an exchange with everything that has metrics: TLS, a backup, traces,
// webhooks, an auction, a buyer with an endpoint and one without.
const measuredConfig = `data_dir: data
listen: 127.0.0.1:0
tls: {cert: cert.pem, key: key.pem}
admin: {listen: 127.0.0.1:0}
trusted_networks: [127.0.0.0/8]
traces: {endpoint: "%[1]s", sample: 1}
suppliers: [{id: sup_acme, api_key: "${KEY}", ingest_rate: 1000000, webhook: {url: "%[1]s", secret: "${HOOK}"}}]
buyers: [{id: buy_rest}, {id: buy_blue, endpoint: "http://%[2]s"}]
campaigns:
  - {id: cmp_fixed, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_rest, price: 5}]}
  - {id: cmp_auction, method: ping_post, vertical: auto, duplicates: {window: 0s}, buyers: [{buyer: buy_blue}]}
  - {id: cmp_elsewhere, method: ping_post, vertical: solar, duplicates: {window: 0s}, buyers: [{buyer: buy_blue, states: [NV]}]}
`

// series holds the values of each label of each metric that an exchange serves.
type series map[string]map[string]map[string]bool

// servedMetrics starts an exchange once for all tests, sells leads, and scrapes it.
func servedMetrics(t *testing.T) series {
	t.Helper()
	return must.Value(scrapeOnce())(t)
}

var scrapeOnce = sync.OnceValues(func() (series, error) {
	dir, err := os.MkdirTemp("", "pingpost-deploy")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	buyer, err := refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(10_000_000)})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = buyer.Serve(ctx) }()
	if err := writeCertificate(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "exchange.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, measuredConfig, receiver.URL, buyer.Addr()), 0o600); err != nil {
		return nil, err
	}
	env := map[string]string{"KEY": apiKey, "HOOK": webhookSecret}
	x, err := exchange.Start(path, exchange.Options{
		Env:    func(name string) (string, bool) { value, known := env[name]; return value, known },
		Logger: slog.New(slog.DiscardHandler),
		Backup: func(string) (backup.Options, error) {
			folder, err := store.OpenDir(filepath.Join(dir, "backup"))
			return backup.Options{To: folder}, err
		},
	})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	found, err := sellAndScrape(x)
	if err != nil {
		return nil, err
	}
	return found, found.addCluster(filepath.Join(dir, "cluster.yaml"))
})

// clusteredConfig configures a cluster of one node.
const clusteredConfig = `data_dir: node
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
cluster: {node: a, listen: 127.0.0.1:0, peers: {a: 127.0.0.1:1}}
`

// addCluster adds the metrics of a node of a cluster.
func (s series) addCluster(path string) error {
	if err := os.WriteFile(path, []byte(clusteredConfig), 0o600); err != nil {
		return err
	}
	options := exchange.Options{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}
	if err := exchange.CreateCluster(path, options); err != nil {
		return err
	}
	x, err := exchange.Start(path, options)
	if err != nil {
		return err
	}
	defer x.Close()
	of, err := scrape("http://" + x.AdminAddress())
	if err != nil {
		return err
	}
	for name, labels := range of {
		if s[name] == nil {
			s[name] = labels
		}
	}
	return nil
}

// sellAndScrape sends leads to all campaigns until the metrics show the auctions. One campaign
// has no buyer for the leads.
func sellAndScrape(x *exchange.Exchange) (found series, err error) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, campaign := range []string{"cmp_fixed", "cmp_auction", "cmp_elsewhere"} {
			if err := send("https://"+x.PublicAddress(), campaign); err != nil {
				return nil, err
			}
		}
		if found, err = scrape("http://" + x.AdminAddress()); err != nil {
			return nil, err
		}
		if found["pingpost_auction_candidates_total"]["outcome"]["won"] && found["pingpost_auctions_total"]["reason"]["no_state_match"] {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no auction was won in time: %v", found["pingpost_auction_candidates_total"])
}

var insecureClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is not tested
}}

func send(base, campaign string) error {
	lead := fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","phone":"2125550123","email":"ann@example.com","state":"CA"}`, campaign)
	req, err := http.NewRequest(http.MethodPost, base+"/api/v1/ingest", strings.NewReader(lead))
	if err != nil {
		return err
	}
	req.Header = http.Header{"X-Api-Key": {apiKey}, "Content-Type": {"application/json"}}
	answer, err := insecureClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusTooManyRequests {
		return fmt.Errorf("%d %s, %w", answer.StatusCode, text, err)
	}
	return nil
}

// scrape reads the metrics like Prometheus.
func scrape(admin string) (series, error) {
	answer, err := insecureClient.Get(admin + "/metrics")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	found, reader := series{}, parser.NewParser(parser.Options{})
	for line := range strings.Lines(string(text)) {
		sample := strings.TrimSpace(line)
		end := strings.LastIndexByte(sample, ' ')
		if end < 0 {
			return nil, fmt.Errorf("this line is no sample: %q", line)
		}
		one, err := reader.ParseMetric(sample[:end])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		found.add(one)
	}
	return found, nil
}

func (s series) add(one labels.Labels) {
	name := one.Get(nameLabel)
	if s[name] == nil {
		s[name] = map[string]map[string]bool{}
	}
	one.Range(func(l labels.Label) {
		if l.Name == nameLabel {
			return
		}
		if s[name][l.Name] == nil {
			s[name][l.Name] = map[string]bool{}
		}
		s[name][l.Name][l.Value] = true
	})
}

func writeCertificate(dir string) error {
	certificate, key, err := certtest.SelfSigned(1, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "cert.pem"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "key.pem"), key, 0o600))
}
