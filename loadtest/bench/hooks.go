package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"time"

	"pingpost/loadtest/load"
)

// Leads that come while webhooks go out: how many a second, and how long all the
// endpoints that answer may take to hear what they are owed.
const (
	hooksLeads    = 1000
	hooksPatience = 10 * time.Second
)

// hooksRun is one run: leads alone, and leads while every endpoint is owed its events
// at once.
type hooksRun struct {
	alone, beside supplyResult
	served        time.Duration // until all but the silent one had heard everything
	late          int           // events not heard when patience ended
}

// hooks compares what leads take while webhooks go out with what they take without.
// So that all events are due at one instant, the endpoints are switched off while
// their leads are sold, and then everything is sent that was not.
func (b *bench) hooks() ([]row, error) {
	endpoints, err := b.startHooked(b.size.endpoints)
	if err != nil {
		return nil, err
	}
	defer endpoints.end()
	exchange, err := b.startExchange("hooks", hookedCatalog(endpoints.Hooked))
	if err != nil {
		return nil, err
	}
	defer exchange.end()
	runs := make([]hooksRun, b.size.runs)
	for i := range runs {
		err := b.guard.measure([]*process{exchange.process, endpoints}, func() error {
			runs[i], err = b.hooksOnce(exchange, endpoints)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return b.hooksRows(runs), nil
}

func (b *bench) hooksOnce(s *seller, endpoints *process) (r hooksRun, err error) {
	if err := b.owe(s, endpoints); err != nil {
		return r, err
	}
	if r.alone, err = b.supply(s); err != nil {
		return r, err
	}
	before, err := b.heard(endpoints)
	if err != nil {
		return r, err
	}
	served := make(chan error, 1)
	go func() {
		time.Sleep(b.size.warmup)
		served <- b.release(s, endpoints, before, &r)
	}()
	r.beside, err = b.supply(s)
	if late := <-served; err == nil {
		err = late
	}
	return r, err
}

// owe sells each supplier's leads while nobody is told.
func (b *bench) owe(s *seller, endpoints *process) error {
	for i := range endpoints.Hooked {
		if err := b.order(s, hookedSupplier(i), "off"); err != nil {
			return err
		}
	}
	line := load.To(s.Listen)
	defer line.Close()
	for i := range endpoints.Hooked {
		supplier := load.NewSupplier(load.Ingest{
			Leads: load.Leads{Supplier: hookedSupplier(i), Campaigns: s.campaigns}, Host: s.Listen, Key: hookedSupplier(i) + apiKey,
		})
		if err := supplier.Send(line, *s.next, b.size.hooksEach); err != nil {
			return err
		}
		*s.next += uint64(b.size.hooksEach)
	}
	return nil
}

// release makes all events due and waits until the endpoints that answer have heard
// them.
func (b *bench) release(s *seller, endpoints *process, before int, r *hooksRun) error {
	for i := range endpoints.Hooked {
		if err := b.order(s, hookedSupplier(i), "on"); err != nil {
			return err
		}
	}
	began := time.Now()
	for i := range endpoints.Hooked {
		if err := b.order(s, hookedSupplier(i), "resend"); err != nil {
			return err
		}
	}
	due := before + (len(endpoints.Hooked)-1)*b.size.hooksEach
	for {
		now, err := b.heard(endpoints)
		if err != nil {
			return err
		}
		r.served, r.late = time.Since(began), due-now
		if now >= due || r.served > 3*hooksPatience {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// supply sends leads of the supplier that hears nothing.
func (b *bench) supply(s *seller) (supplyResult, error) {
	return b.supplyAt(s, hooksLeads, b.size.warmup, b.size.lasting)
}

// order has an operator's word carried out on a supplier's webhooks.
func (b *bench) order(s *seller, supplier, verb string) error {
	return s.operate(b.ctx, http.MethodPost, "/admin/v1/webhooks/"+supplier+"/"+verb, io.Discard)
}

func hookedSupplier(i int) string { return fmt.Sprintf("sup_%05d", i) }

// hookedCatalog is a small catalog with a supplier for each endpoint, and one that
// hears nothing.
func hookedCatalog(endpoints []string) *document {
	d := catalogOf(10)
	d.Trusted = []string{"127.0.0.0/8"}
	for i, addr := range endpoints {
		d.Suppliers = append(d.Suppliers, object{
			"id": hookedSupplier(i), "api_key": hookedSupplier(i) + apiKey, "ingest_rate": plenty,
			"webhook": object{"url": "http://" + addr + "/hooks", "secret": "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of no value at all"))},
		})
	}
	return d
}

func (b *bench) hooksRows(runs []hooksRun) []row {
	beside := pick(runs, func(r *hooksRun) float64 { return float64(r.beside.Took.P99) / 1e6 })
	alone := pick(runs, func(r *hooksRun) float64 { return float64(r.alone.Took.P99) / 1e6 })
	served := pick(runs, func(r *hooksRun) float64 { return r.served.Seconds() })
	ratio := beside.over(alone)
	late := 0
	for i := range runs {
		late += runs[i].late
	}
	what := fmt.Sprintf("%d webhooks due at once to %d endpoints, one of them silent: ", b.size.endpoints*b.size.hooksEach, b.size.endpoints)
	first := row{
		what: what + "until the others have heard all", measured: fmt.Sprintf("%.2f s", served.median()),
		spread: served.spread("%.2f"), goal: "10 s", verdict: atMost(served.median(), hooksPatience.Seconds(), hooksPatience.Seconds()),
	}
	if late > 0 {
		first.measured += fmt.Sprintf("; %d were never heard", late)
		first.verdict = missed
	}
	return []row{first, {
		what:     what + fmt.Sprintf("p99 of %d leads/s meanwhile, over that without", hooksLeads),
		measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", ratio.median(), beside.median(), alone.median()),
		spread:   ratio.spread("%.2f"), goal: "at most 1.2 times", verdict: atMost(ratio.median(), 1.2, 1.2),
	}}
}
