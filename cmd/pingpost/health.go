package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pingpost/cmd/pingpost/client"
)

type healthCmd struct {
	client.TrustFlags
	Admin []string      `default:"http://127.0.0.1:9090" help:"The exchange's admin address (${default}). Give it again for each further tenant." placeholder:"URL"`
	Wait  time.Duration `help:"How long to wait until it is ready; by default it is asked once." placeholder:"DURATION"`
}

// Help is the long form.
func (healthCmd) Help() string {
	return `Asks /readyz, which needs no password. The exit code is 0 where requests are taken,
and 1 where they are not: the exchange is starting, stopping, or not there.`
}

const (
	healthPatience = 5 * time.Second // for one answer
	healthPause    = 100 * time.Millisecond
)

// Run asks every exchange.
func (c *healthCmd) Run() error {
	way, err := c.Transport()
	if err != nil {
		return err
	}
	client := &http.Client{Transport: way, Timeout: healthPatience}
	until := time.Now().Add(c.Wait)
	for _, admin := range c.Admin {
		if err := becomesReady(client, admin, until); err != nil {
			return err
		}
		fmt.Println(admin + " is ready")
	}
	return nil
}

// becomesReady asks until the exchange is ready or the time is over, and at least once.
func becomesReady(client *http.Client, admin string, until time.Time) error {
	if !strings.HasPrefix(admin, "http://") && !strings.HasPrefix(admin, "https://") {
		return fmt.Errorf("--admin %q is no address: it begins with http:// or https://", admin)
	}
	for {
		err := takesRequests(client, admin)
		if err == nil || !time.Now().Before(until) {
			return err
		}
		time.Sleep(healthPause)
	}
}

func takesRequests(client *http.Client, admin string) error {
	answer, err := client.Get(admin + "/readyz")
	if err != nil {
		return fmt.Errorf("cannot reach the exchange; is it running, and is --admin its admin address? %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", admin, err)
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(admin + " is not ready: " + answer.Status + ": " + strings.TrimSpace(string(text)))
	}
	return nil
}
