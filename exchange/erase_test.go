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

// eraseResult is the answer to an erasure.
type eraseResult struct {
	Erased int `json:"erased"`
	Left   int `json:"left"`
	Leads  []struct {
		Lead   string `json:"lead_id"`
		Reason string `json:"reason"`
	} `json:"left_leads"`
}

func (r *testExchange) erase(request string) eraseResult {
	r.t.Helper()
	return decode[eraseResult](r.t, r.mustAdmin(200, "POST", "/admin/v1/erase", request))
}

// decryptableLeads returns the ids of the leads in the log that can be decrypted, and of the erased
// ones.
func (r *testExchange) decryptableLeads() (decryptable, erased map[string]bool) {
	r.t.Helper()
	decryptable, erased = map[string]bool{}, map[string]bool{}
	forEachLogEntry(r.t, r.dataDir(), func(_ wal.Entry, ev event.Event) {
		lead, ok := ev.(*event.LeadDecided)
		if !ok {
			return
		}
		contact, err := r.engine.Load().DecryptContact(lead)
		switch {
		case err == nil && len(contact.Fields) >= 4:
			decryptable[lead.Lead.String()] = true
		case errors.Is(err, engine.ErrErased):
			erased[lead.Lead.String()] = true
		default:
			r.t.Errorf("lead %s: %v, %d fields", lead.Lead, err, len(contact.Fields))
		}
	})
	return decryptable, erased
}

func (r *testExchange) liveStateHash() string {
	r.t.Helper()
	seq, hash, err := r.Exchange.StateHash()
	must.Succeed(r.t, err)
	return fmt.Sprintf("%d %016x\n", seq, hash)
}

// TestContactDataIsEncryptedAndErased: with open and unknown deliveries, a snapshot and a stop, no
// file has contact data in plain text. After an erasure the encrypted data is unreadable, and all
// sums stay.
func TestContactDataIsEncryptedAndErased(t *testing.T) {
	t.Parallel()
	x := startGoldenDay(t)
	checkNoFileContains(t, x.dataDir(), canaries...)
	if decryptable, erased := x.decryptableLeads(); len(decryptable) != 9 || len(erased) != 0 {
		t.Fatalf("%d leads are decryptable and %d erased, want 9 and 0", len(decryptable), len(erased))
	}
	statement := func() string {
		return x.mustAdmin(200, "GET", "/admin/v1/statement?buyer=buy_blue&format=csv", "").body
	}
	before := statement()

	x.eraseTimeout = 0
	byPhone := fmt.Sprintf(`{"phone":"(%s) %s-0001"}`, areaCode[:3], areaCode[3:])
	if got := x.erase(byPhone); got.Erased != 2 || got.Left != 0 { // the lead and its duplicate
		t.Errorf("by phone: %+v", got)
	}
	if got := x.erase(`{"email":"ANN2@` + strings.ToUpper(mailHost) + `"}`); got.Erased != 1 || got.Left != 0 {
		t.Errorf("by e-mail: %+v", got)
	}
	if got := x.erase(`{"email":"nobody@` + mailHost + `"}`); got.Erased != 0 || got.Left != 0 {
		t.Errorf("of an unknown address: %+v", got)
	}
	unknown := decode[deliveryList](t, x.mustAdmin(200, "GET", "/admin/v1/deliveries?state=unknown", "")).Deliveries[0].LeadID
	for range 2 {
		if got := x.erase(`{"lead":"` + unknown + `"}`); got.Erased != 1 || got.Left != 0 {
			t.Errorf("by its id: %+v", got)
		}
	}
	inDelivery := fmt.Sprintf(`{"phone":"%s0008"}`, areaCode)
	if got := x.erase(inDelivery); got.Erased != 0 || got.Left != 1 || got.Leads[0].Reason != "under_way" {
		t.Errorf("during its delivery: %+v", got)
	}
	x.endPost()
	x.eraseTimeout = time.Minute
	if got := x.erase(inDelivery); got.Erased != 1 || got.Left != 0 {
		t.Errorf("after the end of its delivery: %+v", got)
	}
	x.adminRequest("POST", "/admin/v1/erase", `{"lead":"lead_01jd0000000000000000000000"}`).mustFail(t, 404, "not_found")
	x.adminRequest("POST", "/admin/v1/deliveries/"+unknown+"/resend", "").mustFail(t, 409, "invalid_transition")

	for range 2 {
		decryptable, erased := x.decryptableLeads()
		if len(decryptable) != 4 || len(erased) != 5 || !erased[unknown] {
			t.Errorf("%d leads are decryptable and %d erased, want 4 and 5 with the unknown one", len(decryptable), len(erased))
		}
		for id := range erased {
			if explanation := x.explain(id); !explanation.Erased || len(explanation.Notes) == 0 {
				t.Errorf("explain does not say that lead %s was erased", id)
			}
		}
		for id := range decryptable {
			if x.explain(id).Erased {
				t.Errorf("explain says that lead %s was erased", id)
			}
		}
		if after := statement(); after != before {
			t.Errorf("statement before the erasure\n%s\nand after it\n%s", before, after)
		}
		if live := x.liveStateHash(); live != replayedStateHash(t, x.testDir) {
			t.Errorf("live state hash %s, replayed %s", live, replayedStateHash(t, x.testDir))
		}
		checkNoFileContains(t, x.dataDir(), canaries...)
		x = x.restart() // with a snapshot
	}
	x.mustAdmin(204, "POST", "/admin/v1/deliveries/"+unknown+"/confirm", "")
	x.stop()
	report, err := wal.Verify(x.dataDir(), nil)
	if err != nil || !report.OK() {
		t.Errorf("log is not valid: %v, %+v", err, report)
	}
}

