package exchange

import (
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/internal/must"
	"pingpost/server/admin"
	"pingpost/server/servertest"
)

// ownedConfig is baseConfig with provisioning: seed, the default.
var ownedConfig = strings.Replace(baseConfig, "provisioning: enforce\n", "", 1)

var blue = canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_blue"}

// driftLines returns the drift of an exchange: each entry with its change in the file.
func driftLines(t *testing.T, x *testExchange) string {
	t.Helper()
	var lines []string
	for _, entry := range must.Value(x.ConfigDrift())(t).Entries {
		lines = append(lines, entry.Entry+" "+string(entry.Change))
	}
	return strings.Join(lines, ", ")
}

// setStates changes the states of buyer buy_blue through the API, as the console does.
func setStates(t *testing.T, x *testExchange, states string) {
	t.Helper()
	entry := must.Value(x.ConfigEntry(blue))(t)
	change := &admin.ConfigEntryChange{EntryRef: blue, Document: []byte(`{"states":` + states + `}`), IfMatch: entry.ETag, By: "anna"}
	must.Value(x.ChangeConfigEntry(change))(t)
}

func statesOf(t *testing.T, x *testExchange) string {
	t.Helper()
	text := string(must.Value(x.ConfigEntry(blue))(t).Document)
	_, after, _ := strings.Cut(text, `"states":`)
	states, _, _ := strings.Cut(after, "]")
	return states + "]"
}

// With provisioning: seed, operators change the file's entries, and a restart keeps the changes.
func TestSeededEntriesBelongToExchange(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	if entry := must.Value(x.ConfigEntry(blue))(t); entry.Owner != "api" {
		t.Errorf("the buyer's owner is %q, want api", entry.Owner)
	}
	setStates(t, x, `["NY"]`)
	must.Succeed(t, x.ReloadConfiguration())
	x.stop()
	x = start(t, p)
	if got := statesOf(t, x); got != `["NY"]` {
		t.Errorf("after a restart the states are %s", got)
	}
	if got := driftLines(t, x); got != "" {
		t.Errorf("a change in the exchange alone is drift: %s", got)
	}
}

// A change of the file is drift until an operator takes one side. The file's other entries and the
// exchange's own changes stay as they are.
func TestConfigDrift(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	changed := strings.Replace(ownedConfig, "states: [CA, NV]", "states: [CA]", 1)
	p.writeConfig(t, strings.Replace(changed, "campaigns:\n", "  - {id: buy_new, states: [TX]}\ncampaigns:\n", 1))
	if got := driftLines(t, x); got != "buyers[buy_blue] changed, buyers[buy_new] added" {
		t.Fatalf("drift: %s", got)
	}
	if got := statesOf(t, x); got != `["CA","NV"]` {
		t.Errorf("the file changed the buyer's states to %s", got)
	}
	must.Value(x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideExchange, Entries: []string{"buyers[buy_blue]"}, By: "anna"}))(t)
	if got := driftLines(t, x); got != "buyers[buy_new] added" {
		t.Errorf("drift after a decision for the exchange: %s", got)
	}
	took := must.Value(x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile, By: "anna"}))(t)
	if len(took.Changes) != 1 || !strings.HasPrefix(took.Changes[0], "+ buyers[buy_new]") {
		t.Errorf("the file's side changed %q", took.Changes)
	}
	x.stop()
	x = start(t, p)
	if got := driftLines(t, x); got != "" || statesOf(t, x) != `["CA","NV"]` {
		t.Errorf("after a restart: drift %q, states %s", got, statesOf(t, x))
	}
	p.writeConfig(t, changed)
	if got := driftLines(t, x); got != "buyers[buy_new] removed" {
		t.Errorf("drift after the entry left the file: %s", got)
	}
	must.Value(x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile, By: "anna"}))(t)
	if _, err := x.ConfigEntry(canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_new"}); err == nil {
		t.Error("the file's side did not remove the entry")
	}
}

// An operator may delete a seeded entry. A restart does not create it again.
func TestDeletedSeededEntryStaysDeleted(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	shut := canonical.EntryRef{Kind: canonical.Campaigns, ID: "cmp_shut"}
	must.Value(x.ChangeConfigEntry(&admin.ConfigEntryChange{EntryRef: shut, IfMatch: must.Value(x.ConfigEntry(shut))(t).ETag, By: "anna"}))(t)
	x.stop()
	x = start(t, p)
	if _, err := x.ConfigEntry(shut); err == nil {
		t.Error("the deleted campaign is back")
	}
	if got := driftLines(t, x); got != "" {
		t.Errorf("drift: %s", got)
	}
}

