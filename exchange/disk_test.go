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

// TestFullDisk: leads are refused before the disk is full, and taken again by
// itself once there is room. Nothing that was acknowledged is lost.
func TestFullDisk(t *testing.T) {
	p := newPlace(t, recorded)
	mount(t, p.data(), "size=128m")
	x := start(t, p)
	first := x.sold(lead(1), "Idempotency-Key", "k")
	before := len(spoken.String())
	said := func(line string) int { return strings.Count(spoken.String()[before:], line) }
	ballast := filepath.Join(p.data(), "ballast")
	fill := func(t *testing.T, size int) {
		t.Helper()
		must.Succeed(t, os.WriteFile(ballast, make([]byte, size), 0o600))
	}
	t.Run("little is left", func(t *testing.T) {
		fill(t, 80<<20)
		var refused *answer
		eventually(t, "leads are refused", func() bool {
			refused = x.ingest(lead(2))
			return refused.status != 201
		})
		refused.mustFail(t, 503, "unavailable")
		x.ingest(lead(1), "Idempotency-Key", "k").mustFail(t, 503, "unavailable")
		if x.Ready() != nil {
			t.Errorf("readyz: %v", x.Ready())
		}
		x.must(204, "POST", "/admin/v1/campaigns/cmp_other/pause", "") // operators still act
		if m := x.must(200, "GET", "/metrics", "").body; !strings.Contains(m, "pingpost_disk_free_bytes ") || !strings.Contains(m, "pingpost_disk_needed_bytes ") {
			t.Error("no figure for the free disk, or for what must be free")
		}
		eventually(t, "the log says so", func() bool { return said("the free disk space is low") > 0 })
	})
	t.Run("there is room again", func(t *testing.T) {
		must.Succeed(t, os.Remove(ballast))
		eventually(t, "leads are accepted", func() bool { return x.ingest(lead(3)).status == 201 })
		x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
		eventually(t, "the log says so", func() bool { return said("enough free disk space again") > 0 })
	})
	t.Run("a stop with nothing left", func(t *testing.T) {
		fill(t, 80<<20)
		eventually(t, "leads are refused", func() bool { return x.ingest(lead(2)).status == 503 })
		if err := os.WriteFile(ballast, make([]byte, 128<<20), 0o600); err == nil {
			t.Fatal("the disk is not full")
		}
		x.stop() // clean, though there is no room for a snapshot
		refuses(t, p, "cannot be written")
		must.Succeed(t, os.Remove(ballast))
		x = start(t, p)
		x.sold(lead(4))
		x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
	})
}

// TestLeadsWaitForRoom is the same without a disk of its own: here the next snapshot
// is thought to be larger than any disk. A post that is under way then comes to its
// end and to its answer.
func TestLeadsWaitForRoom(t *testing.T) {
	low := make(chan struct{})
	release := sync.OnceFunc(func() { close(low) })
	blue, red := newTaker(t, func(w http.ResponseWriter, r *http.Request) {
		<-low
		says(201, `{"lead_id":"theirs"}`)(w, r)
	}), newTaker(t)
	x := start(t, newPlace(t, delivered(blue, red)))
	t.Cleanup(release) // before the exchange is stopped
	underWay := make(chan *answer, 1)
	go func() { underWay <- x.ingest(lead(1), "Idempotency-Key", "k") }()
	eventually(t, "a post is under way", func() bool { return len(blue.got()) == 1 })
	larger := func(bytes uint64) {
		x.disk.last.Store(bytes)
		x.disk.setExpectedSnapshotSize(x.estimateNextSnapshotBytes())
	}
	larger(1 << 60)
	eventually(t, "the disk is looked at", x.disk.low.Load)
	x.ingest(lead(2)).mustFail(t, 503, "unavailable")
	x.must(204, "POST", "/admin/v1/buyers/buy_red/pause", "")
	release()
	first := <-underWay
	if first.status != 201 || !strings.Contains(first.body, `"buyer_id":"buy_blue"`) {
		t.Errorf("%d %s", first.status, first.body)
	}
	x.wantFunds(`{"balance":995,"held":0}`)
	larger(0)
	eventually(t, "leads are accepted", func() bool { return x.ingest(lead(3)).status == 201 })
	x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
}

