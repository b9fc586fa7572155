package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/wal"
)

// erasedAnswer is what the admin API says of an erasure.
type erasedAnswer struct {
	Erased int `json:"erased"`
	Left   int `json:"left"`
	Leads  []struct {
		Lead   string `json:"lead_id"`
		Reason string `json:"reason"`
	} `json:"left_leads"`
}

func (r *running) erase(who string) erasedAnswer {
	r.t.Helper()
	return decode[erasedAnswer](r.t, r.must(200, "POST", "/admin/v1/erase", who))
}

// whoIsKnown tells which leads of a log can be opened, by their ids.
func (r *running) whoIsKnown() (known, forgotten map[string]bool) {
	r.t.Helper()
	known, forgotten = map[string]bool{}, map[string]bool{}
	forEachFact(r.t, r.data(), func(_ wal.Entry, fact event.Event) {
		lead, ok := fact.(*event.LeadDecided)
		if !ok {
			return
		}
		contact, err := r.engine.Load().DecryptContact(lead)
		switch {
		case err == nil && len(contact.Fields) >= 4:
			known[lead.Lead.String()] = true
		case errors.Is(err, engine.ErrErased):
			forgotten[lead.Lead.String()] = true
		default:
			r.t.Errorf("lead %s: %v, %d fields", lead.Lead, err, len(contact.Fields))
		}
	})
	return known, forgotten
}

func (r *running) hash() string {
	r.t.Helper()
	seq, hash, err := r.Exchange.StateHash()
	must.Succeed(r.t, err)
	return fmt.Sprintf("%d %016x\n", seq, hash)
}

