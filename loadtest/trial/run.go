package trial

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Options of a run.
type Options struct {
	Seed  uint64
	Sleep func(time.Duration) // between arrivals; load.Nap by default
	// Progress is told how it goes, once a second.
	Progress func(Now)
	// Settling is how long to wait for deliveries that are under way when the last
	// request was answered; 60 s by default.
	Settling time.Duration
}

const defaultSettling = time.Minute

// Run carries a scenario out. The error says that it could not be done; that limits
// were not held is in the result. When the context ends no more requests are begun,
// and the result is of those that were.
func Run(ctx context.Context, s *scenario.Scenario, target *Target, opt Options) (*Result, error) {
	if opt.Sleep == nil {
		opt.Sleep = load.Nap
	}
	if opt.Settling == 0 {
		opt.Settling = defaultSettling
	}
	books, err := openBooks(ctx, target)
	if err != nil {
		return nil, err
	}
	w := newWatch(target)
	if err := w.look(ctx, 0); err != nil {
		return nil, err
	}
	l := &loop{scenario: s, target: target, opt: opt, record: newRecord(), watch: w}
	passed := l.run(ctx)
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	w.settle(ctx, opt.Settling)
	silent := w.look(ctx, l.end)
	account := books.close(ctx, l.record, w, webhooksOf(s))
	if silent != nil {
		account.wrong("the exchange does not give its figures: %v", silent)
	}
	result := sumUp(s, l, passed, account)
	result.Interrupted = interrupted
	result.Limits = held(s, result, l.record.samples)
	return result, nil
}

// loop is a run while requests come.
type loop struct {
	scenario *scenario.Scenario
	target   *Target
	opt      Options
	record   *record
	watch    *watch
	began    time.Time
	end      time.Duration // when the last answer came
	underWay atomic.Int64
}

func (l *loop) run(ctx context.Context) load.Passed {
	s, t := l.scenario, l.target
	mix := newMix(s, l.opt.Seed)
	leads := load.Leads{Supplier: t.Supplier, Campaigns: t.Campaigns}
	first := rand.New(rand.NewPCG(l.opt.Seed, 1)).Uint64N(load.MaxLeads)
	open := load.Open{
		Addr: t.Addr, Lines: s.InFlight, Calendar: calendar(s, l.opt.Seed), From: first, Sleep: l.opt.Sleep, Stop: ctx.Done(),
		Visit: func(int) func(*load.Line, load.Arrival) {
			v := &visitor{
				mix: mix, record: l.record, underWay: &l.underWay,
				ingest:   load.Ingest{Leads: leads, Host: t.Addr, Key: t.APIKey},
				auctions: load.Auctions{Leads: leads, Host: t.Addr, Token: t.Token, Vertical: t.Vertical},
			}
			return v.visit
		},
		Begun: func(at time.Time) { l.began = at; l.record.begin(at) },
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(watched)
		l.follow(ctx, start, ended)
	}()
	passed := open.Run()
	l.end = time.Since(l.began)
	close(ended)
	<-watched
	return passed
}

// follow tells of the progress and asks the exchange for its figures, once a second.
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
			now := l.record.now(time.Since(last))
			last = time.Now()
			now.After, now.Of, now.UnderWay = after, l.scenario.Lasting(), l.underWay.Load()
			now.Phase = phaseAt(l.scenario, after)
			l.opt.Progress(now)
		}
		asking, enough := context.WithTimeout(ctx, 2*time.Second)
		_ = l.watch.look(asking, after) // one that fails is a second without figures
		enough()
	}
}

// phaseAt is the name of the phase at a time.
func phaseAt(s *scenario.Scenario, after time.Duration) string {
	for _, p := range s.Phases {
		if after -= p.For; after < 0 {
			return p.Name
		}
	}
	return "the last answers"
}

// calendar is when everybody comes: part 0 are the warm-ups, and each other phase is
// the part after its index.
func calendar(s *scenario.Scenario, seed uint64) (slots []load.Slot) {
	var begin time.Duration
	for i, p := range s.Phases {
		arrivals := load.Every(p.Rate)
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
