package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/cmd/pingpost/client"
	"pingpost/internal/must"
)

// recordLog runs an exchange that sells some leads. It returns its data directory and hash.
func recordLog(t testing.TB, leads int) (dir, hash string) {
	t.Helper()
	path := writeConfig(t, testConfig)
	s := startServe(t, "-c", path)
	public, admin := s.addresses("production")
	for range leads {
		mustSell(t, public, "ACCEPTED")
	}
	dir = filepath.Join(filepath.Dir(path), "data")
	flags := client.AdminFlags{Admin: admin, Password: adminPassword}
	answer := must.Value(flags.Call(http.MethodGet, "/admin/v1/hash", nil))(t)
	hash = string(answer)
	mustPrint(t, hash, "log", "hash", dir)
	mustRun(t, "log", "verify", dir)
	mustRun(t, "log", "dump", dir)
	mustFail(t, "another process", "log", "accept", "--yes", dir)
	s.stop()
	return dir, hash
}

func TestLogCommands(t *testing.T) {
	t.Parallel()
	dir, hash := recordLog(t, 5)
	mustPrint(t, hash, "log", "hash", dir)
	verified := mustRun(t, "log", "verify", dir)
	if !strings.HasSuffix(verified, "good\n") || !strings.Contains(verified, "snapshot ") {
		t.Errorf("log verify printed %s", verified)
	}
	mustPrint(t, "not damaged", "log", "accept", "--yes", dir)
	mustFail(t, "--yes", "log", "accept", dir)
	var at struct{ Seq uint64 }
	must.Succeed(t, json.Unmarshal([]byte(hash), &at))
	mustFail(t, "ends at entry", "log", "hash", "--at", fmt.Sprint(at.Seq+1), dir)
	if out := mustRun(t, "log", "hash", "--at", fmt.Sprint(at.Seq-1), dir); out == hash || !strings.Contains(out, fmt.Sprint(at.Seq-1)) {
		t.Errorf("log command printed %s", out)
	}
}

// TestLogDump: each line is one entry as JSON, in order, without contact data (which run
// checks).
func TestLogDump(t *testing.T) {
	t.Parallel()
	dir, _ := recordLog(t, 5)
	type entry struct {
		Seq  uint64
		At   string
		Kind string
		Fact json.RawMessage
	}
	dump := func(args ...string) (entries []entry) {
		t.Helper()
		out := mustRun(t, append([]string{"log", "dump", dir}, args...)...)
		decoder := json.NewDecoder(strings.NewReader(out))
		for decoder.More() {
			var e entry
			if err := decoder.Decode(&e); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			entries = append(entries, e)
		}
		if strings.Count(out, "\n") != len(entries) {
			t.Error("the number of lines differs from the number of entries")
		}
		return entries
	}
	all := dump()
	leads := 0
	for i, e := range all {
		if e.Seq != uint64(i+1) || e.At == "" || e.Kind == "" || !bytes.HasPrefix(e.Fact, []byte("{")) {
			t.Errorf("entry %d: %+v", i, e)
		}
		if strings.Contains(string(e.Fact), "lead_") {
			leads++
		}
	}
	if leads != 5 {
		t.Errorf("the dump has %d leads, want 5", leads)
	}
	last := uint64(len(all))
	for _, row := range []struct{ from, to, first, count uint64 }{
		{3, 0, 3, last - 2}, {3, 5, 3, 3}, {last, 0, last, 1}, {0, 2, 1, 2}, {5, 3, 0, 0},
	} {
		var args []string
		if row.from != 0 {
			args = append(args, "--from", fmt.Sprint(row.from))
		}
		if row.to != 0 {
			args = append(args, "--to", fmt.Sprint(row.to))
		}
		got := dump(args...)
		if uint64(len(got)) != row.count || row.count > 0 && got[0].Seq != row.first {
			t.Errorf("%v: %d entries, want %d from entry %d", args, len(got), row.count, row.first)
		}
	}
}

// TestDamagedLogNeedsAccept: an exchange with a flipped byte, or with a log shorter than
// its snapshot, does not start until log accept cuts the damage away.
func TestDamagedLogNeedsAccept(t *testing.T) {
	t.Parallel()
	const flipped = "a flipped byte"
	for name, change := range map[string]func(data []byte) []byte{
		flipped:       func(data []byte) []byte { data[len(data)/2] ^= 0x40; return data },
		"a short log": func(data []byte) []byte { return data[:len(data)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := recordLog(t, 20)
			segment := filepath.Join(dir, "log", "00000000000000000001")
			data := must.Value(os.ReadFile(segment))(t)
			writeFile(t, segment, string(change(data)))
			if name == flipped {
				must.Succeed(t, os.RemoveAll(filepath.Join(dir, "snapshot")))
				if verified := run(t, "log", "verify", dir); verified.code != 1 || !strings.Contains(verified.out, "DAMAGE") {
					t.Errorf("exit %d, %s", verified.code, verified.out)
				}
			}
			path := filepath.Join(filepath.Dir(dir), "exchange.yaml")
			mustFail(t, "log accept", "serve", "-c", path)
			mustPrint(t, "cut; the log ends with entry", "log", "accept", "--yes", dir)
			mustRun(t, "log", "verify", dir)
			public, _ := startServe(t, "-c", path).addresses("production")
			mustSell(t, public, "ACCEPTED")
		})
	}
}

func TestLogCommandsRejectMissingDirectory(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"dump", "verify", "hash"} {
		mustFail(t, "none", "log", command, filepath.Join(t.TempDir(), "none"))
	}
}

// TestLogVerifyChecksKeys: log verify checks the leads' keys if it has the exchange's key.
func TestLogVerifyChecksKeys(t *testing.T) {
	t.Parallel()
	dir, _ := recordLog(t, 3)
	mustPrint(t, "keys       of 3 leads in 1 files\n", "log", "verify", dir)
	path := filepath.Join(dir, "keys", "leads", fmt.Sprintf("%020d", 1))
	keys := must.Value(os.ReadFile(path))(t)
	keys[33] ^= 1
	must.Succeed(t, os.WriteFile(path, keys, 0o600))
	if r := run(t, "log", "verify", dir); r.code != 1 || !strings.Contains(r.out, "DAMAGE     keys/leads/00000000000000000001: 1 leads cannot be decrypted") || strings.HasSuffix(r.out, "\ngood\n") {
		t.Errorf("a changed key: exit %d, %s", r.code, r.out)
	}
	must.Succeed(t, os.Remove(path))
	if r := run(t, "log", "verify", dir); r.code != 1 || !strings.Contains(r.out, "3 leads cannot be decrypted") {
		t.Errorf("a missing file: exit %d, %s", r.code, r.out)
	}
	must.Succeed(t, os.RemoveAll(filepath.Join(dir, "keys")))
	if out := mustRun(t, "log", "verify", dir); !strings.Contains(out, "not checked") || !strings.HasSuffix(out, "good\n") {
		t.Errorf("log command printed %s", out)
	}
}
