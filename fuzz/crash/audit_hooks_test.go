package crash

import (
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refreceiver"
)

// eventsOf are what a lead's supplier is to hear of it where it stands; none:
// nothing yet.
func (e *entry) eventsOf() []string {
	sale := e.eventOf()
	if sale == "" || e.became == "" {
		return slices.DeleteFunc([]string{sale}, func(s string) bool { return s == "" })
	}
	return []string{sale, "lead." + e.became}
}

// eventOf is the one of its sale.
func (e *entry) eventOf() string {
	switch {
	case e.standing == recorded, e.standing == delivered:
		return "lead.posted"
	case e.standing == unsold && e.promised:
		return "lead.post_failed"
	case e.standing == unsold:
		return "lead.unmatched"
	}
	return ""
}

// notified: the supplier has heard of no lead but those in the log, of each what
// became of it, under one id and in the same words; and, when all is delivered, of
// every one.
func (p *picture) notified() (found findings) {
	if s := p.hooks; s.BadSignatures != 0 || s.Changed != 0 || s.Invalid != 0 {
		found.add("of the webhooks %d were not signed, %d were no events, %d said another thing under the same id", s.BadSignatures, s.Invalid, s.Changed)
	}
	heard := map[string]string{}
	for i := range p.events {
		event := &p.events[i]
		e := p.book.leads[event.Lead]
		switch {
		case e == nil:
			found.add("the supplier was told %s of lead %s, which is lost", event.Type, event.Lead)
			continue
		case !slices.Contains(e.eventsOf(), event.Type):
			found.add("the supplier was told %s of lead %s, which is %s", event.Type, event.Lead, e.standing)
		}
		name := event.Type + " of lead " + event.Lead
		if other, twice := heard[name]; twice {
			found.add("the supplier was told %s as %s and as %s", name, other, event.ID)
		}
		heard[name] = event.ID
	}
	if !p.drained {
		return found
	}
	for _, e := range p.book.leads {
		for _, want := range e.eventsOf() {
			if name := want + " of lead " + e.id; heard[name] == "" {
				found.add("the supplier was never told %s", name)
			}
		}
	}
	return found
}

// hooked is the honest world, whose supplier has heard everything.
func hooked() *forged {
	f := honest()
	f.decided("four", `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled("four", "pending", toBlue, "")
	f.settled("four", "refused", toBlue, `,"reason":"post_rejected"`)
	f.told("four", "ACCEPTED", "blue", 8*unit, "")
	f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"contacted"}]`)
	f.reports = []*told{f.reportedOn("two", "contacted")}
	f.drained = true
	f.events = []refreceiver.Event{
		{ID: "evt_1", Lead: "one", Type: "lead.posted"},
		{ID: "evt_2", Lead: "two", Type: "lead.posted"},
		{ID: "evt_3", Lead: "three", Type: "lead.unmatched"},
		{ID: "evt_4", Lead: "four", Type: "lead.post_failed"},
		{ID: "evt_6", Lead: "two", Type: "lead.contacted"},
	}
	return f
}

func (f *forged) reportedOn(lead, status string) *told {
	t := &told{order: &order{path: reportPath(lead), key: "report-" + lead}}
	t.said.Data.ID, t.said.Data.Status = lead, status
	return t
}

func TestAuditOfWebhooksHonest(t *testing.T) {
	if found := hooked().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
	f := hooked()
	f.drained, f.events = false, f.events[:2]
	if found := f.findings(); len(found) > 0 {
		t.Errorf("one that is on its way has findings: %q", found)
	}
}

// TestAuditOfWebhooksSees tells one lie at a time.
func TestAuditOfWebhooksSees(t *testing.T) {
	for finding, tell := range map[string]func(f *forged){
		"which is lost":               func(f *forged) { f.events[0].Lead = "nobody" },
		"lead two, which is recorded": func(f *forged) { f.events[1].Type = "lead.unmatched" },
		"as evt_1 and as evt_5": func(f *forged) {
			f.events = append(f.events, refreceiver.Event{ID: "evt_5", Lead: "one", Type: "lead.posted"})
		},
		"never told lead.unmatched":    func(f *forged) { f.events = slices.Delete(f.events, 2, 3) },
		"never told lead.post_failed":  func(f *forged) { f.events = slices.Delete(f.events, 3, 4) },
		"never told lead.contacted":    func(f *forged) { f.events = f.events[:4] },
		"told lead.sold of lead two":   func(f *forged) { f.events[4].Type = "lead.sold" },
		"became sold was acknowledged": func(f *forged) { f.reports = append(f.reports, f.reportedOn("two", "sold")) },
		"became contacted, and then sold": func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"contacted","to":"sold"}]`)
		},
		"which is not recorded for it": func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"sold"}]`)
		},
		"came to not_now": func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"not_now","from":"contacted","to":"contacted"}]`)
		},
		"1 were not signed":    func(f *forged) { f.hooks.BadSignatures = 1 },
		"1 were no events":     func(f *forged) { f.hooks.Invalid = 1 },
		"1 said another thing": func(f *forged) { f.hooks.Changed = 1 },
	} {
		t.Run(finding, func(t *testing.T) {
			f := hooked()
			tell(f)
			if found := strings.Join(f.findings(), "\n"); !strings.Contains(found, finding) {
				t.Errorf("found %q", found)
			}
		})
	}
}
