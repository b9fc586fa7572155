package exchange

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/alerting"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
	"pingpost/outbound/mail/mailtest"
	"pingpost/outbound/notify"
	"pingpost/server/admin/alerts"
	"pingpost/server/metrics"
)

// alertConfig has a buyer with a cap of five leads and an account.
func alertConfig(leads int) string {
	return configHead + configSuppliers + fmt.Sprintf(`buyers:
  - {id: buy_blue, funds: {balance: 10000}}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 5, caps: [{per: total, count: %d}]}]
`, leads)
}

// evaluateAlerts evaluates the rules twice: now, and after all delays of the default rules.
func (r *testExchange) evaluateAlerts() {
	now := r.clock.Now()
	for _, after := range []time.Duration{0, 6 * time.Minute} {
		r.alerts.service.Load().Evaluate(r.t.Context(), now+int64(after))
	}
}

// addChannel adds a channel of alerts.
func (r *testExchange) addChannel(id, document string) *answer {
	r.t.Helper()
	return r.mustAdmin(201, "PUT", "/admin/v1/alerts/channels/"+id, document, "If-None-Match", "*")
}

func emailChannel(s *mailtest.Server) string {
	return fmt.Sprintf(`{"kind":"email","host":%q,"port":%d,"security":"none","from":"alerts@example.com","to":["ops@example.com"]}`, s.Host, s.Port)
}

// sellFour sells four leads, which is 80 % of the cap of alertConfig(5).
func (r *testExchange) sellFour() {
	r.t.Helper()
	for i := range 4 {
		r.mustSell(leadBody(i))
	}
}

type alertStatus struct {
	Firing []struct {
		Rule, Title, Link string
		Subject           *string
		Silenced          bool
		GoodSince         string `json:"good_since"`
		ResolvesAt        string `json:"resolves_at"`
	}
	Pending  []struct{ Rule string }
	Channels []struct {
		ID     string
		Health struct {
			Queued, Sent, Dropped int
			Attempting            *string `json:"attempt_started_at"`
			LastError             *string `json:"last_error"`
		}
	}
}

func (r *testExchange) alertStatus() alertStatus {
	r.t.Helper()
	return decode[alertStatus](r.t, r.mustAdmin(200, "GET", "/admin/v1/alerts", ""))
}

func (r *testExchange) waitUntilSent(channel string, count int) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("channel %s has sent %d notifications", channel, count), func() bool {
		return strings.Count(r.mustAdmin(200, "GET", "/admin/v1/alerts/history", "").body, `{"channel":"`+channel+`","outcome":"sent"`) >= count
	})
}

// A full cap is announced by e-mail, in Slack and by a signed webhook, and its end too.
func TestCapAlertIsSentToEachChannel(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	server := mailtest.Start(t, mailtest.Options{})
	slack := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", "ok"))
	hook := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ""))
	x.addChannel("mail", emailChannel(server))
	x.addChannel("slack", `{"kind":"slack","url":"http://`+slack.Address+`/services/canary"}`)
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook","secret":"`+webhookSecret+`"}`)
	x.sellFour()
	x.evaluateAlerts()
	for _, channel := range []string{"mail", "slack", "hook"} {
		x.waitUntilSent(channel, 1)
	}
	mail := server.Messages()[0].Data
	link := "http://" + x.AdminAddress() + "/#/buyers/buy_blue"
	for _, part := range []string{"80% of a cap used", "4 of 5 leads", "Console: " + link} {
		if !strings.Contains(strings.ReplaceAll(mail, "=\r\n", ""), part) {
			t.Errorf("the e-mail has no %q:\n%s", part, mail)
		}
	}
	if body := hook.Requests()[0].Body; !strings.Contains(body, `"type":"alert.fired"`) || !strings.Contains(body, `"value":80,"threshold":80,"unit":"percent"`) ||
		!strings.Contains(body, `"link":"#/buyers/buy_blue","url":"`+link+`"`) {
		t.Error(body)
	}
	if status := x.alertStatus(); len(status.Firing) != 1 || status.Firing[0].Rule != "buyer_cap" || *status.Firing[0].Subject != "buy_blue" {
		t.Errorf("%+v", status)
	}
	x.checkMetrics("pingpost_alerts_firing 1", `pingpost_alert_notifications_total{outcome="sent"} 3`, "pingpost_alert_notifications_queued 0")

	x.reloadWith(alertConfig(50))
	x.evaluateAlerts()
	for _, channel := range []string{"mail", "slack", "hook"} {
		x.waitUntilSent(channel, 2)
	}
	if body := slack.Requests()[1].Body; !strings.Contains(body, "Resolved: Buyer buy_blue: cap use is down to 8%") {
		t.Error(body)
	}
	if status := x.alertStatus(); len(status.Firing) != 0 {
		t.Errorf("%+v", status)
	}
}

