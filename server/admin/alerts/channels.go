package alerts

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/alert"
	"pingpost/outbound/webhook/signature"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// channelAnswer is a channel in JSON. It has the secret only in the answer to the request that creates
// the secret.
type channelAnswer struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Kind      alert.ChannelKind `json:"kind"`
	Off       bool              `json:"off"`
	URL       string            `json:"url,omitempty"`
	Host      string            `json:"host,omitempty"`
	Port      int               `json:"port,omitempty"`
	Security  string            `json:"security,omitempty"`
	Username  string            `json:"username,omitempty"`
	From      string            `json:"from,omitempty"`
	To        []string          `json:"to,omitempty"`
	HasSecret bool              `json:"has_secret"`
	Secret    string            `json:"secret,omitempty"` // only in the answer that creates it
	ETag      string            `json:"etag"`
	Health    ChannelHealth     `json:"health"`
}

// newChannelAnswer returns a channel for a caller. Only admins see the whole address of a webhook.
func newChannelAnswer(c *alert.Channel, health ChannelHealth, isAdmin bool) channelAnswer {
	address := c.URL
	if !isAdmin {
		address = MaskURL(address)
	}
	return channelAnswer{
		ID: c.ID, Name: c.Name, Kind: c.Kind, Off: c.Off, URL: address, Host: c.Host, Port: c.Port, Security: c.Security, Username: c.Username,
		From: c.From, To: c.To, HasSecret: len(c.Sealed) > 0, ETag: ETagOf(c), Health: health,
	}
}

// MaskURL returns the scheme and the host of an address, because the rest may contain a secret. An
// empty address stays empty, and an invalid one becomes an ellipsis.
func MaskURL(address string) string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return ""
	case err != nil || u.Host == "":
		return "…"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

func (a *API) describeChannels(ctx *fasthttp.RequestCtx, s Service) []channelAnswer {
	health, isAdmin := s.HealthByChannel(), a.IsAdmin(ctx)
	return payload.ConvertAll(s.AlertTable().Settings().Channels, func(c *alert.Channel) channelAnswer { return newChannelAnswer(c, health[c.ID], isAdmin) })
}

func (a *API) listChannels(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	return map[string]any{"channels": a.describeChannels(ctx, s)}, nil
}

func findChannel(ctx *fasthttp.RequestCtx, s Service) (*alert.Channel, error) {
	id := payload.PathParameter(ctx, "id")
	channel := s.AlertTable().Settings().FindChannel(id)
	if channel == nil {
		return nil, NewNotFoundError("alert channel", id)
	}
	return channel, nil
}

func (a *API) getChannel(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	channel, err := findChannel(ctx, s)
	if err != nil {
		return nil, err
	}
	found := newChannelAnswer(channel, s.HealthByChannel()[channel.ID], a.IsAdmin(ctx))
	SetETag(ctx, found.ETag)
	return found, nil
}

// testChannel sends a test notification and answers with the result, which is a success of this
// request also if the channel fails.
func testChannel(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	channel, err := findChannel(ctx, s)
	if err != nil {
		return nil, err
	}
	result := struct {
		Sent  bool    `json:"sent"`
		Error *string `json:"error"`
	}{Sent: true}
	if err := s.Test(channel); err != nil {
		result.Sent, result.Error = false, payload.NullIfEmpty(RemoveUnprintableAndCut(err.Error(), 300))
	}
	return result, nil
}

// channelBody is the body of a PUT of a channel. Secret is the SMTP password or the webhook's secret.
type channelBody struct {
	Name     string            `json:"name"`
	Kind     alert.ChannelKind `json:"kind"`
	Off      bool              `json:"off"`
	URL      string            `json:"url"`
	Host     string            `json:"host"`
	Port     int               `json:"port"`
	Security string            `json:"security"`
	Username string            `json:"username"`
	From     string            `json:"from"`
	To       []string          `json:"to"`
	Secret   *string           `json:"secret"`
}

const (
	maxRecipients = 20
	maxSecret     = 1000 // bytes
	maxAddress    = 2000 // bytes of a URL
)

