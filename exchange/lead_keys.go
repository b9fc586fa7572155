package exchange

import (
	"errors"
	"fmt"
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

// LeadKeyLoss counts leads whose contact data cannot be decrypted, by the defect of their keys.
// Leads that an operator erased do not count.
type LeadKeyLoss struct {
	Missing uint64 // the file of keys is missing, unreadable or of the wrong size
	Changed uint64 // the key does not match its checksum
	Erased  uint64 // the key is all zeros, and the log did not erase it
}

// deriveChecksumKey returns the secret with which the checksums of the leads' encryption keys
// are computed.
func deriveChecksumKey(v *vault.Vault) leadkeys.KeyFileChecksumKey { return v.DeriveKey("lead keys") }

// collectKeySlotsOfLeads reads a log and returns the key slots that its leads use, by the first slot
// of each key file. It omits erased leads, and files for which wantsKeyFile returns false. It calls
// pause before each entry and ends with the error of pause.
func collectKeySlotsOfLeads(log logEntryReader, wantsKeyFile func(firstSlot uint64) bool, pause func() error) (map[uint64]*leadkeys.KeyFileSlotSet, error) {
	found := map[uint64]*leadkeys.KeyFileSlotSet{}
	err := forEachEvent("find the lead keys in use", log, pause, func(_ uint64, ev event.Event) (bool, error) {
		switch ev := ev.(type) {
		case *event.LeadDecided:
			first := leadkeys.FirstSlotOfFile(ev.Slot)
			if ev.Slot == 0 || !wantsKeyFile(first) {
				break
			}
			if found[first] == nil {
				found[first] = new(leadkeys.KeyFileSlotSet)
			}
			found[first].Add(ev.Slot)
		case *event.PersonalDataOfLeadsErased:
			for _, slot := range ev.Slots {
				if set := found[leadkeys.FirstSlotOfFile(slot)]; set != nil {
					set.Remove(slot)
				}
			}
		}
		return true, nil
	})
	return found, err
}

// addCheckedKeyFile counts the leads of one key file whose keys are unusable. checked is the result
// of checking the file. usedSlots are the slots in the file that leads of the log use.
func (l *LeadKeyLoss) addCheckedKeyFile(checked *leadkeys.KeyFileReport, usedSlots *leadkeys.KeyFileSlotSet) {
	if usedSlots == nil {
		return
	}
	for i := range usedSlots {
		if checked.Lost != nil {
			l.Missing += uint64(bits.OnesCount64(usedSlots[i]))
			continue
		}
		l.Changed += uint64(bits.OnesCount64(usedSlots[i] & checked.Changed[i]))
		l.Erased += uint64(bits.OnesCount64(usedSlots[i] & checked.Erased[i]))
	}
}

// addLoss adds the counts of another LeadKeyLoss.
func (l *LeadKeyLoss) addLoss(other LeadKeyLoss) {
	l.Missing, l.Changed, l.Erased = l.Missing+other.Missing, l.Changed+other.Changed, l.Erased+other.Erased
}

// leadKeyLossCheck compares the leads' encryption keys with their checksums once after each start, in
// the background. It logs lost keys and counts them for the metrics.
type leadKeyLossCheck struct {
	loss atomic.Pointer[LeadKeyLoss]
	done chan struct{}
}

func (c *leadKeyLossCheck) startInBackground(x *Exchange) {
	c.loss.Store(new(LeadKeyLoss))
	x.meter.AddGauge(`pingpost_lead_keys_lost{reason="missing"}`, func() float64 { return float64(c.loss.Load().Missing) })
	x.meter.AddGauge(`pingpost_lead_keys_lost{reason="changed"}`, func() float64 { return float64(c.loss.Load().Changed) })
	x.meter.AddGauge(`pingpost_lead_keys_lost{reason="erased"}`, func() float64 { return float64(c.loss.Load().Erased) })
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
func (c *leadKeyLossCheck) wait() {
	if c.done != nil {
		<-c.done
	}
}

func (c *leadKeyLossCheck) run(x *Exchange) error {
	suspect, err := x.findSuspectKeyFilesAndAddChecksums()
	if err != nil || len(suspect) == 0 {
		return err
	}
	log, err := x.log.NewReaderFromSegmentBefore(0)
	if err != nil {
		return fmt.Errorf("cannot read the log to find the lead keys in use: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScanThrottle(throttle.ScanChunk, &x.draining)
	leads, err := collectKeySlotsOfLeads(log, func(first uint64) bool { return suspect[first] != nil }, func() error { return pace.PauseIfChunkWasRead(log.RecordBytesRead()) })
	if err != nil {
		return err
	}
	var loss LeadKeyLoss
	var files []string
	for first, r := range suspect {
		var here LeadKeyLoss
		if here.addCheckedKeyFile(r, leads[first]); here != (LeadKeyLoss{}) {
			files = append(files, filepath.Base(r.Path))
		}
		loss.addLoss(here)
	}
	c.loss.Store(&loss)
	c.logLoss(x, &loss, files)
	return nil
}

func (c *leadKeyLossCheck) logLoss(x *Exchange, loss *LeadKeyLoss, files []string) {
	if n := loss.Missing + loss.Changed; n > 0 {
		x.logger.Error("leads cannot be decrypted: files of their keys are missing or changed; restore these files of keys/leads and keys/checksums from a backup",
			"leads", n, "missing", loss.Missing, "changed", loss.Changed, "files", joinAtMostFiveNames(files))
	}
	if loss.Erased > 0 {
		x.logger.Warn("leads cannot be decrypted: their keys are zeros, and this log did not erase them; if the exchange was restored to an earlier entry, it had erased them after that entry; otherwise the keys are lost",
			"leads", loss.Erased, "files", joinAtMostFiveNames(files))
	}
	if *loss == (LeadKeyLoss{}) {
		x.logger.Info("files of leads' keys are missing or changed, but no lead in the log needs the lost keys")
	}
}

// joinAtMostFiveNames returns at most five of the file names for a log message, followed by "and N
// more".
func joinAtMostFiveNames(files []string) string {
	const most = 5
	if len(files) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], " "), len(files)-most)
	}
	return strings.Join(files, " ")
}

