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

	"pingpost/keys/leadkeys"
)

// sealed is a part of an entry that a lead's own key opens.
type sealed struct{ seq, slot uint64 }

// erasure is an entry that drops keys.
type erasure struct {
	seq   uint64
	slots []uint64
}

// keyFiles are the files of leads' keys, by their first slot.
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
			continue // one that was never finished
		}
		if files[first], err = os.ReadFile(filepath.Join(folder, name.Name())); err != nil {
			return nil, err
		}
	}
	return files, err
}

// of is a slot's key; none where its file is not there, or ends before it.
func (k keyFiles) of(slot uint64) []byte {
	first := (slot-1)/leadkeys.PerFile*leadkeys.PerFile + 1
	if at := (slot - first) * leadkeys.KeySize; at+leadkeys.KeySize <= uint64(len(k[first])) {
		return k[first][at : at+leadkeys.KeySize]
	}
	return nil
}

var dropped = make([]byte, leadkeys.KeySize)

// persons sees that the key of every lead in the log is the one that it was sealed
// with, unless it was dropped, and that one which was told to be dropped is.
func (o *opened) persons(t *truth, erasures int) error {
	if len(t.facts.sealed) == 0 {
		return nil
	}
	keys, err := readKeys(o.dir)
	if err != nil {
		return err
	}
	last := uint64(len(o.entries))
	for _, part := range t.facts.sealed {
		if part.seq > last {
			break
		}
		was, is := t.keys.of(part.slot), keys.of(part.slot)
		if !bytes.Equal(was, dropped) && !bytes.Equal(was, is) {
			return fmt.Errorf("entry %d is sealed under slot %d, whose key is lost", part.seq, part.slot)
		}
	}
	for _, e := range t.facts.erased[:erasures] {
		for _, slot := range e.slots {
			if is := keys.of(slot); !bytes.Equal(is, dropped) {
				return fmt.Errorf("entry %d drops the key of slot %d, which was told, and the key is there", e.seq, slot)
			}
		}
	}
	return nil
}

// erase has a lead erased that is on its way to nobody.
func (r *recording) erase(p *process) error {
	for range 20 {
		t := r.crowd.ledger.pick(r.chance)
		var said saidOfLead
		if t == nil || json.Unmarshal([]byte(t.Response.Body), &said) != nil || !strings.HasPrefix(said.Data.Buyer, "rec_") || r.gone[said.Data.ID] {
			continue
		}
		r.gone[said.Data.ID] = true
		return p.operate(r.ctx, "POST", "/admin/v1/erase", encode(object{"lead": said.Data.ID}))
	}
	return nil
}
