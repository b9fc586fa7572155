package witness

import (
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refreceiver"
)

// hooked is the honest world, whose supplier has heard everything.
func hooked() *forged {
	f := honest()
	f.decided("four", `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled("four", "pending", toBlue, "")
	f.settled("four", "refused", toBlue, `,"reason":"post_rejected"`)
	f.told("four", "ACCEPTED", "blue", 8*unit, "")
	f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"contacted"}]`)
	f.reports = []*told{f.reportedOn("two", "contacted")}
	f.Drained = true
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
	t.reports = []reportOf{{Lead: lead, Status: status}}
	return t
}

func TestAuditOfWebhooksHonest(t *testing.T) {
	if found := hooked().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
	f := hooked()
	f.Drained, f.events = false, f.events[:2]
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
		`became ["contacted" "sold"], and then contacted`: func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"sold"},{"lead":"two","result":"done","from":"sold","to":"contacted"}]`)
		},
		"which it does not have": func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"sold"}]`)
		},
		"came to invalid": func(f *forged) {
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"invalid","from":"contacted","to":"contacted"}]`)
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
