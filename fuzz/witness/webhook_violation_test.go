package witness

import (
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refreceiver"
)

// webhookEvidence is honestEvidence with all webhook events delivered.
func webhookEvidence() *forgedEvidence {
	f := honestEvidence()
	f.decided("four", `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled("four", "pending", toBlue, "")
	f.settled("four", "refused", toBlue, `,"reason":"post_rejected"`)
	f.addAnswer("four", "ACCEPTED", "blue", 8*unit, "")
	f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"contacted"}]`)
	f.statusReports = []*answeredRequest{f.reportedOn("two", "contacted")}
	f.WebhooksDrained = true
	f.webhookEvents = []refreceiver.Event{
		{ID: "evt_1", Lead: "one", Type: "lead.posted"},
		{ID: "evt_2", Lead: "two", Type: "lead.posted"},
		{ID: "evt_3", Lead: "three", Type: "lead.unmatched"},
		{ID: "evt_4", Lead: "four", Type: "lead.post_failed"},
		{ID: "evt_6", Lead: "two", Type: "lead.contacted"},
	}
	return f
}

func (f *forgedEvidence) reportedOn(lead, status string) *answeredRequest {
	t := &answeredRequest{clientRequest: &clientRequest{path: reportPath(lead), key: "report-" + lead}}
	t.statusReports = []statusReport{{Lead: lead, Status: status}}
	return t
}

func TestAuditAcceptsPendingWebhooks(t *testing.T) {
	f := webhookEvidence()
	f.WebhooksDrained, f.webhookEvents = false, f.webhookEvents[:2]
	f.expectNothing(t)
}

func TestAuditDetectsFalseWebhooks(t *testing.T) {
	webhookEvidence().expectNothing(t)
	for finding, forge := range map[string]func(f *forgedEvidence){
		"which is not in the log":                    func(f *forgedEvidence) { f.webhookEvents[0].Lead = "nobody" },
		"lead two does not match its state recorded": func(f *forgedEvidence) { f.webhookEvents[1].Type = "lead.unmatched" },
		"with two ids, evt_1 and evt_5": func(f *forgedEvidence) {
			f.webhookEvents = append(f.webhookEvents, refreceiver.Event{ID: "evt_5", Lead: "one", Type: "lead.posted"})
		},
		"lead.unmatched of lead three was never delivered":  func(f *forgedEvidence) { f.webhookEvents = slices.Delete(f.webhookEvents, 2, 3) },
		"lead.post_failed of lead four was never delivered": func(f *forgedEvidence) { f.webhookEvents = slices.Delete(f.webhookEvents, 3, 4) },
		"lead.contacted of lead two was never delivered":    func(f *forgedEvidence) { f.webhookEvents = f.webhookEvents[:4] },
		"webhook lead.sold of lead two":                     func(f *forgedEvidence) { f.webhookEvents[4].Type = "lead.sold" },
		"its status sold was acknowledged":                  func(f *forgedEvidence) { f.statusReports = append(f.statusReports, f.reportedOn("two", "sold")) },
		`statuses ["contacted" "sold"] cannot become contacted`: func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"sold"},{"lead":"two","result":"done","from":"sold","to":"contacted"}]`)
		},
		"which it does not have": func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"sold"}]`)
		},
		"the unknown result invalid": func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"invalid","from":"contacted","to":"contacted"}]`)
		},
		"1 with a wrong signature":    func(f *forgedEvidence) { f.webhookStats.BadSignatures = 1 },
		"1 invalid events":            func(f *forgedEvidence) { f.webhookStats.Invalid = 1 },
		"1 changed under the same id": func(f *forgedEvidence) { f.webhookStats.Changed = 1 },
	} {
		t.Run(finding, func(t *testing.T) {
			f := webhookEvidence()
			forge(f)
			if found := strings.Join(f.findings(), "\n"); !strings.Contains(found, finding) {
				t.Errorf("found %q", found)
			}
		})
	}
}
