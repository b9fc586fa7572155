package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
)

// referenceServer is a reference buyer or a reference webhook receiver. Both are endpoints
// for tests of an exchange.
type referenceServer interface {
	Addr() net.Addr
	Serve(ctx context.Context) error
}

// serveUntilSignal runs a reference server until SIGINT or SIGTERM, and then prints its
// statistics as JSON. kind names the server in messages. With quiet it prints no output.
func serveUntilSignal[S any](kind string, r referenceServer, quiet bool, stats func() S) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !quiet {
		fmt.Printf("reference %s on http://%s\n", kind, r.Addr())
	}
	if err := r.Serve(ctx); err != nil {
		return fmt.Errorf("reference %s: %w", kind, err)
	}
	if quiet {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(stats())
}
