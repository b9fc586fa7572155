package webhook

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
	"pingpost/engine/state"
)

// GroupWebhooksByLead groups webhooks by lead. The groups are in the order of their first
// webhook. The webhooks of a group are in the order of the log records that triggered them.
//
// It is for resending dead letters. A resent webhook may be sent at once, even while older dead
// letters of the lead exist. So the caller resends the webhooks of a group one by one, and several
// groups at the same time.
func GroupWebhooksByLead(webhooks []state.OutboxWebhook) (groups [][]state.OutboxWebhook) {
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
		slices.SortFunc(group, func(a, b state.OutboxWebhook) int { return cmp.Compare(a.Cause, b.Cause) })
	}
	return groups
}

// FindWebhookByID returns the webhook with this id from the list. The result is false if the list
// does not have it.
func FindWebhookByID(webhooks []state.OutboxWebhook, id market.WebhookID) (match state.OutboxWebhook, found bool) {
	for _, w := range webhooks {
		if market.ComputeWebhookID(w.Lead, w.Type, w.Created) == id {
			return w, true
		}
	}
	return state.OutboxWebhook{}, false
}