// putChannel creates or replaces a channel. A change without a secret keeps the present one, unless
// the secret would then go to another server or user.
func (a *API) putChannel(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	var body channelBody
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	expected, err := payload.ReadExpectedETag(ctx, true)
	if err != nil {
		return nil, err
	}
	channel, secret, faults := body.parse(strings.Clone(payload.PathParameter(ctx, "id")))
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	created := ""
	err = s.ChangeSettings(a.CallerName(ctx), func(settings *alert.Settings) error {
		before := settings.FindChannel(channel.ID)
		present := ""
		if before != nil {
			present = ETagOf(before)
		}
		if err := CheckETag("alert channel", channel.ID, expected, present); err != nil {
			return err
		}
		if secret == "" && channel.mayKeepSecretOf(before) {
			channel.Sealed = before.Sealed
		} else if secret, created, err = channel.givenOrNewSecret(secret); err != nil {
			return err
		} else if secret != "" {
			channel.Sealed = s.Seal(channel.SecretEncryptionName(), secret)
		}
		switch {
		case before != nil:
			*before = channel.Channel
		case len(settings.Channels) >= alert.MaxChannels:
			return httperror.New(409, errcode.Conflict, fmt.Sprintf("There are %d alert channels already, the most that an exchange may have. Delete one first.", alert.MaxChannels))
		default:
			settings.Channels = append(settings.Channels, channel.Channel)
			ctx.SetStatusCode(fasthttp.StatusCreated)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	changed := newChannelAnswer(&channel.Channel, s.HealthByChannel()[channel.ID], a.IsAdmin(ctx))
	changed.Secret = created
	ctx.Response.Header.Set("Cache-Control", "no-store") // it may have a secret
	SetETag(ctx, changed.ETag)
	return changed, nil
}

// parsedChannel is a channel from a request.
type parsedChannel struct{ alert.Channel }

// mayKeepSecretOf reports whether the channel may keep the secret of the version before it. It may not
// without such a version, after a change of kind, SMTP server or user, or without encryption that the
// version had.
func (c *parsedChannel) mayKeepSecretOf(before *alert.Channel) bool {
	return before != nil && before.Kind == c.Kind && before.Host == c.Host && before.Port == c.Port && before.Username == c.Username &&
		(c.Security != "none" || before.Security == "none") &&
		(c.Kind != alert.ChannelEmail || c.Username != "" && len(before.Sealed) > 0)
}

// givenOrNewSecret returns the secret of a channel that does not keep an earlier one: the given one, or
// a new one for a webhook. It is empty for an SMTP server without authentication. created is the new
// secret, which the answer shows. A missing SMTP password or Slack address is an error.
func (c *parsedChannel) givenOrNewSecret(given string) (secret, created string, err error) {
	switch {
	case given != "":
		return given, "", nil
	case c.Kind == alert.ChannelWebhook:
		secret = newWebhookSecret()
		return secret, secret, nil
	case c.Kind == alert.ChannelSlack:
		return "", "", payload.NewInvalidFieldError("url", errcode.FieldMissingRequired, "the address of the Slack webhook")
	case c.Username != "":
		return "", "", payload.NewInvalidFieldError("secret", errcode.FieldMissingRequired, "the password of the SMTP user; it must be entered again after a change of the server or the user")
	}
	return "", "", nil
}

// newWebhookSecret returns a random secret, such as suppliers' webhooks have.
func newWebhookSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:])
	return signature.Prefix + base64.StdEncoding.EncodeToString(random[:])
}

