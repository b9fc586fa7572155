//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"pingpost/loadtest/refbuyer"
)

// TestBuyerProcess: the process prints its address, bids, and prints its counts at SIGTERM.
func TestBuyerProcess(t *testing.T) {
	t.Parallel()
	process := startProgram(t, "buyer", "--listen", "127.0.0.1:0", "--bid", "8-20", "--states", "CA")
	base := process.waitForOutput(`^reference buyer on (http://\S+)\n`)[1]
	for _, state := range []string{"CA", "TX"} {
		status, text := request(t, http.MethodPost, base+"/v1/ping", `{"auction_id":"a","vertical":"auto","tcpa_consent":true,"state":"`+state+`"}`, "Idempotency-Key", "key_"+state)
		if status != http.StatusOK || strings.Contains(text, `"bid":null`) != (state == "TX") {
			t.Errorf("ping for %s: %d %s", state, status, text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	process.sendSignal(syscall.SIGTERM)
	code := process.waitForExit()
	_, counts, _ := strings.Cut(process.output(), "\n")
	var stats refbuyer.Stats
	if err := json.Unmarshal([]byte(counts), &stats); code != 0 || err != nil || stats.Pings != 2 || stats.Bids != 1 || stats.NoBids != 1 {
		t.Errorf("exit %d, counts %s: %v", code, counts, err)
	}
}

// TestBuyerQuiet: with --quiet an invalid flag still ends the process with a message.
func TestBuyerQuiet(t *testing.T) {
	t.Parallel()
	mustFail(t, "rate", "buyer", "--listen", "127.0.0.1:0", "--quiet", "--rate=-1")
}