// An alert that fires although its value is good again says since when, and when it resolves.
func TestFiringAlertSaysWhenItResolves(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	x.mustAdmin(201, "PUT", "/admin/v1/alerts/rules/slow", `{"name":"Slow","kind":"cap_used","threshold":80,"for_s":0,"resolve_for_s":240}`, "If-None-Match", "*")
	x.sellFour()
	check := func(wantGoodSince, wantResolvesAt string) {
		t.Helper()
		firing := x.alertStatus().Firing
		if len(firing) != 1 || firing[0].Rule != "slow" || firing[0].GoodSince != wantGoodSince || firing[0].ResolvesAt != wantResolvesAt {
			t.Errorf("%+v, want good since %q, resolves at %q", firing, wantGoodSince, wantResolvesAt)
		}
	}
	now := x.clock.Now()
	x.alerts.service.Load().Evaluate(t.Context(), now)
	check("", "")
	x.reloadWith(alertConfig(50))
	good, resolves := time.Unix(0, now).UTC(), time.Unix(0, now).Add(4*time.Minute).UTC()
	for _, after := range []time.Duration{0, time.Minute} {
		x.alerts.service.Load().Evaluate(t.Context(), now+int64(after))
		check(good.Format(time.RFC3339), resolves.Format(time.RFC3339))
	}
}

// Links in e-mails, in Slack and in webhooks begin with admin.public_url, or else with the address of the
// admin listener. A listener on all addresses has none that readers could open, so there is no link.
func TestNotificationsLinkToConsole(t *testing.T) {
	for name, test := range map[string]struct{ admin, want string }{
		"public_url":       {`admin: {listen: "127.0.0.1:0", password: "${PASSWORD}", public_url: "https://console.example.com/"}`, "https://console.example.com"},
		"all of IPv4":      {`admin: {listen: "0.0.0.0:0", password: "${PASSWORD}"}`, ""},
		"all addresses":    {`admin: {listen: ":0", password: "${PASSWORD}"}`, ""},
		"host of listener": {`admin: {listen: "localhost:0", password: "${PASSWORD}"}`, "http://localhost:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := regexp.MustCompile(`(?m)^admin:.*$`).ReplaceAllLiteralString(alertConfig(5), test.admin)
			x := start(t, newTestDir(t, config))
			port := must.Value(netip.ParseAddrPort(x.AdminAddress()))(t).Port()
			want := strings.Replace(test.want, "PORT", strconv.Itoa(int(port)), 1)
			server := mailtest.Start(t, mailtest.Options{})
			slack := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", "ok"))
			hook := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ""))
			x.addChannel("mail", emailChannel(server))
			x.addChannel("slack", `{"kind":"slack","url":"http://`+slack.Address+`/services/canary"}`)
			x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
			for _, channel := range []string{"mail", "slack", "hook"} {
				x.mustAdmin(200, "POST", "/admin/v1/alerts/channels/"+channel+"/test", "").mustHave(t, 200, `"sent":true`)
			}
			mail := strings.ReplaceAll(strings.ReplaceAll(server.Messages()[0].Data, "=\r\n", ""), "=3D", "=")
			body := hook.Requests()[0].Body
			if !strings.Contains(body, `"link":"#/alerts"`) {
				t.Error(body)
			}
			if want == "" {
				if all := mail + slack.Requests()[0].Body + body; strings.Contains(all, "Console:") || strings.Contains(all, `"url"`) {
					t.Error(all)
				}
				return
			}
			link := want + "/#/alerts"
			for _, text := range []string{mail, slack.Requests()[0].Body} {
				if !strings.Contains(text, "Console: "+link) {
					t.Errorf("no link to %s in:\n%s", link, text)
				}
			}
			if !strings.Contains(body, `"url":"`+link+`"`) {
				t.Errorf("no link to %s in %s", link, body)
			}
		})
	}
}

