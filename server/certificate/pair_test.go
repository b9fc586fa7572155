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

// made is a new certificate with its key, good from a day before noon on.
func made(t *testing.T, serial int64, until time.Time) (cert, key []byte) {
	t.Helper()
	return madeFrom(t, serial, noon.Add(-24*time.Hour), until)
}

func madeFrom(t *testing.T, serial int64, from, until time.Time) (cert, key []byte) {
	t.Helper()
	cert, key, err := certtest.SelfSigned(serial, from, until)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// disk is a folder with a pair in it.
type disk struct {
	t     *testing.T
	files KeyPairPaths
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := t.TempDir()
	return &disk{t, KeyPairPaths{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}}
}

func (d *disk) write(cert, key []byte) {
	d.t.Helper()
	for path, text := range map[string][]byte{d.files.Cert: cert, d.files.Key: key} {
		must.Succeed(d.t, os.WriteFile(path, text, 0o600))
	}
}

func (d *disk) open() *KeyPair {
	d.t.Helper()
	p := must.Value(LoadPair(d.files))(d.t)
	return p
}

// shows is the number of the certificate that a client would be shown.
func shows(t *testing.T, p *KeyPair) int64 {
	t.Helper()
	cert := must.Value(p.TLSConfig().GetCertificate(&tls.ClientHelloInfo{}))(t)
	return cert.Leaf.SerialNumber.Int64()
}

// TestOpen: what is no pair is refused with words that say which file, and that have
// nothing of the key.
func TestOpen(t *testing.T) {
	cert, key := made(t, 1, noon.Add(time.Hour))
	_, otherKey := made(t, 2, noon.Add(time.Hour))
	broken := append(append([]byte("-----BEGIN PRIVATE KEY-----\n"), "Y2FuYXJ5\n"...), "-----END PRIVATE KEY-----\n"...)
	locked := bytes.ReplaceAll(broken, []byte("PRIVATE KEY"), []byte("ENCRYPTED PRIVATE KEY"))
	for what, row := range map[string]struct {
		cert, key []byte
		want      string
	}{
		"a pair":            {cert, key, ""},
		"a chain":           {append(bytes.Clone(cert), cert...), key, ""},
		"another's key":     {cert, otherKey, "does not match"},
		"the two swapped":   {key, cert, "no private key"},
		"half a key":        {cert, key[:len(key)/2], "no private key"},
		"half a cert":       {cert[:len(cert)/2], key, "no certificate"},
		"nothing":           {nil, nil, "no certificate"},
		"no text":           {[]byte("x"), key, "no certificate"},
		"a locked key":      {cert, locked, "passphrase"},
		"a key of no kind":  {cert, broken, "failed to parse private key"},
		"more than is read": {bytes.Repeat(cert, 4000), key, "larger than 1 MB"},
	} {
		d := newDisk(t)
		d.write(row.cert, row.key)
		_, err := LoadPair(d.files)
		switch {
		case row.want == "" && err != nil, row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v, want %q", what, err, row.want)
		case err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Y2Fu")):
			t.Errorf("%s: the error has something of the file: %v", what, err)
		}
	}
	if _, err := LoadPair(KeyPairPaths{"/nowhere/cert.pem", "/nowhere/key.pem"}); err == nil || !strings.Contains(err.Error(), "/nowhere/cert.pem") {
		t.Errorf("without files: %v", err)
	}
}

// TestLook: what is shown after each thing that the files may come to hold.
func TestLook(t *testing.T) {
	cert, key := made(t, 1, noon.Add(time.Hour))
	next, nextKey := made(t, 2, noon.Add(2*time.Hour))
	past, pastKey := made(t, 3, noon.Add(-time.Minute))
	later, laterKey := madeFrom(t, 4, noon.Add(time.Minute), noon.Add(time.Hour))
	for what, row := range map[string]struct {
		cert, key []byte
		shows     int64
		says      string
	}{
		"the same":                             {cert, key, 1, ""},
		"another pair":                         {next, nextKey, 2, ""},
		"the cert alone so far":                {next, key, 1, "does not match"},
		"the key alone so far":                 {cert, nextKey, 1, "does not match"},
		"half a cert":                          {next[:len(next)/2], nextKey, 1, "half written"},
		"half a key":                           {next, nextKey[:len(nextKey)/2], 1, "half written"},
		"empty files":                          {nil, nil, 1, "half written"},
		"one that the new certificate expired": {past, pastKey, 1, "the new certificate expired"},
		"one that is not yet":                  {later, laterKey, 1, "is not valid before"},
		"the same, other spacing":              {append([]byte("\n"), cert...), key, 1, ""},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDisk(t)
			d.write(cert, key)
			p := d.open()
			d.write(row.cert, row.key)
			changed, err := p.Reload(noon)
			if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("said %v, want %q", err, row.says)
			}
			if got := shows(t, p); got != row.shows || changed != (err == nil && !bytes.Equal(row.cert, cert)) {
				t.Errorf("shows %d, changed %v", got, changed)
			}
			if changed, err := p.Reload(noon); changed || err != nil {
				t.Errorf("a second look: %v, %v: what was told is told again", changed, err)
			}
			d.write(next, nextKey)
			if _, err := p.Reload(noon); err != nil || shows(t, p) != 2 {
				t.Errorf("then a good pair: %v, shows %d", err, shows(t, p))
			}
			d.write(row.cert, row.key)
			if _, err := p.Reload(noon); row.says != "" && err == nil {
				t.Error("what went wrong before is not told when it goes wrong again")
			}
		})
	}
}

// TestLookWhenItsTimeHasCome: a certificate that was too early is shown once it is good,
// and where the present one has run out, any.
func TestLookWhenItsTimeHasCome(t *testing.T) {
	cert, key := made(t, 1, noon.Add(time.Hour))
	later, laterKey := madeFrom(t, 4, noon.Add(time.Minute), noon.Add(30*time.Minute))
	d := newDisk(t)
	d.write(cert, key)
	p := d.open()
	d.write(later, laterKey)
	if _, err := p.Reload(noon); err == nil {
		t.Error("it is not good yet, and nothing is said")
	}
	if changed, err := p.Reload(noon.Add(time.Minute)); !changed || err != nil || shows(t, p) != 4 {
		t.Errorf("in its time: %v, %v", changed, err)
	}
	past, pastKey := made(t, 3, noon.Add(20*time.Minute))
	d.write(past, pastKey)
	if changed, err := p.Reload(noon.Add(40 * time.Minute)); !changed || err != nil {
		t.Errorf("both have run out: %v, %v", changed, err)
	}
	if !p.NotAfter().Equal(noon.Add(20 * time.Minute)) {
		t.Errorf("runs out at %s", p.NotAfter())
	}
}