// apply creates and replaces the entries of a document, and removes no others.
func TestApplyChangesSeededEntries(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	setStates(t, x, `["NY"]`)
	document := strings.Replace(ownedConfig, "states: [CA, NV]", "states: [WA]", 1)
	document = strings.Replace(document, "  - id: cmp_shut\n    paused: true\n    method: waterfall\n    duplicates: {window: 0s}\n    buyers: [{buyer: buy_blue, price: 1}]\n", "", 1)
	must.Value(x.ApplyConfiguration([]byte(document), nil, false, "anna"))(t)
	x.stop()
	x = start(t, p)
	if got := statesOf(t, x); got != `["WA"]` {
		t.Errorf("after apply and a restart the states are %s", got)
	}
	must.Value(x.ConfigEntry(canonical.EntryRef{Kind: canonical.Campaigns, ID: "cmp_shut"}))(t)
	if got := driftLines(t, x); got != "" {
		t.Errorf("what was applied in the exchange alone is drift: %s", got)
	}
}

// If an operator changes the file and applies it, file and exchange agree at once: a restart has
// nothing to record.
func TestRestartAfterAppliedFileRecordsNothing(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	changed := strings.Replace(ownedConfig, "states: [CA, NV]", "states: [WA]", 1)
	p.writeConfig(t, changed)
	must.Value(x.ApplyConfiguration([]byte(changed), nil, false, "anna"))(t)
	before, _, err := x.StateHash()
	must.Succeed(t, err)
	x.stop()
	x = start(t, p)
	after, _, err := x.StateHash()
	must.Succeed(t, err)
	if after != before {
		t.Errorf("the restart wrote %d events", after-before)
	}
}

// The admin API shows the drift and takes a side. A file with a mistake is named, and changes no entry.
func TestConfigDriftThroughAPI(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	x.mustAdmin(200, "GET", "/admin/v1/config/drift", "").mustHave(t, 200, `"enforced":false,"entries":[]`)
	p.writeConfig(t, strings.Replace(ownedConfig, "states: [CA, NV]", "states: [CA]", 1))
	x.mustAdmin(200, "GET", "/admin/v1/config/drift", "").mustHave(t, 200, `"entry":"buyers[buy_blue]","kind":"buyers","id":"buy_blue","change":"changed"`)
	servertest.RequireMetrics(t, x.meter, "pingpost_config_drift_entries 1")
	x.adminRequest("POST", "/admin/v1/config/drift", `{"side":"both"}`).mustFail(t, 422, "invalid_payload")
	x.adminRequest("POST", "/admin/v1/config/drift", `{"side":"file","entries":["buyers[nobody]"]}`).mustFail(t, 404, "not_found")
	x.mustAdmin(200, "POST", "/admin/v1/config/drift", `{"side":"file","entries":["buyers[buy_blue]"]}`).mustHave(t, 200, "buyers[buy_blue].states")
	if got := statesOf(t, x); got != `["CA"]` {
		t.Errorf("the states are %s, want those of the file", got)
	}
	p.writeConfig(t, strings.Replace(ownedConfig, "states: [CA, NV]", "states: [XX]", 1))
	x.mustAdmin(200, "GET", "/admin/v1/config/drift", "").mustHave(t, 200, `"file_error":"`)
	x.adminRequest("POST", "/admin/v1/config/drift", `{"side":"file"}`).mustFail(t, 422, "invalid_payload")
	enforced := start(t, newTestDir(t, baseConfig))
	enforced.mustAdmin(200, "GET", "/admin/v1/config/drift", "").mustHave(t, 200, `"enforced":true`)
	enforced.adminRequest("POST", "/admin/v1/config/drift", `{"side":"file"}`).mustFail(t, 409, "conflict")
}

// An exchange needs only its data directory, its address and the admin address. Operators create
// everything else.
func TestEmptyExchangeStarts(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "data_dir: data\nlisten: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0, password: \"${PASSWORD}\"}\n")
	x := start(t, p)
	made := &admin.ConfigEntryChange{EntryRef: blue, Document: []byte(`{"states":["CA"]}`), By: "anna"}
	must.Value(x.ChangeConfigEntry(made))(t)
	x.stop()
	x = start(t, p)
	if got := statesOf(t, x); got != `["CA"]` {
		t.Errorf("after a restart the states are %s", got)
	}
}

// The secrets of the file are needed at the first start only, and a change of provisioning from
// enforce to seed takes over the file's entries.
func TestProvisioningChangesToSeed(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	x := start(t, p)
	x.mustSell(leadBody(1))
	x.stop()
	p.writeConfig(t, ownedConfig)
	x = start(t, p)
	setStates(t, x, `["CA","NV","WA"]`)
	x.stop()
	p.writeConfig(t, strings.Replace(ownedConfig, `"${ACME_KEY}"`, `"${NOBODYS_KEY}"`, 1))
	x = start(t, p)
	x.mustSell(leadBody(2))
	if got := statesOf(t, x); got != `["CA","NV","WA"]` {
		t.Errorf("the states are %s", got)
	}
}