// An alert that fires does not fire again after a stop or a crash, and resolves later.
func TestFiringAlertSurvivesRestart(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	hook := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ""))
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
	x.sellFour()
	x.evaluateAlerts()
	x.waitUntilSent("hook", 1)
	seq, hash, err := x.StateHash()
	if err != nil {
		t.Fatal(err)
	}
	crashed := start(t, x.copyFiles(t))
	if crashedSeq, crashedHash, err := crashed.StateHash(); err != nil || crashedSeq != seq || crashedHash != hash {
		t.Errorf("state %x at %d after a crash, %x at %d before: %v", crashedHash, crashedSeq, hash, seq, err)
	}
	for name, y := range map[string]*testExchange{"a crash": crashed, "a restart": x.restart()} {
		y.evaluateAlerts()
		if status := y.alertStatus(); len(status.Firing) != 1 {
			t.Errorf("after %s: %+v", name, status)
		}
		y.stop()
	}
	if n := len(hook.Requests()); n != 1 {
		t.Errorf("%d notifications, want one", n)
	}
}

// A notification that was not sent before a crash or a stop is sent afterwards, with the same id.
func TestUnsentNotificationIsSentAfterCrash(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	hook := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""), dialtest.ReplyWithAnswer("204 No Content", ""))
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
	x.sellFour()
	x.evaluateAlerts()
	eventually(t, "the first attempt hangs", func() bool { return len(hook.Requests()) > 0 })
	crashed := start(t, x.copyFiles(t))
	crashed.waitUntilSent("hook", 1)
	attempts := hook.Requests()
	if first, last := attempts[0].Header.Get("webhook-id"), attempts[len(attempts)-1].Header.Get("webhook-id"); first == "" || first != last {
		t.Errorf("ids %q and %q", first, last)
	}
}

// An SMTP server that hangs is visible to operators, and delays neither other channels nor sales.
func TestHangingMailServerBlocksOnlyItself(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	server := mailtest.Start(t, mailtest.Options{Hang: "greeting"})
	slack := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", "ok"))
	x.addChannel("mail", emailChannel(server))
	x.addChannel("slack", `{"kind":"slack","url":"http://`+slack.Address+`/"}`)
	x.sellFour()
	x.evaluateAlerts()
	x.waitUntilSent("slack", 1)
	x.mustSell(leadBody(9))
	eventually(t, "the status shows the queued e-mail", func() bool {
		h := x.alertStatus().Channels[0].Health
		return h.Queued == 1 && (h.Attempting != nil || h.LastError != nil)
	})
	x.checkMetrics("pingpost_alert_notifications_queued 1")
}

func TestTestNotification(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	works, refuses := mailtest.Start(t, mailtest.Options{}), mailtest.Start(t, mailtest.Options{Refuse: "RCPT"})
	x.addChannel("works", emailChannel(works))
	x.addChannel("refuses", emailChannel(refuses))
	x.mustAdmin(200, "POST", "/admin/v1/alerts/channels/works/test", "{}").mustHave(t, 200, `"sent":true`, `"error":null`)
	x.mustAdmin(200, "POST", "/admin/v1/alerts/channels/refuses/test", "{}").mustHave(t, 200, `"sent":false`, "550")
	if got := works.WaitForMessages(1)[0].Data; !strings.Contains(got, "Test of an alert channel") {
		t.Error(got)
	}
}

