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
	"pingpost/wal"
)

// seller is a server with the leads that are sent to it.
type seller struct {
	*process
	data      string   // its data directory
	campaigns []string // that get the leads
	next      *uint64  // number of the next lead
}

// startPatience covers the import of a suppression list of ten million.
const startPatience = 5 * time.Minute

// startExchange starts the real program under a document, with further variables
// in its environment, in a folder of the bench, which may have been used before.
func (b *bench) startExchange(name string, d *document, env ...string) (*seller, error) {
	program, err := b.build()
	if err != nil {
		return nil, err
	}
	dir, err := b.folder(name)
	if err != nil {
		return nil, err
	}
	d.DataDir = filepath.Join(dir, "data")
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "exchange.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, program, "serve", "--config", config, "--log-format", "json")
	cmd.Env = append(append(os.Environ(), collector), env...)
	p, err := startServer(cmd, b.cores.servers, nil, startPatience)
	if err != nil {
		return nil, err
	}
	return &seller{process: p, data: d.DataDir, campaigns: d.names(""), next: new(uint64)}, nil
}

// to is the same server, with leads for some of its campaigns only.
func (s *seller) to(campaigns []string) *seller {
	other := *s
	other.campaigns = campaigns
	return &other
}

// send runs the client against one server, which goes on for as long as that
// takes, and is halted otherwise.
func (b *bench) send(s *seller, connections int, warmup, lasting time.Duration) (r clientResult, err error) {
	if err := proceed(s.cmd.Process); err != nil {
		return r, fmt.Errorf("the server is gone: %w", err)
	}
	before, _ := s.ticks() // where there is no /proc, no time is told
	err = child(b.ctx, b.cores.client, nil, "role-client", clientSpec{
		Addr: s.Listen, Connections: connections, Warmup: warmup, Lasting: lasting, From: *s.next,
		Supplier: supplierID, APIKey: apiKey, Campaigns: s.campaigns,
	}, &r)
	after, _ := s.ticks()
	r.ServerTime = (time.Duration(after-before) * tick).Seconds()
	if err == nil && r.Trouble != "" {
		err = errors.New(r.Trouble)
	}
	if err == nil && r.Done == 0 {
		err = errors.New("nothing was answered in the measured time")
	}
	*s.next = r.Next
	return r, errors.Join(err, halt(s.cmd.Process))
}

// perLead is the server's processor time for a lead, in seconds.
func (r *clientResult) perLead() float64 { return r.ServerTime / float64(max(1, r.Sent)) }

// averageEntry is how many bytes an entry of a kind has in a log.
func averageEntry(dir string, kind event.Kind) (int, error) {
	bytes, _, err := averageFrom(dir, kind, 0)
	return bytes, err
}

// averageFrom is averageEntry from an entry on, and tells which comes next.
func averageFrom(dir string, kind event.Kind, from uint64) (average int, next uint64, err error) {
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
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return 0, 0, err
		}
		if fact.Kind() == kind {
			entries++
			bytes += len(entry.Data)
		}
	}
	if entries == 0 {
		return 0, 0, fmt.Errorf("no entry of the kind %s has reached the log", kind)
	}
	return bytes / entries, next, nil
}
