package exchange

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pingpost/internal/must"
)

// TestLeadsStopAndResumeWithDiskSpace: leads are rejected before the disk is full and accepted
// again once there is space. No acknowledged lead is lost.
func TestLeadsStopAndResumeWithDiskSpace(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	mount(t, p.dataDir(), "size=128m")
	x := start(t, p)
	first := x.mustSell(leadBody(1), "Idempotency-Key", "k")
	before := len(x.logged.String())
	countLogged := func(line string) int { return strings.Count(x.logged.String()[before:], line) }
	ballast := filepath.Join(p.dataDir(), "ballast")
	fill := func(t *testing.T, size int) {
		t.Helper()
		must.Succeed(t, os.WriteFile(ballast, make([]byte, size), 0o600))
	}
	t.Run("low disk space", func(t *testing.T) {
		fill(t, 80<<20)
		var refused *answer
		eventually(t, "leads are refused", func() bool {
			refused = x.ingest(leadBody(2))
			return refused.status != 201
		})
		refused.mustFail(t, 503, "unavailable")
		x.ingest(leadBody(1), "Idempotency-Key", "k").mustFail(t, 503, "unavailable")
		if x.Ready() != nil {
			t.Errorf("readyz: %v", x.Ready())
		}
		x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp_other/pause", "") // admin requests still work
		if m := x.mustAdmin(200, "GET", "/metrics", "").body; !strings.Contains(m, "pingpost_disk_free_bytes ") || !strings.Contains(m, "pingpost_disk_needed_bytes ") {
			t.Error("metrics lack the free or the needed disk space")
		}
		eventually(t, "the log reports it", func() bool { return countLogged("the free disk space is low") > 0 })
	})
	t.Run("space again", func(t *testing.T) {
		must.Succeed(t, os.Remove(ballast))
		eventually(t, "leads are accepted", func() bool { return x.ingest(leadBody(3)).status == 201 })
		x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
		eventually(t, "the log reports it", func() bool { return countLogged("enough free disk space again") > 0 })
	})
	t.Run("stop on a full disk", func(t *testing.T) {
		fill(t, 80<<20)
		eventually(t, "leads are refused", func() bool { return x.ingest(leadBody(2)).status == 503 })
		if err := os.WriteFile(ballast, make([]byte, 128<<20), 0o600); err == nil {
			t.Fatal("the disk is not full")
		}
		x.stop() // without a snapshot
		mustNotStart(t, p, "cannot be written")
		must.Succeed(t, os.Remove(ballast))
		x = start(t, p)
		x.mustSell(leadBody(4))
		x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
	})
}

// TestLowDiskRejectsLeadsAndSettlesOpenPost simulates low disk space with a large expected
// snapshot. An open post still ends with its answer.
func TestLowDiskRejectsLeadsAndSettlesOpenPost(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	blue, red := newFakeBuyer(t, func(w http.ResponseWriter, r *http.Request) {
		<-released
		reply(201, `{"lead_id":"theirs"}`)(w, r)
	}), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	t.Cleanup(release) // before the exchange is stopped
	openRequest := make(chan *answer, 1)
	go func() { openRequest <- x.ingest(leadBody(1), "Idempotency-Key", "k") }()
	eventually(t, "a post is in progress", func() bool { return len(blue.received()) == 1 })
	expectSnapshot := func(bytes uint64) {
		x.disk.last.Store(bytes)
		x.disk.setExpectedSnapshotSize(x.estimateNextSnapshotBytes())
	}
	expectSnapshot(1 << 60)
	eventually(t, "the monitor reports low disk space", x.disk.low.Load)
	x.ingest(leadBody(2)).mustFail(t, 503, "unavailable")
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_red/pause", "")
	release()
	first := <-openRequest
	if first.status != 201 || !strings.Contains(first.body, `"buyer_id":"buy_blue"`) {
		t.Errorf("open post: got %d %s", first.status, first.body)
	}
	x.checkBlueFunds(`{"balance":995,"held":0,"currency":"USD"}`)
	expectSnapshot(0)
	eventually(t, "leads are accepted", func() bool { return x.ingest(leadBody(3)).status == 201 })
	x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
}

