package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

func TestReceiverFlags(t *testing.T) {
	for line, want := range map[string]refreceiver.Options{
		"--secret whsec_AAEC": {Listen: "127.0.0.1:8091", Secret: "whsec_AAEC", Seed: 1},
		"--secret whsec_AAEC --listen 127.0.0.1:0 --seed 7 --fail-rate 0.25 --malformed-rate 0.125 --latency 20ms": {
			Listen: "127.0.0.1:0", Secret: "whsec_AAEC", Seed: 7, FailRate: 0.25, MalformedRate: 0.125, Latency: refbuyer.Uniform{Min: 20 * time.Millisecond, Max: 20 * time.Millisecond},
		},
	} {
		t.Run(line, func(t *testing.T) {
			c := must.Value(parseLine(t, "receiver "+line))(t)
			if got, err := c.Receiver.parseOptions(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %+v %v\nwant %+v", got, err, want)
			}
		})
	}
	if _, err := parseLine(t, "receiver"); err == nil || !strings.Contains(err.Error(), "--secret") {
		t.Errorf("without a secret: %v", err)
	}
	c := must.Value(parseLine(t, "receiver --secret whsec_AAEC --latency fast"))(t)
	if _, err := c.Receiver.parseOptions(); err == nil || !strings.Contains(err.Error(), "latency") {
		t.Errorf("an invalid latency: %v", err)
	}
	t.Setenv("PINGPOST_WEBHOOK_SECRET", "whsec_AAEC")
	if c, err := parseLine(t, "receiver"); err != nil || c.Receiver.Secret != "whsec_AAEC" {
		t.Errorf("from the environment: %q %v", c.Receiver.Secret, err)
	}
}
