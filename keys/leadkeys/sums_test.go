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

func keyFilePath(dir string, first uint64) string {
	return filepath.Join(leadKeysFolder(dir), fileName(first))
}

func checksumFilePath(dir string, first uint64) string {
	return filepath.Join(checksumsFolder(dir), fileName(first))
}

// editFile replaces a file's content with the result of change.
func editFile(t testing.TB, path string, change func(text []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkFirstFile runs CheckKeyFile on the first file of a folder.
func checkFirstFile(dir string) *KeyFileReport { return CheckKeyFile(dir, &sumKey, 1, PerFile) }

func (r *KeyFileReport) isClean() bool {
	return r.Lost == nil && r.Sums == nil && r.Changed == KeyFileSlotSet{} && r.Erased == KeyFileSlotSet{}
}

// TestCheckFindsAllChangedBytes also covers swapped keys, files of another size, a missing file and
// another exchange's checksums.
func TestCheckFindsAllChangedBytes(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	if !checkFirstFile(dir).isClean() {
		t.Fatalf("%+v", checkFirstFile(dir))
	}
	step := 1
	if testing.Short() {
		step = 15
	}
	for _, slot := range []uint64{1, 2, 700, PerFile} {
		for at := 0; at < KeySize; at += step {
			flip := func(text []byte) []byte { text[(slot-1)*KeySize+uint64(at)] ^= 0x10; return text }
			editFile(t, keyFilePath(dir, 1), flip)
			r, want := checkFirstFile(dir), KeyFileSlotSet{}
			want.Add(slot)
			if r.Lost != nil || r.Sums != nil || r.Changed != want || r.Erased != (KeyFileSlotSet{}) || !r.Changed.Has(slot) || r.Changed.Has(slot%PerFile+1) {
				t.Errorf("byte %d of slot %d: the change is not found", at, slot)
			}
			editFile(t, keyFilePath(dir, 1), flip)
		}
	}
	editFile(t, keyFilePath(dir, 1), func(text []byte) []byte {
		return append(append(bytes.Clone(text[KeySize:2*KeySize]), text[:KeySize]...), text[2*KeySize:]...)
	})
	if r := checkFirstFile(dir); !r.Changed.Has(1) || !r.Changed.Has(2) || r.Changed.Has(3) {
		t.Error("swapped keys are not found")
	}
	for name, change := range map[string]func(text []byte) []byte{
		"truncated": func(text []byte) []byte { return text[:len(text)-1] }, "empty": func([]byte) []byte { return nil }, "longer": func(text []byte) []byte { return append(text, 0) },
	} {
		var original []byte
		editFile(t, keyFilePath(dir, 1), func(text []byte) []byte {
			original = bytes.Clone(text)
			return change(text)
		})
		if r := checkFirstFile(dir); r.Lost == nil {
			t.Errorf("%s: the damage is not found", name)
		}
		editFile(t, keyFilePath(dir, 1), func([]byte) []byte { return original })
	}
	if err := os.Remove(keyFilePath(dir, 1)); err != nil || !errors.Is(checkFirstFile(dir).Lost, fs.ErrNotExist) {
		t.Errorf("missing file: %v, %v", err, checkFirstFile(dir).Lost)
	}

	other := t.TempDir()
	s := must.Value(openKeyStore(other, 0, KeyFileChecksumKey{9}, func(string, error) {}, testFaults{}))(t)
	s.Close()
	if r := checkFirstFile(other); !errors.Is(r.Sums, ErrSums) {
		t.Errorf("another exchange's checksums: %v", r.Sums)
	}
}

// TestCheckEndsAtLastSlot: the check covers the last slot and reports no key after it.
func TestCheckEndsAtLastSlot(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	var used KeyFileSlotSet
	if got := used.HighestSlot(1); got != 0 {
		t.Errorf("an empty set has the highest slot %d", got)
	}
	editFile(t, keyFilePath(dir, 1), func(text []byte) []byte {
		for _, slot := range []uint64{1, 64, 65, 128, PerFile} {
			text[(slot-1)*KeySize] ^= 1
			used.Add(slot)
			if got := used.HighestSlot(1); got != slot {
				t.Errorf("highest slot %d, want %d", got, slot)
			}
		}
		return text
	})
	for _, last := range []uint64{1, 64, 127, 128, PerFile} {
		r := CheckKeyFile(dir, &sumKey, 1, last)
		for _, slot := range []uint64{1, 64, 65, 128, PerFile} {
			if r.Changed.Has(slot) != (slot <= last) {
				t.Errorf("check up to slot %d: slot %d is reported: %t", last, slot, r.Changed.Has(slot))
			}
		}
	}
}

// TestErasedKeysPassCheck: erasing does not change the checksums. A crash can leave a half-erased
// key, which the check finds and the next Erase completes.
func TestErasedKeysPassCheck(t *testing.T) {
	dir := t.TempDir()
	s, _ := openWithFaults(t, dir, 0, testFaults{})
	before := must.Value(os.ReadFile(checksumFilePath(dir, 1)))(t)
	must.Succeed(t, s.Erase([]uint64{3, PerFile}))
	r, want := checkFirstFile(dir), KeyFileSlotSet{}
	want.Add(3)
	want.Add(PerFile)
	if r.Sums != nil || r.Changed != (KeyFileSlotSet{}) || r.Erased != want {
		t.Errorf("check of two erased keys: %v and %v", r.Sums, r.Lost)
	}
	if after, err := os.ReadFile(checksumFilePath(dir, 1)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("Erase changed the checksums: %v", err)
	}
	editFile(t, keyFilePath(dir, 1), func(text []byte) []byte { clear(text[5*KeySize : 5*KeySize+16]); return text })
	if r := checkFirstFile(dir); !r.Changed.Has(6) {
		t.Error("a half-erased key is not found")
	}
	must.Succeed(t, s.Erase([]uint64{6}))
	want.Add(6)
	if r := checkFirstFile(dir); r.Changed != (KeyFileSlotSet{}) || r.Erased != want {
		t.Error("the key is not erased completely")
	}
	want.Remove(6)
	if want.Has(6) || !want.Has(3) {
		t.Error("SlotSet.Remove removed the wrong slot or none")
	}
}

// TestAddMissingChecksums: key files without checksums, as earlier programs wrote, work unchanged.
// WriteChecksumsOfCurrentKeys completes missing and damaged checksums.
func TestAddMissingChecksums(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(s *KeyStore) {
		must.Succeed(t, s.Erase([]uint64{9}))
	})
	for name, want := range map[string]struct {
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
			editFile(t, checksumFilePath(dir, 1), want.text)
		}
		if r := checkFirstFile(dir); !errors.Is(r.Sums, want.err) || r.Changed != (KeyFileSlotSet{}) || !r.Erased.Has(9) {
			t.Errorf("%s: %v", name, r.Sums)
		}
		withKeyStore(t, dir, 20, func(s *KeyStore) {
			if slot, key := mustNext(t, s); slot != 21 || key != keyOnDisk(t, dir, slot) {
				t.Errorf("%s: slot %d", name, slot)
			}
			must.Succeed(t, s.WriteChecksumsOfCurrentKeys(1))
		})
		if r := checkFirstFile(dir); r.Sums != nil || r.Changed != (KeyFileSlotSet{}) || !r.Erased.Has(9) {
			t.Errorf("%s, with checksums: %v", name, r.Sums)
		}
	}
}

// TestNextSkipsChangedKeys: Next skips a key that CheckKeyFile reports as changed. A changed key
// that is already in use stays readable.
func TestNextSkipsChangedKeys(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	editFile(t, keyFilePath(dir, 1), func(text []byte) []byte {
		for _, slot := range []int{2, 5, 6} {
			text[(slot-1)*KeySize] ^= 1
		}
		return text
	})
	s, _ := openWithFaults(t, dir, 3, testFaults{})
	for _, want := range []uint64{4, 7} {
		if slot, key := mustNext(t, s); slot != want || key != keyOnDisk(t, dir, slot) {
			t.Errorf("next slot is %d, want %d", slot, want)
		}
	}
	if key, err := s.keyOrZerosIfErased(2); err != nil || key != keyOnDisk(t, dir, 2) {
		t.Errorf("%v", err)
	}
}