// TestSuccessfulTestEndsPause: after a failed attempt and a successful test of the channel, the
// notification follows without the rest of the pause.
func TestSuccessfulTestEndsPause(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	hook := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("500 Internal Server Error", ""), dialtest.ReplyWithAnswer("204 No Content", ""))
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
	x.sellFour()
	x.evaluateAlerts()
	eventually(t, "the first attempt fails", func() bool { return x.alertStatus().Channels[0].Health.LastError != nil })
	x.mustAdmin(200, "POST", "/admin/v1/alerts/channels/hook/test", "{}").mustHave(t, 200, `"sent":true`)
	if h := x.alertStatus().Channels[0].Health; h.LastError != nil {
		t.Errorf("after the test: %+v", h)
	}
	x.waitUntilSent("hook", 1)
}

// A silence suppresses notifications until an operator deletes it.
func TestSilencedAlertIsAnnouncedLater(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	hook := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ""))
	x.addChannel("hook", `{"kind":"webhook","url":"http://`+hook.Address+`/hook"}`)
	until := time.Unix(0, x.clock.Now()).Add(time.Hour).UTC().Format(time.RFC3339)
	silence := decode[struct{ ID string }](t, x.mustAdmin(201, "POST", "/admin/v1/alerts/silences", `{"rule":"buyer_cap","subject":"buy_blue","until":"`+until+`","note":"known"}`))
	x.sellFour()
	x.evaluateAlerts()
	if status := x.alertStatus(); len(status.Firing) != 1 || !status.Firing[0].Silenced {
		t.Errorf("%+v", status)
	}
	if n := len(hook.Requests()); n != 0 {
		t.Errorf("%d notifications in a silence", n)
	}
	x.mustAdmin(204, "DELETE", "/admin/v1/alerts/silences/"+silence.ID, "")
	x.evaluateAlerts()
	x.waitUntilSent("hook", 1)
	x.mustAdmin(404, "DELETE", "/admin/v1/alerts/silences/"+silence.ID, "")
}

// While an evaluation hangs in its source, leads are sold, and operators read the alerts' history.
func TestHangingEvaluationBlocksNoLead(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(50)))
	blocked, release := make(chan struct{}), make(chan struct{})
	settings := `{"kind":"disk_free","threshold":1}`
	for i := range 20 {
		x.mustAdmin(201, "PUT", fmt.Sprintf("/admin/v1/alerts/rules/disk_%d", i), settings, "If-None-Match", "*")
	}
	first := true
	hanging := alerting.New(alerting.Options{
		Sources: alerting.Sources{
			State: x.state, Catalog: func() *market.Catalog { return x.EngineWhileReady().ActiveCatalogOrNil() }, Counts: func() (c metrics.TradeCounts) { return c }, Report: x.Report,
			BackupLag: x.backupLag, DiskFree: func() uint64 {
				if first {
					first = false
					close(blocked)
					<-release
				}
				return 0
			},
		},
		Engine: x.EngineWhileReady(), Transport: notify.NewTransport(notify.TransportOptions{}), Now: x.clock.Now, Seal: x.Seal, Open: x.vault.OpenSecret, Tenant: "t", Logger: x.Exchange.logger,
	})
	evaluated := make(chan struct{})
	go func() {
		defer close(evaluated)
		hanging.Evaluate(t.Context(), x.clock.Now())
	}()
	<-blocked
	x.sellFour()
	x.mustAdmin(200, "GET", "/admin/v1/alerts/history", "")
	read := make(chan struct{})
	go func() {
		defer close(read)
		hanging.LastEvaluation()
	}()
	select {
	case <-read:
	case <-time.After(waitTimeout):
		t.Error("the alerts cannot be read during an evaluation")
	}
	close(release)
	<-evaluated
	hanging.Close()
}

