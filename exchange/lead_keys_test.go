package exchange

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// startWithLog starts an exchange with its own log lines.
func startWithLog(t *testing.T, p testDir) (*testExchange, *logBuffer) {
	t.Helper()
	output := new(logBuffer)
	return startWith(t, p, func(x *Exchange) { x.logger = slog.New(slog.NewTextHandler(output, nil)) }), output
}

// newDirWithLeads returns the folder of a stopped exchange with leads. The second one is erased.
func newDirWithLeads(t *testing.T, leads int) testDir {
	t.Helper()
	x := start(t, newTestDir(t, baseConfig))
	for i := range leads {
		sold := x.mustSell(leadBody(i))
		if i == 1 {
			x.erase(`{"lead":"` + sold.leadID() + `"}`)
		}
	}
	x.stop()
	return x.testDir
}

// TestLostLeadKeysAreReported: a start logs and counts leads that cannot be decrypted, and so does
// the check of a folder. An erased lead does not count.
func TestLostLeadKeysAreReported(t *testing.T) {
	t.Parallel()
	name := fmt.Sprintf("%020d", 1)
	leads, sums := filepath.Join("keys", "leads", name), filepath.Join("keys", "checksums", name)
	change := func(slots ...int) func(path string) error {
		return func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, slot := range slots {
				text[(slot-1)*32+7] ^= 1
			}
			return os.WriteFile(path, text, 0o600)
		}
	}
	for _, test := range []struct {
		name   string
		path   string
		damage func(path string) error
		want   LeadKeyLoss
		logged string
	}{
		{"no damage", leads, func(string) error { return nil }, LeadKeyLoss{}, ""},
		{"a missing file", leads, os.Remove, LeadKeyLoss{Missing: 5}, "leads=5 missing=5 changed=0"},
		{"a missing folder", filepath.Join("keys", "leads"), os.RemoveAll, LeadKeyLoss{Missing: 5}, "leads=5 missing=5 changed=0"},
		{"changed keys", leads, change(1, 4), LeadKeyLoss{Changed: 2}, "leads=2 missing=0 changed=2"},
		{"a changed unused key", leads, change(2000), LeadKeyLoss{}, ""},
		{"a key of zeros", leads, func(path string) error {
			text, err := os.ReadFile(path)
			clear(text[2*32 : 3*32])
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}, LeadKeyLoss{Erased: 1}, "their keys are zeros"},
		{"no checksums", sums, os.Remove, LeadKeyLoss{}, "created checksums for files of leads' keys"},
		{"damaged checksums", sums, change(1), LeadKeyLoss{}, "created again from the current keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newDirWithLeads(t, 6)
			must.Succeed(t, test.damage(filepath.Join(p.dataDir(), test.path)))
			report, err := CheckLeadKeys(p.dataDir())
			if err != nil || report.Loss != test.want || report.Leads != 5 || len(report.Problems) != int(min(1, test.want.Missing+test.want.Changed)) || len(report.Notes) != int(test.want.Erased) {
				t.Errorf("CheckLeadKeys: got %+v, %v", report, err)
			}
			x, output := startWithLog(t, p)
			<-x.keyCheck.done
			if !strings.Contains(output.String(), test.logged) || (test.logged == "") != !strings.Contains(output.String(), "keys") {
				t.Errorf("start logged %s", output)
			}
			for reason, leads := range map[string]uint64{"missing": test.want.Missing, "changed": test.want.Changed, "erased": test.want.Erased} {
				x.checkMetrics(fmt.Sprintf("pingpost_lead_keys_lost{reason=%q} %d", reason, leads))
			}
			x.mustSell(leadBody(7))
		})
	}
}

// TestRestoredLeadKeysAreValid: missing keys that are put back are valid at the next start.
func TestRestoredLeadKeysAreValid(t *testing.T) {
	t.Parallel()
	p := newDirWithLeads(t, 3)
	path := filepath.Join(p.dataDir(), "keys", "leads", fmt.Sprintf("%020d", 1))
	keys, err := os.ReadFile(path)
	must.Succeed(t, errors.Join(err, os.Remove(path)))
	x, _ := startWithLog(t, p)
	<-x.keyCheck.done
	if got := x.keyCheck.loss.Load().Missing; got != 2 {
		t.Errorf("got %d leads with missing keys, want 2", got)
	}
	x.stop()
	must.Succeed(t, os.WriteFile(path, keys, 0o600))
	x, output := startWithLog(t, p)
	<-x.keyCheck.done
	if x.keyCheck.loss.Load().Missing != 0 || strings.Contains(output.String(), "keys") {
		t.Errorf("start after the keys are restored logged %s", output)
	}
}
