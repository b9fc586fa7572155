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

// KeyLoss counts leads of the log that their keys do not open, by the reason. Leads that
// the log erased are not among them.
type KeyLoss struct {
	Missing uint64 // the file of keys is missing, or of another size
	Changed uint64 // the key does not fit its checksum
	Erased  uint64 // the key is zeros, and the log did not erase it
}

// keySumsKey returns the key of the checksums of the leads' keys.
func keySumsKey(v *vault.Vault) leadkeys.SumKey { return v.Derive("lead keys") }

// leadSlots reads a log and returns the slots of its leads that it did not erase, for each
// file of keys that is wanted.
func leadSlots(log entrySource, wanted func(first uint64) bool, rest func() error) (map[uint64]*leadkeys.Set, error) {
	found := map[uint64]*leadkeys.Set{}
	decoder := &event.Decoder{ForReplay: true}
	for {
		if err := rest(); err != nil {
			return nil, err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the log: %w", err)
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return nil, fmt.Errorf("cannot read entry %d of the log: %w", entry.Seq, err)
		}
		switch fact := fact.(type) {
		case *event.LeadDecided:
			if fact.Slot == 0 || !wanted(leadkeys.FirstOf(fact.Slot)) {
				continue
			}
			first := leadkeys.FirstOf(fact.Slot)
			if found[first] == nil {
				found[first] = new(leadkeys.Set)
			}
			found[first].Add(fact.Slot)
		case *event.LeadsErased:
			for _, slot := range fact.Slots {
				if set := found[leadkeys.FirstOf(slot)]; set != nil {
					set.Remove(slot)
				}
			}
		}
	}
}

// add counts the leads of one file.
func (l *KeyLoss) add(r *leadkeys.Report, leads *leadkeys.Set) {
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

// plus adds the leads of other files.
func (l *KeyLoss) plus(other KeyLoss) {
	l.Missing, l.Changed, l.Erased = l.Missing+other.Missing, l.Changed+other.Changed, l.Erased+other.Erased
}

// keyCheck compares the leads' keys with their checksums, once after each start, beside
// serving.
type keyCheck struct {
	missing, changed, erased atomic.Uint64 // leads
	done                     chan struct{}
}

func (c *keyCheck) start(x *Exchange) {
	gauge := func(reason string, leads *atomic.Uint64) {
		x.meter.Gauge(`pingpost_lead_keys_lost{reason="`+reason+`"}`, func() float64 { return float64(leads.Load()) })
	}
	gauge("missing", &c.missing)
	gauge("changed", &c.changed)
	gauge("erased", &c.erased)
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		err := c.run(x)
		if err != nil && !errors.Is(err, throttle.ErrStopped) {
			x.logger.Error("the keys of leads cannot be checked", "error", err)
		}
	}()
}

// end waits for the check, which stops once the exchange drains.
func (c *keyCheck) wait() {
	if c.done != nil {
		<-c.done
	}
}

func (c *keyCheck) run(x *Exchange) error {
	suspect, err := x.suspectKeys()
	if err != nil || len(suspect) == 0 {
		return err
	}
	log, err := x.log.NewReaderSince(0)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	defer log.Close()
	pace := throttle.NewScan(throttle.ScanChunk, &x.draining)
	leads, err := leadSlots(log, func(first uint64) bool { return suspect[first] != nil }, func() error { return pace.Pause(log.Bytes()) })
	if err != nil {
		return err
	}
	var loss KeyLoss
	var files []string
	for first, r := range suspect {
		var here KeyLoss
		if here.add(r, leads[first]); here != (KeyLoss{}) {
			files = append(files, filepath.Base(r.Path))
		}
		loss.plus(here)
	}
	c.missing.Store(loss.Missing)
	c.changed.Store(loss.Changed)
	c.erased.Store(loss.Erased)
	c.report(x, &loss, files)
	return nil
}

func (c *keyCheck) report(x *Exchange, loss *KeyLoss, files []string) {
	if n := loss.Missing + loss.Changed; n > 0 {
		x.logger.Error("leads cannot be opened: files of their keys are missing or changed; put these files of keys/leads and keys/checksums back from a backup",
			"leads", n, "missing", loss.Missing, "changed", loss.Changed, "files", shortList(files))
	}
	if loss.Erased > 0 {
		x.logger.Warn("leads cannot be opened: their keys are zeros, and this log did not erase them; a later life of the exchange did, or the keys are lost",
			"leads", loss.Erased, "files", shortList(files))
	}
	if *loss == (KeyLoss{}) {
		x.logger.Info("files of leads' keys are missing or changed, and no lead in the log needs what they lack")
	}
}

