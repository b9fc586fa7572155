// Package mailtest has an SMTP server for tests. It accepts messages, hangs, or refuses them, with
// and without TLS.
package mailtest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/internal/certtest"
	"pingpost/internal/must"
)

// Options of a Server. The zero value is a server without TLS that accepts all messages.
type Options struct {
	StartTLS bool   // offers STARTTLS
	TLS      bool   // expects TLS from the first byte
	Password string // of the user "alerts"; empty: no authentication
	Hang     string // command that the server does not answer, such as DATA; "greeting" for none at all
	Refuse   string // command that the server answers with 550
	Flood    bool   // it answers EHLO without end
	// Recipient returns the answer to RCPT for an address, such as "451 try later". Empty, or a nil
	// function: accepted. After a 421 the server closes the connection.
	Recipient func(address string) string
}

// Message is an e-mail that a Server accepted.
type Message struct {
	From string
	To   []string
	Data string // headers and text
}

// Server is an SMTP server for tests.
type Server struct {
	Host string
	Port int
	CAs  *x509.CertPool // trusts the server's certificate

	options  Options
	config   *tls.Config
	mu       sync.Mutex // guards the following fields
	messages []Message
	accepted chan struct{} // receives a value for each message
	hanging  chan struct{} // receives a value for each command that stays without an answer
	conns    map[net.Conn]bool
}

// Start starts a server on a free port, and stops it at the end of the test.
func Start(t *testing.T, options Options) *Server {
	t.Helper()
	certificate, key, err := certtest.SelfSigned(1, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	must.Succeed(t, err)
	pair := must.Value(tls.X509KeyPair(certificate, key))(t)
	s := &Server{
		options: options, CAs: x509.NewCertPool(), config: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		accepted: make(chan struct{}, 1000), hanging: make(chan struct{}, 1000), conns: make(map[net.Conn]bool),
	}
	s.CAs.AppendCertsFromPEM(certificate)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := listener.Addr().(*net.TCPAddr)
	s.Host, s.Port = address.IP.String(), address.Port
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			serving.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for conn := range s.conns {
			_ = conn.Close()
		}
		s.mu.Unlock()
		serving.Wait()
	})
	return s
}

// Messages returns the accepted messages.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message{}, s.messages...)
}

// WaitForMessages waits until the server has accepted this many messages.
func (s *Server) WaitForMessages(count int) []Message {
	for len(s.Messages()) < count {
		<-s.accepted
	}
	return s.Messages()
}

// WaitForHang waits until the server has received the command of Options.Hang.
func (s *Server) WaitForHang() { <-s.hanging }

// session is the dialogue on one connection.
type session struct {
	server *Server
	conn   net.Conn
	in     *bufio.Reader
	next   Message
	secure bool
	known  bool // the client is authenticated
}

func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	d := &session{server: s, conn: conn, secure: s.options.TLS}
	if s.options.TLS {
		d.conn = tls.Server(conn, s.config)
	}
	d.in = bufio.NewReader(d.conn)
	if s.options.Hang == "greeting" {
		_, _ = d.in.ReadByte() // until the client gives up
		return
	}
	d.say("220 test ESMTP")
	for {
		line, err := d.in.ReadString('\n')
		if err != nil || !d.answer(strings.TrimRight(line, "\r\n")) {
			return
		}
	}
}

// say sends a line. A client that has gone is noticed at the next read.
func (d *session) say(line string) { _, _ = fmt.Fprintf(d.conn, "%s\r\n", line) }

// answer answers a command. It returns false at the end of the session.
func (d *session) answer(line string) (goesOn bool) {
	options := &d.server.options
	verb, rest, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	switch verb {
	case options.Hang:
		d.server.hanging <- struct{}{}
		_, _ = d.in.ReadByte()
		return false
	case options.Refuse:
		d.say("550 5.7.1 not accepted here")
		return true
	}
	switch verb {
	case "EHLO":
		d.answerEHLO()
	case "STARTTLS":
		d.say("220 go ahead")
		d.conn = tls.Server(d.conn, d.server.config)
		d.in, d.secure = bufio.NewReader(d.conn), true
	case "AUTH":
		d.authenticate(rest)
	case "MAIL":
		d.next = Message{From: rest}
		d.say(map[bool]string{true: "250 ok", false: "530 authenticate first"}[d.known || options.Password == ""])
	case "RCPT":
		return d.addRecipient(rest)
	case "DATA":
		return d.receiveMessage()
	case "QUIT":
		d.say("221 bye")
		return false
	default:
		d.say("250 ok")
	}
	return true
}

// addRecipient answers RCPT with an argument such as TO:<a@example.com>.
func (d *session) addRecipient(argument string) (goesOn bool) {
	if refuse := d.server.options.Recipient; refuse != nil {
		_, address, _ := strings.Cut(argument, "<")
		address, _, _ = strings.Cut(address, ">")
		if reply := refuse(address); reply != "" {
			d.say(reply)
			return !strings.HasPrefix(reply, "421")
		}
	}
	d.next.To = append(d.next.To, argument)
	d.say("250 ok")
	return true
}

func (d *session) answerEHLO() {
	if d.server.options.Flood {
		line := []byte("250-" + strings.Repeat("x", 500) + "\r\n")
		for {
			if _, err := d.conn.Write(line); err != nil {
				return
			}
		}
	}
	d.say("250-test")
	if d.server.options.StartTLS && !d.secure {
		d.say("250-STARTTLS")
	}
	if d.server.options.Password != "" {
		d.say("250-AUTH PLAIN LOGIN")
	}
	d.say("250 8BITMIME")
}

func (d *session) authenticate(rest string) {
	_, encoded, _ := strings.Cut(rest, " ")
	plain, _ := base64.StdEncoding.DecodeString(encoded)
	if string(plain) != "\x00alerts\x00"+d.server.options.Password {
		d.say("535 wrong password")
		return
	}
	d.known = true
	d.say("235 ok")
}

func (d *session) receiveMessage() (goesOn bool) {
	d.say("354 send it")
	var data strings.Builder
	for {
		line, err := d.in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		data.WriteString(line)
	}
	d.next.Data = data.String()
	d.server.mu.Lock()
	d.server.messages = append(d.server.messages, d.next)
	d.server.mu.Unlock()
	d.server.accepted <- struct{}{}
	d.say("250 queued")
	return true
}
