package witness

import (
	"slices"
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
	expectDetected(t, webhookEvidence, []forgery{
		{"event without a lead", "which is not in the log", func(f *forgedEvidence) { f.webhookEvents[0].Lead = "nobody" }},
		{"event of another outcome", "lead two does not match its state recorded", func(f *forgedEvidence) { f.webhookEvents[1].Type = "lead.unmatched" }},
		{"event with two ids", "with two ids, evt_1 and evt_5", func(f *forgedEvidence) {
			f.webhookEvents = append(f.webhookEvents, refreceiver.Event{ID: "evt_5", Lead: "one", Type: "lead.posted"})
		}},
		{"lost unmatched event", "lead.unmatched of lead three was never delivered", func(f *forgedEvidence) { f.webhookEvents = slices.Delete(f.webhookEvents, 2, 3) }},
		{"lost post_failed event", "lead.post_failed of lead four was never delivered", func(f *forgedEvidence) { f.webhookEvents = slices.Delete(f.webhookEvents, 3, 4) }},
		{"lost status event", "lead.contacted of lead two was never delivered", func(f *forgedEvidence) { f.webhookEvents = f.webhookEvents[:4] }},
		{"event of another status", "webhook lead.sold of lead two", func(f *forgedEvidence) { f.webhookEvents[4].Type = "lead.sold" }},
		{"acknowledged status that is lost", "its status sold was acknowledged", func(f *forgedEvidence) { f.statusReports = append(f.statusReports, f.reportedOn("two", "sold")) }},
		{"status that goes back", `statuses ["contacted" "sold"] cannot become contacted`, func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"sold"},{"lead":"two","result":"done","from":"sold","to":"contacted"}]`)
		}},
		{"status by another buyer", "which it does not have", func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"sold"}]`)
		}},
		{"unknown result", "the unknown result invalid", func(f *forgedEvidence) {
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"invalid","from":"contacted","to":"contacted"}]`)
		}},
		{"wrong signature", "1 with a wrong signature", func(f *forgedEvidence) { f.webhookStats.BadSignatures = 1 }},
		{"invalid event", "1 invalid events", func(f *forgedEvidence) { f.webhookStats.Invalid = 1 }},
		{"changed event", "1 changed under the same id", func(f *forgedEvidence) { f.webhookStats.Changed = 1 }},
	})
}