// The first start needs every secret of the file, because the exchange takes over its entries.
func TestFirstStartNeedsSecrets(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, strings.Replace(ownedConfig, `"${ACME_KEY}"`, `"${NOBODYS_KEY}"`, 1))
	if _, err := tryStart(t, p, func(*Exchange) {}); err == nil || !strings.Contains(err.Error(), "NOBODYS_KEY") {
		t.Errorf("the start returned %v, want the name of the missing variable", err)
	}
}

// An entry that the exchange takes from the file brings its credentials.
func TestTakenEntryBringsItsCredentials(t *testing.T) {
	t.Parallel()
	const newKey = "new-key-of-a-canary-0003"
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	p.writeConfig(t, strings.Replace(ownedConfig, "buyers:\n", "  - {id: sup_new, api_key: "+newKey+"}\nbuyers:\n", 1))
	lead := leadBody(1, "flo_supplier_id", `"sup_new"`)
	url := "http://" + x.PublicAddress() + "/api/v1/ingest"
	request(t, "POST", url, lead, "X-Api-Key", newKey, "Content-Type", jsonType).mustFail(t, 401, "unauthorized")
	must.Value(x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile, By: "anna"}))(t)
	request(t, "POST", url, lead, "X-Api-Key", newKey, "Content-Type", jsonType).mustHave(t, 201, `"status":"ACCEPTED"`)
}

// Once file and exchange agree, a later change in the exchange alone is no drift. Neither is another
// variable for the same secret.
func TestAgreementEndsDrift(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	setStates(t, x, `["NY"]`)
	p.writeConfig(t, strings.Replace(strings.Replace(ownedConfig, "states: [CA, NV]", "states: [NY]", 1), `"${OTHER_KEY}"`, `"${ACME_KEY}-2"`, 1))
	if got := driftLines(t, x); got != "" {
		t.Errorf("drift although both sides agree: %s", got)
	}
	setStates(t, x, `["WA"]`)
	x.stop()
	x = start(t, p)
	if got := driftLines(t, x); got != "" {
		t.Errorf("a change in the exchange alone is drift: %s", got)
	}
}

// config take changes no settings, and refuses an entry whose secret has no value.
func TestTakeKeepsSettingsAndNeedsSecrets(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, ownedConfig)
	x := start(t, p)
	withProxy := strings.Replace(ownedConfig, "report:", "trusted_proxies: [10.0.0.1]\nreport:", 1)
	p.writeConfig(t, strings.Replace(withProxy, "states: [CA, NV]", "states: [CA]", 1))
	must.Value(x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile, By: "anna"}))(t)
	if config := string(x.ActiveConfigurationJSON()); strings.Contains(config, "10.0.0.1") || statesOf(t, x) != `["CA"]` {
		t.Errorf("states %s, configuration %s", statesOf(t, x), config)
	}
	p.writeConfig(t, strings.Replace(ownedConfig, "buyers:\n", "  - {id: sup_new, api_key: \"${NOBODYS_KEY}\"}\nbuyers:\n", 1))
	if _, err := x.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile, By: "anna"}); err == nil || !strings.Contains(err.Error(), "NOBODYS_KEY") {
		t.Errorf("take returned %v, want the name of the missing variable", err)
	}
}

// The value of a variable in an address follows the environment, as long as the exchange's entry has
// the same address as the file's.
func TestAddressVariableFollowsEnvironment(t *testing.T) {
	t.Parallel()
	const sealedName = "buyer/buy_blue/variable/BLUE_TOKEN"
	p := newTestDir(t, strings.Replace(ownedConfig, "states: [CA, NV]", `states: [CA, NV], post_url: "https://blue.example/in?k=${BLUE_TOKEN}"`, 1))
	x := start(t, p)
	mustReload := func(value, want string) {
		t.Helper()
		x.options.Env = func(name string) (string, bool) {
			if name == "BLUE_TOKEN" {
				return value, true
			}
			return env(name)
		}
		must.Succeed(t, x.ReloadConfiguration())
		if got, _ := x.RevealSecret(sealedName); got != want {
			t.Errorf("with %s in the environment the sealed value is %s, want %s", value, got, want)
		}
	}
	mustReload("second-canary", "second-canary")
	entry := must.Value(x.ConfigEntry(blue))(t)
	moved := &admin.ConfigEntryChange{EntryRef: blue, Document: []byte(`{"post_url":"https://blue.example/other?k=${BLUE_TOKEN}"}`), IfMatch: entry.ETag, By: "anna"}
	must.Value(x.ChangeConfigEntry(moved))(t)
	mustReload("third-canary", "second-canary")
}