// Rules on money, sales, webhooks and the process fire at the values of a small trade.
func TestAlertValues(t *testing.T) {
	failing := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("500 Internal Server Error", ""))
	config := strings.NewReplacer("{balance: 10000}", "{balance: 30, credit: 5}", "report: {keep: 0s}", "report: {keep: 720h}",
		`"${ACME_KEY}", `, `"${ACME_KEY}", webhook: {url: "http://`+failing.Address+`/hook", secret: `+webhookSecret+`}, `).Replace(alertConfig(50))
	x := startPatient(t, newTestDir(t, config))
	for id, document := range map[string]string{
		"balance":  `{"kind":"buyer_balance","threshold":20,"for_s":0}`,
		"days":     `{"kind":"buyer_days_left","threshold":2,"for_s":0}`,
		"sold":     `{"kind":"campaign_sold_rate","threshold":90,"for_s":0,"minimum":1}`,
		"webhooks": `{"kind":"webhook_failing","threshold":5,"for_s":0}`,
		"disk":     `{"kind":"disk_free","threshold":1000000,"for_s":0}`,
		"backup":   `{"kind":"backup_age","threshold":1,"for_s":0}`,
	} {
		x.mustAdmin(201, "PUT", "/admin/v1/alerts/rules/"+id, document, "If-None-Match", "*")
	}
	for i := range 4 {
		x.mustSell(leadBody(i))
	}
	x.ingest(leadBody(5, "flo_campaign_id", `"cmp"`, "state", `"none"`))
	eventually(t, "the report has the leads, and the webhook has failed", func() bool {
		return x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, "sup_acme")).FailingSince > 0 && x.Report().ProgressStatus().LagEntries == 0
	})
	titles, at := map[string]string{}, x.clock.Now()+int64(10*time.Minute)
	latest := at + int64(10*time.Hour) // the leads are of the last 24 hours until then
	eventually(t, "the alerts fire", func() bool {
		at = min(at+int64(time.Minute), latest) // an answer of the report is used for a minute
		x.alerts.service.Load().Evaluate(t.Context(), at)
		for _, firing := range x.alertStatus().Firing {
			titles[firing.Rule] = firing.Title
		}
		return titles["days"] != "" && titles["webhooks"] != ""
	})
	for rule, want := range map[string]string{
		"balance": "Buyer buy_blue: balance is 15.00", "days": "Buyer buy_blue: balance lasts 0.8 days",
		"buyer_balance": "Buyer buy_blue: balance is 15.00", "backup": "", "sold": "",
	} {
		if got := titles[rule]; got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
	if titles["disk"] == "" || !strings.HasPrefix(titles["webhooks"], "Supplier sup_acme: webhooks have failed for ") {
		t.Errorf("%q", titles)
	}
}

