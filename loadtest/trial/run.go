package trial

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Options are the options of a run.
type Options struct {
	Seed  uint64
	Sleep func(time.Duration) // between arrivals; default load.Sleep
	// Progress is called once a second.
	Progress func(Progress)
	// Settling is the longest wait for open deliveries after the last answer; default 60
	// s.
	Settling time.Duration
}

const defaultSettling = time.Minute

// Run runs a scenario. The error means that the test could not run; failed limits are in
// the result. When the context ends, no more requests start, and the result covers those
// that started.
func Run(ctx context.Context, s *scenario.Scenario, target *Target, opt Options) (*Result, error) {
	if opt.Sleep == nil {
		opt.Sleep = load.Sleep
	}
	if opt.Settling == 0 {
		opt.Settling = defaultSettling
	}
	reconciler, err := newReconciler(ctx, target)
	if err != nil {
		return nil, err
	}
	w := newWatch(target)
	if err := w.sample(ctx, 0); err != nil {
		return nil, err
	}
	l := &loop{scenario: s, target: target, opt: opt, record: newRecorder(), watch: w}
	stats := l.run(ctx)
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	w.waitForDeliveries(ctx, opt.Settling)
	metricsErr := w.sample(ctx, l.end)
	account := reconciler.reconcile(ctx, l.record, w, webhooksOf(s))
	if metricsErr != nil {
		account.addMismatch("cannot read the exchange's metrics: %v", metricsErr)
	}
	result := summarize(s, l, stats, account)
	result.Interrupted = interrupted
	result.Limits = checkLimits(s, result, l.record.samples)
	return result, nil
}

// loop is the running test.
type loop struct {
	scenario *scenario.Scenario
	target   *Target
	opt      Options
	record   *recorder
	watch    *metricsWatch
	began    time.Time
	end      time.Duration // time of the last answer
	underWay atomic.Int64
}

func (l *loop) run(ctx context.Context) load.OpenStats {
	s, t := l.scenario, l.target
	mix := newMix(s, l.opt.Seed)
	leads := load.Leads{Supplier: t.Supplier, Campaigns: t.Campaigns}
	first := rand.New(rand.NewPCG(l.opt.Seed, 1)).Uint64N(load.MaxLeads)
	open := load.OpenLoop{
		Addr: t.Addr, Connections: s.InFlight, Schedule: schedule(s, l.opt.Seed), First: first, Sleep: l.opt.Sleep, Stop: ctx.Done(),
		Handler: func(int) func(*load.Conn, load.Arrival) {
			v := &client{
				mix: mix, record: l.record, underWay: &l.underWay,
				ingest:   load.Ingest{Leads: leads, Host: t.Addr, Key: t.APIKey},
				auctions: load.Auctions{Leads: leads, Host: t.Addr, Token: t.Token, Vertical: t.Vertical},
			}
			return v.handle
		},
		OnStart: func(at time.Time) { l.began = at; l.record.begin(at) },
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(watched)
		l.follow(ctx, start, ended)
	}()
	stats := open.Run()
	l.end = time.Since(l.began)
	close(ended)
	<-watched
	return stats
}

// follow reports progress and samples the exchange's metrics once a second.
func (l *loop) follow(ctx context.Context, start time.Time, ended <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := start
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		after := time.Since(start)
		if l.opt.Progress != nil {
			now := l.record.progress(time.Since(last))
			last = time.Now()
			now.After, now.Of, now.UnderWay = after, l.scenario.Duration(), l.underWay.Load()
			now.Phase = phaseAt(l.scenario, after)
			l.opt.Progress(now)
		}
		asking, enough := context.WithTimeout(ctx, 2*time.Second)
		_ = l.watch.sample(asking, after) // on an error, this second has no metrics
		enough()
	}
}

// phaseAt returns the name of the phase at a time.
func phaseAt(s *scenario.Scenario, after time.Duration) string {
	for _, p := range s.Phases {
		if after -= p.For; after < 0 {
			return p.Name
		}
	}
	return "waiting for the last answers"
}

// schedule returns all arrivals. Part 0 is the warm-up; the part of another phase is its
// index + 1.
func schedule(s *scenario.Scenario, seed uint64) (slots []load.Slot) {
	var begin time.Duration
	for i, p := range s.Phases {
		arrivals := load.Even(p.Rate)
		if p.Arrival == scenario.Poisson {
			arrivals = load.Poisson(p.Rate, seed+uint64(i)<<32)
		}
		part := i + 1
		if p.Warmup {
			part = 0
		}
		for at := arrivals(); at <= p.For; at += arrivals() {
			slots = append(slots, load.Slot{After: begin + at, Part: part})
		}
		begin += p.For
	}
	return slots
}

func webhooksOf(s *scenario.Scenario) time.Duration {
	if s.Webhooks == nil {
		return 0
	}
	return s.Webhooks.Within
}
