//go:build linux

package torture

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"pingpost/fuzz/witness"
)

// authority signs the certificates of a cluster's nodes.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	text        []byte
}

func newAuthority(t *torture) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	t.failOnError(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "torture"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 1, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	t.failOnError(err)
	parsed, err := x509.ParseCertificate(signed)
	t.failOnError(err)
	return &authority{parsed, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})}
}

// certify writes a certificate for the address, its key and the authority into a folder. It returns the
// section cluster.tls.
func (a *authority) certify(t *torture, dir, ip string) witness.Object {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	t.failOnError(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: ip}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 1, 0),
		IPAddresses: []net.IP{net.ParseIP(ip)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	t.failOnError(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	t.failOnError(err)
	files := witness.Object{}
	for name, text := range map[string][]byte{
		"certificate": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		"key":         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		"authority":   a.text,
	} {
		path := filepath.Join(dir, name+".pem")
		t.failOnError(os.WriteFile(path, text, 0o600))
		files[name] = path
	}
	return files
}
