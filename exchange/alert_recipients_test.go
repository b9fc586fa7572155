package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/outbound/mail/mailtest"
)

// A recipient that the mail server refuses keeps no e-mail from the others, and operators see it.
func TestRefusedRecipientIsShown(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	server := mailtest.Start(t, mailtest.Options{Recipient: func(address string) string {
		if address == "left@example.com" {
			return "550 5.1.1 <left@example.com>: no such user"
		}
		return ""
	}})
	x.addChannel("mail", fmt.Sprintf(`{"kind":"email","host":%q,"port":%d,"security":"none","from":"alerts@example.com","to":["left@example.com","ops@example.com"]}`, server.Host, server.Port))
	x.sellFour()
	x.evaluateAlerts()
	x.waitUntilSent("mail", 1)
	if messages := server.Messages(); len(messages) != 1 || fmt.Sprint(messages[0].To) != "[TO:<ops@example.com>]" {
		t.Errorf("%+v", messages)
	}
	health := x.alertStatus().Channels[0].Health
	if health.Sent != 1 || health.LastError == nil || !strings.Contains(*health.LastError, "left@example.com is refused") {
		t.Errorf("%+v", health)
	}
	x.mustAdmin(200, "GET", "/admin/v1/alerts/history", "").mustHave(t, 200, "left@example.com is refused")
	eventually(t, "the program's log has a warning", func() bool { return strings.Contains(x.logged.String(), "did not reach all recipients") })
	if strings.Contains(x.logged.String(), "left@example.com") {
		t.Error("the program's log has an e-mail address")
	}
}
