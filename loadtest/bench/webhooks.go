package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
)

// These are the rate of the leads that arrive while webhooks are sent, and the time within
// which all responsive endpoints must receive their webhooks.
const (
	webhooksLeadRate = 1000
	webhooksGoal     = 10 * time.Second
)

// webhooksRun is one run: leads alone, and leads while webhooks of every endpoint are
// due.
type webhooksRun struct {
	alone, during child.LoadResult
	took          time.Duration // until all endpoints but the unresponsive one received their webhooks
	missing       int           // webhooks not received in time
}

// webhooks compares ingest with and without concurrent webhooks. Webhooks are off while
// the first leads are sold. Then all are resent, so that all are due at the same time.
func (b *bench) webhooks() ([]row, error) {
	endpoints, err := b.startWebhookEndpoints(b.size.endpoints)
	if err != nil {
		return nil, err
	}
	exchange, err := b.startExchange("hooks", webhookCatalog(endpoints.Webhooks))
	if err != nil {
		return nil, err
	}
	runs, err := runEachRepetition(b, func() (webhooksRun, error) { return b.runWebhooks(exchange, endpoints) })
	if err != nil {
		return nil, err
	}
	return b.webhooksRows(runs), nil
}

func (b *bench) runWebhooks(s *ingestTarget, endpoints *process) (r webhooksRun, err error) {
	if err := b.queueWebhooks(s, endpoints); err != nil {
		return r, err
	}
	if r.alone, err = b.sendLeads(s); err != nil {
		return r, err
	}
	before, err := b.acknowledged(endpoints)
	if err != nil {
		return r, err
	}
	served := make(chan error, 1)
	go func() {
		time.Sleep(b.size.warmup)
		served <- b.sendWebhooks(s, endpoints, before, &r)
	}()
	r.during, err = b.sendLeads(s)
	if late := <-served; err == nil {
		err = late
	}
	return r, err
}

// queueWebhooks sells leads of each supplier while its webhooks are off.
func (b *bench) queueWebhooks(s *ingestTarget, endpoints *process) error {
	for i := range endpoints.Webhooks {
		if err := b.commandWebhooks(s, webhookSupplier(i), "off"); err != nil {
			return err
		}
	}
	line := load.NewConn(s.Listen)
	defer line.Close()
	for i := range endpoints.Webhooks {
		supplier := load.NewSupplier(load.Ingest{
			Leads: load.Leads{Supplier: webhookSupplier(i), Campaigns: s.campaigns}, Host: s.Listen, Key: webhookSupplier(i) + apiKey,
		})
		for range b.size.webhooksEach {
			supplier.Handle(line, load.Arrival{Number: *s.next, Due: time.Now()})
			*s.next++
		}
		if err := supplier.Err(); err != nil {
			return err
		}
	}
	return nil
}

// sendWebhooks makes all webhooks due and waits until the responsive endpoints received
// them.
func (b *bench) sendWebhooks(s *ingestTarget, endpoints *process, before int, r *webhooksRun) error {
	for i := range endpoints.Webhooks {
		if err := b.commandWebhooks(s, webhookSupplier(i), "on"); err != nil {
			return err
		}
	}
	began := time.Now()
	for i := range endpoints.Webhooks {
		if err := b.commandWebhooks(s, webhookSupplier(i), "resend"); err != nil {
			return err
		}
	}
	due := before + (len(endpoints.Webhooks)-1)*b.size.webhooksEach
	for {
		now, err := b.acknowledged(endpoints)
		if err != nil {
			return err
		}
		r.took, r.missing = time.Since(began), due-now
		if now >= due || r.took > 3*webhooksGoal {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// sendLeads sends leads of the supplier without a webhook.
func (b *bench) sendLeads(s *ingestTarget) (child.LoadResult, error) {
	return b.sendAtRate(s, webhooksLeadRate, b.size.warmup, b.size.duration)
}

// commandWebhooks sends an admin command for a supplier's webhooks.
func (b *bench) commandWebhooks(s *ingestTarget, supplier, verb string) error {
	return s.callAdmin(b.ctx, http.MethodPost, "/admin/v1/webhooks/"+supplier+"/"+verb, "", io.Discard)
}

func webhookSupplier(i int) string { return fmt.Sprintf("sup_%05d", i) }

// webhookCatalog returns a small catalog with a supplier for each endpoint and one
// supplier without a webhook.
func webhookCatalog(endpoints []string) *document {
	d := catalogWithCampaigns(10)
	d.Trusted = []string{"127.0.0.0/8"}
	for i, addr := range endpoints {
		d.Suppliers = append(d.Suppliers, object{
			"id": webhookSupplier(i), "api_key": webhookSupplier(i) + apiKey, "ingest_rate": unlimitedRate,
			"webhook": object{"url": "http://" + addr + "/hooks", "secret": "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of no value at all"))},
		})
	}
	return d
}

func (b *bench) webhooksRows(runs []webhooksRun) []row {
	beside := collect(runs, func(r *webhooksRun) float64 { return float64(r.during.Latency.P99) / 1e6 })
	alone := collect(runs, func(r *webhooksRun) float64 { return float64(r.alone.Latency.P99) / 1e6 })
	served := collect(runs, func(r *webhooksRun) float64 { return r.took.Seconds() })
	late := 0
	for i := range runs {
		late += runs[i].missing
	}
	what := fmt.Sprintf("%d webhooks due at once to %d endpoints, one of them silent: ", b.size.endpoints*b.size.webhooksEach, b.size.endpoints)
	first := row{
		label: what + "until the others have heard all", measured: fmt.Sprintf("%.2f s", served.median()),
		rangeText: served.rangeText("%.2f"), goal: "10 s", verdict: atMost(served.median(), webhooksGoal.Seconds(), webhooksGoal.Seconds()),
	}
	if late > 0 {
		first.measured += fmt.Sprintf("; %d were never acknowledged", late)
		first.verdict = missed
	}
	label := what + fmt.Sprintf("p99 of %d leads/s meanwhile, over that without", webhooksLeadRate)
	return []row{first, timesRow(label, beside, alone, "%.2f and %.2f ms").withGoal("at most 1.2 times", 1.2, 1.2)}
}

func (b *bench) startWebhookEndpoints(endpoints int) (*process, error) {
	return b.startChild(b.cores.client, "role-webhooks", child.WebhookSpec{Endpoints: endpoints})
}

// acknowledged returns the number of webhooks that the endpoints acknowledged.
func (b *bench) acknowledged(endpoints *process) (n int, err error) {
	err = refbuyer.FetchJSON(b.ctx, "http://"+endpoints.Listen+"/", func(d *json.Decoder) error { return d.Decode(&n) })
	return n, err
}