// The API checks versions, hides secrets, and explains mistakes.
func TestAlertSettings(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	const rule = "/admin/v1/alerts/rules/cap"
	const channel = "/admin/v1/alerts/channels/ops"
	body := `{"kind":"cap_used","threshold":90,"resolve_threshold":80.5,"channels":["ops"]}`
	x.mustAdmin(422, "PUT", rule, body, "If-None-Match", "*").mustHave(t, 422, "channels[0]")
	created := x.addChannel("ops", `{"kind":"webhook","url":"https://example.com/hook"}`)
	created.mustHave(t, 201, `"secret":"whsec_`)
	if created.header.Get("Cache-Control") != "no-store" {
		t.Error("the answer with the secret may be stored")
	}
	x.mustAdmin(200, "GET", channel, "").mustHave(t, 200, `"has_secret":true`)
	added := x.mustAdmin(201, "PUT", rule, body, "If-None-Match", "*")
	x.mustAdmin(409, "PUT", rule, body, "If-None-Match", "*")
	x.mustAdmin(422, "PUT", rule, body)
	changed := x.mustAdmin(200, "PUT", rule, strings.Replace(body, "90", "95", 1), "If-Match", added.header.Get("ETag"))
	x.mustAdmin(409, "PUT", rule, body, "If-Match", added.header.Get("ETag"))
	x.mustAdmin(409, "DELETE", channel, "", "If-Match", created.header.Get("ETag"))
	x.mustAdmin(204, "DELETE", rule, "", "If-Match", changed.header.Get("ETag"))
	x.mustAdmin(404, "GET", rule, "")
	x.mustAdmin(204, "DELETE", channel, "", "If-Match", created.header.Get("ETag"))

	for bad, field := range map[string]string{
		`{"kind":"cap"}`: "kind", `{"kind":"cap_used"}`: "threshold", `{"kind":"cap_used","threshold":101}`: "threshold", `{"kind":"cap_used","threshold":-1}`: "threshold", `{"kind":"cap_used","threshold":0}`: "threshold",
		`{"kind":"cap_used","threshold":80,"resolve_threshold":81}`:      "resolve_threshold",
		`{"kind":"buyer_balance","threshold":80,"resolve_threshold":79}`: "resolve_threshold",
		`{"kind":"cap_used","threshold":80,"window_s":300}`:              "window_s",
		`{"kind":"sold_rate","threshold":80,"window_s":310}`:             "window_s",
		`{"kind":"sold_rate","threshold":80,"subject":"x"}`:              "subject",
		`{"kind":"cap_used","threshold":80,"for_s":-1}`:                  "for_s",
		`{"kind":"cap_used","threshold":80,"name":"a\nb"}`:               "name",
	} {
		x.adminRequest("PUT", rule, bad, "If-None-Match", "*").mustHave(t, 422, `"`+field+`"`)
	}
	for bad, field := range map[string]string{
		`{"kind":"fax"}`: "kind", `{"kind":"slack"}`: "url", `{"kind":"slack","url":"ftp://x"}`: "url", `{"kind":"webhook","url":"https://x","secret":"s"}`: "secret",
		`{"kind":"email","host":"a b","from":"a@b.c","to":["a@b.c"]}`:                         "host",
		`{"kind":"email","host":"smtp.example.com","from":"a","to":["a@b.c"]}`:                "from",
		`{"kind":"email","host":"smtp.example.com","from":"a@b.c","to":[]}`:                   "to",
		`{"kind":"email","host":"smtp.example.com","from":"a@b.c","to":["x"]}`:                "to[0]",
		`{"kind":"email","host":"h","from":"a@b.c","to":["a@b.c"],"security":"ssl"}`:          "security",
		`{"kind":"email","host":"h","from":"a@b.c","to":["a@b.c"],"username":"u"}`:            "secret",
		`{"kind":"email","host":"h","from":"a@b.c","to":["a@b.c"],"secret":"s"}`:              "secret",
		`{"kind":"email","host":"h","port":70000,"from":"a@b.c","to":["a@b.c"],"secret":"s"}`: "port",
	} {
		x.adminRequest("PUT", channel, bad, "If-None-Match", "*").mustHave(t, 422, `"`+field+`"`)
	}
	x.adminRequest("PUT", "/admin/v1/alerts/rules/Up", `{"kind":"cap_used","threshold":80}`, "If-None-Match", "*").mustHave(t, 422, `"id"`)
}

// A changed SMTP server does not get the password of the one before.
func TestChangedMailServerNeedsPasswordAgain(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	const path = "/admin/v1/alerts/channels/mail"
	document := `{"kind":"email","host":"smtp.example.com","username":"u","from":"a@example.com","to":["b@example.com"]%s}`
	tag := x.addChannel("mail", fmt.Sprintf(document, `,"secret":"canary-password"`)).header.Get("ETag")
	renamed := x.mustAdmin(200, "PUT", path, fmt.Sprintf(document, `,"name":"Mail"`), "If-Match", tag)
	renamed.mustHave(t, 200, `"has_secret":true`)
	x.adminRequest("PUT", path, strings.Replace(fmt.Sprintf(document, ""), "smtp.", "evil.", 1), "If-Match", renamed.header.Get("ETag")).mustHave(t, 422, `"secret"`)
	for _, at := range []string{path, "/admin/v1/alerts", "/admin/v1/alerts/channels"} {
		if got := x.mustAdmin(200, "GET", at, "").body; strings.Contains(got, "canary") || strings.Contains(got, "sealed") {
			t.Errorf("%s shows the password: %s", at, got)
		}
	}
}

