package notify

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/mail"
	"pingpost/outbound/webhook/signature"
)

// Message is the content of a notification.
type Message struct {
	ID    string // the same at every attempt; receivers recognize repeats by it
	Title string
	Text  string // plain text of some lines
	JSON  []byte // for signed webhooks
}

// Destination is a channel with its secret. Exactly one part is set.
type Destination struct {
	Email   *EmailDestination
	Slack   string // address of a Slack-compatible incoming webhook
	Webhook *WebhookDestination
}

// EmailDestination is an SMTP server with the sender and the recipients.
type EmailDestination struct {
	Server mail.Server
	From   string
	To     []string
}

// WebhookDestination is an address that gets signed JSON.
type WebhookDestination struct {
	URL    string
	Secret string // whsec_…
}

// TransportOptions configure a Transport.
type TransportOptions struct {
	TrustedNetworks []netip.Prefix // networks in which private addresses, plain http and plain SMTP are allowed
	RootCAs         *x509.CertPool // trusted authorities; nil: the system's
}

// Transport sends notifications. Any goroutine may call its methods.
type Transport struct {
	hosts *dial.Hosts
	mail  mail.Client
}

const (
	// httpTimeout limits an HTTP attempt.
	httpTimeout = 10 * time.Second
	// maxAnswerBody limits the bytes read of an answer, whose content is ignored.
	maxAnswerBody = 64 << 10
	// maxConns is the number of connections to one host.
	maxConns = 20
)

// NewTransport returns a transport, which opens connections only when it needs them.
func NewTransport(o TransportOptions) *Transport {
	return &Transport{
		hosts: dial.New(dial.Options{
			TrustedNetworks: o.TrustedNetworks, RootCAs: o.RootCAs, MaxConns: maxConns, ConnWait: httpTimeout, ConnectTimeout: httpTimeout,
			MaxResponse: maxAnswerBody, IdleTimeout: 30 * time.Second,
		}),
		mail: mail.Client{Dialer: dial.TCPDialer{TrustedNetworks: o.TrustedNetworks}, RootCAs: o.RootCAs},
	}
}

// Close closes the idle connections.
func (t *Transport) Close() { t.hosts.Close() }

// Send makes one attempt to send the message. The error says what to repair, and contains no secret.
func (t *Transport) Send(ctx context.Context, to *Destination, m *Message) error {
	switch {
	case to.Email != nil:
		return t.mail.Send(ctx, to.Email.Server, &mail.Message{
			ID: m.ID + "@pingpost", From: to.Email.From, To: to.Email.To, Subject: m.Title, Text: m.Text,
		})
	case to.Slack != "":
		body, err := json.Marshal(map[string]string{"text": m.Title + "\n" + m.Text})
		if err != nil {
			return err
		}
		return t.post(ctx, to.Slack, "", m.ID, body)
	case to.Webhook != nil:
		return t.post(ctx, to.Webhook.URL, to.Webhook.Secret, m.ID, m.JSON)
	}
	return errors.New("the channel has no destination")
}

// SendMail makes one attempt to send an e-mail that is no notification of an alert.
func (t *Transport) SendMail(ctx context.Context, server mail.Server, message *mail.Message) error {
	return t.mail.Send(ctx, server, message)
}

// post sends a body as JSON, with the signatures of the suppliers' webhooks if there is a secret.
func (t *Transport) post(ctx context.Context, address, secret, id string, body []byte) error {
	target, fault := t.hosts.FindOrCreateTarget(dial.ConnOwner{}, address)
	if fault != market.FaultNone {
		return errors.New("the URL of the alert channel (Slack or webhook) is invalid")
	}
	var keys []signature.Key
	if secret != "" {
		key, ok := signature.ParseSecret(secret)
		if !ok {
			return errors.New("the alert channel's secret is not a webhook secret; such a secret begins with " + signature.Prefix)
		}
		keys = append(keys, key)
	}
	deadline := time.Now().Add(httpTimeout)
	if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
		deadline = end
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)
	result := target.Send(&dial.Request{Raw: encodeRequest(target, keys, id, time.Now().Unix(), body), Deadline: deadline, Repeatable: true}, response)
	switch {
	case result.Status >= 200 && result.Status <= 299:
		return nil
	case result.Status != 0:
		return fmt.Errorf("the alert channel's host %s answered %d", hostOf(address), result.Status)
	case result.Fault == market.FaultForbidden:
		return fmt.Errorf("the channel's host %s is neither public with https nor in trusted_networks", hostOf(address))
	}
	return fmt.Errorf("the alert channel's host %s did not answer the notification: %s", hostOf(address), result.Fault)
}

func encodeRequest(target *dial.Target, keys []signature.Key, id string, unixSeconds int64, body []byte) []byte {
	text := make([]byte, 0, 512+len(target.Path)+len(target.Authority)+len(body))
	text = append(append(append(text, "POST "...), target.Path...), " HTTP/1.1\r\n"...)
	text = dial.AppendHeader(text, "User-Agent", "", "pingpost")
	text = dial.AppendHeader(text, "Host", "", target.Authority)
	text = dial.AppendHeader(text, "Content-Type", "", "application/json")
	text = dial.AppendHeader(text, "Content-Length", "", strconv.Itoa(len(body)))
	if len(keys) > 0 {
		text = dial.AppendHeader(text, "webhook-id", "", id)
		text = dial.AppendHeader(text, "webhook-timestamp", "", strconv.FormatInt(unixSeconds, 10))
		text = append(signature.AppendStandardSignatures(append(text, "webhook-signature: "...), keys, id, unixSeconds, body), "\r\n"...)
		text = append(signature.AppendPingpostSignatures(append(text, "X-Pingpost-Signature: "...), keys, unixSeconds, body), "\r\n"...)
	}
	return append(append(text, "\r\n"...), body...)
}

// hostOf returns the host of an address. The rest of a Slack webhook's address is its secret.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return parsed.Host
}
