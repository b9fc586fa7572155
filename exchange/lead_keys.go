package exchange

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/throttle"
	"pingpost/keys/leadkeys"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// KeyLoss counts leads whose contact data cannot be decrypted, by the defect of their keys.
// Leads that an operator erased do not count.
type KeyLoss struct {
	Missing uint64 // the file of keys is missing, or of another size
	Changed uint64 // the key does not match its checksum
	Erased  uint64 // the key is all zeros, and the log did not erase it
}

// deriveChecksumKey returns the secret with which the checksums of the leads' encryption keys
// are computed.
func deriveChecksumKey(v *vault.Vault) leadkeys.SumKey { return v.DeriveKey("lead keys") }

// collectLeadSlots reads a log and returns the key slots that its leads use, by the first slot
// of each key file. It omits erased leads, and files for which wanted returns false. It calls
// pause before each entry and ends with the error of pause.
func collectLeadSlots(log entrySource, wanted func(first uint64) bool, pause func() error) (map[uint64]*leadkeys.SlotSet, error) {
	found := map[uint64]*leadkeys.SlotSet{}
	decoder := &event.Decoder{ForReplay: true}
	for {
		if err := pause(); err != nil {
			return nil, err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("lead keys: cannot read the log: %w", err)
		}
		ev, err := decoder.Decode(entry.Data)
		if err != nil {
			return nil, fmt.Errorf("lead keys: cannot decode entry %d of the log: %w", entry.Seq, err)
		}
		switch ev := ev.(type) {
		case *event.LeadDecided:
			if ev.Slot == 0 || !wanted(leadkeys.FirstSlot(ev.Slot)) {
				continue
			}
			first := leadkeys.FirstSlot(ev.Slot)
			if found[first] == nil {
				found[first] = new(leadkeys.SlotSet)
			}
			found[first].Add(ev.Slot)
		case *event.LeadsErased:
			for _, slot := range ev.Slots {
				if set := found[leadkeys.FirstSlot(slot)]; set != nil {
					set.Remove(slot)
				}
			}
		}
	}
}

// addFile counts the leads of one key file whose keys are unusable. r is the result of checking
// the file. leads are the slots in the file that leads of the log use.
func (l *KeyLoss) addFile(r *leadkeys.ChecksumReport, leads *leadkeys.SlotSet) {
	if leads == nil {
		return
	}
	for i := range leads {
		if r.Lost != nil {
			l.Missing += uint64(bits.OnesCount64(leads[i]))
			continue
		}
		l.Changed += uint64(bits.OnesCount64(leads[i] & r.Changed[i]))
		l.Erased += uint64(bits.OnesCount64(leads[i] & r.Erased[i]))
	}
}

// addLoss adds the counts of another KeyLoss.
func (l *KeyLoss) addLoss(other KeyLoss) {
	l.Missing, l.Changed, l.Erased = l.Missing+other.Missing, l.Changed+other.Changed, l.Erased+other.Erased
}

// keyCheck compares the leads' encryption keys with their checksums once after each start, in
// the background. It logs lost keys and counts them for the metrics.
type keyCheck struct {
	missing, changed, erased atomic.Uint64 // leads
	done                     chan struct{}
}

func (c *keyCheck) start(x *Exchange) {
	gauge := func(reason string, leads *atomic.Uint64) {
		x.meter.AddGauge(`pingpost_lead_keys_lost{reason="`+reason+`"}`, func() float64 { return float64(leads.Load()) })
	}
	gauge("missing", &c.missing)
	gauge("changed", &c.changed)
	gauge("erased", &c.erased)
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		err := c.run(x)
		if err != nil && !errors.Is(err, throttle.ErrStopped) {
			x.logger.Error("cannot check the leads' keys; the next start checks them again", "error", err)
		}
	}()
}

// wait returns when the background check has ended. The check ends early once the exchange
// begins to stop.
func (c *keyCheck) wait() {
	if c.done != nil {
		<-c.done
	}
}

func (c *keyCheck) run(x *Exchange) error {
	suspect, err := x.findSuspectKeyFiles()
	if err != nil || len(suspect) == 0 {
		return err
	}
	log, err := x.log.NewReaderSince(0)
	if err != nil {
		return fmt.Errorf("lead keys: cannot read the log: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScanThrottle(throttle.ScanChunk, &x.draining)
	leads, err := collectLeadSlots(log, func(first uint64) bool { return suspect[first] != nil }, func() error { return pace.PauseAfterChunk(log.BytesRead()) })
	if err != nil {
		return err
	}
	var loss KeyLoss
	var files []string
	for first, r := range suspect {
		var here KeyLoss
		if here.addFile(r, leads[first]); here != (KeyLoss{}) {
			files = append(files, filepath.Base(r.Path))
		}
		loss.addLoss(here)
	}
	c.missing.Store(loss.Missing)
	c.changed.Store(loss.Changed)
	c.erased.Store(loss.Erased)
	c.logLoss(x, &loss, files)
	return nil
}

func (c *keyCheck) logLoss(x *Exchange, loss *KeyLoss, files []string) {
	if n := loss.Missing + loss.Changed; n > 0 {
		x.logger.Error("leads cannot be decrypted: files of their keys are missing or changed; restore these files of keys/leads and keys/checksums from a backup",
			"leads", n, "missing", loss.Missing, "changed", loss.Changed, "files", firstFileNames(files))
	}
	if loss.Erased > 0 {
		x.logger.Warn("leads cannot be decrypted: their keys are zeros, and this log did not erase them; a later life of the exchange did, or the keys are lost",
			"leads", loss.Erased, "files", firstFileNames(files))
	}
	if *loss == (KeyLoss{}) {
		x.logger.Info("files of leads' keys are missing or changed, but no lead in the log needs the lost keys")
	}
}

// firstFileNames returns at most five of the file names for a log message, followed by "and N
// more".
func firstFileNames(files []string) string {
	const most = 5
	if len(files) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], " "), len(files)-most)
	}
	return strings.Join(files, " ")
}