// findSuspectKeyFilesAndAddChecksums checks every file of leads' keys against its checksums, and creates
// checksums that are missing. It returns the reports of files in which a lead's key may be
// lost, by the file's first slot.
func (x *Exchange) findSuspectKeyFilesAndAddChecksums() (map[uint64]*leadkeys.KeyFileReport, error) {
	key, highest := deriveChecksumKey(x.vault), x.state.HighestEncryptionKeySlot()
	suspect := map[uint64]*leadkeys.KeyFileReport{}
	created := 0
	for first := uint64(1); first <= highest; first += leadkeys.PerFile {
		if x.draining.Load() {
			return nil, throttle.ErrStopped
		}
		began := time.Now()
		r := leadkeys.CheckKeyFile(x.settings.DataDir, &key, first, highest)
		if r.Lost == nil && r.Sums != nil {
			if err := x.createChecksumsIfMissingOrUnusable(r); err != nil {
				return nil, err
			}
			created++
		}
		if x.mayAnyLeadLackKey(r, highest) {
			suspect[first] = r
		}
		time.Sleep(min(time.Since(began), throttle.MaxPause))
	}
	if created > 0 {
		x.logger.Info("created checksums for files of leads' keys whose checksums were missing or unusable", "files", created)
	}
	return suspect, nil
}

// mayAnyLeadLackKey reports whether the key of any slot up to highestSlot in the checked file is
// lost. Keys that an operator erased are not lost. A slot may be unused, so this does not prove
// a lost lead.
func (x *Exchange) mayAnyLeadLackKey(checked *leadkeys.KeyFileReport, highestSlot uint64) bool {
	if checked.Lost != nil {
		return true
	}
	for slot := checked.First; slot < checked.First+leadkeys.PerFile && slot <= highestSlot; slot++ {
		if checked.Changed.Has(slot) || checked.Erased.Has(slot) && !x.state.IsEncryptionKeySlotErased(slot) {
			return true
		}
	}
	return false
}

// createChecksumsIfMissingOrUnusable creates the checksums of a key file that has none, from its
// current keys. It also replaces unusable checksums, with a warning.
func (x *Exchange) createChecksumsIfMissingOrUnusable(checked *leadkeys.KeyFileReport) error {
	switch {
	case errors.Is(checked.Sums, leadkeys.ErrSums):
		x.logger.Warn("checksums of leads' keys are unusable; they are created again from the current keys", "error", checked.Sums)
	case !errors.Is(checked.Sums, fs.ErrNotExist):
		return checked.Sums
	}
	return x.keys.WriteChecksumsOfCurrentKeys(checked.First)
}

// LeadKeyReport is the result of CheckLeadKeys.
type LeadKeyReport struct {
	Files                 int // files with keys of leads in the log
	Leads                 uint64
	Loss                  LeadKeyLoss
	Problems              []string // one line per file
	Notes                 []string // one line per file with keys that the exchange may have erased after the entry to which it was restored
	FilesWithoutChecksums int      // files without usable checksums
}

// CheckLeadKeys checks the encryption keys of all leads in the data directory dataDir, which an
// exchange may be using. The error is vault.ErrMissing if the exchange's own key is missing.
func CheckLeadKeys(dataDir string) (*LeadKeyReport, error) {
	v, err := vault.OpenExchangeKey(dataDir, false)
	if err != nil {
		return nil, err
	}
	log, err := wal.NewReader(dataDir, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log in %q: %w", dataDir, err)
	}
	defer log.Close()
	leads, err := collectKeySlotsOfLeads(log, func(uint64) bool { return true }, func() error { return nil })
	if err != nil {
		return nil, err
	}
	key, report := deriveChecksumKey(v), &LeadKeyReport{}
	for first, of := range leads {
		r := leadkeys.CheckKeyFile(dataDir, &key, first, of.HighestSlot(first))
		report.addCheckedKeyFile(r, of)
	}
	return report, nil
}

// addCheckedKeyFile adds the result of checking one key file to the report. usedSlots are the slots
// in the file that leads of the log use.
func (k *LeadKeyReport) addCheckedKeyFile(checked *leadkeys.KeyFileReport, usedSlots *leadkeys.KeyFileSlotSet) {
	var here LeadKeyLoss
	here.addCheckedKeyFile(checked, usedSlots)
	k.Files++
	for _, word := range usedSlots {
		k.Leads += uint64(bits.OnesCount64(word))
	}
	k.Loss.addLoss(here)
	name := "keys/leads/" + filepath.Base(checked.Path)
	switch {
	case here.Missing > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be decrypted: %v", name, here.Missing, checked.Lost))
	case here.Changed > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be decrypted: their keys were changed; restore the file from a backup", name, here.Changed))
	}
	if here.Erased > 0 {
		k.Notes = append(k.Notes, fmt.Sprintf("%s: %d leads cannot be decrypted: their keys are zeros, and this log did not erase them; if the exchange was restored to an earlier entry, it had erased them after that entry; otherwise the keys are lost", name, here.Erased))
	}
	if checked.Sums != nil {
		k.FilesWithoutChecksums++
	}
}
