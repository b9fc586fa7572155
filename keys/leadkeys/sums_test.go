package leadkeys

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

func keyFile(dir string, first uint64) string {
	return filepath.Join(leadKeysFolder(dir), nameOf(first))
}

func sumFile(dir string, first uint64) string {
	return filepath.Join(checksumsFolder(dir), nameOf(first))
}

// edit changes a file in place.
func edit(t testing.TB, path string, change func(text []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// found checks the first file of a folder.
func found(dir string) *ChecksumReport { return CheckKeyFile(dir, &sumKey, 1) }

func (r *ChecksumReport) whole() bool {
	return r.Lost == nil && r.Sums == nil && r.Changed == SlotSet{} && r.Erased == SlotSet{}
}

// Check also detects a key in another slot, a file under another name, and another
// exchange's file with its own checksums.
func TestCheckFindsEveryChangedByte(t *testing.T) {
	dir := t.TempDir()
	once(t, dir, 0, func(*KeyStore) {})
	if !found(dir).whole() {
		t.Fatalf("%+v", found(dir))
	}
	for _, slot := range []uint64{1, 2, 700, PerFile} {
		for at := range KeySize {
			flip := func(text []byte) []byte { text[(slot-1)*KeySize+uint64(at)] ^= 0x10; return text }
			edit(t, keyFile(dir, 1), flip)
			r, want := found(dir), SlotSet{}
			want.Add(slot)
			if r.Lost != nil || r.Sums != nil || r.Changed != want || r.Erased != (SlotSet{}) || !r.Changed.Has(slot) || r.Changed.Has(slot%PerFile+1) {
				t.Errorf("byte %d of slot %d: not found", at, slot)
			}
			edit(t, keyFile(dir, 1), flip)
		}
	}
	edit(t, keyFile(dir, 1), func(text []byte) []byte {
		return append(append(bytes.Clone(text[KeySize:2*KeySize]), text[:KeySize]...), text[2*KeySize:]...)
	})
	if r := found(dir); !r.Changed.Has(1) || !r.Changed.Has(2) || r.Changed.Has(3) {
		t.Error("two keys in each other's place are not found")
	}
	for what, change := range map[string]func(text []byte) []byte{
		"cut": func(text []byte) []byte { return text[:len(text)-1] }, "empty": func([]byte) []byte { return nil }, "longer": func(text []byte) []byte { return append(text, 0) },
	} {
		var whole []byte
		edit(t, keyFile(dir, 1), func(text []byte) []byte {
			whole = bytes.Clone(text)
			return change(text)
		})
		if r := found(dir); r.Lost == nil {
			t.Errorf("%s: not found", what)
		}
		edit(t, keyFile(dir, 1), func([]byte) []byte { return whole })
	}
	if err := os.Remove(keyFile(dir, 1)); err != nil || !errors.Is(found(dir).Lost, fs.ErrNotExist) {
		t.Errorf("missing: %v, %v", err, found(dir).Lost)
	}

	other := t.TempDir()
	s := must.Value(open(other, 0, SumKey{9}, func(string, error) {}, testFaults{}))(t)
	s.Close()
	if r := found(other); !errors.Is(r.Sums, ErrSums) {
		t.Errorf("another exchange's: %v", r.Sums)
	}
}

// Erasing does not change the checksums. A crash during the write leaves a key that the
// next start erases.
func TestErasedKeyFitsEveryChecksum(t *testing.T) {
	dir := t.TempDir()
	s, _ := begin(t, dir, 0, testFaults{})
	before := must.Value(os.ReadFile(sumFile(dir, 1)))(t)
	must.Succeed(t, s.Erase([]uint64{3, PerFile}))
	r, want := found(dir), SlotSet{}
	want.Add(3)
	want.Add(PerFile)
	if r.Sums != nil || r.Changed != (SlotSet{}) || r.Erased != want {
		t.Errorf("two keys are erased, and the check found %v and %v", r.Sums, r.Lost)
	}
	if after, err := os.ReadFile(sumFile(dir, 1)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the checksums were written: %v", err)
	}
	edit(t, keyFile(dir, 1), func(text []byte) []byte { clear(text[5*KeySize : 5*KeySize+16]); return text })
	if r := found(dir); !r.Changed.Has(6) {
		t.Error("half an erased key is not found")
	}
	must.Succeed(t, s.Erase([]uint64{6}))
	want.Add(6)
	if r := found(dir); r.Changed != (SlotSet{}) || r.Erased != want {
		t.Error("erased again it is not whole")
	}
	want.Remove(6)
	if want.Has(6) || !want.Has(3) {
		t.Error("the set keeps what is removed")
	}
}

// Files of an earlier program have no checksums and are used unchanged.
// AddMissingChecksums adds checksums to them and to files with damaged ones, but not to
// files of a later program.
func TestFilesOfAnEarlierProgram(t *testing.T) {
	dir := t.TempDir()
	once(t, dir, 0, func(s *KeyStore) {
		must.Succeed(t, s.Erase([]uint64{9}))
	})
	for what, want := range map[string]struct {
		text func(text []byte) []byte
		err  error
	}{
		"none":    {nil, fs.ErrNotExist},
		"flipped": {func(text []byte) []byte { text[20] ^= 1; return text }, ErrSums},
		"cut":     {func(text []byte) []byte { return text[:len(text)-1] }, ErrSums},
		"empty":   {func([]byte) []byte { return nil }, ErrSums},
		"later":   {func(text []byte) []byte { text[len(sumsName)] = '2'; return text }, ErrNewerVersion},
	} {
		if want.text == nil {
			must.Succeed(t, os.RemoveAll(checksumsFolder(dir)))
		} else {
			edit(t, sumFile(dir, 1), want.text)
		}
		if r := found(dir); !errors.Is(r.Sums, want.err) || r.Changed != (SlotSet{}) || !r.Erased.Has(9) {
			t.Errorf("%s: %v", what, r.Sums)
		}
		once(t, dir, 20, func(s *KeyStore) {
			if slot, key := take(t, s); slot != 21 || key != onDisk(t, dir, slot) {
				t.Errorf("%s: slot %d", what, slot)
			}
			must.Succeed(t, s.AddMissingChecksums(1))
		})
		if r := found(dir); r.Sums != nil || r.Changed != (SlotSet{}) || !r.Erased.Has(9) {
			t.Errorf("%s, with checksums: %v", what, r.Sums)
		}
	}
}

// No lead is sealed with a key that Check would report as changed. A changed key that is
// already in use stays as it is.
func TestChangedKeyIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	once(t, dir, 0, func(*KeyStore) {})
	edit(t, keyFile(dir, 1), func(text []byte) []byte {
		for _, slot := range []int{2, 5, 6} {
			text[(slot-1)*KeySize] ^= 1
		}
		return text
	})
	s, _ := begin(t, dir, 3, testFaults{})
	for _, want := range []uint64{4, 7} {
		if slot, key := take(t, s); slot != want || key != onDisk(t, dir, slot) {
			t.Errorf("slot %d is taken, want %d", slot, want)
		}
	}
	if key, err := s.keyOfSlot(2); err != nil || key != onDisk(t, dir, 2) {
		t.Errorf("%v", err)
	}
}
