package exchange

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/config/canonical"
	"pingpost/internal/must"
)

// configModel models the configuration with plain maps of buyers and references.
type configModel struct {
	file, putDocument map[string]string // id to name; putDocument: nil if the file is active
	fromAPI           map[string]string
	campaigns         map[string]string // id to buyer; all from the API
}

// document returns the buyers of the active document.
func (m *configModel) document() map[string]string {
	if m.putDocument != nil {
		return m.putDocument
	}
	return m.file
}

// activeBuyers returns the active buyers' owners and names.
func (m *configModel) activeBuyers() map[string]string {
	all := make(map[string]string)
	for id, name := range m.fromAPI {
		all[id] = "api " + name
	}
	for id, name := range m.document() {
		all[id] = "file " + name
	}
	return all
}

// keepsReferences reports whether each buyer in a campaign would still exist.
func (m *configModel) keepsReferences(document, fromAPI map[string]string) bool {
	for _, buyer := range m.campaigns {
		if _, exists := document[buyer]; exists {
			continue
		}
		if _, exists := fromAPI[buyer]; !exists {
			return false
		}
	}
	return true
}

// takeOverFileBuyers removes the API's buyers that the file has.
func (m *configModel) takeOverFileBuyers(file map[string]string) {
	maps.DeleteFunc(m.fromAPI, func(id, _ string) bool { _, exists := file[id]; return exists })
}

func buyersYAML(buyers map[string]string) string {
	var b strings.Builder
	b.WriteString(configHead + "buyers:\n")
	for _, id := range slices.Sorted(maps.Keys(buyers)) {
		fmt.Fprintf(&b, "  - {id: %s, name: %s}\n", id, buyers[id])
	}
	return b.String()
}

var (
	buyersGen   = rapid.MapOfN(rapid.SampledFrom([]string{"b1", "b2", "b3", "b4"}), rapid.SampledFrom([]string{"n1", "n2", "n3"}), 1, 4)
	buyerGen    = rapid.SampledFrom([]string{"b1", "b2", "b3", "b4"})
	nameGen     = rapid.SampledFrom([]string{"n1", "n2", "n3"})
	campaignGen = rapid.SampledFrom([]string{"c1", "c2"})
)

// TestConfigurationMatchesModel: after any changes, reloads and restarts, the active entries and
// their owners match the model.
func TestConfigurationMatchesModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		first := buyersGen.Draw(rt, "file")
		p := newTestDir(t, buyersYAML(first))
		m := &modelTest{testExchange: start(t, p), rt: rt, model: configModel{file: first, fromAPI: map[string]string{}, campaigns: map[string]string{}}}
		defer func() { m.testExchange.stop() }()
		steps := []func(*rapid.T){m.putBuyer, m.putBuyer, m.deleteBuyer, m.putCampaign, m.putCampaign, m.deleteCampaign, m.sendDocument, m.reload, m.restart}
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, len(steps)-1), 1, 12).Draw(rt, "steps") {
			steps[step](rt)
			m.check(rt)
		}
	})
}

type modelTest struct {
	*testExchange
	rt    *rapid.T
	model configModel
}

func (m *modelTest) checkStatus(a *answer, status int) {
	if a.status != status {
		m.rt.Fatalf("got %d %s, want %d", a.status, a.body, status)
	}
}

func (m *modelTest) change(method, path, body string) *answer {
	current := m.adminRequest("GET", configURL+path, "")
	switch {
	case current.status == 200:
		return m.adminRequest(method, configURL+path, body, "If-Match", current.header.Get("ETag"))
	case method == "DELETE":
		return m.adminRequest(method, configURL+path, body, "If-Match", "none")
	}
	return m.adminRequest(method, configURL+path, body, "If-None-Match", "*")
}