// findSuspectKeyFiles checks every file of leads' keys against its checksums, and creates
// checksums that are missing. It returns the reports of files in which a lead's key may be
// lost, by the file's first slot.
func (x *Exchange) findSuspectKeyFiles() (map[uint64]*leadkeys.ChecksumReport, error) {
	key, highest := deriveChecksumKey(x.vault), x.state.HighestKeySlot()
	suspect := map[uint64]*leadkeys.ChecksumReport{}
	made := 0
	for first := uint64(1); first <= highest; first += leadkeys.PerFile {
		if x.draining.Load() {
			return nil, throttle.ErrStopped
		}
		began := time.Now()
		r := leadkeys.CheckKeyFile(x.settings.DataDir, &key, first)
		if r.Lost == nil && r.Sums != nil {
			if err := x.createChecksums(r); err != nil {
				return nil, err
			}
			made++
		}
		if x.anyLeadMayLackKey(r, highest) {
			suspect[first] = r
		}
		time.Sleep(min(time.Since(began), throttle.MaxPause))
	}
	if made > 0 {
		x.logger.Info("created checksums for files of leads' keys that had none", "files", made)
	}
	return suspect, nil
}

// anyLeadMayLackKey reports whether the key of any slot up to highest in the checked file is
// lost. Keys that an operator erased are not lost. A slot may be unused, so this does not prove
// a lost lead.
func (x *Exchange) anyLeadMayLackKey(r *leadkeys.ChecksumReport, highest uint64) bool {
	if r.Lost != nil {
		return true
	}
	for slot := r.First; slot < r.First+leadkeys.PerFile && slot <= highest; slot++ {
		if r.Changed.Has(slot) || r.Erased.Has(slot) && !x.state.IsKeySlotErased(slot) {
			return true
		}
	}
	return false
}

// createChecksums creates the checksums of a key file that has none, from its current keys. It
// also replaces unusable checksums, with a warning.
func (x *Exchange) createChecksums(r *leadkeys.ChecksumReport) error {
	switch {
	case errors.Is(r.Sums, leadkeys.ErrSums):
		x.logger.Warn("checksums of leads' keys are unusable; they are created again from the current keys", "error", r.Sums)
	case !errors.Is(r.Sums, fs.ErrNotExist):
		return r.Sums
	}
	return x.keys.AddMissingChecksums(r.First)
}

// KeyReport is the result of CheckKeys.
type KeyReport struct {
	Files    int // files with keys of leads in the log
	Leads    uint64
	Loss     KeyLoss
	Problems []string // one line per file
	Notes    []string // one line per file with keys that a later life of the exchange may have erased
	Without  int      // files without checksums
}

// CheckKeys checks the encryption keys of all leads in the data directory dir, which an
// exchange may be using. The error is vault.ErrMissing if the exchange's own key is missing.
func CheckKeys(dir string) (*KeyReport, error) {
	v, err := vault.Open(dir, false)
	if err != nil {
		return nil, err
	}
	log, err := wal.NewReader(dir, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log in %q: %w", dir, err)
	}
	defer log.Close()
	leads, err := collectLeadSlots(log, func(uint64) bool { return true }, func() error { return nil })
	if err != nil {
		return nil, err
	}
	key, report := deriveChecksumKey(v), &KeyReport{}
	for first, of := range leads {
		r := leadkeys.CheckKeyFile(dir, &key, first)
		report.addFile(r, of)
	}
	return report, nil
}

// addFile adds the result r of checking one key file to the report. leads are the slots in the
// file that leads of the log use.
func (k *KeyReport) addFile(r *leadkeys.ChecksumReport, leads *leadkeys.SlotSet) {
	var here KeyLoss
	here.addFile(r, leads)
	k.Files++
	for _, word := range leads {
		k.Leads += uint64(bits.OnesCount64(word))
	}
	k.Loss.addLoss(here)
	name := "keys/leads/" + filepath.Base(r.Path)
	switch {
	case here.Missing > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be decrypted: %v", name, here.Missing, r.Lost))
	case here.Changed > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be decrypted: their keys were changed; restore the file from a backup", name, here.Changed))
	}
	if here.Erased > 0 {
		k.Notes = append(k.Notes, fmt.Sprintf("%s: %d leads cannot be decrypted: their keys are zeros, and this log did not erase them; a later life of the exchange did, or they are lost", name, here.Erased))
	}
	if r.Sums != nil {
		k.Without++
	}
}
