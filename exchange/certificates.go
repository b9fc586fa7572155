package exchange

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"pingpost/config"
	"pingpost/server/certificate"
)

// certificates are those of the two addresses.
type certificates struct{ public, admin addressCertificate }

// shown is what one address shows; without a pair it speaks plain HTTP.
type addressCertificate struct {
	pair    *certificate.Pair
	recheck chan struct{} // has the files looked at now
}

// config is for the address's listener; nil: it speaks plain HTTP.
func (s *addressCertificate) config() *tls.Config {
	if s.pair == nil {
		return nil
	}
	return s.pair.Config()
}

// look has the files of both looked at soon.
func (c *certificates) recheck() {
	for _, s := range [...]*addressCertificate{&c.public, &c.admin} {
		select {
		case s.recheck <- struct{}{}:
		default: // a look is due, or there is nobody to look
		}
	}
}

// openCertificates reads both before anything is bound, so that a wrong one is told
// early.
func (x *Exchange) openCertificates() (err error) {
	x.certificates.public, err = openCertificate("tls", x.settings.TLS)
	if err != nil {
		return err
	}
	x.certificates.admin, err = openCertificate("admin.tls", x.settings.AdminTLS)
	return err
}

func openCertificate(key string, files config.TLSSettings) (addressCertificate, error) {
	if !files.IsSet() {
		return addressCertificate{}, nil
	}
	pair, err := certificate.Open(certificate.Files(files))
	if err != nil {
		return addressCertificate{}, fmt.Errorf("%s: %w", key, err)
	}
	return addressCertificate{pair, make(chan struct{}, 1)}, nil
}

// CheckCertificates sees that the files which a document names are there and belong
// together, and have not run out.
func CheckCertificates(settings *config.Settings) (err error) {
	for key, files := range map[string]config.TLSSettings{"tls": settings.TLS, "admin.tls": settings.AdminTLS} {
		one, wrong := openCertificate(key, files)
		if wrong == nil && one.pair != nil && !time.Now().Before(one.pair.NotAfter()) {
			wrong = fmt.Errorf("%s: the certificate has run out at %s", key, one.pair.NotAfter().UTC().Format(time.RFC3339))
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// watchCertificates keeps what is shown in step with its files.
func (x *Exchange) watchCertificates() {
	for address, s := range map[string]*addressCertificate{"listen": &x.certificates.public, "admin": &x.certificates.admin} {
		if s.pair == nil {
			continue
		}
		x.meter.Gauge(`pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`, func() float64 { return float64(s.pair.NotAfter().Unix()) })
		go certificate.NewWatcher(s.pair, x.logger.With("address", address)).Run(s.recheck, x.ended)
	}
}
