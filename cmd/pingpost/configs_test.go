package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text     string
		code     int
		out, err string
	}{
		"good":         {testConfig, 0, "exchange.yaml: good\n", ""},
		"one mistake":  {strings.Replace(testConfig, "12.05", "dear", 1), 1, "", "exchange.yaml:10:"},
		"two mistakes": {strings.Replace(strings.Replace(testConfig, "12.05", "dear", 1), "method", "mehtod", 1), 1, "", "exchange.yaml:8:"},
		"empty file":   {"", 1, "", "empty"},
		"no certificate": {
			strings.Replace(testConfig, "data_dir: data\n", "data_dir: data\ntls: {cert: none.pem, key: none.key}\n", 1), 1, "", "tls: cannot read the TLS certificate",
		},
		"a scope without rights": {
			strings.Replace(testConfig, "ingest_rate: 1000000", "oauth_clients: [{client_id: x, client_secret: y, scopes: [webhook]}]", 1), 0,
			"exchange.yaml: good\n", "exchange.yaml:4:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t, "validate", writeConfig(t, row.text))
			if s.code != row.code || !strings.HasSuffix(s.out, row.out) || row.out == "" && s.out != "" || !strings.Contains(s.err, row.err) {
				t.Errorf("exit %d, %q, %q", s.code, s.out, s.err)
			}
			if row.err == "" && s.err != "" {
				t.Errorf("unexpected output %q", s.err)
			}
		})
	}
	mustFail(t, "none.yaml", "validate", filepath.Join(t.TempDir(), "none.yaml"))
}

// TestValidateStrict: only with --strict does a warning make the exit code 1.
func TestValidateStrict(t *testing.T) {
	t.Parallel()
	good, warned := writeConfig(t, testConfig), writeConfig(t, strings.Replace(testConfig, "price: 12.05", "price: 0", 1))
	if s := run(t, "validate", "--strict", good); s.code != 0 || s.err != "" || !strings.HasSuffix(s.out, ": good\n") {
		t.Errorf("without a warning: exit %d, %q, %q", s.code, s.out, s.err)
	}
	for strict, args := range map[int][]string{0: {"validate", warned}, 1: {"validate", "--strict", warned}} {
		s := run(t, args...)
		if s.code != strict || strict == 1 && s.out != "" || !strings.Contains(s.err, "warning: "+warned+":") || !strings.Contains(s.err, "campaigns[0].buyers[0].price: is missing or 0") {
			t.Errorf("%q: exit %d, %q, %q", args, s.code, s.out, s.err)
		}
	}
}

// TestValidateReadsLists: a missing or malformed file of a suppression list is an error
// before the first start, and a warning later, because the exchange may have the list.
func TestValidateReadsLists(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"missing": "", "malformed": "# numbers\n+14155550100\nnot a number\n", "good": "# numbers\n+14155550100\n"} {
		path := writeConfig(t, testConfig+"suppression_lists: [{id: dnc, field: phone, file: dnc.txt}]\n")
		folder := filepath.Dir(path)
		if text != "" {
			must.Succeed(t, os.WriteFile(filepath.Join(folder, "dnc.txt"), []byte(text), 0o600))
		}
		s := run(t, "validate", path)
		if fails := what != "good"; (s.code == 1) != fails || fails && (!strings.Contains(s.err, "suppression_lists[0].file: cannot read suppression list \"dnc\"") || strings.Contains(s.err, "not a number")) {
			t.Errorf("%s: exit %d, %q", what, s.code, s.err)
		}
		if what == "malformed" && !strings.Contains(s.err, "line 3 of") {
			t.Errorf("the error does not name the line: %s", s.err)
		}
		must.Succeed(t, os.MkdirAll(filepath.Join(folder, "data", "log"), 0o700))
		if s := run(t, "validate", path); s.code != 0 || (what != "good") != strings.Contains(s.err, "warning: ") {
			t.Errorf("%s, after a start: exit %d, %q", what, s.code, s.err)
		}
	}
}

