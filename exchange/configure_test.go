package exchange

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pingpost/engine/market/fingerprint"
	"pingpost/internal/must"
)

// priced is recorded with another price.
func priced(price string) string {
	return strings.Replace(recorded, "price: 12.05", "price: "+price, 1)
}

type changes struct {
	Changes []string `json:"changes"`
}

func TestConfigurationIsReadAndChanged(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	document := x.must(200, "GET", "/admin/v1/config", "").body
	same := decode[changes](t, x.must(200, "PUT", "/admin/v1/config", document))
	if len(same.Changes) != 0 {
		t.Errorf("its own document changes %v", same.Changes)
	}
	seq, _ := x.log.Durable()
	for _, dry := range []string{"dry=1", "dry=true", "dry", "dry=yes", "dry=on"} {
		would := decode[changes](t, x.must(200, "PUT", "/admin/v1/config?"+dry, priced("20")))
		if len(would.Changes) != 1 || !strings.Contains(would.Changes[0], "price") {
			t.Errorf("%s: %v", dry, would.Changes)
		}
	}
	if after, _ := x.log.Durable(); after != seq || x.must(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("a dry run changed something")
	}
	x.must(200, "PUT", "/admin/v1/config?dry=0", priced("20"))
	x.sold(lead(1)).mustHave(t, 201, `"amount":16,`)
	if x.must(200, "GET", "/admin/v1/config", "").body == document {
		t.Error("the document in force is the one before")
	}
	if !strings.Contains(document, `"api_key":{"set":true,"variable":"ACME_KEY"}`) { // and no secret: every answer is searched
		t.Error("nobody can see that there is a key")
	}
	before := len(spoken.String())
	// The file has the word again, and the log says what that changes.
	x.mustReload()
	if said := spoken.String()[before:]; !strings.Contains(said, "20 -> 12.05") {
		t.Errorf("said %s", said)
	}
	x.sold(lead(2)).mustHave(t, 201, `"amount":9.64,`)
}

// TestMistakesChangeNothing: each is told with its line, and the configuration,
// the log and the folder stay as they are.
func TestMistakesChangeNothing(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	document := x.must(200, "GET", "/admin/v1/config", "").body
	seq, _ := x.log.Durable()
	before := len(files(t, x.data()))
	for name, row := range map[string]struct{ text, want string }{
		"no document":      {"", "empty"},
		"no YAML":          {"a: [", ":1:"},
		"an unknown key":   {strings.Replace(recorded, "method:", "mehtod:", 1), ":12:5"},
		"no such buyer":    {strings.Replace(recorded, "{buyer: buy_blue, price: 12.05}", "{buyer: nobody, price: 1}", 1), ":16:"},
		"a price of words": {priced("dear"), ":16:"},
		"no such file":     {recorded + "suppression_lists: [{id: dnc, field: phone, file: gone.txt}]\n", "gone.txt"},
		"no such variable": {strings.Replace(recorded, "${ACME_KEY}", "${NOBODYS_KEY}", 1), "NOBODYS_KEY"},
		"two mistakes":     {strings.Replace(priced("dear"), "method:", "mehtod:", 1), ":16:"},
	} {
		t.Run(name, func(t *testing.T) {
			f := x.operate("PUT", "/admin/v1/config", row.text).mustFail(t, 422, "invalid_payload")
			if !strings.Contains(f.Message, row.want) {
				t.Errorf("told %q, want %q in it", f.Message, row.want)
			}
			x.write(t, row.text)
			if err := x.ReloadConfiguration(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Reload: %v", err)
			}
		})
	}
	if after, _ := x.log.Durable(); after != seq || x.must(200, "GET", "/admin/v1/config", "").body != document {
		t.Error("a mistake changed something")
	}
	if after := len(files(t, x.data())); after > before+1 {
		t.Errorf("%d files where %d were", after, before)
	}
	x.sold(lead(1))
}

// TestReloadUnderLoad: requests before, during and after are all answered, by
// one configuration or the other.
func TestReloadUnderLoad(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	var stop atomic.Bool
	var sent atomic.Int64
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for !stop.Load() {
				a := x.ingest(lead(int(sent.Add(1) % 10000)))
				if a.status != 201 || !strings.Contains(a.body, `"amount":16,`) && !strings.Contains(a.body, `"amount":9.64,`) {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
			}
		})
	}
	for i := range 30 {
		switch i % 3 {
		case 0:
			x.write(t, priced("20"))
		case 1:
			x.write(t, "campaigns: nonsense\n")
		case 2:
			x.write(t, recorded)
		}
		if err := x.ReloadConfiguration(); (err != nil) != (i%3 == 1) {
			t.Errorf("Reload %d: %v", i, err)
		}
	}
	stop.Store(true)
	done.Wait()
	if sent.Load() < 8 {
		t.Fatalf("%d requests are no load", sent.Load())
	}
	x.measures("pingpost_reservations 0")
}

