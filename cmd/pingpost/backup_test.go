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

// logPosition is the output of log hash, /admin/v1/hash and restore.
type logPosition struct {
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
	Epoch uint32 `json:"epoch"`
}

func parseLogPosition(t testing.TB, text string) (s logPosition) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// acknowledgedLeads collects the ids of answered leads, in the order of their answers.
type acknowledgedLeads struct {
	mu  sync.Mutex
	ids []string
}

func (a *acknowledgedLeads) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ids)
}

// startSelling sends leads over several connections until the exchange no longer answers.
func startSelling(public string, senders int) (*acknowledgedLeads, func()) {
	a := &acknowledgedLeads{}
	var workers sync.WaitGroup
	for range senders {
		workers.Go(func() {
			for {
				id, err := tryIngest(public)
				if err != nil {
					return
				}
				if id == "" {
					continue // the answer asks for a later retry
				}
				a.mu.Lock()
				a.ids = append(a.ids, id)
				a.mu.Unlock()
			}
		})
	}
	return a, workers.Wait
}

// metricValue returns the value of a metric without labels.
func metricValue(t testing.TB, metrics, name string) int {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			return must.Value(strconv.Atoi(strings.TrimSpace(text)))(t)
		}
	}
	t.Fatalf("there is no %s in\n%s", name, metrics)
	return 0
}

// awaitBackup waits until, by the exchange's metrics, the backup has all events logged by
// now, while more arrive. The order in which one page reads the log's end and the lag is
// undefined, so the lag is subtracted from the log's end in the previous page.
func awaitBackup(t testing.TB, admin string) {
	t.Helper()
	logged := metricValue(t, get(t, admin+"/metrics"), "pingpost_log_sequence")
	end := logged
	waitFor(t, func() bool {
		page := get(t, admin+"/metrics")
		shipped := end - metricValue(t, page, "pingpost_backup_lag_entries")
		end = metricValue(t, page, "pingpost_log_sequence")
		return shipped >= logged
	})
}

func tryIngest(public string) (id string, err error) {
	_, text, err := tryRequest(http.MethodPost, public+"/api/v1/ingest", testLead, "X-Api-Key", apiKey)
	var answer struct {
		Data struct{ ID string }
	}
	err = errors.Join(err, json.Unmarshal([]byte(text), &answer))
	return answer.Data.ID, err
}

// backupPaths are the files and folders of one exchange and its backup.
type backupPaths struct{ config, data, key, backups string }

func newBackupPaths(t testing.TB) backupPaths {
	t.Helper()
	config := writeConfig(t, testConfig)
	dir := filepath.Dir(config)
	return backupPaths{config, filepath.Join(dir, "data"), filepath.Join(dir, "backup.key"), filepath.Join(dir, "backups")}
}

