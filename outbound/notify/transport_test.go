package notify

import (
	"context"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"pingpost/outbound/dial/dialtest"
	"pingpost/outbound/mail"
	"pingpost/outbound/mail/mailtest"
	"pingpost/outbound/webhook/signature"
)

var message = Message{ID: "alert_1", Title: "Buyer acme: 82 % of a cap used", Text: "The \"cap\".\n", JSON: []byte(`{"type":"alert.fired"}`)}

func newTestTransport(t *testing.T, trusted ...string) *Transport {
	var networks []netip.Prefix
	for _, network := range trusted {
		networks = append(networks, netip.MustParsePrefix(network))
	}
	transport := NewTransport(TransportOptions{TrustedNetworks: networks})
	t.Cleanup(transport.Close)
	return transport
}

func TestSlackMessage(t *testing.T) {
	endpoint := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", "ok"))
	if err := newTestTransport(t, "127.0.0.0/8").Send(t.Context(), &Destination{Slack: "http://" + endpoint.Address + "/services/T/B/secret"}, &message); err != nil {
		t.Fatal(err)
	}
	got := endpoint.Requests()[0]
	var body map[string]string
	if err := json.Unmarshal([]byte(got.Body), &body); err != nil || body["text"] != message.Title+"\n"+message.Text || len(body) != 1 {
		t.Errorf("%s, %v", got.Body, err)
	}
	if got.Target != "/services/T/B/secret" || got.Header.Get("Content-Type") != "application/json" || got.Header.Get("webhook-signature") != "" {
		t.Errorf("%+v", got)
	}
}

// A receiver verifies the webhook as a supplier verifies its webhooks.
func TestSignedWebhook(t *testing.T) {
	endpoint := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ""))
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	to := &Destination{Webhook: &WebhookDestination{URL: "http://" + endpoint.Address + "/hook?a=1", Secret: secret}}
	if err := newTestTransport(t, "127.0.0.0/8").Send(t.Context(), to, &message); err != nil {
		t.Fatal(err)
	}
	got := endpoint.Requests()[0]
	key, _ := signature.ParseSecret(secret)
	at, err := strconv.ParseInt(got.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil || got.Header.Get("webhook-id") != "alert_1" || got.Body != string(message.JSON) || got.Target != "/hook?a=1" {
		t.Errorf("%+v", got)
	}
	if want := string(signature.AppendStandardSignatures(nil, []signature.Key{key}, "alert_1", at, []byte(got.Body))); got.Header.Get("webhook-signature") != want {
		t.Errorf("signature %s, want %s", got.Header.Get("webhook-signature"), want)
	}
	if want := string(signature.AppendPingpostSignatures(nil, []signature.Key{key}, at, []byte(got.Body))); got.Header.Get("X-Pingpost-Signature") != want {
		t.Errorf("signature %s, want %s", got.Header.Get("X-Pingpost-Signature"), want)
	}
}

// Errors name the remedy, and contain neither a secret nor a Slack address.
func TestFailedSends(t *testing.T) {
	refuses := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("404 Not Found", "no_service"))
	redirects := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("302 Found", "", "Location: http://127.0.0.1:1/"))
	hangs := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""))
	for name, test := range map[string]struct {
		to      Destination
		trusted string
		want    string
	}{
		"a wrong path":          {Destination{Slack: "http://" + refuses.Address + "/canary"}, "127.0.0.0/8", "answered 404"},
		"a redirect":            {Destination{Slack: "http://" + redirects.Address + "/canary"}, "127.0.0.0/8", "answered 302"},
		"a hanging receiver":    {Destination{Slack: "http://" + hangs.Address + "/canary"}, "127.0.0.0/8", "did not answer"},
		"a private address":     {Destination{Slack: "http://" + refuses.Address + "/canary"}, "10.0.0.0/8", "trusted_networks"},
		"no address":            {Destination{Slack: "canary"}, "10.0.0.0/8", "(Slack or webhook) is invalid"},
		"a malformed secret":    {Destination{Webhook: &WebhookDestination{URL: "http://" + refuses.Address, Secret: "canary"}}, "127.0.0.0/8", "whsec_"},
		"nothing":               {Destination{}, "127.0.0.0/8", "no destination"},
		"an unused port":        {Destination{Slack: "http://" + dialtest.UnusedAddress(t) + "/canary"}, "127.0.0.0/8", "did not answer"},
		"a private SMTP server": {Destination{Email: &EmailDestination{Server: mail.Server{Host: "127.0.0.1", Port: 25, Password: "canary"}, From: "a@example.com", To: []string{"b@example.com"}}}, "10.0.0.0/8", "trusted_networks"},
	} {
		timeout := time.Minute
		if name == "a hanging receiver" {
			timeout = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		err := newTestTransport(t, test.trusted).Send(ctx, &test.to, &message)
		if cancel(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestEmail(t *testing.T) {
	server := mailtest.Start(t, mailtest.Options{})
	to := &Destination{Email: &EmailDestination{Server: mail.Server{Host: server.Host, Port: server.Port, Security: mail.Plain}, From: "a@example.com", To: []string{"b@example.com"}}}
	if err := newTestTransport(t, "127.0.0.0/8").Send(t.Context(), to, &message); err != nil {
		t.Fatal(err)
	}
	if got := server.WaitForMessages(1)[0]; !strings.Contains(got.Data, "Message-ID: <alert_1@pingpost>") || !strings.Contains(got.Data, "82 % of a cap") {
		t.Errorf("%+v", got)
	}
}
