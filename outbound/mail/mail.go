// Package mail sends e-mail through an operator's SMTP server. Alerts and scheduled reports
// use it.
//
// It connects only to addresses that requests may use (package dial), and requires TLS outside the
// trusted networks. An attempt ends at its context's deadline, also if the server hangs, and reads a
// limited number of bytes.
package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	gomail "github.com/wneessen/go-mail"

	"pingpost/outbound/dial"
)

// Security is how a connection to an SMTP server is encrypted.
type Security string

const (
	StartTLS Security = "starttls" // required after the greeting; usually port 587
	TLS      Security = "tls"      // from the first byte; usually port 465
	Plain    Security = "none"     // only in trusted networks
)

// Server is an SMTP server and the sender's account there.
type Server struct {
	Host               string
	Port               int
	Security           Security
	Username, Password string // empty: no authentication
}

// Message is one e-mail.
type Message struct {
	ID         string // for the header Message-ID, without brackets; the same at every attempt
	From       string
	To         []string
	Subject    string
	Text       string      // plain text
	HTML       string      // the same as HTML; empty: plain text only
	Attachment *Attachment // nil: none
}

// Attachment is a file of a message.
type Attachment struct {
	Name string
	Type string // media type
	Data []byte
}

// Client sends e-mail. Any goroutine may call Send.
type Client struct {
	Dialer  dial.TCPDialer
	RootCAs *x509.CertPool // trusted authorities; nil: the system's
}

const (
	// attemptTimeout limits an attempt if its context has no earlier deadline.
	attemptTimeout = 30 * time.Second
	// maxAnswers limits the bytes that a server may send in an attempt.
	maxAnswers = 1 << 20
)

// errTooMuch is returned for a server that sends more than maxAnswers.
var errTooMuch = errors.New("the SMTP server sends too much")

// Send makes one attempt to send the message. A nil error means that the server has accepted it for all
// recipients. A *RecipientError means that it has refused or deferred at least one recipient. After
// another error it may have accepted the message just before the connection ended.
func (c *Client) Send(ctx context.Context, server Server, message *Message) error {
	attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	if _, err := newLetter(message, message.To); err != nil { // before it connects
		return err
	}
	var socket net.Conn
	stop := func() bool { return true }
	defer func() {
		stop()
		if socket != nil { // the library leaves the connection open after some errors
			_ = socket.Close()
		}
	}()
	config := &tls.Config{ServerName: server.Host, RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12}
	client, err := gomail.NewClient(server.Host, append(clientOptions(&server), gomail.WithTLSConfig(config), gomail.WithDialContextFunc(
		func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.connect(ctx, &server, config)
			if err == nil {
				socket = conn
				stop = context.AfterFunc(attempt, func() { _ = conn.Close() })
			}
			return conn, err
		},
	))...)
	if err != nil {
		return fmt.Errorf("the settings of the SMTP server %s are invalid; change the e-mail channel under Alerts: %w", server.Host, err)
	}
	opened, err := client.DialToSMTPClientWithContext(attempt)
	if err != nil {
		return fmt.Errorf("cannot connect or sign in to the SMTP server %s:%d: %w", server.Host, server.Port, err)
	}
	// A failed farewell after an accepted message is no failure: another attempt would repeat it.
	defer func() { _ = client.CloseWithSMTPClient(opened) }()
	signedIn := session{client, opened, fmt.Sprintf("%s:%d", server.Host, server.Port)}
	return signedIn.send(message)
}

func newLetter(message *Message, recipients []string) (*gomail.Msg, error) {
	letter := gomail.NewMsg()
	if err := letter.From(message.From); err != nil {
		return nil, fmt.Errorf("the sender %q of an e-mail is not an e-mail address; change the e-mail channel under Alerts", message.From)
	}
	if err := letter.To(recipients...); err != nil {
		return nil, errors.New("a recipient of an e-mail is not an e-mail address; correct the alert channel's or the report's recipients")
	}
	letter.Subject(message.Subject)
	letter.SetDate()
	letter.SetMessageIDWithValue(message.ID)
	letter.SetBodyString(gomail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		letter.AddAlternativeString(gomail.TypeTextHTML, message.HTML)
	}
	if file := message.Attachment; file != nil {
		if err := letter.AttachReader(file.Name, bytes.NewReader(file.Data), gomail.WithFileContentType(gomail.ContentType(file.Type))); err != nil {
			return nil, fmt.Errorf("cannot attach the file %s: %w", file.Name, err)
		}
	}
	return letter, nil
}

func clientOptions(server *Server) []gomail.Option {
	policy, auth := gomail.TLSMandatory, gomail.SMTPAuthAutoDiscover
	switch server.Security {
	case TLS:
		policy = gomail.TLSOpportunistic // connect has completed TLS; the library finds that out
	case Plain:
		policy, auth = gomail.NoTLS, gomail.SMTPAuthPlainNoEnc
	case StartTLS:
	}
	options := []gomail.Option{gomail.WithPort(server.Port), gomail.WithTimeout(attemptTimeout), gomail.WithTLSPolicy(policy), gomail.WithoutNoop()}
	if server.Username != "" {
		options = append(options, gomail.WithSMTPAuth(auth), gomail.WithUsername(server.Username), gomail.WithPassword(server.Password))
	}
	return options
}

// connect opens the connection, with TLS if the server expects it from the first byte.
func (c *Client) connect(ctx context.Context, server *Server, config *tls.Config) (net.Conn, error) {
	socket, err := c.Dialer.Dial(ctx, server.Host, server.Port, server.Security != Plain)
	if err != nil {
		return nil, err
	}
	conn := net.Conn(&byteAndTimeLimitedConn{Conn: socket, ctx: ctx, left: maxAnswers})
	if server.Security != TLS {
		return conn, nil
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = socket.Close() // the caller needs the handshake's error
		return nil, err
	}
	return secure, nil
}

// byteAndTimeLimitedConn is a connection that ends at its context's deadline, whatever deadline the SMTP
// library sets, and that reads a limited number of bytes.
type byteAndTimeLimitedConn struct {
	net.Conn
	ctx  context.Context //nolint:containedctx // of the attempt, which is the connection's life
	left int
}

func (l *byteAndTimeLimitedConn) SetDeadline(t time.Time) error {
	if end, ok := l.ctx.Deadline(); ok && (t.IsZero() || t.After(end)) {
		t = end
	}
	return l.Conn.SetDeadline(t)
}

func (l *byteAndTimeLimitedConn) Read(p []byte) (n int, err error) {
	if l.left <= 0 {
		return 0, errTooMuch
	}
	n, err = l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	if err != nil && !errors.Is(err, io.EOF) && l.ctx.Err() != nil {
		return n, errors.Join(errors.New("the SMTP server did not answer in time"), err)
	}
	return n, err
}