// TestRestoreAfterMachineLoss follows the README: the restored exchange has every lead that
// the metrics counted as backed up, and the old copy cannot continue. Package wal/backup
// tests in virtual time that the backup lags by less than a second.
func TestRestoreAfterMachineLoss(t *testing.T) {
	t.Parallel()
	f := newBackupPaths(t)
	recipient := strings.TrimSpace(mustRun(t, "backup", "keygen", f.key))
	publicKey := f.key + ".pub"
	writeFile(t, publicKey, recipient)
	flags := []string{"-c", f.config, "--backup-to", f.backups, "--backup-key-file", publicKey}
	s := startServe(t, flags...)
	public, admin := s.addresses("production")
	s.waitForOutput("backup: the exchange can now be restored from this generation")
	leads, waitForSenders := startSelling(public, 4)
	waitFor(t, func() bool { return len(leads.all()) >= 50 })
	backedUp := leads.all()
	awaitBackup(t, admin)
	if metrics := get(t, admin+"/metrics"); !strings.Contains(metrics, "pingpost_backup_lag_seconds") || !strings.Contains(metrics, "pingpost_backup_errors_total 0\n") {
		t.Errorf("the metrics lack the backup:\n%s", metrics)
	}
	s.sendSignal(syscall.SIGKILL)
	s.waitForExit()
	waitForSenders()
	old := filepath.Join(filepath.Dir(f.data), "old")
	must.Succeed(t, os.Rename(f.data, old))

	mustPrint(t, "1           1     ", "backup", "list", "--from", f.backups)
	mustFail(t, "encrypted", "backup", "verify", "--from", f.backups, "--key-file", publicKey)
	mustPrint(t, "good\n", "backup", "verify", "--from", f.backups, "--key-file", f.key)
	restored := parseLogPosition(t, mustRun(t, "restore", "--from", f.backups, "--key-file", f.key, "--data-dir", f.data))
	if want := parseLogPosition(t, mustRun(t, "log", "hash", old, "--at", fmt.Sprint(restored.Seq))); want.Hash != restored.Hash || restored.Epoch != 2 {
		t.Errorf("restored %+v, want %+v", restored, want)
	}
	events := mustRun(t, "log", "dump", f.data)
	for _, id := range backedUp {
		if !strings.Contains(events, id) {
			t.Errorf("lead %s was backed up according to the metrics, but is not restored", id)
		}
	}

	writeFile(t, filepath.Join(filepath.Dir(f.config), "old.yaml"), strings.Replace(testConfig, "data_dir: data", "data_dir: old", 1))
	oldCopy := startServe(t, append([]string{"-c", filepath.Join(filepath.Dir(f.config), "old.yaml")}, flags[2:]...)...)
	if code := oldCopy.waitForExit(); code != 1 || !strings.Contains(oldCopy.output(), "a later life of this exchange") {
		t.Errorf("the old copy started: exit %d: %s", code, oldCopy.output())
	}
	restarted := startServe(t, flags...)
	public, _ = restarted.addresses("production")
	mustSell(t, public, "ACCEPTED")
	restarted.waitForOutput("backup: the exchange can now be restored from this generation")
	restarted.stop()
	last := parseLogPosition(t, mustRun(t, "restore", "--from", f.backups, "--key-file", f.key, "--data-dir", f.data+"2"))
	if want := parseLogPosition(t, mustRun(t, "log", "hash", f.data)); last.Hash != want.Hash || last.Seq != want.Seq || last.Epoch != 3 {
		t.Errorf("restored %+v, want %+v", last, want)
	}
}

func get(t testing.TB, url string) string {
	t.Helper()
	_, text := request(t, http.MethodGet, url, "")
	return text
}

// bucketService starts an S3 service over TLS. It returns its address and CA file.
func bucketService(t testing.TB) (endpoint, authority string) {
	t.Helper()
	backend := s3mem.New()
	must.Succeed(t, backend.CreateBucket("backups"))
	service := httptest.NewUnstartedServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	service.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	service.StartTLS()
	t.Cleanup(service.Close)
	authority = filepath.Join(t.TempDir(), "authority.pem")
	writeFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw})))
	return service.URL, authority
}

// TestBackupToBucket runs the backup command with --follow beside the exchange.
func TestBackupToBucket(t *testing.T) {
	endpoint, authority := bucketService(t)
	t.Setenv("SSL_CERT_FILE", authority)
	t.Setenv("PINGPOST_S3_ENDPOINT", endpoint)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-canary")
	f := newBackupPaths(t)
	s := startServe(t, "-c", f.config)
	public, _ := s.addresses("production")
	to := "s3://backups/here"
	follower := startProgram(t, "backup", "-c", f.config, "--to", to, "--unencrypted", "--follow")
	follower.waitForOutput("backup: the exchange can now be restored from this generation")
	for range 20 {
		mustSell(t, public, "ACCEPTED")
	}
	mustFail(t, "being backed up", "backup", "-c", f.config, "--to", to, "--unencrypted")
	s.sendSignal(syscall.SIGTERM)
	s.waitForExit()
	want := parseLogPosition(t, mustRun(t, "log", "hash", f.data))
	waitFor(t, func() bool {
		return strings.Contains(mustRun(t, "backup", "list", "--from", to), fmt.Sprintf("1-%d ", want.Seq))
	})
	follower.sendSignal(syscall.SIGTERM)
	if code := follower.waitForExit(); code != 0 || !strings.Contains(follower.output(), fmt.Sprintf("up to entry %d", want.Seq)) {
		t.Errorf("exit %d: %s", code, follower.output())
	}
	mustRun(t, "backup", "-c", f.config, "--to", to, "--unencrypted", "--retain", "30d")
	mustRun(t, "backup", "verify", "--from", to)
	got := parseLogPosition(t, mustRun(t, "restore", "--from", to, "--data-dir", f.data+"2", "--drill"))
	if got.Hash != want.Hash || got.Seq != want.Seq || got.Epoch != 1 {
		t.Errorf("restored %+v, want %+v", got, want)
	}
}

