package public

import (
	"net/http"
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// aliasConfig has campaigns that keep, reject and drop unknown members, and one with a field of its
// own that is named as an alias.
const aliasConfig = `suppliers:
  - {id: sup_acme, api_key: canary-key-of-acme, ingest_rate: 1000000, ping_rate: 1000000}
buyers:
  - {id: buy_blue, endpoint: https://blue.example, ping_rate: 1000000}
campaigns:
  - {id: cmp_keep, vertical: keep, method: ping_post, unknown: keep, buyers: [{buyer: buy_blue}]}
  - {id: cmp_reject, vertical: reject, method: ping_post, unknown: reject, buyers: [{buyer: buy_blue}]}
  - {id: cmp_drop, vertical: drop, method: ping_post, buyers: [{buyer: buy_blue}]}
  - id: cmp_own
    vertical: own
    method: ping_post
    fields: [{name: campaign_id, type: string, ping: true}, {name: supplier_id, type: string, to: agency, ping: true}]
    buyers: [{buyer: buy_blue}]
`

// idForms are the ways to name the campaign and the supplier. %c stands for the campaign.
var idForms = []struct{ name, members string }{
	{"first names", `"flo_campaign_id":"%c","flo_supplier_id":"sup_acme"`},
	{"aliases", `"campaign_id":"%c","supplier_id":"sup_acme"`},
	{"one of each", `"campaign_id":"%c","flo_supplier_id":"sup_acme"`},
	{"both", `"flo_campaign_id":"%c","campaign_id":"%c","supplier_id":"sup_acme","flo_supplier_id":"sup_acme"`},
	{"a blank first name", `"flo_campaign_id":" ","campaign_id":"%c","flo_supplier_id":null,"supplier_id":"sup_acme"`},
}

const restOfLead = `,"first_name":"Ann","last_name":"Lee","phone":"4155550132","email":"ann@mail.test","state":"CA","color":"blue"}`

// TestAliasesReachBuyersAsFirstNames: a buyer receives the same ping and the same post under each
// form of the ids, whatever the campaign does with unknown members.
func TestAliasesReachBuyersAsFirstNames(t *testing.T) {
	for _, campaign := range []string{"cmp_keep", "cmp_reject", "cmp_drop"} {
		var want string
		for _, form := range idForms {
			t.Run(campaign+"/"+form.name, func(t *testing.T) {
				h := newTestExchange(t, aliasConfig, new(servertest.MemoryLog))
				rest := restOfLead
				if campaign == "cmp_reject" {
					rest = strings.Replace(rest, `,"color":"blue"`, "", 1)
				}
				a := h.postJSON("/api/v1/ingest", "{"+strings.ReplaceAll(form.members, "%c", campaign)+rest, "x-api-key", "canary-key-of-acme")
				if a.status != http.StatusCreated || !strings.Contains(a.body, `"campaign_id":"`+campaign+`"`) {
					t.Fatalf("%d %s", a.status, a.body)
				}
				got := h.buyers.received()
				if got == "" || strings.Contains(got, "campaign_id") || strings.Contains(got, "supplier_id") || strings.Contains(got, "color") != (campaign == "cmp_keep") {
					t.Errorf("the buyer received %s", got)
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("the buyer received\n%s\nwith %s:\n%s", got, idForms[0].name, want)
				}
			})
		}
	}
}

// TestAliasErrors: a fault names the member that the supplier used. Two different values are a
// fault that names both.
func TestAliasErrors(t *testing.T) {
	h := newTestExchange(t, aliasConfig, new(servertest.MemoryLog))
	const acme = `"supplier_id":"sup_acme"`
	for _, row := range []struct{ members, want string }{
		{`"campaign_id":"cmp_none",` + acme, "campaign_id unknown"},
		{`"campaign_id":7,` + acme, "campaign_id wrong_type"},
		{`"campaign_id":"",` + acme, "campaign_id missing_required"},
		{`"campaign_id":"cmp_drop"`, "supplier_id missing_required"},
		{`"flo_campaign_id":"cmp_drop"`, "flo_supplier_id missing_required"},
		{`"shape":"round"`, "flo_campaign_id missing_required, flo_supplier_id missing_required"},
		{`"campaign_id":"cmp_drop","supplier_id":{}`, "supplier_id wrong_type"},
		{`"campaign_id":"cmp_drop","flo_campaign_id":"cmp_keep",` + acme, "campaign_id not_allowed_value"},
		{`"campaign_id":7,"flo_campaign_id":"cmp_keep",` + acme, "campaign_id not_allowed_value"},
		{`"campaign_id":"cmp_drop","flo_supplier_id":"sup_other",` + acme, "supplier_id not_allowed_value"},
		// The campaign's own field is no alias.
		{`"campaign_id":"cmp_own",` + acme, "flo_campaign_id missing_required, flo_supplier_id missing_required"},
		{`"flo_campaign_id":"cmp_own","campaign_id":"spring",` + acme, "flo_supplier_id missing_required"},
	} {
		for path, rest := range map[string]string{"/api/v1/ingest": restOfLead, "/api/v1/ping": `,"state":"CA"}`} {
			a := h.postJSON(path, "{"+row.members+rest, "x-api-key", "canary-key-of-acme")
			if got := a.wantError(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s %s: %q, want %q", path, row.members, got, row.want)
			}
			if strings.Contains(row.want, "not_allowed_value") {
				member, _, _ := strings.Cut(row.want, " ")
				if !strings.Contains(a.body, "the value of flo_"+member+", or only one of "+member+" and flo_"+member) {
					t.Errorf("%s: the error does not name both members: %s", path, a.body)
				}
			}
		}
	}
	for _, members := range []string{`"campaign_id":"cmp_drop","supplier_id":"sup_other"`, `"campaign_id":"cmp_drop","flo_supplier_id":"sup_other"`} {
		h.postJSON("/api/v1/ingest", "{"+members+restOfLead, "x-api-key", "canary-key-of-acme").wantError(t, 403, "forbidden")
	}
	h.postJSON("/api/v1/ingest", `{"campaign_id":"cmp_drop","campaign_id":"cmp_drop",`+acme+restOfLead, "x-api-key", "canary-key-of-acme").wantError(t, 400, "malformed_json")
}

// TestOwnFieldNamedAsAlias: a campaign's own fields campaign_id and supplier_id reach the buyer.
func TestOwnFieldNamedAsAlias(t *testing.T) {
	h := newTestExchange(t, aliasConfig, new(servertest.MemoryLog))
	a := h.postJSON("/api/v1/ingest", `{"flo_campaign_id":"cmp_own","flo_supplier_id":"sup_acme","campaign_id":"spring","supplier_id":"west"`+restOfLead, "x-api-key", "canary-key-of-acme")
	if got := h.buyers.received(); a.status != http.StatusCreated || !strings.Contains(got, `"campaign_id":"spring"`) || !strings.Contains(got, `"agency":"west"`) {
		t.Errorf("%d %s: the buyer received %s", a.status, a.body, got)
	}
}

// TestAliasWithKey: the idempotency key covers the bytes of the body, so that a repeat with the
// other name is another request.
func TestAliasWithKey(t *testing.T) {
	h := newTestExchange(t, aliasConfig, new(servertest.MemoryLog))
	send := func(form int) *apiAnswer {
		return h.postJSON("/api/v1/ingest", "{"+strings.ReplaceAll(idForms[form].members, "%c", "cmp_drop")+restOfLead, "x-api-key", "canary-key-of-acme", "Idempotency-Key", "k")
	}
	first := send(1)
	send(1).wantReplayOf(t, first)
	send(0).wantError(t, 422, "idempotency_key_reused")
}
