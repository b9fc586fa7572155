package alerting

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/outbound/mail"
	"pingpost/outbound/notify"
)

// destination returns where a channel sends, with its decrypted secret.
func (s *Service) destination(c *alert.Channel) (*notify.Destination, error) {
	secret := ""
	if len(c.Sealed) > 0 {
		var err error
		if secret, err = s.options.Open(c.SecretEncryptionName(), c.Sealed); err != nil {
			return nil, fmt.Errorf("the secret of channel %s cannot be decrypted; set it again: %w", c.ID, err)
		}
	}
	switch c.Kind {
	case alert.ChannelEmail:
		server := mail.Server{Host: c.Host, Port: c.Port, Security: mail.Security(c.Security), Username: c.Username, Password: secret}
		return &notify.Destination{Email: &notify.EmailDestination{Server: server, From: c.From, To: c.To}}, nil
	case alert.ChannelSlack:
		return &notify.Destination{Slack: secret}, nil
	case alert.ChannelWebhook:
		return &notify.Destination{Webhook: &notify.WebhookDestination{URL: c.URL, Secret: secret}}, nil
	}
	return nil, fmt.Errorf("channel %s has the unknown kind %q", c.ID, c.Kind)
}

// FirstEmailChannelSender returns the SMTP server and the sender of the first e-mail channel that is
// on. It returns an error if there is none, or if the channel's secret cannot be decrypted.
func (s *Service) FirstEmailChannelSender() (*notify.EmailDestination, error) {
	channel := s.table.Settings().FirstEnabledEmailChannel()
	if channel == nil {
		return nil, errors.New("there is no e-mail channel that is on; add one under Alerts")
	}
	to, err := s.destination(channel)
	if err != nil {
		return nil, err
	}
	return to.Email, nil
}

// webhookBody is the body of a signed webhook.
type webhookBody struct {
	Type      string         `json:"type"` // alert.fired, alert.resolved or alert.test
	ID        string         `json:"id"`
	Exchange  string         `json:"exchange"`
	Rule      string         `json:"rule"`
	Kind      alert.KindName `json:"kind"`
	Subject   *string        `json:"subject"` // null: the exchange
	Value     alert.Quantity `json:"value"`
	Threshold alert.Quantity `json:"threshold"`
	Unit      alert.Unit     `json:"unit"`
	At        string         `json:"at"`
	alert.Message
	URL string `json:"url,omitempty"` // Link under the console's address; empty: the address is unknown
}

// newMessage returns the notification of a change. rule is nil if it was removed.
func (s *Service) newMessage(rule *alert.Rule, change *alert.Change) *notify.Message {
	said := alert.DescribeChange(rule, change.Kind, change.Transition, change.Subject, change.Value, change.Threshold, change.Note)
	body := webhookBody{
		Type: "alert.fired", Rule: change.Rule, Value: change.Value, Threshold: change.Threshold, Message: said,
		At: time.Unix(0, change.At).UTC().Format(time.RFC3339), Exchange: s.options.Tenant,
	}
	if change.Transition == event.AlertResolved {
		body.Type = "alert.resolved"
	}
	if change.Subject != "" {
		body.Subject = &change.Subject
	}
	if kind := alert.KindOfChange(rule, change.Kind); kind != nil {
		body.Kind, body.Unit = kind.Name, kind.Unit
	}
	// The epoch makes the id unique among exchanges with the same receiver.
	epoch := s.options.State.FoundedEvent().Epoch
	body.ID = fmt.Sprintf("alert_%s_%d", hex.EncodeToString(epoch[:4]), change.Number)
	return s.newNotification(&body)
}

// newTestMessage returns the notification with which an operator tests a channel.
func (s *Service) newTestMessage() *notify.Message {
	now := time.Unix(0, s.options.Now()).UTC()
	return s.newNotification(&webhookBody{
		Type: "alert.test", ID: fmt.Sprintf("alert_test_%d", now.UnixNano()), Exchange: s.options.Tenant, At: now.Format(time.RFC3339),
		Message: alert.Message{Title: "Test of an alert channel", Text: "An operator tests this channel. Alerts arrive here.", Action: "Nothing.", Link: "#/alerts"},
	})
}

// newNotification returns the notification with this body, and adds the address of the console's page
// to both. Without a known address of the console, the text has no line about it.
func (s *Service) newNotification(body *webhookBody) *notify.Message {
	lines := []string{body.Text, "What to do: " + body.Action}
	if s.options.ConsoleURL != "" {
		body.URL = s.options.ConsoleURL + "/" + body.Link
		lines = append(lines, "Console: "+body.URL)
	}
	lines = append(lines, fmt.Sprintf("Exchange %s, %s, alert %s", body.Exchange, body.At, body.ID))
	encoded, err := json.Marshal(body)
	if err != nil {
		panic("BUG: cannot encode a notification: " + err.Error())
	}
	return &notify.Message{ID: body.ID, Title: fmt.Sprintf("[%s] %s", body.Exchange, body.Title), Text: strings.Join(lines, "\n\n") + "\n", JSON: encoded}
}
