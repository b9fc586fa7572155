package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// demoExchange is the exchange of the demonstration, running.
type demoExchange struct {
	public, private string // addresses
	set             *demoSet
	log             string
}

// move starts the buyers and then the exchange, and returns once it is ready.
func (h *household) move(ctx context.Context, set *demoSet) (*demoExchange, error) {
	for _, b := range set.buyers {
		if b.args == nil {
			continue
		}
		if err := h.buyer(ctx, b, set.token); err != nil {
			return nil, err
		}
	}
	document, err := demoConfig(set)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(h.dir, "exchange.yaml")
	err = errors.Join(
		os.WriteFile(path, document, 0o600),
		os.WriteFile(filepath.Join(h.dir, "dnc.txt"), set.suppressed, 0o600))
	if err != nil {
		return nil, fmt.Errorf("cannot write the configuration: %w", err)
	}
	exchange, err := h.start("exchange", nil, "serve", "--config", path, "--log-format", "json")
	if err != nil {
		return nil, err
	}
	text, err := exchange.says(ctx, `"msg":"serving"`)
	if err != nil {
		return nil, err
	}
	var serving struct{ Listen, Admin string }
	if err := json.Unmarshal([]byte(text), &serving); err != nil {
		return nil, fmt.Errorf("cannot read where the exchange serves: %w", err)
	}
	x := &demoExchange{public: "http://" + serving.Listen, private: "http://" + serving.Admin, set: set, log: exchange.log}
	if err := x.ready(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// buyer starts a buyer's process on a free port.
func (h *household) buyer(ctx context.Context, b *demoBuyer, token string) error {
	args := append([]string{"buyer", "--listen", "127.0.0.1:0", "--bid", b.Price.String()}, b.args...)
	process, err := h.start(b.ID, []string{"PINGPOST_BUYER_TOKEN=" + token}, args...)
	if err != nil {
		return err
	}
	const greeting = "reference buyer on "
	text, err := process.says(ctx, greeting)
	b.URL = strings.TrimSpace(strings.TrimPrefix(text, greeting))
	return err
}

// ready waits until the exchange takes leads.
func (x *demoExchange) ready(ctx context.Context) error {
	for limit := time.Now().Add(patience); ; {
		_, err := x.get(ctx, x.private+"/readyz")
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(limit) {
			return fmt.Errorf("the exchange is not ready: %w", err)
		}
		if !pauseUntil(ctx, time.Now().Add(20*time.Millisecond)) {
			return ctx.Err()
		}
	}
}

// get asks any of the processes.
func (x *demoExchange) get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth("operator", x.set.password)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, res.Status, body)
	}
	return body, err
}

// ask gets JSON.
func (x *demoExchange) ask(ctx context.Context, url string, into any) error {
	body, err := x.get(ctx, url)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s answers what is not understood: %w", url, err)
	}
	return nil
}

// where says what runs and where.
func (x *demoExchange) where(dir string) string {
	t := table{indent: "  "}
	t.row("exchange", x.public, "log in "+filepath.Base(x.log))
	t.row("operators", x.private)
	for _, b := range x.set.buyers {
		if b.args != nil {
			t.row(b.ID, b.URL, strings.ReplaceAll(strings.Join(b.args, " "), "--", ""))
		}
	}
	return "  " + dir + "\n" + t.String()
}

// invitation is what to try next.
func (x *demoExchange) invitation() string {
	return fmt.Sprintf(`
Everything runs on. Send a lead yourself:

  curl -s %s/api/v1/ingest -H 'x-api-key: %s' \
    -H 'Content-Type: application/json' -d '{
    "flo_campaign_id": "cmp_auto", "flo_supplier_id": "%s",
    "first_name": "Ada", "last_name": "Moore", "email": "ada@example.com",
    "phone": "212-555-0199", "state": "NY", "vehicle_count": 2}'

Operators (any user name, password %s):

  curl -s -u op:%[4]s %s/admin/v1/deliveries
  curl -s %[5]s/metrics

Ctrl-C stops it.
`, x.public, x.set.apiKey, demoSupplier, x.set.password, x.private)
}
