package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pingpost/fuzz/witness"
	"pingpost/keys/leadkeys"
)

// encryptedEntry is a log entry with a part that is encrypted with a lead's key.
type encryptedEntry struct{ seq, slot uint64 }

// erasure is a log entry that drops keys.
type erasure struct {
	seq   uint64
	slots []uint64
}

// keyFiles holds the files of lead keys by their first slot.
type keyFiles map[uint64][]byte

func readKeys(dir string) (keyFiles, error) {
	files := keyFiles{}
	folder := filepath.Join(dir, "keys", "leads")
	names, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	for _, name := range names {
		first, wrong := strconv.ParseUint(name.Name(), 10, 64)
		if wrong != nil {
			continue // a temporary file
		}
		if files[first], err = os.ReadFile(filepath.Join(folder, name.Name())); err != nil {
			return nil, err
		}
	}
	return files, err
}

// keyOf returns the key of a slot, or nil if its file is missing or too short.
func (k keyFiles) keyOf(slot uint64) []byte {
	first := (slot-1)/leadkeys.PerFile*leadkeys.PerFile + 1
	if at := (slot - first) * leadkeys.KeySize; at+leadkeys.KeySize <= uint64(len(k[first])) {
		return k[first][at : at+leadkeys.KeySize]
	}
	return nil
}

var zeroKey = make([]byte, leadkeys.KeySize)

// checkLeadKeys checks that the key of every lead in the log is present unless it was dropped.
// A key with an acknowledged erasure must be gone.
func (o *openedDir) checkLeadKeys(written *writtenLog, acknowledgedErasures int) error {
	if len(written.index.sealed) == 0 {
		return nil
	}
	keys, err := readKeys(o.dir)
	if err != nil {
		return err
	}
	last := uint64(len(o.entries))
	for _, part := range written.index.sealed {
		if part.seq > last {
			break
		}
		was, is := written.keys.keyOf(part.slot), keys.keyOf(part.slot)
		if !bytes.Equal(was, zeroKey) && !bytes.Equal(was, is) {
			return fmt.Errorf("entry %d is encrypted with the key of slot %d, which is lost", part.seq, part.slot)
		}
	}
	for _, e := range written.index.erased[:acknowledgedErasures] {
		for _, slot := range e.slots {
			if is := keys.keyOf(slot); !bytes.Equal(is, zeroKey) {
				return fmt.Errorf("entry %d drops the key of slot %d (acknowledged), but the key is present", e.seq, slot)
			}
		}
	}
	return nil
}

// eraseLead erases a lead that has no delivery.
func (r *recording) eraseLead(p *process) error {
	for range 20 {
		t := r.clients.answers.pickRandom(r.random)
		var said ingestAnswer
		if t == nil || json.Unmarshal([]byte(t.Response.Body), &said) != nil || !strings.HasPrefix(said.Data.Buyer, "rec_") || r.erased[said.Data.ID] {
			continue
		}
		r.erased[said.Data.ID] = true
		_, err := p.adminCall(r.ctx, "POST", "/admin/v1/erase", string(witness.Encode(object{"lead": said.Data.ID})))
		return err
	}
	return nil
}