func (m *modelTest) putBuyer(rt *rapid.T) {
	id, name := buyerGen.Draw(rt, "id"), nameGen.Draw(rt, "name")
	status := 200
	if _, owned := m.model.document()[id]; owned {
		status = 409
	} else {
		m.model.fromAPI[id] = name
	}
	m.checkStatus(m.change("PUT", "buyers/"+id, `{"name":"`+name+`"}`), status)
}

func (m *modelTest) deleteBuyer(rt *rapid.T) {
	id := buyerGen.Draw(rt, "id")
	status := 200
	_, owned := m.model.document()[id]
	_, exists := m.model.fromAPI[id]
	switch {
	case owned, exists && slices.Contains(slices.Collect(maps.Values(m.model.campaigns)), id):
		status = 409
	case !exists:
		status = 404
	default:
		delete(m.model.fromAPI, id)
	}
	m.checkStatus(m.change("DELETE", "buyers/"+id, ""), status)
}

func (m *modelTest) putCampaign(rt *rapid.T) {
	id, buyer := campaignGen.Draw(rt, "campaign"), buyerGen.Draw(rt, "buyer")
	status := 200
	if _, exists := m.model.activeBuyers()[buyer]; !exists {
		status = 422
	} else {
		m.model.campaigns[id] = buyer
	}
	m.checkStatus(m.change("PUT", "campaigns/"+id, `{"method":"waterfall","buyers":[{"buyer":"`+buyer+`","price":1}]}`), status)
}

func (m *modelTest) deleteCampaign(rt *rapid.T) {
	id := campaignGen.Draw(rt, "campaign")
	status := 200
	if _, exists := m.model.campaigns[id]; !exists {
		status = 404
	}
	delete(m.model.campaigns, id)
	m.checkStatus(m.change("DELETE", "campaigns/"+id, ""), status)
}

func (m *modelTest) sendDocument(rt *rapid.T) {
	document := buyersGen.Draw(rt, "document")
	status := 422
	if m.model.keepsReferences(document, m.model.fromAPI) {
		m.model.putDocument, status = document, 200
	}
	m.checkStatus(m.adminRequest("PUT", "/admin/v1/config", buyersYAML(document)), status)
}

func (m *modelTest) reload(rt *rapid.T) {
	file := buyersGen.Draw(rt, "file")
	m.writeConfig(m.t, buyersYAML(file))
	err := m.ReloadConfiguration()
	if valid := m.model.keepsReferences(file, m.model.fromAPI); valid != (err == nil) {
		rt.Fatalf("Reload: %v", err)
	}
	if err != nil {
		m.writeConfig(m.t, buyersYAML(m.model.file))
		return
	}
	m.model.file, m.model.putDocument = file, nil
	m.model.takeOverFileBuyers(file)
}

// restart restarts, unless the file lacks a buyer that a campaign names: such a start fails.
func (m *modelTest) restart(*rapid.T) {
	if !m.model.keepsReferences(m.model.file, m.model.fromAPI) {
		return
	}
	m.testExchange = m.testExchange.restart()
	m.model.putDocument = nil
	m.model.takeOverFileBuyers(m.model.file)
}

func (m *modelTest) check(rt *rapid.T) {
	got := make(map[string]string)
	for _, item := range must.Value(m.ConfigEntries(canonical.Buyers))(rt) {
		_, name, _ := strings.Cut(string(item.Document), `"name":"`)
		got[item.ID] = item.Owner + " " + name[:2]
	}
	if want := m.model.activeBuyers(); !maps.Equal(got, want) {
		rt.Fatalf("active buyers %v, want %v", got, want)
	}
	campaigns := make(map[string]string)
	for _, item := range must.Value(m.ConfigEntries(canonical.Campaigns))(rt) {
		_, buyer, _ := strings.Cut(string(item.Document), `"buyer":"`)
		campaigns[item.ID] = buyer[:2]
	}
	if !maps.Equal(campaigns, m.model.campaigns) {
		rt.Fatalf("campaigns %v, want %v", campaigns, m.model.campaigns)
	}
}
