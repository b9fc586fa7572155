package alert

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Limits of the settings. They bound the memory and the work of an evaluation.
const (
	MaxRules    = 100
	MaxChannels = 20
	MaxSilences = 200
)

// Settings are the rules, channels and silences that operators edit. Their JSON is the document of
// event.AlertSettingsChanged.
type Settings struct {
	Rules    []Rule    `json:"rules"`
	Channels []Channel `json:"channels"`
	Silences []Silence `json:"silences"`
}

// Rule fires an alert for each of its subjects whose value is bad for a time.
type Rule struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Kind      KindName `json:"kind"`
	Subject   string   `json:"subject,omitempty"` // id of the only object that it watches; empty: all
	Threshold Quantity `json:"threshold"`
	// ResolveThreshold is the value at which the alert resolves. It equals Threshold, or is better.
	ResolveThreshold Quantity `json:"resolve_threshold"`
	For              int64    `json:"for_s"`              // seconds for which the value is bad before the alert fires
	ResolveFor       int64    `json:"resolve_for_s"`      // seconds for which it is good before the alert resolves
	Window           int64    `json:"window_s,omitempty"` // seconds over which a rate is measured
	Minimum          int64    `json:"minimum,omitempty"`  // requests in the window below which there is no rate
	Channels         []string `json:"channels"`           // ids; empty: all channels
	Off              bool     `json:"off"`
}

// ChannelKind is how a channel sends notifications.
type ChannelKind string

const (
	ChannelEmail   ChannelKind = "email"
	ChannelSlack   ChannelKind = "slack"
	ChannelWebhook ChannelKind = "webhook"
)

// Channel is a destination of notifications.
type Channel struct {
	ID   string      `json:"id"`
	Name string      `json:"name"`
	Kind ChannelKind `json:"kind"`
	Off  bool        `json:"off"`

	URL string `json:"url,omitempty"` // webhook

	Host     string   `json:"host,omitempty"` // email, and the next fields
	Port     int      `json:"port,omitempty"`
	Security string   `json:"security,omitempty"` // starttls, tls or none
	Username string   `json:"username,omitempty"`
	From     string   `json:"from,omitempty"`
	To       []string `json:"to,omitempty"`

	// Sealed is the encrypted secret: the password of an SMTP user, the URL of a Slack webhook, or
	// the key that signs a webhook.
	Sealed []byte `json:"sealed,omitempty"`
}

// SecretEncryptionName returns the name under which the channel's secret is encrypted.
func (c *Channel) SecretEncryptionName() string { return "alerts/" + c.ID }

// Silence suppresses the notifications of alerts until a time. The alerts still fire.
type Silence struct {
	ID      string `json:"id"`
	Rule    string `json:"rule"`
	Subject string `json:"subject,omitempty"` // empty: all subjects of the rule
	Until   int64  `json:"until"`             // Unix nanoseconds
	By      string `json:"by"`
	Note    string `json:"note,omitempty"`
}

// DefaultSettings returns the settings of an exchange whose operators have not changed them.
func DefaultSettings() *Settings {
	return &Settings{
		Rules: []Rule{
			{
				ID: "buyer_cap", Name: "Buyer cap almost used", Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 75 * One,
				For: 60, ResolveFor: 60, Channels: []string{},
			},
			{
				ID: "buyer_balance", Name: "Buyer balance low", Kind: BuyerBalance, Threshold: 100 * One, ResolveThreshold: 150 * One,
				For: 60, ResolveFor: 60, Channels: []string{},
			},
			{
				ID: "buyer_failures", Name: "Buyer times out or fails", Kind: BuyerFailures, Threshold: 20 * One, ResolveThreshold: 10 * One,
				For: 120, ResolveFor: 300, Window: 900, Minimum: 50, Channels: []string{},
			},
		},
		Channels: []Channel{},
		Silences: []Silence{},
	}
}

// ParseSettings reads the document of an event.
func ParseSettings(document []byte) (*Settings, error) {
	settings := &Settings{}
	if err := json.Unmarshal(document, settings); err != nil {
		return nil, fmt.Errorf("cannot read the alert settings of the log: %w", err)
	}
	return settings, nil
}

// Encode returns the settings as the document of an event.
func (s *Settings) Encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("BUG: cannot encode alert settings: " + err.Error())
	}
	return text
}

// Clone returns a copy that shares no list with s, so the caller may change it.
func (s *Settings) Clone() *Settings {
	clone := &Settings{Rules: slices.Clone(s.Rules), Channels: slices.Clone(s.Channels), Silences: slices.Clone(s.Silences)}
	for i := range clone.Rules {
		clone.Rules[i].Channels = slices.Clone(clone.Rules[i].Channels)
	}
	for i := range clone.Channels {
		c := &clone.Channels[i]
		c.To, c.Sealed = slices.Clone(c.To), slices.Clone(c.Sealed)
	}
	return clone
}

// FindRule returns the rule with this id, or nil.
func (s *Settings) FindRule(id string) *Rule {
	if i := slices.IndexFunc(s.Rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return &s.Rules[i]
	}
	return nil
}

// FindChannel returns the channel with this id, or nil.
func (s *Settings) FindChannel(id string) *Channel {
	if i := slices.IndexFunc(s.Channels, func(c Channel) bool { return c.ID == id }); i >= 0 {
		return &s.Channels[i]
	}
	return nil
}

// FirstEnabledEmailChannel returns the first e-mail channel that is on, or nil. Scheduled reports are
// sent by its server and sender.
func (s *Settings) FirstEnabledEmailChannel() *Channel {
	if i := slices.IndexFunc(s.Channels, func(c Channel) bool { return c.Kind == ChannelEmail && !c.Off }); i >= 0 {
		return &s.Channels[i]
	}
	return nil
}

// IsSilenced reports whether notifications of the rule about the subject are suppressed now.
func (s *Settings) IsSilenced(rule, subject string, nowUnixNanos int64) bool {
	return slices.ContainsFunc(s.Silences, func(silence Silence) bool {
		return silence.Rule == rule && (silence.Subject == "" || silence.Subject == subject) && nowUnixNanos < silence.Until
	})
}

// EnabledChannelIDsOf returns the ids of the channels that get the rule's notifications.
func (s *Settings) EnabledChannelIDsOf(rule *Rule) (ids []string) {
	for i := range s.Channels {
		if c := &s.Channels[i]; !c.Off && (len(rule.Channels) == 0 || slices.Contains(rule.Channels, c.ID)) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