// TestStartRepeatsErasureAfterCrash: a start erases keys again if a crash or an older copy left
// them.
func TestStartRepeatsErasureAfterCrash(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	id := x.mustSell(leadBody(1)).leadID()
	x.mustSell(leadBody(2))
	older := x.copyFiles(t)
	x.erase(`{"lead":"` + id + `"}`)
	crashed := x.copyFiles(t)
	keys := filepath.Join("data", "keys", "leads")
	must.Succeed(t, os.RemoveAll(filepath.Join(crashed.dir, keys)))
	must.Succeed(t, os.CopyFS(filepath.Join(crashed.dir, keys), os.DirFS(filepath.Join(older.dir, keys))))
	for range 2 {
		again := start(t, crashed)
		if decryptable, erased := again.decryptableLeads(); len(decryptable) != 1 || !erased[id] {
			t.Errorf("%d leads are decryptable, want 1; the erased one is erased: %v", len(decryptable), erased[id])
		}
		again.stop()
	}
	first, err := os.ReadFile(filepath.Join(crashed.dir, keys, fmt.Sprintf("%020d", 1)))
	if err != nil || !bytes.Equal(first[:32], make([]byte, 32)) || bytes.Equal(first[32:64], make([]byte, 32)) {
		t.Errorf("keys of the erased and the other lead are %x, %v", first[:64], err)
	}
}

// TestErasureHoldsWithEarlierLog: with later keys next to an earlier log, erased leads stay erased
// and no lead gets an erased key.
func TestErasureHoldsWithEarlierLog(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	first := x.mustSell(leadBody(1)).leadID()
	older := x.copyFiles(t)
	later := x.mustSell(leadBody(2)).leadID()
	x.erase(`{"lead":"` + first + `"}`)
	x.erase(`{"lead":"` + later + `"}`)
	x.stop()
	keys := filepath.Join("data", "keys", "leads")
	must.Succeed(t, errors.Join(os.RemoveAll(filepath.Join(older.dir, keys)), os.CopyFS(filepath.Join(older.dir, keys), os.DirFS(filepath.Join(x.dir, keys)))))
	again := start(t, older)
	third := again.mustSell(leadBody(3)).leadID()
	if decryptable, erased := again.decryptableLeads(); len(decryptable) != 1 || !decryptable[third] || !erased[first] {
		t.Errorf("decryptable %v, erased %v", decryptable, erased)
	}
}

// TestEraseReportsPlaintextLeads: leads in logs from before encryption are not erased, later ones
// are.
func TestEraseReportsPlaintextLeads(t *testing.T) {
	t.Parallel()
	p := unpackData(t, filepath.Join(goldenData, "unsealed.tar.gz"))
	r := startAcceptingClock(t, p)
	r.ingest(leadBody(90, "email", `"ann1@`+mailHost+`"`)).mustHave(t, 201)
	got := r.erase(`{"email":"ann1@` + mailHost + `"}`)
	if got.Erased != 1 || got.Left != 2 || got.Leads[0].Reason != "unsealed" {
		t.Errorf("unexpected result: %+v", got)
	}
}

// TestEraseReportsUnreadableLeads: leads whose keys are missing cannot be searched.
func TestEraseReportsUnreadableLeads(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.mustSell(leadBody(1))
	x.stop()
	must.Succeed(t, os.RemoveAll(filepath.Join(x.dataDir(), "keys", "leads")))
	x = start(t, x.testDir)
	x.mustSell(leadBody(1))
	if got := x.erase(fmt.Sprintf(`{"phone":"%s0001"}`, areaCode)); got.Erased != 1 || got.Left != 1 || got.Leads[0].Reason != "unreadable" {
		t.Errorf("unexpected result: %+v", got)
	}
}

// TestPersonToEraseMatchesFields: a phone number in any form and an address in any case, but not
// within a longer text.
func TestPersonToEraseMatchesFields(t *testing.T) {
	t.Parallel()
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
