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

// Files are where a certificate with its chain, and its key, lie, both as PEM.
type Files struct{ Cert, Key string }

// Pair is a certificate and its key, as they were last found good. It is safe for
// many goroutines.
type Pair struct {
	files Files
	shown atomic.Pointer[tls.Certificate]

	mu   sync.Mutex // of those who look; guards the rest
	seen [sha256.Size]byte
	told string // what was last found wrong
}

// maxFile bounds what is read of a file, in bytes.
const maxFile = 1 << 20

// Open reads a pair for the first time. The error says which file is wrong, and has
// nothing of its contents.
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

// Look reads the files again, at now. Changed: what they hold is shown from now on.
// The error says why it is not, and is nil where that was said before.
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

// worse says why a certificate must not take the place of another.
func worse(next, present *x509.Certificate, now time.Time) error {
	switch good := now.Before(present.NotAfter); {
	case good && !now.Before(next.NotAfter):
		return fmt.Errorf("the new certificate has run out at %s, and the present one has not", next.NotAfter.UTC().Format(time.RFC3339))
	case good && now.Before(next.NotBefore):
		return fmt.Errorf("the new certificate is good only from %s on", next.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// NotAfter is when the certificate that is shown runs out.
func (p *Pair) NotAfter() time.Time { return p.shown.Load().Leaf.NotAfter }

// Config is for a listener that shows the pair: TLS 1.2 at least, HTTP/1.1 alone.
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

// explain says what is wrong in words that say what to do.
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
