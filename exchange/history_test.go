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

type pastVersion struct {
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
	Entries []pastVersion
	Next    *string
}

func (r *running) history(query string) historyPage {
	r.t.Helper()
	return decode[historyPage](r.t, r.must(200, "GET", configAt+"history"+query, ""))
}

// lines are a page's changes in short.
func (p *historyPage) lines() (lines []string) {
	for _, e := range p.Entries {
		for _, c := range e.Changes {
			lines = append(lines, fmt.Sprintf("%d %s %s: %s: %s -> %s", e.Version, e.From, e.By, c.Path, c.Before, c.After))
		}
	}
	return lines
}

// TestHistory: who changed what, when, from what to what; by entry and by page; also
// after a restart, and where a document has gone.
func TestHistory(t *testing.T) {
	began := time.Now().Add(-time.Minute)
	x := start(t, newPlace(t, recorded))
	x.put("buyers/buy.red", `{"caps":[{"per":"day","count":5}]}`)
	x.put("buyers/buy.red", `{"caps":[{"per":"day","count":7}]}`)
	x.must(200, "PUT", "/admin/v1/config", priced("20"))
	x.reloadWith(priced("21"))
	x.remove("buyers/buy.red")
	x = x.again()
	page := x.history("?limit=5")
	var short []string
	for _, line := range page.lines() {
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
			t.Errorf("version %d was at %v", e.Version, e.At)
		}
	}
	rest := x.history("?after=" + *page.Next)
	if len(rest.Entries) != 1 || rest.Entries[0].Version != 1 || rest.Entries[0].From != "file" || rest.Next != nil {
		t.Errorf("%+v", rest)
	}
	var of []string
	for query := "?kind=buyers&id=buy.red&limit=1"; ; {
		page := x.history(query)
		for _, e := range page.Entries {
			of = append(of, fmt.Sprint(e.Version))
		}
		if page.Next == nil {
			break
		}
		query = "?kind=buyers&id=buy.red&limit=1&after=" + *page.Next
	}
	if got := strings.Join(of, " "); got != "6 3 2" {
		t.Errorf("versions %s changed the buyer", got)
	}
	for _, query := range []string{"?kind=settings", "?id=buy.red", "?limit=0", "?limit=501", "?after=x", "?after=0"} {
		x.operate("GET", configAt+"history"+query, "").mustFail(t, 422, "invalid_payload")
	}
	gone := x.state.ConfigRevisions()[2].Document
	must.Succeed(t, os.Remove(filepath.Join(x.data(), "catalogs", gone+".json")))
	for _, e := range x.history("").Entries {
		if e.Lost != (e.Version == 4 || e.Version == 5) {
			t.Errorf("version %d: lost %v", e.Version, e.Lost)
		}
	}
}

// TestHistoryIsBounded: a version with many changes tells some of them.
func TestHistoryIsBounded(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	var fields []string
	for i := range maxHistoryChanges + 5 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":"string"}`, i))
	}
	x.put("campaigns/cmp_red", `{"method":"waterfall"}`)
	x.put("campaigns/cmp_red", `{"method":"waterfall","fields":[`+strings.Join(fields, ",")+`]}`)
	page := x.history("?limit=1")
	if e := page.Entries[0]; len(e.Changes) != maxHistoryChanges || e.More != 5 {
		t.Errorf("%d changes, and %d more", len(e.Changes), e.More)
	}
}
