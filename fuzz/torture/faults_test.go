//go:build linux

package torture

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pingpost/fuzz/witness"
)

// fault is one kind of fault.
type fault struct {
	name   string
	weight int // relative frequency
	// missing returns the reason why this machine does not permit the fault, or "". nil: it is
	// always permitted.
	missing func(t *torture) string
	// inject applies the fault to a serving exchange under load, and leaves a serving exchange.
	// It returns false if there was no occasion, which is no failure.
	inject func(t *torture) bool
}

// drawFaults returns the faults in random order, each as often as its weight. The first draw
// has each fault once, so a run of two minutes uses all.
func drawFaults(t *torture, all []*fault) (cards []*fault) {
	for _, f := range all {
		n := f.weight
		if t.rounds == 0 {
			n = 1
		}
		for range n {
			cards = append(cards, f)
		}
	}
	t.random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

func (t *torture) failOnError(err error) {
	t.test.Helper()
	if err != nil {
		t.test.Fatal(err)
	}
}

// sleepUpTo sleeps for a random part of the span.
func (t *torture) sleepUpTo(span time.Duration) {
	time.Sleep(time.Duration(t.random.Int64N(int64(max(span, 1)))))
}

// faults are the known faults. A seed draws the same ones as long as their order stays.
var faults = []*fault{
	// Plain ends of the process: at once, during a stop or its snapshot, during a reload, and again
	// during the replay.
	{name: "killed", weight: 3, inject: func(t *torture) bool {
		t.sleepUpTo(8 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}},
	{name: "killed again in its replay", weight: 2, inject: func(t *torture) bool {
		t.Kill()
		for range 1 + t.random.IntN(2) {
			t.Launch()
			t.sleepUpTo(t.Startup)
			t.Kill()
		}
		t.Start()
		return true
	}},
	{name: "killed in an orderly stop", weight: 2, inject: func(t *torture) bool {
		t.Signal(syscall.SIGTERM)
		t.sleepUpTo(200 * time.Millisecond)
		killed := t.Kill()
		t.Start()
		return killed
	}},
	{name: "killed while it writes a snapshot", weight: 2, inject: (*torture).killInSnapshot},
	{name: "killed in a reload", weight: 1, inject: func(t *torture) bool {
		t.WriteNextConfig()
		t.Signal(syscall.SIGHUP)
		t.sleepUpTo(15 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}},
	{name: "stopped in order", weight: 1, inject: func(t *torture) bool {
		t.Stop()
		t.Start()
		return true
	}},
	// The process stops for seconds, as on a machine that swaps. Clients repeat their requests, and
	// every deadline passes.
	{name: "held for seconds", weight: 2, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond)
		t.sleepUpTo(maxPause - 200*time.Millisecond)
		t.Signal(syscall.SIGCONT)
		return true
	}},
	{name: "killed while it is held", weight: 1, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		t.sleepUpTo(maxPause / 3)
		t.Kill()
		t.Start()
		return true
	}},
	{name: "killed just after it was held", weight: 1, inject: func(t *torture) bool {
		t.Signal(syscall.SIGSTOP)
		t.sleepUpTo(maxPause / 10)
		t.Signal(syscall.SIGCONT)
		t.sleepUpTo(20 * time.Millisecond)
		t.Kill()
		t.Start()
		return true
	}},
	// Operator actions are no faults, but run like them: a configuration is applied, a webhook is
	// disabled and enabled, and a buyer is paused and must stay paused over a kill.
	{name: "buyer paused over a kill", weight: 1, inject: func(t *torture) bool {
		return t.PauseBuyerDuring(func() {
			t.Kill()
			t.Start()
		}, func() {
			until := t.Suppliers.Answered() + fewLeads/2
			t.Suppliers.SendLeads(fewLeads)
			t.awaitAnswered(until)
		})
	}},
	{name: "configuration applied", weight: 1, inject: func(t *torture) bool { return t.ApplyConfig() }},
	{name: "webhook off and on", weight: 1, inject: func(t *torture) bool {
		return t.ControlWebhook("off") && t.ControlWebhook("on") && t.ControlWebhook("resend")
	}},
	// A buyer or the webhook receiver accepts connections and does not answer, usually for seconds.
	// Once in a long run it is silent for longer than all attempts of a post. The deliveries then
	// stay unconfirmed and the operator must resolve them.
	{name: "neighbor silent for seconds", weight: 2, inject: func(t *torture) bool {
		return t.stopPeer(time.Second+time.Duration(t.random.Int64N(int64(maxPause))), fewLeads)
	}},
	{
		name: "neighbor silent for a minute", weight: 1,
		missing: func(t *torture) string {
			if t.span < 3*time.Minute {
				return "the run is shorter than 3 minutes"
			}
			return ""
		},
		inject: func(t *torture) bool { return t.stopPeer(time.Minute, maxLeads) },
	},
	// A person is erased while leads arrive, and while the exchange is killed during the erasure.
	// The next start must complete the erasure, and no other lead's key may be gone.
	{name: "person erased", weight: 2, inject: func(t *torture) bool {
		who := t.DrawErasure(t.random)
		return who != nil && t.Erase(who)
	}},
	{name: "killed while it erases", weight: 2, inject: func(t *torture) bool {
		who := t.DrawErasure(t.random)
		if who == nil {
			return false
		}
		erased := make(chan struct{})
		go func() {
			t.Erase(who)
			close(erased)
		}()
		t.sleepUpTo(30 * time.Millisecond)
		t.Kill()
		<-erased
		t.Start()
		t.CheckLeadKeys()
		t.Erase(who)
		return true
	}},
	// A write that a crash tore: after the last record follows a possible part of another, on which
	// no output relies. The start must cut it, keep a copy, and continue.
	{name: "log's end torn", weight: 3, inject: func(t *torture) bool {
		t.Kill()
		all, err := readFrames(t.DataDir())
		if err != nil || len(all) == 0 {
			t.test.Fatalf("cannot read the log: %v", err)
		}
		last := all[len(all)-1]
		text, err := os.ReadFile(last.path)
		t.failOnError(err)
		whole := len(text)
		text = append(text, tearRecord(t, nextRecord(last, text))...)
		t.failOnError(os.WriteFile(last.path, text, 0o600))
		kept := countFiles(t, "damage")
		t.Start()
		if countFiles(t, "damage") <= kept {
			t.test.Errorf("%s: %d torn bytes after offset %d were cut without a copy in damage/", last.path, len(text)-whole, whole)
		}
		return true
	}},
	// A flipped bit in an acknowledged record. The exchange must refuse to start and report the
	// segment and the offset. Afterwards the bit is restored.
	{name: "bit flipped in the log", weight: 2, inject: func(t *torture) bool {
		t.Kill()
		from := newestSnapshotSeq(t.DataDir())
		all, err := readFrames(t.DataDir())
		if err != nil {
			t.test.Fatalf("cannot read the log: %v", err)
		}
		victims := detectableFrames(all, from)
		if len(victims) == 0 {
			t.Start()
			return false
		}
		victim := victims[t.random.IntN(len(victims))]
		at, bit := victim.at+t.random.Int64N(victim.size), byte(1)<<t.random.IntN(8)
		t.flipBit(victim.path, at, bit)
		code, said := t.AwaitRefusal()
		where := fmt.Sprintf("%q is damaged at offset %d,", victim.path, victim.at)
		if code != 1 || !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), where) {
			t.test.Errorf("bit flipped at offset %d of %s (entry %d, frame at %d): expected exit code 1 and a message with the segment and the frame's offset, got exit code %d and:\n%s", at, victim.path, victim.seq, victim.at, code, said)
		}
		t.flipBit(victim.path, at, bit)
		t.Start()
		return true
	}},
	// A lost, cut or overwritten file with rows of closed leads. The start builds the rows again from the log.
	{name: "cold file damaged", weight: 2, inject: (*torture).damageColdFile},
	// Disk errors, injected by strace into the exchange's calls on the log's last segment. The
	// first call of a kind fails once. From then on the log has failed and the exchange must end,
	// even if the disk would accept the next write.
	{name: "EIO from a write", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.injectError("write", "EIO") }},
	{name: "ENOSPC from a write", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.injectError("write", "ENOSPC") }},
	{name: "EIO from an fsync", weight: 2, missing: whyNoTrace, inject: func(t *torture) bool { return t.injectError("fsync", "EIO") }},
	{name: "ENOSPC from an fsync", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.injectError("fsync", "ENOSPC") }},
	// A write of which the system accepts only the first part: a limit stops the log's last segment
	// from growing by more than some bytes. The file then ends with half a batch that no output
	// relies on.
	{name: "short write", weight: 2, missing: whyNoLimit, inject: func(t *torture) bool {
		segment := t.lastSegmentPath()
		info, err := os.Stat(segment)
		if err != nil {
			return false // the log has just started another segment
		}
		limit := unix.Rlimit{Cur: uint64(info.Size()) + 1 + t.random.Uint64N(300), Max: unix.RLIM_INFINITY}
		t.failOnError(unix.Prlimit(t.Pid(), unix.RLIMIT_FSIZE, &limit, nil))
		t.Suppliers.SendLeads(fewLeads)
		witness.Await(t.test, "the log cannot grow", func() bool { return t.ExitReport() != "" || t.lastSegmentPath() != segment })
		if t.ExitReport() == "" {
			t.Kill()
			t.Start()
			return false
		}
		t.expectFailure("short write")
		t.Start()
		return true
	}},
	// A snapshot fails during an orderly stop. No snapshot may result; the log has everything, and
	// the next start uses it.
	{name: "EIO from a snapshot's write", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.failSnapshot("write") }},
	{name: "EIO from a snapshot's fsync", weight: 1, missing: whyNoTrace, inject: func(t *torture) bool { return t.failSnapshot("fsync") }},
	// A disk that fills up and gets free space again. The data directory moves to a small file
	// system in memory for this fault, and back afterwards.
	{name: "disk nearly full", weight: 1, missing: whyNoMount, inject: func(t *torture) bool {
		d := t.mountSmallDisk(160)
		d.fillUntilLeft(t.DataDir(), 32<<20)
		t.AwaitWhileRunning("the exchange refuses leads", func() bool { return t.Suppliers.SendLeadOnce(t.random) == http.StatusServiceUnavailable })
		d.removeFiller()
		t.AwaitWhileRunning("the exchange accepts leads again", func() bool { return t.Suppliers.SendLeadOnce(t.random) == http.StatusCreated })
		d.restoreDataDir()
		return true
	}},
	{name: "disk full", weight: 1, missing: whyNoMount, inject: func(t *torture) bool {
		d := t.mountSmallDisk(160)
		d.fillUntilLeft(t.DataDir(), 0)
		// Requests, webhooks and operators continue; one of their entries finds no space.
		for deadline := time.Now().Add(time.Minute); t.ExitReport() == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			_ = t.ControlWebhook("off") && t.ControlWebhook("on")
		}
		t.expectFailure("full disk")
		t.Launch() // it may serve if reading needs no space
		t.sleepUpTo(time.Second)
		if t.ExitReport() == "" {
			t.Kill()
		}
		t.ClearErrors()
		d.removeFiller()
		t.Start()
		d.restoreDataDir()
		return true
	}},
	// The disk is lost, and the exchange continues from its backup. After a kill the backup must
	// have caught up before; an orderly stop backs up the rest itself.
	{name: "disk lost", weight: 1, inject: func(t *torture) bool {
		<-t.topUpDone // a top-up after the last backup would rightly be lost
		t.AwaitAnswers(t.random)
		t.AwaitWhileRunning("no delivery is open", func() bool { return t.Metric("pingpost_open_deliveries") == "0" })
		resumeEdits := t.AdminEditor.PauseEdits()
		defer resumeEdits()
		t.AwaitBackup()
		t.Kill()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}},
	{name: "disk lost after an orderly stop", weight: 1, inject: func(t *torture) bool {
		<-t.topUpDone
		t.Stop()
		t.RestoreAfterDiskLoss()
		t.Start()
		return true
	}},
	{name: "backup's disk read-only", weight: 1, missing: whyNoMount, inject: func(t *torture) bool {
		t.failOnError(syscall.Mount(t.BackupDir(), t.BackupDir(), "", syscall.MS_BIND, ""))
		t.readOnlyDir = t.BackupDir()
		t.failOnError(syscall.Mount("", t.BackupDir(), "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
		t.Suppliers.SendLeads(fewLeads)
		time.Sleep(time.Second)
		if t.random.IntN(2) == 0 { // the exchange must also start without its backup
			t.Kill()
			t.Start()
		}
		if t.Metric("pingpost_backup_lag_entries") == "0" {
			t.test.Errorf("the backup's disk is read-only, but pingpost_backup_lag_entries is 0")
		}
		t.failOnError(t.endReadOnly())
		t.AwaitBackup()
		return true
	}},
}

// maxPause is the longest pause of a process.
const maxPause = 3 * time.Second

// killInSnapshot stops the exchange in order, and kills it while it writes its snapshot. A
// temporary file of an earlier kill may exist; the exchange overwrites it.
func (t *torture) killInSnapshot() (killed bool) {
	begun := func() (at time.Time) {
		if info, err := os.Stat(t.snapshotInProgress()); err == nil {
			at = info.ModTime()
		}
		return at
	}
	before := begun()
	t.Signal(syscall.SIGTERM)
	witness.Await(t.test, "the exchange writes a snapshot", func() bool {
		at := begun()
		return !at.IsZero() && !at.Equal(before) || t.ExitReport() != ""
	})
	t.sleepUpTo(4 * time.Millisecond)
	killed = t.Kill()
	t.Start()
	return killed
}

func (t *torture) snapshotInProgress() string {
	return filepath.Join(t.DataDir(), "snapshot", "next.tmp")
}

// damageColdFile stops the exchange in order, so that it moves rows to a cold file, and damages one of its files.
func (t *torture) damageColdFile() bool {
	t.Stop()
	files, err := filepath.Glob(filepath.Join(t.DataDir(), "cold", "*.rows"))
	t.failOnError(err)
	if len(files) == 0 {
		t.Start()
		return false
	}
	victim := files[len(files)-1] // the newest one, which the snapshot names
	info, err := os.Stat(victim)
	t.failOnError(err)
	switch t.random.IntN(3) {
	case 0:
		t.failOnError(os.Remove(victim))
	case 1:
		t.failOnError(os.Truncate(victim, t.random.Int64N(info.Size())))
	default:
		t.flipBit(victim, info.Size()-1-t.random.Int64N(40), 1<<t.random.IntN(8))
	}
	t.Start()
	return true
}

// stopPeer stops one peer for a time while leads arrive.
func (t *torture) stopPeer(span time.Duration, leads int) bool {
	pids := t.PeerPIDs()
	pid := pids[t.random.IntN(len(pids))]
	t.failOnError(syscall.Kill(pid, syscall.SIGSTOP))
	t.Suppliers.SendLeads(leads)
	time.Sleep(span)
	t.failOnError(syscall.Kill(pid, syscall.SIGCONT))
	return true
}