// TestDiffApplyExport compares, replaces and prints the configuration of a running exchange.
// The printed configuration has no difference.
func TestDiffApplyExport(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, testConfig)
	s := startServe(t, "-c", path)
	public, admin := s.addresses("production")
	if d := run(t, "diff", "--admin", admin, path); d.code != 0 || d.out != "no difference\n" {
		t.Errorf("diff: exit %d, %q %q", d.code, d.out, d.err)
	}
	other := writeConfig(t, strings.Replace(testConfig, "12.05", "20", 1))
	d := run(t, "diff", "--admin", admin, other)
	if d.code != 2 || strings.Count(d.out, "\n") != 1 || !strings.Contains(d.out, "price") || d.err != "" {
		t.Errorf("diff: exit %d, %q %q", d.code, d.out, d.err)
	}
	mustSell(t, public, `"amount":12.05,`)
	if out := mustRun(t, "apply", "--admin", admin, other); out != d.out+"applied\n" {
		t.Errorf("apply printed %q", out)
	}
	mustSell(t, public, `"amount":20,`)
	exported := mustRun(t, "export", "--admin", admin)
	if !strings.Contains(exported, "price: 20") {
		t.Errorf("the export lacks the new price:\n%s", exported)
	}
	back := writeConfig(t, exported)
	if d := run(t, "diff", "--admin", admin, back); d.code != 0 {
		t.Errorf("the export differs: exit %d, %s %s", d.code, d.out, d.err)
	}
	if v := run(t, "validate", back); v.code != 0 {
		t.Errorf("the export is not good: %s", v.err)
	}
	wrong := writeConfig(t, strings.Replace(testConfig, "12.05", "dear", 1))
	for _, command := range []string{"diff", "apply"} {
		if r := run(t, command, "--admin", admin, wrong); r.code != 1 || !strings.Contains(r.err, "document:10:") || strings.Count(r.err, "buyers[0].price") != 1 {
			t.Errorf("%s: exit %d, %s", command, r.code, r.err)
		}
	}
	mustSell(t, public, `"amount":20,`)
}

// TestDiffMarksFirstValues: a value that apply does not change is marked and is no difference.
func TestDiffMarksFirstValues(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	other := writeConfig(t, strings.Replace(testConfig, `"${SUP_API_KEY}"`, "another-key", 1))
	const mark = "! suppliers[sup].api_key: first value only; not applied: "
	if d := run(t, "diff", "--admin", admin, other); d.code != 0 || !strings.HasPrefix(d.out, mark) || !strings.HasSuffix(d.out, "\nno difference\n") {
		t.Errorf("diff: exit %d, %q %q", d.code, d.out, d.err)
	}
	if out := mustRun(t, "apply", "--admin", admin, other); !strings.HasPrefix(out, mark) || !strings.HasSuffix(out, "\napplied\n") {
		t.Errorf("apply printed %q", out)
	}
}

func TestApplyRejectsUnreadableFile(t *testing.T) {
	t.Parallel()
	mustFail(t, "none.yaml", "apply", filepath.Join(t.TempDir(), "none.yaml"))
	folder := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(folder, "f.yaml"), 0o700))
	mustFail(t, "f.yaml", "apply", filepath.Join(folder, "f.yaml"))
}

// config drift shows the changes of the file, and config take ends the difference.
func TestConfigDriftCommands(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, testConfig)
	s := startServe(t, "-c", path)
	_, admin := s.addresses("production")
	mustPrint(t, "no difference\n", "config", "drift", "--admin", admin)
	writeFile(t, path, strings.Replace(testConfig, "12.05", "20", 1))
	drift := run(t, "config", "drift", "--admin", admin)
	for _, want := range []string{"campaigns[cmp]: changed in ", "~ campaigns[cmp].buyers[buy].price: 12.05 -> 20", "pingpost config take file"} {
		if drift.code != 2 || !strings.Contains(drift.out, want) {
			t.Errorf("exit %d, %q, want %q", drift.code, drift.out, want)
		}
	}
	mustPrint(t, "the differences are accepted\n", "config", "take", "exchange", "campaigns[cmp]", "--admin", admin)
	mustPrint(t, "no difference\n", "config", "drift", "--admin", admin)
	writeFile(t, path, strings.Replace(testConfig, "12.05", "21", 1))
	mustPrint(t, "12.05 -> 21\n", "config", "take", "file", "--admin", admin)
	mustPrint(t, `"entries":[]`, "config", "drift", "--json", "--admin", admin)
	writeFile(t, path, "campaigns: [")
	mustFail(t, "cannot compare its configuration file", "config", "drift", "--admin", admin)
}
