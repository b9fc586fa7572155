package main

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"pingpost/internal/must"
)

// stand is what log hash, /admin/v1/hash and restore say.
type stand struct {
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
	Epoch uint32 `json:"epoch"`
}

func standOf(t testing.TB, text string) (s stand) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// acknowledged are leads that were answered, in the order of their answers.
type acknowledged struct {
	mu  sync.Mutex
	ids []string
}

func (a *acknowledged) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ids)
}

// sellFor sends leads over several connections until the service no longer answers.
func sellFor(public string, senders int) (*acknowledged, func()) {
	a := &acknowledged{}
	var wait sync.WaitGroup
	for range senders {
		wait.Go(func() {
			for {
				id, err := sellOne(public)
				if err != nil {
					return
				}
				if id == "" {
					continue // it is to come again later
				}
				a.mu.Lock()
				a.ids = append(a.ids, id)
				a.mu.Unlock()
			}
		})
	}
	return a, wait.Wait
}

// figure is what a metric without labels says.
func figure(t testing.TB, metrics, name string) int {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			return must.Value(strconv.Atoi(strings.TrimSpace(text)))(t)
		}
	}
	t.Fatalf("there is no %s in\n%s", name, metrics)
	return 0
}

// awaitBackup waits until the exchange says, by its metrics, that its backup has all that
// is logged by now, while more comes. Of the log's end and the lag behind it in one page
// nobody knows which was asked first; so a lag counts from the end in the page before.
func awaitBackup(t testing.TB, admin string) {
	t.Helper()
	logged := figure(t, get(t, admin+"/metrics"), "pingpost_log_sequence")
	end := logged
	waitFor(t, func() bool {
		page := get(t, admin+"/metrics")
		shipped := end - figure(t, page, "pingpost_backup_lag_entries")
		end = figure(t, page, "pingpost_log_sequence")
		return shipped >= logged
	})
}

func sellOne(public string) (id string, err error) {
	_, text, err := tryRequest(http.MethodPost, public+"/api/v1/ingest", soldLead, "X-Api-Key", apiKey)
	var answer struct {
		Data struct{ ID string }
	}
	err = errors.Join(err, json.Unmarshal([]byte(text), &answer))
	return answer.Data.ID, err
}

// folders of one exchange and its backup.
type folders struct{ config, data, key, to string }

func newFolders(t testing.TB) folders {
	t.Helper()
	config := configuration(t, served)
	dir := filepath.Dir(config)
	return folders{config, filepath.Join(dir, "data"), filepath.Join(dir, "backup.key"), filepath.Join(dir, "backups")}
}