// TestNobodyIsInAnyFile: after a day of leads with posts open and unknown, a snapshot
// taken, and a stop in order, no file says who anybody is. Erased, a person cannot be
// known by what is sealed either, while all sums stay.
func TestNobodyIsInAnyFile(t *testing.T) {
	x := goldenDay(t)
	hasNone(t, x.data(), canaries...)
	if known, forgotten := x.whoIsKnown(); len(known) != 9 || len(forgotten) != 0 {
		t.Fatalf("%d leads can be opened, %d were erased", len(known), len(forgotten))
	}
	statement := func() string { return x.must(200, "GET", "/admin/v1/statement?buyer=buy_blue&format=csv", "").body }
	before := statement()

	x.eraseTimeout = 0
	byPhone := fmt.Sprintf(`{"phone":"(%s) %s-0001"}`, areaCode[:3], areaCode[3:])
	if got := x.erase(byPhone); got.Erased != 2 || got.Left != 0 { // the lead, and its duplicate
		t.Errorf("by phone: %+v", got)
	}
	if got := x.erase(`{"email":"ANN2@` + strings.ToUpper(mailHost) + `"}`); got.Erased != 1 || got.Left != 0 {
		t.Errorf("by e-mail: %+v", got)
	}
	if got := x.erase(`{"email":"nobody@` + mailHost + `"}`); got.Erased != 0 || got.Left != 0 {
		t.Errorf("nobody: %+v", got)
	}
	unknown := decode[listing](t, x.must(200, "GET", "/admin/v1/deliveries?state=unknown", "")).Deliveries[0].LeadID
	for range 2 {
		if got := x.erase(`{"lead":"` + unknown + `"}`); got.Erased != 1 || got.Left != 0 {
			t.Errorf("by its id: %+v", got)
		}
	}
	underWay := fmt.Sprintf(`{"phone":"%s0008"}`, areaCode)
	if got := x.erase(underWay); got.Erased != 0 || got.Left != 1 || got.Leads[0].Reason != "under_way" {
		t.Errorf("while it is delivered: %+v", got)
	}
	x.eraseTimeout = time.Minute
	if got := x.erase(underWay); got.Erased != 1 || got.Left != 0 {
		t.Errorf("once its buyer has given up: %+v", got)
	}
	x.operate("POST", "/admin/v1/erase", `{"lead":"lead_01jd0000000000000000000000"}`).mustFail(t, 404, "not_found")
	x.operate("POST", "/admin/v1/deliveries/"+unknown+"/resend", "").mustFail(t, 409, "invalid_transition")

	for range 2 {
		known, forgotten := x.whoIsKnown()
		if len(known) != 4 || len(forgotten) != 5 || !forgotten[unknown] {
			t.Errorf("%d can be opened, %d were erased", len(known), len(forgotten))
		}
		for id := range forgotten {
			if told := x.explain(id); !told.Erased || len(told.Notes) == 0 {
				t.Errorf("explain does not say that lead %s was erased", id)
			}
		}
		for id := range known {
			if x.explain(id).Erased {
				t.Errorf("explain says that lead %s was erased", id)
			}
		}
		if after := statement(); after != before {
			t.Errorf("the statement was\n%s\nand is\n%s", before, after)
		}
		if live := x.hash(); live != hashOf(t, x.place) {
			t.Errorf("live %s, replayed %s", live, hashOf(t, x.place))
		}
		hasNone(t, x.data(), canaries...)
		x = x.again() // by way of a snapshot
	}
	x.must(204, "POST", "/admin/v1/deliveries/"+unknown+"/confirm", "")
	x.stop()
	report, err := wal.Verify(x.data())
	if err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestEraseAfterACrash: what came between the fact and the keys, or put an older copy of
// the keys back, is made good by the start, before anything is served.
func TestEraseAfterACrash(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	id := x.sold(lead(1)).leadID()
	x.sold(lead(2))
	older := x.copy(t)
	x.erase(`{"lead":"` + id + `"}`)
	crashed := x.copy(t)
	keys := filepath.Join("data", "keys", "leads")
	must.Succeed(t, os.RemoveAll(filepath.Join(crashed.dir, keys)))
	must.Succeed(t, os.CopyFS(filepath.Join(crashed.dir, keys), os.DirFS(filepath.Join(older.dir, keys))))
	for range 2 {
		again := start(t, crashed)
		if known, forgotten := again.whoIsKnown(); len(known) != 1 || !forgotten[id] {
			t.Errorf("%d can be opened; the erased one is erased: %v", len(known), forgotten[id])
		}
		again.stop()
	}
	first, err := os.ReadFile(filepath.Join(crashed.dir, keys, fmt.Sprintf("%020d", 1)))
	if err != nil || !bytes.Equal(first[:32], make([]byte, 32)) || bytes.Equal(first[32:64], make([]byte, 32)) {
		t.Errorf("the keys are %x, %v", first[:64], err)
	}
}

// TestEarlierLogBesideLaterKeys: a log that was brought back to a time before an erasure
// comes with the keys of after it. Nobody comes back, and no slot is given whose key is
// gone.
func TestEarlierLogBesideLaterKeys(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	first := x.sold(lead(1)).leadID()
	older := x.copy(t)
	later := x.sold(lead(2)).leadID()
	x.erase(`{"lead":"` + first + `"}`)
	x.erase(`{"lead":"` + later + `"}`)
	x.stop()
	keys := filepath.Join("data", "keys", "leads")
	must.Succeed(t, errors.Join(os.RemoveAll(filepath.Join(older.dir, keys)), os.CopyFS(filepath.Join(older.dir, keys), os.DirFS(filepath.Join(x.dir, keys)))))
	again := start(t, older)
	third := again.sold(lead(3)).leadID()
	if known, forgotten := again.whoIsKnown(); len(known) != 1 || !known[third] || !forgotten[first] {
		t.Errorf("known %v, erased %v", known, forgotten)
	}
}

// TestEraseFromALogOfBefore: what an earlier program logged lies open, and that is said;
// what came since is erased.
func TestEraseFromALogOfBefore(t *testing.T) {
	p := unpacked(t, filepath.Join(goldenData, "unsealed.tar.gz"))
	r := accepting(t, p)
	r.ingest(lead(90, "email", `"ann1@`+mailHost+`"`)).mustHave(t, 201)
	got := r.erase(`{"email":"ann1@` + mailHost + `"}`)
	if got.Erased != 1 || got.Left != 2 || got.Leads[0].Reason != "unsealed" {
		t.Errorf("%+v", got)
	}
}

// TestEraseWithoutAKeyFile: whose a lead is cannot be known while its key is not there,
// and that is said.
func TestEraseWithoutAKeyFile(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1))
	x.stop()
	must.Succeed(t, os.RemoveAll(filepath.Join(x.data(), "keys", "leads")))
	x = start(t, x.place)
	x.sold(lead(1))
	if got := x.erase(fmt.Sprintf(`{"phone":"%s0001"}`, areaCode)); got.Erased != 1 || got.Left != 1 || got.Leads[0].Reason != "unreadable" {
		t.Errorf("%+v", got)
	}
}

// TestWanted: a number in any form, and an address in any letters; never a text that only
// has one in it.
func TestWanted(t *testing.T) {
	phone, email := &personToErase{phone: []byte("+14155550132")}, &personToErase{email: []byte("ann@example.com")}
	for text, want := range map[string][2]bool{
		"+14155550132": {true, false}, "(415) 555-0132": {true, false}, " 4155550132 ": {true, false},
		"+14155550133": {}, "415555013": {}, "call 415 555 0132": {}, "": {},
		"ann@example.com": {false, true}, "ANN@Example.com ": {false, true}, "xann@example.com": {}, "ann@example.com.au": {},
	} {
		fields := []event.LeadField{{Name: "x", Kind: market.KindString, Text: []byte("other")}, {Name: "y", Text: []byte(text)}}
		if got := [2]bool{phone.matchesAnyField(fields), email.matchesAnyField(fields)}; got != want {
			t.Errorf("%q: by phone, by e-mail: %v, want %v", text, got, want)
		}
	}
}
