package mail

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pingpost/outbound/dial"
	"pingpost/outbound/mail/mailtest"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

var letter = Message{ID: "alert_1@pingpost", From: "alerts@example.com", To: []string{"a@example.com", "b@example.com"}, Subject: "Käse: 80 %", Text: "One line.\n.\nThe last line."}

func send(t *testing.T, s *mailtest.Server, security Security, change func(*Server, *Client)) error {
	t.Helper()
	client := &Client{Dialer: dial.TCPDialer{TrustedNetworks: loopback}, RootCAs: s.CAs}
	server := Server{Host: s.Host, Port: s.Port, Security: security}
	if change != nil {
		change(&server, client)
	}
	return client.Send(t.Context(), server, &letter)
}

func signIn(password string) func(*Server, *Client) {
	return func(s *Server, _ *Client) { s.Username, s.Password = "alerts", password }
}

func TestSend(t *testing.T) {
	for name, test := range map[string]struct {
		options  mailtest.Options
		security Security
		change   func(*Server, *Client)
		want     string // part of the error; empty: accepted
	}{
		"without TLS in a trusted network":  {mailtest.Options{}, Plain, nil, ""},
		"STARTTLS":                          {mailtest.Options{StartTLS: true}, StartTLS, nil, ""},
		"TLS":                               {mailtest.Options{TLS: true}, TLS, nil, ""},
		"STARTTLS with a password":          {mailtest.Options{StartTLS: true, Password: "pw"}, StartTLS, signIn("pw"), ""},
		"TLS with a password":               {mailtest.Options{TLS: true, Password: "pw"}, TLS, signIn("pw"), ""},
		"a password in a trusted network":   {mailtest.Options{Password: "pw"}, Plain, signIn("pw"), ""},
		"a wrong password":                  {mailtest.Options{StartTLS: true, Password: "pw"}, StartTLS, signIn("no"), "535"},
		"no STARTTLS offered":               {mailtest.Options{}, StartTLS, nil, "does not support STARTTLS"},
		"an untrusted certificate":          {mailtest.Options{StartTLS: true}, StartTLS, func(_ *Server, c *Client) { c.RootCAs = nil }, "certificate"},
		"an untrusted certificate, TLS":     {mailtest.Options{TLS: true}, TLS, func(_ *Server, c *Client) { c.RootCAs = nil }, "certificate"},
		"a private address":                 {mailtest.Options{StartTLS: true}, StartTLS, func(_ *Server, c *Client) { c.Dialer.TrustedNetworks = nil }, "trusted_networks"},
		"without TLS outside of networks":   {mailtest.Options{}, Plain, func(_ *Server, c *Client) { c.Dialer.TrustedNetworks = nil }, "trusted_networks"},
		"a public address without TLS":      {mailtest.Options{}, Plain, func(s *Server, _ *Client) { s.Host = "1.1.1.1" }, "trusted_networks"},
		"a refused sender":                  {mailtest.Options{Refuse: "MAIL"}, Plain, nil, "550"},
		"a refused recipient":               {mailtest.Options{Refuse: "RCPT"}, Plain, nil, "550"},
		"a refused message":                 {mailtest.Options{Refuse: "DATA"}, Plain, nil, "550"},
		"a server that answers without end": {mailtest.Options{Flood: true}, Plain, nil, "sends too much"},
	} {
		t.Run(name, func(t *testing.T) {
			server := mailtest.Start(t, test.options)
			err := send(t, server, test.security, test.change)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				checkLetter(t, server.WaitForMessages(1))
			} else if err == nil || !strings.Contains(err.Error(), test.want) || len(server.Messages()) > 0 {
				t.Errorf("error %v, want one with %q; %d messages", err, test.want, len(server.Messages()))
			}
			if err != nil && strings.Contains(err.Error(), "pw") {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

func checkLetter(t *testing.T, messages []mailtest.Message) {
	t.Helper()
	if len(messages) != 1 || len(messages[0].To) != 2 || !strings.Contains(messages[0].From, "alerts@example.com") {
		t.Fatalf("%+v", messages)
	}
	for _, part := range []string{"Message-ID: <alert_1@pingpost>", "K=C3=A4se", "The last line."} {
		if !strings.Contains(messages[0].Data, part) {
			t.Errorf("without %q:\n%s", part, messages[0].Data)
		}
	}
}

// A server that hangs at any command does not hold the caller after its context ends.
func TestHangingServer(t *testing.T) {
	for _, command := range []string{"greeting", "EHLO", "MAIL", "RCPT", "DATA"} {
		server := mailtest.Start(t, mailtest.Options{Hang: command})
		client := &Client{Dialer: dial.TCPDialer{TrustedNetworks: loopback}}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := client.Send(ctx, Server{Host: server.Host, Port: server.Port, Security: Plain}, &letter)
		if cancel(); err == nil {
			t.Errorf("%s: accepted", command)
		}
	}
}

// A canceled context ends an attempt before its deadline.
func TestCanceledAttempt(t *testing.T) {
	server := mailtest.Start(t, mailtest.Options{Hang: "greeting"})
	client := &Client{Dialer: dial.TCPDialer{TrustedNetworks: loopback}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- client.Send(ctx, Server{Host: server.Host, Port: server.Port, Security: Plain}, &letter)
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("accepted")
	}
}

func TestInvalidAddresses(t *testing.T) {
	client := &Client{}
	for _, m := range []Message{{From: "no address", To: letter.To}, {From: letter.From, To: []string{"no address"}}} {
		if err := client.Send(t.Context(), Server{Host: "127.0.0.1", Port: 1}, &m); err == nil || !strings.Contains(err.Error(), "e-mail address") {
			t.Error(err)
		}
	}
}
