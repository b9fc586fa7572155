package exchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

type historyEntry struct {
	Version uint32
	At      *time.Time
	By      string
	From    string
	Changes []struct {
		Path          string
		Before, After json.RawMessage
	}
	More int
	Lost bool
}

type historyPage struct {
	Entries []historyEntry
	Next    *string
}

func (r *testExchange) history(query string) historyPage {
	r.t.Helper()
	return decode[historyPage](r.t, r.mustAdmin(200, "GET", configURL+"history"+query, ""))
}

// changeLines returns the changes of a page, one per line.
func (p *historyPage) changeLines() (changeLines []string) {
	for _, e := range p.Entries {
		for _, c := range e.Changes {
			changeLines = append(changeLines, fmt.Sprintf("%d %s %s: %s: %s -> %s", e.Version, e.From, e.By, c.Path, c.Before, c.After))
		}
	}
	return changeLines
}

// TestConfigurationHistory: author, time and values of each change, by entry and by page, after a
// restart and without a document.
func TestConfigurationHistory(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Minute)
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy.red", `{"caps":[{"per":"day","count":5}]}`)
	x.putEntry("buyers/buy.red", `{"caps":[{"per":"day","count":7}]}`)
	x.mustAdmin(200, "PUT", "/admin/v1/config", configWithPrice("20"))
	x.reloadWith(configWithPrice("21"))
	x.removeEntry("buyers/buy.red")
	x = x.restart()
	page := x.history("?limit=5")
	var short []string
	for _, line := range page.changeLines() {
		short = append(short, strings.SplitN(line, "{", 2)[0])
	}
	want := strings.Join([]string{
		"6 api operator: buyers.buy.red: ",
		"5 file : campaigns.cmp.buyers[buy_blue].price: 20 -> 21",
		"4 document operator: campaigns.cmp.buyers[buy_blue].price: 12.05 -> 20",
		"3 api operator: buyers.buy.red.caps[0].count: 5 -> 7",
		"2 api operator: buyers.buy.red:  -> ",
	}, "\n")
	if got := strings.Join(short, "\n"); got != want || page.Next == nil {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, e := range page.Entries {
		if e.At == nil || e.At.Before(began) || e.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("version %d has the time %v", e.Version, e.At)
		}
	}
	rest := x.history("?after=" + *page.Next)
	if len(rest.Entries) != 1 || rest.Entries[0].Version != 1 || rest.Entries[0].From != "file" || rest.Next != nil {
		t.Errorf("unexpected last page: %+v", rest)
	}
	var versions []string
	for query := "?kind=buyers&id=buy.red&limit=1"; ; {
		page := x.history(query)
		for _, e := range page.Entries {
			versions = append(versions, fmt.Sprint(e.Version))
		}
		if page.Next == nil {
			break
		}
		query = "?kind=buyers&id=buy.red&limit=1&after=" + *page.Next
	}
	if got := strings.Join(versions, " "); got != "6 3 2" {
		t.Errorf("history of the buyer has the versions %s, want 6 3 2", got)
	}
	for _, query := range []string{"?kind=settings", "?id=buy.red", "?limit=0", "?limit=501", "?after=x", "?after=0"} {
		x.adminRequest("GET", configURL+"history"+query, "").mustFail(t, 422, "invalid_payload")
	}
	gone := x.state.ConfigRevisions()[2].Document
	must.Succeed(t, os.Remove(filepath.Join(x.dataDir(), "catalogs", gone+".json")))
	for _, e := range x.history("").Entries {
		if e.Lost != (e.Version == 4 || e.Version == 5) {
			t.Errorf("version %d: lost %v", e.Version, e.Lost)
		}
	}
}

// TestConfigurationHistoryIsLimited: a version with many changes lists the first ones.
func TestConfigurationHistoryIsLimited(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	var fields []string
	for i := range maxHistoryChanges + 5 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":"string"}`, i))
	}
	x.putEntry("campaigns/cmp_red", `{"method":"waterfall"}`)
	x.putEntry("campaigns/cmp_red", `{"method":"waterfall","fields":[`+strings.Join(fields, ",")+`]}`)
	page := x.history("?limit=1")
	if e := page.Entries[0]; len(e.Changes) != maxHistoryChanges || e.More != 5 {
		t.Errorf("got %d changes and %d more", len(e.Changes), e.More)
	}
}
