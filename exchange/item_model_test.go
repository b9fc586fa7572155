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

// naive is what a configuration should be: names of buyers and what they refer to, the
// file's and those that were made, in plain maps.
type naive struct {
	file, sent map[string]string // id to name; sent: nil where the file has the word
	made       map[string]string
	campaigns  map[string]string // id to the buyer that sits in it; all were made
}

// document is what has the word on what it has.
func (n *naive) document() map[string]string {
	if n.sent != nil {
		return n.sent
	}
	return n.file
}

// inForce are the buyers' names, and whose they are.
func (n *naive) inForce() map[string]string {
	all := make(map[string]string)
	for id, name := range n.made {
		all[id] = "api " + name
	}
	for id, name := range n.document() {
		all[id] = "file " + name
	}
	return all
}

// holds tells whether a document can come into force: nobody sits in a campaign who
// would be gone.
func (n *naive) holds(document, made map[string]string) bool {
	for _, buyer := range n.campaigns {
		if _, there := document[buyer]; there {
			continue
		}
		if _, there := made[buyer]; !there {
			return false
		}
	}
	return true
}

// takesOver has the file's word on what it has.
func (n *naive) takesOver(file map[string]string) {
	maps.DeleteFunc(n.made, func(id, _ string) bool { _, there := file[id]; return there })
}

func yamlOf(buyers map[string]string) string {
	var b strings.Builder
	b.WriteString(head + "buyers:\n")
	for _, id := range slices.Sorted(maps.Keys(buyers)) {
		fmt.Fprintf(&b, "  - {id: %s, name: %s}\n", id, buyers[id])
	}
	return b.String()
}

var (
	someBuyers = rapid.MapOfN(rapid.SampledFrom([]string{"b1", "b2", "b3", "b4"}), rapid.SampledFrom([]string{"n1", "n2", "n3"}), 1, 4)
	someBuyer  = rapid.SampledFrom([]string{"b1", "b2", "b3", "b4"})
	someName   = rapid.SampledFrom([]string{"n1", "n2", "n3"})
	someCmp    = rapid.SampledFrom([]string{"c1", "c2"})
)

// TestConfigurationAsInAModel: whatever is made, changed, removed, sent, reloaded and
// restarted, what is in force and who has the word on it is what plain maps say.
func TestConfigurationAsInAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first := someBuyers.Draw(rt, "file")
		p := newPlace(t, yamlOf(first))
		m := &modelled{running: start(t, p), rt: rt, n: naive{file: first, made: map[string]string{}, campaigns: map[string]string{}}}
		defer func() { m.running.stop() }()
		steps := []func(*rapid.T){m.put, m.put, m.delete, m.seat, m.seat, m.unseat, m.send, m.reload, m.restart}
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, len(steps)-1), 1, 12).Draw(rt, "steps") {
			steps[step](rt)
			m.check(rt)
		}
	})
}

type modelled struct {
	*running
	rt *rapid.T
	n  naive
}

// want expects an answer's status.
func (m *modelled) want(a *answer, status int) {
	if a.status != status {
		m.rt.Fatalf("%d %s, want %d", a.status, a.body, status)
	}
}

func (m *modelled) change(method, at, body string) *answer {
	now := m.operate("GET", configAt+at, "")
	switch {
	case now.status == 200:
		return m.operate(method, configAt+at, body, "If-Match", now.header.Get("ETag"))
	case method == "DELETE":
		return m.operate(method, configAt+at, body, "If-Match", "none")
	}
	return m.operate(method, configAt+at, body, "If-None-Match", "*")
}

func (m *modelled) put(rt *rapid.T) {
	id, name := someBuyer.Draw(rt, "id"), someName.Draw(rt, "name")
	status := 200
	if _, owned := m.n.document()[id]; owned {
		status = 409
	} else {
		m.n.made[id] = name
	}
	m.want(m.change("PUT", "buyers/"+id, `{"name":"`+name+`"}`), status)
}

func (m *modelled) delete(rt *rapid.T) {
	id := someBuyer.Draw(rt, "id")
	status := 200
	_, owned := m.n.document()[id]
	_, made := m.n.made[id]
	switch {
	case owned, made && slices.Contains(slices.Collect(maps.Values(m.n.campaigns)), id):
		status = 409
	case !made:
		status = 404
	default:
		delete(m.n.made, id)
	}
	m.want(m.change("DELETE", "buyers/"+id, ""), status)
}

func (m *modelled) seat(rt *rapid.T) {
	id, buyer := someCmp.Draw(rt, "campaign"), someBuyer.Draw(rt, "buyer")
	status := 200
	if _, there := m.n.inForce()[buyer]; !there {
		status = 422
	} else {
		m.n.campaigns[id] = buyer
	}
	m.want(m.change("PUT", "campaigns/"+id, `{"method":"waterfall","buyers":[{"buyer":"`+buyer+`","price":1}]}`), status)
}

func (m *modelled) unseat(rt *rapid.T) {
	id := someCmp.Draw(rt, "campaign")
	status := 200
	if _, there := m.n.campaigns[id]; !there {
		status = 404
	}
	delete(m.n.campaigns, id)
	m.want(m.change("DELETE", "campaigns/"+id, ""), status)
}

func (m *modelled) send(rt *rapid.T) {
	document := someBuyers.Draw(rt, "document")
	status := 422
	if m.n.holds(document, m.n.made) {
		m.n.sent, status = document, 200
	}
	m.want(m.operate("PUT", "/admin/v1/config", yamlOf(document)), status)
}

func (m *modelled) reload(rt *rapid.T) {
	file := someBuyers.Draw(rt, "file")
	m.write(m.t, yamlOf(file))
	err := m.ReloadConfiguration()
	if holds := m.n.holds(file, m.n.made); holds != (err == nil) {
		rt.Fatalf("Reload: %v", err)
	}
	if err != nil {
		m.write(m.t, yamlOf(m.n.file))
		return
	}
	m.n.file, m.n.sent = file, nil
	m.n.takesOver(file)
}

// restart starts with the file, which the campaigns may not hold with: then the
// operator sees to it first.
func (m *modelled) restart(*rapid.T) {
	if !m.n.holds(m.n.file, m.n.made) {
		return
	}
	m.running = m.again()
	m.n.sent = nil
	m.n.takesOver(m.n.file)
}

func (m *modelled) check(rt *rapid.T) {
	got := make(map[string]string)
	for _, item := range must.Value(m.ConfigEntries(canonical.Buyers))(rt) {
		_, name, _ := strings.Cut(string(item.Document), `"name":"`)
		got[item.ID] = item.Owner + " " + name[:2]
	}
	if want := m.n.inForce(); !maps.Equal(got, want) {
		rt.Fatalf("in force are %v, want %v", got, want)
	}
	sits := make(map[string]string)
	for _, item := range must.Value(m.ConfigEntries(canonical.Campaigns))(rt) {
		_, buyer, _ := strings.Cut(string(item.Document), `"buyer":"`)
		sits[item.ID] = buyer[:2]
	}
	if !maps.Equal(sits, m.n.campaigns) {
		rt.Fatalf("campaigns are %v, want %v", sits, m.n.campaigns)
	}
}
