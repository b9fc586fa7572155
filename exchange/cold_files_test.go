package exchange

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// coldConfig recognizes duplicates and has a buyer that reports on leads.
const coldConfig = configHead + configSuppliers + `buyers:
  - {id: buy_blue, oauth_clients: [{client_id: blue, client_secret: "` + acmeSecret + `"}]}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 30d}
    buyers: [{buyer: buy_blue, price: 12.05}]
`

// startCold starts an exchange whose snapshots move all closed leads to files.
func startCold(t testing.TB, p testDir) *testExchange {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.settings.HotFor = 1 })
}

// tryReport sends the buyer's report on a lead, and returns the answer.
func (r *testExchange) tryReport(lead, status string) *answer {
	r.t.Helper()
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/v1/leads/"+lead+"/status", `{"status":"`+status+`","reason":"wrong number"}`,
		"Authorization", "Bearer "+r.mustToken("blue", acmeSecret), "Content-Type", jsonType, "Idempotency-Key", status+lead)
}

func coldFileNames(t testing.TB, p testDir) (names []string) {
	t.Helper()
	paths := must.Value(filepath.Glob(filepath.Join(p.dataDir(), "cold", "*.rows")))(t)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// coldLeads are leads whose rows are in files: sold ones, each with the answer to its first request.
type coldLeads struct {
	ids     []string
	answers []string
}

// sellColdLeads sells leads and moves them to a file. Leads that were loaded in the last minute stay in memory.
func (r *testExchange) sellColdLeads(c *coldLeads, count, loaded int) {
	r.t.Helper()
	for range count {
		n := len(c.ids)
		a := r.mustSell(leadBody(n), "Idempotency-Key", "key-"+string(rune('a'+n)))
		c.ids, c.answers = append(c.ids, a.leadID()), append(c.answers, a.body)
	}
	r.mustSnapshot()
	if held := r.state.LeadCountWithExpired(); held != loaded {
		r.t.Fatalf("memory has %d leads after the move, want %d", held, loaded)
	}
}

// check sends each lead again: with its key, without it as a duplicate, and asks for the lead.
func (r *testExchange) check(c *coldLeads) {
	r.t.Helper()
	for n, id := range c.ids {
		if a := r.ingest(leadBody(n), "Idempotency-Key", "key-"+string(rune('a'+n))); a.body != c.answers[n] || a.status != http.StatusCreated {
			r.t.Errorf("the repeat of lead %d got %d %s, want %s", n, a.status, a.body, c.answers[n])
		}
		if a := r.ingest(leadBody(n+1), "Idempotency-Key", "key-"+string(rune('a'+n))); a.status != http.StatusUnprocessableEntity {
			r.t.Errorf("another body with the key of lead %d got %d %s", n, a.status, a.body)
		}
		if a := r.ingest(leadBody(n)); !strings.Contains(a.body, `"duplicate"`) {
			r.t.Errorf("the duplicate of lead %d got %d %s", n, a.status, a.body)
		}
		r.mustAdmin(200, "GET", "/admin/v1/explain/"+id, "").mustHave(r.t, 200, "buy_blue")
	}
}

// Leads in files answer as leads in memory do: repeats, duplicates, explanations, reports and returns, also after a
// restart and after merges. The state hash equals that of a replay of the log alone.
func TestColdLeadsAnswerAsLeadsInMemory(t *testing.T) {
	t.Parallel()
	x := startCold(t, newTestDir(t, coldConfig))
	var leads coldLeads
	loaded := 0
	for round := range 6 {
		x.sellColdLeads(&leads, 2, loaded)
		must.Succeed(t, x.mergeColdFilesIfMany())
		loaded++
		x.check(&leads)
		if a := x.tryReport(leads.ids[round], "returned"); a.status != http.StatusOK {
			t.Fatalf("the return of a cold lead got %d %s", a.status, a.body)
		}
		if a := x.tryReport(leads.ids[round], "contacted"); a.status != http.StatusConflict {
			t.Errorf("a report on a returned lead got %d %s", a.status, a.body)
		}
		if round%2 == 1 {
			x.stop()
			x, loaded = startCold(t, x.testDir), 0
		}
		seq, live, err := x.StateHash()
		must.Succeed(t, err)
		if replayed := hashOfLogAlone(t, x.testDir); live != replayed {
			t.Fatalf("round %d: after entry %d the state has hash %x, a replay of the log %x", round, seq, live, replayed)
		}
	}
	x.check(&leads)
	for range 3 {
		must.Succeed(t, x.mergeColdFilesIfMany())
	}
	x.check(&leads)
	if files := len(x.cold.Files()); files > 4 {
		t.Errorf("%d files are in use", files)
	}
}

// hashOfLogAlone returns the hash after a replay of the whole log, without snapshots.
func hashOfLogAlone(t *testing.T, p testDir) uint64 {
	t.Helper()
	copied := p.copyFiles(t)
	must.Succeed(t, os.RemoveAll(filepath.Join(copied.dataDir(), "snapshot")))
	_, hash, err := StateHash(copied.dataDir(), 0)
	must.Succeed(t, err)
	return hash
}

// A start rebuilds the rows of lost and damaged files from the log.
func TestStartRebuildsColdFiles(t *testing.T) {
	t.Parallel()
	x := startCold(t, newTestDir(t, coldConfig))
	var leads coldLeads
	x.sellColdLeads(&leads, 3, 0)
	x.sellColdLeads(&leads, 3, 0)
	if a := x.tryReport(leads.ids[1], "returned"); a.status != http.StatusOK {
		t.Fatalf("the return of a cold lead got %d %s", a.status, a.body)
	}
	_, want, err := x.StateHash()
	must.Succeed(t, err)
	for name, damage := range map[string]func(path string){
		"missing":         func(path string) { removeFile(t, path) },
		"truncated":       func(path string) { must.Succeed(t, os.Truncate(path, 1000)) },
		"index damaged":   func(path string) { flipByte(t, path, -60) },
		"another's file":  func(path string) { must.Succeed(t, os.WriteFile(path, []byte("PPROWS"), 0o600)) },
		"of other shape":  func(path string) { flipByte(t, path, 6) },
		"an empty folder": func(path string) { must.Succeed(t, os.RemoveAll(filepath.Dir(path))) },
	} {
		copied := x.copyFiles(t)
		damage(filepath.Join(copied.dataDir(), "cold", coldFileNames(t, copied)[0]))
		if _, hash, err := StateHash(copied.dataDir(), 0); err != nil || hash != want {
			t.Errorf("%s: the folder has hash %x, want %x: %v", name, hash, want, err)
		}
		crashed := startCold(t, copied)
		if _, hash, err := crashed.StateHash(); err != nil || hash != want {
			t.Errorf("%s: hash %x after the start, want %x: %v", name, hash, want, err)
		}
		if !strings.Contains(copied.logged.String(), "rebuilt rows of closed leads from the log") {
			t.Errorf("%s: the log does not say that rows were rebuilt", name)
		}
		crashed.check(&leads)
		crashed.mustSnapshot()
		crashed.check(&leads)
		crashed.stop()
	}
}

// A damaged block is found when it is read. The request gets 503 and the exchange ends. The next start rebuilds the rows.
func TestDamagedBlockEndsExchange(t *testing.T) {
	t.Parallel()
	x := startCold(t, newTestDir(t, coldConfig))
	var leads coldLeads
	x.sellColdLeads(&leads, 3, 0)
	path := filepath.Join(x.dataDir(), "cold", coldFileNames(t, x.testDir)[0])
	content := must.Value(os.ReadFile(path))(t)
	for i := 16; i < len(content)-60; i++ { // all parts, and no trailer
		content[i] ^= 1
	}
	file := must.Value(os.OpenFile(path, os.O_WRONLY, 0))(t) // the same file, which is open
	must.Value(file.Write(content))(t)
	must.Succeed(t, file.Close())
	if a := x.ingest(leadBody(0), "Idempotency-Key", "key-a"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a repeat of a lead in a damaged file got %d %s", a.status, a.body)
	}
	if err := <-x.FatalErrors(); !strings.Contains(err.Error(), "start again") {
		t.Errorf("the exchange ends with %v", err)
	}
	x.stop()
	if slices.Contains(coldFileNames(t, x.testDir), filepath.Base(path)) {
		t.Error("the damaged file is still in use")
	}
	next := startCold(t, x.testDir)
	next.check(&leads)
}
