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
	"strconv"
	"strings"
	"time"
)

// demoExchange is the exchange of the demonstration, running.
type demoExchange struct {
	public, private string // addresses
	sandbox         string // address of that tenant
	set             *demoSet
	log             string
}

// move starts the buyers and then the exchange, and returns once it is ready.
func (h *household) move(ctx context.Context, set *demoSet) (*demoExchange, error) {
	for i, b := range set.buyers {
		if b.args == nil {
			continue
		}
		if err := h.buyer(ctx, b, set.token, i+1); err != nil {
			return nil, err
		}
	}
	if err := h.receiver(ctx, set); err != nil {
		return nil, err
	}
	document, err := demoConfig(set)
	if err != nil {
		return nil, err
	}
	sandbox, err := demoSandbox(set)
	if err != nil {
		return nil, err
	}
	path, beside := filepath.Join(h.dir, "exchange.yaml"), filepath.Join(h.dir, "sandbox.yaml")
	err = errors.Join(
		os.WriteFile(path, document, 0o600),
		os.WriteFile(beside, sandbox, 0o600),
		os.WriteFile(filepath.Join(h.dir, "dnc.txt"), set.suppressed, 0o600))
	if err != nil {
		return nil, fmt.Errorf("cannot write the configuration: %w", err)
	}
	exchange, err := h.start("exchange", nil, "serve", "--config", path, "--config", beside, "--log-format", "json")
	if err != nil {
		return nil, err
	}
	x := &demoExchange{set: set, log: exchange.log}
	if x.public, x.private, err = exchange.serves(ctx, "demo"); err != nil {
		return nil, err
	}
	if x.sandbox, _, err = exchange.serves(ctx, "sandbox"); err != nil {
		return nil, err
	}
	if err := x.ready(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// serves waits until the exchange says where it serves a tenant.
func (c *child) serves(ctx context.Context, tenant string) (public, private string, err error) {
	text, err := c.says(ctx, `"msg":"serving","tenant":"`+tenant+`"`)
	if err != nil {
		return "", "", err
	}
	var serving struct{ Listen, Admin string }
	if err := json.Unmarshal([]byte(text), &serving); err != nil {
		return "", "", fmt.Errorf("cannot read where the exchange serves: %w", err)
	}
	return "http://" + serving.Listen, "http://" + serving.Admin, nil
}

// buyer starts a buyer's process on a free port. Each has a seed of its own, or
// all would have their bad moments in the same auctions.
func (h *household) buyer(ctx context.Context, b *demoBuyer, token string, seed int) error {
	args := []string{"buyer", "--listen", "127.0.0.1:0", "--seed", strconv.Itoa(seed)}
	if !b.bids() {
		args = append(args, "--bid", b.Price.String())
	}
	args = append(args, b.flags()...)
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
	t.row("exchange", bare(x.public), "log in "+filepath.Base(x.log))
	t.row("operators", bare(x.private))
	t.row("sandbox", bare(x.sandbox))
	t.row("webhooks", bare(x.set.hooks), "of the supplier")
	for _, b := range x.set.buyers {
		if b.args != nil {
			t.row(b.ID, bare(b.URL), strings.ReplaceAll(strings.Join(b.flags(), " "), "--", ""))
		}
	}
	return "  " + dir + "\n" + t.String()
}

func bare(url string) string { return strings.TrimPrefix(url, "http://") }

// invitation is what to try next. No lead of ours has such a phone number, nor
// the suppression list. sold is the id of a lead, if there is one.
func (x *demoExchange) invitation(sold string) string {
	return fmt.Sprintf(`
Everything runs on. Send a lead yourself:

  curl -s %[1]s/api/v1/ingest -H 'x-api-key: %[2]s' \
    -H 'Content-Type: application/json' -d '{
    "flo_campaign_id": "cmp_auto", "flo_supplier_id": "%[3]s",
    "first_name": "Ada", "last_name": "Moore", "email": "ada@example.com",
    "phone": "907-555-0199", "state": "NY", "vehicle_count": 2}'

Or ask for a bid, and post the lead to whoever makes it:

  export PINGPOST_CLIENT_ID=%[6]s PINGPOST_CLIENT_SECRET=%[7]s
  %[9]s ping --url %[1]s \
    vertical=%[8]s state=CA zip3=941 tcpa_consent=true |
  %[9]s post --url %[1]s - \
    lead.first_name=Ann lead.last_name=Lee lead.email=ann@example.com \
    lead.phone=9075550132 lead.address.zip=94105
%[11]s
Operators (any user name, password %[4]s):

  export PINGPOST_ADMIN_PASSWORD=%[4]s
  %[9]s explain --admin %[5]s %[10]s
  %[9]s statement --admin %[5]s --supplier %[3]s
  curl -s -u op:%[4]s %[5]s/admin/v1/deliveries
  curl -s -u op:%[4]s %[5]s/admin/v1/webhooks
  curl -s %[5]s/metrics

Ctrl-C stops it.
`, x.public, x.set.apiKey, demoSupplier, x.set.password, x.private, demoClient, x.set.secret, demoVertical, os.Args[0], sold, x.sandboxInvitation())
}
