package config

import "strings"

// TLS is by which files an address speaks TLS: the certificate with its chain, and
// its key, both as PEM, relative to the document's file.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// TLSSettings are the same with their paths resolved. Empty: the address speaks plain
// HTTP.
type TLSSettings struct{ Cert, Key string }

// IsSet tells whether the address speaks TLS.
func (t TLSSettings) IsSet() bool { return t != TLSSettings{} }

// tls judges the form, not the files: they change without the document.
func (c *compiler) tls(at place, t *TLS) TLSSettings {
	if t == nil {
		return TLSSettings{}
	}
	c.pem(at.key("cert"), t.Cert)
	c.pem(at.key("key"), t.Key)
	return TLSSettings{Cert: c.source.resolve(t.Cert), Key: c.source.resolve(t.Key)}
}

func (c *compiler) pem(at place, path string) {
	switch {
	case path == "":
		c.fail(at, "is missing; tls needs cert and key, the paths of two files in PEM")
	case strings.Contains(path, "-----BEGIN"):
		c.fail(at, "is the text of a file; write the file's path")
	}
}