// TestLostMachine is the walk of the README: of what a machine had that burnt down all
// is there again that its metrics said was in the backup, and what is left of the old one
// cannot go on. That they lag by less than a second is shown in virtual time (wal/backup).
func TestLostMachine(t *testing.T) {
	f := newFolders(t)
	recipient := strings.TrimSpace(mustRun(t, "backup", "keygen", f.key))
	onServer := f.key + ".pub"
	rewrite(t, onServer, recipient)
	flags := []string{"-c", f.config, "--backup-to", f.to, "--backup-key-file", onServer}
	s := serve(t, flags...)
	public, admin := s.addresses("production")
	s.hears("backup: the exchange can now be restored from this generation")
	sold, ended := sellFor(public, 4)
	waitFor(t, func() bool { return len(sold.all()) >= 50 })
	safe := sold.all()
	awaitBackup(t, admin)
	if metrics := get(t, admin+"/metrics"); !strings.Contains(metrics, "pingpost_backup_lag_seconds") || !strings.Contains(metrics, "pingpost_backup_errors_total 0\n") {
		t.Errorf("the metrics lack the backup:\n%s", metrics)
	}
	s.signal(syscall.SIGKILL)
	s.ends()
	ended()
	old := filepath.Join(filepath.Dir(f.data), "old")
	must.Succeed(t, os.Rename(f.data, old))

	mustPrint(t, "1           1     ", "backup", "list", "--from", f.to)
	mustFail(t, "encrypted", "backup", "verify", "--from", f.to, "--key-file", onServer)
	mustPrint(t, "good\n", "backup", "verify", "--from", f.to, "--key-file", f.key)
	restored := standOf(t, mustRun(t, "restore", "--from", f.to, "--key-file", f.key, "--data-dir", f.data))
	if want := standOf(t, mustRun(t, "log", "hash", old, "--at", fmt.Sprint(restored.Seq))); want.Hash != restored.Hash || restored.Epoch != 2 {
		t.Errorf("restored %+v, and there was %+v", restored, want)
	}
	facts := mustRun(t, "log", "dump", f.data)
	for _, id := range safe {
		if !strings.Contains(facts, id) {
			t.Errorf("lead %s was in the backup, by the metrics, and is lost", id)
		}
	}

	rewrite(t, filepath.Join(filepath.Dir(f.config), "old.yaml"), strings.Replace(served, "data_dir: data", "data_dir: old", 1))
	zombie := serve(t, append([]string{"-c", filepath.Join(filepath.Dir(f.config), "old.yaml")}, flags[2:]...)...)
	if code := zombie.ends(); code != 1 || !strings.Contains(zombie.said(), "a later life of this exchange") {
		t.Errorf("the old copy: exit %d: %s", code, zombie.said())
	}
	again := serve(t, flags...)
	public, _ = again.addresses("production")
	mustSell(t, public, "ACCEPTED")
	again.hears("backup: the exchange can now be restored from this generation")
	again.stops()
	last := standOf(t, mustRun(t, "restore", "--from", f.to, "--key-file", f.key, "--data-dir", f.data+"2"))
	if want := standOf(t, mustRun(t, "log", "hash", f.data)); last.Hash != want.Hash || last.Seq != want.Seq || last.Epoch != 3 {
		t.Errorf("restored %+v, and there was %+v", last, want)
	}
}

func get(t testing.TB, url string) string {
	t.Helper()
	_, text := request(t, http.MethodGet, url, "")
	return text
}

// bucketService is an S3 service over TLS, as another process sees it.
func bucketService(t testing.TB) (endpoint, authority string) {
	t.Helper()
	backend := s3mem.New()
	must.Succeed(t, backend.CreateBucket("backups"))
	service := httptest.NewUnstartedServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	service.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	service.StartTLS()
	t.Cleanup(service.Close)
	authority = filepath.Join(t.TempDir(), "authority.pem")
	rewrite(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw})))
	return service.URL, authority
}

// TestBackupToBucket runs beside the exchange, as a program of its own, with --follow.
func TestBackupToBucket(t *testing.T) {
	endpoint, authority := bucketService(t)
	t.Setenv("SSL_CERT_FILE", authority)
	t.Setenv("PINGPOST_S3_ENDPOINT", endpoint)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-canary")
	f := newFolders(t)
	s := serve(t, "-c", f.config)
	public, _ := s.addresses("production")
	to := "s3://backups/here"
	follower := start(t, "backup", "-c", f.config, "--to", to, "--unencrypted", "--follow")
	follower.hears("backup: the exchange can now be restored from this generation")
	for range 20 {
		mustSell(t, public, "ACCEPTED")
	}
	mustFail(t, "being backed up", "backup", "-c", f.config, "--to", to, "--unencrypted")
	s.signal(syscall.SIGTERM)
	s.ends()
	want := standOf(t, mustRun(t, "log", "hash", f.data))
	waitFor(t, func() bool {
		return strings.Contains(mustRun(t, "backup", "list", "--from", to), fmt.Sprintf("1-%d ", want.Seq))
	})
	follower.signal(syscall.SIGTERM)
	if code := follower.ends(); code != 0 || !strings.Contains(follower.said(), fmt.Sprintf("up to entry %d", want.Seq)) {
		t.Errorf("exit %d: %s", code, follower.said())
	}
	mustRun(t, "backup", "-c", f.config, "--to", to, "--unencrypted", "--retain", "30d")
	mustRun(t, "backup", "verify", "--from", to)
	got := standOf(t, mustRun(t, "restore", "--from", to, "--data-dir", f.data+"2", "--drill"))
	if got.Hash != want.Hash || got.Seq != want.Seq || got.Epoch != 1 {
		t.Errorf("restored %+v, and there was %+v", got, want)
	}
}

