package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/wal"
	"pingpost/wal/backup/store"

	"pingpost/internal/must"
)

// backedUp returns a site with objects of all kinds, and its backup.
func backedUp(t *testing.T, read, write *Key) (*site, store.Store) {
	t.Helper()
	s := newSite(t, t.TempDir())
	s.many(30)
	s.snapshot(25)
	whole := random(8 * keySize)
	clear(whole[:keySize])
	s.file(slots, string(whole))
	s.file("catalogs/one.json", `{"a":1}`)
	s.file("lists/empty", "")
	s.settle()
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, write)).Close()
	s.many(10)
	ship(t, s, small(to, write)).Close()
	check(t, NewRepository(to, read), 1)
	return s, to
}

// A restored folder has the files next to the log, and only its owner can read them.
func TestRestoredFolderIsComplete(t *testing.T) {
	s, to := backedUp(t, nil, nil)
	dir, done := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "new", "data")})
	for _, name := range []string{"keys/" + exchangeKey, slots, "catalogs/one.json", "lists/empty"} {
		want := must.Value(os.ReadFile(filepath.Join(s.dir, name)))(s.t)
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
	if done.Snapshot != 30 || done.Seq != 40 || done.First != 1 {
		t.Errorf("restored %+v", done)
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		s.must(err)
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	s.must(err)
}

// No object is larger than a piece.
func TestLargeFilesGoInPieces(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(2)
	full, recipient := identity(t)
	to := newDir(t, t.TempDir())
	for name, size := range map[string]int{"lists/exact": pieceSize, "lists/twice": 2 * pieceSize, "lists/more": 2*pieceSize + 1} {
		s.file(name, string(random(size)))
	}
	ship(t, s, small(to, recipient)).Close()
	objects := must.Value(to.List(t.Context(), ""))(s.t)
	for _, o := range objects {
		if o.Size > pieceSize+pieceSize/1000 {
			t.Errorf("%s has %d bytes", o.Name, o.Size)
		}
	}
	dir, _ := restored(t, to, full, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
	for _, name := range []string{"lists/exact", "lists/twice", "lists/more"} {
		want := must.Value(os.ReadFile(filepath.Join(s.dir, name)))(s.t)
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
}

// If any request to the store fails, Restore leaves no folder that could be served, and
// the next Restore succeeds.
func TestRestoreBreaksOff(t *testing.T) {
	s, inner := backedUp(t, nil, nil)
	dir := filepath.Join(t.TempDir(), "data")
	for at := 1; at < 200; at++ {
		from := &flaky{Store: inner, fails: func(op int, _, _ string) (int, error) {
			if op == at {
				return 0, errFlaky
			}
			return 0, nil
		}}
		_, err := NewRepository(from, nil).Restore(t.Context(), RestoreOptions{Dir: dir})
		if err == nil && at < 12 {
			t.Errorf("it took %d requests", at)
		}
		if err == nil {
			break
		}
		if _, there := os.Stat(dir); !errors.Is(err, errFlaky) || !os.IsNotExist(there) {
			t.Fatalf("request %d fails: %v, and the folder is there: %v", at, err, there)
		}
	}
	if _, err := os.Stat(dir + temporarySuffix); !os.IsNotExist(err) {
		t.Errorf("something is left: %v", err)
	}
	sameLog(t, dir, s.entries, RestoreResult{First: 1, Seq: 40, Epoch: mustEpoch(t, dir), Snapshot: 30})
}

func mustEpoch(t *testing.T, dir string) uint32 {
	t.Helper()
	epoch, err := wal.ReadEpoch(dir)
	if err != nil || epoch < 2 {
		t.Fatalf("life %d, %v", epoch, err)
	}
	return epoch
}

func TestRestoreRefuses(t *testing.T) {
	full, recipient := identity(t)
	other, _ := identity(t)
	s, to := backedUp(t, full, recipient)
	_, open := backedUp(t, nil, nil)
	used := t.TempDir()
	s.must(os.WriteFile(filepath.Join(used, "file"), nil, 0o600))
	begin := time.Unix(0, s.entries[0].At)
	for _, row := range []struct {
		what, says string
		from       store.Store
		key        *Key
		opt        RestoreOptions
	}{
		{"a folder that is in use", "not empty", to, full, RestoreOptions{Dir: used}},
		{"without the key", "is encrypted", to, nil, RestoreOptions{}},
		{"with the recipient alone", "is encrypted", to, recipient, RestoreOptions{}},
		{"with another key", "does not open it", to, other, RestoreOptions{}},
		{"an unencrypted one with a key", "is not encrypted", open, full, RestoreOptions{}},
		{"from an empty place", "there is no backup", newDir(t, t.TempDir()), nil, RestoreOptions{}},
		{"an entry that is to come", "ends with entry 40", to, full, RestoreOptions{At: RestorePoint{Seq: 41}}},
		{"a time before the first", "begins after that time", to, full, RestoreOptions{At: RestorePoint{Time: begin.Add(-1)}}},
		{"a generation that is not there", "no backup that can be restored", to, full, RestoreOptions{Generation: 2}},
		{"what does not check", "no good", to, full, RestoreOptions{Check: func(string) error { return errors.New("no good") }}},
	} {
		if row.opt.Dir == "" {
			row.opt.Dir = filepath.Join(t.TempDir(), "data")
		}
		_, err := NewRepository(row.from, row.key).Restore(t.Context(), row.opt)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", row.what, err, row.says)
		}
		if _, err := os.Stat(row.opt.Dir); row.opt.Dir != used && !os.IsNotExist(err) {
			t.Errorf("%s: a folder is there: %v", row.what, err)
		}
	}
}

func TestTargets(t *testing.T) {
	at := time.Date(2026, 11, 20, 17, 0, 0, 5_000_000, time.UTC)
	for text, want := range map[string]RestorePoint{
		"latest": {}, "17": {Seq: 17}, "2026-11-20T17:00:00.005Z": {Time: at}, "2026-11-20T18:00:00.005+01:00": {Time: at},
	} {
		got, err := ParseRestorePoint(text)
		if err != nil || got.Seq != want.Seq || !got.Time.Equal(want.Time) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "yesterday", "2026-11-20", "0001-01-01T00:00:00Z"} {
		if got, err := ParseRestorePoint(text); err == nil {
			t.Errorf("%q was taken for %s", text, got)
		}
	}
}

// The test changes, shortens and removes each object in turn. Verify finds each fault, and
// every span that it reports is restorable.
func TestVerifyFindsEveryFault(t *testing.T) {
	full, recipient := identity(t)
	for what, keys := range map[string][2]*Key{"encrypted": {full, recipient}, "unencrypted": {nil, nil}} {
		t.Run(what, func(t *testing.T) {
			s, to := backedUp(t, keys[0], keys[1])
			objects := must.Value(to.List(t.Context(), ""))(s.t)
			for _, o := range objects {
				content := must.Value(to.Get(t.Context(), o.Name))(s.t)
				for fault, broken := range map[string][]byte{
					"flipped": flipped(content), "cut": content[:len(content)/2], "gone": nil,
				} {
					if broken == nil {
						s.must(to.Delete(t.Context(), o.Name))
					} else {
						s.must(to.Put(t.Context(), o.Name, broken))
					}
					finds(t, NewRepository(to, keys[0]), s, fault+" "+o.Name)
				}
				s.must(to.Put(t.Context(), o.Name, content))
			}
			check(t, NewRepository(to, keys[0]), 1)
		})
	}
}

func flipped(content []byte) []byte {
	other := bytes.Clone(content)
	if len(other) > 0 {
		other[len(other)*2/3] ^= 1
	}
	return other
}

// finds verifies a backup that has a fault.
func finds(t *testing.T, r *Repository, s *site, fault string) {
	t.Helper()
	found, err := r.Verify(t.Context(), 0)
	var checks []GenerationCheck
	if err == nil {
		checks = found.Checks
	}
	whole := err == nil && len(found.Problems) == 0 && len(checks) == 1 && checks[0].OK() && checks[0].Whole && checks[0].Last == 40 &&
		checks[0].First == 1 && checks[0].Snapshots == 1 && checks[0].Files == 2
	// What is erased has no sum to miss it by.
	harmless := strings.HasPrefix(fault, "gone erased/") || strings.HasPrefix(fault, "cut erased/") ||
		strings.HasPrefix(fault, "gone "+slots) || strings.HasPrefix(fault, "cut "+slots) ||
		strings.Contains(fault, "lists/empty/0") && !strings.HasPrefix(fault, "gone")
	if whole && !harmless {
		t.Errorf("%s: nothing was found: %+v", fault, checks)
	}
	if err != nil {
		return
	}
	for _, c := range checks {
		for _, span := range c.Spans {
			if span.First == 0 || span.Last > 40 || span.Last < span.First || span.LastAt.UnixNano() != s.entries[span.Last-1].At {
				t.Errorf("%s: it restores %+v", fault, span)
			}
		}
	}
}

// The list of generations needs no key, and objects reveal no content.
func TestListNeedsNoKey(t *testing.T) {
	full, recipient := identity(t)
	s, to := backedUp(t, full, recipient)
	all := must.Value(NewRepository(to, nil).Generations(context.Background()))(s.t)
	if g := all[0]; len(all) != 1 || !g.Whole || g.First != 1 || g.Last != 40 || g.LastAt.UnixNano() != s.entries[39].At || g.Snapshots != 1 || g.Gaps != 0 {
		t.Errorf("it lists %+v", all)
	}
	objects := must.Value(to.List(t.Context(), ""))(s.t)
	for _, o := range objects {
		content := must.Value(to.Get(t.Context(), o.Name))(s.t)
		for _, open := range []string{"entry 1 of", `{"a":1}`} {
			if bytes.Contains(content, []byte(open)) {
				t.Errorf("%s has %q in the open", o.Name, open)
			}
		}
	}
}

func TestKeyFiles(t *testing.T) {
	file, recipient, err := GenerateAgeKeyFileText()
	if err != nil || !strings.HasPrefix(recipient, "age1") {
		t.Fatal(recipient, err)
	}
	for text, want := range map[string]string{
		string(file): "", recipient: "", "# mine\n\n" + recipient + "\n" + string(file): "", "": "has no key", "# none\n": "has no key",
		"AGE-SECRET-KEY-1CANARY": "line 1", "\nage1canary": "line 2", "canary": "line 1",
	} {
		path := filepath.Join(t.TempDir(), "key")
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadAgeKeyFile(path)
		if got := fmt.Sprint(err); (want == "") != (err == nil) || !strings.Contains(got, want) && want != "" || strings.Contains(strings.ToLower(got), "canary") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// An attacker who can write to the store without the exchange's key cannot exhaust memory,
// write outside the restored folder, or add files, keys or erasures.
func TestHostileStore(t *testing.T) {
	for what, row := range map[string]struct{ name, content, want string }{
		"a manifest without an end": {"gen/0000000001/snapshot/00000000000000000004/whole-%d", `{"names":["` + strings.Repeat(`","`, maxSigned/3) + `"]}`, ""},
		"a claim without an end":    {"gen/0000000001/claim", `{"epoch":1,"begun":"` + strings.Repeat("x", maxSigned) + `"}`, "larger than"},
		"a fence without an end":    {"fence/0000000009", `{"epoch":1,"run":"` + strings.Repeat("x", maxSigned) + `"}`, "larger than"},
		"a file outside":            {"gen/0000000001/file/../../../../lists/whole-%d", `{"names":[],"size":0}`, "names a file"},
		"the log's own file":        {"gen/0000000001/file/log/00000000000000000001.log/whole-%d", `{"names":[],"size":0}`, "names a file"},
		"the log's life":            {"gen/0000000001/file/EPOCH/whole-%d", `{"names":[],"size":0}`, "names a file"},
		"another's piece":           {"gen/0000000001/file/lists/more/whole-%d", `{"names":["../../../../keys/x"],"size":0}`, "only one has a checksum"},
		"a key outside":             {"keys/../../x/%d-00000000000000000000000000000000", "0", "damaged"},
		"keys of its own":           {"keys/leads/00000000000000000001/%d-00000000000000000000000000000000", strings.Repeat("k", 64), "damaged"},
		"erasures of its own":       {"erased/exchange.key/%d-00000000000000000000000000000000", "\xff\xff", "damaged"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			s.many(4)
			to := newDir(t, t.TempDir())
			ship(t, s, small(to, nil)).Close()
			hostile := &adding{Store: to, name: row.name, content: []byte(row.content)}
			if strings.Contains(row.name, "%d") {
				hostile.name = fmt.Sprintf(row.name, len(row.content))
			}
			base := t.TempDir()
			_, err := NewRepository(hostile, nil).Restore(t.Context(), RestoreOptions{Dir: filepath.Join(base, "a", "data")})
			if row.want == "" && err == nil {
				return // it counts for none
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("restored: %v", err)
			}
			_ = filepath.WalkDir(base, func(path string, entry os.DirEntry, err error) error {
				if err == nil && !entry.IsDir() && !strings.HasPrefix(path, filepath.Join(base, "a", "data"+temporarySuffix)) {
					t.Errorf("%s was written", path)
				}
				return nil
			})
		})
	}
}

// adding is a store with one more object.
type adding struct {
	store.Store
	name    string
	content []byte
}

func (a *adding) List(ctx context.Context, folder string) ([]store.Object, error) {
	found, err := a.Store.List(ctx, folder)
	if strings.HasPrefix(a.name, folder) {
		found = append(found, store.Object{Name: a.name, Size: int64(len(a.content)), Modified: time.Now()})
	}
	return found, err
}

func (a *adding) Get(ctx context.Context, name string) ([]byte, error) {
	if name == a.name {
		return a.content, nil
	}
	return a.Store.Get(ctx, name)
}
