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

// listens starts an exchange whose lines are kept.
func listens(t *testing.T, p place) (*running, *lines) {
	t.Helper()
	said := new(lines)
	return startWith(t, p, func(x *Exchange) { x.logger = slog.New(slog.NewTextHandler(said, nil)) }), said
}

// withLeads is a place with leads, of which the second is erased, after a stop.
func withLeads(t *testing.T, leads int) place {
	t.Helper()
	x := start(t, newPlace(t, recorded))
	for i := range leads {
		sold := x.sold(lead(i))
		if i == 1 {
			x.erase(`{"lead":"` + sold.leadID() + `"}`)
		}
	}
	x.stop()
	return x.place
}

// TestLostKeysAreReported: a start reports how many leads cannot be opened, in its log and
// by a metric, and so does the check of a folder. An erased lead is not lost.
func TestLostKeysAreReported(t *testing.T) {
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
		what string
		path string
		do   func(path string) error
		want LeadKeyLoss
		says string
	}{
		{"nothing", leads, func(string) error { return nil }, LeadKeyLoss{}, ""},
		{"a missing file", leads, os.Remove, LeadKeyLoss{Missing: 5}, "leads=5 missing=5 changed=0"},
		{"the folder", filepath.Join("keys", "leads"), os.RemoveAll, LeadKeyLoss{Missing: 5}, "leads=5 missing=5 changed=0"},
		{"changed keys", leads, change(1, 4), LeadKeyLoss{Changed: 2}, "leads=2 missing=0 changed=2"},
		{"a changed key that no lead has", leads, change(2000), LeadKeyLoss{}, ""},
		{"a key of zeros", leads, func(path string) error {
			text, err := os.ReadFile(path)
			clear(text[2*32 : 3*32])
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}, LeadKeyLoss{Erased: 1}, "their keys are zeros"},
		{"no checksums", sums, os.Remove, LeadKeyLoss{}, "created checksums for files of leads' keys"},
		{"damaged checksums", sums, change(1), LeadKeyLoss{}, "created again from the current keys"},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := withLeads(t, 6)
			must.Succeed(t, test.do(filepath.Join(p.data(), test.path)))
			report, err := CheckLeadKeys(p.data())
			if err != nil || report.Loss != test.want || report.Leads != 5 || len(report.Problems) != int(min(1, test.want.Missing+test.want.Changed)) || len(report.Notes) != int(test.want.Erased) {
				t.Errorf("the check of the folder: %+v, %v", report, err)
			}
			x, said := listens(t, p)
			<-x.keyCheck.done
			if !strings.Contains(said.String(), test.says) || (test.says == "") != !strings.Contains(said.String(), "keys") {
				t.Errorf("the start said %s", said)
			}
			for reason, leads := range map[string]uint64{"missing": test.want.Missing, "changed": test.want.Changed, "erased": test.want.Erased} {
				x.measures(fmt.Sprintf("pingpost_lead_keys_lost{reason=%q} %d", reason, leads))
			}
			x.sold(lead(7))
		})
	}
}

// TestKeysThatAreNotNeeded: a file whose leads have all left the log may be removed, and
// keys that were put back are found good by the next start.
func TestKeysThatAreNotNeeded(t *testing.T) {
	p := withLeads(t, 3)
	path := filepath.Join(p.data(), "keys", "leads", fmt.Sprintf("%020d", 1))
	keys, err := os.ReadFile(path)
	must.Succeed(t, errors.Join(err, os.Remove(path)))
	x, _ := listens(t, p)
	<-x.keyCheck.done
	if got := x.keyCheck.loss.Load().Missing; got != 2 {
		t.Errorf("%d leads are missed", got)
	}
	x.stop()
	must.Succeed(t, os.WriteFile(path, keys, 0o600))
	x, said := listens(t, p)
	<-x.keyCheck.done
	if x.keyCheck.loss.Load().Missing != 0 || strings.Contains(said.String(), "keys") {
		t.Errorf("%s", said)
	}
}
