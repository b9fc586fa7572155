package exchange

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/market/fingerprint"
	"pingpost/internal/must"
)

// configWithPrice is baseConfig with another price.
func configWithPrice(price string) string {
	return strings.Replace(baseConfig, "price: 12.05", "price: "+price, 1)
}

type configChanges struct {
	Changes []string `json:"changes"`
}

func TestGetAndPutConfiguration(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	document := x.mustAdmin(200, "GET", "/admin/v1/config", "").body
	same := decode[configChanges](t, x.mustAdmin(200, "PUT", "/admin/v1/config", document))
	if len(same.Changes) != 0 {
		t.Errorf("unchanged document has the changes %v", same.Changes)
	}
	seq, _ := x.log.LastEntry()
	for _, dry := range []string{"dry=1", "dry=true", "dry", "dry=yes", "dry=on"} {
		would := decode[configChanges](t, x.mustAdmin(200, "PUT", "/admin/v1/config?"+dry, configWithPrice("20")))
		if len(would.Changes) != 1 || !strings.Contains(would.Changes[0], "price") {
			t.Errorf("dry run with ?%s: %v", dry, would.Changes)
		}
	}
	if after, _ := x.log.LastEntry(); after != seq || x.mustAdmin(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("a dry run changed the log or the configuration")
	}
	x.mustAdmin(200, "PUT", "/admin/v1/config?dry=0", configWithPrice("20"))
	x.mustSell(leadBody(1)).mustHave(t, 201, `"amount":16,`)
	if x.mustAdmin(200, "GET", "/admin/v1/config", "").body == document {
		t.Error("PUT did not change the active document")
	}
	if !strings.Contains(document, `"api_key":{"set":true,"variable":"ACME_KEY"}`) {
		t.Error("document does not show that sup_acme has a key")
	}
	before := len(x.logged.String())
	// A reload applies the file again and logs the change.
	x.mustReload()
	if lines := x.logged.String()[before:]; !strings.Contains(lines, "20 -> 12.05") {
		t.Errorf("reload did not log the price change: %s", lines)
	}
	x.mustSell(leadBody(2)).mustHave(t, 201, `"amount":9.64,`)
}

// TestInvalidConfigurationChangesNothing: the error has the line. Configuration, log and folder
// stay unchanged.
func TestInvalidConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	document := x.mustAdmin(200, "GET", "/admin/v1/config", "").body
	seq, _ := x.log.LastEntry()
	before := len(readFiles(t, x.dataDir()))
	for name, row := range map[string]struct{ text, want string }{
		"empty document":        {"", "empty"},
		"not YAML":              {"a: [", ":1:"},
		"an unknown key":        {strings.Replace(baseConfig, "method:", "mehtod:", 1), ":13:5"},
		"unknown buyer":         {strings.Replace(baseConfig, "{buyer: buy_blue, price: 12.05}", "{buyer: nobody, price: 1}", 1), ":17:"},
		"price is not a number": {configWithPrice("dear"), ":17:"},
		"missing file":          {baseConfig + "suppression_lists: [{id: dnc, field: phone, file: gone.txt}]\n", "gone.txt"},
		"missing variable":      {strings.Replace(baseConfig, "${ACME_KEY}", "${NOBODYS_KEY}", 1), "NOBODYS_KEY"},
		"two mistakes":          {strings.Replace(configWithPrice("dear"), "method:", "mehtod:", 1), ":17:"},
	} {
		t.Run(name, func(t *testing.T) {
			f := x.adminRequest("PUT", "/admin/v1/config", row.text).mustFail(t, 422, "invalid_payload")
			if !strings.Contains(f.Message, row.want) {
				t.Errorf("got message %q, want %q in it", f.Message, row.want)
			}
			x.writeConfig(t, row.text)
			if err := x.ReloadConfiguration(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Reload: got %v, want %q", err, row.want)
			}
		})
	}
	if x.countChangesAfter(seq) != 0 || x.mustAdmin(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("an invalid configuration changed the log or the active document")
	}
	if after := len(readFiles(t, x.dataDir())); after > before+1 {
		t.Errorf("data directory has %d files, had %d", after, before)
	}
	x.mustSell(leadBody(1))
}

// hasSlowCommit reports whether an ingest waited for the log for more than 0.5 s, according to a
// metrics page. Only then may the exchange refuse leads with a 503, because the disk is busy.
func hasSlowCommit(page string) bool {
	value := func(name string) string {
		_, rest, _ := strings.Cut(page, "\npingpost_phase_seconds_"+name+" ")
		text, _, _ := strings.Cut(rest, "\n")
		return text
	}
	const labels = `{path="/api/v1/ingest",phase="commit"`
	return value("bucket"+labels+`,le="0.5"}`) != value("count"+labels+"}")
}

// TestReloadUnderLoad: each request is answered by the old or the new configuration.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	var stop atomic.Bool
	var sent, refused atomic.Int64
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for !stop.Load() {
				a := x.ingest(leadBody(int(sent.Add(1) % 10000)))
				if a.status == 503 {
					refused.Add(1)
					time.Sleep(10 * time.Millisecond)
					continue
				}
				if a.status != 201 || !strings.Contains(a.body, `"amount":16,`) && !strings.Contains(a.body, `"amount":9.64,`) {
					t.Errorf("lead during reloads: got %d %s", a.status, a.body)
					return
				}
			}
		})
	}
	for i := range 30 {
		switch i % 3 {
		case 0:
			x.writeConfig(t, configWithPrice("20"))
		case 1:
			x.writeConfig(t, "campaigns: nonsense\n")
		case 2:
			x.writeConfig(t, baseConfig)
		}
		if err := x.ReloadConfiguration(); (err != nil) != (i%3 == 1) {
			t.Errorf("Reload %d: %v", i, err)
		}
	}
	stop.Store(true)
	done.Wait()
	if sent.Load() < 8 {
		t.Fatalf("only %d requests were sent", sent.Load())
	}
	if n := refused.Load(); n > 0 && !hasSlowCommit(x.mustAdmin(200, "GET", "/metrics", "").body) {
		t.Errorf("%d leads were refused with a 503, and the log was fast", n)
	}
	x.checkMetrics("pingpost_reservations 0")
}