// waitTimeout limits each wait. It is far longer than any wait should take.
const waitTimeout = 2 * time.Minute

func waitFor(t testing.TB, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("condition not met within %s", waitTimeout)
		}
	}
}

// eachFile calls visit with every file below a folder. It fails for fewer than five files.
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

// TestServeContinuesWithoutBackupStore: an unreachable store neither stops nor slows the
// exchange, and the metrics report it.
func TestServeContinuesWithoutBackupStore(t *testing.T) {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	endpoint := "http://" + listener.Addr().String()
	listener.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-canary")
	f := newBackupPaths(t)
	s := startServe(t, "-c", f.config, "--backup-to", "s3://backups/x?region=eu&endpoint="+endpoint, "--backup-unencrypted")
	public, admin := s.addresses("production")
	mustSell(t, public, "ACCEPTED")
	s.waitForOutput("the backup failed and will be retried")
	if metrics := get(t, admin+"/metrics"); strings.Contains(metrics, "pingpost_backup_errors_total 0\n") || strings.Contains(metrics, "pingpost_backup_lag_entries 0\n") {
		t.Errorf("the metrics do not report the failed backup:\n%s", metrics)
	}
	s.stop()
}

func TestBackupRejectsInvalidArguments(t *testing.T) {
	t.Parallel()
	f := newBackupPaths(t)
	for _, folder := range []string{f.data, f.backups} {
		must.Succeed(t, os.MkdirAll(folder, 0o700))
	}
	for want, args := range map[string][]string{
		"name the exchange to back up": {"backup", "--to", f.backups, "--unencrypted"},
		"either --config":              {"backup", "--to", f.backups, "--unencrypted", "-c", f.config, "--data-dir", f.data},
		"give a key file":              {"backup", "--to", f.backups, "-c", f.config},
		"not both":                     {"backup", "--to", f.backups, "-c", f.config, "--unencrypted", "--key-file", f.key},
		"cannot read the backup's":     {"backup", "--to", f.backups, "-c", f.config, "--key-file", f.key},
		"megabytes":                    {"backup", "--to", f.backups, "-c", f.config, "--unencrypted", "--rate", "0"},
		"such as 30d":                  {"backup", "--to", f.backups, "-c", f.config, "--unencrypted", "--retain", "soon"},
		"not a place for backups":      {"backup", "--to", "ftp://x", "-c", f.config, "--unencrypted"},
		"exchange key cannot be read":  {"backup", "--to", f.backups, "-c", f.config, "--unencrypted"},
		"there is no backup":           {"backup", "list", "--from", f.backups + "2"},
		"not a moment to restore":      {"restore", "--from", f.backups, "--data-dir", f.data, "--at", "yesterday"},
		"is not empty":                 {"restore", "--from", f.backups, "--data-dir", filepath.Dir(f.data)},
		"--backup-to is missing":       {"serve", "-c", f.config, "--backup-unencrypted"},
		"which is inside it":           {"backup", "--to", filepath.Join(f.data, "copies"), "--data-dir", f.data, "--unencrypted"},
		"the exchange's key and all":   {"serve", "-c", f.config, "--backup-to", f.backups},
	} {
		mustFail(t, want, args...)
	}
	writeFile(t, f.key, "existing")
	mustFail(t, "file exists", "backup", "keygen", f.key)
}