// shortList names a few files.
func shortList(files []string) string {
	const most = 5
	if len(files) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], " "), len(files)-most)
	}
	return strings.Join(files, " ")
}

// suspectKeys checks each file that a lead may have a key in, by its first slot, and
// returns those that may lack one. Files without checksums get them.
func (x *Exchange) suspectKeys() (map[uint64]*leadkeys.Report, error) {
	key, highest := keySumsKey(x.vault), x.state.HighestSlot()
	suspect := map[uint64]*leadkeys.Report{}
	made := 0
	for first := uint64(1); first <= highest; first += leadkeys.PerFile {
		if x.draining.Load() {
			return nil, throttle.ErrStopped
		}
		began := time.Now()
		r := leadkeys.Check(x.settings.DataDir, &key, first)
		if r.Lost == nil && r.Sums != nil {
			if err := x.addKeySums(r); err != nil {
				return nil, err
			}
			made++
		}
		if x.isSuspect(r, highest) {
			suspect[first] = r
		}
		time.Sleep(min(time.Since(began), throttle.MaxPause))
	}
	if made > 0 {
		x.logger.Info("checksums of leads' keys were made for files that had none", "files", made)
	}
	return suspect, nil
}

// suspects reports whether a lead may lack its key.
func (x *Exchange) isSuspect(r *leadkeys.Report, highest uint64) bool {
	if r.Lost != nil {
		return true
	}
	for slot := r.First; slot < r.First+leadkeys.PerFile && slot <= highest; slot++ {
		if r.Changed.Has(slot) || r.Erased.Has(slot) && !x.state.SlotErased(slot) {
			return true
		}
	}
	return false
}

// addKeySums makes the checksums of a file that has none that can be used.
func (x *Exchange) addKeySums(r *leadkeys.Report) error {
	switch {
	case errors.Is(r.Sums, leadkeys.ErrSums):
		x.logger.Warn("checksums of leads' keys cannot be used, and are made again of the keys as they are", "error", r.Sums)
	case !errors.Is(r.Sums, fs.ErrNotExist):
		return r.Sums
	}
	return x.keys.AddSums(r.First)
}

// KeyReport is what CheckKeys found.
type KeyReport struct {
	Files    int // that leads of the log have keys in
	Leads    uint64
	Loss     KeyLoss
	Problems []string // a line a file
	Notes    []string // the same, of keys that a later life of the exchange may have erased
	Without  int      // files without checksums
}

// CheckKeys checks the keys of all leads of a log that may be in use. The error is
// vault.ErrMissing where the exchange's own key is not there.
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
	leads, err := leadSlots(log, func(uint64) bool { return true }, func() error { return nil })
	if err != nil {
		return nil, err
	}
	key, report := keySumsKey(v), &KeyReport{}
	for first, of := range leads {
		r := leadkeys.Check(dir, &key, first)
		report.add(r, of)
	}
	return report, nil
}

// add adds one file.
func (k *KeyReport) add(r *leadkeys.Report, leads *leadkeys.Set) {
	var here KeyLoss
	here.add(r, leads)
	k.Files++
	for _, word := range leads {
		k.Leads += uint64(bits.OnesCount64(word))
	}
	k.Loss.plus(here)
	name := "keys/leads/" + filepath.Base(r.Path)
	switch {
	case here.Missing > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be opened: %v", name, here.Missing, r.Lost))
	case here.Changed > 0:
		k.Problems = append(k.Problems, fmt.Sprintf("%s: %d leads cannot be opened: their keys were changed; put the file back from a backup", name, here.Changed))
	}
	if here.Erased > 0 {
		k.Notes = append(k.Notes, fmt.Sprintf("%s: %d leads cannot be opened: their keys are zeros, and this log did not erase them; a later life of the exchange did, or they are lost", name, here.Erased))
	}
	if r.Sums != nil {
		k.Without++
	}
}
