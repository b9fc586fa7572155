package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pingpost/cmd/pingpost/client"
	"pingpost/internal/timer"
)

type healthCmd struct {
	client.TrustedCAFlag
	Admin []string      `default:"http://127.0.0.1:9090" help:"The exchange's admin address (${default}). Repeat the flag for each further tenant." placeholder:"URL"`
	Wait  time.Duration `help:"How long to wait until the exchange is ready. Without this flag, the command asks once." placeholder:"DURATION"`
}

// Help returns the text that --help shows after the usage line.
func (healthCmd) Help() string {
	return `Asks /readyz, which needs no password. The exit code is 0 if the exchange accepts
requests, and 1 if it is starting, stopping or cannot be reached.`
}

const (
	healthTimeout = 5 * time.Second // for one answer
	healthPause   = 50 * time.Millisecond
)

// Run asks every exchange of --admin whether it is ready, one after another.
func (c *healthCmd) Run() error {
	transport, err := c.NewTransport()
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport, Timeout: healthTimeout}
	until := time.Now().Add(c.Wait)
	for _, admin := range c.Admin {
		if err := waitUntilReady(context.Background(), client, admin, until); err != nil {
			return err
		}
		fmt.Println(admin + " is ready")
	}
	return nil
}

// waitUntilReady asks an exchange, at least once, until it is ready, the deadline has passed or the
// context has ended. It returns the last error.
func waitUntilReady(ctx context.Context, client *http.Client, adminURL string, deadline time.Time) error {
	if !strings.HasPrefix(adminURL, "http://") && !strings.HasPrefix(adminURL, "https://") {
		return fmt.Errorf("--admin %q is not an address; begin it with http:// or https://", adminURL)
	}
	for {
		err := checkReady(client, adminURL)
		if err == nil || !time.Now().Before(deadline) || !timer.WaitUntil(ctx, time.Now().Add(healthPause)) {
			return err
		}
	}
}

// checkReady returns an error if the exchange does not accept requests now.
func checkReady(client *http.Client, adminURL string) error {
	answer, err := client.Get(adminURL + "/readyz")
	if err != nil {
		return fmt.Errorf("cannot reach the exchange; is it running, and is --admin its admin address? %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", adminURL, err)
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(adminURL + " is not ready: " + answer.Status + ": " + strings.TrimSpace(string(text)))
	}
	return nil
}
