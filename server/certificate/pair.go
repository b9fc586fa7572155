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

// KeyPairPaths has the paths of two PEM files: a certificate with its chain, and its private key.
type KeyPairPaths struct{ CertFile, KeyFile string }

// KeyPair is a TLS certificate with its key, which ReloadIfChanged replaces when the files change. It is
// safe for concurrent use.
type KeyPair struct {
	files   KeyPairPaths
	current atomic.Pointer[tls.Certificate]

	mu       sync.Mutex        // serializes ReloadIfChanged; guards the fields below
	seen     [sha256.Size]byte // hash of the files of the current certificate
	reported string            // the last error that ReloadIfChanged returned; empty after a success
}

// maxFile is the greatest number of bytes read from a certificate or key file.
const maxFile = 1 << 20

// LoadPair reads a certificate and its key for the first time. The error names the faulty file
// and does not quote its contents.
func LoadPair(files KeyPairPaths) (*KeyPair, error) {
	p := &KeyPair{files: files}
	found, sum, err := p.readFiles()
	if err != nil {
		return nil, err
	}
	p.seen = sum
	p.current.Store(found)
	return p, nil
}

// ReloadIfChanged reads the files again. If they have changed, it serves the new certificate if it is
// valid at the time now, or if the served one has expired. changed reports whether it did. err says why
// the files cannot be used. It returns an error once, until another error or a success follows; the
// same error again gives false and nil.
func (p *KeyPair) ReloadIfChanged(now time.Time) (replaced bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, sum, err := p.readFiles()
	if err == nil {
		if sum == p.seen {
			p.reported = ""
			return false, nil
		}
		if err = checkNextValidUnlessPresentExpired(found.Leaf, p.current.Load().Leaf, now); err == nil {
			p.seen, p.reported = sum, ""
			p.current.Store(found)
			return true, nil
		}
	}
	if err.Error() == p.reported {
		return false, nil
	}
	p.reported = err.Error()
	return false, err
}

// checkNextValidUnlessPresentExpired returns an error if the new certificate next must not replace the served
// one, present. It must not if present is still valid at the time now and next is expired or
// not yet valid.
func checkNextValidUnlessPresentExpired(next, present *x509.Certificate, now time.Time) error {
	switch good := now.Before(present.NotAfter); {
	case good && !now.Before(next.NotAfter):
		return fmt.Errorf("the new certificate expired at %s, but the current one is still valid", next.NotAfter.UTC().Format(time.RFC3339))
	case good && now.Before(next.NotBefore):
		return fmt.Errorf("the new certificate is not valid before %s", next.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// NotAfter returns when the served certificate expires.
func (p *KeyPair) NotAfter() time.Time { return p.current.Load().Leaf.NotAfter }

// TLSConfig returns a server configuration that always serves the pair's current certificate:
// TLS 1.2 or later, HTTP/1.1 only.
func (p *KeyPair) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current.Load(), nil },
	}
}

func (p *KeyPair) readFiles() (*tls.Certificate, [sha256.Size]byte, error) {
	cert, err := readSmallFile(p.files.CertFile)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("cannot read the TLS certificate: %w", err)
	}
	key, err := readSmallFile(p.files.KeyFile)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("cannot read the TLS certificate's key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, [sha256.Size]byte{}, fmt.Errorf("%q and %q: %w", p.files.CertFile, p.files.KeyFile, explainMissingPEM(cert, key, err))
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
	errNoCert = errors.New("the certificate file contains no certificate in PEM; it may be half written")
	errNoKey  = errors.New("the key file contains no private key in PEM without a passphrase; it may be half written")
)

// explainMissingPEM returns a clearer error for files that are no valid pair, if one of them has
// no PEM data of the right kind. Otherwise it returns err.
func explainMissingPEM(cert, key []byte, err error) error {
	if block, _ := pem.Decode(cert); block == nil {
		return errNoCert
	}
	if block, _ := pem.Decode(key); block == nil || strings.Contains(block.Type, "ENCRYPTED") || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return errNoKey
	}
	return err
}

func readSmallFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file %q is larger than 1 MB, too large for a certificate or a key", path)
	}
	return text, err
}
