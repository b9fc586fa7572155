package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// viewers have the dashboard open: each listens to the overview, as its first page does,
// and asks for a report again and again.
type viewers struct {
	number int
	every  time.Duration // before each of one's questions
}

// viewed is what they got.
type viewed struct{ events, reports atomic.Int64 }

// watch has them look on until it is stopped. The error is what one of them met.
func (v viewers) watch(ctx context.Context, p *process) (stop func() (*viewed, error)) {
	ctx, cancel := context.WithCancel(ctx)
	got, errs := new(viewed), make([]error, 2*v.number)
	var all sync.WaitGroup
	for i := range v.number {
		all.Go(func() { errs[2*i] = p.listen(ctx, &got.events) })
		all.Go(func() { errs[2*i+1] = v.ask(ctx, p, &got.reports) })
	}
	return func() (*viewed, error) {
		cancel()
		all.Wait()
		return got, errors.Join(errs...)
	}
}

// ask asks for today's report, by the hour and the buyer. Errors before the first answer
// are passed over: the report of a new exchange is still being built.
func (v viewers) ask(ctx context.Context, p *process, answers *atomic.Int64) error {
	for seen := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(v.every):
		}
		err := p.fetch(ctx, "/admin/v1/report?by=hour,buyer", io.Discard)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		switch {
		case err == nil:
			answers.Add(1)
			seen = true
		case seen:
			return err
		}
	}
}

// listen counts the overviews that come.
func (p *process) listen(ctx context.Context, events *atomic.Int64) error {
	err := p.fetch(ctx, "/admin/v1/live", overviews{events})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end
	}
	return errors.Join(errors.New("the overview ended while it was watched"), err)
}

// overviews counts events as they are written to it. One that comes in two pieces may go
// uncounted: what matters is that there are some.
type overviews struct{ n *atomic.Int64 }

func (o overviews) Write(text []byte) (int, error) {
	o.n.Add(int64(bytes.Count(text, []byte("event: overview"))))
	return len(text), nil
}
