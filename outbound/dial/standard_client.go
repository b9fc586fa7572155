package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// StandardClientOptions configure NewStandardClient.
type StandardClientOptions struct {
	TrustedNetworks []netip.Prefix // networks in which private addresses and plain http are allowed
	RootCAs         *x509.CertPool // trusted authorities; nil: the system's
	Timeout         time.Duration  // of one request with its answer
	MaxResponse     int64          // largest body of an answer, in bytes
}

// NewStandardClient returns a client of net/http for libraries that need one. It connects under the
// same rules as Hosts: to trusted networks, and otherwise to public addresses over TLS. It follows no
// redirect, because the target could be any address, and uses no proxy.
func NewStandardClient(o StandardClientOptions) *http.Client {
	d := &dialer{
		trustedNetworks: o.TrustedNetworks, timeout: o.Timeout, resolver: &net.Resolver{PreferGo: true},
		tls: &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
	}
	dial := func(secure bool) func(context.Context, string, string) (net.Conn, error) {
		return func(_ context.Context, _, address string) (net.Conn, error) {
			name, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return d.dial(origin{secure: secure, name: name, port: port}, o.Timeout)
		}
	}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &bodyLimitingTransport{maxResponse: o.MaxResponse, inner: &http.Transport{
			DialContext: dial(false), DialTLSContext: dial(true), MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: HeadLimit, ResponseHeaderTimeout: o.Timeout,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bodyLimitingTransport makes the reading of a body of more than maxResponse bytes fail, so that a
// server cannot fill the memory.
type bodyLimitingTransport struct {
	inner       http.RoundTripper
	maxResponse int64
}

var errResponseTooLarge = errors.New("the body of the server's answer is larger than the exchange accepts")

// RoundTrip sends the request and returns the answer, whose body is limited.
func (l *bodyLimitingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.inner.RoundTrip(request)
	if err == nil {
		response.Body = &limitedBody{response.Body, l.maxResponse}
	}
	return response, err
}

// limitedBody is a body of which at most left bytes can be read.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read reads from the body. It returns errResponseTooLarge once the limit is exceeded.
func (l *limitedBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errResponseTooLarge
	}
	return n, err
}
