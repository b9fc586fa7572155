//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// oneBuyer configures an exchange that records leads without delivering them.
const oneBuyer = `{"data_dir": "data", "listen": "127.0.0.1:0", "admin": {"listen": "127.0.0.1:0", "password": "` + witness.AdminPassword + `"},
"suppliers": [{"id": "sup", "api_key": "key-of-the-supplier-01", "ingest_rate": 1000000}],
"buyers": [{"id": "buy"}],
"campaigns": [{"id": "cmp", "method": "waterfall", "duplicates": {"window": "0s"}, "buyers": [{"buyer": "buy", "price": 1}]}]}`

const (
	persons  = 6
	leadsOf  = 60 // for each person
	erasings = 12
)

// sendLeads sends the leads of all persons, in mixed order.
func sendLeads(t *testing.T, x *witness.Exchange) {
	t.Helper()
	address := x.Address()
	for n := range persons * leadsOf {
		body := fmt.Sprintf(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"Lee","phone":"415555%04d","email":"p@example.com","state":"CA"}`, 1000+n%persons)
		req, err := http.NewRequest(http.MethodPost, address+"/api/v1/ingest", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "key-of-the-supplier-01")
		req.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("%d %s %v", response.StatusCode, text, err)
		}
	}
}

// slotsInLog returns the key slots of leads and of erasures in the log's dump.
func slotsInLog(t *testing.T, x *witness.Exchange) (sealed, erased map[uint64]int) {
	t.Helper()
	sealed, erased = map[uint64]int{}, map[uint64]int{}
	for line := range strings.Lines(x.Dump()) {
		var said struct {
			Kind string `json:"kind"`
			Fact struct {
				Slot  uint64   `json:"slot"`
				Slots []uint64 `json:"slots"`
			} `json:"fact"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		switch said.Kind {
		case "lead_decided":
			sealed[said.Fact.Slot]++
		case "leads_erased":
			for _, slot := range said.Fact.Slots {
				erased[slot]++
			}
		}
	}
	return sealed, erased
}

// keysMatch checks that exactly the keys of erased leads are gone from the disk.
func keysMatch(t *testing.T, x *witness.Exchange) (erased int) {
	t.Helper()
	keys, err := os.ReadFile(filepath.Join(x.DataDir(), "keys", "leads", fmt.Sprintf("%020d", 1)))
	if err != nil {
		t.Fatal(err)
	}
	sealed, dropped := slotsInLog(t, x)
	for slot, times := range sealed {
		gone := bytes.Equal(keys[(slot-1)*32:slot*32], make([]byte, 32))
		if times != 1 || slot == 0 || gone != (dropped[slot] > 0) || dropped[slot] > 1 {
			t.Errorf("slot %d has %d leads, was erased %d times, its key is gone: %v", slot, times, dropped[slot], gone)
		}
	}
	if len(sealed) != persons*leadsOf {
		t.Errorf("%d slots for %d leads", len(sealed), persons*leadsOf)
	}
	return len(dropped)
}

// TestKilledWhileErasing kills the exchange at random instants of an erasure. The next start
// must complete it: the keys of exactly the leads that the log erased are gone. Repeating the
// erasure completes the rest.
func TestKilledWhileErasing(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long kills the exchange")
	}
	program := filepath.Join(t.TempDir(), "pingpost")
	witness.Build(t, program, false)
	x := witness.NewExchange(t, program, t.TempDir())
	x.Configure([]byte(oneBuyer))
	x.Start()
	sendLeads(t, x)
	random, cut := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)), 0
	longest := 20 * time.Millisecond
	for round := range erasings {
		who := fmt.Sprintf(`{"phone":"415555%04d"}`, 1000+round%persons)
		answered := make(chan bool, 1)
		began := time.Now()
		go func() {
			status, _, err := x.AdminRequest("POST", "/admin/v1/erase", who)
			answered <- err == nil && status == http.StatusOK
		}()
		time.Sleep(time.Duration(random.Int64N(int64(longest))))
		x.Kill()
		if <-answered {
			longest = max(time.Since(began), time.Millisecond)
		} else {
			cut++
		}
		x.Start()
		keysMatch(t, x)
		if round < persons {
			continue // the second time, complete each erasure
		}
		status, said, err := x.AdminRequest("POST", "/admin/v1/erase", who)
		if err != nil || status != http.StatusOK || !strings.Contains(string(said), `"left":0`) {
			t.Fatalf("%d %s %v", status, said, err)
		}
		keysMatch(t, x)
	}
	if n := keysMatch(t, x); n != persons*leadsOf {
		t.Errorf("%d of %d are erased", n, persons*leadsOf)
	}
	t.Logf("%d of %d erasures were cut", cut, erasings)
	live := x.Hash()
	x.Stop()
	x.CheckReplayHash(live)
	x.Verify()
}
