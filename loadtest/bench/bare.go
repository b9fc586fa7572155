package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"pingpost/loadtest/ceiling"
	"pingpost/wal"
)

// bareSpec describes the bare server.
type bareSpec struct {
	Dir           string
	Entry, Answer int
}

// serveCeiling is the bare server, with the limits that the exchange has by
// default. It ends when its standard input does.
func serveCeiling(in io.Reader, out io.Writer) error {
	var spec bareSpec
	input := json.NewDecoder(in)
	if err := input.Decode(&spec); err != nil {
		return fmt.Errorf("cannot read the specification: %w", err)
	}
	log, err := wal.Open(spec.Dir, wal.Options{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := ceiling.New(ceiling.Options{
		Log: log, Entry: spec.Entry, Answer: spec.Answer,
		Body: 64 << 10, Header: 16 << 10, Connections: 10_000,
		ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	})
	if err := json.NewEncoder(out).Encode(serving{Listen: listener.Addr().String()}); err != nil {
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
	return log.Close()
}

func startCeiling(ctx context.Context, list []int, spec bareSpec) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "role-ceiling")
	// The exchange gives itself a processor more than it has cores; see its own reasons.
	cmd.Env = append(os.Environ(), roleVariable+"=1", collector, fmt.Sprintf("GOMAXPROCS=%d", len(list)+1))
	return startServer(cmd, list, bytes.TrimSpace(text), time.Minute)
}