// TestLogFails: on a disk that is full to the last byte the log fails, and with
// it the exchange: it says so everywhere and acknowledges nothing more.
func TestLogFails(t *testing.T) {
	p := newPlace(t, strings.Replace(recorded, "{id: buy_blue,", "{id: buy_blue, funds: {balance: 100},", 1))
	mount(t, p.data(), "size=80m")
	x := start(t, p)
	x.sold(lead(1), "Idempotency-Key", "k")
	if err := os.WriteFile(filepath.Join(p.data(), "ballast"), make([]byte, 90<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	// Leads are refused, so what is written is an operator's.
	eventually(t, "the log fails", func() bool {
		x.operate("POST", "/admin/v1/buyers/buy_blue/funds", fmt.Sprintf(`{"amount":1,"note":%q}`, strings.Repeat("n", 256)))
		return x.log.Err() != nil
	})
	err := <-x.FatalErrors()
	if err == nil || !strings.Contains(err.Error(), "the log failed") || !strings.Contains(err.Error(), "no space") {
		t.Errorf("broken: %v", err)
	}
	x.operate("GET", "/readyz", "").mustHave(t, 503, "failed")
	x.ingest(lead(2)).mustFail(t, 503, "unavailable")
	x.operate("POST", "/admin/v1/campaigns/cmp/pause", "").mustFail(t, 503, "unavailable")
	x.operate("GET", "/admin/v1/hash", "").mustFail(t, 503, "unavailable")
	if err := x.Close(); err == nil {
		t.Error("it stopped as if nothing had been")
	}
	x.closed = true
	must.Succeed(t, os.Remove(filepath.Join(p.data(), "ballast")))
	y := start(t, p)
	if a := y.ingest(lead(1), "Idempotency-Key", "k"); a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// heavy starts an exchange on a disk of its own, with a state of so many MiB in
// large secrets, which stand for leads.
func heavy(t *testing.T, disk string, size int) *running {
	t.Helper()
	p := newPlace(t, recorded)
	mount(t, p.data(), disk)
	x := start(t, p)
	for i := range size {
		must.Succeed(t, x.engine.Load().AsOperator("").SetOutgoingSecret(fmt.Sprint("pad/", i), make([]byte, 1000<<10)))
	}
	return x
}

// leave fills the disk but for so many MiB.
func (r *running) leave(t *testing.T, free int) {
	t.Helper()
	r.disk.updateFreeSpace()
	must.Succeed(t, os.WriteFile(filepath.Join(r.data(), "ballast"), make([]byte, int(r.disk.free.Load())-free<<20), 0o600))
}

// TestSnapshotGivesWay: one that turns out larger than it was thought, or whose room
// others take, ends before it touches the log's. The log goes on.
func TestSnapshotGivesWay(t *testing.T) {
	x := heavy(t, "size=200m", 30)
	x.leave(t, 80)
	if err := x.writeSnapshot(); !errors.Is(err, errDiskLow) {
		t.Errorf("a snapshot of 30 MiB where 16 are to be had: %v", err)
	}
	if x.disk.updateFreeSpace(); x.disk.free.Load() < 70<<20 {
		t.Errorf("only %d bytes are free after it", x.disk.free.Load())
	}
	if left, err := os.ReadDir(filepath.Join(x.data(), "snapshot")); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	x.sold(lead(1))
	if err := x.log.Err(); err != nil {
		t.Error(err)
	}
	x.stop() // clean, though without a snapshot
	start(t, x.place).sold(lead(2))
}

// TestSnapshotDoesNotBeginWithoutRoom: neither with the size of the last one, nor
// over a restart, nor with what the leads of now take.
func TestSnapshotDoesNotBeginWithoutRoom(t *testing.T) {
	x := heavy(t, "size=300m", 20)
	if needs := x.disk.bytesNeededToAcceptLeads(); needs != reserve+2*baseSnapshotBytes {
		t.Errorf("a first snapshot needs %d", needs)
	}
	x.snapshot()
	size := x.disk.last.Load()
	if size < 19<<20 || x.disk.bytesNeededToAcceptLeads() != reserve+2*size {
		t.Errorf("after one of %d bytes %d are needed", size, x.disk.bytesNeededToAcceptLeads())
	}
	x = x.again()
	if x.disk.bytesNeededToAcceptLeads() != reserve+2*size {
		t.Errorf("after a restart %d are needed", x.disk.bytesNeededToAcceptLeads())
	}
	x.leave(t, 80)
	if err := x.writeSnapshot(); !errors.Is(err, errDiskLow) {
		t.Errorf("with 80 MiB free: %v", err)
	}
	eventually(t, "leads are refused", func() bool { return x.ingest(lead(1)).status == 503 })
	remove(t, filepath.Join(x.data(), "ballast"))
	eventually(t, "leads are accepted", func() bool { return x.ingest(lead(1)).status == 201 })
	if err := x.writeSnapshot(); err != nil {
		t.Error(err)
	}
}