// parse checks the body and returns the channel with its defaults, and its secret if the body has one.
// For Slack the secret is the URL.
func (b *channelBody) parse(id string) (channel parsedChannel, secret string, faults payload.FieldErrors) {
	channel.Channel = alert.Channel{ID: id, Name: cmp.Or(b.Name, id), Kind: b.Kind, Off: b.Off}
	faults.AddIf(!isRuleOrChannelID(id), "id", errcode.FieldInvalidFormat, expectedID)
	AddErrorUnlessPrintableLine(&faults, "name", b.Name, maxName)
	if b.Secret != nil {
		secret = *b.Secret
		faults.AddIf(secret == "" || len(secret) > maxSecret, "secret", errcode.FieldOutOfRange, fmt.Sprintf("1 to %d bytes; leave it out to keep the present one", maxSecret))
	}
	switch b.Kind {
	case alert.ChannelEmail:
		b.parseEmail(&channel.Channel, &faults)
	case alert.ChannelSlack:
		faults.AddIf(b.Secret != nil, "secret", errcode.FieldNotAllowedValue, "nothing: the url is the secret of a Slack webhook")
		if secret = b.URL; secret != "" {
			addErrorUnlessURL(&faults, secret)
		}
	case alert.ChannelWebhook:
		channel.URL = b.URL
		addErrorUnlessURL(&faults, b.URL)
		_, ok := signature.ParseSecret(secret)
		faults.AddIf(secret != "" && !ok, "secret", errcode.FieldInvalidFormat, "whsec_ and base64; leave it out for a new random one")
	default:
		faults.AddIf(true, "kind", errcode.FieldNotAllowedValue, "email, slack or webhook")
	}
	return channel, secret, faults
}

func addErrorUnlessURL(faults *payload.FieldErrors, address string) {
	u, err := url.Parse(address)
	valid := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.Fragment == "" && len(address) <= maxAddress
	faults.AddIf(!valid, "url", errcode.FieldInvalidFormat, "an https address without a user name; http only in trusted_networks")
}

var smtpPorts = map[string]int{"starttls": 587, "tls": 465, "none": 25}

func (b *channelBody) parseEmail(c *alert.Channel, faults *payload.FieldErrors) {
	c.Host, c.Security, c.Username, c.From, c.To = b.Host, cmp.Or(b.Security, "starttls"), b.Username, b.From, b.To
	c.Port = cmp.Or(b.Port, smtpPorts[c.Security])
	faults.AddIf(smtpPorts[c.Security] == 0, "security", errcode.FieldNotAllowedValue, "starttls, tls, or none in trusted_networks")
	faults.AddIf(!isHostWithoutPort(c.Host), "host", errcode.FieldInvalidFormat, "the name or IP address of an SMTP server")
	faults.AddIf(b.Port < 0 || b.Port > 65535, "port", errcode.FieldOutOfRange, "1 to 65535")
	AddErrorUnlessPrintableLine(faults, "username", b.Username, maxName)
	faults.AddIf(b.Secret != nil && b.Username == "", "secret", errcode.FieldNotAllowedValue, "a username beside it")
	faults.AddIf(!IsMailAddress(b.From), "from", errcode.FieldInvalidFormat, "an e-mail address")
	faults.AddIf(len(b.To) == 0 || len(b.To) > maxRecipients, "to", errcode.FieldOutOfRange, fmt.Sprintf("1 to %d e-mail addresses", maxRecipients))
	for i, to := range b.To {
		faults.AddIf(!IsMailAddress(to), fmt.Sprintf("to[%d]", i), errcode.FieldInvalidFormat, "an e-mail address")
	}
}

func isHostWithoutPort(host string) bool {
	if net.ParseIP(host) != nil {
		return true
	}
	u, err := url.Parse("//" + host)
	return err == nil && host != "" && len(host) <= 253 && u.Host == host && u.Port() == "" && !strings.ContainsAny(host, "[]:@/?# ")
}

// IsMailAddress reports whether a text is an e-mail address without a name.
func IsMailAddress(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Address == address && len(address) <= 254
}

// deleteChannel removes a channel that no rule names. Its waiting notifications are dropped.
func (a *API) deleteChannel(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	expected, err := payload.ReadExpectedETag(ctx, false)
	if err != nil {
		return nil, err
	}
	return nil, s.ChangeSettings(a.CallerName(ctx), func(settings *alert.Settings) error {
		channel := settings.FindChannel(id)
		if channel == nil {
			return NewNotFoundError("alert channel", id)
		}
		if err := CheckETag("alert channel", id, expected, ETagOf(channel)); err != nil {
			return err
		}
		for i := range settings.Rules {
			if slices.Contains(settings.Rules[i].Channels, id) {
				return httperror.New(409, errcode.Conflict, fmt.Sprintf("The rule %q uses the channel %q. Remove it from the rule first.", settings.Rules[i].ID, id))
			}
		}
		settings.Channels = slices.DeleteFunc(settings.Channels, func(c alert.Channel) bool { return c.ID == id })
		return nil
	})
}