// Only admins see the whole address of a webhook, which may contain a secret.
func TestWebhookAddressIsMaskedBelowAdmin(t *testing.T) {
	x := start(t, newTestDir(t, reportConfig(alertConfig(5))))
	const password = "a long password of an account"
	for _, role := range []string{"viewer", "operator", "admin"} {
		x.mustAdmin(201, "PUT", "/admin/v1/users/"+role, `{"role":"`+role+`","password":"`+password+`"}`)
	}
	x.addChannel("hook", `{"kind":"webhook","url":"https://hooks.example.com/T0/token"}`)
	x.waitForAllLogEntries()
	for _, path := range []string{"", "/channels", "/channels/hook"} {
		for role, want := range map[string]string{"viewer": "https://hooks.example.com/…", "operator": "https://hooks.example.com/…", "admin": "https://hooks.example.com/T0/token"} {
			if status, body := x.as(role, password, "GET", "/admin/v1/alerts"+path, ""); status != 200 || !strings.Contains(body, `"url":"`+want+`"`) {
				t.Errorf("GET alerts%s as %s: %d %s", path, role, status, body)
			}
		}
	}
	if status, body := x.as("operator", password, "GET", "/admin/v1/audit?target_kind=alert_channel", ""); status != 200 || !strings.Contains(body, "https://hooks.example.com/…") || strings.Contains(body, "T0/token") {
		t.Errorf("the audit log: %d %s", status, body)
	}
}

// A rule or silence about an object that does not exist would never have an effect, so it is rejected. A
// rule of a removed buyer can still be changed.
func TestUnknownSubjectsAreRejected(t *testing.T) {
	x := start(t, newTestDir(t, alertConfig(5)))
	const rules = "/admin/v1/alerts/rules/"
	for _, row := range []struct{ kind, known string }{{"cap_used", "buy_blue"}, {"campaign_sold_rate", "cmp"}, {"webhook_failing", "sup_acme"}} {
		document := `{"kind":"` + row.kind + `","threshold":80,"subject":"%s"}`
		for _, unknown := range []string{"none", "buy_blue", "cmp", "sup_acme"} {
			if unknown != row.known {
				x.adminRequest("PUT", rules+row.kind, fmt.Sprintf(document, unknown), "If-None-Match", "*").mustHave(t, 422, `"field":"subject","code":"unknown"`)
			}
		}
		x.mustAdmin(201, "PUT", rules+row.kind, fmt.Sprintf(document, row.known), "If-None-Match", "*")
	}
	until := time.Unix(0, x.clock.Now()).Add(time.Hour).UTC().Format(time.RFC3339)
	silence := func(rule, subject string) string {
		return fmt.Sprintf(`{"rule":%q,"subject":%q,"until":%q}`, rule, subject, until)
	}
	x.mustAdmin(201, "PUT", rules+"disk", `{"kind":"disk_free","threshold":1}`, "If-None-Match", "*")
	for _, row := range [][3]string{{"buyer_cap", "none", "unknown"}, {"buyer_cap", "cmp", "unknown"}, {"cap_used", "none", "not_allowed_value"}, {"disk", "buy_blue", "not_allowed_value"}} {
		x.adminRequest("POST", "/admin/v1/alerts/silences", silence(row[0], row[1])).mustHave(t, 422, `"field":"subject","code":"`+row[2]+`"`)
	}
	for _, row := range [][2]string{{"buyer_cap", "buy_blue"}, {"cap_used", "buy_blue"}, {"disk", ""}} {
		x.mustAdmin(201, "POST", "/admin/v1/alerts/silences", silence(row[0], row[1]))
	}
	x.reloadWith(strings.ReplaceAll(alertConfig(5), "buy_blue", "buy_red"))
	tag := x.mustAdmin(200, "GET", rules+"cap_used", "").header.Get("ETag")
	x.mustAdmin(200, "PUT", rules+"cap_used", `{"kind":"cap_used","threshold":80,"subject":"buy_blue","off":true}`, "If-Match", tag)
}

var _ alerts.Service = (*alerting.Service)(nil)
