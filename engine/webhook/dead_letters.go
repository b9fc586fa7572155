package webhook

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
	"pingpost/engine/state"
)

// GroupWebhooksByLead groups webhooks by lead. The groups are in the order of their first webhook;
// the webhooks of a group are in the order of the log records that triggered them.
//
// A resent webhook may be sent at once, even while older dead letters of the lead exist. So
// a caller resends a group one by one, and lets groups share batches of the log.
func GroupWebhooksByLead(webhooks []state.QueuedWebhook) (groups [][]state.QueuedWebhook) {
	index := make(map[market.LeadID]int)
	for _, w := range webhooks {
		i, exists := index[w.Lead]
		if !exists {
			i = len(groups)
			index[w.Lead] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], w)
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b state.QueuedWebhook) int { return cmp.Compare(a.Cause, b.Cause) })
	}
	return groups
}

// FindWebhookByID returns the webhook with an identifier, and false if the list has none.
func FindWebhookByID(webhooks []state.QueuedWebhook, id market.WebhookID) (state.QueuedWebhook, bool) {
	for _, w := range webhooks {
		if market.NewWebhookID(w.Lead, w.Type, w.Created) == id {
			return w, true
		}
	}
	return state.QueuedWebhook{}, false
}
