package certificate

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/certtest"
	"pingpost/internal/must"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// newCertificate returns a certificate with its key, valid from a day before noon.
func newCertificate(t *testing.T, serial int64, until time.Time) (cert, key []byte) {
	t.Helper()
	return newCertificateFrom(t, serial, noon.Add(-24*time.Hour), until)
}

func newCertificateFrom(t *testing.T, serial int64, from, until time.Time) (cert, key []byte) {
	t.Helper()
	cert, key, err := certtest.SelfSigned(serial, from, until)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// keyPairDir is a folder for a certificate and its key.
type keyPairDir struct {
	t     *testing.T
	files KeyPairPaths
}

func newKeyPairDir(t *testing.T) *keyPairDir {
	t.Helper()
	dir := t.TempDir()
	return &keyPairDir{t, KeyPairPaths{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}}
}

func (d *keyPairDir) write(cert, key []byte) {
	d.t.Helper()
	for path, text := range map[string][]byte{d.files.CertFile: cert, d.files.KeyFile: key} {
		must.Succeed(d.t, os.WriteFile(path, text, 0o600))
	}
}

func (d *keyPairDir) load() *KeyPair {
	d.t.Helper()
	p := must.Value(LoadPair(d.files))(d.t)
	return p
}

// servedSerial returns the serial number of the certificate that clients get.
func servedSerial(t *testing.T, p *KeyPair) int64 {
	t.Helper()
	cert := must.Value(p.TLSConfig().GetCertificate(&tls.ClientHelloInfo{}))(t)
	return cert.Leaf.SerialNumber.Int64()
}

// The error of an invalid pair names the file and does not contain the key.
func TestLoadPairRejectsInvalidFiles(t *testing.T) {
	cert, key := newCertificate(t, 1, noon.Add(time.Hour))
	_, otherKey := newCertificate(t, 2, noon.Add(time.Hour))
	broken := append(append([]byte("-----BEGIN PRIVATE KEY-----\n"), "Y2FuYXJ5\n"...), "-----END PRIVATE KEY-----\n"...)
	locked := bytes.ReplaceAll(broken, []byte("PRIVATE KEY"), []byte("ENCRYPTED PRIVATE KEY"))
	for name, row := range map[string]struct {
		cert, key []byte
		want      string
	}{
		"a pair":             {cert, key, ""},
		"a chain":            {append(bytes.Clone(cert), cert...), key, ""},
		"another key":        {cert, otherKey, "does not match"},
		"swapped files":      {key, cert, "no private key"},
		"half a key":         {cert, key[:len(key)/2], "no private key"},
		"half a certificate": {cert[:len(cert)/2], key, "no certificate"},
		"empty files":        {nil, nil, "no certificate"},
		"not PEM":            {[]byte("x"), key, "no certificate"},
		"an encrypted key":   {cert, locked, "passphrase"},
		"an invalid key":     {cert, broken, "failed to parse private key"},
		"too large":          {bytes.Repeat(cert, 4000), key, "larger than 1 MB"},
	} {
		d := newKeyPairDir(t)
		d.write(row.cert, row.key)
		_, err := LoadPair(d.files)
		switch {
		case row.want == "" && err != nil, row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v, want %q", name, err, row.want)
		case err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Y2Fu")):
			t.Errorf("%s: the error contains bytes of the file: %v", name, err)
		}
	}
	if _, err := LoadPair(KeyPairPaths{"/nowhere/cert.pem", "/nowhere/key.pem"}); err == nil || !strings.Contains(err.Error(), "/nowhere/cert.pem") {
		t.Errorf("missing files: got %v, want an error with the path", err)
	}
}

// Reload keeps the served certificate if the new files are incomplete or invalid, and
// reports each error once.
func TestReloadKeepsCertificateOnErrors(t *testing.T) {
	cert, key := newCertificate(t, 1, noon.Add(time.Hour))
	next, nextKey := newCertificate(t, 2, noon.Add(2*time.Hour))
	past, pastKey := newCertificate(t, 3, noon.Add(-time.Minute))
	later, laterKey := newCertificateFrom(t, 4, noon.Add(time.Minute), noon.Add(time.Hour))
	for name, row := range map[string]struct {
		cert, key []byte
		serial    int64
		wantErr   string
	}{
		"equal files":                         {cert, key, 1, ""},
		"another pair":                        {next, nextKey, 2, ""},
		"only the certificate written":        {next, key, 1, "does not match"},
		"only the key written":                {cert, nextKey, 1, "does not match"},
		"half a certificate":                  {next[:len(next)/2], nextKey, 1, "half written"},
		"half a key":                          {next, nextKey[:len(nextKey)/2], 1, "half written"},
		"empty files":                         {nil, nil, 1, "half written"},
		"an expired certificate":              {past, pastKey, 1, "the new certificate expired"},
		"a certificate that is not valid yet": {later, laterKey, 1, "is not valid before"},
		"an equal certificate, other spacing": {append([]byte("\n"), cert...), key, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newKeyPairDir(t)
			d.write(cert, key)
			p := d.load()
			d.write(row.cert, row.key)
			changed, err := p.ReloadIfChanged(noon)
			if (err == nil) != (row.wantErr == "") || err != nil && !strings.Contains(err.Error(), row.wantErr) {
				t.Errorf("error %v, want %q", err, row.wantErr)
			}
			if got := servedSerial(t, p); got != row.serial || changed != (err == nil && !bytes.Equal(row.cert, cert)) {
				t.Errorf("serves serial %d, changed %v", got, changed)
			}
			if changed, err := p.ReloadIfChanged(noon); changed || err != nil {
				t.Errorf("second reload: got %v, %v, want no repeated error", changed, err)
			}
			d.write(next, nextKey)
			if _, err := p.ReloadIfChanged(noon); err != nil || servedSerial(t, p) != 2 {
				t.Errorf("valid pair after the error: %v, serves serial %d", err, servedSerial(t, p))
			}
			d.write(row.cert, row.key)
			if _, err := p.ReloadIfChanged(noon); row.wantErr != "" && err == nil {
				t.Error("the same error after a valid pair is not reported")
			}
		})
	}
}

// A certificate that is not valid yet is served from its first moment on. After the served
// certificate has expired, any other one is served.
func TestReloadServesCertificateOnceValid(t *testing.T) {
	cert, key := newCertificate(t, 1, noon.Add(time.Hour))
	later, laterKey := newCertificateFrom(t, 4, noon.Add(time.Minute), noon.Add(30*time.Minute))
	d := newKeyPairDir(t)
	d.write(cert, key)
	p := d.load()
	d.write(later, laterKey)
	if _, err := p.ReloadIfChanged(noon); err == nil {
		t.Error("a certificate that is not valid yet: want an error")
	}
	if changed, err := p.ReloadIfChanged(noon.Add(time.Minute)); !changed || err != nil || servedSerial(t, p) != 4 {
		t.Errorf("valid now: got changed %v, %v, want it served", changed, err)
	}
	past, pastKey := newCertificate(t, 3, noon.Add(20*time.Minute))
	d.write(past, pastKey)
	if changed, err := p.ReloadIfChanged(noon.Add(40 * time.Minute)); !changed || err != nil {
		t.Errorf("both expired: got changed %v, %v, want the new one served", changed, err)
	}
	if !p.NotAfter().Equal(noon.Add(20 * time.Minute)) {
		t.Errorf("NotAfter is %s", p.NotAfter())
	}
}
