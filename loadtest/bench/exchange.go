package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"pingpost/engine/event"
	"pingpost/loadtest/bench/child"
	"pingpost/wal"
)

// ingestTarget is a server with the leads that it receives.
type ingestTarget struct {
	*process
	data      string   // its data directory
	campaigns []string // campaigns that receive the leads
	next      *uint64  // number of the next lead
}

// startTimeout is long enough for the import of a suppression list of ten million
// numbers.
const startTimeout = 5 * time.Minute

// startExchange starts the real program with a configuration and additional environment
// variables. The folder of that name may exist already.
func (b *bench) startExchange(name string, d *document, env ...string) (*ingestTarget, error) {
	config, err := b.configure(name, d)
	if err != nil {
		return nil, err
	}
	p, err := b.serve(config, b.cores.servers, env...)
	if err != nil {
		return nil, err
	}
	return &ingestTarget{process: p, data: d.DataDir, campaigns: d.campaignIDs(""), next: new(uint64)}, nil
}

// configure writes the configuration of an exchange, with a data directory in the folder of that name. It
// returns the path of the configuration.
func (b *bench) configure(name string, d *document) (config string, err error) {
	dir, err := b.folder(name)
	if err != nil {
		return "", err
	}
	d.DataDir = filepath.Join(dir, "data")
	text, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	config = filepath.Join(dir, "exchange.json")
	return config, os.WriteFile(config, text, 0o600)
}

// serve starts an exchange on some cores.
func (b *bench) serve(config string, list []int, env ...string) (*process, error) {
	program, err := b.build()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, program, "serve", "--config", config, "--log-format", "json")
	cmd.Env = append(os.Environ(), env...)
	return b.startServer(cmd, list, nil, startTimeout)
}

// withCampaigns returns the same server with leads for these campaigns only.
func (s *ingestTarget) withCampaigns(campaigns []string) *ingestTarget {
	other := *s
	other.campaigns = campaigns
	return &other
}

// runLoadClient runs the client against a server. A request that does not end as required is an
// error, except for auctions in an open loop: in a closed loop a refusal is quick and would make
// the server look fast.
func (b *bench) runLoadClient(server *process, spec child.LoadSpec, nextLead *uint64) (r child.LoadResult, err error) {
	r, err = b.runLoadClientWithFailures(server, spec, nextLead)
	switch {
	case err != nil || r.FirstError == "":
	case spec.Rate == 0 || spec.Vertical == "":
		err = errors.New(r.FirstError)
	default:
		b.logf("%d auctions did not end as required; the first: %s", r.FailedRequests(), r.FirstError)
	}
	return r, err
}

// runLoadClientWithFailures runs the client against a server. Only a run in which all requests fail is an
// error.
func (b *bench) runLoadClientWithFailures(server *process, spec child.LoadSpec, nextLead *uint64) (r child.LoadResult, err error) {
	spec.Addr, spec.FirstLead, spec.APIKey = server.Listen, *nextLead, apiKey
	before := server.cpuSeconds()
	err = runChild(b.ctx, b.cores.client, b.clientEnv(), "role-load", spec, &r)
	r.ServerSeconds = server.cpuSeconds() - before
	*nextLead = max(*nextLead, r.NextLead)
	if err == nil && r.Done == 0 {
		err = fmt.Errorf("the server answered no request as required in %s: %s", spec.Duration, r.FirstError)
	}
	return r, err
}

// whileResumed resumes a paused server, calls f, and pauses the server.
func (p *process) whileResumed(f func() error) error {
	if err := resume(p.cmd.Process); err != nil {
		return fmt.Errorf("the server is gone: %w", err)
	}
	return errors.Join(f(), pause(p.cmd.Process))
}

// send resumes a server, sends leads in a closed loop, and pauses the server.
func (b *bench) send(s *ingestTarget, connections int, warmup, duration time.Duration) (r child.LoadResult, err error) {
	err = s.whileResumed(func() (err error) {
		r, err = b.runLoadClient(s.process, child.LoadSpec{Connections: connections, Warmup: warmup, Duration: duration, Campaigns: s.campaigns}, s.next)
		return err
	})
	return r, err
}

// averageRecord returns the average size in bytes of the log records of a kind.
func averageRecord(dir string, kind event.Kind) (int, error) {
	bytes, _, err := averageRecordFrom(dir, kind, 0)
	return bytes, err
}

// averageRecordFrom is averageRecord starting at a record. It also returns the number of
// the next record.
func averageRecordFrom(dir string, kind event.Kind, from uint64) (average int, next uint64, err error) {
	reader, err := wal.NewReader(dir, from)
	if err != nil {
		return 0, 0, err
	}
	defer reader.Close()
	var decoder event.Decoder
	entries, bytes := 0, 0
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
		next = entry.Seq + 1
		record, err := decoder.Decode(entry.Data)
		if err != nil {
			return 0, 0, err
		}
		if record.Kind() == kind {
			entries++
			bytes += len(entry.Data)
		}
	}
	if entries == 0 {
		return 0, 0, fmt.Errorf("the log %s has no record of kind %s", dir, kind)
	}
	return bytes / entries, next, nil
}

// sendAtRate sends leads to an exchange as a Poisson process.
func (b *bench) sendAtRate(s *ingestTarget, rate float64, warmup, duration time.Duration) (child.LoadResult, error) {
	return b.runLoadClient(s.process, child.LoadSpec{
		Connections: auctionConnections, Rate: rate, Warmup: warmup, Duration: duration, Campaigns: s.campaigns,
	}, s.next)
}