// TestUnchangedConfigurationIsNotLogged: a restart or reload with the same file adds no log entry.
func TestUnchangedConfigurationIsNotLogged(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	seq, _ := x.log.LastEntry()
	x.mustReload()
	x = x.restart()
	if after, _ := x.log.LastEntry(); after != seq {
		t.Errorf("%d new log entries, want none", after-seq)
	}
}

func TestReloadNamesSettingsThatNeedRestart(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	for name, config := range map[string]string{
		"admin.password":   strings.Replace(baseConfig, "${PASSWORD}", "another", 1),
		"limits.body":      baseConfig + "limits: {body: 1KiB}\n",
		"tenant":           baseConfig + "tenant: other\n",
		"ping_idempotency": baseConfig + "ping_idempotency: 1h\n",
		"report.keep":      strings.Replace(baseConfig, "report: {keep: 0s}", "report: {keep: 30d}", 1),
		"":                 baseConfig + "trusted_proxies: [10.9.8.7]\n",
	} {
		t.Run(name, func(t *testing.T) {
			before := len(x.logged.String())
			x.reloadWith(config)
			lines := x.logged.String()[before:]
			_, settings, _ := strings.Cut(lines, `take effect at the next start" tenant=production settings=`)
			if settings, _, _ = strings.Cut(settings, "\n"); settings != name {
				t.Errorf("log names %q as waiting for a restart: %s", settings, lines)
			}
			x.mustAdmin(200, "GET", "/admin/v1/hash", "")
		})
	}
}

// TestSuppressionListIsImportedOnce: later changes of the file have no effect.
func TestSuppressionListIsImportedOnce(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, outcomesConfig)
	p.writeFile(t, "dnc.txt", "# do not call\n\n+1"+areaCode+"0666\r\n"+areaCode+"0667\n1"+areaCode+"0668")
	x := start(t, p)
	suppressed := func(number int) bool {
		return strings.Contains(x.ingest(leadBody(number, "flo_campaign_id", `"dnc"`)).body, `"reason":"suppressed"`)
	}
	check := func(when string) {
		t.Helper()
		if !suppressed(666) || !suppressed(667) || !suppressed(668) || suppressed(669) {
			t.Errorf("%s: suppressed %v %v %v %v, want true true true false", when, suppressed(666), suppressed(667), suppressed(668), suppressed(669))
		}
	}
	check("at first")
	p.writeFile(t, "dnc.txt", "")
	x.mustReload()
	check("after the file was emptied")
	must.Succeed(t, os.Remove(filepath.Join(p.dir, "dnc.txt")))
	x = x.restart()
	check("after the file was removed, over a restart")
	lists, err := filepath.Glob(filepath.Join(x.dataDir(), "lists", "*"))
	if err != nil || len(lists) != 1 {
		t.Fatalf("unexpected list files: %v, %v", lists, err)
	}
	// A start removes an unused file and rejects a damaged one.
	unused := filepath.Join(x.dataDir(), "lists", strings.Repeat("0", 64))
	must.Succeed(t, os.WriteFile(unused, nil, 0o600))
	x = x.restart()
	if _, err := os.Stat(unused); !os.IsNotExist(err) {
		t.Error("a start did not remove an unused list file")
	}
	x.stop()
	data := must.Value(os.ReadFile(lists[0]))(t)
	flipped := bytes.Clone(data)
	flipped[len(data)/2] ^= 1
	for _, damage := range [][]byte{flipped, data[:len(data)-1], nil, fingerprint.NewFingerprintTable(nil).AppendBinary(nil)} {
		must.Succeed(t, os.WriteFile(lists[0], damage, 0o600))
		mustNotStart(t, p, "is damaged; restore it")
	}
	must.Succeed(t, os.WriteFile(lists[0], data, 0o600))
	x = start(t, p)
	check("after the file was put back")
}

// TestRemovedListKeepsItsEntries: a list that returns to the configuration has its entries,
// and no value from its changed file.
func TestRemovedListKeepsItsEntries(t *testing.T) {
	t.Parallel()
	withList := strings.Replace(baseConfig, "    payout: {share: 0.8}", "    suppression: [dnc]\n    payout: {share: 0.8}", 1) +
		"suppression_lists: [{id: dnc, field: phone, file: dnc.txt}]\n"
	p := newTestDir(t, withList)
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0001\n")
	suppressed := func(x *testExchange) bool {
		return strings.Contains(x.ingest(leadBody(1)).body, `"reason":"suppressed"`)
	}
	x := start(t, p)
	if !suppressed(x) {
		t.Fatal("the list does not suppress")
	}
	x.stop()
	p.writeConfig(t, baseConfig)
	x = start(t, p)
	if suppressed(x) {
		t.Error("a removed list suppresses")
	}
	x.stop()
	p.writeConfig(t, withList)
	p.writeFile(t, "dnc.txt", "")
	if !suppressed(start(t, p)) {
		t.Error("the list returned without its entries")
	}
}
