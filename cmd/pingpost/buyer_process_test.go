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

// TestBuyerProcess: it says where it is, bids, and gives its account when it is
// told to go.
func TestBuyerProcess(t *testing.T) {
	process := start(t, "buyer", "--listen", "127.0.0.1:0", "--bid", "8-20", "--states", "CA")
	base := process.hears(`^reference buyer on (http://\S+)\n`)[1]
	for _, state := range []string{"CA", "TX"} {
		status, text := request(t, http.MethodPost, base+"/v1/ping", `{"auction_id":"a","vertical":"auto","tcpa_consent":true,"state":"`+state+`"}`, "Idempotency-Key", "key_"+state)
		if status != http.StatusOK || strings.Contains(text, `"bid":null`) != (state == "TX") {
			t.Errorf("%s: %d %s", state, status, text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	process.signal(syscall.SIGTERM)
	code := process.ends()
	_, account, _ := strings.Cut(process.said(), "\n")
	var stats refbuyer.Stats
	if err := json.Unmarshal([]byte(account), &stats); code != 0 || err != nil || stats.Pings != 2 || stats.Bids != 1 || stats.NoBids != 1 {
		t.Errorf("exit %d, its account: %s %v", code, account, err)
	}
}

// TestBuyerQuiet: with --quiet it prints nothing at all, and a mistake ends it
// at once.
func TestBuyerQuiet(t *testing.T) {
	mustFail(t, "rate", "buyer", "--listen", "127.0.0.1:0", "--quiet", "--rate=-1")
}