// TestUnchangedIsNotLogged: a restart or reload with the same file adds nothing
// to the log.
func TestUnchangedIsNotLogged(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	seq, _ := x.log.Durable()
	x.mustReload()
	x = x.again()
	if after, _ := x.log.Durable(); after != seq {
		t.Errorf("%d entries more", after-seq)
	}
}

// TestSettingsThatWait: what only a restart can change is said, and not done.
func TestSettingsThatWait(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	for name, config := range map[string]string{
		"admin.password":   strings.Replace(recorded, "${PASSWORD}", "another", 1),
		"limits.body":      recorded + "limits: {body: 1KiB}\n",
		"tenant":           recorded + "tenant: other\n",
		"ping_idempotency": recorded + "ping_idempotency: 1h\n",
		"report.keep":      strings.Replace(recorded, "report: {keep: 0s}", "report: {keep: 30d}", 1),
		"":                 recorded + "trusted_proxies: [10.9.8.7]\n",
	} {
		t.Run(name, func(t *testing.T) {
			before := len(spoken.String())
			x.reloadWith(config)
			said := spoken.String()[before:]
			_, waiting, _ := strings.Cut(said, `take effect at the next start" tenant=production settings=`)
			if waiting, _, _ = strings.Cut(waiting, "\n"); waiting != name {
				t.Errorf("%q waits: %s", waiting, said)
			}
			x.must(200, "GET", "/admin/v1/hash", "")
		})
	}
}

// TestSuppressionLists: a list is imported once; its entries are the exchange's
// from then on, whatever becomes of the file.
func TestSuppressionLists(t *testing.T) {
	p := newPlace(t, endings)
	p.beside(t, "dnc.txt", "# do not call\n\n+1"+areaCode+"0666\r\n"+areaCode+"0667\n1"+areaCode+"0668")
	x := start(t, p)
	suppressed := func(number int) bool {
		return strings.Contains(x.ingest(lead(number, "flo_campaign_id", `"dnc"`)).body, `"reason":"suppressed"`)
	}
	check := func(when string) {
		t.Helper()
		if !suppressed(666) || !suppressed(667) || !suppressed(668) || suppressed(669) {
			t.Errorf("%s: %v %v %v %v", when, suppressed(666), suppressed(667), suppressed(668), suppressed(669))
		}
	}
	check("at first")
	p.beside(t, "dnc.txt", "")
	x.mustReload()
	check("after the file was emptied")
	must.Succeed(t, os.Remove(filepath.Join(p.dir, "dnc.txt")))
	x = x.again()
	check("after the file was removed, over a restart")
	lists, err := filepath.Glob(filepath.Join(x.data(), "lists", "*"))
	if err != nil || len(lists) != 1 {
		t.Fatal(lists, err)
	}
	// A stray file goes; a damaged one is refused.
	stray := filepath.Join(x.data(), "lists", strings.Repeat("0", 64))
	must.Succeed(t, os.WriteFile(stray, nil, 0o600))
	x = x.again()
	if _, err := os.Stat(stray); !os.IsNotExist(err) {
		t.Error("the stray file is still there")
	}
	x.stop()
	data := must.Value(os.ReadFile(lists[0]))(t)
	flipped := bytes.Clone(data)
	flipped[len(data)/2] ^= 1
	for _, damage := range [][]byte{flipped, data[:len(data)-1], nil, fingerprint.NewFingerprintTable(nil).AppendBinary(nil)} {
		must.Succeed(t, os.WriteFile(lists[0], damage, 0o600))
		refuses(t, p, "is damaged; restore it")
	}
	must.Succeed(t, os.WriteFile(lists[0], data, 0o600))
	x = start(t, p)
	check("after the file was put back")
}

// TestListThatComesBack: what a list had is kept while it is out of the
// configuration, whatever is done to its file meanwhile.
func TestListThatComesBack(t *testing.T) {
	with := strings.Replace(recorded, "    payout: {share: 0.8}", "    suppression: [dnc]\n    payout: {share: 0.8}", 1) +
		"suppression_lists: [{id: dnc, field: phone, file: dnc.txt}]\n"
	p := newPlace(t, with)
	p.beside(t, "dnc.txt", "+1"+areaCode+"0001\n")
	suppressed := func(x *running) bool { return strings.Contains(x.ingest(lead(1)).body, `"reason":"suppressed"`) }
	x := start(t, p)
	if !suppressed(x) {
		t.Fatal("the list has no say")
	}
	x.stop()
	p.write(t, recorded)
	x = start(t, p)
	if suppressed(x) {
		t.Error("a list that is out of the configuration has a say")
	}
	x.stop()
	p.write(t, with)
	p.beside(t, "dnc.txt", "")
	if !suppressed(start(t, p)) {
		t.Error("it came back without its contents")
	}
}
