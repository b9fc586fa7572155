package engine_test

import (
	"fmt"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
)

// The end of a notification is retried until the log's queue accepts it, so the notification is sent
// once. A change of an alert is not: the next evaluation finds it again.
func TestNotificationOutcomeIsLoggedDespiteFullQueue(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		refuse := 0
		x := newExchange(t, webhookMarket(), logThatRejects(func(kind event.Kind) error {
			if kind == event.KindAlertChanged && refuse > 0 {
				refuse--
				return engine.ErrBusy
			}
			return nil
		}))
		fired := event.AlertOrNotificationChanged{Transition: event.AlertFired, Rule: "r", Channels: []string{"a", "b", "c"}, At: 1}
		expectError(t, x.engine.RecordAlertOrNotificationChange(&fired), nil)
		for channel, outcome := range map[string]event.AlertOrNotificationTransition{"a": event.NotificationSent, "b": event.NotificationFailed, "c": event.NotificationDropped} {
			refuse = 100
			expectError(t, x.engine.RecordAlertOrNotificationChange(&event.AlertOrNotificationChanged{Transition: outcome, Of: 1, Channels: []string{channel}, At: 2}), nil)
			expectEqual(t, fmt.Sprint(refuse), "0", "refusals left")
		}
		expectEqual(t, fmt.Sprint(len(x.state.Alerts().ChangesWithUnfinishedNotifications(0))), "0", "unfinished changes")
		refuse = 1
		expectError(t, x.engine.RecordAlertOrNotificationChange(&fired), engine.ErrBusy)
	})
}