// longest is how long a test waits for what comes by itself. Nothing is measured by it.
const longest = 2 * time.Minute

func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came")
		}
	}
}

// eachFile calls visit with every file below a folder. It fails if there are few.
func eachFile(t testing.TB, folder string, visit func(path, text string)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%s: %d files, %v", folder, files, err)
	}
}

// TestServeWithoutItsStore: a store that does not answer neither stops the exchange nor
// slows it, and the metrics say so.
func TestServeWithoutItsStore(t *testing.T) {
	nobody := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	endpoint := "http://" + nobody.Addr().String()
	nobody.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-canary")
	f := newFolders(t)
	s := serve(t, "-c", f.config, "--backup-to", "s3://backups/x?region=eu&endpoint="+endpoint, "--backup-unencrypted")
	public, admin := s.addresses("production")
	mustSell(t, public, "ACCEPTED")
	s.hears("the backup failed and will be retried")
	if metrics := get(t, admin+"/metrics"); strings.Contains(metrics, "pingpost_backup_errors_total 0\n") || strings.Contains(metrics, "pingpost_backup_lag_entries 0\n") {
		t.Errorf("the metrics do not tell:\n%s", metrics)
	}
	s.stops()
}

func TestBackupRefuses(t *testing.T) {
	f := newFolders(t)
	for _, folder := range []string{f.data, f.to} {
		must.Succeed(t, os.MkdirAll(folder, 0o700))
	}
	for want, args := range map[string][]string{
		"name the exchange to back up": {"backup", "--to", f.to, "--unencrypted"},
		"either --config":              {"backup", "--to", f.to, "--unencrypted", "-c", f.config, "--data-dir", f.data},
		"give a key file":              {"backup", "--to", f.to, "-c", f.config},
		"not both":                     {"backup", "--to", f.to, "-c", f.config, "--unencrypted", "--key-file", f.key},
		"cannot read the backup's":     {"backup", "--to", f.to, "-c", f.config, "--key-file", f.key},
		"megabytes":                    {"backup", "--to", f.to, "-c", f.config, "--unencrypted", "--rate", "0"},
		"such as 30d":                  {"backup", "--to", f.to, "-c", f.config, "--unencrypted", "--retain", "soon"},
		"not a place for backups":      {"backup", "--to", "ftp://x", "-c", f.config, "--unencrypted"},
		"not contain an exchange yet":  {"backup", "--to", f.to, "-c", f.config, "--unencrypted"},
		"there is no backup":           {"backup", "list", "--from", f.to + "2"},
		"not a moment to restore":      {"restore", "--from", f.to, "--data-dir", f.data, "--at", "yesterday"},
		"is not empty":                 {"restore", "--from", f.to, "--data-dir", filepath.Dir(f.data)},
		"--backup-to is missing":       {"serve", "-c", f.config, "--backup-unencrypted"},
		"which is inside it":           {"backup", "--to", filepath.Join(f.data, "copies"), "--data-dir", f.data, "--unencrypted"},
		"the exchange's key and all":   {"serve", "-c", f.config, "--backup-to", f.to},
	} {
		mustFail(t, want, args...)
	}
	rewrite(t, f.key, "mine")
	mustFail(t, "file exists", "backup", "keygen", f.key)
}
