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

// reference is a reference buyer or receiver, against which an exchange is tested.
type reference interface {
	Addr() net.Addr
	Serve(ctx context.Context) error
}

// serveReference serves until SIGINT or SIGTERM, and then prints its statistics. With
// quiet it prints no output.
func serveReference[S any](what string, r reference, quiet bool, stats func() S) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !quiet {
		fmt.Printf("reference %s on http://%s\n", what, r.Addr())
	}
	if err := r.Serve(ctx); err != nil {
		return fmt.Errorf("reference %s: %w", what, err)
	}
	if quiet {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(stats())
}
