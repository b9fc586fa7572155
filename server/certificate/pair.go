package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Files names the PEM files of a certificate with its chain, and of its key.
type Files struct{ Cert, Key string }

// Pair is the last valid certificate with its key. It is safe for concurrent use.
type Pair struct {
	files Files
	shown atomic.Pointer[tls.Certificate]

	mu   sync.Mutex // serializes Look; guards the fields below
	seen [sha256.Size]byte
	told string // last error reported
}

// maxFile is the most bytes that are read of a file.
const maxFile = 1 << 20

// Open reads a pair for the first time. The error names the wrong file and does not quote its contents.
func Open(files Files) (*Pair, error) {
	p := &Pair{files: files}
	found, sum, err := p.read()
	if err != nil {
		return nil, err
	}
	p.seen = sum
	p.shown.Store(found)
	return p, nil
}

// Look reads the files again, at now. It reports whether the pair changed. The error says
// why a new pair is not served, and is nil if that was reported before.
func (p *Pair) Look(now time.Time) (changed bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, sum, err := p.read()
	if err == nil {
		if sum == p.seen {
			p.told = ""
			return false, nil
		}
		if err = worse(found.Leaf, p.shown.Load().Leaf, now); err == nil {
			p.seen, p.told = sum, ""
			p.shown.Store(found)
			return true, nil
		}
	}
	if err.Error() == p.told {
		return false, nil
	}
	p.told = err.Error()
	return false, err
}

// worse says why a certificate must not replace another.
func worse(next, present *x509.Certificate, now time.Time) error {
	switch good := now.Before(present.NotAfter); {
	case good && !now.Before(next.NotAfter):
		return fmt.Errorf("the new certificate has run out at %s, and the present one has not", next.NotAfter.UTC().Format(time.RFC3339))
	case good && now.Before(next.NotBefore):
		return fmt.Errorf("the new certificate is good only from %s on", next.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// NotAfter returns when the served certificate expires.
func (p *Pair) NotAfter() time.Time { return p.shown.Load().Leaf.NotAfter }

// Config returns a TLS configuration that serves the pair: TLS 1.2 or later, HTTP/1.1 only.
func (p *Pair) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.shown.Load(), nil },
	}
}

func (p *Pair) read() (*tls.Certificate, [sha256.Size]byte, error) {
	cert, err := readFile(p.files.Cert)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	key, err := readFile(p.files.Key)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("the certificate's key cannot be read: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("%q and %q: %w", p.files.Cert, p.files.Key, explain(cert, key, err))
	}
	if pair.Leaf == nil {
		panic("BUG: a pair was read without its certificate")
	}
	sum := sha256.New()
	for _, part := range [...][]byte{cert, key} {
		one := sha256.Sum256(part)
		sum.Write(one[:])
	}
	return &pair, [sha256.Size]byte(sum.Sum(nil)), nil
}

var (
	errNoCert = errors.New("the first has no certificate in PEM; it may be half written")
	errNoKey  = errors.New("the second has no private key in PEM without a passphrase; it may be half written")
)

// explain returns the error of a pair with its remedy.
func explain(cert, key []byte, err error) error {
	if block, _ := pem.Decode(cert); block == nil {
		return errNoCert
	}
	if block, _ := pem.Decode(key); block == nil || strings.Contains(block.Type, "ENCRYPTED") || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return errNoKey
	}
	return err
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%q is over a megabyte", path)
	}
	return text, err
}
