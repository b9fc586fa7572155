package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
)

// referenceBuyerOrReceiver is a reference buyer or a reference webhook receiver. Both are endpoints
// for tests of an exchange.
type referenceBuyerOrReceiver interface {
	Addr() net.Addr
	Serve(ctx context.Context) error
}

// serveAndPrintStats prints a reference server's address, and runs the server until the context ends.
// Then it prints the statistics as JSON, except after an error. serverName names the server in
// messages. With quiet it prints no output.
func serveAndPrintStats[S any](ctx context.Context, serverName string, server referenceBuyerOrReceiver, quiet bool, collectStats func() S) error {
	if !quiet {
		fmt.Printf("reference %s on http://%s\n", serverName, server.Addr())
	}
	if err := server.Serve(ctx); err != nil {
		return fmt.Errorf("reference %s: %w", serverName, err)
	}
	if quiet {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(collectStats())
}
