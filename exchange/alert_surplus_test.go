package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/outbound/dial/dialtest"
)

// If more alerts change in one evaluation than the history and a channel's queue hold, each notification
// waits or is recorded as dropped, also after a restart.
func TestNotificationsOfManyAlertsAreNotLost(t *testing.T) {
	const buyers = 1050
	var added strings.Builder
	for i := range buyers {
		fmt.Fprintf(&added, "  - {id: poor_%d, funds: {balance: 1}}\n", i)
	}
	x := start(t, newTestDir(t, strings.Replace(alertConfig(5), "buyers:\n", "buyers:\n"+added.String(), 1)))
	hook := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""))
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
	x.evaluateAlerts()
	firing := len(x.state.Alerts().FiringAlerts())
	health := x.alertStatus().Channels[0].Health
	if firing != buyers || health.Queued != 1000 || health.Queued+health.Dropped != buyers {
		t.Errorf("%d alerts fire, %+v", firing, health)
	}
	if n := len(x.state.Alerts().ChangesWithUnfinishedNotifications(0)); n != health.Queued {
		t.Errorf("%d unfinished notifications, %d in the queue", n, health.Queued)
	}
	y := x.restart()
	eventually(t, "the notifications are queued again", func() bool { return y.alertStatus().Channels[0].Health.Queued == 1000 })
}
