package load

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market/format"
	"pingpost/internal/must"
)

var testLeads = Leads{Supplier: "sup_bench", Campaigns: []string{"cmp_a", "cmp_b", "cmp_c"}}

// person has the fields of a body that must be unique or that the exchange checks.
type person struct {
	Campaign string `json:"flo_campaign_id"`
	Supplier string `json:"flo_supplier_id"`
	First    string `json:"first_name"`
	Last     string `json:"last_name"`
	Phone    string `json:"phone"`
	Email    string `json:"email"`
	State    string `json:"state"`
	Vehicles int    `json:"vehicle_count"`
	Age      string `json:"driver_age_band"`
}

func personOf(t must.Test, n uint64) (p person) {
	must.Succeed(t, json.Unmarshal(testLeads.AppendBody(nil, n), &p))
	return p
}

func TestLeadsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, MaxLeads-1).Draw(t, "n")
		p := personOf(t, n)
		if _, ok := format.AppendPhoneAsE164(nil, []byte(p.Phone)); !ok {
			t.Fatalf("phone %q", p.Phone)
		}
		if _, ok := format.AppendEmailWithLowerDomain(nil, []byte(p.Email)); !ok {
			t.Fatalf("email %q", p.Email)
		}
		if p.Supplier != testLeads.Supplier || p.Campaign != testLeads.Campaigns[n%3] || p.First == "" || p.Last == "" || len(p.State) != 2 {
			t.Fatalf("%+v", p)
		}
	})
}

func TestLeadsAreUnique(t *testing.T) {
	key := func(n uint64) string { return string(testLeads.AppendKey(nil, n)) }
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Uint64Range(0, MaxLeads-1).Draw(t, "a")
		z := rapid.Uint64Range(0, MaxLeads-1).Draw(t, "z")
		one, other := personOf(t, a), personOf(t, z)
		if same := a == z; (one.Phone == other.Phone) != same || (one.Email == other.Email) != same || (key(a) == key(z)) != same {
			t.Fatalf("%d is %+v, %d is %+v", a, one, z, other)
		}
	})
	phones := map[string]bool{}
	for n := range uint64(30_000) {
		phones[personOf(t, n).Phone] = true
	}
	if len(phones) != 30_000 {
		t.Errorf("30,000 leads in a row have %d phone numbers", len(phones))
	}
}

func TestIngestRequest(t *testing.T) {
	i := Ingest{Leads: testLeads, Host: "127.0.0.1:8080", Key: "secret"}
	const head = "POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Api-Key: secret\r\nIdempotency-Key: lead-5\r\n" +
		"Content-Type: application/json\r\nContent-Length: "
	for range 2 { // the second call reuses the first buffer
		request := i.Append(nil, 5)
		rest, found := bytes.CutPrefix(request, []byte(head))
		if !found {
			t.Fatalf("%s", request)
		}
		_, body, _ := bytes.Cut(rest, []byte("\r\n\r\n"))
		if !bytes.Equal(body, testLeads.AppendBody(nil, 5)) {
			t.Errorf("%s", body)
		}
	}
}
