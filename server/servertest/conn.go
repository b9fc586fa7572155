package servertest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/api/contract"
	"pingpost/internal/must"
)

const Password = "the-password"

func StartServer(t *testing.T, serve func(net.Listener) error, shutdown func() error) (address string) {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := shutdown(); err != nil {
			t.Error(err)
		}
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// RawClientConn is a client's bare connection to a server under test, over which a test sends any bytes.
type RawClientConn struct {
	net.Conn
	t         *testing.T
	Answer    *bufio.Reader
	Unchecked bytes.Buffer // bytes of requests that are not yet checked against the OpenAPI document
}

func Dial(t *testing.T, address string) *RawClientConn {
	t.Helper()
	conn := must.Value(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	must.Succeed(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return &RawClientConn{Conn: conn, t: t, Answer: bufio.NewReader(conn)}
}

// Send sends the text of a request and returns the next answer with its body.
func (k *RawClientConn) Send(rawRequest string) (status int, header http.Header, body string) {
	k.t.Helper()
	if _, err := io.WriteString(k, rawRequest); err != nil {
		k.t.Fatal(err)
	}
	k.Unchecked.WriteString(rawRequest)
	return k.ReadAnswer()
}

func (k *RawClientConn) ReadAnswer() (status int, header http.Header, body string) {
	k.t.Helper()
	response, err := http.ReadResponse(k.Answer, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(k.t)
	if q, ok := contract.ReadRequest(&k.Unchecked); ok && response.StatusCode >= http.StatusOK {
		CheckContract(k.t, q, &contract.Answer{Status: response.StatusCode, Header: response.Header, Body: text})
	}
	if response.Close { // net/http takes the line out
		response.Header.Set("Connection", "close")
	}
	return response.StatusCode, response.Header, string(text)
}

// IsClosedOnNextRequest reports whether the server has closed the connection. It sends a request to find
// out.
func (k *RawClientConn) IsClosedOnNextRequest() bool {
	_, _ = io.WriteString(k, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	_, err := k.Answer.ReadByte()
	return err != nil
}

const BasicAuth = "Authorization: Basic b3A6dGhlLXBhc3N3b3Jk\r\n" // op:the-password

// FormatRequest returns the text of an HTTP request. methodAndPath is such as GET /x; headers has
// one line each, ended by CR LF.
func FormatRequest(methodAndPath, headers, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", methodAndPath, headers, len(body), body)
}

// SendOverNewConn sends a request without a body over a new connection, and returns the answer.
func SendOverNewConn(t *testing.T, address, method, path string, headers ...string) (status int, header map[string][]string, body string) {
	t.Helper()
	return Dial(t, address).Send(method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n")
}

// DialTLS opens a TLS connection to a server under test and completes the handshake.
func DialTLS(t *testing.T, address string, clientConfig *tls.Config) *RawClientConn {
	t.Helper()
	k := Dial(t, address)
	conn := tls.Client(k.Conn, clientConfig)
	must.Succeed(t, conn.Handshake())
	return &RawClientConn{Conn: conn, t: t, Answer: bufio.NewReader(conn)}
}

func ParseNetwork(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// WaitUntil polls a condition and ends the test if it does not become true. what describes it.
func WaitUntil(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !isTrue(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
