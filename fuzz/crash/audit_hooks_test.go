package crash

import (
	"strings"
	"testing"

	"pingpost/loadtest/refreceiver"
)

// eventOf is what a lead's supplier is to hear of it where it stands; "": nothing
// yet.
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
		case e.eventOf() != event.Type:
			found.add("the supplier was told %s of lead %s, which is %s", event.Type, event.Lead, e.standing)
		}
		if other, twice := heard[event.Lead]; twice {
			found.add("the supplier was told of lead %s as %s and as %s", event.Lead, other, event.ID)
		}
		heard[event.Lead] = event.ID
	}
	if !p.drained {
		return found
	}
	for _, e := range p.book.leads {
		if want := e.eventOf(); want != "" && heard[e.id] == "" {
			found.add("the supplier was never told %s of lead %s", want, e.id)
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
	f.drained = true
	f.events = []refreceiver.Event{
		{ID: "evt_1", Lead: "one", Type: "lead.posted"},
		{ID: "evt_2", Lead: "two", Type: "lead.posted"},
		{ID: "evt_3", Lead: "three", Type: "lead.unmatched"},
		{ID: "evt_4", Lead: "four", Type: "lead.post_failed"},
	}
	return f
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
		"never told lead.unmatched":   func(f *forged) { f.events = append(f.events[:2], f.events[3]) },
		"never told lead.post_failed": func(f *forged) { f.events = f.events[:3] },
		"1 were not signed":           func(f *forged) { f.hooks.BadSignatures = 1 },
		"1 were no events":            func(f *forged) { f.hooks.Invalid = 1 },
		"1 said another thing":        func(f *forged) { f.hooks.Changed = 1 },
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
