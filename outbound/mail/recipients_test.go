package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/outbound/dial"
	"pingpost/outbound/mail/mailtest"
)

// sendToThree sends a message to a, b and c, whose RCPT the server answers with these replies.
func sendToThree(t *testing.T, replies map[string]string, options mailtest.Options) (*mailtest.Server, error) {
	t.Helper()
	options.Recipient = func(address string) string { return replies[address[:1]] }
	server := mailtest.Start(t, options)
	client := &Client{Dialer: dial.TCPDialer{TrustedNetworks: loopback}}
	message := letter
	message.To = []string{"a@example.com", "b@example.com", "c@example.com"}
	return server, client.Send(t.Context(), Server{Host: server.Host, Port: server.Port, Security: Plain}, &message)
}

func initials(addresses []string) (all string) {
	for _, address := range addresses {
		all += address[:1]
	}
	return all
}

// A recipient that the server does not accept leaves the others their message.
func TestRefusedRecipients(t *testing.T) {
	const refused, deferred = "550 5.1.1 no such user", "451 4.7.1 try later"
	for name, test := range map[string]struct {
		replies map[string]string
		want    string // accepted, refused and deferred recipients
	}{
		"one refused":              {map[string]string{"b": refused}, `["ac" "b" ""]`},
		"one deferred":             {map[string]string{"b": deferred}, `["ac" "" "b"]`},
		"one of each":              {map[string]string{"a": refused, "c": deferred}, `["b" "a" "c"]`},
		"the last reply misleads":  {map[string]string{"a": deferred, "c": refused}, `["b" "c" "a"]`},
		"all refused":              {map[string]string{"a": refused, "b": refused, "c": refused}, `["" "abc" ""]`},
		"the connection ends":      {map[string]string{"a": refused, "b": "421 4.3.2 closing"}, `["" "" "abc"]`},
		"an answer without a code": {map[string]string{"b": "nonsense"}, `["a" "" "bc"]`},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := sendToThree(t, test.replies, mailtest.Options{})
			var partly *RecipientError
			if !errors.As(err, &partly) {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%q", []string{initials(partly.Accepted), initials(partly.Refused), initials(partly.Deferred)}); got != test.want {
				t.Errorf("%s, want %s: %v", got, test.want, err)
			}
			delivered := ""
			for _, m := range server.Messages() {
				for _, to := range m.To {
					delivered += strings.TrimPrefix(to, "TO:<")[:1]
				}
			}
			if delivered != initials(partly.Accepted) {
				t.Errorf("the server has messages for %q, want %q", delivered, initials(partly.Accepted))
			}
			for _, address := range partly.Refused {
				if !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "550") {
					t.Errorf("the error does not name %s and its reply: %v", address, err)
				}
			}
		})
	}
}

// A message that the server has accepted is sent, whatever happens afterwards.
func TestErrorAfterAcceptance(t *testing.T) {
	for name, options := range map[string]mailtest.Options{
		"RSET is refused": {Refuse: "RSET"}, "QUIT is refused": {Refuse: "QUIT"}, "RSET hangs": {Hang: "RSET"}, "QUIT hangs": {Hang: "QUIT"},
	} {
		server := mailtest.Start(t, options)
		client := &Client{Dialer: dial.TCPDialer{TrustedNetworks: loopback}}
		ctx, cancel := context.WithCancel(t.Context())
		if options.Hang != "" {
			go func() {
				server.WaitForHang()
				cancel()
			}()
		}
		if err := client.Send(ctx, Server{Host: server.Host, Port: server.Port, Security: Plain}, &letter); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
