package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"pingpost/loadtest/ceiling"
	"pingpost/wal"
)

// bareSpec describes a bare server: of auctions where there are buyers, else of
// ingest.
type bareSpec struct {
	Dir           string // of its log; a server of auctions may have none
	Entry, Answer int

	Buyers  []string
	Timeout time.Duration

	Buyer   string // that the leads of an ingest are posted to; empty: none
	Outcome int    // bytes committed for what came of it
}

// bareServer is either.
type bareServer interface {
	Serve(net.Listener) error
	Shutdown() error
}

// serveCeiling is a bare server, with the limits that the exchange has by
// default. It ends when its standard input does.
func serveCeiling(in io.Reader, out io.Writer) error {
	var spec bareSpec
	input := json.NewDecoder(in)
	if err := input.Decode(&spec); err != nil {
		return fmt.Errorf("cannot read the specification: %w", err)
	}
	server, closing, err := spec.open()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	inside, err := listenInside()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(serving{Listen: listener.Addr().String(), Admin: inside}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	_, _ = io.Copy(io.Discard, in) // to its end
	if err := server.Shutdown(); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	return closing()
}

func (s *bareSpec) open() (server bareServer, closing func() error, err error) {
	const (
		body, header, connections = 64 << 10, 16 << 10, 10_000
		patience, idle            = 10 * time.Second, time.Minute
	)
	var log *wal.Log
	closing = func() error { return nil }
	if s.Dir != "" {
		if log, err = wal.Open(s.Dir, wal.Options{}); err != nil {
			return nil, nil, err
		}
		closing = log.Close
	}
	if len(s.Buyers) > 0 {
		return ceiling.NewAuction(&ceiling.AuctionOptions{
			Buyers: s.Buyers, Timeout: s.Timeout, Log: log, Entry: s.Entry,
			Body: body, Header: header, Connections: connections,
			ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: idle,
		}), closing, nil
	}
	return ceiling.New(ceiling.Options{
		Log: log, Entry: s.Entry, Answer: s.Answer, Buyer: s.Buyer, Outcome: s.Outcome,
		Body: body, Header: header, Connections: connections,
		ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: idle,
	}), closing, nil
}

func startCeiling(ctx context.Context, list []int, spec bareSpec) (*process, error) {
	// The exchange gives itself a processor more than it has cores; see its own reasons.
	return startRole(ctx, list, "role-ceiling", spec, fmt.Sprintf("GOMAXPROCS=%d", len(list)+1))
}