// TestFullDiskFailsLogAndExchange: after a failed write, every part reports it and no request is
// acknowledged.
func TestFullDiskFailsLogAndExchange(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, strings.Replace(baseConfig, "{id: buy_blue,", "{id: buy_blue, funds: {balance: 100},", 1))
	mount(t, p.dataDir(), "size=80m")
	x := start(t, p)
	x.mustSell(leadBody(1), "Idempotency-Key", "k")
	if err := os.WriteFile(filepath.Join(p.dataDir(), "ballast"), make([]byte, 90<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	// Leads are rejected, so admin requests fill the log.
	eventually(t, "the log fails", func() bool {
		x.adminRequest("POST", "/admin/v1/buyers/buy_blue/funds", fmt.Sprintf(`{"amount":1,"note":%q}`, strings.Repeat("n", 256)))
		return x.log.Err() != nil
	})
	err := <-x.FatalErrors()
	if err == nil || !strings.Contains(err.Error(), "the log failed") || !strings.Contains(err.Error(), "no space") {
		t.Errorf("FatalErrors: got %v, want no space", err)
	}
	x.adminRequest("GET", "/readyz", "").mustHave(t, 503, "failed")
	x.ingest(leadBody(2)).mustFail(t, 503, "unavailable")
	x.adminRequest("POST", "/admin/v1/campaigns/cmp/pause", "").mustFail(t, 503, "unavailable")
	x.adminRequest("GET", "/admin/v1/hash", "").mustFail(t, 503, "unavailable")
	if err := x.Close(); err == nil {
		t.Error("Close returned no error after a failed log")
	}
	x.closed = true
	must.Succeed(t, os.Remove(filepath.Join(p.dataDir(), "ballast")))
	y := start(t, p)
	if a := y.ingest(leadBody(1), "Idempotency-Key", "k"); a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeat after a restart: got %d %s", a.status, a.body)
	}
}

// startWithLargeState starts an exchange on its own disk with size MiB of state in large secrets.
func startWithLargeState(t *testing.T, disk string, size int) *testExchange {
	t.Helper()
	p := newTestDir(t, baseConfig)
	mount(t, p.dataDir(), disk)
	x := start(t, p)
	for i := range size {
		must.Succeed(t, x.engine.Load().AsOperator("").SetOutgoingSecret(fmt.Sprint("pad/", i), make([]byte, 1000<<10)))
	}
	return x
}

// fillDiskExcept fills the disk up to free MiB.
func (r *testExchange) fillDiskExcept(t *testing.T, free int) {
	t.Helper()
	r.disk.updateFreeSpace()
	must.Succeed(t, os.WriteFile(filepath.Join(r.dataDir(), "ballast"), make([]byte, int(r.disk.free.Load())-free<<20), 0o600))
}

// TestSnapshotStopsAtDiskReserve: a snapshot that would use the log's reserve ends without one. The
// log continues.
func TestSnapshotStopsAtDiskReserve(t *testing.T) {
	t.Parallel()
	x := startWithLargeState(t, "size=200m", 30)
	x.fillDiskExcept(t, 80)
	if err := x.writeSnapshot(); !errors.Is(err, errDiskLow) {
		t.Errorf("snapshot of 30 MiB with 16 MiB available: got %v, want errDiskLow", err)
	}
	if x.disk.updateFreeSpace(); x.disk.free.Load() < 70<<20 {
		t.Errorf("after the snapshot only %d bytes are free", x.disk.free.Load())
	}
	if left, err := os.ReadDir(filepath.Join(x.dataDir(), "snapshot")); err != nil || len(left) != 0 {
		t.Errorf("snapshot left files %v, %v", left, err)
	}
	x.mustSell(leadBody(1))
	if err := x.log.Err(); err != nil {
		t.Error(err)
	}
	x.stop() // without a snapshot
	start(t, x.testDir).mustSell(leadBody(2))
}

// TestSnapshotNeedsDiskSpaceToStart: by the size of the last snapshot, also after a restart.
func TestSnapshotNeedsDiskSpaceToStart(t *testing.T) {
	t.Parallel()
	x := startWithLargeState(t, "size=300m", 20)
	if needed := x.disk.bytesNeededToAcceptLeads(); needed != reserve+2*baseSnapshotBytes {
		t.Errorf("before the first snapshot %d bytes are needed", needed)
	}
	x.mustSnapshot()
	size := x.disk.last.Load()
	if size < 19<<20 || x.disk.bytesNeededToAcceptLeads() != reserve+2*size {
		t.Errorf("after a snapshot of %d bytes %d are needed", size, x.disk.bytesNeededToAcceptLeads())
	}
	x = x.restart()
	if x.disk.bytesNeededToAcceptLeads() != reserve+2*size {
		t.Errorf("after a restart %d bytes are needed", x.disk.bytesNeededToAcceptLeads())
	}
	x.fillDiskExcept(t, 80)
	if err := x.writeSnapshot(); !errors.Is(err, errDiskLow) {
		t.Errorf("snapshot with 80 MiB free: got %v, want errDiskLow", err)
	}
	eventually(t, "leads are refused", func() bool { return x.ingest(leadBody(1)).status == 503 })
	removeFile(t, filepath.Join(x.dataDir(), "ballast"))
	eventually(t, "leads are accepted", func() bool { return x.ingest(leadBody(1)).status == 201 })
	if err := x.writeSnapshot(); err != nil {
		t.Error(err)
	}
}
