package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

func parseReceiver(t *testing.T, line string) (*webhookReceiverCmd, error) {
	t.Helper()
	var cli commands
	parser, err := kong.New(&cli, kong.Name("pingpost"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(strings.Fields(line))
	return &cli.Receiver, err
}

func TestReceiverFlags(t *testing.T) {
	for line, want := range map[string]refreceiver.Options{
		"--secret whsec_AAEC": {Listen: "127.0.0.1:8091", Secret: "whsec_AAEC", Seed: 1},
		"--secret whsec_AAEC --listen 127.0.0.1:0 --seed 7 --fail-rate 0.25 --malformed-rate 0.125 --latency 20ms": {
			Listen: "127.0.0.1:0", Secret: "whsec_AAEC", Seed: 7, FailRate: 0.25, MalformedRate: 0.125, Latency: refbuyer.Uniform{Min: 20 * time.Millisecond, Max: 20 * time.Millisecond},
		},
	} {
		t.Run(line, func(t *testing.T) {
			c, err := parseReceiver(t, "receiver "+line)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.parseOptions(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %+v %v\nwant %+v", got, err, want)
			}
		})
	}
	if _, err := parseReceiver(t, "receiver"); err == nil || !strings.Contains(err.Error(), "--secret") {
		t.Errorf("without a secret: %v", err)
	}
	c, err := parseReceiver(t, "receiver --secret whsec_AAEC --latency fast")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.parseOptions(); err == nil || !strings.Contains(err.Error(), "latency") {
		t.Errorf("a latency that is none: %v", err)
	}
	t.Setenv("PINGPOST_WEBHOOK_SECRET", "whsec_AAEC")
	if c, err := parseReceiver(t, "receiver"); err != nil || c.Secret != "whsec_AAEC" {
		t.Errorf("from the environment: %q %v", c.Secret, err)
	}
}

// TestReceiverExamples: what the help shows can be run.
func TestReceiverExamples(t *testing.T) {
	examples := 0
	for line := range strings.Lines(new(webhookReceiverCmd).Help()) {
		command, ok := strings.CutPrefix(line, "  pingpost ")
		if !ok {
			continue
		}
		examples++
		c, err := parseReceiver(t, command+" --listen 127.0.0.1:0")
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		o, err := c.parseOptions()
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		r, err := refreceiver.New(o)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if examples < 2 {
		t.Errorf("%d examples", examples)
	}
}
